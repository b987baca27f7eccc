/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slice and Pad. */
#include "pad.h"
#include "params.h"
#include "strided.h"

#include <string.h>

/* One axis of a slice, clamped: elements start, start + step, ... (count of them). */
typedef struct cut {
    int64_t start, end, step, count;
} cut;

/*
 * Canonical ends: within 0..size going up; going down the end before the first element is written
 * as -(size + 1), which means the same when it is read again.
 */
static tg_status cut_axis(int64_t size, cut *c)
{
    if (c->step == 0) return tg_fail(TG_INVALID, "a step is 0");
    if (c->step == INT64_MIN) c->step++;
    int64_t low = c->step > 0 ? 0 : -1, high = c->step > 0 ? size : size - 1;
    if (c->start < 0) c->start = c->start < -size ? low : c->start + size;
    if (c->end < 0) c->end = c->end < -size ? low : c->end + size;
    if (c->start > high) c->start = high;
    if (c->end > high) c->end = high;
    if (c->start < 0) c->start = 0;
    int64_t way = c->step > 0 ? c->end - c->start : c->start - c->end;
    int64_t stride = c->step > 0 ? c->step : -c->step;
    c->count = way > 0 && size > 0 ? (way - 1) / stride + 1 : 0;
    if (c->count == 0) c->start = c->end = 0;
    if (c->end < 0) c->end = -(size + 1);
    return TG_OK;
}

typedef struct slice_lists {
    const tg_attr *starts, *ends, *axes, *steps;
} slice_lists;

/* *known is false if one of them is known only when it runs. */
static tg_status slice_read(tg_infer *infer, slice_lists *l, bool *known)
{
    TG_TRY(infer_list(infer, "starts", 1, &l->starts));
    TG_TRY(infer_list(infer, "ends", 2, &l->ends));
    TG_TRY(infer_list(infer, "axes", 3, &l->axes));
    TG_TRY(infer_list(infer, "steps", 4, &l->steps));
    *known = (l->starts || !has_type(infer, 1)) && (l->ends || !has_type(infer, 2)) &&
             (l->axes || !has_type(infer, 3)) && (l->steps || !has_type(infer, 4));
    return TG_OK;
}

static tg_status slice_check(const slice_lists *l, int64_t rank, unsigned *set)
{
    if (!l->starts || !l->ends) return tg_fail(TG_INVALID, "starts or ends are missing");
    uint32_t n = l->starts->n;
    if (l->ends->n != n || (l->axes && l->axes->n != n) || (l->steps && l->steps->n != n))
        return tg_fail(TG_SHAPE, "starts, ends, axes and steps differ in length");
    if (n > TG_MAX_RANK || n > rank)
        return tg_fail(TG_SHAPE, "%u axes to slice in rank %lld", n, (long long)rank);
    int64_t all[TG_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    return tg_axes_set(l->axes ? l->axes->ints : all, n, rank, set);
}

/* Canonical: all four lists are given, by ascending axis, with clamped starts and ends. */
tg_status infer_slice(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    slice_lists l;
    unsigned set = 0;
    bool known;
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(slice_read(infer, &l, &known));
    if (!known) return TG_OK;
    TG_TRY(slice_check(&l, in->rank, &set));
    cut cuts[TG_MAX_RANK];
    tg_shape out = *in;
    for (uint32_t i = 0; i < l.starts->n; i++) {
        int64_t axis = l.axes ? l.axes->ints[i] : i;
        if (axis < 0) axis += in->rank;
        cuts[axis] = (cut){l.starts->ints[i], l.ends->ints[i], l.steps ? l.steps->ints[i] : 1, 0};
        TG_TRY(cut_axis(in->dim[axis], &cuts[axis]));
        out.dim[axis] = cuts[axis].count;
    }
    int64_t v[3][TG_MAX_RANK];
    size_t n = 0;
    for (int64_t k = 0; k < in->rank; k++) {
        if (!(set >> k & 1)) continue;
        v[0][n] = cuts[k].start;
        v[1][n] = cuts[k].end;
        v[2][n++] = cuts[k].step;
    }
    tg_infer_set_ints(infer, "starts", v[0], n);
    tg_infer_set_ints(infer, "ends", v[1], n);
    tg_infer_set_ints(infer, "steps", v[2], n);
    infer_set_axes(infer, "axes", set);
    infer->out[0].shape = out;
    return TG_OK;
}

tg_status kernel_slice(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_movable(x->dtype));
    const tg_attr *axes = call_attr(call, "axes"), *starts = call_attr(call, "starts"),
                  *steps = call_attr(call, "steps");
    int64_t from[TG_MAX_RANK], to[TG_MAX_RANK], first = 0;
    tg_strided_of(&x->shape, from);
    tg_strided_of(&call->out[0].shape, to);
    for (uint32_t i = 0; i < axes->n; i++) {
        first += starts->ints[i] * from[axes->ints[i]];
        from[axes->ints[i]] *= call->out[0].shape.dim[axes->ints[i]] > 1 ? steps->ints[i] : 1;
    }
    tg_strided s = {0};
    for (int64_t k = 0; k < x->shape.rank; k++)
        tg_strided_add(&s, call->out[0].shape.dim[k], to[k], from[k]);
    if (tg_tensor_count(&call->out[0]))
        tg_strided_copy(&s, call->out[0].data, tg_element_at(x, first), tg_dtype_size(x->dtype));
    return TG_OK;
}

