/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of integers: QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger. */
#include "conv.h"
#include "matmul.h"
#include "quant.h"

/* The floats of a byte that products of quantised matrices may have. */
static bool is_small_float(tg_dtype t)
{
    return t == TG_E4M3FN || t == TG_E4M3FNUZ || t == TG_E5M2 || t == TG_E5M2FNUZ;
}

static tg_status need_byte(const tg_infer *infer, int slot, const char *what)
{
    tg_dtype t = infer->in[slot].dtype;
    if (t == TG_U8 || t == TG_I8) return TG_OK;
    return tg_fail(TG_TYPE, "%s has element type %s, not int8 or uint8", what, tg_dtype_name(t));
}

/* One element, or one for each of n channels. */
static tg_status need_scalar_or(const tg_infer *infer, int slot, const char *what, int64_t n)
{
    if (!has_type(infer, slot)) return TG_OK;
    const tg_shape *s = &infer->in[slot].shape;
    char text[TG_SHAPE_TEXT];
    if (tg_shape_count(s) == 1 || (s->rank == 1 && s->dim[0] == n)) return TG_OK;
    return tg_fail(TG_SHAPE, "%s has shape %s", what, tg_shape_text(text, s));
}

/* The slots of x, w and y: operand, scale, zero point each. */
static tg_status need_quantised(tg_infer *infer, bool floats)
{
    if (!floats || !is_small_float(infer->in[0].dtype)) TG_TRY(need_byte(infer, 0, "the input"));
    if (!floats || !is_small_float(infer->in[3].dtype)) TG_TRY(need_byte(infer, 3, "the weight"));
    if (!floats || !is_small_float(infer->in[7].dtype))
        TG_TRY(need_byte(infer, 7, "the output's zero point"));
    TG_TRY(tg_need_same(infer, 2, 0, "the input's zero point"));
    TG_TRY(tg_need_same(infer, 5, 3, "the weight's zero point"));
    TG_TRY(tg_need_float(infer, 1, "the input's scale"));
    TG_TRY(tg_need_float(infer, 4, "the weight's scale"));
    TG_TRY(tg_need_float(infer, 6, "the output's scale"));
    TG_TRY(need_scalar_or(infer, 6, "the output's scale", 1));
    return need_scalar_or(infer, 7, "the output's zero point", 1);
}

tg_status infer_qlinear_conv(tg_infer *infer)
{
    tg_shape out;
    TG_TRY(need_quantised(infer, false));
    TG_TRY(tg_conv_infer(infer, 0, 3, &out));
    TG_TRY(need_scalar_or(infer, 1, "the input's scale", 1));
    TG_TRY(need_scalar_or(infer, 2, "the input's zero point", 1));
    TG_TRY(need_scalar_or(infer, 4, "the weight's scale", out.dim[1]));
    TG_TRY(need_scalar_or(infer, 5, "the weight's zero point", out.dim[1]));
    TG_TRY(tg_need_vector(infer, 8, "the bias", out.dim[1]));
    infer->out[0] = (tg_type){infer->in[7].dtype, out};
    return TG_OK;
}

/* Rounds accumulators into the output type; column(i) picks the weight's scale. */
static void requantise(tg_call *call, const double *sum, double x_scale, int64_t inner,
                       int64_t channels)
{
    double y_scale = tg_tensor_f64(&call->in[6], 0), zero = tg_tensor_f64(&call->in[7], 0);
    int64_t n = tg_tensor_count(&call->out[0]), scales = tg_tensor_count(&call->in[4]);
    bool floats = is_small_float(call->out[0].dtype);
    for (int64_t i = 0; i < n; i++) {
        double w = tg_tensor_f64(&call->in[4], scales > 1 ? i / inner % channels : 0);
        double y = sum[i] * x_scale * w / y_scale;
        if (floats) tg_tensor_set_f64(&call->out[0], i, y + zero);
        else tg_quant_put(&call->out[0], i, y, zero);
    }
}

tg_status kernel_qlinear_conv(tg_call *call)
{
    const tg_shape *y = &call->out[0].shape;
    if (!tg_tensor_count(&call->out[0])) return TG_OK;
    tg_conv conv = tg_conv_of(call, &call->in[0].shape, y);
    double *sum = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    tg_conv_run(&conv, tg_quant_centred(call, 0, 2, 0), tg_quant_centred(call, 3, 5, 0),
                tg_call_doubles(call, 8), sum);
    requantise(call, sum, tg_tensor_f64(&call->in[1], 0), tg_dims_count(y, 2, y->rank), y->dim[1]);
    return TG_OK;
}

