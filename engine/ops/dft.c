/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fourier transforms: DFT along an axis, and STFT over the frames of a signal. */
#include "params.h"

#include "compute.h"

#include <math.h>

enum { MOST_POINTS = 1 << 20 };

static tg_status check_points(int64_t n, const char *what)
{
    if (n >= 1 && n <= MOST_POINTS) return TG_OK;
    return tg_fail(TG_INVALID, "%s is %lld", what, (long long)n);
}

/* The last axis holds a real number or a complex one. */
static tg_status check_parts(const tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    int64_t parts = x->dim[x->rank - 1];
    if (parts == 1 || parts == 2) return TG_OK;
    return tg_fail(TG_SHAPE, "the last axis of the signal has size %lld", (long long)parts);
}

static tg_status check_sides(tg_infer *infer, bool inverse)
{
    const tg_shape *x = &infer->in[0].shape;
    tg_attr *one = tg_infer_attr(infer, "onesided");
    one->i = one->i != 0;
    if (!one->i || inverse) return TG_OK;
    if (x->dim[x->rank - 1] != 1) return tg_fail(TG_INVALID, "one side of a complex signal");
    return TG_OK;
}

tg_status infer_dft(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    tg_attr *axis = tg_infer_attr(infer, "axis"), *inverse = tg_infer_attr(infer, "inverse");
    bool known, placed;
    TG_TRY(tg_need_float(infer, 0, "the signal"));
    TG_TRY(tg_need_rank(infer, 0, "the signal", 2, TG_MAX_RANK));
    TG_TRY(check_parts(infer));
    inverse->i = inverse->i != 0;
    TG_TRY(check_sides(infer, inverse->i));
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(infer_number(infer, "dft_length", 1, &known));
    TG_TRY(infer_number(infer, "axis", 2, &placed));
    if ((has_type(infer, 1) && !known) || (has_type(infer, 2) && !placed)) return TG_OK;
    int64_t at = x->rank - 2;
    if (placed) TG_TRY(tg_axis_normalise(axis->i, x->rank, &at));
    if (at == x->rank - 1) return tg_fail(TG_INVALID, "a transform along the parts of numbers");
    *axis = TG_ATTR_OF_INT(at);
    bool one = tg_infer_attr(infer, "onesided")->i, back = one && inverse->i;
    int64_t n = known  ? tg_infer_attr(infer, "dft_length")->i
                : back ? 2 * (x->dim[at] - 1)
                       : x->dim[at];
    TG_TRY(check_points(n, "the length of the transform"));
    infer->out[0].shape = *x;
    infer->out[0].shape.dim[x->rank - 1] = back ? 1 : 2;
    infer->out[0].shape.dim[at] = one && !back ? n / 2 + 1 : n;
    return TG_OK;
}

/* Numbers at x, x + step ...: `have` of them, of `parts` parts, times the window (NULL: 1). */
typedef struct line {
    const double *x, *window;
    int64_t have, step, parts;
} line;

/* Bin k of n points: the sum of x[i] exp(sign 2 pi j i k / n). */
static void bin_of(const line *l, int64_t n, int64_t k, double sign, double y[2])
{
    y[0] = y[1] = 0;
    for (int64_t i = 0; i < n && i < l->have; i++) {
        double t = sign * 2 * M_PI * (double)(i * k % n) / (double)n;
        double w = l->window ? l->window[i] : 1;
        double re = w * l->x[i * l->step], im = l->parts == 2 ? w * l->x[i * l->step + 1] : 0;
        y[0] += re * cos(t) - im * sin(t);
        y[1] += re * sin(t) + im * cos(t);
    }
}

/*
 * Element i of the real signal of n points whose one side is the line: the other side is its
 * conjugate, and the bins that are their own conjugates are real.
 */
static double real_of(const line *l, int64_t n, int64_t i)
{
    double sum = 0;
    for (int64_t k = 0; k <= n / 2 && k < l->have; k++) {
        double t = 2 * M_PI * (double)(i * k % n) / (double)n;
        double re = l->x[k * l->step], im = l->parts == 2 ? l->x[k * l->step + 1] : 0;
        bool alone = k == 0 || 2 * k == n;
        sum += alone ? re * cos(t) : 2 * (re * cos(t) - im * sin(t));
    }
    return sum / (double)n;
}

