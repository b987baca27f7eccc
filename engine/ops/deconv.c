/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ConvTranspose: the way back through a convolution. */
#include "conv.h"

#include <string.h>

static tg_status fill_output_padding(tg_infer *infer, int n)
{
    tg_attr *a = tg_infer_attr(infer, "output_padding");
    int64_t zero[TG_MAX_SPATIAL] = {0};
    if (a->kind == TG_ATTR_NONE || a->n == 0) {
        tg_infer_set_ints(infer, "output_padding", zero, (size_t)n);
        return TG_OK;
    }
    if ((int)a->n != n)
        return tg_fail(TG_INVALID, "attribute output_padding has %u entries, not %d", a->n, n);
    for (int i = 0; i < n; i++)
        if (a->ints[i] < 0 || a->ints[i] > (int64_t)1 << 30)
            return tg_fail(TG_INVALID, "attribute output_padding has entry %lld",
                           (long long)a->ints[i]);
    return TG_OK;
}

/* The pads that make the wanted output size; the standard puts the odd one by auto_pad. */
static void pads_for_size(const tg_infer *infer, const int64_t *full, const int64_t *want, int n,
                          int64_t *pads)
{
    const tg_attr *mode = tg_infer_attr((tg_infer *)(uintptr_t)infer, "auto_pad");
    bool upper = mode->kind == TG_ATTR_STR && strcmp(mode->s, "SAME_UPPER") == 0;
    for (int i = 0; i < n; i++) {
        int64_t total = full[i] - want[i];
        if (total < 0) total = 0;
        pads[i] = upper ? total / 2 : total - total / 2;
        pads[n + i] = total - pads[i];
    }
}

/* Size of the output before anything is cut off. */
static void full_size(tg_infer *infer, const tg_shape *x, int n, int64_t *full)
{
    const int64_t *stride = tg_infer_attr(infer, "strides")->ints;
    const int64_t *dilation = tg_infer_attr(infer, "dilations")->ints;
    const int64_t *kernel = tg_infer_attr(infer, "kernel_shape")->ints;
    const int64_t *extra = tg_infer_attr(infer, "output_padding")->ints;
    for (int i = 0; i < n; i++)
        full[i] = stride[i] * (x->dim[2 + i] - 1) + extra[i] + (kernel[i] - 1) * dilation[i] + 1;
}

static tg_status explicit_pads(tg_infer *infer, int n)
{
    tg_attr *a = tg_infer_attr(infer, "pads");
    int64_t zero[2 * TG_MAX_SPATIAL] = {0};
    if (a->kind == TG_ATTR_NONE || a->n == 0) tg_infer_set_ints(infer, "pads", zero, (size_t)n * 2);
    else if ((int)a->n != 2 * n)
        return tg_fail(TG_INVALID, "attribute pads has %u entries, not %d", a->n, 2 * n);
    for (int i = 0; i < 2 * n; i++)
        if (a->ints[i] < 0 || a->ints[i] > (int64_t)1 << 30)
            return tg_fail(TG_INVALID, "attribute pads has entry %lld", (long long)a->ints[i]);
    return TG_OK;
}

/*
 * output_shape or auto_pad ask for a size; what they ask for becomes explicit pads, and more
 * output_padding where the size asked for is larger than what the input reaches.
 */
static tg_status sized_pads(tg_infer *infer, const tg_shape *x, const int64_t *want, int n,
                            int64_t *full)
{
    int64_t pads[2 * TG_MAX_SPATIAL], extra[TG_MAX_SPATIAL];
    memcpy(extra, tg_infer_attr(infer, "output_padding")->ints, (size_t)n * sizeof *extra);
    for (int i = 0; i < n; i++) {
        if (want[i] < 0 || want[i] > (int64_t)1 << 40)
            return tg_fail(TG_INVALID, "attribute output_shape has entry %lld", (long long)want[i]);
        if (want[i] > full[i]) extra[i] += want[i] - full[i];
    }
    tg_infer_set_ints(infer, "output_padding", extra, (size_t)n);
    full_size(infer, x, n, full);
    pads_for_size(infer, full, want, n, pads);
    tg_infer_set_ints(infer, "pads", pads, (size_t)n * 2);
    return TG_OK;
}

static tg_status resolve(tg_infer *infer, const tg_shape *x, int n, int64_t *full)
{
    tg_attr *mode = tg_infer_attr(infer, "auto_pad"), *size = tg_infer_attr(infer, "output_shape");
    const char *name = mode->kind == TG_ATTR_STR && mode->s[0] ? mode->s : "NOTSET";
    if (size->kind == TG_ATTR_INTS && size->n) {
        /* Some exporters write the whole shape. */
        uint32_t skip = size->n == (uint32_t)n + 2 ? 2 : 0;
        if ((int)(size->n - skip) != n)
            return tg_fail(TG_INVALID, "attribute output_shape has %u entries, not %d", size->n, n);
        TG_TRY(sized_pads(infer, x, size->ints + skip, n, full));
    } else if (strncmp(name, "SAME_", 5) == 0) {
        int64_t want[TG_MAX_SPATIAL];
        for (int i = 0; i < n; i++)
            want[i] = x->dim[2 + i] * tg_infer_attr(infer, "strides")->ints[i];
        TG_TRY(sized_pads(infer, x, want, n, full));
    } else if (strcmp(name, "VALID") == 0) {
        tg_infer_attr(infer, "pads")->kind = TG_ATTR_NONE;
    } else if (strcmp(name, "NOTSET") != 0) {
        return tg_fail(TG_INVALID, "attribute auto_pad is %s", name);
    }
    size->kind = TG_ATTR_NONE;
    size->n = 0;
    *mode = tg_attr_str("NOTSET");
    return explicit_pads(infer, n);
}

