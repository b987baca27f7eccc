/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loops of element-wise programs, included once for each instruction set by vector.c, which
 * defines NAME(x), a suffix for the functions, and TARGET, their attribute.
 */

/* Sixteen floats at any address; the compiler splits them where registers are narrower. */
typedef float NAME(v) __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t NAME(vi) __attribute__((vector_size(64), aligned(4), may_alias));
#define V NAME(v)
#define VI NAME(vi)
#define INLINE static inline __attribute__((always_inline)) TARGET

/* The elements of b where the mask is set, else those of a. */
INLINE V NAME(choose)(VI mask, V b, V a)
{
    return (V)((mask & (VI)b) | (~mask & (VI)a));
}

INLINE V NAME(all)(float x)
{
    return (V){0} + x;
}

INLINE V NAME(least)(V x, float k)
{
    return NAME(choose)(x > k, NAME(all)(k), x);
}

/* Cody-Waite reduction and the polynomial of Cephes' expf; relative error below 2e-7. */
INLINE V NAME(exp)(V x)
{
    V in = NAME(choose)(x < -87.3f, NAME(all)(-87.3f), x);
    in = NAME(choose)(in > 88.7f, NAME(all)(88.7f), in);
    V t = in * 1.44269504f + 12582912.0f; /* the rounding lies in the addition */
    V n = t - 12582912.0f;
    V r = in - n * 0.693359375f + n * 2.12194440e-4f;
    V p = NAME(all)(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    V y = p * r * r + r + 1.0f;
    VI e = __builtin_convertvector(n, VI) + 127;
    y = y * (V)(e << 23);
    y = NAME(choose)(x < -87.3f, NAME(all)(0), y);
    y = NAME(choose)(x > 88.7f, NAME(all)(__builtin_inff()), y);
    return NAME(choose)(x == x, y, x);
}

INLINE V NAME(sigmoid)(V x)
{
    return 1.0f / (1.0f + NAME(exp)(-x));
}

/* Cephes' tanhf: a polynomial near 0, the exponential elsewhere. */
INLINE V NAME(tanh)(V x)
{
    V z = x * x;
    V p = NAME(all)(-5.70498872745e-3f);
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    V near = p * z * x + x;
    V far = 1.0f - 2.0f / (NAME(exp)(x + x) + 1.0f);
    return NAME(choose)(z < 0.390625f, near, far);
}

/* Formula 7.1.26 of Abramowitz and Stegun, error below 1.5e-7; a series near 0, where the relative
 * error counts. */
INLINE V NAME(erf)(V x)
{
    V z = x * x;
    V a = (V)((VI)x & 0x7fffffff);
    V t = 1.0f / (1.0f + 0.3275911f * a);
    V p = NAME(all)(1.061405429f);
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    V far = 1.0f - p * t * NAME(exp)(-z);
    far = (V)((VI)far | ((VI)x & (int32_t)0x80000000));
    V s = NAME(all)(-8.54832e-4f);
    s = s * z + 5.223978e-3f;
    s = s * z - 2.6866170e-2f;
    s = s * z + 1.12837917e-1f;
    s = s * z - 3.76126389e-1f;
    s = s * z + 1.128379167f;
    return NAME(choose)(z < 0.25f, s * x, far);
}

/* Cephes' logf; what is below the normal numbers is scaled as a whole number. */
INLINE V NAME(log)(V x)
{
    VI tiny = ((VI)x < 0x00800000) & ((VI)x > 0);
    V scaled = NAME(choose)(tiny, __builtin_convertvector((VI)x, V), x);
    VI bits = (VI)scaled;
    VI e = ((bits >> 23) & 0xff) - 126;
    V m = (V)((bits & 0x7fffff) | 0x3f000000); /* in [1/2, 1) */
    VI low = m < 0.707106781186547524f;
    m = NAME(choose)(low, m + m, m) - 1.0f;
    V n = __builtin_convertvector(e + low - (tiny & 149), V);
    V z = m * m;
    V p = NAME(all)(7.0376836292e-2f);
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    V y = p * m * z + n * -2.12194440e-4f - 0.5f * z;
    y = m + y + n * 0.693359375f;
    y = NAME(choose)((VI)x == 0x7f800000, x, y);
    y = NAME(choose)(((VI)x & 0x7fffffff) == 0, NAME(all)(-__builtin_inff()), y);
    VI bad = (((VI)x < 0) & (((VI)x & 0x7fffffff) != 0)) | (x != x);
    return NAME(choose)(bad, NAME(all)(__builtin_nanf("")), y);
}

/* max(x, 0) + log(1 + exp(-|x|)), the rounding of the sum made good. */
INLINE V NAME(softplus)(V x)
{
    V u = NAME(exp)((V)((VI)x | (int32_t)0x80000000));
    V w = 1.0f + u;
    V y = NAME(log)(w) + (u - (w - 1.0f)) / w;
    return NAME(choose)(x < 0.0f, (V){0}, x) + y;
}

/* Cephes' sinf and cosf after a reduction in three parts: good for |x| below SMALL_ANGLE. */
INLINE V NAME(wave)(V x, int quarter)
{
    V t = x * 0.636619772f + 12582912.0f;
    V n = t - 12582912.0f;
    VI q = __builtin_convertvector(n, VI) + quarter;
    V r = x - n * 1.5703125f - n * 4.837512969970703125e-4f - n * 7.54978995489188216e-8f;
    V z = r * r;
    V s = NAME(all)(-1.9515295891e-4f);
    s = s * z + 8.3321608736e-3f;
    s = s * z - 1.6666654611e-1f;
    s = s * z * r + r;
    V c = NAME(all)(2.443315711809948e-5f);
    c = c * z - 1.388731625493765e-3f;
    c = c * z + 4.166664568298827e-2f;
    c = c * z * z - 0.5f * z + 1.0f;
    V y = NAME(choose)((q & 1) != 0, c, s);
    return (V)((VI)y ^ ((q & 2) << 30));
}

TARGET static bool NAME(small_angles)(const float *x, int n)
{
    for (int i = 0; i < 16 * n; i++)
        if (!(x[i] < SMALL_ANGLE && x[i] > -SMALL_ANGLE)) return false;
    return true;
}

#define EACH(expr)                                                                                 \
    for (int i = 0; i < n; i++) {                                                                  \
        V a = va[i];                                                                               \
        to[i] = (expr);                                                                            \
    }                                                                                              \
    break
#define EACH2(expr)                                                                                \
    for (int i = 0; i < n; i++) {                                                                  \
        V a = va[i], b = vb[i];                                                                    \
        to[i] = (expr);                                                                            \
    }                                                                                              \
    break
#define ONE_BY_ONE(expr)                                                                           \
    for (int i = 0; i < 16 * n; i++) {                                                             \
        float a = ((const float *)va)[i];                                                          \
        ((float *)to)[i] = (expr);                                                                 \
    }                                                                                              \
    break

/* The functions that are not arithmetic. n: groups of sixteen. */
TARGET static void NAME(apply_function)(const tg_vector_op *op, const float *pa, const float *pb,
                                        float *pto, int n)
{
    const V *va = (const V *)pa;
    V *to = (V *)pto;
    float k0 = op->k0, k1 = op->k1;
    switch (op->code) {
    case TG_V_SQRT: EACH((V)SQRT(a));
    case TG_V_POWK: ONE_BY_ONE(powf(a, k0));
    case TG_V_SOFTPLUS: EACH(NAME(softplus)(a));
    case TG_V_LOG: EACH(NAME(log)(a));
    case TG_V_SIN:
        if (!NAME(small_angles)(pa, n)) {
            ONE_BY_ONE(sinf(a));
        }
        EACH(NAME(wave)(a, 0));
    case TG_V_COS:
        if (!NAME(small_angles)(pa, n)) {
            ONE_BY_ONE(cosf(a));
        }
        EACH(NAME(wave)(a, 1));
    case TG_V_SOFTSIGN: EACH(a / (1.0f + (V)((VI)a & 0x7fffffff)));
    case TG_V_ABOVE: EACH(NAME(choose)(a > k0, a, (V){0}));
    case TG_V_SHRINK: EACH(NAME(choose)(a < -k1, a + k0, NAME(choose)(a > k1, a - k0, (V){0})));
    case TG_V_TAN: ONE_BY_ONE(tanf(a));
    case TG_V_ASIN: ONE_BY_ONE(asinf(a));
    case TG_V_ACOS: ONE_BY_ONE(acosf(a));
    case TG_V_ATAN: ONE_BY_ONE(atanf(a));
    case TG_V_SINH: ONE_BY_ONE(sinhf(a));
    case TG_V_COSH: ONE_BY_ONE(coshf(a));
    case TG_V_ASINH: ONE_BY_ONE(asinhf(a));
    case TG_V_ACOSH: ONE_BY_ONE(acoshf(a));
    case TG_V_ATANH: ONE_BY_ONE(atanhf(a));
    case TG_V_FLOOR: ONE_BY_ONE(floorf(a));
    case TG_V_CEIL: ONE_BY_ONE(ceilf(a));
    case TG_V_ROUND: ONE_BY_ONE(rintf(a));
    case TG_V_SIGN: ONE_BY_ONE(a > 0 ? 1.0f : a < 0 ? -1.0f : a);
    case TG_V_POW:
        for (int i = 0; i < 16 * n; i++) pto[i] = powf(pa[i], pb[i]);
        break;
    default: break;
    }
}

/* n: groups of sixteen. */
TARGET static void NAME(apply)(const tg_vector_op *op, const float *pa, const float *pb, float *pto,
                               int n)
{
    const V *va = (const V *)pa, *vb = (const V *)pb;
    V *to = (V *)pto;
    float k0 = op->k0, k1 = op->k1;
    switch (op->code) {
    case TG_V_ADD: EACH2(a + b);
    case TG_V_SUB: EACH2(a - b);
    case TG_V_MUL: EACH2(a * b);
    case TG_V_DIV: EACH2(a / b);
    case TG_V_MIN: EACH2(NAME(choose)((a < b) | (a != a), a, b));
    case TG_V_MAX: EACH2(NAME(choose)((a > b) | (a != a), a, b));
    case TG_V_PRELU: EACH2(NAME(choose)(a < 0.0f, a * b, a));
    case TG_V_ADDK: EACH(a + k0);
    case TG_V_MULK: EACH(a * k0);
    case TG_V_RSUBK: EACH(k0 - a);
    case TG_V_RDIVK: EACH(k0 / a);
    case TG_V_RELU: EACH(NAME(choose)(a < 0.0f, (V){0}, a));
    case TG_V_LEAKY: EACH(NAME(choose)(a < 0.0f, a * k0, a));
    case TG_V_CLIP: /* the upper bound wins where they cross */
        EACH(NAME(least)(NAME(choose)(a < k0, NAME(all)(k0), a), k1));
    case TG_V_ABS: EACH((V)((VI)a & 0x7fffffff));
    case TG_V_NEG: EACH(-a);
    case TG_V_SQUARE: EACH(a * a);
    case TG_V_EXP: EACH(NAME(exp)(a));
    case TG_V_SIGMOID: EACH(NAME(sigmoid)(a));
    case TG_V_TANH: EACH(NAME(tanh)(a));
    case TG_V_ERF: EACH(NAME(erf)(a));
    case TG_V_ELU: EACH(NAME(choose)(a < 0.0f, k0 * (NAME(exp)(a) - 1.0f), a));
    default: NAME(apply_function)(op, pa, pb, pto, n); break;
    }
}

TARGET static void NAME(program)(const tg_vector *p, const float **in, float *const *scratch, int n)
{
    for (int i = 0; i < p->n_ops; i++) {
        const tg_vector_op *op = &p->ops[i];
        NAME(apply)(op, in[op->a], in[op->b], scratch[op->to], n);
    }
}

#undef V
#undef VI
#undef INLINE
#undef EACH
#undef EACH2
#undef ONE_BY_ONE
