/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "region.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/ir/build.h"

#include <stdio.h>
#include <stdlib.h>

typedef TG_VEC(tg_value) values;

typedef struct cut {
    const tg_graph *before, *after;
    values old, new; /* what must be equal, pair by pair */
    values inputs;   /* of both regions: values that both graphs have */
    tg_map seen;     /* inputs found so far */
} cut;

/* A node that both graphs have: what it makes is equal if what it reads is. */
static bool survived(const cut *c, uint32_t id)
{
    const tg_node *a = tg_graph_node(c->before, id), *b = tg_graph_node(c->after, id);
    return a && b && a->op == b->op;
}

/* The inputs that a surviving node reads from elsewhere now. */
static void add_pairs(cut *c, uint32_t id)
{
    const tg_node *a = c->before->nodes[id], *b = c->after->nodes[id];
    for (int k = 0; k < a->n_in && k < b->n_in; k++) {
        if (a->in[k] == b->in[k] || a->in[k] == TG_NO_VALUE || b->in[k] == TG_NO_VALUE) continue;
        tg_vec_push(&c->old, a->in[k]);
        tg_vec_push(&c->new, b->in[k]);
    }
}

static void find_pairs(cut *c)
{
    for (uint32_t i = 0; i < c->after->n_come; i++)
        if (survived(c, c->after->come[i])) add_pairs(c, c->after->come[i]);
    add_pairs(c, 0);
}

/* Constants are copied whole; other values of surviving nodes are where the region ends. */
static bool is_boundary(const cut *c, const tg_graph *g, tg_value v)
{
    const tg_node *maker = tg_graph_maker(g, v);
    return !maker->constant && (maker->op == TG_OP_INPUT || survived(c, maker->id));
}

static void find_inputs(cut *c, const tg_graph *g, const values *roots)
{
    values stack = {0};
    tg_map visited = {0};
    for (size_t i = 0; i < roots->n; i++) tg_vec_push(&stack, roots->v[i]);
    while (stack.n) {
        tg_value v = tg_vec_pop(&stack);
        bool fresh;
        if (is_boundary(c, g, v)) {
            tg_map_put(&c->seen, v, &fresh);
            if (fresh) tg_vec_push(&c->inputs, v);
            continue;
        }
        tg_map_put(&visited, tg_value_node(v), &fresh);
        const tg_node *node = tg_graph_maker(g, v);
        for (int k = 0; fresh && k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE) tg_vec_push(&stack, node->in[k]);
    }
    tg_vec_free(&stack);
    tg_map_free(&visited);
}

/* ---- copying ---- */

typedef struct copier {
    const cut *c;
    const tg_graph *g;
    tg_builder *b;
    tg_map made; /* value -> new value */
} copier;

static tg_status add_inputs(copier *k)
{
    char name[32];
    for (size_t i = 0; i < k->c->inputs.n; i++) {
        tg_value v = k->c->inputs.v[i];
        const tg_graph *owner = tg_graph_node(k->g, tg_value_node(v)) ? k->g : k->c->before;
        const tg_type *type = tg_graph_type(owner, v);
        if (!tg_type_complete(type) || type->dtype == TG_STR)
            return tg_fail(TG_UNSUPPORTED, "a type at the boundary is not known");
        snprintf(name, sizeof name, "value %u", v);
        *tg_map_put(&k->made, v, NULL) = tg_build_input(k->b, name, type);
    }
    return TG_OK;
}

