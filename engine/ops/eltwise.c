/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators: types, broadcasting, reference kernels. */
#include "rows.h"

#include <string.h>

tg_status infer_same(tg_infer *infer)
{
    infer->out[0] = infer->in[0];
    return TG_OK;
}

tg_status infer_broadcast(tg_infer *infer)
{
    if (infer->in[0].dtype != infer->in[1].dtype)
        return tg_fail(TG_TYPE, "element types %s and %s differ", tg_dtype_name(infer->in[0].dtype),
                       tg_dtype_name(infer->in[1].dtype));
    infer->out[0].dtype = infer->in[0].dtype;
    return tg_shape_broadcast(&infer->in[0].shape, &infer->in[1].shape, &infer->out[0].shape);
}

void work_view(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
               tg_work *work)
{
    (void)attr, (void)in, (void)n_in, (void)out, (void)n_out;
    *work = (tg_work){0};
}

tg_status kernel_identity(tg_call *call)
{
    memcpy(call->out[0].data, call->in[0].data, tg_tensor_bytes(&call->in[0]));
    return TG_OK;
}

tg_status kernel_relu(tg_call *call)
{
    int64_t n = tg_tensor_count(&call->in[0]);
    for (int64_t i = 0; i < n; i++) {
        double x = tg_tensor_f64(&call->in[0], i);
        tg_tensor_set_f64(&call->out[0], i, x < 0 ? 0 : x);
    }
    return TG_OK;
}

/* Element of `t` that meets element `i` of the broadcast shape `to`. */
static int64_t source_index(const tg_tensor *t, const tg_shape *to, int64_t i)
{
    int64_t index = 0, stride = 1;
    for (int k = 1; k <= to->rank; k++) {
        int64_t at = i % to->dim[to->rank - k];
        i /= to->dim[to->rank - k];
        if (k > t->shape.rank) continue;
        int64_t dim = t->shape.dim[t->shape.rank - k];
        index += dim == 1 ? 0 : at * stride;
        stride *= dim;
    }
    return index;
}

tg_status kernel_add(tg_call *call)
{
    tg_tensor *y = &call->out[0];
    int64_t n = tg_tensor_count(y);
    for (int64_t i = 0; i < n; i++) {
        double a = tg_tensor_f64(&call->in[0], source_index(&call->in[0], &y->shape, i));
        double b = tg_tensor_f64(&call->in[1], source_index(&call->in[1], &y->shape, i));
        tg_tensor_set_f64(y, i, a + b);
    }
    return TG_OK;
}
