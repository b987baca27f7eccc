/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators of one input. */
#include "eltwise.h"

#include <math.h>

tg_status infer_test(tg_infer *infer)
{
    infer->out[0] = (tg_type){TG_BOOL, infer->in[0].shape};
    return TG_OK;
}

tg_status infer_clip(tg_infer *infer)
{
    for (int slot = 1; slot < 3; slot++) {
        if (!has_type(infer, slot)) continue;
        if (infer->in[slot].dtype != infer->in[0].dtype)
            return tg_fail(TG_TYPE, "bound of type %s for elements of type %s",
                           tg_dtype_name(infer->in[slot].dtype), tg_dtype_name(infer->in[0].dtype));
        if (tg_shape_count(&infer->in[slot].shape) != 1)
            return tg_fail(TG_SHAPE, "a bound is not one number");
    }
    return infer_same(infer);
}

tg_status infer_prelu(tg_infer *infer)
{
    TG_TRY(infer_broadcast(infer));
    if (!tg_shape_equal(&infer->out[0].shape, &infer->in[0].shape))
        return tg_fail(TG_SHAPE, "the slope does not broadcast to the input");
    return TG_OK;
}

/* The float attributes named, as the parameters p[0], p[1] of a loop. */
static void parameters(const tg_call *call, const char *const *names, double *p)
{
    for (int i = 0; i < 2 && names[i]; i++) p[i] = call_attr(call, names[i])->f;
}

/* An operator on floats: a formula in double, rounded once. */
#define FLOATS_WITH(op, expr, ...)                                                                 \
    TG_ROW1(op, F64, double, expr)                                                                 \
    static void op##_F32(const void *px, void *py, int64_t n, const double *p)                     \
    {                                                                                              \
        const float *xs = px;                                                                      \
        float *y = py;                                                                             \
        (void)p;                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            double x = xs[i];                                                                      \
            y[i] = (float)(expr);                                                                  \
        }                                                                                          \
    }                                                                                              \
    static tg_rows1 op##_rows = {TG_ROWS_OF_FLOATS(op)};                                           \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        double p[2] = {0};                                                                         \
        parameters(call, (const char *const[]){__VA_ARGS__}, p);                                   \
        return tg_eltwise_unary(call, op##_rows, p);                                               \
    }
#define FLOATS(op, expr) FLOATS_WITH(op, expr, NULL)

