/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cast, CastLike and BitCast. */
#include "engine/ir/value.h"
#include "params.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_narrow(tg_dtype t)
{
    return tg_dtype_kind(t) == 'q';
}

static tg_status castable(tg_dtype from, tg_dtype to)
{
    if (from != TG_STR && !is_narrow(from)) TG_TRY(tg_element_numeric(from));
    return to == TG_STR || is_narrow(to) ? TG_OK : tg_element_numeric(to);
}

static tg_status check_round_mode(tg_infer *infer)
{
    const char *mode = tg_infer_attr(infer, "round_mode")->s;
    tg_attr *saturate = tg_infer_attr(infer, "saturate");
    saturate->i = saturate->i != 0;
    if (strcmp(mode, "up") == 0 || strcmp(mode, "down") == 0 || strcmp(mode, "nearest") == 0)
        return TG_OK;
    return tg_fail(TG_INVALID, "attribute round_mode is '%s'", mode);
}

tg_status infer_cast(tg_infer *infer)
{
    int64_t to = tg_infer_attr(infer, "to")->i;
    if (to <= 0 || to >= TG_DTYPE_COUNT || !tg_dtype_size((tg_dtype)to))
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)to);
    infer->out[0] = (tg_type){(tg_dtype)to, infer->in[0].shape};
    return check_round_mode(infer);
}

tg_status infer_cast_like(tg_infer *infer)
{
    infer->out[0] = (tg_type){infer->in[1].dtype, infer->in[0].shape};
    return check_round_mode(infer);
}

static void cast_to_narrow(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    uint8_t *code = y->data;
    bool saturate = call_attr(call, "saturate")->i, whole = tg_element_integer(x->dtype);
    bool integer = !tg_narrow_is_float(y->dtype);
    char mode = call_attr(call, "round_mode")->s[0];
    for (int64_t i = 0; i < tg_tensor_count(x); i++) {
        if (integer && whole) code[i] = tg_narrow_int(y->dtype, tg_tensor_i64(x, i));
        else if (y->dtype == TG_E8M0) code[i] = tg_e8m0_code(tg_tensor_f64(x, i), saturate, mode);
        else code[i] = tg_narrow_code(y->dtype, tg_tensor_f64(x, i), saturate);
    }
}

/* The shortest digits that are read back as the same number. */
static void print_float(double x, tg_dtype dtype, char *text, size_t size)
{
    if (isnan(x) || isinf(x)) {
        snprintf(text, size, "%s", isnan(x) ? "NaN" : x > 0 ? "INF" : "-INF");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, x);
        double back = dtype == TG_F64 ? strtod(text, NULL) : (double)strtof(text, NULL);
        tg_tensor one = {dtype, {0}, &(double){0}};
        tg_element_store_f64(&one, 0, 1, &back);
        if (tg_tensor_f64(&one, 0) == x) return;
    }
}

static tg_string print_element(const tg_tensor *x, int64_t i)
{
    char text[64];
    int64_t v;
    if (tg_element_float(x->dtype) || is_narrow(x->dtype)) {
        print_float(tg_tensor_f64(x, i), x->dtype, text, sizeof text);
    } else {
        tg_element_load_i64(x, i, 0, 1, &v);
        if (x->dtype == TG_U64) snprintf(text, sizeof text, "%llu", (unsigned long long)v);
        else snprintf(text, sizeof text, "%lld", (long long)v);
    }
    return tg_string_of(text, strlen(text));
}

/* A number may be plain (3.14), scientific (1e-5), an infinity or NaN, in any case. */
static tg_status parse_element(const tg_string *s, tg_tensor *y, int64_t i)
{
    const char *text = s->n ? s->p : "";
    char *end, *end_of_integer;
    errno = 0;
    int64_t v = y->dtype == TG_U64 ? (int64_t)strtoull(text, &end_of_integer, 10)
                                   : strtoll(text, &end_of_integer, 10);
    bool too_large = errno == ERANGE;
    double x = strtod(text, &end);
    if (!s->n || end != text + s->n || strpbrk(text, "xX("))
        return tg_fail(TG_INVALID, "'%.40s' is no number", text);
    if (!tg_element_float(y->dtype) && end_of_integer == end && !too_large)
        tg_element_store_i64(y, i, 1, &v);
    else if (y->dtype == TG_F32) ((float *)y->data)[i] = strtof(text, &end);
    else tg_element_store_f64(y, i, 1, &x);
    return TG_OK;
}

