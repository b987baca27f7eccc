/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers that stand for reals, and recurrent cells, against values worked out by hand. */
#include "tests/unit/op_run.h"

#define U8(shape, ...) INPUT(TG_U8, shape, __VA_ARGS__)
#define I8(shape, ...) INPUT(TG_I8, shape, __VA_ARGS__)

static void quantize_rounds_to_even_and_saturates(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(6), 1, 3, 5, -3, 1000, -1000), two = F(SCALAR, 2);
    op_run(&r, "QuantizeLinear", INS(x, two, U8(SCALAR, 10)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_U8, SHAPE(6), VALUES(10, 12, 12, 8, 255, 0));
    op_done(&r);
    op_run(&r, "QuantizeLinear", INS(x, two, I8(SCALAR, 0)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I8, SHAPE(6), VALUES(0, 2, 2, -2, 127, -128));
    op_done(&r);
    op_run(&r, "QuantizeLinear", INS(x, two), NO_ATTRS, 1);
    op_expect(&r, 0, TG_U8, SHAPE(6), VALUES(0, 2, 2, 0, 255, 0));
    op_done(&r);
}

static void quantize_scales_an_axis_or_blocks(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2, 2), 10, 10, 10, 10);
    op_run(&r, "QuantizeLinear", INS(x, F(SHAPE(2), 1, 5)), ATTRS(INT("axis", -2)), 1);
    op_expect(&r, 0, TG_U8, SHAPE(2, 2), VALUES(10, 10, 2, 2));
    assert_int_equal(tg_node_attr(r.node, "axis")->i, 0);
    op_done(&r);
    op_run(&r, "QuantizeLinear",
           INS(F(SHAPE(1, 3), 10, 10, 10), F(SHAPE(1, 2), 1, 5), U8(SHAPE(1, 2), 0, 1)),
           ATTRS(INT("axis", 1), INT("block_size", 2)), 1);
    op_expect(&r, 0, TG_U8, SHAPE(1, 3), VALUES(10, 10, 3));
    op_done(&r);
    op_refused("QuantizeLinear", INS(x, F(SHAPE(3), 1, 1, 1)), NO_ATTRS, TG_SHAPE, "scale");
    op_refused("QuantizeLinear", INS(x, F(SHAPE(2), 1, 1), U8(SCALAR, 0)), NO_ATTRS, TG_SHAPE,
               "zero point");
}

static void dequantize_does_without_a_zero_point(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "DequantizeLinear", INS(I8(SHAPE(3), -128, 0, 127), F(SCALAR, 0.5)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(3), VALUES(-64, 0, 63.5));
    op_done(&r);
    op_run(&r, "DequantizeLinear", INS(INPUT(TG_I32, SHAPE(2), 100000, -3), F(SHAPE(2), 0.5, 2)),
           ATTRS(INT("axis", 0)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(50000, -6));
    op_done(&r);
    op_run(&r, "DequantizeLinear", INS(U8(SHAPE(2), 3, 4), F(SCALAR, 2), U8(SCALAR, 4)), NO_ATTRS,
           1);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(-2, 0));
    op_done(&r);
}

/* The example of the standard. */
static void dynamic_quantize_finds_the_range(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "DynamicQuantizeLinear", INS(F(SHAPE(6), 0, 2, -3, -2.5, 1.34, 0.5)), NO_ATTRS, 3);
    op_expect(&r, 0, TG_U8, SHAPE(6), VALUES(153, 255, 0, 26, 221, 179));
    op_expect(&r, 1, TG_F32, SCALAR, VALUES(0.0196078438));
    op_expect(&r, 2, TG_U8, SCALAR, VALUES(153));
    op_done(&r);
}

