/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layout, indexing, sorting and generating operators against values worked out by hand. */
#include "tests/unit/op_run.h"

#define SIX 1, 2, 3, 4, 5, 6
#define L(...) FIXED(TG_I64, SHAPE((int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))), __VA_ARGS__)

static void reshape_resolves_its_shape(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2, 3), SIX);
    op_run(&r, "Reshape", INS(x, L(0, 1, -1)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 1, 3), VALUES(SIX));
    ATTR_IS(&r, "shape", 2, 1, 3);
    assert_int_equal(r.node->n_in, 1);
    op_done(&r);
    CHECK1("Reshape", INS(x, INPUT(TG_I64, SHAPE(1), -1)), NO_ATTRS, SHAPE(6), SIX);
    CHECK1("Reshape", INS(F(SHAPE(1), 7), EMPTY_CONST(TG_I64)), NO_ATTRS, SCALAR, 7);
    op_refused("Reshape", INS(x, L(4, -1)), NO_ATTRS, TG_SHAPE, "2x3 cannot be shaped as [4,-1]");
    op_refused("Reshape", INS(x, L(-1, -1)), NO_ATTRS, TG_SHAPE, "cannot be shaped");
    op_refused("Reshape", INS(x, L(1, 1, 0)), NO_ATTRS, TG_SHAPE, "cannot be shaped");
    op_refused("Reshape", INS(x), NO_ATTRS, TG_INVALID, "missing");
}

/* allowzero stays only where a dimension is 0. */
static void reshape_allows_zeros(void **state)
{
    (void)state;
    op_result r;
    op_input none = {TG_F32, SHAPE(0, 6, 2), NULL, 0, false, NULL};
    op_run(&r, "Reshape", INS(none, L(0, 0, 3)), ATTRS(INT("allowzero", 1)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(0, 0, 3), NULL, 0);
    assert_int_equal(tg_node_attr(r.node, "allowzero")->i, 1);
    op_done(&r);
    op_run(&r, "Reshape", INS(F(SHAPE(2), 1, 2), L(2, 1)), ATTRS(INT("allowzero", 1)), 1);
    assert_int_equal(tg_node_attr(r.node, "allowzero")->i, 0);
    op_done(&r);
    op_refused("Reshape", INS(none, L(0, -1)), ATTRS(INT("allowzero", 1)), TG_SHAPE, "cannot");
}

static void squeeze_and_unsqueeze(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 2, 1), 1, 2);
    op_run(&r, "Squeeze", INS(x), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(1, 2));
    ATTR_IS(&r, "axes", 0, 2);
    op_done(&r);
    CHECK1("Squeeze", INS(x, L(-1)), NO_ATTRS, SHAPE(1, 2), 1, 2);
    op_refused("Squeeze", INS(x, L(1)), NO_ATTRS, TG_SHAPE, "axis 1 to squeeze has size 2");
    op_run(&r, "Unsqueeze", INS(F(SHAPE(2), 1, 2), L(-1, 0)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 1), VALUES(1, 2));
    ATTR_IS(&r, "axes", 0, 2);
    op_done(&r);
    op_refused("Unsqueeze", INS(x, L(0, 1, 2, 3, 4, 5)), NO_ATTRS, TG_UNSUPPORTED, "rank 9");
    CHECK1("Flatten", INS(F(SHAPE(1, 2, 3), SIX)), ATTRS(INT("axis", -1)), SHAPE(2, 3), SIX);
    CHECK1("Flatten", INS(F(SCALAR, 1)), ATTRS(INT("axis", 0)), SHAPE(1, 1), 1);
}

static void transpose_permutes(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 2, 3), SIX);
    op_run(&r, "Transpose", INS(x), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(3, 2, 1), VALUES(1, 4, 2, 5, 3, 6));
    ATTR_IS(&r, "perm", 2, 1, 0);
    op_done(&r);
    CHECK1("Transpose", INS(x), ATTRS(INTS("perm", 1, 0, 2)), SHAPE(2, 1, 3), SIX);
    op_refused("Transpose", INS(x), ATTRS(INTS("perm", 0, 0, 1)), TG_INVALID, "twice");
}

