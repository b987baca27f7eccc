/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "eval.h"

#include "consts.h"
#include "engine/base/vec.h"

#include <assert.h>

tg_tensor tg_node_tensor(const tg_node *node)
{
    assert(node->op == TG_OP_CONST);
    return (tg_tensor){node->out[0].dtype, node->out[0].shape,
                       (void *)(uintptr_t)node->weight->data};
}

void tg_call_alloc(tg_call *call, int i, tg_dtype dtype, tg_shape shape)
{
    tg_tensor_free(&call->out[i]);
    call->out[i] = (tg_tensor){dtype, shape, NULL};
    call->out[i].data = tg_calloc(1, tg_tensor_bytes(&call->out[i]));
}

void tg_call_put(tg_call *call, int i, tg_tensor t)
{
    tg_tensor_free(&call->out[i]);
    call->out[i] = t;
}

static const tg_tensor *given(void *ctx, int slot)
{
    const tg_tensor *in = ctx;
    return in[slot].data ? &in[slot] : NULL;
}

static tg_type *types_of(const tg_tensor *in, int n, tg_arena *arena)
{
    tg_type *types = TG_NEW_ARRAY(arena, tg_type, n + 1);
    for (int i = 0; i < n; i++)
        types[i] = in[i].data ? (tg_type){in[i].dtype, in[i].shape}
                              : (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    return types;
}

/* Types of the outputs for these very inputs; `attr` receives the canonical attributes. */
static tg_status infer_now(const tg_node *node, const tg_tensor *in, tg_attr *attr, tg_type *out,
                           tg_arena *arena)
{
    tg_type *types = types_of(in, node->n_in, arena);
    for (int i = 0; i < node->n_out; i++) out[i] = (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    tg_infer_source source = {given, (void *)(uintptr_t)in};
    tg_infer infer = {.row = tg_op_get(node->op),
                      .attr = attr,
                      .n_in = node->n_in,
                      .n_out = node->n_out,
                      .in = types,
                      .out = out,
                      .arena = arena,
                      .source = &source};
    return infer.row->infer(&infer);
}

static bool all_complete(const tg_type *t, int n)
{
    for (int i = 0; i < n; i++)
        if (!tg_type_complete(&t[i])) return false;
    return true;
}

/*
 * The node's own types hold if they are complete: the shapes of its inputs are those it was built
 * with. Otherwise they follow from the tensors at hand.
 */
static tg_status output_types(const tg_node *node, const tg_tensor *in, tg_attr *attr, tg_type *out,
                              tg_arena *arena)
{
    memcpy(attr, node->attrs->a, node->attrs->n * sizeof *attr);
    if (node->n_out) memcpy(out, node->out, node->n_out * sizeof *out);
    if (all_complete(out, node->n_out)) return TG_OK;
    return infer_now(node, in, attr, out, arena);
}

static tg_status call_kernel(const tg_node *node, const tg_tensor *in, tg_tensor *out,
                             const tg_runner *runner, tg_arena *arena)
{
    const tg_op_row *row = tg_op_get(node->op);
    tg_attr *attr = TG_NEW_ARRAY(arena, tg_attr, node->attrs->n + 1);
    tg_type *types = TG_NEW_ARRAY(arena, tg_type, node->n_out + 1);
    TG_TRY(tg_op_takes(row, types_of(in, node->n_in, arena), node->n_in));
    TG_TRY(output_types(node, in, attr, types, arena));
    for (int i = 0; i < node->n_out; i++) {
        out[i] = (tg_tensor){types[i].dtype, types[i].shape, NULL};
        TG_TRY(tg_type_limit(&types[i]));
        if (!tg_type_complete(&types[i])) continue;
        if ((uint64_t)tg_type_bytes(&types[i]) > tg_memory_limit())
            return tg_fail(TG_LIMIT, "a value of %lld MB is larger than the memory limit, %zu MB",
                           (long long)(tg_type_bytes(&types[i]) >> 20), tg_memory_limit() >> 20);
        out[i].data = tg_calloc(1, tg_tensor_bytes(&out[i]));
    }
    tg_call call = {row, attr, node->n_in, node->n_out, in, out, arena, runner};
    return row->kernel(&call);
}

tg_status tg_node_eval(const tg_node *node, const tg_tensor *in, tg_tensor *out)
{
    return tg_node_eval_with(node, in, out, NULL);
}

tg_status tg_node_eval_with(const tg_node *node, const tg_tensor *in, tg_tensor *out,
                            const tg_runner *runner)
{
    const tg_op_row *row = tg_op_get(node->op);
    if (node->op == TG_OP_OPAQUE || !row->kernel)
        return tg_fail(TG_UNSUPPORTED, "operator %s cannot be run",
                       node->op == TG_OP_OPAQUE ? tg_node_attr(node, "op_type")->s : row->name);
    tg_arena *arena = tg_arena_new();
    for (int i = 0; i < node->n_out; i++) out[i].data = NULL;
    tg_status status = call_kernel(node, in, out, runner, arena);
    if (status != TG_OK) {
        for (int i = 0; i < node->n_out; i++) tg_tensor_free(&out[i]);
        status = tg_wrap(status, "%s%s%s", row->name, node->name[0] ? " " : "", node->name);
    }
    tg_arena_free(arena);
    return status;
}

/* Whether the node's outputs still fit into what a cache may hold. */
static tg_status consts_room(const tg_consts *cache, const tg_node *node)
{
    static const double BASE = 1 << 25, FACTOR = 8;
    double most = BASE + FACTOR * cache->given, made = cache->made;
    for (int i = 0; i < node->n_out; i++)
        if (tg_type_complete(&node->out[i])) made += (double)tg_shape_count(&node->out[i].shape);
    if (made <= most) return TG_OK;
    return tg_fail(TG_LIMIT, "constant expressions have %.0f elements, more than %.0f", made, most);
}

/* Puts the outputs of one node whose inputs are all in the cache into the cache. */
static tg_status consts_run(tg_consts *cache, const tg_node *node)
{
    tg_tensor in[TG_MAX_PORTS] = {0}, out[TG_MAX_PORTS];
    if (node->n_in > TG_MAX_PORTS)
        return tg_fail(TG_LIMIT, "%s has more than %d inputs", node->name, TG_MAX_PORTS);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE) in[i] = *tg_consts_find(cache, node->in[i]);
    TG_TRY(consts_room(cache, node));
    TG_TRY(tg_node_eval(node, in, out));
    for (int i = 0; i < node->n_out; i++)
        tg_consts_put(cache, tg_value_of(node->id, (uint32_t)i), out[i], true);
    return TG_OK;
}

/* Pushes the makers of inputs that are not in the cache; false if there are none. */
static bool push_missing(tg_consts *cache, const tg_node *node, tg_node *const *nodes,
                         tg_id_vec *stack)
{
    size_t before = stack->n;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE || tg_consts_find(cache, node->in[i])) continue;
        const tg_node *maker = nodes[tg_value_node(node->in[i])];
        if (maker->op == TG_OP_CONST)
            tg_consts_put(cache, node->in[i], tg_node_tensor(maker), false);
        else tg_vec_push(stack, maker->id);
    }
    return stack->n > before;
}

