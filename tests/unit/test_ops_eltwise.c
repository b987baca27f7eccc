/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators, comparisons, casts and reductions against values worked out by hand. */
#include "tests/unit/op_run.h"

#include "engine/ops/broadcast.h"
#include "engine/ops/element.h"

#define SIX 1, 2, 3, 4, 5, 6

static void binary_broadcasts(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 3), SIX);
    CHECK1("Add", INS(x, F(SHAPE(3), 10, 20, 30)), NO_ATTRS, SHAPE(2, 3), 11, 22, 33, 14, 25, 36);
    CHECK1("Sub", INS(x, F(SHAPE(2, 1), 1, 2)), NO_ATTRS, SHAPE(2, 3), 0, 1, 2, 2, 3, 4);
    CHECK1("Mul", INS(F(SCALAR, 2), x), NO_ATTRS, SHAPE(2, 3), 2, 4, 6, 8, 10, 12);
    CHECK1("Div", INS(F(SHAPE(2, 1, 1), 2, 4), F(SHAPE(1, 2), 1, 2)), NO_ATTRS, SHAPE(2, 1, 2), 2,
           1, 4, 2);
    op_refused("Add", INS(x, F(SHAPE(2), 1, 2)), NO_ATTRS, TG_SHAPE, "do not broadcast");
    op_refused("Add", INS(x, INPUT(TG_I32, SCALAR, 1)), NO_ATTRS, TG_TYPE, "differ");
}

