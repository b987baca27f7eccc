/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution, products, pooling and normalisation against values worked out by hand. */
#include "tests/unit/op_run.h"

#define NINE 1, 2, 3, 4, 5, 6, 7, 8, 9

static void conv_adds_up_windows(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 3, 3), NINE), w = F(SHAPE(1, 1, 2, 2), 1, 2, 3, 4);
    CHECK1("Conv", INS(x, w), NO_ATTRS, SHAPE(1, 1, 2, 2), 37, 47, 67, 77);
    CHECK1("Conv", INS(x, w, F(SHAPE(1), 0.5)), NO_ATTRS, SHAPE(1, 1, 2, 2), 37.5, 47.5, 67.5,
           77.5);
    CHECK1("Conv", INS(x, w), ATTRS(INTS("strides", 2, 2), INTS("pads", 1, 1, 0, 0)),
           SHAPE(1, 1, 2, 2), 4, 18, 36, 77);
}

static void conv_does_its_activation(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 3, 3), NINE), w = F(SHAPE(1, 1, 2, 2), 1, 2, 3, 4);
    op_input b = F(SHAPE(1), -50);
    CHECK1("Conv", INS(x, w, b), ATTRS(TEXT("activation", "Relu")), SHAPE(1, 1, 2, 2), 0, 0, 17,
           27);
    CHECK1("Conv", INS(F(SHAPE(1, 1, 1), 1), F(SHAPE(1, 1, 1), 2)),
           ATTRS(TEXT("activation", "Sigmoid")), SHAPE(1, 1, 1), 1 / (1 + exp(-2)));
    op_refused("Conv", INS(x, w), ATTRS(TEXT("activation", "Sin")), TG_INVALID, "Sin");
}

static void conv_keeps_groups_apart(void **state)
{
    (void)state;
    CHECK1("Conv", INS(F(SHAPE(1, 2, 3), 1, 2, 3, 4, 5, 6), F(SHAPE(2, 1, 2), 1, -1, 2, 1)),
           ATTRS(INT("group", 2)), SHAPE(1, 2, 2), -1, -1, 13, 16);
}

static void conv_dilates(void **state)
{
    (void)state;
    CHECK1("Conv", INS(F(SHAPE(1, 1, 5), 1, 2, 3, 4, 5), F(SHAPE(1, 1, 2), 1, 1)),
           ATTRS(INTS("dilations", 2)), SHAPE(1, 1, 3), 4, 6, 8);
}

static void conv_makes_padding_explicit(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 1, 4), 1, 2, 3, 4), w = F(SHAPE(1, 1, 3), 1, 1, 1);
    op_run(&r, "Conv", INS(x, w), ATTRS(TEXT("auto_pad", "SAME_UPPER"), INTS("strides", 2)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 2), VALUES(6, 7));
    ATTR_IS(&r, "pads", 0, 1);
    ATTR_IS(&r, "kernel_shape", 3);
    ATTR_IS(&r, "dilations", 1);
    assert_string_equal(tg_node_attr(r.node, "auto_pad")->s, "NOTSET");
    op_done(&r);
    op_run(&r, "Conv", INS(x, w), ATTRS(TEXT("auto_pad", "SAME_LOWER"), INTS("strides", 2)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 2), VALUES(3, 9));
    ATTR_IS(&r, "pads", 1, 0);
    op_done(&r);
}

static void conv_refuses_what_does_not_fit(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 2, 3), 1, 2, 3, 4, 5, 6);
    op_refused("Conv", INS(x, F(SCALAR, 1)), NO_ATTRS, TG_SHAPE,
               "the input has rank 3 (1x2x3), the weight rank 0 (scalar)");
    op_refused("Conv", INS(x, F(SHAPE(1, 1, 1), 1)), NO_ATTRS, TG_SHAPE, "2 channels");
    op_refused("Conv", INS(x, F(SHAPE(1, 2, 4), 1, 1, 1, 1, 1, 1, 1, 1)), NO_ATTRS, TG_SHAPE,
               "larger than its input");
    op_refused("Conv", INS(x, F(SHAPE(1, 2, 1), 1, 1)), ATTRS(INTS("strides", 0)), TG_INVALID,
               "strides");
    op_refused("Conv", INS(x, F(SHAPE(1, 2, 1), 1, 1)), ATTRS(INTS("pads", 1)), TG_INVALID, "pads");
    op_refused("Conv", INS(x, F(SHAPE(1, 2, 1), 1, 1)), ATTRS(INTS("kernel_shape", 2)), TG_SHAPE,
               "kernel_shape");
    op_refused("Conv", INS(F(SCALAR, 1), F(SCALAR, 1)), NO_ATTRS, TG_SHAPE, "rank 0");
}

