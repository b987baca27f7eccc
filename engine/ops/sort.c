/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What orders or runs along an axis: ArgMax, ArgMin, CumSum, CumProd, TopK, Unique, NonZero. */
#include "engine/ir/value.h"
#include "params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tensor as outer x n x inner around an axis. */
typedef struct lines {
    int64_t outer, n, inner;
} lines;

static lines lines_of(const tg_shape *shape, int64_t axis)
{
    lines l = {1, shape->dim[axis], 1};
    for (int64_t k = 0; k < axis; k++) l.outer *= shape->dim[k];
    for (int64_t k = axis + 1; k < shape->rank; k++) l.inner *= shape->dim[k];
    return l;
}

/* Numbers of any type in one order: integers exactly, floats with NaN above all. */
typedef struct key {
    bool nan;
    double f;
    int64_t i;
} key;

static key key_at(const tg_tensor *t, int64_t at)
{
    key k = {0};
    if (tg_element_float(t->dtype)) {
        tg_element_load_f64(t, at, 0, 1, &k.f);
        k.nan = isnan(k.f);
    } else {
        tg_element_load_i64(t, at, 0, 1, &k.i);
        if (t->dtype == TG_U64) k.i ^= INT64_MIN;
    }
    return k;
}

static int key_order(const key *a, const key *b)
{
    if (a->nan || b->nan) return a->nan - b->nan;
    if (a->f != b->f) return a->f < b->f ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

tg_status infer_arg(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    int64_t axis = 0;
    if (in->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    TG_TRY(infer_axis(infer, in->rank, &axis));
    if (in->dim[axis] == 0) return tg_fail(TG_SHAPE, "no extreme of axis %d of size 0", (int)axis);
    tg_shape out = {0};
    for (int64_t k = 0; k < in->rank; k++) {
        if (k != axis) out.dim[out.rank++] = in->dim[k];
        else if (tg_infer_attr(infer, "keepdims")->i) out.dim[out.rank++] = 1;
    }
    infer->out[0] = (tg_type){TG_I64, out};
    return TG_OK;
}

/* The first NaN is both the greatest and the least, as numpy has it. */
static int64_t arg_one(const tg_tensor *x, int64_t base, const lines *l, int sign, bool last)
{
    int64_t best = 0;
    key found = key_at(x, base);
    for (int64_t i = 1; i < l->n; i++) {
        key k = key_at(x, base + i * l->inner);
        if (found.nan && !last) break;
        int order = k.nan || found.nan ? k.nan - found.nan : sign * key_order(&k, &found);
        if (order > 0 || (order == 0 && last)) {
            best = i;
            found = k;
        }
    }
    return best;
}

static tg_status arg(tg_call *call, int sign)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_numeric(x->dtype));
    lines l = lines_of(&x->shape, call_attr(call, "axis")->i);
    bool last = call_attr(call, "select_last_index")->i != 0;
    int64_t *y = call->out[0].data;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t i = 0; i < l.inner; i++)
            *y++ = arg_one(x, o * l.n * l.inner + i, &l, sign, last);
    return TG_OK;
}

tg_status kernel_arg_max(tg_call *call)
{
    return arg(call, 1);
}

tg_status kernel_arg_min(tg_call *call)
{
    return arg(call, -1);
}

tg_status infer_cum_sum(tg_infer *infer)
{
    bool known;
    int64_t axis = 0;
    infer->out[0] = infer->in[0];
    TG_TRY(infer_number(infer, "axis", 1, &known));
    if (!known) {
        if (has_type(infer, 1)) return TG_OK;
        return tg_fail(TG_INVALID, "the axis is missing");
    }
    return infer_axis(infer, infer->in[0].shape.rank, &axis);
}

static tg_status cumsum_axis(const tg_call *call, int64_t *axis)
{
    const tg_attr *attr = call_attr(call, "axis");
    if (attr->kind == TG_ATTR_INT) *axis = attr->i;
    else {
        if (!has_input(call, 1) || tg_tensor_count(&call->in[1]) != 1)
            return tg_fail(TG_SHAPE, "the axis is not one number");
        *axis = tg_tensor_i64(&call->in[1], 0);
    }
    return tg_axis_normalise(*axis, call->in[0].shape.rank, axis);
}

/* A running sum or product: of floats in f, of integers in i, wrapping. */
typedef struct running {
    double f;
    int64_t i;
} running;

static void run_on(running *r, const tg_tensor *x, int64_t at, bool floats, bool product)
{
    if (floats) {
        double v = tg_tensor_f64(x, at);
        r->f = product ? r->f * v : r->f + v;
        return;
    }
    uint64_t v = (uint64_t)tg_tensor_i64(x, at), so_far = (uint64_t)r->i;
    r->i = (int64_t)(product ? so_far * v : so_far + v);
}

