/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "node.h"

#include <assert.h>
#include <stdio.h>

tg_origin *tg_origin_new(void)
{
    tg_arena *arena = tg_arena_new();
    tg_origin *origin = TG_NEW(arena, tg_origin);
    atomic_init(&origin->refs, 1);
    origin->arena = arena;
    origin->path = origin->graph_name = "";
    return origin;
}

tg_origin *tg_origin_ref(const tg_origin *origin)
{
    tg_origin *o = (tg_origin *)origin;
    atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
    return o;
}

void tg_origin_unref(const tg_origin *origin)
{
    tg_origin *o = (tg_origin *)origin;
    if (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1)
        tg_arena_free(o->arena);
}

int64_t tg_origin_opset(const tg_origin *origin)
{
    for (uint32_t i = 0; i < origin->n_opsets; i++)
        if (!origin->opsets[i].domain[0]) return origin->opsets[i].version;
    return 0;
}

tg_graph *tg_graph_ref(const tg_graph *g)
{
    tg_graph *graph = (tg_graph *)g;
    atomic_fetch_add_explicit(&graph->refs, 1, memory_order_relaxed);
    return graph;
}

void tg_graph_unref(const tg_graph *g)
{
    tg_graph *graph = (tg_graph *)g;
    if (!graph || atomic_fetch_sub_explicit(&graph->refs, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; i < graph->n_nodes; i++) tg_node_unref(graph->nodes[graph->order[i]]);
    tg_origin_unref(graph->origin);
    tg_arena_free(graph->arena);
}

uint32_t tg_graph_use_count(const tg_graph *g, tg_value v)
{
    uint32_t n, found = 0;
    const tg_use *use = tg_graph_uses(g, tg_value_node(v), &n);
    for (uint32_t i = 0; i < n; i++) found += use[i].port == tg_value_port(v);
    return found;
}

static bool runs(const tg_node *node)
{
    return node->op != TG_OP_INPUT && node->op != TG_OP_SINK && !node->constant;
}

uint32_t tg_graph_op_count(const tg_graph *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        n += runs(node);
        if (node->attrs->graphs) n += tg_attrs_op_count(node->attrs->a, node->attrs->n);
    }
    return n;
}

uint32_t tg_attrs_op_count(const tg_attr *attr, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (attr[i].kind == TG_ATTR_GRAPH) sum += tg_graph_op_count(attr[i].graph);
    return sum;
}

uint64_t tg_graph_key_of(uint64_t hash, uint32_t ops)
{
    return tg_hash_add(hash, ops);
}

uint64_t tg_graph_key(const tg_graph *g)
{
    return tg_graph_key_of(g->hash, tg_graph_op_count(g));
}

bool tg_graph_reaches(const tg_graph *g, uint32_t from, uint32_t to)
{
    if (from == to) return true;
    uint32_t limit = g->position[to];
    if (g->position[from] >= limit) return false;
    /* Walks up from `to`; nothing before `from` in the order can matter. */
    unsigned char *seen = tg_calloc(1, limit - g->position[from] + 1);
    TG_VEC(uint32_t) stack = {0};
    bool found = false;
    tg_vec_push(&stack, to);
    while (stack.n && !found) {
        const tg_node *node = g->nodes[tg_vec_pop(&stack)];
        for (int i = 0; i < node->n_in && !found; i++) {
            if (node->in[i] == TG_NO_VALUE) continue;
            uint32_t id = tg_value_node(node->in[i]);
            found = id == from;
            if (g->position[id] <= g->position[from] || seen[g->position[id] - g->position[from]])
                continue;
            seen[g->position[id] - g->position[from]] = 1;
            tg_vec_push(&stack, id);
        }
    }
    tg_vec_free(&stack);
    free(seen);
    return found;
}

static const char *op_name(const tg_node *node)
{
    if (node->op != TG_OP_OPAQUE) return tg_op_get(node->op)->name;
    return tg_node_attr(node, "op_type")->s;
}

char *tg_graph_label(const tg_graph *g, uint32_t id, char *buf, size_t size)
{
    const tg_node *node = g->nodes[id];
    if (node->name[0]) snprintf(buf, size, "%s", node->name);
    else if (node->n_out && node->out_name[0][0]) snprintf(buf, size, "%s", node->out_name[0]);
    else snprintf(buf, size, "%s_%u", op_name(node), id);
    return buf;
}

const tg_attr *tg_node_attr(const tg_node *node, const char *name)
{
    int i = tg_op_attr_index(node->op, name);
    assert(i >= 0);
    return &node->attrs->a[i];
}