tg_status tg_consts_eval(tg_consts *cache, tg_node *const *nodes, tg_value v, const tg_tensor **out)
{
    const tg_node *node = nodes[tg_value_node(v)];
    if (!node->constant) return tg_fail(TG_INVALID, "value of %s is not constant", node->name);
    if (node->op == TG_OP_CONST && !tg_consts_find(cache, v))
        tg_consts_put(cache, v, tg_node_tensor(node), false);
    tg_id_vec stack = {0};
    tg_status status = TG_OK;
    if (!tg_consts_find(cache, v)) tg_vec_push(&stack, node->id);
    while (stack.n && status == TG_OK) {
        const tg_node *top = nodes[tg_vec_last(&stack)];
        if (tg_consts_find(cache, tg_value_of(top->id, 0))) stack.n--;
        else if (!push_missing(cache, top, nodes, &stack)) status = consts_run(cache, top);
    }
    tg_vec_free(&stack);
    if (status == TG_OK) *out = tg_consts_find(cache, v);
    return status;
}

tg_status tg_const_eval(const tg_graph *g, tg_value v, tg_weight **weight)
{
    const tg_node *node = tg_graph_maker(g, v);
    if (node->op == TG_OP_CONST) {
        *weight = tg_weight_ref(node->weight);
        return TG_OK;
    }
    tg_consts cache = {0};
    const tg_tensor *t;
    tg_status status = tg_consts_eval(&cache, g->nodes, v, &t);
    if (status == TG_OK) *weight = tg_tensor_weight(t);
    tg_consts_done(&cache);
    return status;
}
