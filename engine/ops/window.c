/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "window.h"

#include <string.h>

/* Small enough that no product of two and no sum of some overflows. */
#define LARGEST ((int64_t)1 << 30)

bool tg_infer_has_attr(const tg_infer *infer, const char *name)
{
    return tg_op_attr_index((tg_op)(infer->row - tg_op_rows), name) >= 0;
}

/* The attribute must have n entries in [least, LARGEST]; absent, it becomes n times `fill`. */
static tg_status fill_ints(tg_infer *infer, const char *name, int n, int64_t least, int64_t fill)
{
    tg_attr *a = tg_infer_attr(infer, name);
    if (a->kind == TG_ATTR_NONE) {
        int64_t v[2 * TG_MAX_SPATIAL];
        for (int i = 0; i < n; i++) v[i] = fill;
        tg_infer_set_ints(infer, name, v, (size_t)n);
        return TG_OK;
    }
    if ((int)a->n != n)
        return tg_fail(TG_INVALID, "attribute %s has %u entries, not %d", name, a->n, n);
    for (int i = 0; i < n; i++)
        if (a->ints[i] < least || a->ints[i] > LARGEST)
            return tg_fail(TG_INVALID, "attribute %s has entry %lld", name, (long long)a->ints[i]);
    return TG_OK;
}

static tg_status fill_kernel(tg_infer *infer, int n, const int64_t *kernel)
{
    tg_attr *a = tg_infer_attr(infer, "kernel_shape");
    if (a->kind == TG_ATTR_NONE && kernel) {
        for (int i = 0; i < n; i++)
            if (kernel[i] < 1 || kernel[i] > LARGEST)
                return tg_fail(TG_SHAPE, "the kernel has size %lld on spatial axis %d",
                               (long long)kernel[i], i);
        tg_infer_set_ints(infer, "kernel_shape", kernel, (size_t)n);
        return TG_OK;
    }
    TG_TRY(fill_ints(infer, "kernel_shape", n, 1, 1));
    for (int i = 0; kernel && i < n; i++)
        if (kernel[i] != a->ints[i])
            return tg_fail(TG_SHAPE, "attribute kernel_shape says %lld, the weight has %lld",
                           (long long)a->ints[i], (long long)kernel[i]);
    return TG_OK;
}

tg_status tg_window_fill(tg_infer *infer, int n, const int64_t *kernel)
{
    /* An empty list means the same as none. */
    static const char *const lists[] = {"kernel_shape", "strides", "dilations", "pads"};
    for (int i = 0; i < 4; i++) {
        if (!tg_infer_has_attr(infer, lists[i])) continue;
        tg_attr *a = tg_infer_attr(infer, lists[i]);
        if (a->kind == TG_ATTR_INTS && a->n == 0) a->kind = TG_ATTR_NONE;
    }
    TG_TRY(fill_kernel(infer, n, kernel));
    TG_TRY(fill_ints(infer, "strides", n, 1, 1));
    if (tg_infer_has_attr(infer, "dilations")) TG_TRY(fill_ints(infer, "dilations", n, 1, 1));
    return TG_OK;
}

/* Pads that make ceil(in / stride) outputs; the odd one goes where auto_pad says. */
static void same_pads(const int64_t *in, const int64_t *span, const int64_t *stride, int n,
                      bool upper, int64_t *pads)
{
    for (int i = 0; i < n; i++) {
        int64_t out = in[i] / stride[i] + (in[i] % stride[i] != 0);
        int64_t total = (out - 1) * stride[i] + span[i] - in[i];
        if (total < 0 || out == 0) total = 0;
        pads[i] = upper ? total / 2 : total - total / 2;
        pads[n + i] = total - pads[i];
    }
}