static void conv_transpose_spreads(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 2), 1, 2), w = F(SHAPE(1, 1, 3), 1, 1, 1);
    CHECK1("ConvTranspose", INS(x, w), ATTRS(INTS("strides", 2)), SHAPE(1, 1, 5), 1, 1, 3, 2, 2);
    CHECK1("ConvTranspose", INS(x, w, F(SHAPE(1), 10)),
           ATTRS(INTS("strides", 2), INTS("pads", 1, 1)), SHAPE(1, 1, 3), 11, 13, 12);
    CHECK1("ConvTranspose", INS(x, w), ATTRS(INTS("strides", 2), INTS("output_padding", 1)),
           SHAPE(1, 1, 6), 1, 1, 3, 2, 2, 0);
    CHECK1("ConvTranspose", INS(x, w), ATTRS(INTS("strides", 2), TEXT("auto_pad", "SAME_UPPER")),
           SHAPE(1, 1, 4), 1, 1, 3, 2);
    CHECK1("ConvTranspose", INS(x, w), ATTRS(INTS("strides", 2), INTS("output_shape", 4)),
           SHAPE(1, 1, 4), 1, 3, 2, 2);
}

static void conv_transpose_keeps_groups_apart(void **state)
{
    (void)state;
    CHECK1("ConvTranspose", INS(F(SHAPE(1, 2, 1), 3, 5), F(SHAPE(2, 1, 2), 1, 2, 10, 20)),
           ATTRS(INT("group", 2)), SHAPE(1, 2, 2), 3, 6, 50, 100);
}

static void matmul_follows_numpy(void **state)
{
    (void)state;
    op_input a = F(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), v = F(SHAPE(3), 1, 0, -1);
    CHECK1("MatMul", INS(a, F(SHAPE(3, 2), 1, 0, 0, 1, 1, 1)), NO_ATTRS, SHAPE(2, 2), 4, 5, 10, 11);
    CHECK1("MatMul", INS(a, v), NO_ATTRS, SHAPE(2), -2, -2);
    CHECK1("MatMul", INS(v, v), NO_ATTRS, SCALAR, 2);
    CHECK1("MatMul", INS(F(SHAPE(2, 1, 1, 2), 1, 2, 3, 4), F(SHAPE(3, 2, 1), 1, 0, 0, 1, 1, 1)),
           NO_ATTRS, SHAPE(2, 3, 1, 1), 1, 2, 3, 3, 4, 7);
    op_refused("MatMul", INS(a, a), NO_ATTRS, TG_SHAPE, "inner dimensions of 2x3 and 2x3 differ");
    op_refused("MatMul", INS(a, F(SCALAR, 1)), NO_ATTRS, TG_SHAPE, "scalar");
}

static void matmul_of_integers_wraps(void **state)
{
    (void)state;
    op_input a = INPUT(TG_I64, SHAPE(1, 2), 0x1p40, 3), b = INPUT(TG_I64, SHAPE(2, 1), 0x1p30, 5);
    CHECK1("MatMul", INS(a, b), NO_ATTRS, SHAPE(1, 1), 15);
}

/* A sum kept in half precision would stop at 2048. */
static void half_precision_accumulates_in_double(void **state)
{
    (void)state;
    static double ones[4096];
    for (int i = 0; i < 4096; i++) ones[i] = 1;
    op_input a = {TG_F16, SHAPE(1, 4096), ones, 4096, false, NULL};
    op_input b = {TG_F16, SHAPE(4096, 1), ones, 4096, false, NULL};
    CHECK1("MatMul", INS(a, b), NO_ATTRS, SHAPE(1, 1), 4096);
}

