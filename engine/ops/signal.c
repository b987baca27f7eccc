/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals: the windows of Hann, Hamming and Blackman. Their size is an input; where it is constant
 * the shape is known before the run.
 */
#include "compute.h"
#include "element.h"

#include <math.h>

static tg_status check_size(int64_t n)
{
    if (n >= 0) return TG_OK;
    return tg_fail(TG_INVALID, "a window of %lld elements", (long long)n);
}

tg_status infer_signal_window(tg_infer *infer)
{
    int64_t code = tg_infer_attr(infer, "output_datatype")->i;
    tg_attr *periodic = tg_infer_attr(infer, "periodic");
    periodic->i = periodic->i != 0;
    if (code <= 0 || code >= TG_DTYPE_COUNT)
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)code);
    TG_TRY(tg_element_numeric((tg_dtype)code));
    if (!tg_element_integer(infer->in[0].dtype))
        return tg_fail(TG_TYPE, "the size of the window is no integer");
    if (tg_shape_count(&infer->in[0].shape) != 1)
        return tg_fail(TG_SHAPE, "the size of the window is not one number");
    infer->out[0].dtype = (tg_dtype)code;
    const tg_tensor *size = tg_infer_value(infer, 0);
    if (!size) return TG_OK;
    TG_TRY(check_size(tg_tensor_i64(size, 0)));
    infer->out[0].shape = tg_shape_of(tg_tensor_i64(size, 0));
    return TG_OK;
}

/* a - b cos(t) + c cos(2t), t running through one period. */
static tg_status cosines(tg_call *call, double a, double b, double c)
{
    int64_t n = tg_tensor_count(&call->out[0]);
    double period = (double)(call_int(call, "periodic") ? n : n - 1);
    for (int64_t i = 0; i < n; i++) {
        double t = period > 0 ? 2 * M_PI * (double)i / period : M_PI;
        tg_element_store_f64(&call->out[0], i, 1, &(double){a - b * cos(t) + c * cos(2 * t)});
    }
    return TG_OK;
}

tg_status kernel_hann_window(tg_call *call)
{
    return cosines(call, 0.5, 0.5, 0);
}

tg_status kernel_hamming_window(tg_call *call)
{
    return cosines(call, 25.0 / 46, 21.0 / 46, 0);
}

tg_status kernel_blackman_window(tg_call *call)
{
    return cosines(call, 0.42, 0.5, 0.08);
}