static tg_status copy_node(copier *k, const tg_node *node)
{
    uint32_t id;
    if (node->op == TG_OP_CONST) {
        tg_value v = tg_build_const(k->b, node->out[0].dtype, &node->out[0].shape,
                                    tg_weight_ref(node->weight), NULL);
        *tg_map_put(&k->made, tg_value_of(node->id, 0), NULL) = v;
        return TG_OK;
    }
    if (node->op == TG_OP_OPAQUE)
        return tg_fail(TG_UNSUPPORTED, "an operator that cannot be run changed");
    tg_value *in = tg_calloc((size_t)node->n_in + 1, sizeof *in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == TG_NO_VALUE ? TG_NO_VALUE
                                           : (tg_value)*tg_map_find(&k->made, node->in[i]);
    tg_status status =
        tg_build_copy(k->b, node->op, node->attrs->a, in, node->n_in, node->n_out, NULL, &id);
    free(in);
    TG_TRY(status);
    for (uint32_t p = 0; p < node->n_out; p++)
        *tg_map_put(&k->made, tg_value_of(node->id, p), NULL) = tg_value_of(id, p);
    return TG_OK;
}

/* Marks what the roots need, up to the boundary; node ids as keys. */
static void mark(const copier *k, const values *roots, tg_map *needed)
{
    values stack = {0};
    for (size_t i = 0; i < roots->n; i++) tg_vec_push(&stack, roots->v[i]);
    while (stack.n) {
        tg_value v = tg_vec_pop(&stack);
        bool fresh;
        if (is_boundary(k->c, k->g, v)) continue;
        tg_map_put(needed, tg_value_node(v), &fresh);
        const tg_node *node = tg_graph_maker(k->g, v);
        for (int i = 0; fresh && i < node->n_in; i++)
            if (node->in[i] != TG_NO_VALUE) tg_vec_push(&stack, node->in[i]);
    }
    tg_vec_free(&stack);
}

static tg_status copy_nodes(copier *k, const values *roots)
{
    tg_map needed = {0};
    tg_status status = add_inputs(k);
    mark(k, roots, &needed);
    for (uint32_t i = 0; i < k->g->n_nodes && status == TG_OK; i++)
        if (tg_map_find(&needed, k->g->order[i]))
            status = copy_node(k, k->g->nodes[k->g->order[i]]);
    tg_map_free(&needed);
    return status;
}

static tg_status copy_region(const cut *c, const tg_graph *g, const values *roots, tg_graph **out)
{
    copier k = {.c = c, .g = g, .b = tg_builder_new(g->origin)};
    tg_status status = copy_nodes(&k, roots);
    if (status != TG_OK) {
        tg_builder_free(k.b);
        tg_map_free(&k.made);
        return status;
    }
    tg_value *to = tg_calloc(roots->n, sizeof *to);
    const char **names = tg_calloc(roots->n, sizeof *names);
    for (size_t i = 0; i < roots->n; i++) {
        to[i] = (tg_value)*tg_map_find(&k.made, roots->v[i]);
        names[i] = "";
    }
    tg_build_outputs(k.b, to, names, (int)roots->n);
    status = tg_build_done(k.b, out);
    free(to);
    free(names);
    tg_map_free(&k.made);
    return status;
}

static tg_status cut_both(cut *c, tg_region *r)
{
    find_pairs(c);
    if (!c->old.n) return TG_OK;
    find_inputs(c, c->before, &c->old);
    find_inputs(c, c->after, &c->new);
    TG_TRY(copy_region(c, c->before, &c->old, &r->before));
    TG_TRY(copy_region(c, c->after, &c->new, &r->after));
    r->inputs = tg_memdup(c->inputs.v, c->inputs.n * sizeof *r->inputs);
    r->outputs = tg_memdup(c->old.v, c->old.n * sizeof *r->outputs);
    r->n_inputs = (uint32_t)c->inputs.n;
    r->n_outputs = (uint32_t)c->old.n;
    return TG_OK;
}

tg_status tg_region_cut(const tg_graph *before, const tg_graph *after, tg_region *r)
{
    cut c = {.before = before, .after = after};
    tg_region found = {0};
    tg_status status = cut_both(&c, &found);
    tg_vec_free(&c.old);
    tg_vec_free(&c.new);
    tg_vec_free(&c.inputs);
    tg_map_free(&c.seen);
    if (status == TG_OK) *r = found;
    else tg_region_done(&found);
    return status;
}

void tg_region_done(tg_region *r)
{
    tg_graph_unref(r->before);
    tg_graph_unref(r->after);
    free(r->inputs);
    free(r->outputs);
    *r = (tg_region){0};
}