static tg_status accumulate(tg_call *call, bool product)
{
    const tg_tensor *x = &call->in[0];
    int64_t axis = 0;
    TG_TRY(tg_element_numeric(x->dtype));
    TG_TRY(cumsum_axis(call, &axis));
    bool exclusive = call_attr(call, "exclusive")->i, reverse = call_attr(call, "reverse")->i;
    lines l = lines_of(&x->shape, axis);
    bool floats = tg_element_float(x->dtype);
    for (int64_t line = 0; line < l.outer * l.inner; line++) {
        int64_t base = line / l.inner * l.n * l.inner + line % l.inner;
        running now = {product, product};
        for (int64_t i = 0; i < l.n; i++) {
            int64_t at = base + (reverse ? l.n - 1 - i : i) * l.inner;
            running before = now;
            run_on(&now, x, at, floats, product);
            const running *r = exclusive ? &before : &now;
            if (floats) tg_element_store_f64(&call->out[0], at, 1, &r->f);
            else tg_element_store_i64(&call->out[0], at, 1, &r->i);
        }
    }
    return TG_OK;
}

tg_status kernel_cum_sum(tg_call *call)
{
    return accumulate(call, false);
}

tg_status kernel_cum_prod(tg_call *call)
{
    return accumulate(call, true);
}

tg_status infer_top_k(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    int64_t axis = 0;
    bool known;
    if (in->rank == 0) return tg_fail(TG_SHAPE, "a scalar has no axis");
    TG_TRY(infer_axis(infer, in->rank, &axis));
    TG_TRY(infer_number(infer, "k", 1, &known));
    infer->out[0].dtype = infer->in[0].dtype;
    if (infer->n_out > 1) infer->out[1].dtype = TG_I64;
    if (!known && has_type(infer, 1)) return TG_OK;
    if (!known) return tg_fail(TG_INVALID, "k is missing");
    int64_t k = tg_infer_attr(infer, "k")->i;
    if (k < 0 || k > in->dim[axis])
        return tg_fail(TG_SHAPE, "k is %lld, axis %d has %lld elements", (long long)k, (int)axis,
                       (long long)in->dim[axis]);
    infer->out[0].shape = *in;
    infer->out[0].shape.dim[axis] = k;
    if (infer->n_out > 1) infer->out[1].shape = infer->out[0].shape;
    return TG_OK;
}

/* An element of a line and its place; `sign` -1 puts the greatest first. */
typedef struct ranked {
    key key;
    int64_t at;
    int sign;
} ranked;

static int rank_order(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    int order = a->sign * key_order(&a->key, &b->key);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

tg_status kernel_top_k(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_numeric(x->dtype));
    int64_t axis = call_attr(call, "axis")->i, k = call_attr(call, "k")->i;
    int sign = call_attr(call, "largest")->i ? -1 : 1;
    lines l = lines_of(&x->shape, axis);
    size_t size = tg_dtype_size(x->dtype);
    ranked *r = TG_NEW_ARRAY(call->arena, ranked, l.n + 1);
    for (int64_t line = 0; line < l.outer * l.inner; line++) {
        int64_t outer = line / l.inner, inner = line % l.inner,
                base = outer * l.n * l.inner + inner;
        for (int64_t i = 0; i < l.n; i++) r[i] = (ranked){key_at(x, base + i * l.inner), i, sign};
        qsort(r, (size_t)l.n, sizeof *r, rank_order);
        for (int64_t i = 0; i < k; i++) {
            int64_t to = (outer * k + i) * l.inner + inner;
            memcpy(tg_element_at(&call->out[0], to), tg_element_at(x, base + r[i].at * l.inner),
                   size);
            if (call->n_out > 1) ((int64_t *)call->out[1].data)[to] = r[i].at;
        }
    }
    return TG_OK;
}

static void complex_at(const tg_tensor *x, int64_t i, double *re, double *im)
{
    bool wide = x->dtype == TG_C128;
    const double *d = x->data;
    const float *f = x->data;
    *re = wide ? d[2 * i] : (double)f[2 * i];
    *im = wide ? d[2 * i + 1] : (double)f[2 * i + 1];
}

tg_status infer_non_zero(tg_infer *infer)
{
    infer->out[0].dtype = TG_I64;
    return TG_OK;
}

/* A string that is not empty counts as not 0. */
static bool is_zero(const tg_tensor *x, int64_t i)
{
    double re, im;
    if (x->dtype == TG_STR) return ((const tg_string *)x->data)[i].n == 0;
    if (tg_dtype_kind(x->dtype) != 'c') return tg_tensor_f64(x, i) == 0;
    complex_at(x, i, &re, &im);
    return re == 0 && im == 0;
}

tg_status kernel_non_zero(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    int64_t n = tg_tensor_count(x), found = 0, rank = x->shape.rank;
    for (int64_t i = 0; i < n; i++) found += !is_zero(x, i);
    tg_call_alloc(call, 0, TG_I64, tg_shape_of(rank, found));
    int64_t *y = call->out[0].data, at = 0;
    for (int64_t i = 0; i < n; i++) {
        if (is_zero(x, i)) continue;
        int64_t rest = i;
        for (int64_t k = rank - 1; k >= 0; k--) {
            y[k * found + at] = rest % x->shape.dim[k];
            rest /= x->shape.dim[k];
        }
        at++;
    }
    return TG_OK;
}

