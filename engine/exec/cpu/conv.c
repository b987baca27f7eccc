/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolutions, with what follows them. */
#include "conv.h"

#include "quant.h"
#include "tail.h"
#include "winograd.h"

#include <string.h>

/* [m, c, ...] as [groups, m / groups, c, ...]. */
tg_operand tg_conv_split_groups(tg_operand w, int64_t groups)
{
    tg_operand s = w;
    s.shape.rank++;
    s.shape.dim[0] = groups;
    s.shape.dim[1] = w.shape.dim[0] / groups;
    s.layout.stride[0] = w.layout.stride[0] * s.shape.dim[1];
    s.layout.stride[1] = w.layout.stride[0];
    for (int i = 1; i < w.shape.rank; i++) {
        s.shape.dim[i + 1] = w.shape.dim[i];
        s.layout.stride[i + 1] = w.layout.stride[i];
    }
    return s;
}

void tg_conv_fill_window(const tg_node *node, tg_prim_spec *spec, int n)
{
    const tg_attr *strides = tg_node_attr(node, "strides"), *pads = tg_node_attr(node, "pads");
    const tg_attr *dilations = tg_node_attr(node, "dilations");
    for (int i = 0; i < n; i++) {
        spec->stride[i] = strides->ints[i];
        spec->dilation[i] = dilations->ints[i];
        spec->pad_low[i] = pads->ints[i];
        spec->pad_high[i] = pads->ints[n + i];
    }
    for (int i = n; i < TG_PRIM_SPATIAL; i++) spec->stride[i] = spec->dilation[i] = 1;
}

static tg_status place_weights(tg_cpu_plan *p, const tg_node *node, tg_prim_spec *spec,
                               tg_prim_operands *o)
{
    int64_t groups = tg_node_attr(node, "group")->i;
    TG_TRY(tg_cpu_plain(p, node->in[1], &o->weights));
    if (groups > 1) {
        if (o->weights.shape.rank == TG_MAX_RANK) return tg_fail(TG_UNSUPPORTED, "rank");
        o->weights = tg_conv_split_groups(o->weights, groups);
    }
    spec->weights = tg_cpu_md_any(&o->weights);
    return TG_OK;
}

static tg_status plan_conv(tg_cpu_plan *p, const tg_node *node, tg_prim_spec *spec)
{
    const tg_group *group = p->groups[node->id];
    const tg_node *last = group ? group->nodes[group->n - 1] : node;
    tg_prim_operands o;
    tg_operand_none(&o);
    tg_layout layout = tg_layout_last(&node->out[0].shape);
    tg_conv_fill_window(node, spec, (int)node->out[0].shape.rank - 2);
    TG_TRY(place_weights(p, node, spec, &o));
    tg_tail_in in = {.p = p, .node = node, .group = group, .axis = 1, .layout = &layout};
    in.shape = node->out[0].shape;
    in.bias = node->n_in > 2 ? node->in[2] : TG_NO_VALUE;
    TG_TRY(tg_tail_place(&in, spec, &o));
    TG_TRY(tg_cpu_last(p, node->in[0], &o.src));
    spec->src = tg_cpu_md(&o.src);
    o.dst = (tg_operand){-1, TG_F32, node->out[0].shape, layout};
    spec->dst = tg_cpu_md(&o.dst);
    const tg_prim *prim = tg_prim_get(spec);
    if (!prim->usable || (prim->slow && group))
        return tg_fail(TG_UNSUPPORTED, "no such convolution");
    o.dst = tg_cpu_new(p, &node->out[0], &layout);
    tg_cpu_set(p, last, 0, &o.dst);
    if (group) p->stats->absorbed += group->n - 1;
    tg_status status = tg_winograd_plan(p, node, prim, &o);
    return status == TG_UNSUPPORTED ? tg_cpu_prim(p, node, prim, &o) : status;
}

static bool floats_only(const tg_cpu_plan *p, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE && !tg_cpu_is_float(p, node->in[i])) return false;
    const tg_shape *s = &node->out[0].shape;
    return node->out[0].dtype == TG_F32 && s->rank >= 3 && s->rank <= 5 && tg_shape_count(s) > 0;
}

tg_status tg_cpu_plan_conv(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    const tg_group *group = p->groups[node->id];
    memset(&spec, 0, sizeof spec);
    if (!floats_only(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    if (tg_quant_anchor(p->g, node)) {
        tg_status status = tg_quant_conv(p, node);
        if (status != TG_UNSUPPORTED || (group && group->quantize)) return status;
    }
    spec.kind = TG_PRIM_CONV;
    spec.threads = p->threads;
    return plan_conv(p, node, &spec);
}

/* The library wants [m, c, ...] per group where the operator has [c, m, ...]. */
static tg_operand exchange_channels(tg_operand w, int64_t groups)
{
    tg_operand s = tg_conv_split_groups(w, groups);
    int64_t dim = s.shape.dim[1], stride = s.layout.stride[1];
    s.shape.dim[1] = s.shape.dim[2];
    s.layout.stride[1] = s.layout.stride[2];
    s.shape.dim[2] = dim;
    s.layout.stride[2] = stride;
    if (groups > 1) return s;
    for (int i = 1; i < s.shape.rank; i++) {
        s.shape.dim[i - 1] = s.shape.dim[i];
        s.layout.stride[i - 1] = s.layout.stride[i];
    }
    s.shape.rank--;
    s.shape.dim[s.shape.rank] = s.layout.stride[s.shape.rank] = 0;
    return s;
}

/* The padding at the end that gives the output its size, whatever the attributes say of it. */
static void fit_end(const tg_prim_operands *o, tg_prim_spec *spec, const tg_node *node)
{
    const tg_attr *kernel = tg_node_attr(node, "kernel_shape");
    for (int i = 0; i < (int)kernel->n; i++) {
        int64_t full = (o->src.shape.dim[i + 2] - 1) * spec->stride[i] +
                       (kernel->ints[i] - 1) * spec->dilation[i] + 1;
        spec->pad_high[i] = full - spec->pad_low[i] - node->out[0].shape.dim[i + 2];
    }
}

tg_status tg_cpu_plan_conv_transpose(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    if (!floats_only(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    int64_t groups = tg_node_attr(node, "group")->i;
    spec.kind = TG_PRIM_DECONV;
    spec.threads = p->threads;
    tg_conv_fill_window(node, &spec, (int)node->out[0].shape.rank - 2);
    TG_TRY(tg_cpu_plain(p, node->in[1], &o.weights));
    o.weights = exchange_channels(o.weights, groups);
    spec.weights = tg_cpu_md_any(&o.weights);
    tg_layout layout = tg_layout_last(&node->out[0].shape);
    tg_tail_in in = {.p = p, .node = node, .axis = 1, .layout = &layout};
    in.shape = node->out[0].shape;
    in.bias = node->n_in > 2 ? node->in[2] : TG_NO_VALUE;
    TG_TRY(tg_tail_place(&in, &spec, &o));
    TG_TRY(tg_cpu_last(p, node->in[0], &o.src));
    fit_end(&o, &spec, node);
    spec.src = tg_cpu_md(&o.src);
    o.dst = (tg_operand){-1, TG_F32, node->out[0].shape, layout};
    spec.dst = tg_cpu_md(&o.dst);
    const tg_prim *prim = tg_prim_get(&spec);
    if (!prim->usable) return tg_fail(TG_UNSUPPORTED, "no such convolution");
    o.dst = tg_cpu_new(p, &node->out[0], &layout);
    tg_cpu_set(p, node, 0, &o.dst);
    return tg_cpu_prim(p, node, prim, &o);
}
