/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that write by index: ScatterElements, ScatterND, TensorScatter; ReverseSequence. */
#include "index.h"

#include <math.h>
#include <string.h>

static bool reduction_known(const char *r)
{
    return strcmp(r, "none") == 0 || strcmp(r, "add") == 0 || strcmp(r, "mul") == 0 ||
           strcmp(r, "max") == 0 || strcmp(r, "min") == 0;
}

static tg_status check_types(const tg_infer *infer, const char *reduction)
{
    TG_TRY(tg_index_type(infer->in[1].dtype));
    if (infer->in[2].dtype != infer->in[0].dtype)
        return tg_fail(TG_TYPE, "element types %s and %s differ", tg_dtype_name(infer->in[0].dtype),
                       tg_dtype_name(infer->in[2].dtype));
    if (!reduction_known(reduction)) return tg_fail(TG_UNSUPPORTED, "reduction %s", reduction);
    return TG_OK;
}

tg_status infer_scatter_elements(tg_infer *infer)
{
    const tg_shape *data = &infer->in[0].shape, *indices = &infer->in[1].shape;
    int64_t axis = 0;
    if (data->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    TG_TRY(check_types(infer, tg_infer_attr(infer, "reduction")->s));
    TG_TRY(infer_axis(infer, data->rank, &axis));
    TG_TRY(tg_index_inside(indices, data, axis));
    if (!tg_shape_equal(indices, &infer->in[2].shape))
        return tg_fail(TG_SHAPE, "indices and updates differ in shape");
    infer->out[0] = infer->in[0];
    return TG_OK;
}

static double combine_floats(char how, double old, double new)
{
    switch (how) {
    case 'a': return old + new;
    case 'u': return old * new;
    case 'x': return old > new || isnan(old) ? old : new;
    default: return old < new || isnan(old) ? old : new;
    }
}

static int64_t combine_integers(char how, int64_t old, int64_t new, int64_t flip)
{
    switch (how) {
    case 'a': return (int64_t)((uint64_t)old + (uint64_t) new);
    case 'u': return (int64_t)((uint64_t)old * (uint64_t) new);
    case 'x': return (old ^ flip) > (new ^ flip) ? old : new;
    default: return (old ^ flip) < (new ^ flip) ? old : new;
    }
}

/* The letter that tells the reductions apart: n(one), a(dd), (m)u(l), (ma)x, (m)i(n). */
static char reduction_letter(const char *r)
{
    if (r[0] != 'm') return r[0];
    return r[1] == 'a' ? 'x' : r[1];
}

/* Updates n elements of y from `to` on with those of u from `from` on. */
static void update(char how, tg_tensor *y, int64_t to, const tg_tensor *u, int64_t from, int64_t n)
{
    if (how == 'n') {
        memcpy(tg_element_at(y, to), tg_element_at(u, from), (size_t)n * tg_dtype_size(y->dtype));
        return;
    }
    int64_t flip = y->dtype == TG_U64 ? INT64_MIN : 0;
    for (int64_t i = 0; i < n; i++) {
        if (tg_element_float(y->dtype)) {
            double v = combine_floats(how, tg_tensor_f64(y, to + i), tg_tensor_f64(u, from + i));
            tg_element_store_f64(y, to + i, 1, &v);
        } else {
            int64_t v =
                combine_integers(how, tg_tensor_i64(y, to + i), tg_tensor_i64(u, from + i), flip);
            tg_element_store_i64(y, to + i, 1, &v);
        }
    }
}

static tg_status begin(tg_call *call, char *how)
{
    *how = reduction_letter(call_attr(call, "reduction")->s);
    TG_TRY(*how == 'n' ? tg_element_movable(call->in[0].dtype)
                       : tg_element_numeric(call->in[0].dtype));
    size_t bytes = tg_tensor_bytes(&call->in[0]);
    if (bytes) memcpy(call->out[0].data, call->in[0].data, bytes);
    return TG_OK;
}

tg_status kernel_scatter_elements(tg_call *call)
{
    char how;
    TG_TRY(begin(call, &how));
    int64_t n = tg_tensor_count(&call->in[1]);
    int64_t *offset = TG_NEW_ARRAY(call->arena, int64_t, n + 1);
    TG_TRY(tg_index_elements(&call->in[1], &call->in[0].shape, call_attr(call, "axis")->i, offset));
    for (int64_t i = 0; i < n; i++) update(how, &call->out[0], offset[i], &call->in[2], i, 1);
    return TG_OK;
}

tg_status infer_scatter_nd(tg_infer *infer)
{
    const tg_shape *data = &infer->in[0].shape, *indices = &infer->in[1].shape;
    TG_TRY(check_types(infer, tg_infer_attr(infer, "reduction")->s));
    if (data->rank == 0 || indices->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    int64_t tuple = indices->dim[indices->rank - 1];
    if (tuple < 1 || tuple > data->rank)
        return tg_fail(TG_SHAPE, "index tuples of %lld for rank %lld", (long long)tuple,
                       (long long)data->rank);
    const tg_shape *updates = &infer->in[2].shape;
    bool fits = updates->rank == indices->rank - 1 + data->rank - tuple;
    for (int64_t k = 0; fits && k < updates->rank; k++)
        fits =
            updates->dim[k] ==
            (k < indices->rank - 1 ? indices->dim[k] : data->dim[k - (indices->rank - 1) + tuple]);
    if (!fits) return tg_fail(TG_SHAPE, "the updates do not fit the indices");
    infer->out[0] = infer->in[0];
    return TG_OK;
}

tg_status kernel_scatter_nd(tg_call *call)
{
    const tg_tensor *indices = &call->in[1];
    char how;
    TG_TRY(begin(call, &how));
    int64_t tuple = indices->shape.dim[indices->shape.rank - 1];
    int64_t n = tg_tensor_count(indices) / tuple, inner = 1;
    for (int64_t k = tuple; k < call->in[0].shape.rank; k++) inner *= call->in[0].shape.dim[k];
    for (int64_t i = 0; i < n && inner; i++) {
        int64_t at = 0;
        TG_TRY(tg_index_offset(indices, i * tuple, tuple, &call->in[0].shape, 0, &at));
        update(how, &call->out[0], at, &call->in[2], i * inner, inner);
    }
    return TG_OK;
}

tg_status infer_reverse_sequence(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape, *lengths = &infer->in[1].shape;
    int64_t batch = tg_infer_attr(infer, "batch_axis")->i;
    int64_t time = tg_infer_attr(infer, "time_axis")->i;
    if (in->rank < 2 || batch < 0 || batch > 1 || time != 1 - batch)
        return tg_fail(TG_INVALID, "batch_axis %lld and time_axis %lld are not 0 and 1",
                       (long long)batch, (long long)time);
    if (lengths->rank != 1 || lengths->dim[0] != in->dim[batch])
        return tg_fail(TG_SHAPE, "there is not one length an entry of the batch");
    infer->out[0] = infer->in[0];
    return TG_OK;
}

tg_status kernel_reverse_sequence(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_movable(x->dtype));
    int64_t time_axis = call_attr(call, "time_axis")->i;
    int64_t times = x->shape.dim[time_axis], batches = x->shape.dim[1 - time_axis], inner = 1;
    for (int64_t k = 2; k < x->shape.rank; k++) inner *= x->shape.dim[k];
    int64_t by_time = time_axis == 0 ? batches : 1, by_batch = time_axis == 0 ? 1 : times;
    size_t bytes = (size_t)inner * tg_dtype_size(x->dtype);
    for (int64_t b = 0; b < batches && bytes; b++) {
        int64_t length = tg_tensor_i64(&call->in[1], b);
        if (length < 0 || length > times)
            return tg_fail(TG_INVALID, "length %lld is outside 0..%lld", (long long)length,
                           (long long)times);
        for (int64_t t = 0; t < times; t++) {
            int64_t from = t < length ? length - 1 - t : t;
            memcpy(tg_element_at(&call->out[0], (t * by_time + b * by_batch) * inner),
                   tg_element_at(x, (from * by_time + b * by_batch) * inner), bytes);
        }
    }
    return TG_OK;
}

/* ---- TensorScatter ---- */

tg_status infer_tensor_scatter(tg_infer *infer)
{
    const tg_shape *cache = &infer->in[0].shape, *update = &infer->in[1].shape;
    const char *mode = tg_infer_attr(infer, "mode")->s;
    int64_t axis = 0;
    if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
        return tg_fail(TG_INVALID, "attribute mode is '%s'", mode);
    TG_TRY(infer_axis(infer, cache->rank, &axis));
    if (axis == 0) return tg_fail(TG_INVALID, "the axis is that of the batch");
    if (infer->in[0].dtype != infer->in[1].dtype)
        return tg_fail(TG_TYPE, "element types %s and %s differ", tg_dtype_name(infer->in[0].dtype),
                       tg_dtype_name(infer->in[1].dtype));
    tg_shape want = *cache;
    if (update->rank == cache->rank && update->dim[axis] <= cache->dim[axis])
        want.dim[axis] = update->dim[axis];
    if (!tg_shape_equal(update, &want))
        return tg_fail(TG_SHAPE, "the update does not fit the cache");
    tg_shape batch = tg_shape_of(cache->dim[0]);
    if (has_type(infer, 2)) {
        TG_TRY(tg_index_type(infer->in[2].dtype));
        if (!tg_shape_equal(&infer->in[2].shape, &batch))
            return tg_fail(TG_SHAPE, "the write indices do not fit the cache");
    }
    infer->out[0] = infer->in[0];
    return TG_OK;
}

/* Where in the cache entry i of a batch is written. */
static tg_status write_index(const tg_call *call, int64_t batch, int64_t i, int64_t size,
                             int64_t *at)
{
    int64_t start = has_input(call, 2) ? tg_tensor_i64(&call->in[2], batch) : 0;
    bool circular = strcmp(call_attr(call, "mode")->s, "circular") == 0;
    if (circular) start = (start % size + size) % size;
    *at = start <= INT64_MAX - i ? start + i : start;
    if (circular) *at %= size;
    if (*at >= 0 && *at < size) return TG_OK;
    return tg_fail(TG_INVALID, "write index %lld of batch %lld is outside the cache",
                   (long long)*at, (long long)batch);
}

tg_status kernel_tensor_scatter(tg_call *call)
{
    const tg_shape *cache = &call->in[0].shape, *update = &call->in[1].shape;
    int64_t axis = call_attr(call, "axis")->i, outer = 1, inner = 1, at = 0;
    TG_TRY(tg_element_movable(call->in[0].dtype));
    for (int64_t k = 1; k < axis; k++) outer *= cache->dim[k];
    for (int64_t k = axis + 1; k < cache->rank; k++) inner *= cache->dim[k];
    size_t bytes = (size_t)inner * tg_dtype_size(call->in[0].dtype);
    memcpy(call->out[0].data, call->in[0].data, tg_tensor_bytes(&call->in[0]));
    for (int64_t b = 0; b < cache->dim[0]; b++)
        for (int64_t i = 0; i < update->dim[axis]; i++) {
            TG_TRY(write_index(call, b, i, cache->dim[axis], &at));
            for (int64_t o = b * outer; o < (b + 1) * outer; o++)
                memcpy(tg_element_at(&call->out[0], (o * cache->dim[axis] + at) * inner),
                       tg_element_at(&call->in[1], (o * update->dim[axis] + i) * inner), bytes);
        }
    return TG_OK;
}