static void gemm_scales_and_turns(void **state)
{
    (void)state;
    op_input a = F(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), b = F(SHAPE(2, 2), 1, 2, 3, 4);
    CHECK1("Gemm", INS(a, b, F(SHAPE(2), 1, -1)),
           ATTRS(INT("transA", 1), REAL("alpha", 2), REAL("beta", 3)), SHAPE(3, 2), 29, 33, 37, 45,
           45, 57);
    CHECK1("Gemm", INS(b, a, F(SHAPE(2, 1), 100, 200)), NO_ATTRS, SHAPE(2, 3), 109, 112, 115, 219,
           226, 233);
    CHECK1("Gemm", INS(b, b, F(SCALAR, 1)), ATTRS(INT("transB", 1)), SHAPE(2, 2), 6, 12, 12, 26);
    op_refused("Gemm", INS(b, b, F(SHAPE(3), 1, 2, 3)), NO_ATTRS, TG_SHAPE, "addend");
}

static void einsum_reads_equations(void **state)
{
    (void)state;
    op_input a = F(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), s = F(SHAPE(2, 2), 1, 2, 3, 4);
    CHECK1("Einsum", INS(s, a), ATTRS(TEXT("equation", "ij, jk")), SHAPE(2, 3), 9, 12, 15, 19, 26,
           33);
    CHECK1("Einsum", INS(a), ATTRS(TEXT("equation", "ba")), SHAPE(3, 2), 1, 4, 2, 5, 3, 6);
    CHECK1("Einsum", INS(s), ATTRS(TEXT("equation", "ii->i")), SHAPE(2), 1, 4);
    CHECK1("Einsum", INS(s), ATTRS(TEXT("equation", "ii")), SCALAR, 5);
    CHECK1("Einsum", INS(a), ATTRS(TEXT("equation", "...j->...")), SHAPE(2), 6, 15);
    op_refused("Einsum", INS(a), ATTRS(TEXT("equation", "ij,jk")), TG_INVALID, "operands");
    op_refused("Einsum", INS(a), ATTRS(TEXT("equation", "ijk")), TG_INVALID, "term");
    op_refused("Einsum", INS(a), ATTRS(TEXT("equation", "ij->k")), TG_INVALID, "output label");
    op_refused("Einsum", INS(a), ATTRS(TEXT("equation", "i.j")), TG_INVALID, "dot");
}

static void max_pool_tells_where(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 1, 4, 4), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    op_run(&r, "MaxPool", INS(x), ATTRS(INTS("kernel_shape", 2, 2), INTS("strides", 2, 2)), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 2, 2), VALUES(6, 8, 14, 16));
    op_expect(&r, 1, TG_I64, SHAPE(1, 1, 2, 2), VALUES(5, 7, 13, 15));
    op_done(&r);
    op_run(&r, "MaxPool", INS(x),
           ATTRS(INTS("kernel_shape", 2, 2), INTS("strides", 2, 2), INT("storage_order", 1)), 2);
    op_expect(&r, 1, TG_I64, SHAPE(1, 1, 2, 2), VALUES(5, 13, 7, 15));
    op_done(&r);
}

