/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph as TASO sees it: its operator kinds, fused activations, strides and boundaries. */
#include "taso_view.h"

#include "engine/base/hash.h"
#include "engine/ops/ops.h"

#include <string.h>

typedef struct viewer {
    const tg_graph *g;
    taso_view *v;
    int *number; /* by id */
} viewer;

static const struct {
    tg_op op;
    taso_kind kind;
} kinds[] = {
    {TG_OP(Conv), TASO_CONV},
    {TG_OP(MatMul), TASO_MATMUL},
    {TG_OP(Add), TASO_ADD},
    {TG_OP(Mul), TASO_MUL},
    {TG_OP(Relu), TASO_RELU},
    {TG_OP(Sigmoid), TASO_SIGMOID},
    {TG_OP(Tanh), TASO_TANH},
    {TG_OP(BatchNormalization), TASO_BATCHNORM},
    {TG_OP(Concat), TASO_CONCAT},
    {TG_OP(Split), TASO_SPLIT},
    {TG_OP(Reshape), TASO_RESHAPE},
    {TG_OP(Transpose), TASO_TRANSPOSE},
    {TG_OP(MaxPool), TASO_POOL},
    {TG_OP(AveragePool), TASO_POOL},
    {TG_OP(GlobalAveragePool), TASO_POOL},
    {TG_OP(GlobalMaxPool), TASO_POOL},
};

static taso_kind kind_of(const tg_node *node)
{
    if (node->op == TG_OP_INPUT || node->op == TG_OP_CONST) return TASO_SOURCE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].op == node->op) return kinds[i].kind;
    return TASO_OTHER;
}

static int activation(const char *name)
{
    static const char *const names[] = {"", "Sigmoid", "Relu", "Tanh"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

/* What TASO calls SAME leaves ceil(size / stride); it knows no other padding but none. */
static int padding(const tg_graph *g, const tg_node *node, int stride)
{
    const tg_shape *x = &tg_graph_type(g, node->in[0])->shape, *y = &node->out[0].shape;
    const tg_attr *pads = tg_node_attr(node, "pads");
    bool same = stride > 0, none = true;
    for (int i = 2; i < 4 && same; i++) same = y->dim[i] == (x->dim[i] + stride - 1) / stride;
    for (uint32_t i = 0; i < pads->n; i++) none &= pads->ints[i] == 0;
    return same ? TASO_SAME : none ? TASO_VALID : -1;
}

static bool all_one(const tg_attr *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->ints[i] != 1) return false;
    return true;
}

/* Convolutions that TASO has none of become other operators. */
static void read_conv(const tg_graph *g, const tg_node *node, taso_op *op)
{
    const tg_attr *strides = tg_node_attr(node, "strides");
    bool square = strides->n == 2 && strides->ints[0] == strides->ints[1];
    if (node->out[0].shape.rank != 4 || !square || !all_one(tg_node_attr(node, "dilations"))) {
        op->kind = TASO_OTHER;
        return;
    }
    op->stride = (int)strides->ints[0];
    op->pad = padding(g, node, op->stride);
    op->acti = activation(tg_node_attr(node, "activation")->s);
}

static void read_op(const tg_graph *g, const tg_node *node, taso_op *op)
{
    int rank = node->n_in && node->in[0] != TG_NO_VALUE
                   ? (int)tg_graph_type(g, node->in[0])->shape.rank
                   : 0;
    *op = (taso_op){.kind = kind_of(node), .n_in = node->n_in};
    for (int i = 0; i < node->n_out; i++)
        if (node->out[i].shape.rank < 0) op->kind = TASO_OTHER;
    if (op->kind == TASO_CONV) read_conv(g, node, op);
    if (op->kind == TASO_TRANSPOSE && (int)tg_node_attr(node, "perm")->n != rank)
        op->kind = TASO_OTHER;
    if (op->kind != TASO_CONCAT && op->kind != TASO_SPLIT) return;
    int axis = (int)tg_node_attr(node, "axis")->i;
    op->axis = axis < 0 ? axis + rank : axis;
    op->rank = rank;
}

static void set_dims(const tg_type *type, taso_shape *s)
{
    *s = (taso_shape){.rank = type->shape.rank < 0 ? 0 : (int)type->shape.rank};
    for (int i = 0; i < s->rank; i++) s->dim[i] = type->shape.dim[i];
}

/* Operators that no rule makes are told apart by what they compute. */
static uint64_t object_of(const tg_node *node, const taso_node *n, const taso_shape *const *in)
{
    if (n->op.kind == TASO_SOURCE || n->op.kind == TASO_OTHER)
        return tg_hash_add(tg_hash_add(0x50, node->id), (uint64_t)n->op.kind);
    uint64_t h = taso_object(&n->op, in, n->n_in, node->rule != NULL);
    if (n->op.kind == TASO_POOL) {
        h = tg_hash_add(h, (uint64_t)node->op);
        for (uint32_t i = 0; i < node->attrs->n; i++) {
            const tg_attr *a = &node->attrs->a[i];
            h = tg_hash_add(h, (uint64_t)(a->kind == TG_ATTR_INT ? a->i : 0));
            for (uint32_t k = 0; a->kind == TG_ATTR_INTS && k < a->n; k++)
                h = tg_hash_add(h, (uint64_t)a->ints[k]);
        }
    }
    if (n->op.kind != TASO_RESHAPE && n->op.kind != TASO_TRANSPOSE && n->op.kind != TASO_SPLIT)
        return h;
    for (int i = 0; i < n->n_out; i++)
        for (int k = 0; k < n->out[i].rank; k++) {
            h = tg_hash_add(h, (uint64_t)n->out[i].dim[k]);
            h = tg_hash_add(h, (uint64_t)n->out[i].stride[k]);
        }
    return h;
}

static void add_node(viewer *x, const tg_node *node)
{
    tg_arena *arena = x->v->arena;
    taso_node *n = &x->v->nodes[x->v->n];
    taso_value *in = TG_NEW_ARRAY(arena, taso_value, node->n_in + 1);
    const taso_shape **shape = TG_NEW_ARRAY(arena, const taso_shape *, node->n_in + 1);
    x->number[node->id] = x->v->n++;
    n->n_out = node->n_out;
    n->out = TG_NEW_ARRAY(arena, taso_shape, node->n_out + 1);
    n->in = in;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        in[n->n_in] =
            (taso_value){x->number[tg_value_node(node->in[i])], (int)tg_value_port(node->in[i])};
        shape[n->n_in] = &x->v->nodes[in[n->n_in].node].out[in[n->n_in].port];
        n->n_in++;
    }
    read_op(x->g, node, &n->op);
    for (int i = 0; i < node->n_out; i++) set_dims(&node->out[i], &n->out[i]);
    const int64_t *perm = n->op.kind == TASO_TRANSPOSE ? tg_node_attr(node, "perm")->ints : NULL;
    taso_infer_cuts(arena, &n->op, shape, n->n_in, perm, n->out, n->n_out);
    n->object = object_of(node, n, shape);
    n->hash = n->object;
    for (int i = 0; i < n->n_in; i++)
        n->hash = taso_node_hash(n->hash, x->v->nodes[in[i].node].hash, in[i].port);
    x->v->sum += n->hash;
    x->v->n_pools += n->op.kind == TASO_POOL;
}

