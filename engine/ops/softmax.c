/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Softmax, LogSoftmax, Hardmax along one axis; Gelu; Dropout. */
#include "compute.h"

#include <math.h>
#include <string.h>

tg_status infer_softmax(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_axis(infer, "axis", infer->in[0].shape.rank));
    infer->out[0] = infer->in[0];
    return TG_OK;
}

/* What happens to one line of n elements, `step` apart. */
typedef void line_fn(const double *x, double *y, int64_t n, int64_t step);

static double line_max(const double *x, int64_t n, int64_t step)
{
    double max = x[0];
    for (int64_t i = 1; i < n; i++)
        if (x[i * step] > max) max = x[i * step];
    return max;
}

static void softmax_line(const double *x, double *y, int64_t n, int64_t step)
{
    double max = line_max(x, n, step), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += y[i * step] = exp(x[i * step] - max);
    for (int64_t i = 0; i < n; i++) y[i * step] /= sum;
}

static void log_softmax_line(const double *x, double *y, int64_t n, int64_t step)
{
    double max = line_max(x, n, step), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(x[i * step] - max);
    for (int64_t i = 0; i < n; i++) y[i * step] = x[i * step] - max - log(sum);
}

/* The first of several largest elements counts. */
static void hardmax_line(const double *x, double *y, int64_t n, int64_t step)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i * step] > x[best * step]) best = i;
    y[best * step] = 1;
}

static tg_status along_axis(tg_call *call, line_fn *line)
{
    const tg_shape *s = &call->in[0].shape;
    int64_t axis = call_int(call, "axis"), n = s->dim[axis], total = tg_tensor_count(&call->in[0]);
    int64_t inner = tg_dims_count(s, axis + 1, s->rank);
    if (!total) return TG_OK;
    const double *x = tg_call_doubles(call, 0);
    double *y = tg_call_scratch(call, total);
    for (int64_t r = 0; r < total / n; r++) {
        int64_t at = r / inner * inner * n + r % inner;
        line(x + at, y + at, n, inner);
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}

tg_status kernel_softmax(tg_call *call)
{
    return along_axis(call, softmax_line);
}

tg_status kernel_log_softmax(tg_call *call)
{
    return along_axis(call, log_softmax_line);
}

tg_status kernel_hardmax(tg_call *call)
{
    return along_axis(call, hardmax_line);
}

tg_status infer_gelu(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    tg_attr *how = tg_infer_attr(infer, "approximate");
    if (how->kind == TG_ATTR_NONE) *how = tg_attr_str("none");
    if (strcmp(how->s, "none") != 0 && strcmp(how->s, "tanh") != 0)
        return tg_fail(TG_INVALID, "attribute approximate is %s", how->s);
    infer->out[0] = infer->in[0];
    return TG_OK;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x)));
}

tg_status kernel_gelu(tg_call *call)
{
    bool exact = strcmp(call_attr(call, "approximate")->s, "none") == 0;
    int64_t n = tg_tensor_count(&call->in[0]);
    for (int64_t i = 0; i < n; i++) {
        double x = tg_tensor_f64(&call->in[0], i);
        tg_tensor_set_f64(&call->out[0], i, exact ? gelu(x) : gelu_tanh(x));
    }
    return TG_OK;
}

tg_status infer_dropout(tg_infer *infer)
{
    if (!tg_narrow_is_float(infer->in[0].dtype)) TG_TRY(tg_need_float(infer, 0, "the input"));
    tg_attr *training = tg_infer_attr(infer, "training_mode");
    training->i = training->i != 0;
    /* Without training the ratio and the seed mean nothing. */
    if (!training->i && !has_type(infer, 2)) {
        tg_infer_attr(infer, "ratio")->f = 0.5f;
        tg_infer_attr(infer, "seed")->kind = TG_ATTR_NONE;
        tg_infer_attr(infer, "seed")->i = 0;
    }
    infer->out[0] = infer->in[0];
    if (infer->n_out > 1) infer->out[1] = (tg_type){TG_BOOL, infer->in[0].shape};
    return TG_OK;
}

tg_status kernel_dropout(tg_call *call)
{
    bool training = call_int(call, "training_mode") != 0;
    if (has_input(call, 2) && tg_tensor_count(&call->in[2]) == 1)
        training = tg_tensor_i64(&call->in[2], 0) != 0;
    double ratio = call_float(call, "ratio");
    if (has_input(call, 1) && tg_tensor_count(&call->in[1]) == 1)
        ratio = tg_tensor_f64(&call->in[1], 0);
    if (training && ratio != 0)
        return tg_fail(TG_UNSUPPORTED, "dropout in training is not implemented");
    memcpy(call->out[0].data, call->in[0].data, tg_tensor_bytes(&call->in[0]));
    if (has_output(call, 1)) memset(call->out[1].data, 1, tg_tensor_bytes(&call->out[1]));
    return TG_OK;
}