static tg_status cast_strings(const tg_tensor *x, tg_tensor *y)
{
    for (int64_t i = 0, n = tg_tensor_count(x); i < n; i++) {
        if (y->dtype != TG_STR) TG_TRY(parse_element((tg_string *)x->data + i, y, i));
        else if (x->dtype == TG_STR) ((tg_string *)y->data)[i] = ((tg_string *)x->data)[i];
        else ((tg_string *)y->data)[i] = print_element(x, i);
    }
    return TG_OK;
}

/*
 * Floats to integers are cut towards zero, integers to smaller ones keep the low bits, everything
 * to bool asks whether it is other than 0, floats to floats are rounded once. The attributes of the
 * node say how a narrow type is rounded and what becomes of what it cannot hold.
 */
tg_status kernel_cast(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    TG_TRY(castable(x->dtype, y->dtype));
    if (x->dtype == TG_STR || y->dtype == TG_STR) return cast_strings(x, y);
    int64_t n = tg_tensor_count(x);
    bool integers = !tg_element_float(x->dtype) && y->dtype != TG_F32 && y->dtype != TG_F64;
    /* Large unsigned numbers would turn negative on their way to a half. */
    if (x->dtype == TG_U64 && tg_element_float(y->dtype)) integers = false;
    if (is_narrow(x->dtype)) integers = false;
    if (is_narrow(y->dtype) && x->dtype != y->dtype) {
        cast_to_narrow(call);
        return TG_OK;
    }
    for (int64_t at = 0; at < n; at += TG_BLOCK) {
        int64_t m = n - at < TG_BLOCK ? n - at : TG_BLOCK;
        if (x->dtype == y->dtype)
            memcpy(tg_element_at(y, at), tg_element_at(x, at), (size_t)m * tg_dtype_size(x->dtype));
        else if (integers) {
            int64_t v[TG_BLOCK];
            tg_element_load_i64(x, at, 1, m, v);
            tg_element_store_i64(y, at, m, v);
        } else if (y->dtype == TG_F32) {
            /* A large integer goes to float in one rounding, not by way of double. */
            tg_element_load_f32(x, at, 1, m, (float *)y->data + at);
        } else {
            double v[TG_BLOCK];
            tg_element_load_f64(x, at, 1, m, v);
            tg_element_store_f64(y, at, m, v);
        }
    }
    return TG_OK;
}

tg_status infer_bit_cast(tg_infer *infer)
{
    int64_t to = tg_infer_attr(infer, "to")->i;
    if (to <= 0 || to >= TG_DTYPE_COUNT || !tg_dtype_size((tg_dtype)to))
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)to);
    if (to == TG_STR || infer->in[0].dtype == TG_STR)
        return tg_fail(TG_TYPE, "strings are not cast by their bits");
    if (tg_dtype_bits((tg_dtype)to) != tg_dtype_bits(infer->in[0].dtype))
        return tg_fail(TG_TYPE, "%s and %s differ in width", tg_dtype_name(infer->in[0].dtype),
                       tg_dtype_name((tg_dtype)to));
    infer->out[0] = (tg_type){(tg_dtype)to, infer->in[0].shape};
    return TG_OK;
}

tg_status kernel_bit_cast(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    memcpy(call->out[0].data, x->data, tg_tensor_bytes(x));
    /* An element of fewer bits has a byte, whose upper bits follow from the type. */
    if (tg_dtype_bits(x->dtype) >= 8) return TG_OK;
    uint8_t *code = call->out[0].data, mask = (uint8_t)((1 << tg_dtype_bits(x->dtype)) - 1);
    bool floats = tg_narrow_is_float(call->out[0].dtype);
    for (int64_t i = 0; i < tg_tensor_count(x); i++)
        code[i] = floats ? code[i] & mask : tg_narrow_int(call->out[0].dtype, code[i]);
    return TG_OK;
}