static void expand_and_tile_repeat(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2, 1), 1, 2);
    op_run(&r, "Expand", INS(x, L(3)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 3), VALUES(1, 1, 1, 2, 2, 2));
    ATTR_IS(&r, "shape", 2, 3);
    op_done(&r);
    CHECK1("Expand", INS(F(SCALAR, 4), L(2)), NO_ATTRS, SHAPE(2), 4, 4);
    CHECK1("Tile", INS(x, L(2, 2)), NO_ATTRS, SHAPE(4, 2), 1, 1, 2, 2, 1, 1, 2, 2);
    op_refused("Tile", INS(x, L(2)), NO_ATTRS, TG_SHAPE, "rank 2");
}

/* Sizes whose product overflows are refused even where a 0 makes it small. */
static void absurd_shapes_are_refused(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 1), 1, 2), i = INPUT(TG_I64, SHAPE(1), 0);
    op_refused("Expand", INS(x), ATTRS(INTS("shape", INT64_MAX, 2, 0)), TG_LIMIT, "too large");
    op_refused("Tile", INS(x), ATTRS(INTS("repeats", 1, INT64_MAX)), TG_LIMIT, "too large");
    op_refused("ConstantOfShape", NULL, 0, ATTRS(INTS("shape", 1 << 30, 1 << 30, 0)), TG_LIMIT,
               "too large");
    op_refused("ReduceSum", INS(x, i), ATTRS(INTS("axes", 0)), TG_INVALID, "given twice");
    op_refused("ReduceSum", INS(x, F(SHAPE(1), 0)), NO_ATTRS, TG_TYPE, "not integers");
}

static void concat_joins(void **state)
{
    (void)state;
    op_input a = F(SHAPE(2, 1), 1, 2), b = F(SHAPE(2, 2), 3, 4, 5, 6);
    op_input none = {TG_F32, SHAPE(2, 0), NULL, 0, false, NULL};
    CHECK1("Concat", INS(a, none, b), ATTRS(INT("axis", -1)), SHAPE(2, 3), 1, 3, 4, 2, 5, 6);
    op_refused("Concat", INS(a, b), ATTRS(INT("axis", 0)), TG_SHAPE, "2x1 and 2x2");
    op_refused("Concat", INS(a, b), NO_ATTRS, TG_INVALID, "axis");
}

static void split_cuts(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 5), 1, 2, 3, 4, 5);
    op_run(&r, "Split", INS(x), ATTRS(INT("axis", -1), INT("num_outputs", 2)), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 3), VALUES(1, 2, 3));
    op_expect(&r, 1, TG_F32, SHAPE(1, 2), VALUES(4, 5));
    ATTR_IS(&r, "split", 3, 2);
    assert_int_equal(tg_node_attr(r.node, "num_outputs")->kind, TG_ATTR_NONE);
    op_done(&r);
    op_run(&r, "Split", INS(x, L(0, 5)), ATTRS(INT("axis", 1)), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 0), NULL, 0);
    op_done(&r);
    op_refused("Split", INS(x, L(4)), ATTRS(INT("axis", 1)), TG_SHAPE, "sum to 4, not 5");
}

static void slice_clamps(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2, 3), SIX);
    op_run(&r, "Slice", INS(x, L(-2, 0), L(99, 1), L(1, 0)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2), VALUES(2, 3));
    ATTR_IS(&r, "axes", 0, 1);
    ATTR_IS(&r, "starts", 0, 1);
    ATTR_IS(&r, "ends", 1, 3);
    ATTR_IS(&r, "steps", 1, 1);
    op_done(&r);
    op_run(&r, "Slice", INS(x, L(-1), L(-99), L(1), L(-2)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 2), VALUES(3, 1, 6, 4));
    ATTR_IS(&r, "ends", -4);
    op_done(&r);
    op_run(&r, "Slice", INS(x, L(2), L(1)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(0, 3), NULL, 0);
    op_done(&r);
    op_refused("Slice", INS(x, L(0), L(1), L(0), L(0)), NO_ATTRS, TG_INVALID, "step is 0");
    op_refused("Slice", INS(x, L(0, 1), L(1)), NO_ATTRS, TG_SHAPE, "differ in length");
}

/* What is known only when it runs stays an input. */
static void slice_waits_for_its_inputs(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(4), 1, 2, 3, 4);
    op_run(&r, "Slice", INS(x, INPUT(TG_I32, SHAPE(1), 1), FIXED(TG_I32, SHAPE(1), 3)), NO_ATTRS,
           1);
    assert_int_equal(r.node->out[0].shape.rank, -1);
    assert_int_equal(r.node->n_in, 2);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(2, 3));
    op_done(&r);
}

