/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals: the windows of Hann, Hamming and Blackman, and the mel scale. Sizes are inputs; where
 * they are constant the shape is known before the run.
 */
#include "compute.h"
#include "element.h"

#include <math.h>

enum { MOST_POINTS = 1 << 20 };

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

tg_status infer_mel_weight_matrix(tg_infer *infer)
{
    int64_t code = tg_infer_attr(infer, "output_datatype")->i;
    if (code <= 0 || code >= TG_DTYPE_COUNT)
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)code);
    TG_TRY(tg_element_numeric((tg_dtype)code));
    for (int k = 0; k < 5; k++) {
        TG_TRY(tg_element_numeric(infer->in[k].dtype));
        if (tg_shape_count(&infer->in[k].shape) != 1)
            return tg_fail(TG_SHAPE, "input %d is not one number", k);
    }
    infer->out[0].dtype = (tg_dtype)code;
    const tg_tensor *bins = tg_infer_value(infer, 0), *length = tg_infer_value(infer, 1);
    if (!bins || !length) return TG_OK;
    int64_t columns = tg_tensor_i64(bins, 0), n = tg_tensor_i64(length, 0);
    if (columns < 1 || columns > MOST_POINTS || n < 1 || n > MOST_POINTS)
        return tg_fail(TG_INVALID, "%lld mel bins of %lld points", (long long)columns,
                       (long long)n);
    infer->out[0].shape = tg_shape_of(n / 2 + 1, columns);
    return TG_OK;
}

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

/* A column: a triangle that rises from bin f[0] to f[1] and falls to f[2]. */
static void triangle(double *y, int64_t rows, int64_t columns, const double f[3])
{
    for (int64_t j = 0; j < rows; j++) {
        double x = (double)j, up = f[1] - f[0], down = f[2] - f[1];
        if (up == 0 && x == f[1]) y[j * columns] = 1;
        if (up > 0 && x >= f[0] && x <= f[1]) y[j * columns] = (x - f[0]) / up;
        if (down > 0 && x >= f[1] && x < f[2]) y[j * columns] = (f[2] - x) / down;
    }
}

tg_status kernel_mel_weight_matrix(tg_call *call)
{
    int64_t rows = call->out[0].shape.dim[0], columns = call->out[0].shape.dim[1];
    double length = tg_tensor_f64(&call->in[1], 0), rate = tg_tensor_f64(&call->in[2], 0);
    double low = mel_of(tg_tensor_f64(&call->in[3], 0));
    double step = (mel_of(tg_tensor_f64(&call->in[4], 0)) - low) / (double)(columns + 2);
    double *y = tg_call_scratch(call, rows * columns);
    if (!(rate > 0)) return tg_fail(TG_INVALID, "the sample rate is %g", rate);
    for (int64_t c = 0; c < columns; c++) {
        double f[3];
        for (int k = 0; k < 3; k++) {
            double hertz = 700 * (pow(10, (low + (double)(c + k) * step) / 2595) - 1);
            f[k] = floor((length + 1) * hertz / rate);
        }
        triangle(y + c, rows, columns, f);
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
