/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that pick elements by index: Gather, GatherElements, GatherND, Compress. */
#include "index.h"

#include <string.h>

tg_status tg_index_normalise(int64_t index, int64_t size, int64_t *out)
{
    if (index < -size || index >= size)
        return tg_fail(TG_INVALID, "index %lld is outside 0..%lld", (long long)index,
                       (long long)size - 1);
    *out = index < 0 ? index + size : index;
    return TG_OK;
}

tg_status tg_index_type(tg_dtype t)
{
    if (t == TG_I32 || t == TG_I64) return TG_OK;
    return tg_fail(TG_TYPE, "indices are %s, not int32 or int64", tg_dtype_name(t));
}

tg_status tg_index_offset(const tg_tensor *indices, int64_t at, int64_t n, const tg_shape *shape,
                          int64_t first, int64_t *offset)
{
    int64_t stride[TG_MAX_RANK];
    tg_strided_of(shape, stride);
    *offset = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t index = 0;
        TG_TRY(tg_index_normalise(tg_tensor_i64(indices, at + k), shape->dim[first + k], &index));
        *offset += index * stride[first + k];
    }
    return TG_OK;
}

static int64_t product(const tg_shape *s, int64_t from, int64_t to)
{
    int64_t n = 1;
    for (int64_t k = from; k < to; k++) n *= s->dim[k];
    return n;
}

/* head dims of a, all of b, the tail dims of a. */
static tg_status joined_shape(const tg_shape *a, int64_t head, const tg_shape *b, int64_t b_from,
                              int64_t b_to, int64_t tail, tg_shape *out)
{
    int64_t rank = head + (b_to - b_from) + a->rank - tail;
    if (rank > TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "a shape of rank %lld, above %d", (long long)rank,
                       TG_MAX_RANK);
    *out = (tg_shape){0};
    for (int64_t k = 0; k < head; k++) out->dim[out->rank++] = a->dim[k];
    for (int64_t k = b_from; k < b_to; k++) out->dim[out->rank++] = b->dim[k];
    for (int64_t k = tail; k < a->rank; k++) out->dim[out->rank++] = a->dim[k];
    return TG_OK;
}

tg_status infer_gather(tg_infer *infer)
{
    const tg_shape *data = &infer->in[0].shape, *indices = &infer->in[1].shape;
    int64_t axis = 0;
    if (data->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    TG_TRY(tg_index_type(infer->in[1].dtype));
    TG_TRY(infer_axis(infer, data->rank, &axis));
    infer->out[0].dtype = infer->in[0].dtype;
    return joined_shape(data, axis, indices, 0, indices->rank, axis + 1, &infer->out[0].shape);
}

tg_status kernel_gather(tg_call *call)
{
    const tg_tensor *x = &call->in[0], *indices = &call->in[1];
    TG_TRY(tg_element_movable(x->dtype));
    int64_t axis = call_attr(call, "axis")->i, size = x->shape.dim[axis];
    int64_t outer = product(&x->shape, 0, axis), n = tg_tensor_count(indices);
    int64_t inner = product(&x->shape, axis + 1, x->shape.rank);
    size_t bytes = (size_t)inner * tg_dtype_size(x->dtype);
    char *y = call->out[0].data;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < n && bytes; i++, y += bytes) {
            int64_t at = 0;
            TG_TRY(tg_index_normalise(tg_tensor_i64(indices, i), size, &at));
            memcpy(y, tg_element_at(x, (o * size + at) * inner), bytes);
        }
    return TG_OK;
}

