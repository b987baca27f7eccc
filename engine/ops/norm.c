/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normalisation over channels or instances: BatchNormalization, InstanceNormalization,
 * GroupNormalization, LRN. */
#include "compute.h"

#include <math.h>

/* Axis 1 holds the channels; a vector is one channel. */
static int64_t channels_of(const tg_shape *x)
{
    return x->rank > 1 ? x->dim[1] : 1;
}

static int64_t plane_of(const tg_shape *x)
{
    return tg_dims_count(x, 2, x->rank);
}

tg_status infer_batch_norm(tg_infer *infer)
{
    static const char *const names[] = {"the input", "the scale", "the shift", "the mean",
                                        "the variance"};
    TG_TRY(tg_need_rank(infer, 0, "the input", 1, TG_MAX_RANK));
    for (int i = 0; i < 5; i++) TG_TRY(tg_need_float(infer, i, names[i]));
    for (int i = 1; i < 5; i++)
        TG_TRY(tg_need_vector(infer, i, names[i], channels_of(&infer->in[0].shape)));
    tg_attr *training = tg_infer_attr(infer, "training_mode");
    training->i = training->i != 0;
    if (!training->i && infer->n_out > 1)
        return tg_fail(TG_INVALID, "without training_mode there is one output, not %d",
                       infer->n_out);
    infer->out[0] = infer->in[0];
    for (int i = 1; i < infer->n_out; i++) infer->out[i] = infer->in[2 + i];
    return TG_OK;
}

/* The input as n x c x plane, with its mean and (population) variance a channel. */
typedef struct batch {
    const double *x;
    int64_t n, c, plane;
    double *mean, *variance;
} batch;

static void measure(const batch *b)
{
    double count = (double)(b->n * b->plane);
    for (int64_t c = 0; c < b->c; c++) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < b->n; i++)
            for (int64_t k = 0; k < b->plane; k++) sum += b->x[(i * b->c + c) * b->plane + k];
        b->mean[c] = sum / count;
        for (int64_t i = 0; i < b->n; i++)
            for (int64_t k = 0; k < b->plane; k++) {
                double d = b->x[(i * b->c + c) * b->plane + k] - b->mean[c];
                square += d * d;
            }
        b->variance[c] = square / count;
    }
}

/* running = momentum * old + (1 - momentum) * new, into output i. */
static void update_running(tg_call *call, int i, const double *new)
{
    if (!has_output(call, i)) return;
    double momentum = call_float(call, "momentum");
    for (int64_t c = 0; c < tg_tensor_count(&call->out[i]); c++) {
        double old = tg_tensor_f64(&call->in[2 + i], c);
        tg_tensor_set_f64(&call->out[i], c, old * momentum + new[c] * (1 - momentum));
    }
}

tg_status kernel_batch_norm(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    batch b = {tg_call_doubles(call, 0), s->dim[0], channels_of(s), plane_of(s), NULL, NULL};
    const double *scale = tg_call_doubles(call, 1), *shift = tg_call_doubles(call, 2);
    const double *mean = tg_call_doubles(call, 3), *variance = tg_call_doubles(call, 4);
    if (call_int(call, "training_mode")) {
        mean = b.mean = tg_call_scratch(call, b.c);
        variance = b.variance = tg_call_scratch(call, b.c);
        measure(&b);
        update_running(call, 1, mean);
        update_running(call, 2, variance);
    }
    double epsilon = call_float(call, "epsilon");
    int64_t total = tg_tensor_count(&call->out[0]);
    for (int64_t i = 0; i < total; i++) {
        int64_t c = i / b.plane % b.c;
        double y = (b.x[i] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + shift[c];
        tg_tensor_set_f64(&call->out[0], i, y);
    }
    return TG_OK;
}

static tg_status infer_channel_norm(tg_infer *infer)
{
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, TG_MAX_RANK));
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_same(infer, 1, 0, "the scale"));
    TG_TRY(tg_need_same(infer, 2, 0, "the shift"));
    TG_TRY(tg_need_vector(infer, 1, "the scale", infer->in[0].shape.dim[1]));
    TG_TRY(tg_need_vector(infer, 2, "the shift", infer->in[0].shape.dim[1]));
    infer->out[0] = infer->in[0];
    return TG_OK;
}

