/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import.h"

#include <string.h>

/* Calls visit(ctx, graph) for each graph that is an attribute of the node. */
static tg_status each_graph(const Onnx__NodeProto *proto,
                            tg_status (*visit)(void *ctx, const Onnx__GraphProto *g), void *ctx)
{
    for (size_t i = 0; i < proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = proto->attribute[i];
        if (a->g) TG_TRY(visit(ctx, a->g));
        for (size_t k = 0; k < a->n_graphs; k++) TG_TRY(visit(ctx, a->graphs[k]));
    }
    return TG_OK;
}

bool tg_scope_has_graphs(const Onnx__NodeProto *proto)
{
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (proto->attribute[i]->g || proto->attribute[i]->n_graphs) return true;
    return false;
}

/* Names defined in the graphs around the place where a walk is, with how often. */
typedef struct scope {
    tg_strmap defined;
    const tg_strmap *outer; /* names outside the node */
    tg_arena *arena;
    TG_VEC(const char *) captured;
    tg_strmap seen;
} scope;

static void define_more(scope *s, const char *name)
{
    if (name && name[0]) ++*tg_strmap_put(&s->defined, name, NULL);
}

static void define_less(scope *s, const char *name)
{
    uint64_t *n = name ? tg_strmap_find(&s->defined, name) : NULL;
    if (n && *n) --*n;
}

static void forget(scope *s, const char *name)
{
    uint64_t *n = name ? tg_strmap_find(&s->defined, name) : NULL;
    if (n) *n = 0;
}

/* Calls does(s, name) for each name that the graph itself defines. */
static void each_name(scope *s, const Onnx__GraphProto *g, void (*does)(scope *, const char *))
{
    for (size_t i = 0; i < g->n_input; i++) does(s, g->input[i]->name);
    for (size_t i = 0; i < g->n_initializer; i++) does(s, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (g->sparse_initializer[i]->values) does(s, g->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++) does(s, g->node[i]->output[k]);
}

static void read_name(scope *s, const char *name)
{
    bool fresh;
    const uint64_t *n = name && name[0] ? tg_strmap_find(&s->defined, name) : NULL;
    if (!name || !name[0] || (n && *n)) return;
    tg_strmap_put(&s->seen, name, &fresh);
    if (fresh) tg_vec_push(&s->captured, name);
}

static tg_status capture_graph(void *ctx, const Onnx__GraphProto *g)
{
    scope *s = ctx;
    each_name(s, g, define_more);
    for (size_t i = 0; i < g->n_node; i++) {
        for (size_t k = 0; k < g->node[i]->n_input; k++) read_name(s, g->node[i]->input[k]);
        TG_TRY(each_graph(g->node[i], capture_graph, s));
    }
    for (size_t i = 0; i < g->n_output; i++) read_name(s, g->output[i]->name);
    each_name(s, g, define_less);
    return TG_OK;
}

void tg_scope_captured(tg_arena *arena, tg_item *item)
{
    if (!tg_scope_has_graphs(item->proto)) return;
    scope s = {0};
    tg_status status = each_graph(item->proto, capture_graph, &s);
    (void)status;
    item->n_captured = (int)s.captured.n;
    item->captured = tg_arena_dup(arena, s.captured.v, s.captured.n * sizeof *s.captured.v);
    tg_vec_free(&s.captured);
    tg_strmap_free(&s.defined);
    tg_strmap_free(&s.seen);
}

static tg_status define_name(scope *s, const char *name)
{
    if (!name || !name[0]) return TG_OK;
    uint64_t *n = tg_strmap_put(&s->defined, name, NULL);
    if (*n || tg_strmap_find(s->outer, name))
        return tg_fail(TG_INVALID, "a subgraph defines the name %s, which is visible from outside",
                       name);
    *n = 1;
    return TG_OK;
}

static tg_status check_graph(void *ctx, const Onnx__GraphProto *g);

static tg_status check_names(scope *s, const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_input; i++) TG_TRY(define_name(s, g->input[i]->name));
    for (size_t i = 0; i < g->n_initializer; i++) {
        const char *name = g->initializer[i]->name;
        bool input = false; /* a default of an input, not a second definition */
        for (size_t k = 0; k < g->n_input && name && !input; k++)
            input = g->input[k]->name && strcmp(g->input[k]->name, name) == 0;
        if (!input) TG_TRY(define_name(s, name));
    }
    for (size_t i = 0; i < g->n_node; i++) {
        TG_TRY(each_graph(g->node[i], check_graph, s));
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            TG_TRY(define_name(s, g->node[i]->output[k]));
    }
    return TG_OK;
}

static tg_status check_graph(void *ctx, const Onnx__GraphProto *g)
{
    scope *s = ctx;
    TG_TRY(check_names(s, g));
    each_name(s, g, forget); /* siblings may use the same names */
    return TG_OK;
}

tg_status tg_scope_check(const Onnx__NodeProto *proto, const tg_strmap *outer)
{
    scope s = {.outer = outer};
    tg_status status = each_graph(proto, check_graph, &s);
    tg_strmap_free(&s.defined);
    return status;
}