static void binary_takes_empty_tensors(void **state)
{
    (void)state;
    op_input none = {TG_F32, SHAPE(0, 3), NULL, 0, false, NULL};
    op_result r;
    op_run(&r, "Add", INS(none, F(SHAPE(3), 1, 2, 3)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(0, 3), NULL, 0);
    op_done(&r);
    op_run(&r, "Relu", INS(none), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(0, 3), NULL, 0);
    op_done(&r);
}

static void integers_wrap(void **state)
{
    (void)state;
    CHECK1("Add", INS(INPUT(TG_U8, SHAPE(2), 250, 1), INPUT(TG_U8, SHAPE(2), 10, 2)), NO_ATTRS,
           SHAPE(2), 4, 3);
    CHECK1("Mul", INS(INPUT(TG_I8, SHAPE(2), 100, -3), INPUT(TG_I8, SHAPE(2), 3, 5)), NO_ATTRS,
           SHAPE(2), 44, -15);
    CHECK1("Neg", INS(INPUT(TG_I8, SHAPE(2), -128, 5)), NO_ATTRS, SHAPE(2), -128, -5);
    CHECK1("Abs", INS(INPUT(TG_I32, SHAPE(2), -2147483648.0, -7)), NO_ATTRS, SHAPE(2),
           -2147483648.0, 7);
}

static void integers_divide_towards_zero(void **state)
{
    (void)state;
    op_input a = INPUT(TG_I32, SHAPE(5), 7, -7, 7, -2147483648.0, 1);
    op_input b = INPUT(TG_I32, SHAPE(5), 2, 2, -2, -1, 0);
    CHECK1("Div", INS(a, b), NO_ATTRS, SHAPE(5), 3, -3, -3, -2147483648.0, 0);
    CHECK1("Mod", INS(a, b), NO_ATTRS, SHAPE(5), 1, 1, -1, 0, 0);
    CHECK1("Mod", INS(a, b), ATTRS(INT("fmod", 1)), SHAPE(5), 1, -1, 1, 0, 0);
    op_input u = INPUT(TG_U32, SHAPE(2), 9, 4294967295.0);
    op_input v = INPUT(TG_U32, SHAPE(2), 4294967295.0, 4294967295.0);
    CHECK1("Div", INS(u, v), NO_ATTRS, SHAPE(2), 0, 1);
    CHECK1("Mod", INS(u, v), NO_ATTRS, SHAPE(2), 9, 0);
}

static void nan_wins_in_max_and_min(void **state)
{
    (void)state;
    op_input a = F(SHAPE(3), NAN, 1, 2), b = F(SHAPE(3), 1, NAN, 3), c = F(SHAPE(1), 2.5);
    CHECK1("Max", INS(a, b, c), NO_ATTRS, SHAPE(3), NAN, NAN, 3);
    CHECK1("Min", INS(a, b, c), NO_ATTRS, SHAPE(3), NAN, NAN, 2);
    CHECK1("Max", INS(c), NO_ATTRS, SHAPE(1), 2.5);
    CHECK1("Sum", INS(F(SHAPE(2), 1, 2), F(SHAPE(2, 1), 10, 20), c), NO_ATTRS, SHAPE(2, 2), 13.5,
           14.5, 23.5, 24.5);
    CHECK1("Mean", INS(F(SHAPE(2), 1, 2), F(SCALAR, 4)), NO_ATTRS, SHAPE(2), 2.5, 3);
}

static void halves_round_once(void **state)
{
    (void)state;
    op_input a = INPUT(TG_F16, SHAPE(2), 2048, 0.5), b = INPUT(TG_F16, SHAPE(2), 1, 0.25);
    CHECK1("Add", INS(a, b), NO_ATTRS, SHAPE(2), 2048, 0.75);
    CHECK1("Add", INS(INPUT(TG_BF16, SCALAR, 256), INPUT(TG_BF16, SCALAR, 1)), NO_ATTRS, SCALAR,
           256);
    /* 1 + 2^-11 + 2^-40 lies above the middle of two halves, its nearest float on it. */
    op_input x = INPUT(TG_F64, SHAPE(1), 1 + 0x1p-11 + 0x1p-40);
    CHECK_AS(TG_F16, "Cast", INS(x), ATTRS(INT("to", TG_F16)), SHAPE(1), 1 + 0x1p-10);
}

static void pow_mixes_types(void **state)
{
    (void)state;
    op_input x = F(SHAPE(3), 1, 2, -3);
    CHECK1("Pow", INS(x, INPUT(TG_I64, SCALAR, 3)), NO_ATTRS, SHAPE(3), 1, 8, -27);
    CHECK1("Pow", INS(INPUT(TG_I32, SHAPE(2), 3, 2), F(SCALAR, 2)), NO_ATTRS, SHAPE(2), 9, 4);
    CHECK1("Pow", INS(INPUT(TG_I32, SHAPE(2), 2, 65536), INPUT(TG_I32, SHAPE(2), 31, 2)), NO_ATTRS,
           SHAPE(2), -2147483648.0, 0);
}

static void unary_values(void **state)
{
    (void)state;
    CHECK1("Round", INS(F(SHAPE(5), 0.5, 1.5, 2.5, -0.5, -1.7)), NO_ATTRS, SHAPE(5), 0, 2, 2, 0,
           -2);
    CHECK1("Sign", INS(F(SHAPE(4), -3, 0, 2, NAN)), NO_ATTRS, SHAPE(4), -1, 0, 1, NAN);
    CHECK1("Relu", INS(F(SHAPE(3), -1, NAN, 2)), NO_ATTRS, SHAPE(3), 0, NAN, 2);
    CHECK1("Sigmoid", INS(F(SHAPE(3), 0, -1000, 1000)), NO_ATTRS, SHAPE(3), 0.5, 0, 1);
    CHECK1("Softplus", INS(F(SHAPE(2), 0, 1000)), NO_ATTRS, SHAPE(2), log(2), 1000);
    CHECK1("HardSwish", INS(F(SHAPE(3), -4, 0, 3)), NO_ATTRS, SHAPE(3), 0, 0, 3);
    CHECK1("HardSigmoid", INS(F(SHAPE(3), -9, 1, 9)), ATTRS(REAL("alpha", 0.25f)), SHAPE(3), 0,
           0.75, 1);
    CHECK1("Elu", INS(F(SHAPE(2), -1, 2)), ATTRS(REAL("alpha", 2)), SHAPE(2), 2 * expm1(-1), 2);
    CHECK1("LeakyRelu", INS(F(SHAPE(2), -1, 2)), ATTRS(REAL("alpha", 0.5f)), SHAPE(2), -0.5, 2);
    CHECK1("Shrink", INS(F(SHAPE(3), -2, 0.25, 2)), ATTRS(REAL("bias", 1)), SHAPE(3), -1, 0, 1);
    CHECK1("PRelu", INS(F(SHAPE(2, 2), -1, -2, 3, -4), F(SHAPE(2), 10, 100)), NO_ATTRS, SHAPE(2, 2),
           -10, -200, 3, -400);
    op_refused("PRelu", INS(F(SHAPE(1), 1), F(SHAPE(2), 1, 2)), NO_ATTRS, TG_SHAPE, "slope");
}

static void clip_takes_bounds_from_constants(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(4), -5, 0, 3, NAN);
    op_run(&r, "Clip", INS(x, FIXED(TG_F32, SCALAR, -1), FIXED(TG_F32, SCALAR, 2)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(4), VALUES(-1, 0, 2, NAN));
    assert_int_equal(r.node->n_in, 1);
    assert_true(tg_node_attr(r.node, "max")->f == 2);
    op_done(&r);
    CHECK1("Clip", INS(x, ABSENT, F(SCALAR, 1)), NO_ATTRS, SHAPE(4), -5, 0, 1, NAN);
    CHECK1("Clip", INS(x), NO_ATTRS, SHAPE(4), -5, 0, 3, NAN);
    CHECK1("Clip", INS(F(SHAPE(1), 0), F(SCALAR, 3), F(SCALAR, 1)), NO_ATTRS, SHAPE(1), 1);
    op_refused("Clip", INS(x, F(SHAPE(2), 1, 2)), NO_ATTRS, TG_SHAPE, "bound");
}

static void clip_keeps_large_bounds_exact(void **state)
{
    (void)state;
    op_result r;
    op_input most = FIXED(TG_I64, SCALAR, 16777217);
    op_run(&r, "Clip", INS(INPUT(TG_I64, SHAPE(2), 16777217, 99999999), ABSENT, most), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I64, SHAPE(2), VALUES(16777217, 16777217));
    assert_true(((int64_t *)r.out[0].data)[1] == 16777217);
    assert_int_equal(r.node->n_in, 3);
    op_done(&r);
}

static void comparisons_and_logic(void **state)
{
    (void)state;
    op_input a = F(SHAPE(3), 1, 2, NAN), b = F(SHAPE(3), 1, 3, NAN);
    CHECK_AS(TG_BOOL, "Equal", INS(a, b), NO_ATTRS, SHAPE(3), 1, 0, 0);
    CHECK_AS(TG_BOOL, "Less", INS(a, b), NO_ATTRS, SHAPE(3), 0, 1, 0);
    CHECK_AS(TG_BOOL, "GreaterOrEqual", INS(a, b), NO_ATTRS, SHAPE(3), 1, 0, 0);
    CHECK_AS(TG_BOOL, "IsNaN", INS(a), NO_ATTRS, SHAPE(3), 0, 0, 1);
    CHECK_AS(TG_BOOL, "IsInf", INS(F(SHAPE(3), INFINITY, -INFINITY, 0)),
             ATTRS(INT("detect_negative", 0)), SHAPE(3), 1, 0, 0);
    op_input p = INPUT(TG_BOOL, SHAPE(2), 0, 1), q = INPUT(TG_BOOL, SHAPE(2), 1, 1);
    CHECK1("And", INS(p, q), NO_ATTRS, SHAPE(2), 0, 1);
    CHECK1("Xor", INS(p, q), NO_ATTRS, SHAPE(2), 1, 0);
    CHECK1("Not", INS(p), NO_ATTRS, SHAPE(2), 1, 0);
    CHECK1("BitShift", INS(INPUT(TG_U8, SHAPE(2), 129, 3), INPUT(TG_U8, SHAPE(2), 1, 8)),
           ATTRS(TEXT("direction", "LEFT")), SHAPE(2), 2, 0);
    CHECK1("BitwiseNot", INS(INPUT(TG_U8, SHAPE(1), 1)), NO_ATTRS, SHAPE(1), 254);
}

static void where_chooses(void **state)
{
    (void)state;
    op_input c = INPUT(TG_BOOL, SHAPE(2, 1), 1, 0);
    CHECK_AS(TG_F32, "Where", INS(c, F(SHAPE(2), 1, 2), F(SCALAR, 9)), NO_ATTRS, SHAPE(2, 2), 1, 2,
             9, 9);
    op_refused("Where", INS(F(SCALAR, 1), F(SCALAR, 1), F(SCALAR, 1)), NO_ATTRS, TG_TYPE, "bool");
}

static void casts(void **state)
{
    (void)state;
    op_input x = F(SHAPE(4), 1.7, -1.7, 0.5, -0.5);
    CHECK_AS(TG_I64, "Cast", INS(x), ATTRS(INT("to", TG_I64)), SHAPE(4), 1, -1, 0, 0);
    CHECK_AS(TG_BOOL, "Cast", INS(x), ATTRS(INT("to", TG_BOOL)), SHAPE(4), 1, 1, 1, 1);
    CHECK_AS(TG_I8, "Cast", INS(INPUT(TG_I32, SHAPE(2), 300, -1)), ATTRS(INT("to", TG_I8)),
             SHAPE(2), 44, -1);
    CHECK_AS(TG_F32, "CastLike", INS(INPUT(TG_U64, SHAPE(1), 0x1p63), F(SCALAR, 0)), NO_ATTRS,
             SHAPE(1), 0x1p63);
    CHECK_AS(TG_F16, "Cast", INS(INPUT(TG_F64, SHAPE(2), 1e6, 0x1p-24)), ATTRS(INT("to", TG_F16)),
             SHAPE(2), INFINITY, 0x1p-24);
    op_refused("Cast", INS(x), ATTRS(INT("to", 99)), TG_UNSUPPORTED, "99");
}

static void reductions(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 3), SIX);
    op_input last = FIXED(TG_I64, SHAPE(1), -1);
    CHECK1("ReduceSum", INS(x, last), NO_ATTRS, SHAPE(2, 1), 6, 15);
    CHECK1("ReduceMean", INS(x), ATTRS(INTS("axes", 0), INT("keepdims", 0)), SHAPE(3), 2.5, 3.5,
           4.5);
    CHECK1("ReduceMax", INS(x), ATTRS(INT("keepdims", 0)), SCALAR, 6);
    CHECK1("ReduceMin", INS(F(SHAPE(2), NAN, 1)), NO_ATTRS, SHAPE(1), NAN);
    CHECK1("ReduceProd", INS(x, last), NO_ATTRS, SHAPE(2, 1), 6, 120);
    CHECK1("ReduceL1", INS(INPUT(TG_I32, SHAPE(2), -3, 2)), NO_ATTRS, SHAPE(1), 5);
    CHECK1("ReduceL2", INS(F(SHAPE(2), 3, 4)), NO_ATTRS, SHAPE(1), 5);
    CHECK1("ReduceSumSquare", INS(F(SHAPE(2), 3, 4)), NO_ATTRS, SHAPE(1), 25);
    CHECK1("ReduceLogSumExp", INS(F(SHAPE(3), 1000, 1000, -INFINITY)), NO_ATTRS, SHAPE(1),
           1000 + log(2));
    CHECK1("ReduceLogSum", INS(F(SHAPE(2), 1, 2)), NO_ATTRS, SHAPE(1), log(3));
}