static tg_status pad_list(tg_infer *infer, const tg_attr *pads, const tg_attr *axes, int64_t *full)
{
    int64_t rank = infer->in[0].shape.rank;
    int64_t n = axes ? axes->n : rank;
    unsigned set = 0;
    if (pads->n != 2 * n) return tg_fail(TG_SHAPE, "%u pads for %lld axes", pads->n, (long long)n);
    if (axes) TG_TRY(tg_axes_set(axes->ints, n, rank, &set));
    memset(full, 0, sizeof *full * 2 * TG_MAX_RANK);
    for (int64_t i = 0; i < n; i++) {
        int64_t axis = axes ? axes->ints[i] : i;
        if (axis < 0) axis += rank;
        full[axis] = pads->ints[i];
        full[rank + axis] = pads->ints[n + i];
    }
    return TG_OK;
}

static tg_status pad_shape(const tg_shape *in, const int64_t *pads, const char *mode, tg_shape *out)
{
    const int64_t most = (int64_t)1 << 48;
    *out = *in;
    for (int64_t k = 0; k < in->rank; k++) {
        int64_t low = pads[k], high = pads[in->rank + k], total;
        if (low < -most || low > most || high < -most || high > most ||
            (total = in->dim[k] + low + high) < 0)
            return tg_fail(TG_SHAPE, "axis %d of size %lld cannot be padded by %lld and %lld",
                           (int)k, (long long)in->dim[k], (long long)low, (long long)high);
        if (total && in->dim[k] == 0 && strcmp(mode, "constant") != 0)
            return tg_fail(TG_SHAPE, "axis %d has nothing to repeat", (int)k);
        out->dim[k] = total;
    }
    return TG_OK;
}

