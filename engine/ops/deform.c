/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * DeformConv: a convolution whose window reads the input at places that are moved by an offset
 * each, and weighed by a mask (Zhu et al., Deformable ConvNets v2, CVPR 2019, section 3.2).
 */
#include "window.h"

#include <math.h>

enum { X, W, OFFSET, BIAS, MASK_IN };

typedef struct deform {
    int64_t n, c, m, groups, offset_groups;
    tg_window w;
    int axes;                    /* spatial ones */
    int64_t plane, taps, points; /* elements of a channel, a window, an output channel */
    const double *x, *weight, *offset, *mask;
} deform;

static tg_status check_offsets(const tg_infer *infer, const tg_shape *out, int64_t groups,
                               int64_t taps)
{
    int64_t axes = out->rank - 2;
    for (int slot = OFFSET; slot <= MASK_IN; slot++) {
        if (slot == BIAS || !has_type(infer, slot)) continue;
        tg_shape want = *out;
        const char *what = slot == OFFSET ? "the offset" : "the mask";
        want.dim[1] = groups * taps * (slot == OFFSET ? axes : 1);
        TG_TRY(tg_need_same(infer, slot, X, what));
        if (!tg_shape_equal(&infer->in[slot].shape, &want))
            return tg_fail(TG_SHAPE, "%s does not fit input and weight", what);
    }
    return TG_OK;
}

tg_status infer_deform_conv(tg_infer *infer)
{
    const tg_shape *x = &infer->in[X].shape, *w = &infer->in[W].shape;
    int64_t groups = tg_infer_attr(infer, "group")->i;
    int64_t offset_groups = tg_infer_attr(infer, "offset_group")->i;
    TG_TRY(tg_need_float(infer, X, "the input"));
    TG_TRY(tg_need_same(infer, W, X, "the weight"));
    TG_TRY(tg_need_same(infer, BIAS, X, "the bias"));
    TG_TRY(tg_need_rank(infer, X, "the input", 3, 2 + TG_MAX_SPATIAL));
    TG_TRY(tg_need_rank(infer, W, "the weight", x->rank, x->rank));
    if (groups < 1 || offset_groups < 1 || x->dim[1] % groups || w->dim[0] % groups ||
        x->dim[1] % offset_groups)
        return tg_fail(TG_INVALID, "%lld channels in %lld and %lld groups", (long long)x->dim[1],
                       (long long)groups, (long long)offset_groups);
    if (w->dim[1] != x->dim[1] / groups)
        return tg_fail(TG_SHAPE, "the weight has %lld channels, the input %lld in %lld groups",
                       (long long)w->dim[1], (long long)x->dim[1], (long long)groups);
    TG_TRY(tg_need_vector(infer, BIAS, "the bias", w->dim[0]));
    tg_shape out = *x;
    out.dim[1] = w->dim[0];
    TG_TRY(tg_window_infer(infer, x, w->dim + 2, &out));
    TG_TRY(check_offsets(infer, &out, offset_groups, tg_dims_count(w, 2, w->rank)));
    infer->out[0] = (tg_type){infer->in[X].dtype, out};
    return TG_OK;
}

/* Linear between the elements around a place; outside the input they are 0. */
static double sample(const double *x, const int64_t *size, const double *at)
{
    double sum = 0, low[TG_MAX_SPATIAL];
    for (int a = 0; a < TG_MAX_SPATIAL; a++) {
        if (!(at[a] > -1 && at[a] < (double)size[a])) return 0;
        low[a] = floor(at[a]);
    }
    for (unsigned corner = 0; corner < 1u << TG_MAX_SPATIAL; corner++) {
        double weight = 1;
        int64_t index = 0;
        for (int a = 0; a < TG_MAX_SPATIAL; a++) {
            bool up = corner >> a & 1;
            int64_t i = (int64_t)low[a] + up;
            weight *= up ? at[a] - low[a] : 1 - (at[a] - low[a]);
            if (i < 0 || i >= size[a]) weight = 0;
            index = index * size[a] + i;
        }
        if (weight != 0) sum += weight * x[index];
    }
    return sum;
}

static void split(int64_t i, const int64_t *dim, int64_t *at)
{
    for (int a = TG_MAX_SPATIAL - 1; a >= 0; a--) {
        at[a] = i % dim[a];
        i /= dim[a];
    }
}

/* What position `tap` of the window at output `point` reads of input channel c. */
static double read_tap(const deform *d, int64_t image, int64_t c, int64_t tap, int64_t point)
{
    int64_t group = image * d->offset_groups + c / (d->c / d->offset_groups);
    int64_t o[TG_MAX_SPATIAL], k[TG_MAX_SPATIAL];
    double at[TG_MAX_SPATIAL];
    split(point, d->w.out, o);
    split(tap, d->w.kernel, k);
    for (int a = 0; a < TG_MAX_SPATIAL; a++) {
        int own = a - (TG_MAX_SPATIAL - d->axes);
        at[a] = (double)(o[a] * d->w.stride[a] + k[a] * d->w.dilation[a] - d->w.pad[a]);
        if (own >= 0)
            at[a] += d->offset[((group * d->taps + tap) * d->axes + own) * d->points + point];
    }
    double v = sample(d->x + (image * d->c + c) * d->plane, d->w.in, at);
    return d->mask ? v * d->mask[(group * d->taps + tap) * d->points + point] : v;
}

static deform deform_of(tg_call *call)
{
    const tg_shape *x = &call->in[X].shape, *w = &call->in[W].shape, *y = &call->out[0].shape;
    deform d = {.n = x->dim[0],
                .c = x->dim[1],
                .m = w->dim[0],
                .groups = call_int(call, "group"),
                .offset_groups = call_int(call, "offset_group"),
                .w = tg_window_of(call, x, y),
                .axes = (int)x->rank - 2,
                .plane = tg_dims_count(x, 2, x->rank),
                .taps = tg_dims_count(w, 2, w->rank),
                .points = tg_dims_count(y, 2, y->rank)};
    d.x = tg_call_doubles(call, X);
    d.weight = tg_call_doubles(call, W);
    d.offset = tg_call_doubles(call, OFFSET);
    d.mask = tg_call_doubles(call, MASK_IN);
    return d;
}

/* The input is read once for each channel, tap and point, and then goes to all filters. */
tg_status kernel_deform_conv(tg_call *call)
{
    deform d = deform_of(call);
    const double *bias = tg_call_doubles(call, BIAS);
    int64_t filters = d.m / d.groups, each = d.c / d.groups;
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    for (int64_t i = 0; i < d.n * d.m * d.points && bias; i++) y[i] = bias[i / d.points % d.m];
    for (int64_t image = 0; image < d.n; image++)
        for (int64_t c = 0; c < d.c; c++)
            for (int64_t tap = 0; tap < d.taps; tap++)
                for (int64_t p = 0; p < d.points; p++) {
                    double v = read_tap(&d, image, c, tap, p);
                    int64_t first = c / each * filters;
                    for (int64_t m = first; m < first + filters; m++)
                        y[(image * d.m + m) * d.points + p] +=
                            v * d.weight[(m * each + c % each) * d.taps + tap];
                }
    tg_call_store(call, 0, y);
    return TG_OK;
}
