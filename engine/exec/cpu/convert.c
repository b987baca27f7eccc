/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "convert.h"

#include "engine/ops/element.h"

#include <string.h>

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float vf __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint8_t vu8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t vi8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t vu16 __attribute__((vector_size(32), aligned(2), may_alias));
typedef int16_t vi16 __attribute__((vector_size(32), aligned(2), may_alias));

#define INLINE inline __attribute__((always_inline))

static INLINE vf choose(vi mask, vf b, vf a)
{
    return (vf)((mask & (vi)b) | (~mask & (vi)a));
}

/* Subnormal halves are made from their whole numbers, for subnormal floats may be flushed. */
static INLINE vf from_half(vi h)
{
    vi bits = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    vi exponent = bits & (0x7c00 << 13);
    vi normal = bits + (112 << 23);
    normal += (exponent == (0x7c00 << 13)) & (112 << 23);
    vf tiny = __builtin_convertvector(h & 0x3ff, vf) * 5.9604644775390625e-8f;
    vf x = choose(exponent == 0, tiny, (vf)normal);
    return (vf)((vi)x | sign);
}

/* Rounds to even by the arithmetic of integers; below the normal halves by an addition. */
static INLINE vi to_half(vf x)
{
    vi u = (vi)x & 0x7fffffff, sign = ((vi)x >> 16) & 0x8000;
    vi odd = (u >> 13) & 1;
    vi normal = (u - (112 << 23) + 0xfff + odd) >> 13;
    vf tiny = (vf)u + 0.5f;
    vi small = (vi)tiny - 0x3f000000;
    vi special = 0x7c00 | ((u > 0x7f800000) & 0x200);
    vi h = ((u < (113 << 23)) & small) | (~(u < (113 << 23)) & normal);
    h = ((u >= 0x47800000) & special) | (~(u >= 0x47800000) & h);
    return h | sign;
}

static INLINE vi to_brain(vf x)
{
    vi u = (vi)x, nan = (u & 0x7fffffff) > 0x7f800000;
    vi rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    return (nan & ((u >> 16) | 0x40)) | (~nan & rounded);
}

/* Bytes become words first: compilers know no single step to 32 bits. */
#define LOAD_LOOP(T, words, expr)                                                                  \
    for (int i = 0; i < n; i += 16) {                                                              \
        words w =                                                                                  \
            __builtin_convertvector(*(const T *)((const char *)from + (size_t)i * size), words);   \
        vi x = __builtin_convertvector(w, vi);                                                     \
        *(vf *)(to + i) = (expr);                                                                  \
    }                                                                                              \
    break
#define WHOLE (__builtin_convertvector(x, vf) - zero) * scale

static INLINE void load(const tg_code *code, const void *from, int n, float *to)
{
    size_t size = tg_dtype_size(code->dtype);
    float scale = code->quantised ? code->scale : 1, zero = code->quantised ? code->zero : 0;
    switch (code->dtype) {
    case TG_U8:
    case TG_BOOL: LOAD_LOOP(vu8, vu16, WHOLE);
    case TG_I8: LOAD_LOOP(vi8, vi16, WHOLE);
    case TG_U16: LOAD_LOOP(vu16, vu16, WHOLE);
    case TG_I16: LOAD_LOOP(vi16, vi16, WHOLE);
    case TG_F16: LOAD_LOOP(vu16, vu16, from_half(x));
    case TG_BF16: LOAD_LOOP(vu16, vu16, (vf)(x << 16));
    default: break;
    }
}

#define STORE_LOOP(T, expr)                                                                        \
    for (int i = 0; i < n; i += 16) {                                                              \
        vf x = *(const vf *)(from + i);                                                            \
        T y = __builtin_convertvector((expr), T);                                                  \
        if (n - i >= 16) *(T *)((char *)to + (size_t)i * size) = y;                                \
        else memcpy((char *)to + (size_t)i * size, &y, (size_t)(n - i) * size);                    \
    }                                                                                              \
    break

/* How one quantises: by 1 / scale, noting in `unsure` what may lie on the other side of a half, or
 * by the quotient itself. */
typedef struct rounding {
    float scale, inverse, low, high, zero, limit;
    vi unsure;
    bool exact;
} rounding;

/* The bounds are whole, so clipping may come before rounding, which then lies in an addition. */
static INLINE vi quantise(rounding *r, vf x)
{
    vf q = r->exact ? x / r->scale : x * r->inverse;
    q = choose(q == q, q, (vf){0});
    q = choose(q > r->high, (vf){0} + r->high, q);
    q = choose(q < r->low, (vf){0} + r->low, q);
    vf whole = (q + 12582912.0f) - 12582912.0f, d = q - whole;
    r->unsure |= (vf)((vi)d & 0x7fffffff) > r->limit;
    return __builtin_convertvector(whole + r->zero, vi);
}