static void pad_modes(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(3), 1, 2, 3);
    CHECK1("Pad", INS(x, L(1, 2), FIXED(TG_F32, SCALAR, 9)), NO_ATTRS, SHAPE(6), 9, 1, 2, 3, 9, 9);
    CHECK1("Pad", INS(x, L(-1, 1)), NO_ATTRS, SHAPE(3), 2, 3, 0);
    CHECK1("Pad", INS(x, L(2, 2)), ATTRS(TEXT("mode", "reflect")), SHAPE(7), 3, 2, 1, 2, 3, 2, 1);
    CHECK1("Pad", INS(x, L(1, 1)), ATTRS(TEXT("mode", "edge")), SHAPE(5), 1, 1, 2, 3, 3);
    CHECK1("Pad", INS(x, L(1, 4)), ATTRS(TEXT("mode", "wrap")), SHAPE(8), 3, 1, 2, 3, 1, 2, 3, 1);
    op_run(&r, "Pad", INS(F(SHAPE(1, 2), 1, 2), L(1, 0), ABSENT, L(-1)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 3), VALUES(0, 1, 2));
    ATTR_IS(&r, "pads", 0, 1, 0, 0);
    assert_int_equal(tg_node_attr(r.node, "axes")->kind, TG_ATTR_NONE);
    op_done(&r);
    op_refused("Pad", INS(x, L(1)), NO_ATTRS, TG_SHAPE, "1 pads");
    op_refused("Pad", INS(x, L(-4, 0)), NO_ATTRS, TG_SHAPE, "cannot be padded");
    op_refused("Pad", INS(x, L(0, 0)), ATTRS(TEXT("mode", "sky")), TG_UNSUPPORTED, "sky");
}

static void gather_picks(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 3), SIX);
    CHECK1("Gather", INS(x, INPUT(TG_I64, SHAPE(2), -1, 0)), ATTRS(INT("axis", 1)), SHAPE(2, 2), 3,
           1, 6, 4);
    CHECK1("Gather", INS(x, INPUT(TG_I32, SCALAR, 1)), NO_ATTRS, SHAPE(3), 4, 5, 6);
    CHECK1("GatherElements", INS(x, INPUT(TG_I64, SHAPE(1, 3), 1, 0, -1)), NO_ATTRS, SHAPE(1, 3), 4,
           2, 6);
    CHECK1("GatherND", INS(x, INPUT(TG_I64, SHAPE(2, 2), 0, 1, 1, -1)), NO_ATTRS, SHAPE(2), 2, 6);
    CHECK1("GatherND", INS(x, INPUT(TG_I64, SHAPE(2, 1), 2, 0)), ATTRS(INT("batch_dims", 1)),
           SHAPE(2), 3, 4);
    CHECK1("Compress", INS(x, INPUT(TG_BOOL, SHAPE(2), 0, 1)), ATTRS(INT("axis", 1)), SHAPE(2, 1),
           2, 5);
    CHECK1("Compress", INS(x, INPUT(TG_BOOL, SHAPE(5), 0, 1, 0, 0, 1)), NO_ATTRS, SHAPE(2), 2, 5);
}

