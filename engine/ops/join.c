/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Concat and Split. */
#include "params.h"
#include "strided.h"

tg_status infer_concat(tg_infer *infer)
{
    tg_shape out = infer->in[0].shape;
    int64_t axis = 0;
    if (out.rank == 0) return tg_fail(TG_SHAPE, "scalars have no axis to join along");
    TG_TRY(infer_axis(infer, out.rank, &axis));
    for (int i = 1; i < infer->n_in; i++) {
        if (infer->in[i].dtype != infer->in[0].dtype)
            return tg_fail(TG_TYPE, "element types %s and %s differ",
                           tg_dtype_name(infer->in[0].dtype), tg_dtype_name(infer->in[i].dtype));
        tg_shape next = infer->in[i].shape;
        int64_t size = next.rank == out.rank ? next.dim[axis] : 0;
        if (next.rank == out.rank) next.dim[axis] = out.dim[axis];
        if (!tg_shape_equal(&next, &out)) {
            char a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
            return tg_fail(TG_SHAPE, "%s and %s cannot be joined along axis %d",
                           tg_shape_text(a, &infer->in[0].shape),
                           tg_shape_text(b, &infer->in[i].shape), (int)axis);
        }
        if (__builtin_add_overflow(out.dim[axis], size, &out.dim[axis]))
            return tg_fail(TG_LIMIT, "axis %d grows too large", (int)axis);
    }
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

/* The whole or a part of a tensor along an axis, as a box with the strides of each. */
static tg_strided part_of(const tg_shape *whole, const tg_shape *part, int64_t axis)
{
    int64_t outer = 1, inner = 1;
    for (int64_t k = 0; k < axis; k++) outer *= part->dim[k];
    for (int64_t k = axis + 1; k < part->rank; k++) inner *= part->dim[k];
    tg_strided s = {0};
    tg_strided_add(&s, outer, whole->dim[axis] * inner, part->dim[axis] * inner);
    tg_strided_add(&s, part->dim[axis] * inner, 1, 1);
    return s;
}

tg_status kernel_concat(tg_call *call)
{
    tg_tensor *y = &call->out[0];
    TG_TRY(tg_element_movable(y->dtype));
    int64_t axis = call_attr(call, "axis")->i, inner = 1, at = 0;
    for (int64_t k = axis + 1; k < y->shape.rank; k++) inner *= y->shape.dim[k];
    for (int i = 0; i < call->n_in; i++) {
        tg_strided s = part_of(&y->shape, &call->in[i].shape, axis);
        tg_strided_copy(&s, tg_element_at(y, at), call->in[i].data, tg_dtype_size(y->dtype));
        at += call->in[i].shape.dim[axis] * inner;
    }
    return TG_OK;
}

/* Sizes where none are given: equal, the last one less if they do not fit. */
static tg_status split_evenly(tg_infer *infer, int64_t size)
{
    const tg_attr *given = tg_infer_attr(infer, "num_outputs");
    int64_t n = infer->n_out, v[256], part = (size + n - 1) / n;
    if (given->kind == TG_ATTR_INT && given->i != n)
        return tg_fail(TG_INVALID, "num_outputs is %lld, outputs are %d", (long long)given->i,
                       infer->n_out);
    if (size - part * (n - 1) < 0)
        return tg_fail(TG_SHAPE, "size %lld cannot be cut in %lld", (long long)size, (long long)n);
    for (int64_t i = 0; i < n; i++) v[i] = i + 1 < n ? part : size - part * (n - 1);
    tg_infer_set_ints(infer, "split", v, (size_t)n);
    return TG_OK;
}

/* Canonical: the sizes are listed, num_outputs is absent. */
tg_status infer_split(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    int64_t axis = 0, sum = 0;
    for (int i = 0; i < infer->n_out; i++) infer->out[i].dtype = infer->in[0].dtype;
    TG_TRY(infer_axis(infer, in->rank, &axis));
    const tg_attr *split;
    TG_TRY(infer_list(infer, "split", 1, &split));
    if (!split && has_type(infer, 1)) return TG_OK;
    if (!split) {
        TG_TRY(split_evenly(infer, in->dim[axis]));
        split = tg_infer_attr(infer, "split");
    }
    tg_infer_attr(infer, "num_outputs")->kind = TG_ATTR_NONE;
    if ((int)split->n != infer->n_out)
        return tg_fail(TG_INVALID, "%u sizes for %d outputs", split->n, infer->n_out);
    for (uint32_t i = 0; i < split->n; i++) {
        if (split->ints[i] < 0 || split->ints[i] > in->dim[axis] - sum)
            return tg_fail(TG_SHAPE, "the sizes do not sum to %lld", (long long)in->dim[axis]);
        sum += split->ints[i];
        infer->out[i].shape = *in;
        infer->out[i].shape.dim[axis] = split->ints[i];
    }
    if (sum != in->dim[axis])
        return tg_fail(TG_SHAPE, "the sizes sum to %lld, not %lld", (long long)sum,
                       (long long)in->dim[axis]);
    return TG_OK;
}

tg_status kernel_split(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_movable(x->dtype));
    int64_t axis = call_attr(call, "axis")->i, inner = 1, at = 0;
    for (int64_t k = axis + 1; k < x->shape.rank; k++) inner *= x->shape.dim[k];
    for (int i = 0; i < call->n_out; i++) {
        tg_strided s = part_of(&x->shape, &call->out[i].shape, axis);
        for (int k = 0; k < s.rank; k++) {
            int64_t swap = s.to[k];
            s.to[k] = s.from[k];
            s.from[k] = swap;
        }
        tg_strided_copy(&s, call->out[i].data, tg_element_at(x, at), tg_dtype_size(x->dtype));
        at += call->out[i].shape.dim[axis] * inner;
    }
    return TG_OK;
}
