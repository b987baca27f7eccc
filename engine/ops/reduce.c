/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reductions over axes. */
#include "params.h"
#include "strided.h"

#include <math.h>

static void reduced_shape(const tg_shape *in, unsigned axes, bool keep, tg_shape *out)
{
    *out = (tg_shape){0};
    for (int k = 0; k < in->rank; k++) {
        bool gone = axes >> k & 1;
        if (!gone || keep) out->dim[out->rank++] = gone ? 1 : in->dim[k];
    }
}

/* Canonical: axes are listed, ascending; noop_with_empty_axes is 1 only if it acts. */
tg_status infer_reduce(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    tg_attr *noop = tg_infer_attr(infer, "noop_with_empty_axes");
    const tg_attr *axes;
    TG_TRY(infer_list(infer, "axes", 1, &axes));
    infer->out[0].dtype = infer->in[0].dtype;
    if (!axes && has_type(infer, 1)) return TG_OK;
    unsigned set = 0;
    TG_TRY(tg_axes_set(axes ? axes->ints : NULL, axes ? axes->n : 0, in->rank, &set));
    if (!set && !noop->i) set = (1u << in->rank) - 1;
    if (set || in->rank == 0) noop->i = 0;
    infer_set_axes(infer, "axes", set);
    reduced_shape(in, set, tg_infer_attr(infer, "keepdims")->i != 0, &infer->out[0].shape);
    return TG_OK;
}

/*
 * The elements that meet in one output: an outer walk over the kept dimensions, an inner one over
 * the reduced. Strides count elements of the input.
 */
typedef struct reduction {
    int n_kept, n_gone;
    int64_t kept[TG_MAX_RANK], kept_stride[TG_MAX_RANK];
    int64_t gone[TG_MAX_RANK], gone_stride[TG_MAX_RANK];
    int64_t count; /* elements that meet */
} reduction;

static void add_dim(int64_t *dim, int64_t *stride, int *n, int64_t d, int64_t s)
{
    if (*n && stride[*n - 1] == d * s) {
        dim[*n - 1] *= d;
        stride[*n - 1] = s;
        return;
    }
    dim[*n] = d;
    stride[(*n)++] = s;
}

static reduction reduction_of(const tg_shape *in, unsigned axes)
{
    int64_t stride[TG_MAX_RANK];
    tg_strided_of(in, stride);
    reduction r = {.count = 1};
    for (int k = 0; k < in->rank; k++) {
        if (axes >> k & 1) {
            add_dim(r.gone, r.gone_stride, &r.n_gone, in->dim[k], stride[k]);
            r.count *= in->dim[k];
        } else add_dim(r.kept, r.kept_stride, &r.n_kept, in->dim[k], stride[k]);
    }
    if (!r.n_gone) add_dim(r.gone, r.gone_stride, &r.n_gone, 1, 1);
    return r;
}

/* Steps an odometer; returns the move in elements, or INT64_MIN at the end. */
static int64_t step(const int64_t *dim, const int64_t *stride, int64_t *index, int n)
{
    int64_t move = 0;
    for (int k = n - 1; k >= 0; k--) {
        if (++index[k] < dim[k]) return move + stride[k];
        index[k] = 0;
        move -= (dim[k] - 1) * stride[k];
    }
    return INT64_MIN;
}

/*
 * A reduction: how it starts, takes a block of elements into its state, and ends. `exact` is the
 * same on integers, which wrap; NULL: integers are computed as floats and cut.
 */
typedef struct rule {
    double start;
    void (*take)(double *s, const double *v, int64_t n);
    double (*end)(const double *s, double count);
    void (*exact)(int64_t *s, const int64_t *v, int64_t n);
} rule;

static void take_sum(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) s[0] += v[i];
}
static void take_product(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) s[0] *= v[i];
}
static void take_absolute(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) s[0] += fabs(v[i]);
}
static void take_square(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) s[0] += v[i] * v[i];
}
static void take_max(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] > s[0] || isnan(v[i])) s[0] = v[i];
}
static void take_min(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] < s[0] || isnan(v[i])) s[0] = v[i];
}
/* s[0] is the largest so far, s[1] the sum of exp(x - s[0]). */
static void take_exp(double *s, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (v[i] == s[0]) s[1]++;
        else if (v[i] > s[0]) {
            s[1] = s[1] * exp(s[0] - v[i]) + 1;
            s[0] = v[i];
        } else s[1] += exp(v[i] - s[0]);
    }
}

static double end_same(const double *s, double count)
{
    (void)count;
    return s[0];
}
static double end_mean(const double *s, double count)
{
    return s[0] / count;
}
static double end_root(const double *s, double count)
{
    (void)count;
    return sqrt(s[0]);
}
static double end_log(const double *s, double count)
{
    (void)count;
    return log(s[0]);
}
static double end_exp(const double *s, double count)
{
    (void)count;
    return isinf(s[0]) && !isnan(s[1]) ? s[0] : s[0] + log(s[1]);
}

static void exact_sum(int64_t *s, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) *s = (int64_t)((uint64_t)*s + (uint64_t)v[i]);
}
static void exact_product(int64_t *s, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) *s = (int64_t)((uint64_t)*s * (uint64_t)v[i]);
}
static void exact_absolute(int64_t *s, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)v[i];
        *s = (int64_t)((uint64_t)*s + (v[i] < 0 ? 0 - x : x));
    }
}
static void exact_square(int64_t *s, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) *s = (int64_t)((uint64_t)*s + (uint64_t)v[i] * (uint64_t)v[i]);
}
static void exact_max(int64_t *s, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] > *s) *s = v[i];
}
static void exact_min(int64_t *s, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] < *s) *s = v[i];
}

