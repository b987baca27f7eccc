/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "eval.h"
#include "graph.h"
#include "hash.h"
#include "node.h"

#include <stdlib.h>
#include <string.h>

static tg_status broken(const tg_graph *g, const tg_node *node, const char *what)
{
    char label[64];
    return tg_fail(TG_INVALID, "node %u (%s): %s", node->id,
                   tg_graph_label(g, node->id, label, sizeof label), what);
}

static tg_status check_inputs(const tg_graph *g, const tg_node *node)
{
    if (node->n_in && node->in[node->n_in - 1] == TG_NO_VALUE)
        return broken(g, node, "the last input is absent");
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        const tg_node *maker = tg_graph_node(g, tg_value_node(node->in[i]));
        if (!maker) return broken(g, node, "an input has no producer");
        if (tg_value_port(node->in[i]) >= maker->n_out)
            return broken(g, node, "an input reads no such output");
        if (g->position[maker->id] >= g->position[node->id])
            return broken(g, node, "an input comes later");
    }
    return TG_OK;
}

static tg_status check_attrs(const tg_graph *g, const tg_node *node)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    if ((int)node->attrs->n != n) return broken(g, node, "wrong number of attributes");
    for (int i = 0; i < n; i++) {
        tg_attr_kind kind = node->attrs->a[i].kind;
        if (kind != TG_ATTR_NONE && kind != spec[i].kind)
            return broken(g, node, "an attribute has the wrong kind");
    }
    if ((node->op == TG_OP_CONST) != (node->weight != NULL))
        return broken(g, node, "weight where none belongs");
    if (node->weight && (int64_t)node->weight->size != tg_type_bytes(&node->out[0]))
        return broken(g, node, "the weight's size does not fit its type");
    if (node->constant != tg_node_is_constant(node->op, node->in, node->n_in, g->nodes))
        return broken(g, node, "the constant flag is wrong");
    return TG_OK;
}

/* Inference needs constant inputs: evaluated here, freed after. */
typedef struct lookup {
    const tg_graph *g;
    const tg_node *node;
    tg_tensor *t;
    tg_weight **held;
} lookup;

static const tg_tensor *value(void *ctx, int slot)
{
    lookup *l = ctx;
    tg_value v = l->node->in[slot];
    if (!tg_graph_maker(l->g, v)->constant) return NULL;
    if (!l->held[slot] && tg_const_eval(l->g, v, &l->held[slot]) != TG_OK) return NULL;
    const tg_type *type = tg_graph_type(l->g, v);
    l->t[slot] = (tg_tensor){type->dtype, type->shape, (void *)(uintptr_t)l->held[slot]->data};
    return &l->t[slot];
}

static tg_status infer_again(const tg_graph *g, const tg_node *node, tg_arena *arena)
{
    const tg_op_row *row = tg_op_get(node->op);
    tg_type *in = TG_NEW_ARRAY(arena, tg_type, node->n_in + 1),
            *out = TG_NEW_ARRAY(arena, tg_type, node->n_out + 1);
    bool complete = true;
    for (int i = 0; i < node->n_in; i++) {
        bool absent = node->in[i] == TG_NO_VALUE;
        in[i] =
            absent ? (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN} : *tg_graph_type(g, node->in[i]);
        complete &= absent || tg_type_complete(&in[i]);
    }
    if (!row->infer || (!complete && !(row->flags & TG_PARTIAL))) return TG_OK;
    for (int i = 0; i < node->n_out; i++) out[i] = (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    lookup l = {g, node, TG_NEW_ARRAY(arena, tg_tensor, node->n_in + 1),
                TG_NEW_ARRAY(arena, tg_weight *, node->n_in + 1)};
    tg_infer_source source = {value, &l};
    tg_attr *attr = tg_arena_dup(arena, node->attrs->a, node->attrs->n * sizeof(tg_attr));
    tg_infer infer = {.row = row,
                      .attr = attr,
                      .n_in = node->n_in,
                      .n_out = node->n_out,
                      .in = in,
                      .out = out,
                      .arena = arena,
                      .source = &source};
    tg_status status = row->infer(&infer);
    for (int i = 0; i < node->n_in; i++) tg_weight_unref(l.held[i]);
    if (status != TG_OK) return tg_wrap(status, "node %u", node->id);
    for (int i = 0; i < node->n_out; i++)
        if (!tg_type_equal(&out[i], &node->out[i]))
            return broken(g, node, "its type is not what inference gives");
    for (uint32_t i = 0; i < node->attrs->n; i++)
        if (!tg_attr_equal(&attr[i], &node->attrs->a[i]))
            return broken(g, node, "an attribute is not canonical");
    return TG_OK;
}

static tg_status check_types(const tg_graph *g, const tg_node *node)
{
    if (node->op < TG_OP_FIRST_REAL) return TG_OK;
    tg_arena *arena = tg_arena_new();
    tg_status status = infer_again(g, node, arena);
    tg_arena_free(arena);
    return status;
}

static tg_status check_uses(const tg_graph *g)
{
    uint32_t total = 0, listed = g->first_use[g->n_ids];
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        for (int k = 0; k < node->n_in; k++) total += node->in[k] != TG_NO_VALUE;
        uint32_t n;
        const tg_use *use = tg_graph_uses(g, node->id, &n);
        for (uint32_t u = 0; u < n; u++) {
            const tg_node *user = tg_graph_node(g, use[u].node);
            if (!user || user->in[use[u].slot] != tg_value_of(node->id, use[u].port))
                return broken(g, node, "a listed use is not one");
        }
    }
    return total == listed ? TG_OK : tg_fail(TG_INVALID, "%u uses, %u listed", total, listed);
}

tg_status tg_check(const tg_graph *g)
{
    if (!tg_graph_node(g, 0) || tg_graph_sink(g)->op != TG_OP_SINK)
        return tg_fail(TG_INVALID, "no sink");
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = tg_graph_node(g, g->order[i]);
        if (!node || node->id != g->order[i] || g->position[node->id] != i)
            return tg_fail(TG_INVALID, "order and nodes disagree at %u", i);
        TG_TRY(check_inputs(g, node));
        TG_TRY(check_attrs(g, node));
        TG_TRY(check_types(g, node));
    }
    TG_TRY(check_uses(g));
    uint64_t *hashes = tg_calloc(g->n_ids, sizeof *hashes);
    tg_hash_graph(g, hashes);
    bool same = hashes[0] == g->hash;
    free(hashes);
    return same ? TG_OK : tg_fail(TG_INVALID, "the hash is stale");
}
