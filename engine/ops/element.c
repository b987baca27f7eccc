/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "element.h"

#include <math.h>
#include <string.h>

tg_status tg_element_numeric(tg_dtype t)
{
    char kind = tg_dtype_kind(t);
    if (kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b') return TG_OK;
    return tg_fail(TG_UNSUPPORTED, "elements of type %s are not computed with", tg_dtype_name(t));
}

tg_status tg_element_movable(tg_dtype t)
{
    if (tg_dtype_size(t)) return TG_OK;
    return tg_fail(TG_UNSUPPORTED, "elements of type %s are not moved", tg_dtype_name(t));
}

int64_t tg_element_truncate(double x)
{
    if (isnan(x)) return INT64_MIN;
    if (x >= 0x1p64) return -1;
    if (x >= 0x1p63) return (int64_t)(uint64_t)x;
    return x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* All types but the narrow ones and how an element `e` of each reads as a number. */
#define EACH_TYPE(X)                                                                               \
    X(F32, float, e)                                                                               \
    X(F64, double, e)                                                                              \
    X(F16, uint16_t, tg_f16_to_f32(e))                                                             \
    X(BF16, uint16_t, tg_bf16_to_f32(e))                                                           \
    X(BOOL, uint8_t, (e != 0))                                                                     \
    X(U8, uint8_t, e)                                                                              \
    X(I8, int8_t, e)                                                                               \
    X(U16, uint16_t, e)                                                                            \
    X(I16, int16_t, e)                                                                             \
    X(U32, uint32_t, e)                                                                            \
    X(I32, int32_t, e)                                                                             \
    X(U64, uint64_t, e)                                                                            \
    X(I64, int64_t, e)

#define LOAD(code, T, value)                                                                       \
    case TG_##code: {                                                                              \
        const T *p = (const T *)t->data + at;                                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T e = p[i * step];                                                                     \
            out[i] = AS(value);                                                                    \
        }                                                                                          \
        break;                                                                                     \
    }

#define AS(x) ((double)(x))
void tg_element_load_f64(const tg_tensor *t, int64_t at, int64_t step, int64_t n, double *out)
{
    switch (t->dtype) {
        EACH_TYPE(LOAD)
    default:
        for (int64_t i = 0; i < n; i++) out[i] = tg_tensor_f64(t, at + i * step);
    }
}
#undef AS

#define AS(x) ((float)(x))
void tg_element_load_f32(const tg_tensor *t, int64_t at, int64_t step, int64_t n, float *out)
{
    switch (t->dtype) {
        EACH_TYPE(LOAD)
    default:
        for (int64_t i = 0; i < n; i++) out[i] = (float)tg_tensor_f64(t, at + i * step);
    }
}
#undef AS

void tg_element_load_i64(const tg_tensor *t, int64_t at, int64_t step, int64_t n, int64_t *out)
{
    if (tg_element_float(t->dtype)) {
        for (int64_t i = 0; i < n; i++) {
            double x;
            tg_element_load_f64(t, at + i * step, 0, 1, &x);
            out[i] = tg_element_truncate(x);
        }
        return;
    }
#define AS(x) ((int64_t)(x))
    switch (t->dtype) {
        EACH_TYPE(LOAD)
    default:
        for (int64_t i = 0; i < n; i++) out[i] = tg_tensor_i64(t, at + i * step);
    }
#undef AS
}

/*
 * A float that rounds to the same half as x does: towards zero, with the last bit set if anything
 * was cut off ("round to odd"; Boldo and Melquiond, IEEE TC 57(4), 2008, theorem 1).
 */
static float odd(double x)
{
    float f = (float)x;
    if ((double)f == x || isnan(x) || isinf(f)) return f;
    uint32_t bits;
    if (fabs((double)f) > fabs(x)) f = nextafterf(f, 0);
    memcpy(&bits, &f, sizeof bits);
    bits |= 1;
    memcpy(&f, &bits, sizeof f);
    return f;
}

#define STORE(code, T, value)                                                                      \
    case TG_##code: {                                                                              \
        T *p = (T *)t->data + at;                                                                  \
        for (int64_t i = 0; i < n; i++) p[i] = (T)(value);                                         \
        break;                                                                                     \
    }

/* From a value x: floats, halves, then integers. */
#define EACH_STORE(half, integer)                                                                  \
    STORE(F32, float, v[i])                                                                        \
    STORE(F64, double, v[i])                                                                       \
    STORE(F16, uint16_t, tg_f32_to_f16(half(v[i])))                                                \
    STORE(BF16, uint16_t, tg_f32_to_bf16(half(v[i])))                                              \
    STORE(BOOL, uint8_t, v[i] != 0)                                                                \
    STORE(U8, uint8_t, integer(v[i]))                                                              \
    STORE(I8, int8_t, integer(v[i]))                                                               \
    STORE(U16, uint16_t, integer(v[i]))                                                            \
    STORE(I16, int16_t, integer(v[i]))                                                             \
    STORE(U32, uint32_t, integer(v[i]))                                                            \
    STORE(I32, int32_t, integer(v[i]))                                                             \
    STORE(U64, uint64_t, integer(v[i]))                                                            \
    STORE(I64, int64_t, integer(v[i]))

void tg_element_store_f64(tg_tensor *t, int64_t at, int64_t n, const double *v)
{
    switch (t->dtype) {
        EACH_STORE(odd, tg_element_truncate)
    default:
        for (int64_t i = 0; i < n; i++) tg_tensor_set_f64(t, at + i, v[i]);
    }
}

void tg_element_store_f32(tg_tensor *t, int64_t at, int64_t n, const float *v)
{
    switch (t->dtype) {
        EACH_STORE((float), tg_element_truncate)
    default:
        for (int64_t i = 0; i < n; i++) tg_tensor_set_f64(t, at + i, v[i]);
    }
}

void tg_element_store_i64(tg_tensor *t, int64_t at, int64_t n, const int64_t *v)
{
    switch (t->dtype) {
        EACH_STORE(odd, (int64_t))
    default:
        for (int64_t i = 0; i < n; i++) tg_tensor_set_i64(t, at + i, v[i]);
    }
}
