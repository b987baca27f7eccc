/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "type.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *seq, *opt, *opt_seq;
    size_t size;
    char kind;
} rows[TG_DTYPE_COUNT] = {
#define DTYPE(id, code, name, size, kind)                                                          \
    [code] = {name, "seq(" name ")", "optional(" name ")", "optional(seq(" name "))", size, kind},
#include "dtype.def"
#undef DTYPE
};

static bool known(tg_dtype t)
{
    return (int)t > 0 && (int)t < TG_DTYPE_COUNT && rows[t].name;
}

const char *tg_dtype_name(tg_dtype t)
{
    tg_dtype element = (tg_dtype)((unsigned)t & ~(unsigned)(TG_SEQ | TG_OPT));
    if (!known(element)) return "?";
    switch ((unsigned)t & (TG_SEQ | TG_OPT)) {
    case TG_SEQ: return rows[element].seq;
    case TG_OPT: return rows[element].opt;
    case TG_SEQ | TG_OPT: return rows[element].opt_seq;
    default: return rows[element].name;
    }
}

size_t tg_dtype_size(tg_dtype t)
{
    return known(t) ? rows[t].size : 0;
}

char tg_dtype_kind(tg_dtype t)
{
    return known(t) ? rows[t].kind : '\0';
}

tg_dtype tg_dtype_find(const char *name)
{
    for (int t = 1; t < TG_DTYPE_COUNT; t++)
        if (rows[t].name && strcmp(rows[t].name, name) == 0) return (tg_dtype)t;
    return TG_DTYPE_NONE;
}

tg_shape tg_shape_from(const int64_t *dims, int rank)
{
    tg_shape s = {.rank = rank};
    for (int i = 0; i < rank; i++) s.dim[i] = dims[i];
    return s;
}

bool tg_shape_equal(const tg_shape *a, const tg_shape *b)
{
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

bool tg_shape_complete(const tg_shape *s)
{
    if (s->rank < 0) return false;
    for (int i = 0; i < s->rank; i++)
        if (s->dim[i] < 0) return false;
    return true;
}

int64_t tg_shape_count(const tg_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        if (s->dim[i] == 0) return 0;
    for (int i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(n, s->dim[i], &n)) return INT64_MAX;
    return n;
}

char *tg_shape_text(char *buf, const tg_shape *s)
{
    if (s->rank <= 0) {
        strcpy(buf, s->rank == 0 ? "scalar" : "?");
        return buf;
    }
    size_t n = 0;
    for (int i = 0; i < s->rank; i++) {
        const char *times = i ? "x" : "";
        if (s->dim[i] < 0) n += (size_t)snprintf(buf + n, TG_SHAPE_TEXT - n, "%s?", times);
        else
            n +=
                (size_t)snprintf(buf + n, TG_SHAPE_TEXT - n, "%s%lld", times, (long long)s->dim[i]);
    }
    return buf;
}

tg_status tg_shape_broadcast(const tg_shape *a, const tg_shape *b, tg_shape *out)
{
    tg_shape r = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 1; i <= r.rank; i++) {
        int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t y = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1) {
            char ta[TG_SHAPE_TEXT], tb[TG_SHAPE_TEXT];
            return tg_fail(TG_SHAPE, "shapes %s and %s do not broadcast", tg_shape_text(ta, a),
                           tg_shape_text(tb, b));
        }
        r.dim[r.rank - i] = x == 1 ? y : x;
    }
    *out = r;
    return TG_OK;
}

bool tg_type_equal(const tg_type *a, const tg_type *b)
{
    return a->dtype == b->dtype && tg_shape_equal(&a->shape, &b->shape);
}

bool tg_type_complete(const tg_type *t)
{
    return t->dtype != TG_DTYPE_NONE && tg_shape_complete(&t->shape);
}

char *tg_type_text(char *buf, const tg_type *t)
{
    if (!tg_dtype_is_list(t->dtype)) return tg_shape_text(buf, &t->shape);
    snprintf(buf, TG_SHAPE_TEXT, "%s", tg_dtype_name(t->dtype));
    return buf;
}

int64_t tg_type_bytes(const tg_type *t)
{
    int64_t n;
    if (__builtin_mul_overflow(tg_shape_count(&t->shape), (int64_t)tg_dtype_size(t->dtype), &n))
        return INT64_MAX;
    return n;
}

tg_status tg_type_limit(const tg_type *t)
{
    int64_t n = (int64_t)tg_dtype_size(t->dtype);
    char text[TG_SHAPE_TEXT];
    for (int i = 0; i < t->shape.rank; i++) {
        int64_t dim = t->shape.dim[i] > 1 ? t->shape.dim[i] : 1;
        if (__builtin_mul_overflow(n, dim, &n) || n >= (int64_t)1 << 62)
            return tg_fail(TG_LIMIT, "the shape %s is too large", tg_shape_text(text, &t->shape));
    }
    return TG_OK;
}

int64_t tg_tensor_count(const tg_tensor *t)
{
    return tg_shape_count(&t->shape);
}

size_t tg_tensor_bytes(const tg_tensor *t)
{
    return (size_t)tg_tensor_count(t) * tg_dtype_size(t->dtype);
}