static void indices_outside_are_refused(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2), 1, 2);
    assert_ok(op_build(&r, "Gather", INS(x, INPUT(TG_I64, SHAPE(1), 2)), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_INVALID);
    assert_contains(tg_message(), "index 2 is outside 0..1");
    op_done(&r);
    op_input u = F(SHAPE(1), 1), at = INPUT(TG_I64, SHAPE(1, 1), -3);
    assert_ok(op_build(&r, "ScatterND", INS(x, at, u), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_INVALID);
    op_done(&r);
}

static void scatter_places(void **state)
{
    (void)state;
    op_input x = F(SHAPE(3), 1, 2, 3), at = INPUT(TG_I64, SHAPE(2), 2, -1);
    CHECK1("ScatterElements", INS(x, at, F(SHAPE(2), 10, 20)), ATTRS(TEXT("reduction", "add")),
           SHAPE(3), 1, 2, 33);
    CHECK1("ScatterElements", INS(x, at, F(SHAPE(2), 10, 20)), ATTRS(TEXT("reduction", "max")),
           SHAPE(3), 1, 2, 20);
    CHECK1("ScatterND", INS(x, INPUT(TG_I64, SHAPE(1, 1), 1), F(SHAPE(1), 9)), NO_ATTRS, SHAPE(3),
           1, 9, 3);
    CHECK1("ScatterND", INS(x, INPUT(TG_I64, SHAPE(2, 1), 1, 1), F(SHAPE(2), 3, 4)),
           ATTRS(TEXT("reduction", "mul")), SHAPE(3), 1, 24, 3);
    op_refused("ScatterND", INS(x, INPUT(TG_I64, SHAPE(1, 1), 1), F(SHAPE(2), 1, 2)), NO_ATTRS,
               TG_SHAPE, "updates");
}

static void sorting(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(4), 3, 1, 3, 2);
    op_run(&r, "TopK", INS(x, L(3)), NO_ATTRS, 2);
    op_expect(&r, 0, TG_F32, SHAPE(3), VALUES(3, 3, 2));
    op_expect(&r, 1, TG_I64, SHAPE(3), VALUES(0, 2, 3));
    op_done(&r);
    op_refused("TopK", INS(x, L(5)), NO_ATTRS, TG_SHAPE, "k is 5");
    op_run(&r, "Unique", INS(x), ATTRS(INT("sorted", 0)), 4);
    op_expect(&r, 0, TG_F32, SHAPE(3), VALUES(3, 1, 2));
    op_expect(&r, 1, TG_I64, SHAPE(3), VALUES(0, 1, 3));
    op_expect(&r, 2, TG_I64, SHAPE(4), VALUES(0, 1, 0, 2));
    op_expect(&r, 3, TG_I64, SHAPE(3), VALUES(2, 1, 1));
    op_done(&r);
    CHECK_AS(TG_I64, "NonZero", INS(F(SHAPE(2, 2), 0, 1, 2, 0)), NO_ATTRS, SHAPE(2, 2), 0, 1, 1, 0);
    CHECK1("CumSum", INS(x, L(0)), ATTRS(INT("exclusive", 1), INT("reverse", 1)), SHAPE(4), 6, 5, 2,
           0);
    CHECK1("CumSum", INS(x, INPUT(TG_I32, SCALAR, 0)), NO_ATTRS, SHAPE(4), 3, 4, 7, 9);
}

/* Shape and Size are constants as soon as the input's shape is known. */
static void shape_is_known_at_once(void **state)
{
    (void)state;
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type type = {TG_F32, SHAPE(2, 3, 4)};
    tg_value x = tg_build_input(b, "x", &type);
    tg_named_attr tail[] = {INT("start", -2)};
    tg_node_spec spec = {
        .op = tg_op_find("", "Shape"), .in = &x, .n_in = 1, .attrs = tail, .n_attrs = 1};
    uint32_t id;
    assert_ok(tg_build_node(b, &spec, &id));
    assert_int_equal(tg_build_get(b, id)->op, TG_OP_CONST);
    const tg_tensor *t = tg_build_value(b, tg_value_of(id, 0));
    assert_int_equal(tg_tensor_count(t), 2);
    assert_int_equal(tg_tensor_i64(t, 0), 3);
    spec = (tg_node_spec){.op = tg_op_find("", "Size"), .in = &x, .n_in = 1};
    assert_ok(tg_build_node(b, &spec, &id));
    assert_int_equal(tg_tensor_i64(tg_build_value(b, tg_value_of(id, 0)), 0), 24);
    tg_builder_free(b);
    tg_origin_unref(origin);
}