/* One output element: all blocks of the reduced elements that begin at `base`. */
static double float_one(const tg_tensor *x, const reduction *r, int64_t base, const rule *rule)
{
    double s[2] = {rule->start, 0}, v[TG_BLOCK];
    int64_t index[TG_MAX_RANK] = {0}, line = r->gone[r->n_gone - 1];
    int64_t inner = r->gone_stride[r->n_gone - 1];
    while (r->count) {
        for (int64_t at = 0; at < line; at += TG_BLOCK) {
            int64_t m = line - at < TG_BLOCK ? line - at : TG_BLOCK;
            tg_element_load_f64(x, base + at * inner, inner, m, v);
            rule->take(s, v, m);
        }
        int64_t move = step(r->gone, r->gone_stride, index, r->n_gone - 1);
        if (move == INT64_MIN) break;
        base += move;
    }
    return rule->end(s, (double)r->count);
}

/* The order of unsigned numbers of 64 bits is that of signed ones with the first bit flipped. */
static int64_t flip_of(tg_dtype t, const rule *rule)
{
    return t == TG_U64 && isinf(rule->start) ? INT64_MIN : 0;
}

/* The least or the greatest value of a type (flipped for U64), or the 0 or 1 of a sum, product. */
static int64_t exact_start(tg_dtype t, const rule *rule)
{
    if (!isinf(rule->start)) return (int64_t)rule->start;
    bool least = rule->start < 0;
    if (t == TG_BOOL) return !least;
    if (tg_dtype_size(t) == 8) return least ? INT64_MIN : INT64_MAX;
    int bits = (int)tg_dtype_size(t) * 8;
    if (tg_dtype_kind(t) == 'u') return least ? 0 : ((int64_t)1 << bits) - 1;
    return least ? -((int64_t)1 << (bits - 1)) : ((int64_t)1 << (bits - 1)) - 1;
}

static int64_t exact_one(const tg_tensor *x, const reduction *r, int64_t base, const rule *rule)
{
    int64_t s = exact_start(x->dtype, rule), flip = flip_of(x->dtype, rule), v[TG_BLOCK];
    int64_t index[TG_MAX_RANK] = {0}, line = r->gone[r->n_gone - 1];
    int64_t inner = r->gone_stride[r->n_gone - 1];
    void (*take)(int64_t *, const int64_t *, int64_t) = rule->exact;
    if (take == exact_absolute && tg_dtype_kind(x->dtype) == 'u') take = exact_sum;
    while (r->count) {
        for (int64_t at = 0; at < line; at += TG_BLOCK) {
            int64_t m = line - at < TG_BLOCK ? line - at : TG_BLOCK;
            tg_element_load_i64(x, base + at * inner, inner, m, v);
            for (int64_t i = 0; flip && i < m; i++) v[i] ^= flip;
            take(&s, v, m);
        }
        int64_t move = step(r->gone, r->gone_stride, index, r->n_gone - 1);
        if (move == INT64_MIN) break;
        base += move;
    }
    s ^= flip;
    return rule->end == end_mean && r->count ? s / r->count : s;
}

static unsigned axes_attr(const tg_call *call)
{
    const tg_attr *axes = call_attr(call, "axes");
    unsigned set = 0;
    for (uint32_t i = 0; i < axes->n; i++) set |= 1u << axes->ints[i];
    return set;
}

static tg_status reduce(tg_call *call, const rule *rule)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    TG_TRY(tg_element_numeric(x->dtype));
    reduction r = reduction_of(&x->shape, axes_attr(call));
    bool exact = !tg_element_float(x->dtype) && rule->exact;
    int64_t index[TG_MAX_RANK] = {0}, base = 0, n = tg_tensor_count(y);
    for (int64_t i = 0; i < n; i++) {
        if (exact) {
            int64_t v = exact_one(x, &r, base, rule);
            tg_element_store_i64(y, i, 1, &v);
        } else {
            double v = float_one(x, &r, base, rule);
            tg_element_store_f64(y, i, 1, &v);
        }
        if (i + 1 < n) base += step(r.kept, r.kept_stride, index, r.n_kept);
    }
    return TG_OK;
}

#define REDUCTION(op, ...)                                                                         \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        static const rule rule = {__VA_ARGS__};                                                    \
        return reduce(call, &rule);                                                                \
    }

REDUCTION(reduce_sum, 0, take_sum, end_same, exact_sum)
REDUCTION(reduce_mean, 0, take_sum, end_mean, exact_sum)
REDUCTION(reduce_max, -INFINITY, take_max, end_same, exact_max)
REDUCTION(reduce_min, INFINITY, take_min, end_same, exact_min)
REDUCTION(reduce_prod, 1, take_product, end_same, exact_product)
REDUCTION(reduce_l1, 0, take_absolute, end_same, exact_absolute)
REDUCTION(reduce_l2, 0, take_square, end_root, NULL)
REDUCTION(reduce_log_sum, 0, take_sum, end_log, NULL)
REDUCTION(reduce_log_sum_exp, -INFINITY, take_exp, end_exp, NULL)
REDUCTION(reduce_sum_square, 0, take_square, end_same, exact_square)
