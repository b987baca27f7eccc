/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "egraph.h"

#include "engine/ops/cost.h"
#include "engine/ops/ops.h"

#include <string.h>

/* Above all node ids: marks operators that a rule made in egraph_node.self. */
#define MADE ((uint32_t)1 << 31)

void egraph_init(egraph *e)
{
    *e = (egraph){.arena = tg_arena_new()};
}

void egraph_done(egraph *e)
{
    for (size_t i = 0; i < e->nodes.n; i++) {
        tg_attrs_unref(e->nodes.v[i].attrs);
        tg_weight_unref(e->nodes.v[i].weight);
    }
    tg_vec_free(&e->nodes);
    tg_vec_free(&e->parent);
    tg_vec_free(&e->maker);
    tg_map_free(&e->index);
    tg_arena_free(e->arena);
}

uint32_t egraph_find(egraph *e, uint32_t class)
{
    uint32_t *parent = e->parent.v;
    if (class == EGRAPH_ABSENT) return class;
    while (parent[class] != class) {
        parent[class] = parent[parent[class]];
        class = parent[class];
    }
    return class;
}

void egraph_union(egraph *e, uint32_t a, uint32_t b)
{
    a = egraph_find(e, a);
    b = egraph_find(e, b);
    if (a == b) return;
    /* The older class stays, so that numbers do not depend on the order of unions alone. */
    if (a < b) e->parent.v[b] = a;
    else e->parent.v[a] = b;
    e->stale = true;
}

/* Operators that are only equal to themselves. */
static bool is_unique(tg_op op)
{
    return op == TG_OP_INPUT || op == TG_OP_OPAQUE || (tg_op_get(op)->flags & TG_RANDOM);
}

static uint64_t node_hash(egraph *e, const egraph_node *n)
{
    uint64_t h = tg_hash_add(tg_hash_add(n->op, n->n_out), n->self);
    h = tg_hash_add(h, n->attrs->hash);
    h = tg_hash_bytes(h, &n->cost_ms, sizeof n->cost_ms);
    if (n->weight) {
        h = tg_hash_add(h, n->weight->hash);
        h = tg_hash_add(h, n->types->dtype);
        h = tg_hash_bytes(h, &n->types->shape, sizeof n->types->shape);
    }
    for (int i = 0; i < n->n_in; i++) h = tg_hash_add(h, egraph_find(e, n->in[i]));
    return h;
}

/* Enters a node; returns the number of the one that stands for it. */
static uint32_t enter(egraph *e, uint32_t number)
{
    bool fresh;
    egraph_node *n = &e->nodes.v[number];
    uint64_t *slot = tg_map_put(&e->index, node_hash(e, n), &fresh);
    if (fresh) *slot = number + 1;
    return (uint32_t)*slot - 1;
}

static void index_all(egraph *e)
{
    tg_map_free(&e->index);
    e->stale = false;
    for (uint32_t i = 0; i < e->nodes.n; i++) {
        egraph_node *n = &e->nodes.v[i];
        if (n->merged) continue;
        uint32_t first = enter(e, i);
        if (first == i) continue;
        n->merged = true;
        n->into = first;
        for (int port = 0; port < n->n_out; port++)
            egraph_union(e, e->nodes.v[first].out[port], n->out[port]);
    }
}

void egraph_rebuild(egraph *e)
{
    while (e->stale) index_all(e);
}

/* What a node is made of before it has a number. The node's arrays are copied. */
typedef struct parts {
    egraph_node node;
    const tg_attr *attr; /* used if node.attrs is NULL */
    int n_attr;
} parts;

/*
 * Shapes of weights that change back and forth would give ever new constants: a constant reshaped
 * twice is reshaped once, and one that gets its own shape back is itself. Returns the node that the
 * reshaped constant is, or EGRAPH_ABSENT.
 */
static uint32_t shorten(egraph *e, egraph_node *n)
{
    if (!n->constant || n->op != TG_OP(Reshape) || n->n_in != 1) return EGRAPH_ABSENT;
    const egraph_node *from = &e->nodes.v[e->maker.v[egraph_find(e, n->in[0])]];
    if (from->op == TG_OP(Reshape) && from->n_in == 1) {
        n->in[0] = egraph_find(e, from->in[0]);
        from = &e->nodes.v[e->maker.v[n->in[0]]];
    }
    bool same = from->n_out == 1 && tg_type_equal(&from->types[0], &n->types[0]);
    return same ? e->maker.v[egraph_find(e, n->in[0])] : EGRAPH_ABSENT;
}