tg_status infer_gather_elements(tg_infer *infer)
{
    const tg_shape *data = &infer->in[0].shape, *indices = &infer->in[1].shape;
    int64_t axis = 0;
    if (data->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    TG_TRY(tg_index_type(infer->in[1].dtype));
    TG_TRY(infer_axis(infer, data->rank, &axis));
    TG_TRY(tg_index_inside(indices, data, axis));
    infer->out[0] = (tg_type){infer->in[0].dtype, *indices};
    return TG_OK;
}

tg_status tg_index_inside(const tg_shape *indices, const tg_shape *data, int64_t axis)
{
    bool fits = indices->rank == data->rank;
    for (int64_t k = 0; fits && k < data->rank; k++)
        if (k != axis && indices->dim[k] > data->dim[k]) fits = false;
    if (fits) return TG_OK;
    char a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
    return tg_fail(TG_SHAPE, "indices of shape %s for data of shape %s", tg_shape_text(a, indices),
                   tg_shape_text(b, data));
}

tg_status tg_index_elements(const tg_tensor *indices, const tg_shape *data, int64_t axis,
                            int64_t *offset)
{
    int64_t stride[TG_MAX_RANK], at[TG_MAX_RANK] = {0}, n = tg_tensor_count(indices);
    const tg_shape *box = &indices->shape;
    tg_strided_of(data, stride);
    for (int64_t i = 0; i < n; i++) {
        int64_t index = 0;
        TG_TRY(tg_index_normalise(tg_tensor_i64(indices, i), data->dim[axis], &index));
        offset[i] = index * stride[axis];
        for (int64_t k = 0; k < box->rank; k++)
            if (k != axis) offset[i] += at[k] * stride[k];
        for (int64_t k = box->rank - 1; k >= 0 && ++at[k] == box->dim[k]; k--) at[k] = 0;
    }
    return TG_OK;
}

tg_status kernel_gather_elements(tg_call *call)
{
    const tg_tensor *x = &call->in[0], *indices = &call->in[1];
    TG_TRY(tg_element_movable(x->dtype));
    int64_t n = tg_tensor_count(indices);
    int64_t *offset = TG_NEW_ARRAY(call->arena, int64_t, n + 1);
    TG_TRY(tg_index_elements(indices, &x->shape, call_attr(call, "axis")->i, offset));
    size_t size = tg_dtype_size(x->dtype);
    for (int64_t i = 0; i < n; i++)
        memcpy(tg_element_at(&call->out[0], i), tg_element_at(x, offset[i]), size);
    return TG_OK;
}

tg_status infer_gather_nd(tg_infer *infer)
{
    const tg_shape *data = &infer->in[0].shape, *indices = &infer->in[1].shape;
    int64_t batch = tg_infer_attr(infer, "batch_dims")->i;
    TG_TRY(tg_index_type(infer->in[1].dtype));
    if (data->rank == 0 || indices->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    if (batch < 0 || batch >= data->rank || batch >= indices->rank)
        return tg_fail(TG_INVALID, "batch_dims %lld is not below the ranks", (long long)batch);
    for (int64_t k = 0; k < batch; k++)
        if (data->dim[k] != indices->dim[k])
            return tg_fail(TG_SHAPE, "batch axis %d differs in data and indices", (int)k);
    int64_t tuple = indices->dim[indices->rank - 1];
    if (tuple < 1 || tuple > data->rank - batch)
        return tg_fail(TG_SHAPE, "index tuples of %lld for rank %lld", (long long)tuple,
                       (long long)(data->rank - batch));
    infer->out[0].dtype = infer->in[0].dtype;
    return joined_shape(data, batch, indices, batch, indices->rank - 1, batch + tuple,
                        &infer->out[0].shape);
}

tg_status kernel_gather_nd(tg_call *call)
{
    const tg_tensor *x = &call->in[0], *indices = &call->in[1];
    TG_TRY(tg_element_movable(x->dtype));
    int64_t batch = call_attr(call, "batch_dims")->i;
    int64_t tuple = indices->shape.dim[indices->shape.rank - 1];
    int64_t batches = product(&x->shape, 0, batch);
    int64_t n = product(&indices->shape, batch, indices->shape.rank - 1);
    int64_t each = product(&x->shape, batch, x->shape.rank);
    int64_t inner = product(&x->shape, batch + tuple, x->shape.rank);
    size_t bytes = (size_t)inner * tg_dtype_size(x->dtype);
    char *y = call->out[0].data;
    for (int64_t i = 0; i < batches * n && bytes; i++, y += bytes) {
        int64_t at = 0;
        TG_TRY(tg_index_offset(indices, i * tuple, tuple, &x->shape, batch, &at));
        memcpy(y, tg_element_at(x, i / n * each + at), bytes);
    }
    return TG_OK;
}

tg_status infer_compress(tg_infer *infer)
{
    tg_attr *axis = tg_infer_attr(infer, "axis");
    if (axis->kind == TG_ATTR_INT)
        TG_TRY(tg_axis_normalise(axis->i, infer->in[0].shape.rank, &axis->i));
    if (infer->in[1].dtype != TG_BOOL || infer->in[1].shape.rank != 1)
        return tg_fail(TG_TYPE, "the condition is not a list of bool");
    infer->out[0].dtype = infer->in[0].dtype;
    return TG_OK;
}

tg_status kernel_compress(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_movable(x->dtype));
    const tg_attr *attr = call_attr(call, "axis");
    bool whole = attr->kind != TG_ATTR_INT;
    int64_t axis = whole ? 0 : attr->i, rank = x->shape.rank;
    int64_t size = whole ? tg_tensor_count(x) : x->shape.dim[axis];
    int64_t outer = whole ? 1 : product(&x->shape, 0, axis);
    int64_t inner = whole ? 1 : product(&x->shape, axis + 1, rank);
    int64_t n = tg_tensor_count(&call->in[1]), kept = 0;
    if (n > size) n = size;
    const uint8_t *keep = call->in[1].data;
    for (int64_t i = 0; i < n; i++) kept += keep[i] != 0;
    tg_shape shape = whole ? tg_shape_of(kept) : x->shape;
    shape.dim[axis] = kept;
    tg_call_alloc(call, 0, x->dtype, shape);
    size_t bytes = (size_t)inner * tg_dtype_size(x->dtype);
    char *y = call->out[0].data;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < n && bytes; i++) {
            if (!keep[i]) continue;
            memcpy(y, tg_element_at(x, (o * size + i) * inner), bytes);
            y += bytes;
        }
    return TG_OK;
}
