/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators about shapes, and tensors made from shapes: Shape ... OneHot, Trilu. */
#include "params.h"
#include "strided.h"

#include <math.h>
#include <string.h>

/* The range of axes that Shape asks for, clamped. */
static void shape_range(const tg_attr *start, const tg_attr *end, int64_t rank, int64_t *from,
                        int64_t *to)
{
    *from = start->i < 0 ? start->i + rank : start->i;
    *to = end->kind == TG_ATTR_NONE ? rank : end->i < 0 ? end->i + rank : end->i;
    *from = *from < 0 ? 0 : *from > rank ? rank : *from;
    *to = *to < *from ? *from : *to > rank ? rank : *to;
}

/* Known without running: the node becomes a constant. */
tg_status infer_shape(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    int64_t from, to;
    infer->out[0].dtype = TG_I64;
    if (in->rank < 0) return TG_OK;
    shape_range(tg_infer_attr(infer, "start"), tg_infer_attr(infer, "end"), in->rank, &from, &to);
    infer->out[0].shape = tg_shape_of(to - from);
    tg_shape part = tg_shape_from(in->dim + from, (int)(to - from));
    if (tg_shape_complete(&part))
        infer->known = tg_arena_dup(infer->arena, part.dim, sizeof part.dim);
    return TG_OK;
}

tg_status kernel_shape(tg_call *call)
{
    const tg_shape *in = &call->in[0].shape;
    int64_t from, to;
    shape_range(call_attr(call, "start"), call_attr(call, "end"), in->rank, &from, &to);
    if (to > from) memcpy(call->out[0].data, in->dim + from, sizeof *in->dim * (size_t)(to - from));
    return TG_OK;
}

tg_status infer_size(tg_infer *infer)
{
    infer->out[0] = (tg_type){TG_I64, {.rank = 0}};
    if (!tg_shape_complete(&infer->in[0].shape)) return TG_OK;
    int64_t count = tg_shape_count(&infer->in[0].shape);
    infer->known = tg_arena_dup(infer->arena, &count, sizeof count);
    return TG_OK;
}

tg_status kernel_size(tg_call *call)
{
    *(int64_t *)call->out[0].data = tg_tensor_count(&call->in[0]);
    return TG_OK;
}

static tg_status fill(tg_tensor *y, const tg_tensor *value)
{
    TG_TRY(tg_element_movable(y->dtype));
    tg_strided s = {0};
    tg_strided_add(&s, tg_tensor_count(y), 1, 0);
    tg_strided_copy(&s, y->data, value->data, tg_dtype_size(y->dtype));
    return TG_OK;
}

/* Canonical: a value that is the default, a float 0, is absent. */
tg_status infer_constant_of_shape(tg_infer *infer)
{
    tg_attr *value = tg_infer_attr(infer, "value");
    if (value->kind == TG_ATTR_TENSOR && tg_tensor_count(value->tensor) != 1)
        return tg_fail(TG_SHAPE, "the value is not one element");
    infer->out[0].dtype = value->kind == TG_ATTR_TENSOR ? value->tensor->dtype : TG_F32;
    uint32_t bits = 1;
    if (infer->out[0].dtype == TG_F32 && value->kind == TG_ATTR_TENSOR)
        memcpy(&bits, value->tensor->data, sizeof bits);
    if (bits == 0) value->kind = TG_ATTR_NONE;
    const tg_attr *shape;
    TG_TRY(infer_list(infer, "shape", 0, &shape));
    if (!shape && has_type(infer, 0)) return TG_OK;
    if (!shape) return tg_fail(TG_INVALID, "the shape is missing");
    if (shape->n > TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "a shape of rank %u, above %d", shape->n, TG_MAX_RANK);
    for (uint32_t k = 0; k < shape->n; k++)
        if (shape->ints[k] < 0)
            return tg_fail(TG_INVALID, "dimension %u of the shape is negative", k);
    infer->out[0].shape = tg_shape_from(shape->ints, (int)shape->n);
    return TG_OK;
}