static void reductions_of_nothing(void **state)
{
    (void)state;
    op_input none = {TG_F32, SHAPE(2, 0), NULL, 0, false, NULL};
    op_input axis = FIXED(TG_I64, SHAPE(1), 1), no_axes = EMPTY_CONST(TG_I64);
    CHECK1("ReduceSum", INS(none, axis), NO_ATTRS, SHAPE(2, 1), 0, 0);
    CHECK1("ReduceProd", INS(none, axis), NO_ATTRS, SHAPE(2, 1), 1, 1);
    CHECK1("ReduceMax", INS(none, axis), NO_ATTRS, SHAPE(2, 1), -INFINITY, -INFINITY);
    CHECK1("ReduceMean", INS(none, axis), NO_ATTRS, SHAPE(2, 1), NAN, NAN);
    op_input x = F(SHAPE(2), 3, 4);
    CHECK1("ReduceSum", INS(x, no_axes), NO_ATTRS, SHAPE(1), 7);
    CHECK1("ReduceSumSquare", INS(x, no_axes), ATTRS(INT("noop_with_empty_axes", 1)), SHAPE(2), 9,
           16);
    CHECK1("ReduceSum", INS(F(SCALAR, 3)), NO_ATTRS, SCALAR, 3);
}

static void reductions_list_their_axes(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 2, 3), SIX);
    op_run(&r, "ReduceSum", INS(x, FIXED(TG_I64, SHAPE(2), -1, 0)), NO_ATTRS, 1);
    ATTR_IS(&r, "axes", 0, 2);
    assert_int_equal(r.node->n_in, 1);
    op_done(&r);
    op_run(&r, "ReduceMean", INS(x), NO_ATTRS, 1);
    ATTR_IS(&r, "axes", 0, 1, 2);
    op_done(&r);
    op_run(&r, "ReduceSum", INS(x, INPUT(TG_I64, SHAPE(1), 1)), NO_ATTRS, 1);
    assert_int_equal(r.node->out[0].shape.rank, -1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 3), VALUES(5, 7, 9));
    op_done(&r);
    op_refused("ReduceSum", INS(x), ATTRS(INTS("axes", 1, -2)), TG_INVALID, "twice");
    op_refused("ReduceSum", INS(x), ATTRS(INTS("axes", 3)), TG_INVALID, "outside");
}

