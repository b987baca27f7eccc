/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that only see elements otherwise: they cost nothing, or one copy. */
#include "copy.h"
#include "plan.h"

#include <string.h>

/*
 * The place of the input's elements read as the output's shape. Where they must move, channels stay
 * innermost if they were: what follows is likely to want that.
 */
static tg_status reshaped(tg_cpu_plan *p, const tg_node *node, tg_operand *out)
{
    tg_operand in;
    const tg_shape *to = &node->out[0].shape;
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    *out = in;
    out->shape = *to;
    out->dtype = node->out[0].dtype;
    if (tg_layout_reshape(&in.shape, &in.layout, to, &out->layout)) return TG_OK;
    tg_layout last = tg_layout_last(to), before;
    int axes[TG_MAX_RANK];
    tg_layout_order(&in.shape, &in.layout, axes);
    bool channels = to->rank >= 3 && axes[in.shape.rank - 1] != in.shape.rank - 1;
    if (!channels || !tg_layout_reshape(to, &last, &in.shape, &before))
        before = tg_layout_plain(&in.shape);
    TG_TRY(tg_cpu_move(p, &in, &before, out));
    out->shape = *to;
    if (!tg_layout_reshape(&in.shape, &out->layout, to, &out->layout))
        return tg_fail(TG_UNSUPPORTED, "elements cannot stay");
    return TG_OK;
}

tg_status tg_cpu_plan_view(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand out;
    if (node->n_in != 1 || node->n_out != 1)
        return tg_fail(TG_UNSUPPORTED, "more than one input or output");
    int training = tg_op_attr_index(node->op, "training_mode");
    if (training >= 0 && node->attrs->a[training].kind == TG_ATTR_INT && node->attrs->a[training].i)
        return tg_fail(TG_UNSUPPORTED, "training");
    TG_TRY(reshaped(p, node, &out));
    tg_cpu_set(p, node, 0, &out);
    return TG_OK;
}

tg_status tg_cpu_plan_transpose(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in, out;
    const tg_attr *perm = tg_node_attr(node, "perm");
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    out = in;
    out.shape = node->out[0].shape;
    for (int i = 0; i < out.shape.rank; i++) out.layout.stride[i] = in.layout.stride[perm->ints[i]];
    tg_cpu_set(p, node, 0, &out);
    return TG_OK;
}

/* A part of a value: its layout from another first element. */
static tg_operand part(const tg_operand *whole, const tg_shape *shape, int axis, int64_t start,
                       int64_t step)
{
    tg_operand at = *whole;
    at.shape = *shape;
    at.layout.offset += start * whole->layout.stride[axis];
    at.layout.stride[axis] *= step;
    return at;
}

tg_status tg_cpu_plan_split(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in;
    int axis = (int)tg_node_attr(node, "axis")->i;
    int64_t start = 0;
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    for (int i = 0; i < node->n_out; i++) {
        tg_operand at = part(&in, &node->out[i].shape, axis, start, 1);
        tg_cpu_set(p, node, (uint32_t)i, &at);
        start += node->out[i].shape.dim[axis];
    }
    return TG_OK;
}

/* Backwards steps have no stride. */
tg_status tg_cpu_plan_slice(tg_cpu_plan *p, const tg_node *node)
{
    const tg_attr *starts = tg_node_attr(node, "starts"), *axes = tg_node_attr(node, "axes");
    const tg_attr *steps = tg_node_attr(node, "steps");
    if (node->n_in != 1 || starts->kind != TG_ATTR_INTS)
        return tg_fail(TG_UNSUPPORTED, "bounds vary");
    tg_operand in, at;
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    at = in;
    at.shape = node->out[0].shape;
    if (tg_shape_count(&at.shape) == 0) return tg_fail(TG_UNSUPPORTED, "empty");
    for (uint32_t i = 0; i < starts->n; i++) {
        int64_t axis = axes->kind == TG_ATTR_INTS ? axes->ints[i] : (int64_t)i;
        int64_t step = steps->kind == TG_ATTR_INTS ? steps->ints[i] : 1, start = starts->ints[i];
        int64_t dim = in.shape.dim[axis];
        if (step < 1) return tg_fail(TG_UNSUPPORTED, "backwards");
        if (start < 0) start += dim;
        start = start < 0 ? 0 : start > dim ? dim : start;
        at = part(&at, &at.shape, (int)axis, start, step);
    }
    tg_cpu_set(p, node, 0, &at);
    return TG_OK;
}

/* ---- concatenation ---- */

/* One copy an input. */
typedef struct join {
    int n;
    tg_copy copies[];
} join;

static tg_status run_join(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const join *j = step->own;
    for (int i = 0; i < j->n; i++) tg_copy_do(&j->copies[i], ptr[i], ptr[j->n + i]);
    return TG_OK;
}

/* Channels last if most of the elements have it so. */
static tg_layout join_layout(const tg_node *node, const tg_operand *in)
{
    int64_t last = 0, plain = 0;
    for (int i = 0; i < node->n_in; i++) {
        int64_t n = tg_shape_count(&in[i].shape);
        if (tg_layout_is_plain(&in[i].shape, &in[i].layout)) plain += n;
        else if (tg_layout_is_last(&in[i].shape, &in[i].layout)) last += n;
    }
    return last > plain ? tg_layout_last(&node->out[0].shape)
                        : tg_layout_plain(&node->out[0].shape);
}

tg_status tg_cpu_plan_concat(tg_cpu_plan *p, const tg_node *node)
{
    int axis = (int)tg_node_attr(node, "axis")->i, n = node->n_in;
    int64_t start = 0;
    tg_operand *all = TG_NEW_ARRAY(p->memory, tg_operand, 2 * n);
    join *j = tg_arena_alloc(p->memory, sizeof *j + sizeof *j->copies * (size_t)n);
    j->n = n;
    for (int i = 0; i < n; i++) TG_TRY(tg_cpu_value(p, node->in[i], &all[i]));
    tg_layout layout = join_layout(node, all);
    tg_operand out = tg_cpu_new(p, &node->out[0], &layout);
    for (int i = 0; i < n; i++) {
        all[n + i] = part(&out, &all[i].shape, axis, start, 1);
        j->copies[i] = tg_copy_of(out.dtype, &all[i].shape, &all[i].layout, &all[n + i].layout);
        start += all[i].shape.dim[axis];
    }
    tg_cpu_step(p, node, run_join, j, all, 2 * n);
    tg_cpu_set(p, node, 0, &out);
    p->stats->loops++;
    return TG_OK;
}
