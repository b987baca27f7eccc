/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include "quant.h"

#include <math.h>

void tg_quant_range(tg_dtype t, double *low, double *high)
{
    double bits = tg_dtype_bits(t);
    bool is_signed = tg_dtype_kind(t) == 'i' || t == TG_I4 || t == TG_I2;
    *low = is_signed ? -exp2(bits - 1) : 0;
    *high = exp2(is_signed ? bits - 1 : bits) - 1;
}

void tg_quant_put(tg_tensor *q, int64_t i, double quotient, double zero)
{
    double low, high, x = rint(quotient) + zero;
    tg_quant_range(q->dtype, &low, &high);
    if (isnan(x)) x = zero;
    tg_tensor_set_i64(q, i, (int64_t)(x < low ? low : x > high ? high : x));
}

const double *tg_quant_centred(tg_call *call, int slot, int zero, int axis)
{
    const tg_tensor *t = &call->in[slot];
    int64_t n = tg_tensor_count(t), inner = tg_dims_count(&t->shape, axis + 1, t->shape.rank);
    int64_t zeros = has_input(call, zero) ? tg_tensor_count(&call->in[zero]) : 0;
    double *x = tg_call_scratch(call, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = zeros > 1 ? i / inner % t->shape.dim[axis] : 0;
        x[i] = tg_tensor_f64(t, i) - (zeros ? tg_tensor_f64(&call->in[zero], at) : 0);
    }
    return x;
}

/* Types that stand for reals; float8e8m0 is one of scales only. */
static bool is_quantised(tg_dtype t, bool wide)
{
    return t == TG_U8 || t == TG_I8 || t == TG_U16 || t == TG_I16 || (wide && t == TG_I32) ||
           (tg_dtype_kind(t) == 'q' && t != TG_E8M0);
}

/* Powers of two are scales, too; integers are where integers are quantised. */
static tg_status need_scale_type(const tg_infer *infer, bool whole)
{
    tg_dtype t = infer->in[1].dtype;
    return t == TG_E8M0 || (whole && t == TG_I32) ? TG_OK : tg_need_float(infer, 1, "the scale");
}

/* A scale for everything, for each index of the axis, or for each block along it. */
static tg_status need_scale(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *s = &infer->in[1].shape;
    tg_attr *axis = tg_infer_attr(infer, "axis"), *block = tg_infer_attr(infer, "block_size");
    char tx[TG_SHAPE_TEXT], ts[TG_SHAPE_TEXT];
    if (block->i < 0)
        return tg_fail(TG_INVALID, "attribute block_size is %lld", (long long)block->i);
    if (s->rank == 0 || (s->rank == 1 && s->dim[0] == 1 && block->i == 0)) {
        axis->i = 1; /* it has no say */
        block->i = 0;
        return TG_OK;
    }
    TG_TRY(tg_need_axis(infer, "axis", x->rank));
    if (block->i == 0) return tg_need_vector(infer, 1, "the scale", x->dim[axis->i]);
    bool fits = s->rank == x->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = i == axis->i ? (x->dim[i] + block->i - 1) / block->i == s->dim[i]
                            : x->dim[i] == s->dim[i];
    if (fits) return TG_OK;
    return tg_fail(TG_SHAPE, "scale %s does not fit blocks of %lld of %s", tg_shape_text(ts, s),
                   (long long)block->i, tg_shape_text(tx, x));
}

static tg_status need_zero_point(const tg_infer *infer)
{
    if (!has_type(infer, 2)) return TG_OK;
    const tg_shape *s = &infer->in[1].shape, *z = &infer->in[2].shape;
    char ts[TG_SHAPE_TEXT], tz[TG_SHAPE_TEXT];
    if (tg_shape_equal(s, z) || (tg_shape_count(s) == 1 && tg_shape_count(z) == 1)) return TG_OK;
    return tg_fail(TG_SHAPE, "zero point %s and scale %s differ in shape", tg_shape_text(tz, z),
                   tg_shape_text(ts, s));
}

tg_status infer_quantize(tg_infer *infer)
{
    tg_dtype x = infer->in[0].dtype;
    if (x != TG_I32) TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(need_scale_type(infer, true));
    TG_TRY(need_scale(infer));
    TG_TRY(need_zero_point(infer));
    tg_attr *to = tg_infer_attr(infer, "output_dtype");
    tg_dtype out = to->i ? (tg_dtype)to->i : TG_U8;
    if (has_type(infer, 2)) {
        if (to->i && out != infer->in[2].dtype)
            return tg_fail(TG_TYPE, "the zero point is not of type %s", tg_dtype_name(out));
        out = infer->in[2].dtype;
    }
    if (has_type(infer, 2) || out == TG_U8) to->i = 0; /* as without it */
    if (!is_quantised(out, false))
        return tg_fail(TG_UNSUPPORTED, "quantising to %s is not implemented", tg_dtype_name(out));
    infer->out[0] = (tg_type){out, infer->in[0].shape};
    return TG_OK;
}

