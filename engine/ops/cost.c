/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost.h"

#include "ops.h"

#include <stdlib.h>

#define LAUNCH_MS 0.005
#define FLOPS_PER_S 8e12
#define BYTES_PER_S 300e9

static tg_work default_work(const tg_type *in, int n_in, const tg_type *out, int n_out)
{
    tg_work work = {.kernels = 1};
    for (int i = 0; i < n_in; i++)
        if (tg_type_complete(&in[i])) work.bytes += (double)tg_type_bytes(&in[i]);
    for (int i = 0; i < n_out; i++)
        if (tg_type_complete(&out[i])) work.bytes += (double)tg_type_bytes(&out[i]);
    if (n_out && tg_type_complete(&out[0])) work.flops = (double)tg_shape_count(&out[0].shape);
    return work;
}

tg_work tg_op_work(tg_op op, const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out,
                   int n_out)
{
    const tg_op_row *row = tg_op_get(op);
    tg_work work = {0};
    if (row->work) row->work(attr, in, n_in, out, n_out, &work);
    else work = default_work(in, n_in, out, n_out);
    return work;
}

double tg_work_ms(const tg_work *work, tg_op op, bool by_rule)
{
    if (by_rule && op == TG_OP(Concat)) return 0;
    if (work->ms > 0) return (double)(float)work->ms;
    double compute = work->flops / FLOPS_PER_S, memory = work->bytes / BYTES_PER_S;
    double ms = LAUNCH_MS * work->kernels + 1000 * (compute > memory ? compute : memory);
    return (double)(float)ms;
}

double tg_cost_ms(tg_op op, const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out,
                  int n_out, bool constant, bool by_rule)
{
    if (constant || op == TG_OP_INPUT || op == TG_OP_CONST || op == TG_OP_SINK) return 0;
    tg_work work = tg_op_work(op, attr, in, n_in, out, n_out);
    return tg_work_ms(&work, op, by_rule);
}

enum { FEW = 16 };

/* Types of a node's inputs: in `few`, or to be freed. */
static tg_type *types_of(const tg_graph *g, const tg_node *node, tg_type *few)
{
    tg_type *in = node->n_in <= FEW ? few : tg_calloc(node->n_in, sizeof *in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == TG_NO_VALUE ? (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN}
                                           : *tg_graph_type(g, node->in[i]);
    return in;
}

tg_work tg_node_work(const tg_graph *g, const tg_node *node)
{
    tg_type few[FEW];
    if (node->constant || node->op < TG_OP_OPAQUE) return (tg_work){0};
    tg_type *in = types_of(g, node, few);
    tg_work work = tg_op_work(node->op, node->attrs->a, in, node->n_in, node->out, node->n_out);
    if (in != few) free(in);
    return work;
}

double tg_node_cost_ms(const tg_graph *g, const tg_node *node)
{
    tg_type few[FEW];
    if (node->constant || node->op < TG_OP_OPAQUE) return 0;
    tg_type *in = types_of(g, node, few);
    double ms = tg_cost_ms(node->op, node->attrs->a, in, node->n_in, node->out, node->n_out,
                           node->constant, node->rule != NULL);
    if (in != few) free(in);
    return ms;
}

double tg_graph_cost_ms(const tg_graph *g)
{
    float sum = 0;
    for (uint32_t id = 0; id < g->n_ids; id++) {
        const tg_node *node = tg_graph_node(g, id);
        if (node) sum += (float)tg_node_cost_ms(g, node);
    }
    return (double)sum;
}
