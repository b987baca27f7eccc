/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators that only choose among elements, between DequantizeLinear and QuantizeLinear of one
 * scale: they run on the integers.
 */
#include "loop.h"
#include "quant.h"
#include "vector.h"

#include <string.h>

/* The operators, and how many of their inputs are data: 0 all. */
static const struct {
    const char *name;
    int data;
} choosers[] = {
    {"MaxPool", 1},      {"Reshape", 1},      {"Flatten", 1}, {"Squeeze", 1},  {"Unsqueeze", 1},
    {"Transpose", 1},    {"Slice", 1},        {"Concat", 0},  {"Expand", 1},   {"Tile", 1},
    {"DepthToSpace", 1}, {"SpaceToDepth", 1}, {"Gather", 1},  {"Identity", 1}, {"Resize", 1},
};

static int data_inputs(const tg_node *node)
{
    for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++)
        if (tg_cpu_named(node, choosers[i].name))
            return choosers[i].data ? choosers[i].data : node->n_in;
    return 0;
}

static bool same_code(const tg_code *a, const tg_code *b)
{
    return a->dtype == b->dtype && a->scale == b->scale && a->zero == b->zero;
}

/* A concatenation may bring each part to the scale of the whole. */
static bool rescales(const tg_node *node)
{
    const tg_attr *axis = tg_cpu_attr(node, "axis");
    return tg_cpu_named(node, "Concat") && axis && axis->i >= 0;
}

static bool fits_loops(const tg_code *code)
{
    return tg_convert_fits(code->dtype) && code->quantised;
}

bool tg_quant_passes(const tg_graph *g, const tg_node *node, const tg_node *quantize)
{
    tg_code out, in;
    tg_value from;
    int n = node->constant || node->n_out != 1 ? 0 : data_inputs(node);
    if (!n || !tg_quant_code(g, quantize, &out)) return false;
    const tg_attr *mode = tg_cpu_attr(node, "mode");
    if (tg_cpu_named(node, "Resize") && mode && strcmp(mode->s, "nearest") != 0) return false;
    for (int i = 0; i < n; i++)
        if (!tg_quant_source(g, node->in[i], &from, &in) ||
            !(same_code(&in, &out) || (rescales(node) && fits_loops(&in) && fits_loops(&out))))
            return false;
    return true;
}

/* ---- joining values of other scales ---- */

static tg_status run_rescale(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    tg_vector_run(step->own, ptr, NULL);
    return TG_OK;
}

/* The elements of `from`, in the other code, at `to`. */
static void add_rescale(tg_cpu_plan *p, const tg_node *node, const tg_operand *from,
                        const tg_code *in, const tg_operand *to, const tg_code *out)
{
    tg_vector v;
    int axes[TG_MAX_RANK];
    memset(&v, 0, sizeof v);
    v.n_in = v.n_out = v.n_registers = 1;
    v.code[0] = *in;
    v.code[1] = *out;
    memcpy(v.dim, from->shape.dim, sizeof v.dim);
    memcpy(v.stride[0], from->layout.stride, sizeof v.stride[0]);
    memcpy(v.stride[1], to->layout.stride, sizeof v.stride[1]);
    tg_layout_order(&to->shape, &to->layout, axes);
    tg_vector_collapse(&v, (int)from->shape.rank, axes);
    tg_operand all[] = {*from, *to};
    tg_cpu_step(p, node, run_rescale, tg_arena_dup(p->memory, &v, sizeof v), all, 2);
    p->stats->loops++;
}

/* Channels last if the largest part has them so. */
static tg_status join_rescaled(tg_cpu_plan *p, const tg_node *node, const tg_node *last)
{
    int axis = (int)tg_node_attr(node, "axis")->i;
    tg_operand *from = TG_NEW_ARRAY(p->memory, tg_operand, node->n_in);
    tg_code *code = TG_NEW_ARRAY(p->memory, tg_code, node->n_in), out;
    const tg_shape *shape = &last->out[0].shape;
    int largest = 0;
    if (!tg_quant_code(p->g, last, &out) || tg_shape_count(shape) == 0)
        return tg_fail(TG_UNSUPPORTED, "not of one scale");
    for (int i = 0; i < node->n_in; i++) {
        tg_value v;
        if (!tg_quant_source(p->g, node->in[i], &v, &code[i]))
            return tg_fail(TG_UNSUPPORTED, "not of integers");
        TG_TRY(tg_cpu_value(p, v, &from[i]));
        if (tg_shape_count(&from[i].shape) > tg_shape_count(&from[largest].shape)) largest = i;
    }
    bool channels = tg_layout_is_last(&from[largest].shape, &from[largest].layout);
    tg_layout layout = channels ? tg_layout_last(shape) : tg_layout_plain(shape);
    tg_operand to = tg_cpu_new(p, &last->out[0], &layout), part = to;
    tg_cpu_set(p, last, 0, &to);
    for (int i = 0; i < node->n_in; i++) {
        part.shape = from[i].shape;
        if (tg_shape_count(&part.shape)) add_rescale(p, node, &from[i], &code[i], &part, &out);
        part.layout.offset += part.shape.dim[axis] * layout.stride[axis];
    }
    p->stats->absorbed++;
    return TG_OK;
}

static bool all_of_one_code(const tg_cpu_plan *p, const tg_node *node, const tg_node *last)
{
    tg_code out, in;
    tg_value v;
    if (!tg_quant_code(p->g, last, &out)) return false;
    for (int i = 0; i < node->n_in; i++)
        if (!tg_quant_source(p->g, node->in[i], &v, &in) || !same_code(&in, &out)) return false;
    return true;
}

tg_status tg_quant_pass(tg_cpu_plan *p, const tg_group *group)
{
    const tg_node *node = group->nodes[0], *last = group->quantize;
    if (rescales(node) && !all_of_one_code(p, node, last)) return join_rescaled(p, node, last);
    tg_value *in = tg_arena_dup(p->memory, node->in, sizeof *in * (size_t)node->n_in);
    for (int i = 0; i < data_inputs(node); i++) in[i] = tg_graph_maker(p->g, in[i])->in[0];
    /* The same operator on other values: what it makes is what the last node would make. */
    tg_node *shadow = TG_NEW(p->memory, tg_node);
    shadow->id = last->id;
    shadow->op = node->op;
    shadow->n_in = node->n_in;
    shadow->n_out = 1;
    shadow->attrs = node->attrs;
    shadow->name = node->name;
    shadow->rule = node->rule;
    shadow->group = node->group;
    shadow->in = in;
    shadow->out = last->out;
    shadow->out_name = last->out_name;
    TG_TRY(tg_cpu_plan_shadow(p, shadow));
    p->stats->absorbed++;
    return TG_OK;
}