tg_status infer_dequantize(tg_infer *infer)
{
    if (!is_quantised(infer->in[0].dtype, true))
        return tg_fail(TG_UNSUPPORTED, "dequantising from %s is not implemented",
                       tg_dtype_name(infer->in[0].dtype));
    TG_TRY(need_scale_type(infer, false));
    TG_TRY(tg_need_same(infer, 2, 0, "the zero point"));
    TG_TRY(need_scale(infer));
    TG_TRY(need_zero_point(infer));
    tg_attr *to = tg_infer_attr(infer, "output_dtype");
    tg_dtype out = to->i ? (tg_dtype)to->i : infer->in[1].dtype;
    if (tg_dtype_kind(out) != 'f')
        return tg_fail(TG_TYPE, "output type %s is no float type", tg_dtype_name(out));
    if (out == infer->in[1].dtype) to->i = 0;
    infer->out[0] = (tg_type){out, infer->in[0].shape};
    return TG_OK;
}

/* Element of the scale that belongs to element i of the input. */
static int64_t scale_at(const tg_call *call, int64_t i)
{
    const tg_shape *x = &call->in[0].shape, *s = &call->in[1].shape;
    if (tg_shape_count(s) == 1) return 0;
    int64_t axis = call_int(call, "axis"), block = call_int(call, "block_size");
    int64_t inner = tg_dims_count(x, axis + 1, x->rank), at = i / inner % x->dim[axis];
    if (block == 0) return at;
    return (i / inner / x->dim[axis] * s->dim[axis] + at / block) * inner + i % inner;
}

/* The quotient is one of floats where both sides are no wider: halves must stay halves. */
static double quotient(const tg_call *call, int64_t i, int64_t at)
{
    double x = tg_tensor_f64(&call->in[0], i), s = tg_tensor_f64(&call->in[1], at);
    bool wide = call->in[0].dtype == TG_F64 || call->in[1].dtype == TG_F64;
    return wide ? x / s : (double)((float)x / (float)s);
}

tg_status kernel_quantize(tg_call *call)
{
    int64_t n = tg_tensor_count(&call->in[0]);
    tg_dtype to = call->out[0].dtype;
    bool floats = tg_narrow_is_float(to), saturate = call_int(call, "saturate") != 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = scale_at(call, i);
        double zero = has_input(call, 2) ? tg_tensor_f64(&call->in[2], at) : 0;
        if (floats)
            ((uint8_t *)call->out[0].data)[i] =
                tg_narrow_code(to, quotient(call, i, at) + zero, saturate);
        else tg_quant_put(&call->out[0], i, quotient(call, i, at), zero);
    }
    return TG_OK;
}

tg_status kernel_dequantize(tg_call *call)
{
    int64_t n = tg_tensor_count(&call->in[0]);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = scale_at(call, i);
        double zero = has_input(call, 2) ? tg_tensor_f64(&call->in[2], at) : 0;
        double x = tg_tensor_f64(&call->in[0], i) - zero;
        tg_tensor_set_f64(&call->out[0], i, x * tg_tensor_f64(&call->in[1], at));
    }
    return TG_OK;
}

tg_status infer_dynamic_quantize(tg_infer *infer)
{
    if (infer->in[0].dtype != TG_F32)
        return tg_fail(TG_TYPE, "the input has element type %s, not float",
                       tg_dtype_name(infer->in[0].dtype));
    infer->out[0] = (tg_type){TG_U8, infer->in[0].shape};
    if (infer->n_out > 1) infer->out[1] = (tg_type){TG_F32, {.rank = 0}};
    if (infer->n_out > 2) infer->out[2] = (tg_type){TG_U8, {.rank = 0}};
    return TG_OK;
}

/* In floats throughout, as the standard's own function. */
tg_status kernel_dynamic_quantize(tg_call *call)
{
    const float *x = call->in[0].data;
    int64_t n = tg_tensor_count(&call->in[0]);
    float low = 0, high = 0;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    float scale = (high - low) / 255.0f;
    if (scale == 0) scale = 1; /* all elements are zero */
    tg_tensor zero = call->out[2];
    tg_quant_put(&zero, 0, 0 - low / scale, 0);
    tg_tensor_set_f64(&call->out[1], 0, scale);
    for (int64_t i = 0; i < n; i++)
        tg_quant_put(&call->out[0], i, x[i] / scale, tg_tensor_f64(&zero, 0));
    return TG_OK;
}