static double sigmoid_of(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double softplus_of(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Into [lo, hi]; NaN stays. */
static inline double bounded(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* clang-format off */
FLOATS(floor, floor(x))
FLOATS(ceil, ceil(x))
FLOATS(round, rint(x))
FLOATS(sqrt, sqrt(x))
FLOATS(reciprocal, 1 / x)
FLOATS(exp, exp(x))
FLOATS(log, log(x))
FLOATS(sin, sin(x))
FLOATS(cos, cos(x))
FLOATS(tan, tan(x))
FLOATS(asin, asin(x))
FLOATS(acos, acos(x))
FLOATS(atan, atan(x))
FLOATS(sinh, sinh(x))
FLOATS(cosh, cosh(x))
FLOATS(tanh, tanh(x))
FLOATS(asinh, asinh(x))
FLOATS(acosh, acosh(x))
FLOATS(atanh, atanh(x))
FLOATS(erf, erf(x))
FLOATS(sigmoid, sigmoid_of(x))
FLOATS(softplus, softplus_of(x))
FLOATS(softsign, x / (1 + fabs(x)))
FLOATS(mish, x * tanh(softplus_of(x)))
FLOATS(hard_swish, x * bounded(x / 6 + 0.5, 0, 1))
FLOATS_WITH(hard_sigmoid, bounded(p[0] * x + p[1], 0, 1), "alpha", "beta")
FLOATS_WITH(swish, x * sigmoid_of(p[0] * x), "alpha", NULL)
FLOATS_WITH(elu, x < 0 ? p[0] * expm1(x) : x, "alpha", NULL)
FLOATS_WITH(selu, x <= 0 ? p[1] * p[0] * expm1(x) : p[1] * x, "alpha", "gamma")
FLOATS_WITH(celu, x < 0 ? p[0] * expm1(x / p[0]) : x, "alpha", NULL)
FLOATS_WITH(leaky_relu, x < 0 ? p[0] * x : x, "alpha", NULL)
FLOATS_WITH(thresholded_relu, x > p[0] ? x : 0, "alpha", NULL)
/* clang-format on */

#define SIGNED(op, for_signed, for_unsigned)                                                       \
    TG_EACH_FLOAT(TG_ROW1, op, for_signed)                                                         \
    TG_EACH_SIGNED(TG_ROW1, op, for_signed)                                                        \
    TG_EACH_UNSIGNED(TG_ROW1, op, for_unsigned)                                                    \
    static tg_rows1 op##_rows = {TG_ROWS_OF_FLOATS(op), TG_ROWS_OF_INTS(op)};                      \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        return tg_eltwise_unary(call, op##_rows, NULL);                                            \
    }

/* NaN stays NaN in each. The least integer has no opposite: it wraps to itself. */
SIGNED(relu, x < 0 ? 0 : x, x)
SIGNED(sign, x > 0 ? 1 : x < 0 ? -1 : x, x > 0)

TG_EACH_FLOAT(TG_ROW1, neg, -x)
TG_EACH_INT(TG_ROW1, neg, (uint64_t)0 - (uint64_t)x)
static tg_rows1 neg_rows = {TG_ROWS_OF_FLOATS(neg), TG_ROWS_OF_INTS(neg)};
tg_status kernel_neg(tg_call *call)
{
    return tg_eltwise_unary(call, neg_rows, NULL);
}

TG_EACH_FLOAT(TG_ROW1, abs, fabs(x))
TG_EACH_INT(TG_ROW1, abs, x > 0 ? (uint64_t)x : (uint64_t)0 - (uint64_t)x)
static tg_rows1 abs_rows = {TG_ROWS_OF_FLOATS(abs), TG_ROWS_OF_INTS(abs)};
tg_status kernel_abs(tg_call *call)
{
    return tg_eltwise_unary(call, abs_rows, NULL);
}

#define SHRINK(x) ((x) < -p[0] ? (x) + p[1] : (x) > p[0] ? (x)-p[1] : 0)
TG_EACH_FLOAT(TG_ROW1, shrink, SHRINK((double)x))
TG_EACH_INT(TG_ROW1, shrink, SHRINK((double)x))
static tg_rows1 shrink_rows = {TG_ROWS_OF_FLOATS(shrink), TG_ROWS_OF_INTS(shrink)};
tg_status kernel_shrink(tg_call *call)
{
    double p[] = {call_attr(call, "lambd")->f, call_attr(call, "bias")->f};
    return tg_eltwise_unary(call, shrink_rows, p);
}

TG_EACH_INT(TG_ROW1, bitwise_not, ~(uint64_t)x)
static tg_rows1 bitwise_not_rows = {TG_ROWS_OF_INTS(bitwise_not)};
tg_status kernel_bitwise_not(tg_call *call)
{
    return tg_eltwise_unary(call, bitwise_not_rows, NULL);
}

TG_ROW1(not, BOOL, uint8_t, x == 0)
static tg_rows1 not_rows = {[TG_BOOL] = not_BOOL};
tg_status kernel_not(tg_call *call)
{
    return tg_eltwise_unary(call, not_rows, NULL);
}

#define TESTS(op, expr)                                                                            \
    TG_ROW1_TO(op, F32, float, uint8_t, expr)                                                      \
    TG_ROW1_TO(op, F64, double, uint8_t, expr)                                                     \
    static tg_rows1 op##_rows = {TG_ROWS_OF_FLOATS(op)};

/* The same of narrow floats, element by element. */
static tg_status test_narrow(tg_call *call,
                             void (*test)(const void *, void *, int64_t, const double *),
                             const double *p)
{
    for (int64_t i = 0; i < tg_tensor_count(&call->in[0]); i++) {
        double x = tg_tensor_f64(&call->in[0], i);
        test(&x, tg_element_at(&call->out[0], i), 1, p);
    }
    return TG_OK;
}

TESTS(is_nan, isnan(x) != 0)
tg_status kernel_is_nan(tg_call *call)
{
    if (tg_narrow_is_float(call->in[0].dtype)) return test_narrow(call, is_nan_F64, NULL);
    return tg_eltwise_unary(call, is_nan_rows, NULL);
}

TESTS(is_inf, isinf(x) && (x > 0 ? p[0] : p[1]) != 0)
tg_status kernel_is_inf(tg_call *call)
{
    double p[] = {(double)call_attr(call, "detect_positive")->i,
                  (double)call_attr(call, "detect_negative")->i};
    if (tg_narrow_is_float(call->in[0].dtype)) return test_narrow(call, is_inf_F64, p);
    return tg_eltwise_unary(call, is_inf_rows, p);
}

TG_EACH_FLOAT(TG_ROW1, clip_float, bounded(x, p[0], p[1]))
static tg_rows1 clip_rows = {TG_ROWS_OF_FLOATS(clip_float)};

/* The bound as attribute or input; false if there is none. */
static bool clip_bound(const tg_call *call, const char *name, int slot, double *f, int64_t *i)
{
    const tg_attr *attr = call_attr(call, name);
    if (attr->kind == TG_ATTR_FLOAT) {
        *f = attr->f;
        *i = tg_element_truncate(attr->f);
    } else if (has_input(call, slot)) {
        tg_element_load_f64(&call->in[slot], 0, 0, 1, f);
        tg_element_load_i64(&call->in[slot], 0, 0, 1, i);
    } else return false;
    return true;
}

static tg_status clip_integers(tg_call *call, bool has_lo, int64_t lo, bool has_hi, int64_t hi)
{
    int64_t n = tg_tensor_count(&call->in[0]), v[TG_BLOCK];
    /* In this order 64-bit unsigned numbers compare as signed ones. */
    int64_t flip = call->in[0].dtype == TG_U64 ? INT64_MIN : 0;
    for (int64_t at = 0; at < n; at += TG_BLOCK) {
        int64_t m = n - at < TG_BLOCK ? n - at : TG_BLOCK;
        tg_element_load_i64(&call->in[0], at, 1, m, v);
        for (int64_t i = 0; i < m; i++) {
            if (has_lo && (v[i] ^ flip) < (lo ^ flip)) v[i] = lo;
            if (has_hi && (v[i] ^ flip) > (hi ^ flip)) v[i] = hi;
        }
        tg_element_store_i64(&call->out[0], at, m, v);
    }
    return TG_OK;
}

tg_status kernel_clip(tg_call *call)
{
    double p[2] = {-INFINITY, INFINITY};
    int64_t lo = 0, hi = 0;
    bool has_lo = clip_bound(call, "min", 1, &p[0], &lo);
    bool has_hi = clip_bound(call, "max", 2, &p[1], &hi);
    if (tg_element_integer(call->in[0].dtype)) return clip_integers(call, has_lo, lo, has_hi, hi);
    if (p[0] > p[1]) p[0] = p[1];
    return tg_eltwise_unary(call, clip_rows, p);
}

/* The slope holds for what is below zero. */
TG_EACH_FLOAT(TG_ROW2, prelu, a < 0 ? a * b : a)
TG_EACH_INT(TG_ROW2, prelu, a > 0 || a == 0 ? (uint64_t)a : (uint64_t)a * (uint64_t)b)
static tg_rows2 prelu_rows = {TG_ROWS_OF_FLOATS(prelu), TG_ROWS_OF_INTS(prelu)};
tg_status kernel_prelu(tg_call *call)
{
    return tg_eltwise_binary(call, prelu_rows);
}

tg_status infer_swiglu(tg_infer *infer)
{
    TG_TRY(infer_broadcast(infer));
    if (!tg_element_float(infer->in[0].dtype))
        return tg_fail(TG_TYPE, "the gate is of type %s", tg_dtype_name(infer->in[0].dtype));
    if (!tg_shape_equal(&infer->in[0].shape, &infer->in[1].shape))
        return tg_fail(TG_SHAPE, "gate and value differ in shape");
    return TG_OK;
}

tg_status kernel_swiglu(tg_call *call)
{
    double alpha = call_attr(call, "alpha")->f, a[TG_BLOCK], b[TG_BLOCK];
    int64_t n = tg_tensor_count(&call->in[0]);
    for (int64_t at = 0; at < n; at += TG_BLOCK) {
        int64_t m = n - at < TG_BLOCK ? n - at : TG_BLOCK;
        tg_element_load_f64(&call->in[0], at, 1, m, a);
        tg_element_load_f64(&call->in[1], at, 1, m, b);
        for (int64_t i = 0; i < m; i++) a[i] = a[i] / (1 + exp(-alpha * a[i])) * b[i];
        tg_element_store_f64(&call->out[0], at, m, a);
    }
    return TG_OK;
}
