/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "type.h"

#include <math.h>

/* What a format has besides numbers. */
typedef enum special {
    SATURATES, /* nothing: what is not a number is a zero */
    IEEE,      /* infinities and NaN in the last exponent */
    LAST_NAN,  /* NaN with all bits but the sign set */
    ZERO_NAN   /* NaN in the place of minus 0 */
} special;

/* Sign, exponent and mantissa, from the highest bit on; exponent 0 is below the normal numbers. */
typedef struct format {
    int bits, exponent, mantissa, bias;
    special special;
    double largest;
} format;

/* Micikevicius et al., FP8 Formats for Deep Learning, 2022; Noune et al., 8-bit Numerical Formats,
 * 2022 (the two whose minus 0 is NaN); OCP Microscaling Formats, 2023. */
static const format formats[TG_DTYPE_COUNT] = {
    [TG_E4M3FN] = {8, 4, 3, 7, LAST_NAN, 448}, [TG_E4M3FNUZ] = {8, 4, 3, 8, ZERO_NAN, 240},
    [TG_E5M2] = {8, 5, 2, 15, IEEE, 57344},    [TG_E5M2FNUZ] = {8, 5, 2, 16, ZERO_NAN, 57344},
    [TG_E2M1] = {4, 2, 1, 1, SATURATES, 6},    [TG_E2M3] = {6, 2, 3, 1, SATURATES, 7.5},
    [TG_E3M2] = {6, 3, 2, 3, SATURATES, 28},
};

int tg_dtype_bits(tg_dtype t)
{
    switch (t) {
    case TG_U4:
    case TG_I4:
    case TG_E2M1: return 4;
    case TG_U2:
    case TG_I2: return 2;
    case TG_E2M3:
    case TG_E3M2: return 6;
    default: return (int)tg_dtype_size(t) * 8;
    }
}

bool tg_narrow_is_float(tg_dtype t)
{
    return tg_dtype_kind(t) == 'q' && (formats[t].bits || t == TG_E8M0);
}

static double nan_or(const format *f, unsigned code)
{
    unsigned sign = 1u << (f->bits - 1), low = code & (sign - 1);
    unsigned last = ((1u << f->exponent) - 1) << f->mantissa;
    if (f->special == LAST_NAN && low == sign - 1) return NAN;
    if (f->special == ZERO_NAN && code == sign) return NAN;
    if (f->special != IEEE || low < last) return 0;
    return low > last ? NAN : code & sign ? -INFINITY : INFINITY;
}

double tg_narrow_f64(tg_dtype t, uint8_t code)
{
    const format *f = &formats[t];
    if (t == TG_I4 || t == TG_I2) return (int8_t)code;
    if (t == TG_U4 || t == TG_U2) return code;
    if (t == TG_E8M0) return code == 255 ? NAN : ldexp(1, code - 127);
    double other = nan_or(f, code);
    if (other != 0) return other;
    int e = code >> f->mantissa & ((1 << f->exponent) - 1), m = code & ((1 << f->mantissa) - 1);
    double x = e ? ldexp(m + (1 << f->mantissa), e - f->bias - f->mantissa)
                 : ldexp(m, 1 - f->bias - f->mantissa);
    return code >> (f->bits - 1) & 1 ? -x : x;
}

/* Magnitudes are in the order of their codes: the nearest, of two as near the even one. */
static unsigned round_magnitude(const format *f, double x)
{
    int e;
    if (x == 0) return 0;
    frexp(x, &e);
    e = e - 1 < 1 - f->bias ? 1 - f->bias : e - 1;
    double steps = rint(ldexp(x, f->mantissa - e));
    return (unsigned)((e + f->bias - 1) << f->mantissa) + (unsigned)steps;
}

static uint8_t float_code(tg_dtype t, double x, bool saturate)
{
    const format *f = &formats[t];
    unsigned sign = 1u << (f->bits - 1), minus = signbit(x) ? sign : 0;
    unsigned last = ((1u << f->exponent) - 1) << f->mantissa;
    unsigned nan = f->special == ZERO_NAN   ? sign
                   : f->special == LAST_NAN ? minus | (sign - 1)
                   : f->special == IEEE     ? minus | last | 1u << (f->mantissa - 1)
                                            : sign;
    if (isnan(x)) return (uint8_t)nan;
    unsigned most = f->special == IEEE ? last - 1 : sign - 1 - (f->special == LAST_NAN);
    bool over = fabs(x) > 4 * f->largest; /* so that no code overflows */
    unsigned code = over ? most + 1 : round_magnitude(f, fabs(x));
    if (code > most && (saturate || f->special == SATURATES)) code = most;
    if (code > most) return (uint8_t)(f->special == IEEE ? minus | last : nan);
    return (uint8_t)(f->special == ZERO_NAN && code == 0 ? 0 : minus | code);
}

uint8_t tg_narrow_code(tg_dtype t, double x, bool saturate)
{
    if (t == TG_E8M0) return tg_e8m0_code(x, saturate, 'n');
    if (formats[t].bits) return float_code(t, x, saturate);
    return tg_narrow_int(t, isnan(x) || fabs(x) > 0x1p53 ? 0 : (int64_t)x);
}

uint8_t tg_narrow_int(tg_dtype t, int64_t x)
{
    int bits = tg_dtype_bits(t);
    unsigned low = (unsigned)x & ((1u << bits) - 1);
    bool minus = (t == TG_I4 || t == TG_I2) && low >> (bits - 1);
    return (uint8_t)(minus ? low | ~0u << bits : low);
}

/* The exponent of a float, which is what the format holds: the sign is lost. */
uint8_t tg_e8m0_code(double x, bool saturate, char mode)
{
    float value = fabsf((float)x), part;
    int e;
    if (!isfinite(value)) return 255;
    part = frexpf(value, &e); /* [0.5, 1): the value is 2 part times 2^(e - 1) */
    int code = e - 1 + 127;
    if (value == 0) return 0;
    if (code < 1) { /* below the normal floats */
        bool up = mode == 'u' || (mode == 'n' && value > 0x1p-127f);
        return up;
    }
    bool up = mode == 'u' ? part > 0.5f : mode == 'n' && part >= 0.75f;
    if (up && code == 254 && saturate) up = false;
    return (uint8_t)(code + up);
}