static void add_uses(taso_view *v)
{
    taso_use **list = TG_NEW_ARRAY(v->arena, taso_use *, v->n + 1);
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < v->nodes[i].n_in; k++) v->nodes[v->nodes[i].in[k].node].n_uses++;
    for (int i = 0; i < v->n; i++) {
        list[i] = TG_NEW_ARRAY(v->arena, taso_use, v->nodes[i].n_uses + 1);
        v->nodes[i].uses = list[i];
        v->nodes[i].n_uses = 0;
    }
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < v->nodes[i].n_in; k++) {
            taso_value in = v->nodes[i].in[k];
            list[in.node][v->nodes[in.node].n_uses++] = (taso_use){i, k, in.port};
        }
}

static void add_kinds(taso_view *v)
{
    for (int i = 0; i < v->n; i++) v->n_kind[v->nodes[i].op.kind]++;
    for (int k = 0; k <= TASO_OTHER; k++) {
        v->by_kind[k] = TG_NEW_ARRAY(v->arena, int, v->n_kind[k] + 1);
        v->n_kind[k] = 0;
    }
    for (int i = 0; i < v->n; i++) {
        taso_kind k = v->nodes[i].op.kind;
        v->by_kind[k][v->n_kind[k]++] = i;
    }
}

void taso_view_make(const tg_graph *g, tg_arena *arena, taso_view *view)
{
    viewer x = {g, view, TG_NEW_ARRAY(arena, int, g->n_ids)};
    *view = (taso_view){.arena = arena};
    view->nodes = TG_NEW_ARRAY(arena, taso_node, g->n_nodes + 1);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->order[i] != 0) add_node(&x, g->nodes[g->order[i]]);
    add_uses(view);
    add_kinds(view);
}