static tg_status check_shapes(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *w = &infer->in[1].shape;
    int64_t groups = tg_infer_attr(infer, "group")->i;
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_same(infer, 1, 0, "the weight"));
    TG_TRY(tg_need_same(infer, 2, 0, "the bias"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 2 + TG_MAX_SPATIAL));
    TG_TRY(tg_need_rank(infer, 1, "the weight", x->rank, x->rank));
    if (groups < 1) return tg_fail(TG_INVALID, "attribute group is %lld", (long long)groups);
    if (w->dim[0] != x->dim[1] || x->dim[1] % groups)
        return tg_fail(TG_SHAPE, "%lld channels, %lld filters and %lld groups do not fit",
                       (long long)x->dim[1], (long long)w->dim[0], (long long)groups);
    for (int i = 2; i < x->rank; i++)
        if (x->dim[i] < 1 || x->dim[i] > (int64_t)1 << 30)
            return tg_fail(TG_SHAPE, "spatial axis %d has size %lld", i - 2, (long long)x->dim[i]);
    if (groups > (int64_t)1 << 30 || w->dim[1] > (int64_t)1 << 30)
        return tg_fail(TG_LIMIT, "too many channels");
    return tg_need_vector(infer, 2, "the bias", w->dim[1] * groups);
}

tg_status infer_conv_transpose(tg_infer *infer)
{
    TG_TRY(check_shapes(infer));
    const tg_shape *x = &infer->in[0].shape, *w = &infer->in[1].shape;
    int n = (int)x->rank - 2;
    int64_t full[TG_MAX_SPATIAL];
    TG_TRY(tg_window_fill(infer, n, w->dim + 2));
    TG_TRY(fill_output_padding(infer, n));
    full_size(infer, x, n, full);
    TG_TRY(resolve(infer, x, n, full));
    const int64_t *pads = tg_infer_attr(infer, "pads")->ints;
    tg_shape out = {.rank = x->rank,
                    .dim = {x->dim[0], w->dim[1] * tg_infer_attr(infer, "group")->i}};
    for (int i = 0; i < n; i++) {
        out.dim[2 + i] = full[i] - pads[i] - pads[n + i];
        if (out.dim[2 + i] < 0)
            return tg_fail(TG_SHAPE, "the pads of spatial axis %d are larger than the output", i);
    }
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

/* One weight: the output position that meets input position i gets w * x[i]. */
static void scatter(const tg_window *s, double w, const int64_t k[3], const double *x, double *y)
{
    int64_t first[3], last[3], shift[3];
    for (int a = 0; a < 3; a++) {
        tg_window_range(s, a, k[a], &first[a], &last[a]);
        shift[a] = k[a] * s->dilation[a] - s->pad[a];
    }
    for (int64_t d = first[0]; d < last[0]; d++)
        for (int64_t h = first[1]; h < last[1]; h++) {
            int64_t row = (d * s->stride[0] + shift[0]) * s->in[1] + h * s->stride[1] + shift[1];
            const double *from = x + (d * s->out[1] + h) * s->out[2];
            double *to = y + row * s->in[2] + shift[2];
            for (int64_t i = first[2]; i < last[2]; i++) to[i * s->stride[2]] += w * from[i];
        }
}

/* In the window the sides are exchanged: `in` is this operator's output. */
static void run(const tg_conv *conv, const double *x, const double *w, double *y)
{
    const tg_window *s = &conv->window;
    int64_t from = s->out[0] * s->out[1] * s->out[2], to = s->in[0] * s->in[1] * s->in[2];
    int64_t cs = conv->m / conv->groups, ms = conv->c / conv->groups, k[3];
    for (int64_t n = 0; n < conv->n; n++)
        for (int64_t c = 0; c < conv->m; c++) {
            const double *weight = w + c * ms * s->kernel[0] * s->kernel[1] * s->kernel[2];
            for (int64_t m = 0; m < ms; m++) {
                double *plane = y + (n * conv->c + c / cs * ms + m) * to;
                for (k[0] = 0; k[0] < s->kernel[0]; k[0]++)
                    for (k[1] = 0; k[1] < s->kernel[1]; k[1]++)
                        for (k[2] = 0; k[2] < s->kernel[2]; k[2]++)
                            scatter(s, *weight++, k, x + (n * conv->m + c) * from, plane);
            }
        }
}

tg_status kernel_conv_transpose(tg_call *call)
{
    const tg_shape *x = &call->in[0].shape, *y = &call->out[0].shape;
    tg_conv conv = tg_conv_of(call, y, x);
    int64_t total = tg_shape_count(y), plane = tg_dims_count(y, 2, y->rank);
    double *out = tg_call_scratch(call, total);
    const double *bias = tg_call_doubles(call, 2);
    for (int64_t i = 0; bias && i < total; i++) out[i] = bias[i / plane % y->dim[1]];
    if (total && tg_shape_count(x))
        run(&conv, tg_call_doubles(call, 0), tg_call_doubles(call, 1), out);
    tg_call_store(call, 0, out);
    return TG_OK;
}
