/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conv. */
#include "conv.h"

#include <math.h>
#include <string.h>

static tg_status check_channels(tg_infer *infer, const tg_shape *x, const tg_shape *w)
{
    int64_t groups = tg_infer_attr(infer, "group")->i;
    if (groups < 1) return tg_fail(TG_INVALID, "attribute group is %lld", (long long)groups);
    int64_t channels;
    if (__builtin_mul_overflow(w->dim[1], groups, &channels) || channels != x->dim[1])
        return tg_fail(TG_SHAPE, "the input has %lld channels, the weight expects %lld times %lld",
                       (long long)x->dim[1], (long long)groups, (long long)w->dim[1]);
    if (w->dim[0] % groups)
        return tg_fail(TG_SHAPE, "%lld filters cannot be cut into %lld groups",
                       (long long)w->dim[0], (long long)groups);
    return TG_OK;
}

tg_status tg_conv_infer(tg_infer *infer, int x_slot, int w_slot, tg_shape *out)
{
    const tg_shape *x = &infer->in[x_slot].shape, *w = &infer->in[w_slot].shape;
    char text_x[TG_SHAPE_TEXT], text_w[TG_SHAPE_TEXT];
    if (x->rank != w->rank)
        return tg_fail(TG_SHAPE, "the input has rank %lld (%s), the weight rank %lld (%s)",
                       (long long)x->rank, tg_shape_text(text_x, x), (long long)w->rank,
                       tg_shape_text(text_w, w));
    TG_TRY(tg_need_rank(infer, x_slot, "the input", 3, 2 + TG_MAX_SPATIAL));
    TG_TRY(check_channels(infer, x, w));
    *out = (tg_shape){.rank = x->rank, .dim = {x->dim[0], w->dim[0]}};
    return tg_window_infer(infer, x, w->dim + 2, out);
}

static bool known_activation(const char *name)
{
    static const char *const names[] = {"", "Relu", "Sigmoid", "Tanh"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

tg_status infer_conv(tg_infer *infer)
{
    tg_shape out;
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_same(infer, 1, 0, "the weight"));
    TG_TRY(tg_need_same(infer, 2, 0, "the bias"));
    TG_TRY(tg_conv_infer(infer, 0, 1, &out));
    TG_TRY(tg_need_vector(infer, 2, "the bias", infer->in[1].shape.dim[0]));
    tg_attr *activation = tg_infer_attr(infer, "activation");
    if (activation->kind == TG_ATTR_NONE) *activation = tg_attr_str("");
    if (!known_activation(activation->s))
        return tg_fail(TG_INVALID, "attribute activation is %s", activation->s);
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

tg_conv tg_conv_of(const tg_call *call, const tg_shape *x, const tg_shape *y)
{
    return (tg_conv){x->dim[0], x->dim[1], y->dim[1], call_int(call, "group"),
                     tg_window_of(call, x, y)};
}

/* One weight on one row: y[o] += w * x[o * stride], for `n` outputs. */
static void add_row(double w, const double *x, int64_t stride, double *y, int64_t n)
{
    if (stride == 1)
        for (int64_t o = 0; o < n; o++) y[o] += w * x[o];
    else
        for (int64_t o = 0; o < n; o++) y[o] += w * x[o * stride];
}

/* One weight on one channel of the input. */
static void add_weight(const tg_window *s, double w, const int64_t k[3], const double *x, double *y)
{
    int64_t first[3], last[3];
    for (int a = 0; a < 3; a++) tg_window_range(s, a, k[a], &first[a], &last[a]);
    if (last[2] <= first[2]) return;
    int64_t shift[3];
    for (int a = 0; a < 3; a++) shift[a] = k[a] * s->dilation[a] - s->pad[a];
    int64_t column = first[2] * s->stride[2] + shift[2];
    for (int64_t d = first[0]; d < last[0]; d++)
        for (int64_t h = first[1]; h < last[1]; h++) {
            int64_t row = (d * s->stride[0] + shift[0]) * s->in[1] + h * s->stride[1] + shift[1];
            add_row(w, x + row * s->in[2] + column, s->stride[2],
                    y + (d * s->out[1] + h) * s->out[2] + first[2], last[2] - first[2]);
        }
}

/* One channel of the input to one channel of the output. */
static void add_channel(const tg_window *s, const double *w, const double *x, double *y)
{
    int64_t k[3];
    for (k[0] = 0; k[0] < s->kernel[0]; k[0]++)
        for (k[1] = 0; k[1] < s->kernel[1]; k[1]++)
            for (k[2] = 0; k[2] < s->kernel[2]; k[2]++) add_weight(s, *w++, k, x, y);
}

static int64_t volume(const int64_t v[3])
{
    return v[0] * v[1] * v[2];
}

void tg_conv_run(const tg_conv *conv, const double *x, const double *w, const double *bias,
                 double *y)
{
    const tg_window *s = &conv->window;
    int64_t in = volume(s->in), out = volume(s->out), kernel = volume(s->kernel);
    int64_t cs = conv->c / conv->groups, ms = conv->m / conv->groups;
    for (int64_t n = 0; n < conv->n; n++)
        for (int64_t m = 0; m < conv->m; m++) {
            double *plane = y + (n * conv->m + m) * out;
            for (int64_t i = 0; i < out; i++) plane[i] = bias ? bias[m] : 0;
            const double *from = x + (n * conv->c + m / ms * cs) * in;
            for (int64_t c = 0; c < cs; c++)
                add_channel(s, w + (m * cs + c) * kernel, from + c * in, plane);
        }
}

static void activate(const char *name, double *y, int64_t n)
{
    if (strcmp(name, "Relu") == 0)
        for (int64_t i = 0; i < n; i++) y[i] = y[i] < 0 ? 0 : y[i];
    else if (strcmp(name, "Sigmoid") == 0)
        for (int64_t i = 0; i < n; i++) y[i] = 1 / (1 + exp(-y[i]));
    else if (strcmp(name, "Tanh") == 0)
        for (int64_t i = 0; i < n; i++) y[i] = tanh(y[i]);
}

tg_status kernel_conv(tg_call *call)
{
    tg_conv conv = tg_conv_of(call, &call->in[0].shape, &call->out[0].shape);
    int64_t n = tg_tensor_count(&call->out[0]);
    double *y = tg_call_scratch(call, n);
    if (n)
        tg_conv_run(&conv, tg_call_doubles(call, 0), tg_call_doubles(call, 1),
                    tg_call_doubles(call, 2), y);
    activate(call_attr(call, "activation")->s, y, n);
    tg_call_store(call, 0, y);
    return TG_OK;
}