tg_status kernel_dft(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    const tg_attr *length = call_attr(call, "dft_length");
    int64_t axis = call_int(call, "axis"), parts = s->dim[s->rank - 1];
    int64_t bins = call->out[0].shape.dim[axis], inner = tg_dims_count(s, axis + 1, s->rank - 1);
    bool inverse = call_int(call, "inverse"), back = inverse && call_int(call, "onesided");
    int64_t n = length->kind == TG_ATTR_INT ? length->i : back ? bins : s->dim[axis];
    const double *x = tg_call_doubles(call, 0);
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    for (int64_t p = 0; p < tg_dims_count(s, 0, axis) * inner; p++) {
        int64_t o = p / inner, i = p % inner;
        line l = {x + (o * s->dim[axis] * inner + i) * parts, NULL, s->dim[axis], inner * parts,
                  parts};
        for (int64_t k = 0; k < bins && back; k++)
            y[(o * bins + k) * inner + i] = real_of(&l, n, k);
        for (int64_t k = 0; k < bins && !back; k++) {
            double *bin = y + ((o * bins + k) * inner + i) * 2;
            bin_of(&l, n, k, inverse ? 1 : -1, bin);
            if (inverse) bin[0] /= (double)n, bin[1] /= (double)n;
        }
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}

tg_status infer_stft(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *window = &infer->in[2].shape;
    bool stepped, known;
    TG_TRY(tg_need_float(infer, 0, "the signal"));
    TG_TRY(tg_need_rank(infer, 0, "the signal", 3, 3));
    TG_TRY(check_parts(infer));
    TG_TRY(check_sides(infer, false));
    TG_TRY(tg_need_same(infer, 2, 0, "the window"));
    if (has_type(infer, 2)) TG_TRY(tg_need_rank(infer, 2, "the window", 1, 1));
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(infer_number(infer, "frame_step", 1, &stepped));
    TG_TRY(infer_number(infer, "frame_length", 3, &known));
    if ((has_type(infer, 1) && !stepped) || (has_type(infer, 3) && !known)) return TG_OK;
    if (!stepped) return tg_fail(TG_INVALID, "frame_step is absent");
    tg_attr *length = tg_infer_attr(infer, "frame_length");
    if (!known && !has_type(infer, 2)) return tg_fail(TG_INVALID, "frames of no length");
    if (!known) *length = TG_ATTR_OF_INT(window->dim[0]);
    int64_t n = length->i, step = tg_infer_attr(infer, "frame_step")->i;
    TG_TRY(check_points(n, "frame_length"));
    TG_TRY(check_points(step, "frame_step"));
    TG_TRY(tg_need_vector(infer, 2, "the window", n));
    if (n > x->dim[1])
        return tg_fail(TG_SHAPE, "frames of %lld in a signal of %lld", (long long)n,
                       (long long)x->dim[1]);
    infer->out[0].shape = tg_shape_of(x->dim[0], (x->dim[1] - n) / step + 1,
                                      tg_infer_attr(infer, "onesided")->i ? n / 2 + 1 : n, 2);
    return TG_OK;
}

tg_status kernel_stft(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape, *out = &call->out[0].shape;
    int64_t n = call_int(call, "frame_length"), step = call_int(call, "frame_step");
    int64_t parts = s->dim[2], at = 0;
    const double *x = tg_call_doubles(call, 0), *window = tg_call_doubles(call, 2);
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    for (int64_t b = 0; b < out->dim[0]; b++)
        for (int64_t f = 0; f < out->dim[1]; f++) {
            line l = {x + (b * s->dim[1] + f * step) * parts, window, n, parts, parts};
            for (int64_t k = 0; k < out->dim[2]; k++, at += 2) bin_of(&l, n, k, -1, y + at);
        }
    tg_call_store(call, 0, y);
    return TG_OK;
}