tg_status infer_conv_integer(tg_infer *infer)
{
    tg_shape out;
    TG_TRY(need_byte(infer, 0, "the input"));
    TG_TRY(need_byte(infer, 1, "the weight"));
    TG_TRY(tg_need_same(infer, 2, 0, "the input's zero point"));
    TG_TRY(tg_need_same(infer, 3, 1, "the weight's zero point"));
    TG_TRY(tg_conv_infer(infer, 0, 1, &out));
    TG_TRY(need_scalar_or(infer, 2, "the input's zero point", 1));
    TG_TRY(need_scalar_or(infer, 3, "the weight's zero point", out.dim[1]));
    infer->out[0] = (tg_type){TG_I32, out};
    return TG_OK;
}

/* Sums of products of bytes are whole in double; beyond 32 bits they wrap. */
static void store_sums(tg_call *call, const double *sum)
{
    int64_t n = tg_tensor_count(&call->out[0]);
    for (int64_t i = 0; i < n; i++) tg_tensor_set_i64(&call->out[0], i, (int64_t)sum[i]);
}

tg_status kernel_conv_integer(tg_call *call)
{
    if (!tg_tensor_count(&call->out[0])) return TG_OK;
    tg_conv conv = tg_conv_of(call, &call->in[0].shape, &call->out[0].shape);
    double *sum = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    tg_conv_run(&conv, tg_quant_centred(call, 0, 2, 0), tg_quant_centred(call, 1, 3, 0), NULL, sum);
    store_sums(call, sum);
    return TG_OK;
}

/* A zero point or scale of an operand: for all, or for each row (left) or column (right). */
static tg_status need_operand(const tg_infer *infer, int slot, const tg_shape *of, bool right,
                              const char *what)
{
    int64_t n = of->rank > (right ? 0 : 1) ? of->dim[of->rank - (right ? 1 : 2)] : 1;
    return need_scalar_or(infer, slot, what, n);
}

tg_status infer_matmul_integer(tg_infer *infer)
{
    const tg_shape *a = &infer->in[0].shape, *b = &infer->in[1].shape;
    TG_TRY(need_byte(infer, 0, "the left operand"));
    TG_TRY(need_byte(infer, 1, "the right operand"));
    TG_TRY(tg_need_same(infer, 2, 0, "the left zero point"));
    TG_TRY(tg_need_same(infer, 3, 1, "the right zero point"));
    TG_TRY(need_operand(infer, 2, a, false, "the left zero point"));
    TG_TRY(need_operand(infer, 3, b, true, "the right zero point"));
    infer->out[0].dtype = TG_I32;
    return tg_matmul_shape(a, b, &infer->out[0].shape);
}

/* The axis that a vector of zero points runs along. */
static int operand_axis(const tg_shape *s, bool right)
{
    int64_t axis = s->rank - (right ? 1 : 2);
    return (int)(axis < 0 ? 0 : axis);
}

static const double *product(tg_call *call, int a, int a_zero, int b, int b_zero)
{
    const tg_shape *left = &call->in[a].shape, *right = &call->in[b].shape;
    tg_matmul p = tg_matmul_of(left, right);
    double *sum = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    tg_matmul_run(&p, tg_quant_centred(call, a, a_zero, operand_axis(left, false)),
                  tg_quant_centred(call, b, b_zero, operand_axis(right, true)), sum);
    return sum;
}

tg_status kernel_matmul_integer(tg_call *call)
{
    store_sums(call, product(call, 0, 2, 1, 3));
    return TG_OK;
}

tg_status infer_qlinear_matmul(tg_infer *infer)
{
    const tg_shape *a = &infer->in[0].shape, *b = &infer->in[3].shape;
    TG_TRY(need_quantised(infer, true));
    TG_TRY(need_operand(infer, 1, a, false, "the left scale"));
    TG_TRY(need_operand(infer, 2, a, false, "the left zero point"));
    TG_TRY(need_operand(infer, 4, b, true, "the right scale"));
    TG_TRY(need_operand(infer, 5, b, true, "the right zero point"));
    infer->out[0].dtype = infer->in[7].dtype;
    return tg_matmul_shape(a, b, &infer->out[0].shape);
}

tg_status kernel_qlinear_matmul(tg_call *call)
{
    const tg_shape *y = &call->out[0].shape;
    if (tg_tensor_count(&call->in[1]) != 1)
        return tg_fail(TG_UNSUPPORTED, "a left scale for each row is not implemented");
    int64_t columns = y->rank ? y->dim[y->rank - 1] : 1;
    requantise(call, product(call, 0, 2, 3, 5), tg_tensor_f64(&call->in[1], 0), 1, columns);
    return TG_OK;
}
