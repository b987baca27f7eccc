/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Softmax and layer normalisation. */
#include "eltwise.h"
#include "loop.h"
#include "tail.h"

#include <string.h>

static tg_status add_prim(tg_cpu_plan *p, const tg_node *node, const tg_prim_spec *spec,
                          tg_prim_operands *o, const tg_layout *layout)
{
    const tg_prim *prim = tg_prim_get(spec);
    if (!prim->usable) return tg_fail(TG_UNSUPPORTED, "no such primitive");
    tg_operand out = tg_cpu_new(p, &node->out[0], layout);
    o->dst.buffer = out.buffer;
    tg_cpu_set(p, node, 0, &out);
    return tg_cpu_prim(p, node, prim, o);
}

/* As it lies if the library has fast code for that, else with the axis innermost. */
static tg_status softmax_input(tg_cpu_plan *p, const tg_node *node, tg_prim_spec *spec,
                               tg_operand *src)
{
    int axes[TG_MAX_RANK], n = 0;
    TG_TRY(tg_cpu_dense(p, node->in[0], src));
    spec->src = spec->dst = tg_cpu_md_plain(src);
    const tg_prim *prim = tg_prim_get(spec);
    if (prim->usable && !prim->slow) return TG_OK;
    for (int i = 0; i < src->shape.rank; i++)
        if (i != spec->axis) axes[n++] = i;
    axes[n] = spec->axis;
    tg_layout inner = tg_layout_of_order(&src->shape, axes);
    TG_TRY(tg_cpu_move(p, src, &inner, src));
    spec->src = spec->dst = tg_cpu_md_plain(src);
    return TG_OK;
}

tg_status tg_cpu_plan_softmax(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    if (!tg_cpu_is_float(p, node->in[0]) || node->out[0].shape.rank == 0)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    spec.kind = TG_PRIM_SOFTMAX;
    spec.threads = p->threads;
    spec.axis = (int32_t)tg_node_attr(node, "axis")->i;
    if (strcmp(tg_op_get(node->op)->name, "LogSoftmax") == 0) spec.variant = TG_PRIM_SOFTMAX_LOG;
    TG_TRY(softmax_input(p, node, &spec, &o.src));
    tg_layout layout = o.src.layout;
    layout.offset = 0;
    o.dst = o.src;
    return add_prim(p, node, &spec, &o, &layout);
}

/* The normalised axes as one, and all before them as one. */
static tg_status two_axes(tg_cpu_plan *p, tg_value v, int64_t axis, tg_operand *out)
{
    TG_TRY(tg_cpu_plain(p, v, out));
    int64_t rows = 1, columns = 1;
    for (int i = 0; i < out->shape.rank; i++) {
        if (i < axis) rows *= out->shape.dim[i];
        else columns *= out->shape.dim[i];
    }
    int64_t offset = out->layout.offset;
    out->shape = tg_shape_of(rows, columns);
    out->layout = tg_layout_plain(&out->shape);
    out->layout.offset = offset;
    return TG_OK;
}

static tg_status parameter(tg_cpu_plan *p, tg_value v, int64_t n, tg_operand *out, tg_md *md)
{
    TG_TRY(two_axes(p, v, 0, out));
    if (tg_shape_count(&out->shape) != n) return tg_fail(TG_UNSUPPORTED, "parameters repeat");
    out->shape = tg_shape_of(n);
    out->layout = (tg_layout){.offset = out->layout.offset, .stride = {1}};
    TG_TRY(tg_cpu_padded(p, out, out));
    *md = tg_cpu_md_plain(out);
    return TG_OK;
}

static tg_status plan_layer_norm(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] == TG_NO_VALUE || !tg_cpu_is_float(p, node->in[i]))
            return tg_fail(TG_UNSUPPORTED, "not of floats");
    if (node->n_out != 1) return tg_fail(TG_UNSUPPORTED, "more than one output");
    int64_t axis = tg_node_attr(node, "axis")->i;
    if (axis < 0) axis += node->out[0].shape.rank;
    spec.kind = TG_PRIM_LAYERNORM;
    spec.threads = p->threads;
    spec.epsilon = tg_attr_or(node, "epsilon", 1e-5f);
    TG_TRY(two_axes(p, node->in[0], axis, &o.src));
    int64_t columns = o.src.shape.dim[1];
    TG_TRY(parameter(p, node->in[1], columns, &o.weights, &spec.weights));
    if (node->n_in > 2) TG_TRY(parameter(p, node->in[2], columns, &o.bias, &spec.bias));
    o.dst = o.src;
    o.dst.layout.offset = 0;
    spec.src = spec.dst = tg_cpu_md_plain(&o.src);
    tg_layout layout = tg_layout_plain(&node->out[0].shape);
    return add_prim(p, node, &spec, &o, &layout);
}

/* Parameters of one number, and means that are asked for, are for a loop of ours. */
tg_status tg_cpu_plan_layer_norm(tg_cpu_plan *p, const tg_node *node)
{
    tg_status status = plan_layer_norm(p, node);
    return status == TG_UNSUPPORTED ? tg_cpu_plan_moments(p, node) : status;
}