/* Canonical: pads for all axes, no axes; a value only where it is used. */
tg_status infer_pad(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    const char *mode = tg_infer_attr(infer, "mode")->s;
    bool constant = strcmp(mode, "constant") == 0;
    if (!constant && strcmp(mode, "reflect") != 0 && strcmp(mode, "edge") != 0 &&
        strcmp(mode, "wrap") != 0)
        return tg_fail(TG_UNSUPPORTED, "pad mode %s", mode);
    infer->out[0].dtype = infer->in[0].dtype;
    if (!constant) tg_infer_attr(infer, "value")->f = 0;
    if (has_type(infer, 2) && infer->in[2].dtype != infer->in[0].dtype)
        return tg_fail(TG_TYPE, "the value has another element type than the input");
    const tg_attr *pads, *axes;
    TG_TRY(infer_list(infer, "pads", 1, &pads));
    TG_TRY(infer_list(infer, "axes", 3, &axes));
    if (!pads && !has_type(infer, 1)) return tg_fail(TG_INVALID, "the pads are missing");
    if (!pads || (has_type(infer, 3) && !axes)) return TG_OK;
    int64_t full[2 * TG_MAX_RANK];
    TG_TRY(pad_list(infer, pads, axes, full));
    TG_TRY(pad_shape(in, full, mode, &infer->out[0].shape));
    tg_infer_set_ints(infer, "pads", full, 2 * (size_t)in->rank);
    tg_infer_attr(infer, "axes")->kind = TG_ATTR_NONE;
    return TG_OK;
}

/* Copies axis by axis: the table of an axis says where each of its places comes from. */
static void pad_repeat(tg_call *call, const int64_t *pads, const char *mode)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    int64_t rank = y->shape.rank, n = tg_tensor_count(y), stride[TG_MAX_RANK];
    size_t size = tg_dtype_size(x->dtype);
    int64_t *source[TG_MAX_RANK], index[TG_MAX_RANK] = {0};
    tg_strided_of(&x->shape, stride);
    for (int64_t k = 0; k < rank; k++) {
        source[k] = TG_NEW_ARRAY(call->arena, int64_t, y->shape.dim[k] + 1);
        for (int64_t i = 0; i < y->shape.dim[k]; i++)
            source[k][i] = tg_pad_source(mode, i - pads[k], x->shape.dim[k]) * stride[k];
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t from = 0;
        for (int64_t k = 0; k < rank; k++) from += source[k][index[k]];
        memcpy(tg_element_at(y, i), tg_element_at(x, from), size);
        for (int64_t k = rank - 1; k >= 0 && ++index[k] == y->shape.dim[k]; k--) index[k] = 0;
    }
}

/* Fills with the value, then copies the part of the input that is left. */
static void pad_constant(tg_call *call, const int64_t *pads)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    size_t size = tg_dtype_size(x->dtype);
    unsigned char value[16] = {0};
    tg_tensor one = {x->dtype, {0}, value};
    if (has_input(call, 2)) memcpy(value, call->in[2].data, size);
    else if (call_attr(call, "value")->f != 0)
        tg_element_store_f64(&one, 0, 1, &(double){call_attr(call, "value")->f});
    tg_strided fill = {0};
    tg_strided_add(&fill, tg_tensor_count(y), 1, 0);
    tg_strided_copy(&fill, y->data, value, size);
    int64_t from[TG_MAX_RANK], to[TG_MAX_RANK], first = 0, last = 0;
    tg_strided_of(&x->shape, from);
    tg_strided_of(&y->shape, to);
    tg_strided s = {0};
    for (int64_t k = 0; k < x->shape.rank; k++) {
        int64_t begin = pads[k] < 0 ? -pads[k] : 0, after = pads[x->shape.rank + k];
        int64_t n = x->shape.dim[k] - begin + (after < 0 ? after : 0);
        if (n <= 0) return;
        first += begin * from[k];
        last += (begin + pads[k]) * to[k];
        tg_strided_add(&s, n, to[k], from[k]);
    }
    tg_strided_copy(&s, tg_element_at(y, last), tg_element_at(x, first), size);
}

tg_status kernel_pad(tg_call *call)
{
    TG_TRY(tg_element_movable(call->in[0].dtype));
    if (has_input(call, 2) && tg_tensor_count(&call->in[2]) != 1)
        return tg_fail(TG_SHAPE, "the value is not one number");
    const char *mode = call_attr(call, "mode")->s;
    const int64_t *pads = call_attr(call, "pads")->ints;
    if (mode[0] == 'c') pad_constant(call, pads);
    else pad_repeat(call, pads, mode);
    return TG_OK;
}