/* False: some elements are too close to a half. */
static INLINE bool store_quantised(const tg_code *code, rounding *r, const float *from, int n,
                                   void *to)
{
    size_t size = tg_dtype_size(code->dtype);
    switch (code->dtype) {
    case TG_U8: STORE_LOOP(vu8, quantise(r, x));
    case TG_I8: STORE_LOOP(vi8, quantise(r, x));
    case TG_U16: STORE_LOOP(vu16, quantise(r, x));
    default: STORE_LOOP(vi16, quantise(r, x));
    }
    int32_t any = 0;
    for (int k = 0; k < 16; k++) any |= r->unsure[k];
    return !any;
}

static INLINE void store(const tg_code *code, const float *from, int n, void *to)
{
    size_t size = tg_dtype_size(code->dtype);
    switch (code->dtype) {
    case TG_BOOL: STORE_LOOP(vu8, (x != 0.0f) & 1);
    case TG_F16: STORE_LOOP(vu16, to_half(x));
    case TG_BF16: STORE_LOOP(vu16, to_brain(x));
    default: break;
    }
    if (!code->quantised) return;
    bool is_signed = code->dtype == TG_I8 || code->dtype == TG_I16;
    float values = (float)(1 << (8 * size)), low = is_signed ? -values / 2 : 0;
    rounding r = {.scale = code->scale, .inverse = 1 / code->scale, .zero = code->zero};
    r.low = low - code->zero;
    r.high = low + values - 1 - code->zero;
    r.limit = 0.5f - 1e-6f * values;
    r.exact = !(r.inverse > 1e-30f && r.inverse < 1e30f);
    if (store_quantised(code, &r, from, n, to) || r.exact) return;
    r.exact = true;
    store_quantised(code, &r, from, n, to);
}

#ifdef __x86_64__
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define MIDDLE __attribute__((target("avx2,fma")))
WIDE static void load_wide(const tg_code *code, const void *from, int n, float *to)
{
    load(code, from, n, to);
}
MIDDLE static void load_middle(const tg_code *code, const void *from, int n, float *to)
{
    load(code, from, n, to);
}
WIDE static void store_wide(const tg_code *code, const float *from, int n, void *to)
{
    store(code, from, n, to);
}
MIDDLE static void store_middle(const tg_code *code, const float *from, int n, void *to)
{
    store(code, from, n, to);
}
#endif

static int level(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
    return 0;
}

bool tg_convert_fits(tg_dtype dtype)
{
    switch (dtype) {
    case TG_U8:
    case TG_I8:
    case TG_U16:
    case TG_I16:
    case TG_BOOL:
    case TG_F16:
    case TG_BF16: return true;
    default: return false;
    }
}

/* Integers that are cut, not rounded, have no vector code. */
static bool has_stores(const tg_code *code)
{
    tg_dtype t = code->dtype;
    return tg_convert_fits(t) && (code->quantised || t == TG_BOOL || t == TG_F16 || t == TG_BF16);
}

static void load_any(const tg_code *code, const void *from, int64_t stride, int n, float *to)
{
    tg_tensor t = {code->dtype, {.rank = 0}, (void *)(uintptr_t)from};
    tg_element_load_f32(&t, 0, stride, n, to);
    if (code->quantised)
        for (int i = 0; i < n; i++) to[i] = (to[i] - code->zero) * code->scale;
}

void tg_convert_load(const tg_code *code, const void *from, int64_t stride, int n, float *to)
{
    if (stride != 1 || !tg_convert_fits(code->dtype)) {
        load_any(code, from, stride, n, to);
        return;
    }
#ifdef __x86_64__
    int best = level();
    if (best == 2) load_wide(code, from, n, to);
    else if (best == 1) load_middle(code, from, n, to);
    else
#endif
        load(code, from, n, to);
}

static void store_block(const tg_code *code, const float *from, int n, void *to)
{
#ifdef __x86_64__
    int best = level();
    if (best == 2) store_wide(code, from, n, to);
    else if (best == 1) store_middle(code, from, n, to);
    else
#endif
        store(code, from, n, to);
}

void tg_convert_store(const tg_code *code, const float *from, int n, void *to, int64_t stride)
{
    enum { BLOCK = 256 };
    unsigned char few[BLOCK * 8];
    size_t size = tg_dtype_size(code->dtype);
    if (stride == 1 && has_stores(code)) {
        store_block(code, from, n, to);
        return;
    }
    for (int done = 0; done < n; done += BLOCK) {
        int m = n - done < BLOCK ? n - done : BLOCK;
        tg_tensor t = {code->dtype, {.rank = 0}, few};
        if (has_stores(code)) store_block(code, from + done, m, few);
        else tg_element_store_f32(&t, 0, m, from + done);
        for (int i = 0; i < m; i++)
            memcpy((char *)to + (size_t)((done + i) * stride) * size, few + (size_t)i * size, size);
    }
}