tg_status kernel_constant_of_shape(tg_call *call)
{
    const tg_attr *value = call_attr(call, "value");
    float zero = 0;
    tg_tensor none = {TG_F32, {0}, &zero};
    return fill(&call->out[0], value->kind == TG_ATTR_TENSOR ? value->tensor : &none);
}

/* Number of elements of a range. Errors: TG_INVALID (a step of 0), TG_LIMIT. */
static tg_status range_count(const tg_tensor *start, const tg_tensor *limit, const tg_tensor *delta,
                             int64_t *count)
{
    double step = tg_tensor_f64(delta, 0), n;
    if (step == 0 || isnan(step)) return tg_fail(TG_INVALID, "the step is 0");
    if (tg_element_float(start->dtype))
        n = ceil((tg_tensor_f64(limit, 0) - tg_tensor_f64(start, 0)) / step);
    else {
        __int128 way = (__int128)tg_tensor_i64(limit, 0) - tg_tensor_i64(start, 0);
        __int128 by = tg_tensor_i64(delta, 0);
        n = (double)((way + by - (by > 0 ? 1 : -1)) / by);
    }
    if (!(n < 0x1p40)) return tg_fail(TG_LIMIT, "a range of too many elements");
    *count = n > 0 ? (int64_t)n : 0;
    return TG_OK;
}

tg_status infer_range(tg_infer *infer)
{
    for (int i = 0; i < 3; i++) {
        if (infer->in[i].dtype != infer->in[0].dtype)
            return tg_fail(TG_TYPE, "start, limit and delta differ in element type");
        if (tg_shape_count(&infer->in[i].shape) != 1)
            return tg_fail(TG_SHAPE, "start, limit or delta is not one number");
    }
    TG_TRY(tg_element_numeric(infer->in[0].dtype));
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_tensor *start = tg_infer_value(infer, 0), *limit = tg_infer_value(infer, 1);
    const tg_tensor *delta = tg_infer_value(infer, 2);
    int64_t n = 0;
    if (!start || !limit || !delta) return TG_OK;
    TG_TRY(range_count(start, limit, delta, &n));
    infer->out[0].shape = tg_shape_of(n);
    return TG_OK;
}

tg_status kernel_range(tg_call *call)
{
    tg_tensor *y = &call->out[0];
    int64_t n = tg_tensor_count(y);
    if (tg_element_float(y->dtype)) {
        double start = tg_tensor_f64(&call->in[0], 0), delta = tg_tensor_f64(&call->in[2], 0);
        for (int64_t i = 0; i < n; i++)
            tg_element_store_f64(y, i, 1, &(double){start + (double)i * delta});
        return TG_OK;
    }
    uint64_t v = (uint64_t)tg_tensor_i64(&call->in[0], 0);
    for (int64_t i = 0; i < n; i++, v += (uint64_t)tg_tensor_i64(&call->in[2], 0))
        tg_element_store_i64(y, i, 1, &(int64_t){(int64_t)v});
    return TG_OK;
}

tg_status infer_one_hot(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    int64_t axis = 0;
    bool known;
    const int values = 2;
    if (!has_type(infer, values) || tg_shape_count(&infer->in[values].shape) != 2)
        return tg_fail(TG_SHAPE, "the values are not two");
    if (in->rank >= TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "a shape of rank above %d", TG_MAX_RANK);
    TG_TRY(infer_axis(infer, in->rank + 1, &axis));
    TG_TRY(infer_number(infer, "depth", 1, &known));
    infer->out[0].dtype = infer->in[values].dtype;
    if (!known && has_type(infer, 1)) return TG_OK;
    int64_t depth = known ? tg_infer_attr(infer, "depth")->i : -1;
    if (depth < 0) return tg_fail(TG_INVALID, "the depth is missing or negative");
    tg_shape out = {.rank = in->rank + 1};
    for (int64_t k = 0; k < out.rank; k++)
        out.dim[k] = k == axis ? depth : in->dim[k < axis ? k : k - 1];
    infer->out[0].shape = out;
    return TG_OK;
}