double tg_tensor_f64(const tg_tensor *t, int64_t i)
{
    const void *p = t->data;
    switch (t->dtype) {
    case TG_F32: return ((const float *)p)[i];
    case TG_F64: return ((const double *)p)[i];
    case TG_F16: return tg_f16_to_f32(((const uint16_t *)p)[i]);
    case TG_BF16: return tg_bf16_to_f32(((const uint16_t *)p)[i]);
    case TG_U64: return (double)((const uint64_t *)p)[i];
    default:
        if (tg_dtype_kind(t->dtype) == 'q') return tg_narrow_f64(t->dtype, ((const uint8_t *)p)[i]);
        return (double)tg_tensor_i64(t, i);
    }
}

int64_t tg_tensor_i64(const tg_tensor *t, int64_t i)
{
    const void *p = t->data;
    switch (t->dtype) {
    case TG_U8:
    case TG_BOOL: return ((const uint8_t *)p)[i];
    case TG_I8: return ((const int8_t *)p)[i];
    case TG_U16: return ((const uint16_t *)p)[i];
    case TG_I16: return ((const int16_t *)p)[i];
    case TG_U32: return ((const uint32_t *)p)[i];
    case TG_I32: return ((const int32_t *)p)[i];
    case TG_I64: return ((const int64_t *)p)[i];
    case TG_U64: return (int64_t)((const uint64_t *)p)[i];
    case TG_I4:
    case TG_I2: return ((const int8_t *)p)[i];
    case TG_U4:
    case TG_U2: return ((const uint8_t *)p)[i];
    case TG_F32:
    case TG_F64:
    case TG_F16:
    case TG_BF16:
    case TG_E4M3FN:
    case TG_E4M3FNUZ:
    case TG_E5M2:
    case TG_E5M2FNUZ:
    case TG_E2M1:
    case TG_E8M0:
    case TG_E2M3:
    case TG_E3M2: {
        double x = tg_tensor_f64(t, i);
        if (isnan(x)) return 0;
        if (x >= 0x1p63) return INT64_MAX;
        return x <= -0x1p63 ? INT64_MIN : (int64_t)x;
    }
    default: return 0;
    }
}

void tg_tensor_set_f64(tg_tensor *t, int64_t i, double x)
{
    void *p = t->data;
    switch (t->dtype) {
    case TG_F32: ((float *)p)[i] = (float)x; break;
    case TG_F64: ((double *)p)[i] = x; break;
    case TG_F16: ((uint16_t *)p)[i] = tg_f32_to_f16((float)x); break;
    case TG_BF16: ((uint16_t *)p)[i] = tg_f32_to_bf16((float)x); break;
    case TG_BOOL: ((uint8_t *)p)[i] = x != 0; break;
    default: {
        if (tg_dtype_kind(t->dtype) == 'q') {
            ((uint8_t *)p)[i] = tg_narrow_code(t->dtype, x, true);
            break;
        }
        tg_tensor one = {TG_F64, {0}, &x};
        tg_tensor_set_i64(t, i, tg_tensor_i64(&one, 0));
    }
    }
}

void tg_tensor_set_i64(tg_tensor *t, int64_t i, int64_t x)
{
    void *p = t->data;
    switch (t->dtype) {
    case TG_U8:
    case TG_I8: ((uint8_t *)p)[i] = (uint8_t)x; break;
    case TG_BOOL: ((uint8_t *)p)[i] = x != 0; break;
    case TG_U16:
    case TG_I16: ((uint16_t *)p)[i] = (uint16_t)x; break;
    case TG_U32:
    case TG_I32: ((uint32_t *)p)[i] = (uint32_t)x; break;
    case TG_U64:
    case TG_I64: ((int64_t *)p)[i] = x; break;
    case TG_F32:
    case TG_F64:
    case TG_F16:
    case TG_BF16: tg_tensor_set_f64(t, i, (double)x); break;
    case TG_U4:
    case TG_I4:
    case TG_U2:
    case TG_I2: ((uint8_t *)p)[i] = tg_narrow_int(t->dtype, x); break;
    default:
        if (tg_dtype_kind(t->dtype) == 'q') tg_tensor_set_f64(t, i, (double)x);
    }
}

float tg_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 0x3ff, bits;
    if (e == 31) bits = sign | 0x7f800000 | m << 13;
    else if (e) bits = sign | (e + 112) << 23 | m << 13;
    else {
        float f = ldexpf((float)m, -24);
        return sign ? -f : f;
    }
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

uint16_t tg_f32_to_f16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t mag = bits & 0x7fffffff;
    if (mag > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (mag >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* rounds past 65504 */
    if (mag < 0x38800000) /* below the smallest normal half: a multiple of 2^-24 */
        return (uint16_t)(sign | (uint16_t)lrintf(ldexpf(fabsf(f), 24)));
    uint32_t rounded = mag + 0xfff + (mag >> 13 & 1);
    return (uint16_t)(sign | ((rounded - 0x38000000) >> 13));
}

float tg_bf16_to_f32(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

uint16_t tg_f32_to_bf16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