static void half_mean_does_not_overflow(void **state)
{
    (void)state;
    double v[4096];
    for (int i = 0; i < 4096; i++) v[i] = 60000;
    op_input x = {TG_F16, SHAPE(1, 4096), v, 4096, false, NULL};
    op_result r;
    op_run(&r, "ReduceMean", INS(x), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F16, SHAPE(1, 1), VALUES(60000));
    op_done(&r);
}

static void arg_extremes(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 3), 3, 1, 3, 5, 5, 5);
    CHECK_AS(TG_I64, "ArgMax", INS(x), ATTRS(INT("axis", -1)), SHAPE(2, 1), 0, 0);
    CHECK_AS(TG_I64, "ArgMax", INS(x), ATTRS(INT("axis", 1), INT("select_last_index", 1)),
             SHAPE(2, 1), 2, 2);
    CHECK_AS(TG_I64, "ArgMin", INS(x), ATTRS(INT("keepdims", 0)), SHAPE(3), 0, 0, 0);
    CHECK_AS(TG_I64, "ArgMin", INS(F(SHAPE(3), 1, NAN, 0)), NO_ATTRS, SHAPE(1), 1);
    op_input none = {TG_F32, SHAPE(0), NULL, 0, false, NULL};
    op_refused("ArgMax", INS(none), NO_ATTRS, TG_SHAPE, "size 0");
}