tg_status infer_instance_norm(tg_infer *infer)
{
    return infer_channel_norm(infer);
}

tg_status infer_group_norm(tg_infer *infer)
{
    TG_TRY(infer_channel_norm(infer));
    int64_t groups = tg_infer_attr(infer, "num_groups")->i;
    if (groups < 1 || infer->in[0].shape.dim[1] % groups)
        return tg_fail(TG_INVALID, "%lld channels cannot be cut into %lld groups",
                       (long long)infer->in[0].shape.dim[1], (long long)groups);
    return TG_OK;
}

/* Each of `n` runs of `size` elements becomes (x - mean) / sqrt(variance + epsilon). */
static double *normalised(tg_call *call, int64_t n, int64_t size, double epsilon)
{
    const double *x = tg_call_doubles(call, 0);
    double *y = tg_call_scratch(call, n * size), mean, variance;
    for (int64_t i = 0; i < n; i++) {
        batch b = {x + i * size, 1, 1, size, &mean, &variance};
        measure(&b);
        for (int64_t k = 0; k < size; k++)
            y[i * size + k] = (b.x[k] - mean) / sqrt(variance + epsilon);
    }
    return y;
}

/* groups a sample; then scale and shift a channel. */
static tg_status channel_norm(tg_call *call, int64_t groups)
{
    const tg_shape *s = &call->in[0].shape;
    int64_t total = tg_tensor_count(&call->in[0]), plane = plane_of(s);
    if (!total) return TG_OK;
    int64_t runs = s->dim[0] * groups;
    double *y = normalised(call, runs, total / runs, call_float(call, "epsilon"));
    const double *scale = tg_call_doubles(call, 1), *shift = tg_call_doubles(call, 2);
    for (int64_t i = 0; i < total; i++) {
        int64_t c = i / plane % s->dim[1];
        y[i] = y[i] * scale[c] + shift[c];
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}

tg_status kernel_instance_norm(tg_call *call)
{
    return channel_norm(call, call->in[0].shape.dim[1]);
}

tg_status kernel_group_norm(tg_call *call)
{
    return channel_norm(call, call_int(call, "num_groups"));
}

tg_status infer_lrn(tg_infer *infer)
{
    TG_TRY(tg_need_rank(infer, 0, "the input", 2, TG_MAX_RANK));
    TG_TRY(tg_need_float(infer, 0, "the input"));
    int64_t size = tg_infer_attr(infer, "size")->i;
    if (size < 1) return tg_fail(TG_INVALID, "attribute size is %lld", (long long)size);
    infer->out[0] = infer->in[0];
    return TG_OK;
}

/* Sum of squares over the channels around c; `x` points to the place in channel 0. */
static double squares_around(const double *x, int64_t c, int64_t channels, int64_t plane,
                             int64_t size)
{
    int64_t before = (size - 1) / 2, after = size - 1 - before;
    int64_t from = c > before ? c - before : 0;
    int64_t to = after < channels - 1 - c ? c + after : channels - 1;
    double sum = 0;
    for (int64_t k = from; k <= to; k++) sum += x[k * plane] * x[k * plane];
    return sum;
}

tg_status kernel_lrn(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    const double *x = tg_call_doubles(call, 0);
    int64_t total = tg_tensor_count(&call->in[0]), plane = plane_of(s), channels = s->dim[1],
            size = call_int(call, "size");
    double alpha = call_float(call, "alpha"), beta = call_float(call, "beta"),
           bias = call_float(call, "bias");
    for (int64_t i = 0; i < total; i++) {
        int64_t c = i / plane % channels;
        double sum = squares_around(x + i - c * plane, c, channels, plane, size);
        tg_tensor_set_f64(&call->out[0], i, x[i] / pow(bias + alpha / (double)size * sum, beta));
    }
    return TG_OK;
}