tg_status infer_unique(tg_infer *infer)
{
    tg_attr *axis = tg_infer_attr(infer, "axis");
    if (axis->kind == TG_ATTR_INT)
        TG_TRY(tg_axis_normalise(axis->i, infer->in[0].shape.rank, &axis->i));
    infer->out[0].dtype = infer->in[0].dtype;
    for (int i = 1; i < infer->n_out; i++) infer->out[i].dtype = TG_I64;
    return TG_OK;
}

/* Slices along an axis: outer x n x inner elements, compared in row-major order. */
typedef struct slice {
    const tg_tensor *x;
    const lines *l;
    int64_t at;    /* along the axis */
    int64_t first; /* where its like stands first */
} slice;

/* Complex numbers by their real parts first. */
static int element_order(const tg_tensor *x, int64_t a, int64_t b)
{
    key ka = {0}, kb = {0};
    const tg_string *s = x->data;
    if (x->dtype == TG_STR) return tg_string_order(&s[a], &s[b]);
    if (tg_dtype_kind(x->dtype) != 'c') {
        ka = key_at(x, a);
        kb = key_at(x, b);
        return key_order(&ka, &kb);
    }
    double part[2][2];
    complex_at(x, a, &part[0][0], &part[0][1]);
    complex_at(x, b, &part[1][0], &part[1][1]);
    for (int k = 0; k < 2; k++) {
        ka = (key){.f = part[0][k], .nan = isnan(part[0][k])};
        kb = (key){.f = part[1][k], .nan = isnan(part[1][k])};
        int order = key_order(&ka, &kb);
        if (order) return order;
    }
    return 0;
}

static int slice_order(const slice *a, const slice *b)
{
    for (int64_t o = 0; o < a->l->outer; o++)
        for (int64_t i = 0; i < a->l->inner; i++) {
            int64_t base = o * a->l->n * a->l->inner + i;
            int order = element_order(a->x, base + a->at * a->l->inner, base + b->at * a->l->inner);
            if (order) return order;
        }
    return 0;
}

static int slice_sort(const void *pa, const void *pb)
{
    const slice *a = pa, *b = pb;
    int order = slice_order(a, b);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

static int first_sort(const void *pa, const void *pb)
{
    const slice *a = pa, *b = pb;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Sorts the slices into runs of equal ones; NaN equals NaN. */
static slice *runs_of(tg_call *call, const tg_tensor *x, const lines *l, bool sorted)
{
    slice *s = TG_NEW_ARRAY(call->arena, slice, l->n + 1);
    for (int64_t i = 0; i < l->n; i++) s[i] = (slice){x, l, i, i};
    qsort(s, (size_t)l->n, sizeof *s, slice_sort);
    for (int64_t i = 1; i < l->n; i++)
        if (slice_order(&s[i - 1], &s[i]) == 0) s[i].first = s[i - 1].first;
    if (!sorted) qsort(s, (size_t)l->n, sizeof *s, first_sort);
    return s;
}

/* The optional outputs: places of the first, place of each among the unique, numbers of each. */
static void unique_places(tg_call *call, const slice *s, int64_t n, int64_t found)
{
    for (int i = 1; i < call->n_out; i++)
        tg_call_alloc(call, i, TG_I64, tg_shape_of(i == 2 ? n : found));
    int64_t *first = call->n_out > 1 ? call->out[1].data : NULL;
    int64_t *inverse = call->n_out > 2 ? call->out[2].data : NULL;
    int64_t *count = call->n_out > 3 ? call->out[3].data : NULL;
    for (int64_t i = 0, run = -1; i < n; i++) {
        run += s[i].at == s[i].first;
        if (first) first[run] = s[i].first;
        if (inverse) inverse[s[i].at] = run;
        if (count) count[run]++;
    }
}

tg_status kernel_unique(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    if (x->dtype != TG_STR && tg_dtype_kind(x->dtype) != 'c') TG_TRY(tg_element_numeric(x->dtype));
    const tg_attr *axis = call_attr(call, "axis");
    bool whole = axis->kind != TG_ATTR_INT;
    lines l = whole ? (lines){1, tg_tensor_count(x), 1} : lines_of(&x->shape, axis->i);
    slice *s = runs_of(call, x, &l, call_attr(call, "sorted")->i != 0);
    int64_t found = 0;
    for (int64_t i = 0; i < l.n; i++) found += s[i].at == s[i].first;
    tg_shape shape = whole ? tg_shape_of(found) : x->shape;
    if (!whole) shape.dim[axis->i] = found;
    tg_call_alloc(call, 0, x->dtype, shape);
    size_t size = tg_dtype_size(x->dtype) * (size_t)l.inner;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t i = 0, run = 0; i < l.n; i++) {
            if (s[i].at != s[i].first) continue;
            memcpy((char *)call->out[0].data + (size_t)(o * found + run++) * size,
                   (const char *)x->data + (size_t)(o * l.n + s[i].at) * size, size);
        }
    unique_places(call, s, l.n, found);
    return TG_OK;
}