static void broadcast_joins_dimensions(void **state)
{
    (void)state;
    tg_shape out = SHAPE(2, 3, 4, 5), full = out, channel = SHAPE(3, 1, 1);
    const tg_shape *shapes[] = {&full, &channel};
    tg_broadcast b;
    tg_broadcast_start(&b, &out, shapes, 2);
    assert_int_equal(b.rank, 2);
    assert_int_equal(b.n, 20);
    assert_int_equal(b.rows, 6);
    assert_int_equal(b.step[0], 1);
    assert_int_equal(b.step[1], 0);
    for (int i = 0; i < 4; i++) tg_broadcast_next(&b);
    assert_int_equal(b.at[0], 80);
    assert_int_equal(b.at[1], 1);
    shapes[1] = &full;
    tg_broadcast_start(&b, &out, shapes, 2);
    assert_int_equal(b.rows, 1);
    assert_int_equal(b.n, 120);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(binary_broadcasts),
    cmocka_unit_test(binary_takes_empty_tensors),
    cmocka_unit_test(integers_wrap),
    cmocka_unit_test(integers_divide_towards_zero),
    cmocka_unit_test(nan_wins_in_max_and_min),
    cmocka_unit_test(halves_round_once),
    cmocka_unit_test(pow_mixes_types),
    cmocka_unit_test(unary_values),
    cmocka_unit_test(clip_takes_bounds_from_constants),
    cmocka_unit_test(clip_keeps_large_bounds_exact),
    cmocka_unit_test(comparisons_and_logic),
    cmocka_unit_test(where_chooses),
    cmocka_unit_test(casts),
    cmocka_unit_test(reductions),
    cmocka_unit_test(reductions_of_nothing),
    cmocka_unit_test(reductions_list_their_axes),
    cmocka_unit_test(half_mean_does_not_overflow),
    cmocka_unit_test(arg_extremes),
    cmocka_unit_test(broadcast_joins_dimensions),
};
UNIT_MAIN(tests)