static tg_status resolve_pads(tg_infer *infer, const int64_t *in, const int64_t *span, int n)
{
    if (!tg_infer_has_attr(infer, "auto_pad")) return fill_ints(infer, "pads", 2 * n, 0, 0);
    tg_attr *mode = tg_infer_attr(infer, "auto_pad");
    int64_t pads[2 * TG_MAX_SPATIAL] = {0};
    const char *name = mode->kind == TG_ATTR_STR ? mode->s : "NOTSET";
    if (strcmp(name, "NOTSET") == 0 || name[0] == '\0') {
        *mode = tg_attr_str("NOTSET");
        return fill_ints(infer, "pads", 2 * n, 0, 0);
    }
    bool same = strncmp(name, "SAME_", 5) == 0, upper = strcmp(name, "SAME_UPPER") == 0;
    if (!upper && strcmp(name, "SAME_LOWER") != 0 && strcmp(name, "VALID") != 0)
        return tg_fail(TG_INVALID, "attribute auto_pad is %s", name);
    if (same) same_pads(in, span, tg_infer_attr(infer, "strides")->ints, n, upper, pads);
    tg_infer_set_ints(infer, "pads", pads, (size_t)n * 2);
    *mode = tg_attr_str("NOTSET");
    /* Neither kind of automatic padding leaves a rest to round up. */
    if (tg_infer_has_attr(infer, "ceil_mode")) tg_infer_attr(infer, "ceil_mode")->i = 0;
    return TG_OK;
}

static tg_status output_size(int64_t in, int64_t span, int64_t stride, const int64_t pad[2],
                             bool ceil, int64_t *out)
{
    int64_t room = in + pad[0] + pad[1] - span;
    if (room < 0)
        return tg_fail(TG_SHAPE, "a window of %lld is larger than its input of %lld",
                       (long long)span, (long long)(in + pad[0] + pad[1]));
    *out = room / stride + 1;
    /* A window that would start behind the input and its leading padding is dropped. */
    if (ceil && room % stride && *out * stride < in + pad[0]) ++*out;
    return TG_OK;
}

tg_status tg_window_infer(tg_infer *infer, const tg_shape *x, const int64_t *kernel, tg_shape *out)
{
    int n = (int)x->rank - 2;
    int64_t span[TG_MAX_SPATIAL];
    TG_TRY(tg_window_fill(infer, n, kernel));
    const int64_t *size = tg_infer_attr(infer, "kernel_shape")->ints, *dilation = NULL;
    if (tg_infer_has_attr(infer, "dilations")) dilation = tg_infer_attr(infer, "dilations")->ints;
    for (int i = 0; i < n; i++) {
        span[i] = (size[i] - 1) * (dilation ? dilation[i] : 1) + 1;
        if (x->dim[2 + i] > LARGEST)
            return tg_fail(TG_LIMIT, "spatial axis %d has size %lld", i, (long long)x->dim[2 + i]);
    }
    TG_TRY(resolve_pads(infer, x->dim + 2, span, n));
    const int64_t *pads = tg_infer_attr(infer, "pads")->ints;
    bool ceil = tg_infer_has_attr(infer, "ceil_mode") && tg_infer_attr(infer, "ceil_mode")->i;
    for (int i = 0; i < n; i++)
        TG_TRY(output_size(x->dim[2 + i], span[i], tg_infer_attr(infer, "strides")->ints[i],
                           (int64_t[]){pads[i], pads[n + i]}, ceil, &out->dim[2 + i]));
    return TG_OK;
}

tg_window tg_window_of(const tg_call *call, const tg_shape *in, const tg_shape *out)
{
    tg_window w;
    int n = (int)in->rank - 2, lead = TG_MAX_SPATIAL - n;
    const int64_t *dilation = NULL, *pads = call_attr(call, "pads")->ints;
    if (tg_op_attr_index((tg_op)(call->row - tg_op_rows), "dilations") >= 0)
        dilation = call_attr(call, "dilations")->ints;
    for (int i = 0; i < TG_MAX_SPATIAL; i++) {
        int at = i - lead;
        bool real = at >= 0;
        w.in[i] = real ? in->dim[2 + at] : 1;
        w.out[i] = real ? out->dim[2 + at] : 1;
        w.kernel[i] = real ? call_attr(call, "kernel_shape")->ints[at] : 1;
        w.stride[i] = real ? call_attr(call, "strides")->ints[at] : 1;
        w.dilation[i] = real && dilation ? dilation[at] : 1;
        w.pad[i] = real ? pads[at] : 0;
        w.pad_end[i] = real ? pads[n + at] : 0;
    }
    return w;
}

void tg_window_range(const tg_window *w, int axis, int64_t k, int64_t *first, int64_t *last)
{
    int64_t shift = k * w->dilation[axis] - w->pad[axis], stride = w->stride[axis];
    *first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t room = w->in[axis] - shift;
    *last = room <= 0 ? 0 : (room + stride - 1) / stride;
    if (*last > w->out[axis]) *last = w->out[axis];
}