static void integer_products_take_off_zero_points(void **state)
{
    (void)state;
    op_result r;
    op_input a = U8(SHAPE(2, 2), 11, 7, 3, 10), b = U8(SHAPE(2, 1), 1, 4);
    op_run(&r, "MatMulInteger", INS(a, b, U8(SCALAR, 12)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I32, SHAPE(2, 1), VALUES(-21, -17));
    op_done(&r);
    op_run(&r, "MatMulInteger", INS(a, b, U8(SHAPE(2), 12, 3), U8(SHAPE(1), 1)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I32, SHAPE(2, 1), VALUES(-15, 21));
    op_done(&r);
    op_run(&r, "ConvInteger",
           INS(U8(SHAPE(1, 1, 3, 3), 2, 3, 4, 5, 6, 7, 8, 9, 10), U8(SHAPE(1, 1, 2, 2), 1, 1, 1, 1),
               U8(SCALAR, 1)),
           NO_ATTRS, 1);
    op_expect(&r, 0, TG_I32, SHAPE(1, 1, 2, 2), VALUES(12, 16, 24, 28));
    op_done(&r);
}

static void quantised_products_are_scaled_back(void **state)
{
    (void)state;
    op_result r;
    op_input half = F(SCALAR, 0.5), two = F(SCALAR, 2), zero = U8(SCALAR, 0);
    /* (3 - 1) * (5 - 0) + (4 - 1) * (6 - 0) = 28; times 0.5 * 2 / 4 is 7; plus 100 */
    op_run(&r, "QLinearMatMul",
           INS(U8(SHAPE(1, 2), 3, 4), half, U8(SCALAR, 1), U8(SHAPE(2, 1), 5, 6), two, zero,
               F(SCALAR, 4), U8(SCALAR, 100)),
           NO_ATTRS, 1);
    op_expect(&r, 0, TG_U8, SHAPE(1, 1), VALUES(107));
    op_done(&r);
    /* channel 0: 2 * 1 + 10 = 12, times 0.5 * 2 / 1 is 12; channel 1: 2 * 3 - 1 = 5, times 0.5 * 4
     */
    op_run(&r, "QLinearConv",
           INS(U8(SHAPE(1, 1, 1), 2), half, zero, U8(SHAPE(2, 1, 1), 1, 3), F(SHAPE(2), 2, 4),
               U8(SHAPE(2), 0, 0), F(SCALAR, 1), U8(SCALAR, 0), INPUT(TG_I32, SHAPE(2), 10, -1)),
           NO_ATTRS, 1);
    op_expect(&r, 0, TG_U8, SHAPE(1, 2, 1), VALUES(12, 10));
    op_done(&r);
}

/* With weights of zero all gates are 0.5 and the candidate is 0. */
static void lstm_halves_its_cell(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "LSTM",
           INS(F(SHAPE(2, 1, 1), 1, 1), F(SHAPE(1, 4, 1), 0, 0, 0, 0),
               F(SHAPE(1, 4, 1), 0, 0, 0, 0), ABSENT, ABSENT, F(SHAPE(1, 1, 1), 9),
               F(SHAPE(1, 1, 1), 2)),
           ATTRS(INT("hidden_size", 1)), 3);
    op_expect(&r, 0, TG_F32, SHAPE(2, 1, 1, 1), VALUES(0.5 * tanh(1), 0.5 * tanh(0.5)));
    op_expect(&r, 1, TG_F32, SHAPE(1, 1, 1), VALUES(0.5 * tanh(0.5)));
    op_expect(&r, 2, TG_F32, SHAPE(1, 1, 1), VALUES(0.5));
    op_done(&r);
}

static void gru_halves_its_state(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "GRU",
           INS(F(SHAPE(1, 1, 1), 1), F(SHAPE(1, 3, 1), 0, 0, 0), F(SHAPE(1, 3, 1), 0, 0, 0), ABSENT,
               ABSENT, F(SHAPE(1, 1, 1), 3)),
           NO_ATTRS, 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 1, 1), VALUES(1.5));
    assert_int_equal(tg_node_attr(r.node, "hidden_size")->i, 1);
    op_done(&r);
}

/* Two sequences, of 2 and 1 steps, both ways: h = x + h', since the function is the identity. */
static void rnn_runs_both_ways(void **state)
{
    (void)state;
    op_result r;
    static const char *const affine[] = {"Affine", "Affine"};
    tg_named_attr acts = {"activations", {.kind = TG_ATTR_STRS, .n = 2, .strs = affine}};
    op_run(&r, "RNN",
           INS(F(SHAPE(2, 2, 1), 1, 10, 2, 20), F(SHAPE(2, 1, 1), 1, 1), F(SHAPE(2, 1, 1), 1, 1),
               ABSENT, INPUT(TG_I32, SHAPE(2), 2, 1)),
           ATTRS(TEXT("direction", "bidirectional"), acts), 2);
    op_expect(&r, 0, TG_F32, SHAPE(2, 2, 2, 1), VALUES(1, 10, 3, 10, 3, 0, 2, 0));
    op_expect(&r, 1, TG_F32, SHAPE(2, 2, 1), VALUES(3, 10, 3, 10));
    op_done(&r);
}

static void recurrent_refuses_what_does_not_fit(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 1), 1), w = F(SHAPE(1, 1, 1), 1);
    op_refused("LSTM", INS(x, w, w), NO_ATTRS, TG_SHAPE, "the weight has shape 1x1x1, not 1x4x1");
    op_refused("RNN", INS(x, w, w), ATTRS(TEXT("direction", "up")), TG_INVALID, "up");
    op_refused("RNN", INS(x, w, w), ATTRS(INT("hidden_size", 2)), TG_INVALID, "hidden_size");
    op_refused("RNN", INS(x, F(SHAPE(1), 1), F(SCALAR, 1)), NO_ATTRS, TG_SHAPE, "recurrence");
    op_result r;
    assert_ok(op_build(&r, "RNN", INS(x, w, w, ABSENT, INPUT(TG_I32, SHAPE(1), 9)), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_INVALID);
    op_done(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(quantize_rounds_to_even_and_saturates),
    cmocka_unit_test(quantize_scales_an_axis_or_blocks),
    cmocka_unit_test(dequantize_does_without_a_zero_point),
    cmocka_unit_test(dynamic_quantize_finds_the_range),
    cmocka_unit_test(integer_products_take_off_zero_points),
    cmocka_unit_test(quantised_products_are_scaled_back),
    cmocka_unit_test(lstm_halves_its_cell),
    cmocka_unit_test(gru_halves_its_state),
    cmocka_unit_test(rnn_runs_both_ways),
    cmocka_unit_test(recurrent_refuses_what_does_not_fit),
};
UNIT_MAIN(tests)