/* The number of the node, which may have been there; *fresh tells. */
static uint32_t add(egraph *e, parts p, bool *fresh)
{
    uint32_t number = (uint32_t)e->nodes.n;
    egraph_node n = p.node;
    uint32_t known = shorten(e, &n);
    *fresh = false;
    if (known != EGRAPH_ABSENT) return known;
    n.attrs = n.attrs ? tg_attrs_ref(n.attrs) : tg_attrs_new(p.attr, (size_t)p.n_attr);
    tg_vec_push(&e->nodes, n);
    uint32_t first = enter(e, number);
    *fresh = first == number;
    if (!*fresh) {
        tg_attrs_unref(n.attrs);
        e->nodes.n--;
        return first;
    }
    egraph_node *kept = &e->nodes.v[number];
    if (kept->weight) kept->weight = tg_weight_ref(kept->weight);
    kept->types = tg_arena_dup(e->arena, kept->types, sizeof *kept->types * kept->n_out);
    kept->out = TG_NEW_ARRAY(e->arena, uint32_t, kept->n_out + 1);
    for (int i = 0; i < kept->n_out; i++) {
        kept->out[i] = (uint32_t)e->parent.n;
        tg_vec_push(&e->parent, kept->out[i]);
        tg_vec_push(&e->maker, number);
    }
    return number;
}

/* The classes of inputs, in the arena of the e-graph. */
static uint32_t *classes(egraph *e, const uint32_t *number_of, const tg_value *in, int n)
{
    uint32_t *class = TG_NEW_ARRAY(e->arena, uint32_t, n + 1);
    for (int i = 0; i < n; i++) class[i] = egraph_class(e, number_of, in[i]);
    return class;
}

void egraph_add_graph(egraph *e, const tg_graph *g, bool root, uint32_t *number_of)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op == TG_OP_SINK) continue;
        bool fresh;
        parts p = {.node = {.op = node->op,
                            .n_in = node->n_in,
                            .n_out = node->n_out,
                            .constant = node->constant,
                            .root = root ? node->id : 0,
                            .self = is_unique(node->op) ? node->id : 0,
                            .cost_ms = tg_node_cost_ms(g, node),
                            .rule = node->rule,
                            .attrs = (tg_attrs *)(uintptr_t)node->attrs,
                            .weight = node->weight,
                            .in = classes(e, number_of, node->in, node->n_in),
                            .types = node->out}};
        number_of[node->id] = add(e, p, &fresh);
    }
}

/* The numbers of the nodes that a site matched. */
static const uint32_t *matched(egraph *e, const tg_site *site, const uint32_t *number_of)
{
    uint32_t *from = TG_NEW_ARRAY(e->arena, uint32_t, site->n_nodes + 1);
    for (int i = 0; i < site->n_nodes; i++) from[i] = number_of[site->nodes[i]];
    return from;
}

int egraph_add_preview(egraph *e, const tg_graph *g, const tg_candidate *c, const char *rule,
                       uint32_t *number_of)
{
    int news = 0;
    const uint32_t *from = NULL;
    for (int i = 0; i < c->preview.n_come; i++) {
        const tg_preview_node *node = &c->preview.come[i];
        bool fresh;
        parts made = {.node = {.op = node->op,
                               .n_in = node->n_in,
                               .n_out = node->n_out,
                               .constant = node->constant,
                               .self = is_unique(node->op) ? MADE | (uint32_t)e->nodes.n : 0,
                               .cost_ms = node->cost_ms,
                               .rule = rule,
                               .weight = node->weight,
                               .in = classes(e, number_of, node->in, node->n_in),
                               .types = node->out},
                      .attr = node->attr,
                      .n_attr = node->n_attr};
        uint32_t number = add(e, made, &fresh);
        number_of[g->n_ids + (uint32_t)i] = number;
        if (!fresh) continue;
        news++;
        if (!from) from = matched(e, c->site, number_of);
        e->nodes.v[number].from = from;
        e->nodes.v[number].n_from = c->site->n_nodes;
    }
    return news;
}

void egraph_join_preview(egraph *e, const tg_preview *p, const uint32_t *number_of)
{
    for (int i = 0; i < p->n_redirects; i++)
        egraph_union(e, egraph_class(e, number_of, p->redirects[i].from),
                     egraph_class(e, number_of, p->redirects[i].to));
}
