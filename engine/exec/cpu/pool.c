/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pooling. */
#include "tail.h"

#include <string.h>

static const tg_attr *optional(const tg_node *node, const char *name)
{
    int i = tg_op_attr_index(node->op, name);
    return i < 0 || node->attrs->a[i].kind == TG_ATTR_NONE ? NULL : &node->attrs->a[i];
}

/* The padding at the end is what the output's size needs: rounding up adds to it. */
static void fill_window(const tg_node *node, const tg_shape *in, tg_prim_spec *spec)
{
    const tg_attr *kernel = tg_node_attr(node, "kernel_shape");
    const tg_attr *strides = tg_node_attr(node, "strides"), *pads = tg_node_attr(node, "pads");
    const tg_attr *dilations = optional(node, "dilations");
    for (int i = 0; i < TG_PRIM_SPATIAL; i++) {
        spec->stride[i] = spec->dilation[i] = spec->kernel[i] = 1;
        if (i >= (int)kernel->n) continue;
        spec->kernel[i] = kernel->ints[i];
        spec->stride[i] = strides->ints[i];
        if (dilations) spec->dilation[i] = dilations->ints[i];
        spec->pad_low[i] = pads->ints[i];
        spec->pad_high[i] = (node->out[0].shape.dim[i + 2] - 1) * spec->stride[i] +
                            (spec->kernel[i] - 1) * spec->dilation[i] + 1 - in->dim[i + 2] -
                            spec->pad_low[i];
    }
}

/* Windows over the declared padding count it; over what rounding up added they do not. */
static bool average_fits(const tg_node *node, const tg_prim_spec *spec)
{
    const tg_attr *pads = tg_node_attr(node, "pads"), *kernel = tg_node_attr(node, "kernel_shape");
    if (!tg_node_attr(node, "count_include_pad")->i) return true;
    for (uint32_t i = 0; i < kernel->n; i++)
        if (spec->pad_high[i] > pads->ints[kernel->n + i]) return false;
    return true;
}

tg_status tg_cpu_plan_pool(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    tg_dtype dtype = tg_cpu_type(p, node->in[0])->dtype;
    bool bytes = (dtype == TG_U8 || dtype == TG_I8) && !optional(node, "count_include_pad");
    if ((!bytes && !tg_cpu_is_float(p, node->in[0])) || node->n_out != 1 ||
        node->out[0].shape.rank < 3 || node->out[0].shape.rank > 5 ||
        tg_shape_count(&node->out[0].shape) == 0)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    spec.kind = TG_PRIM_POOL;
    spec.threads = p->threads;
    fill_window(node, &tg_cpu_type(p, node->in[0])->shape, &spec);
    if (optional(node, "count_include_pad")) {
        if (!average_fits(node, &spec)) return tg_fail(TG_UNSUPPORTED, "window over no padding");
        spec.variant = tg_node_attr(node, "count_include_pad")->i ? TG_PRIM_POOL_AVERAGE_PADS
                                                                  : TG_PRIM_POOL_AVERAGE;
    }
    tg_layout layout = tg_layout_last(&node->out[0].shape);
    TG_TRY(tg_cpu_last(p, node->in[0], &o.src));
    o.dst = (tg_operand){-1, dtype, node->out[0].shape, layout};
    spec.src = tg_cpu_md(&o.src);
    spec.dst = tg_cpu_md(&o.dst);
    const tg_prim *prim = tg_prim_get(&spec);
    if (!prim->usable) return tg_fail(TG_UNSUPPORTED, "no such pooling");
    o.dst = tg_cpu_new(p, &node->out[0], &layout);
    tg_cpu_set(p, node, 0, &o.dst);
    return tg_cpu_prim(p, node, prim, &o);
}