/* An index outside [-depth, depth) sets nothing. */
tg_status kernel_one_hot(tg_call *call)
{
    const tg_tensor *x = &call->in[0], *values = &call->in[2];
    tg_tensor *y = &call->out[0];
    TG_TRY(tg_element_numeric(x->dtype));
    TG_TRY(fill(y, values));
    int64_t axis = call_attr(call, "axis")->i, depth = y->shape.dim[axis], inner = 1;
    int64_t n = tg_tensor_count(x);
    size_t size = tg_dtype_size(y->dtype);
    for (int64_t k = axis + 1; k < y->shape.rank; k++) inner *= y->shape.dim[k];
    for (int64_t i = 0; i < n; i++) {
        int64_t at;
        tg_element_load_i64(x, i, 0, 1, &at);
        if (at < 0) at += depth;
        if (at < 0 || at >= depth) continue;
        memcpy(tg_element_at(y, (i / inner * depth + at) * inner + i % inner),
               tg_element_at(values, 1), size);
    }
    return TG_OK;
}

tg_status infer_eye_like(tg_infer *infer)
{
    tg_attr *dtype = tg_infer_attr(infer, "dtype");
    if (dtype->kind != TG_ATTR_INT) *dtype = TG_ATTR_OF_INT(infer->in[0].dtype);
    if (infer->in[0].shape.rank != 2) return tg_fail(TG_SHAPE, "the input is no matrix");
    if (dtype->i <= 0 || dtype->i >= TG_DTYPE_COUNT)
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)dtype->i);
    infer->out[0] = (tg_type){(tg_dtype)dtype->i, infer->in[0].shape};
    return tg_element_numeric(infer->out[0].dtype);
}

tg_status kernel_eye_like(tg_call *call)
{
    tg_tensor *y = &call->out[0];
    int64_t rows = y->shape.dim[0], columns = y->shape.dim[1], k = call_attr(call, "k")->i;
    memset(y->data, 0, tg_tensor_bytes(y));
    for (int64_t r = 0; r < rows; r++)
        if (k >= -r && k < columns - r)
            tg_element_store_f64(y, r * columns + r + k, 1, &(double){1});
    return TG_OK;
}

tg_status infer_trilu(tg_infer *infer)
{
    bool known;
    infer->out[0] = infer->in[0];
    if (infer->in[0].shape.rank < 2) return tg_fail(TG_SHAPE, "the input is no matrix");
    TG_TRY(infer_number(infer, "k", 1, &known));
    if (!known && !has_type(infer, 1)) *tg_infer_attr(infer, "k") = TG_ATTR_OF_INT(0);
    return TG_OK;
}

tg_status kernel_trilu(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    const tg_attr *attr = call_attr(call, "k");
    TG_TRY(tg_element_movable(x->dtype));
    int64_t rank = x->shape.rank, rows = x->shape.dim[rank - 2], columns = x->shape.dim[rank - 1];
    int64_t k = attr->kind == TG_ATTR_INT ? attr->i : 0, n = tg_tensor_count(x);
    if (attr->kind != TG_ATTR_INT && has_input(call, 1)) k = tg_tensor_i64(&call->in[1], 0);
    k = k < -rows ? -rows : k > columns ? columns : k;
    bool upper = call_attr(call, "upper")->i != 0;
    size_t size = tg_dtype_size(x->dtype);
    for (int64_t line = 0; n && line < n / columns; line++) {
        int64_t cut = line % rows + k + (upper ? 0 : 1);
        cut = cut < 0 ? 0 : cut > columns ? columns : cut;
        int64_t from = upper ? cut : 0, count = upper ? columns - cut : cut;
        int64_t at = line * columns;
        memset(tg_element_at(&call->out[0], at), 0, (size_t)columns * size);
        memcpy(tg_element_at(&call->out[0], at + from), tg_element_at(x, at + from),
               (size_t)count * size);
    }
    return TG_OK;
}
