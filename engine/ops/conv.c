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

/* Outputs that are summed up at a time, in registers. */
enum { TILE = 8 };

/*
 * One row of the kernel on one row of the input, for TILE outputs whose first begins at x. The sums
 * are spelt out so that they stay in registers.
 */
static void add_full_row(const double *restrict w, int64_t taps, const double *restrict x,
                         int64_t dilation, double *restrict sum)
{
    double a = sum[0], b = sum[1], c = sum[2], d = sum[3];
    double e = sum[4], f = sum[5], g = sum[6], h = sum[7];
    for (int64_t k = 0; k < taps; k++, x += dilation) {
        double v = w[k];
        a += v * x[0], b += v * x[1], c += v * x[2], d += v * x[3];
        e += v * x[4], f += v * x[5], g += v * x[6], h += v * x[7];
    }
    sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
    sum[4] = e, sum[5] = f, sum[6] = g, sum[7] = h;
}

/* The same for n outputs from place o on, some of which may reach into the padding. */
static void add_row(const tg_window *s, const double *w, const double *x, int64_t o, int n,
                    double *sum)
{
    int64_t stride = s->stride[2], at = o * stride - s->pad[2];
    int64_t reach = (s->kernel[2] - 1) * s->dilation[2] + TILE;
    if (n == TILE && stride == 1 && at >= 0 && at + reach <= s->in[2]) {
        add_full_row(w, s->kernel[2], x + at, s->dilation[2], sum);
        return;
    }
    for (int64_t k = 0; k < s->kernel[2]; k++, at += s->dilation[2])
        for (int i = 0; i < n; i++) {
            int64_t place = at + i * stride;
            if (place >= 0 && place < s->in[2]) sum[i] += w[k] * x[place];
        }
}

/* One channel of the input, for n outputs from place o on. */
static void add_channel(const tg_window *s, const double *w, const double *x, const int64_t o[3],
                        int n, double *sum)
{
    for (int64_t i = 0; i < s->kernel[0]; i++) {
        int64_t d = o[0] * s->stride[0] + i * s->dilation[0] - s->pad[0];
        if (d < 0 || d >= s->in[0]) continue;
        for (int64_t k = 0; k < s->kernel[1]; k++) {
            int64_t h = o[1] * s->stride[1] + k * s->dilation[1] - s->pad[1];
            if (h < 0 || h >= s->in[1]) continue;
            add_row(s, w + (i * s->kernel[1] + k) * s->kernel[2], x + (d * s->in[1] + h) * s->in[2],
                    o[2], n, sum);
        }
    }
}

static int64_t volume(const int64_t v[3])
{
    return v[0] * v[1] * v[2];
}

/* One filter on `channels` channels of one sample. */
static void run_filter(const tg_window *s, int64_t channels, const double *w, const double *x,
                       double bias, double *y)
{
    int64_t o[3], in = volume(s->in), kernel = volume(s->kernel);
    for (o[0] = 0; o[0] < s->out[0]; o[0]++)
        for (o[1] = 0; o[1] < s->out[1]; o[1]++)
            for (o[2] = 0; o[2] < s->out[2]; o[2] += TILE) {
                int n = s->out[2] - o[2] < TILE ? (int)(s->out[2] - o[2]) : TILE;
                double sum[TILE];
                for (int i = 0; i < TILE; i++) sum[i] = bias;
                for (int64_t c = 0; c < channels; c++)
                    add_channel(s, w + c * kernel, x + c * in, o, n, sum);
                memcpy(y, sum, (size_t)n * sizeof *sum);
                y += n;
            }
}

/* A kernel of one point looks at each place alone: all places make one long row. */
static tg_window as_row(const tg_window *s)
{
    tg_window w = *s;
    for (int i = 0; i < 3; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->in[i] != s->out[i]) return w;
    w.in[2] = w.out[2] = volume(s->in);
    w.in[0] = w.in[1] = w.out[0] = w.out[1] = 1;
    return w;
}

void tg_conv_run(const tg_conv *conv, const double *x, const double *w, const double *bias,
                 double *y)
{
    tg_window s = as_row(&conv->window);
    int64_t in = volume(s.in), out = volume(s.out), kernel = volume(s.kernel);
    int64_t cs = conv->c / conv->groups, ms = conv->m / conv->groups;
    for (int64_t n = 0; n < conv->n; n++)
        for (int64_t m = 0; m < conv->m; m++)
            run_filter(&s, cs, w + m * cs * kernel, x + (n * conv->c + m / ms * cs) * in,
                       bias ? bias[m] : 0, y + (n * conv->m + m) * out);
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
