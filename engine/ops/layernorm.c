/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normalisation over axes: LayerNormalization, RMSNormalization, LpNormalization,
 * MeanVarianceNormalization. */
#include "compute.h"

#include <math.h>
#include <stdlib.h>

/* The scale or shift must broadcast to x without widening it. */
static tg_status need_within(const tg_infer *infer, int slot, const char *what)
{
    tg_shape both;
    if (!has_type(infer, slot)) return TG_OK;
    const tg_shape *x = &infer->in[0].shape, *s = &infer->in[slot].shape;
    if (tg_shape_broadcast(x, s, &both) == TG_OK && tg_shape_equal(&both, x)) return TG_OK;
    char tx[TG_SHAPE_TEXT], ts[TG_SHAPE_TEXT];
    return tg_fail(TG_SHAPE, "%s of shape %s does not broadcast to the input's %s", what,
                   tg_shape_text(ts, s), tg_shape_text(tx, x));
}

static tg_status infer_axis_norm(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 1, TG_MAX_RANK));
    TG_TRY(tg_need_axis(infer, "axis", infer->in[0].shape.rank));
    TG_TRY(need_within(infer, 1, "the scale"));
    infer->out[0] = infer->in[0];
    return TG_OK;
}

static tg_status stash_type(tg_infer *infer, tg_dtype *type)
{
    int64_t t = tg_infer_attr(infer, "stash_type")->i;
    if (t != TG_F32 && t != TG_BF16 && t != TG_F16 && t != TG_F64)
        return tg_fail(TG_INVALID, "attribute stash_type is %lld", (long long)t);
    *type = (tg_dtype)t;
    return TG_OK;
}

tg_status infer_layer_norm(tg_infer *infer)
{
    tg_dtype stash;
    TG_TRY(infer_axis_norm(infer));
    TG_TRY(tg_need_same(infer, 1, 0, "the scale"));
    TG_TRY(tg_need_same(infer, 2, 0, "the shift"));
    TG_TRY(need_within(infer, 2, "the shift"));
    TG_TRY(stash_type(infer, &stash));
    tg_shape kept = infer->in[0].shape;
    for (int64_t i = tg_infer_attr(infer, "axis")->i; i < kept.rank; i++) kept.dim[i] = 1;
    for (int i = 1; i < infer->n_out; i++) infer->out[i] = (tg_type){stash, kept};
    return TG_OK;
}

tg_status infer_rms_norm(tg_infer *infer)
{
    tg_dtype stash;
    TG_TRY(infer_axis_norm(infer));
    TG_TRY(tg_need_float(infer, 1, "the scale"));
    TG_TRY(stash_type(infer, &stash));
    infer->out[0].dtype = infer->in[1].dtype;
    return TG_OK;
}

/* Element of an input that broadcasts to output 0 which meets its element i; `absent` if none. */
static double broadcast_at(const tg_call *call, int slot, int64_t i, double absent)
{
    if (!has_input(call, slot)) return absent;
    const tg_shape *to = &call->out[0].shape, *s = &call->in[slot].shape;
    int64_t at = 0, stride = 1;
    for (int64_t k = 1; k <= s->rank; k++) {
        int64_t size = to->dim[to->rank - k], own = s->dim[s->rank - k];
        if (own != 1) at += i % size * stride;
        i /= size;
        stride *= own;
    }
    return tg_tensor_f64(&call->in[slot], at);
}

typedef struct moments {
    double mean, inverse; /* 1 / sqrt(variance + epsilon) */
} moments;

/* centred false: the mean counts as zero. */
static moments moments_of(const double *x, int64_t n, double epsilon, bool centred)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; centred && i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    return (moments){mean, 1 / sqrt(square / (double)n + epsilon)};
}

static tg_status axis_norm(tg_call *call, bool centred)
{
    const tg_shape *s = &call->in[0].shape;
    int64_t total = tg_tensor_count(&call->in[0]);
    int64_t n = tg_dims_count(s, call_int(call, "axis"), s->rank);
    if (!total) return TG_OK;
    const double *x = tg_call_doubles(call, 0);
    for (int64_t i = 0; i < total; i += n) {
        moments m = moments_of(x + i, n, call_float(call, "epsilon"), centred);
        for (int64_t k = i; k < i + n; k++) {
            double y = (x[k] - m.mean) * m.inverse * broadcast_at(call, 1, k, 1);
            tg_tensor_set_f64(&call->out[0], k, centred ? y + broadcast_at(call, 2, k, 0) : y);
        }
        if (has_output(call, 1)) tg_tensor_set_f64(&call->out[1], i / n, m.mean);
        if (has_output(call, 2)) tg_tensor_set_f64(&call->out[2], i / n, m.inverse);
    }
    return TG_OK;
}

