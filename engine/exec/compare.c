/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing tensors. */
#include "verify.h"

#include "engine/ir/list.h"
#include "engine/ir/value.h"

#include <math.h>
#include <string.h>

/* What rounding may do, relative to the largest value: `least`, and `eps` an accumulated term. */
static void tolerance(tg_dtype t, double depth, double *absolute, double *relative)
{
    double eps = t == TG_F64 ? 1e-12 : t == TG_F16 ? 9.8e-4 : t == TG_BF16 ? 7.9e-3 : 1.2e-7;
    double root = sqrt(depth < 1 ? 1 : depth);
    double least = t == TG_F64 ? 1e-9 : t == TG_F32 ? 1e-5 : 4 * eps;
    *relative = fmax(least, fmin(16 * eps * root, 100 * least));
    *absolute = fmax(least / 10, eps * root);
}

static double scale_of(const tg_tensor *t, int64_t n)
{
    double scale = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = fabs(tg_tensor_f64(t, i));
        if (isfinite(x) && x > scale) scale = x;
    }
    return scale;
}

/* Equal without arithmetic: the same number, NaN and NaN, infinities of one sign. */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static tg_status compare_floats(const tg_tensor *want, const tg_tensor *got, double depth,
                                double *max_abs, double *max_relative)
{
    int64_t n = tg_tensor_count(want), worst = -1;
    double absolute, relative, scale = scale_of(want, n), most = 0;
    tolerance(want->dtype, depth, &absolute, &relative);
    double limit = absolute + relative * scale;
    for (int64_t i = 0; i < n; i++) {
        double a = tg_tensor_f64(want, i), b = tg_tensor_f64(got, i);
        if (same(a, b)) continue;
        double d = isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
        if (d > most) most = d;
        if (d > limit && worst < 0) worst = i;
    }
    *max_abs = most;
    *max_relative = scale > 0 ? most / scale : most;
    if (worst < 0) return TG_OK;
    return tg_fail(
        TG_DIFFERS, "element %lld is %.7g, not %.7g; the largest difference is %.3g of %.3g",
        (long long)worst, tg_tensor_f64(got, worst), tg_tensor_f64(want, worst), most, limit);
}

/* A string in a message: its first bytes. */
static int shown(const tg_string *s)
{
    return s->n < 40 ? (int)s->n : 40;
}

static const char *text(const tg_string *s)
{
    return s->n ? s->p : "";
}

static tg_status compare_strings(const tg_tensor *want, const tg_tensor *got)
{
    const tg_string *a = want->data, *b = got->data;
    int64_t n = tg_tensor_count(want);
    for (int64_t i = 0; i < n; i++)
        if (!tg_string_equal(&a[i], &b[i]))
            return tg_fail(TG_DIFFERS, "element %lld is '%.*s', not '%.*s'", (long long)i,
                           shown(&b[i]), text(&b[i]), shown(&a[i]), text(&a[i]));
    return TG_OK;
}

static tg_status compare_exactly(const tg_tensor *want, const tg_tensor *got)
{
    size_t size = tg_dtype_size(want->dtype);
    int64_t n = tg_tensor_count(want);
    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i * size;
        if (memcmp((char *)want->data + at, (char *)got->data + at, size) == 0) continue;
        return tg_fail(TG_DIFFERS, "element %lld is %lld, not %lld", (long long)i,
                       (long long)tg_tensor_i64(got, i), (long long)tg_tensor_i64(want, i));
    }
    return TG_OK;
}

/* Item by item; the largest differences of all. */
static tg_status compare_lists(const tg_tensor *want, const tg_tensor *got, double depth,
                               double *max_abs, double *max_relative)
{
    const tg_list *a = tg_list_of(want), *b = tg_list_of(got);
    if (a->n != b->n)
        return tg_fail(TG_DIFFERS, "items are %lld, not %lld", (long long)b->n, (long long)a->n);
    for (int64_t i = 0; i < a->n; i++) {
        double most, relative;
        tg_status status =
            tg_tensor_compare(&a->item[i].tensor, &b->item[i].tensor, depth, &most, &relative);
        *max_abs = fmax(*max_abs, most);
        *max_relative = fmax(*max_relative, relative);
        if (status != TG_OK) return tg_wrap(status, "item %lld", (long long)i);
    }
    return TG_OK;
}

tg_status tg_tensor_compare(const tg_tensor *want, const tg_tensor *got, double depth,
                            double *max_abs, double *max_relative)
{
    char a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
    *max_abs = *max_relative = 0;
    if (want->dtype != got->dtype)
        return tg_fail(TG_DIFFERS, "type is %s, not %s", tg_dtype_name(got->dtype),
                       tg_dtype_name(want->dtype));
    if (!tg_shape_equal(&want->shape, &got->shape))
        return tg_fail(TG_DIFFERS, "shape is %s, not %s", tg_shape_text(a, &got->shape),
                       tg_shape_text(b, &want->shape));
    if (tg_dtype_is_list(want->dtype))
        return compare_lists(want, got, depth, max_abs, max_relative);
    if (want->dtype == TG_STR) return compare_strings(want, got);
    if (tg_dtype_kind(want->dtype) == 'f')
        return compare_floats(want, got, depth, max_abs, max_relative);
    return compare_exactly(want, got);
}