static void made_from_shapes(void **state)
{
    (void)state;
    CHECK_AS(TG_F32, "ConstantOfShape", INS(L(2)), NO_ATTRS, SHAPE(2), 0, 0);
    CHECK1("Range",
           INS(FIXED(TG_I64, SCALAR, 5), FIXED(TG_I64, SCALAR, 0), FIXED(TG_I64, SCALAR, -2)),
           NO_ATTRS, SHAPE(3), 5, 3, 1);
    op_refused("Range", INS(L(1), L(2), L(0)), NO_ATTRS, TG_INVALID, "step is 0");
    CHECK_AS(TG_F32, "OneHot", INS(INPUT(TG_I64, SHAPE(2), 1, -3), L(3), F(SHAPE(2), 0, 9)),
             NO_ATTRS, SHAPE(2, 3), 0, 9, 0, 9, 0, 0);
    CHECK_AS(TG_I32, "EyeLike", INS(F(SHAPE(2, 2), 5, 5, 5, 5)),
             ATTRS(INT("k", 1), INT("dtype", TG_I32)), SHAPE(2, 2), 0, 1, 0, 0);
    op_input x = F(SHAPE(2, 3), SIX);
    CHECK1("Trilu", INS(x, L(1)), NO_ATTRS, SHAPE(2, 3), 0, 2, 3, 0, 0, 6);
    CHECK1("Trilu", INS(x), ATTRS(INT("upper", 0)), SHAPE(2, 3), 1, 0, 0, 4, 5, 0);
    CHECK1("ReverseSequence", INS(x, INPUT(TG_I64, SHAPE(2), 2, 3)),
           ATTRS(INT("batch_axis", 0), INT("time_axis", 1)), SHAPE(2, 3), 2, 1, 3, 6, 5, 4);
}

static void random_follows_its_seed(void **state)
{
    (void)state;
    op_result a, b;
    tg_named_attr attrs[] = {INTS("shape", 1000), REAL("seed", 7), REAL("mean", 2)};
    op_run(&a, "RandomNormal", NULL, 0, attrs, 3, 1);
    op_run(&b, "RandomNormal", NULL, 0, attrs, 3, 1);
    assert_false(a.node->constant);
    assert_memory_equal(a.out[0].data, b.out[0].data, 4000);
    double sum = 0;
    for (int i = 0; i < 1000; i++) sum += tg_tensor_f64(&a.out[0], i);
    assert_true(sum > 1800 && sum < 2200);
    op_done(&a);
    op_done(&b);
    op_input x = INPUT(TG_F16, SHAPE(2), 1, 1);
    CHECK1("RandomNormalLike", INS(x), ATTRS(REAL("scale", 0)), SHAPE(2), 0, 0);
    CHECK1("Bernoulli", INS(F(SHAPE(2), 0, 1)), NO_ATTRS, SHAPE(2), 0, 1);
    CHECK_AS(TG_I32, "Multinomial", INS(F(SHAPE(1, 2), -INFINITY, 0)), ATTRS(INT("sample_size", 2)),
             SHAPE(1, 2), 1, 1);
}

static void arithmetic_refuses_strings(void **state)
{
    (void)state;
    tg_string words[2] = {{"a", 1}, {"b", 1}};
    tg_tensor x = {TG_STR, SHAPE(2), words};
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type type = {TG_STR, x.shape};
    tg_value v = tg_build_input(b, "x", &type);
    const char *ops[] = {"Relu", "Sqrt", "IsNaN"};
    for (int i = 0; i < 3; i++) {
        tg_node_spec spec = {.op = tg_op_find("", ops[i]), .in = &v, .n_in = 1};
        uint32_t id;
        tg_tensor out = {0};
        assert_ok(tg_build_node(b, &spec, &id));
        assert_status(tg_node_eval(tg_build_get(b, id), &x, &out), TG_UNSUPPORTED);
        assert_contains(tg_message(), "string");
    }
    tg_builder_free(b);
    tg_origin_unref(origin);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reshape_resolves_its_shape),
    cmocka_unit_test(reshape_allows_zeros),
    cmocka_unit_test(squeeze_and_unsqueeze),
    cmocka_unit_test(transpose_permutes),
    cmocka_unit_test(expand_and_tile_repeat),
    cmocka_unit_test(absurd_shapes_are_refused),
    cmocka_unit_test(concat_joins),
    cmocka_unit_test(split_cuts),
    cmocka_unit_test(slice_clamps),
    cmocka_unit_test(slice_waits_for_its_inputs),
    cmocka_unit_test(pad_modes),
    cmocka_unit_test(gather_picks),
    cmocka_unit_test(indices_outside_are_refused),
    cmocka_unit_test(scatter_places),
    cmocka_unit_test(sorting),
    cmocka_unit_test(shape_is_known_at_once),
    cmocka_unit_test(made_from_shapes),
    cmocka_unit_test(random_follows_its_seed),
    cmocka_unit_test(arithmetic_refuses_strings),
};
UNIT_MAIN(tests)