static void pools_round_up_and_pad(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 5), 1, 2, 3, 4, 5), y = F(SHAPE(1, 1, 2), -1, -2);
    CHECK1("MaxPool", INS(x),
           ATTRS(INTS("kernel_shape", 2), INTS("strides", 2), INT("ceil_mode", 1)), SHAPE(1, 1, 3),
           2, 4, 5);
    CHECK1("AveragePool", INS(x),
           ATTRS(INTS("kernel_shape", 2), INTS("strides", 2), INT("ceil_mode", 1)), SHAPE(1, 1, 3),
           1.5, 3.5, 5);
    /* Padding is never the maximum. */
    CHECK1("MaxPool", INS(y), ATTRS(INTS("kernel_shape", 2), INTS("pads", 1, 1)), SHAPE(1, 1, 3),
           -1, -1, -2);
    /* Where there is nothing else the greatest is the least that the type has. */
    CHECK_AS(TG_I8, "MaxPool", INS(INPUT(TG_I8, SHAPE(1, 1, 2), -1, -2)),
             ATTRS(INTS("kernel_shape", 1), INTS("pads", 1, 0)), SHAPE(1, 1, 3), -128, -1, -2);
    CHECK_AS(TG_U8, "MaxPool", INS(INPUT(TG_U8, SHAPE(1, 1, 2), 1, 2)),
             ATTRS(INTS("kernel_shape", 1), INTS("pads", 1, 0)), SHAPE(1, 1, 3), 0, 1, 2);
    CHECK1("AveragePool", INS(y), ATTRS(INTS("kernel_shape", 2), INTS("pads", 1, 0)),
           SHAPE(1, 1, 2), -1, -1.5);
    CHECK1("AveragePool", INS(y),
           ATTRS(INTS("kernel_shape", 2), INTS("pads", 1, 0), INT("count_include_pad", 1)),
           SHAPE(1, 1, 2), -0.5, -1.5);
    CHECK1("MaxPool", INS(x), ATTRS(INTS("kernel_shape", 2), INTS("dilations", 3)), SHAPE(1, 1, 2),
           4, 5);
    CHECK1("LpPool", INS(F(SHAPE(1, 1, 2), 3, -4)), ATTRS(INTS("kernel_shape", 2)), SHAPE(1, 1, 1),
           5);
    op_refused("MaxPool", INS(x), NO_ATTRS, TG_INVALID, "kernel_shape");
}

/* A window that would start in the trailing padding is dropped. */
static void pools_drop_the_window_behind(void **state)
{
    (void)state;
    CHECK1(
        "MaxPool", INS(F(SHAPE(1, 1, 2), 1, 2)),
        ATTRS(INTS("kernel_shape", 2), INTS("strides", 3), INTS("pads", 1, 1), INT("ceil_mode", 1)),
        SHAPE(1, 1, 1), 1);
}

static void global_pools_leave_one(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 2, 1, 2), 1, 3, -5, -7);
    CHECK1("GlobalAveragePool", INS(x), NO_ATTRS, SHAPE(1, 2, 1, 1), 2, -6);
    CHECK1("GlobalMaxPool", INS(x), NO_ATTRS, SHAPE(1, 2, 1, 1), 3, -5);
    CHECK1("GlobalLpPool", INS(x), ATTRS(INT("p", 1)), SHAPE(1, 2, 1, 1), 4, 12);
}

static void batch_norm_uses_running_statistics(void **state)
{
    (void)state;
    CHECK1("BatchNormalization",
           INS(F(SHAPE(1, 2, 2), 1, 2, 3, 4), F(SHAPE(2), 2, 1), F(SHAPE(2), 1, 0),
               F(SHAPE(2), 1, 3), F(SHAPE(2), 4, 1)),
           ATTRS(REAL("epsilon", 0)), SHAPE(1, 2, 2), 1, 2, 0, 1);
}

static void batch_norm_trains(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2, 1), 1, 3), one = F(SHAPE(1), 1);
    op_run(&r, "BatchNormalization", INS(x, F(SHAPE(1), 2), one, F(SHAPE(1), 10), one),
           ATTRS(INT("training_mode", 1), REAL("epsilon", 0)), 3);
    op_expect(&r, 0, TG_F32, SHAPE(2, 1), VALUES(-1, 3));
    op_expect(&r, 1, TG_F32, SHAPE(1), VALUES(9.2));
    op_expect(&r, 2, TG_F32, SHAPE(1), VALUES(1));
    op_done(&r);
    assert_status(op_build(&r, "BatchNormalization", INS(x, one, one, one, one), NO_ATTRS, 3),
                  TG_INVALID);
}