tg_status kernel_layer_norm(tg_call *call)
{
    return axis_norm(call, true);
}

tg_status kernel_rms_norm(tg_call *call)
{
    return axis_norm(call, false);
}

tg_status infer_lp_norm(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_axis(infer, "axis", infer->in[0].shape.rank));
    int64_t p = tg_infer_attr(infer, "p")->i;
    if (p != 1 && p != 2) return tg_fail(TG_INVALID, "attribute p is %lld", (long long)p);
    infer->out[0] = infer->in[0];
    return TG_OK;
}

tg_status kernel_lp_norm(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    int64_t axis = call_int(call, "axis"), p = call_int(call, "p"), size = s->dim[axis];
    int64_t inner = tg_dims_count(s, axis + 1, s->rank), total = tg_tensor_count(&call->in[0]);
    const double *x = tg_call_doubles(call, 0);
    for (int64_t r = 0; r < (size ? total / size : 0); r++) {
        int64_t at = r / inner * inner * size + r % inner;
        double sum = 0;
        for (int64_t k = 0; k < size; k++) {
            double v = x[at + k * inner];
            sum += p == 1 ? fabs(v) : v * v;
        }
        double norm = p == 1 ? sum : sqrt(sum);
        for (int64_t k = 0; k < size; k++)
            tg_tensor_set_f64(&call->out[0], at + k * inner,
                              norm == 0 ? 0 : x[at + k * inner] / norm);
    }
    return TG_OK;
}

static int compare_ints(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

tg_status infer_mean_variance_norm(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    const tg_attr *given = tg_infer_attr(infer, "axes");
    int64_t rank = infer->in[0].shape.rank, axes[TG_MAX_RANK];
    if (given->kind == TG_ATTR_NONE || given->n > rank)
        return tg_fail(TG_INVALID, "attribute axes does not fit rank %lld", (long long)rank);
    uint32_t n = given->n;
    for (uint32_t i = 0; i < n; i++) TG_TRY(tg_axis_normalise(given->ints[i], rank, &axes[i]));
    qsort(axes, n, sizeof *axes, compare_ints);
    for (uint32_t i = 1; i < n; i++)
        if (axes[i] == axes[i - 1])
            return tg_fail(TG_INVALID, "axis %lld is listed twice", (long long)axes[i]);
    tg_infer_set_ints(infer, "axes", axes, n);
    infer->out[0] = infer->in[0];
    return TG_OK;
}

/* For each element, the number of its group: its place without the axes. Returns their count. */
static int64_t groups_of(const tg_call *call, int64_t *group)
{
    const tg_shape *s = &call->in[0].shape;
    const tg_attr *axes = call_attr(call, "axes");
    int64_t step[TG_MAX_RANK], groups = 1, total = tg_tensor_count(&call->in[0]);
    for (int64_t k = s->rank - 1; k >= 0; k--) {
        bool over = false;
        for (uint32_t i = 0; i < axes->n; i++) over |= axes->ints[i] == k;
        step[k] = over ? 0 : groups;
        if (!over) groups *= s->dim[k];
    }
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i;
        for (int64_t k = s->rank - 1; k >= 0; k--) {
            group[i] += rest % s->dim[k] * step[k];
            rest /= s->dim[k];
        }
    }
    return groups;
}

tg_status kernel_mean_variance_norm(tg_call *call)
{
    int64_t total = tg_tensor_count(&call->in[0]);
    if (!total) return TG_OK;
    int64_t *group = TG_NEW_ARRAY(call->arena, int64_t, total);
    int64_t groups = groups_of(call, group);
    const double *x = tg_call_doubles(call, 0);
    double *mean = tg_call_scratch(call, groups), *square = tg_call_scratch(call, groups);
    double size = (double)(total / groups);
    for (int64_t i = 0; i < total; i++) mean[group[i]] += x[i] / size;
    for (int64_t i = 0; i < total; i++) {
        double d = x[i] - mean[group[i]];
        square[group[i]] += d * d / size;
    }
    for (int64_t i = 0; i < total; i++)
        tg_tensor_set_f64(&call->out[0], i,
                          (x[i] - mean[group[i]]) / (sqrt(square[group[i]]) + 1e-9));
    return TG_OK;
}