static void layer_norm_gives_its_statistics(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "LayerNormalization",
           INS(F(SHAPE(2, 2), 1, 3, 2, 10), F(SHAPE(2), 1, 2), F(SHAPE(2), 0, 5)),
           ATTRS(REAL("epsilon", 0)), 3);
    op_expect(&r, 0, TG_F32, SHAPE(2, 2), VALUES(-1, 7, -1, 7));
    op_expect(&r, 1, TG_F32, SHAPE(2, 1), VALUES(2, 6));
    op_expect(&r, 2, TG_F32, SHAPE(2, 1), VALUES(1, 0.25));
    assert_int_equal(tg_node_attr(r.node, "axis")->i, 1);
    op_done(&r);
    op_refused("LayerNormalization", INS(F(SHAPE(1, 2), 1, 3), F(SHAPE(2, 2), 1, 1, 1, 1)),
               NO_ATTRS, TG_SHAPE, "does not broadcast");
}

static void other_norms_normalise(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 2, 2), 1, 3, 2, 10), two = F(SHAPE(2), 1, 2), shift = F(SHAPE(2), 0, 1);
    CHECK1("InstanceNormalization", INS(x, two, shift), ATTRS(REAL("epsilon", 0)), SHAPE(1, 2, 2),
           -1, 1, -1, 3);
    /* mean 4, variance 12.5 */
    double s = sqrt(12.5);
    CHECK1("GroupNormalization", INS(x, two, shift),
           ATTRS(REAL("epsilon", 0), INT("num_groups", 1)), SHAPE(1, 2, 2), -3 / s, -1 / s,
           1 - 4 / s, 1 + 12 / s);
    CHECK1("RMSNormalization", INS(F(SHAPE(2), 3, 4), F(SHAPE(2), 1, 2)), ATTRS(REAL("epsilon", 0)),
           SHAPE(2), 3 / sqrt(12.5), 8 / sqrt(12.5));
    CHECK1("LpNormalization", INS(F(SHAPE(2, 2), 3, 4, 0, 0)), NO_ATTRS, SHAPE(2, 2), 0.6, 0.8, 0,
           0);
    CHECK1("LpNormalization", INS(F(SHAPE(2, 1), 1, -3)), ATTRS(INT("axis", 0), INT("p", 1)),
           SHAPE(2, 1), 0.25, -0.75);
    CHECK1("MeanVarianceNormalization", INS(F(SHAPE(2, 2), 1, 10, 3, 30)), ATTRS(INTS("axes", 0)),
           SHAPE(2, 2), -1, -1, 1, 1);
    /* size 2 looks one channel ahead */
    CHECK1("LRN", INS(F(SHAPE(1, 2, 1), 1, 2)),
           ATTRS(INT("size", 2), REAL("alpha", 2), REAL("beta", 1)), SHAPE(1, 2, 1), 1.0 / 6,
           2.0 / 5);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(conv_adds_up_windows),
    cmocka_unit_test(conv_does_its_activation),
    cmocka_unit_test(conv_keeps_groups_apart),
    cmocka_unit_test(conv_dilates),
    cmocka_unit_test(conv_makes_padding_explicit),
    cmocka_unit_test(conv_refuses_what_does_not_fit),
    cmocka_unit_test(conv_transpose_spreads),
    cmocka_unit_test(conv_transpose_keeps_groups_apart),
    cmocka_unit_test(matmul_follows_numpy),
    cmocka_unit_test(matmul_of_integers_wraps),
    cmocka_unit_test(half_precision_accumulates_in_double),
    cmocka_unit_test(gemm_scales_and_turns),
    cmocka_unit_test(einsum_reads_equations),
    cmocka_unit_test(max_pool_tells_where),
    cmocka_unit_test(pools_round_up_and_pad),
    cmocka_unit_test(pools_drop_the_window_behind),
    cmocka_unit_test(global_pools_leave_one),
    cmocka_unit_test(batch_norm_uses_running_statistics),
    cmocka_unit_test(batch_norm_trains),
    cmocka_unit_test(layer_norm_gives_its_statistics),
    cmocka_unit_test(other_norms_normalise),
};
UNIT_MAIN(tests)
