/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types that are moved, counted or summed without being floats. */
#include "tests/unit/op_run.h"

static op_input large(tg_dtype type, const double *v)
{
    return (op_input){type, SHAPE(2), v, 2, false, NULL};
}

/* Numbers that no double holds keep all their bits. */
static void nearest_elements_only_move(void **state)
{
    static const double v[] = {0, 0};
    op_result r;
    (void)state;
    tg_named_attr twice[] = {{"scales", {.kind = TG_ATTR_FLOATS, .n = 1, .floats = (float[]){2}}},
                             TEXT("mode", "nearest")};
    assert_ok(op_build(&r, "Resize", INS(large(TG_U64, v)), twice, 2, 1));
    uint64_t *x = r.in[0].data;
    x[0] = UINT64_MAX - 1;
    x[1] = ((uint64_t)1 << 60) + 1;
    assert_ok(op_eval(&r));
    const uint64_t *y = r.out[0].data;
    assert_true(y[0] == x[0] && y[1] == x[0] && y[2] == x[1] && y[3] == x[1]);
    op_done(&r);
    op_run(&r, "Resize", INS(TEXTS(SHAPE(2), "a", "longer")), twice, 2, 1);
    op_expect_words(&r, 0, SHAPE(4), WORDS("a", "a", "longer", "longer"));
    op_done(&r);
    tg_named_attr linear[] = {twice[0], TEXT("mode", "linear")};
    op_refused("Resize", INS(TEXTS(SHAPE(2), "a", "b")), linear, 2, TG_TYPE, "nothing between");
}

static void grids_pick_any_element(void **state)
{
    op_result r;
    op_input words = TEXTS(SHAPE(1, 1, 2), "left", "right");
    op_input grid = F(SHAPE(1, 3, 1), 0.6, -3, -0.6);
    (void)state;
    op_run(&r, "GridSample", INS(words, grid), ATTRS(TEXT("mode", "nearest")), 1);
    op_expect_words(&r, 0, SHAPE(1, 1, 3), WORDS("right", "", "left"));
    op_done(&r);
    op_refused("GridSample", INS(words, grid), NO_ATTRS, TG_TYPE, "nothing between");
    /* between 10 and 21 lie 15.5, which an integer cuts off */
    CHECK1("GridSample", INS(INPUT(TG_I32, SHAPE(1, 1, 2), 10, 21), F(SHAPE(1, 1, 1), 0)), NO_ATTRS,
           SHAPE(1, 1, 1), 15);
}

static void wide_sums_are_exact(void **state)
{
    static const double v[] = {0, 0};
    op_result r;
    (void)state;
    op_input x = {TG_I64, SHAPE(1, 2, 1), v, 2, false, NULL};
    op_input image = FIXED(TG_I64, SHAPE(1), 2), block = FIXED(TG_I64, SHAPE(1), 2);
    assert_ok(op_build(&r, "Col2Im", INS(x, image, block), NO_ATTRS, 1));
    int64_t *a = r.in[0].data;
    a[0] = INT64_MAX;
    a[1] = INT64_MIN + 1;
    assert_ok(op_eval(&r));
    const int64_t *y = r.out[0].data;
    assert_true(y[0] == INT64_MAX && y[1] == INT64_MIN + 1);
    op_done(&r);
}

/* 1+2i, 1-i, 0, 1+2i: two parts an element. */
static const float pairs[] = {1, 2, 1, -1, 0, 0, 1, 2};

static void complex_op(op_result *r, const char *op, tg_shape shape, const op_input *more,
                       size_t n_more, int n_out)
{
    op_input in[4] = {{TG_C64, shape, NULL, 0, false, NULL}};
    for (size_t i = 0; i < n_more; i++) in[i + 1] = more[i];
    tg_tensor t = {TG_C64, shape, NULL};
    in[0].n = (size_t)tg_tensor_count(&t);
    double *zeros = tg_calloc(in[0].n, sizeof *zeros);
    in[0].v = zeros;
    assert_ok(op_build(r, op, in, n_more + 1, NO_ATTRS, n_out));
    memcpy(r->in[0].data, pairs, sizeof pairs);
    assert_ok(op_eval(r));
    free(zeros);
}

static void complex_numbers_are_told_apart(void **state)
{
    static const float unique[] = {0, 0, 1, -1, 1, 2}, sums[] = {1, 2, 2, 1, 1, 2};
    op_result r;
    (void)state;
    complex_op(&r, "Unique", SHAPE(4), NULL, 0, 4);
    assert_int_equal(tg_tensor_count(&r.out[0]), 3);
    assert_memory_equal(r.out[0].data, unique, sizeof unique);
    op_expect(&r, 3, TG_I64, SHAPE(3), VALUES(1, 1, 2));
    op_done(&r);
    complex_op(&r, "NonZero", SHAPE(2, 2), NULL, 0, 1);
    op_expect(&r, 0, TG_I64, SHAPE(2, 3), VALUES(0, 0, 1, 0, 1, 1));
    op_done(&r);
    op_input more[] = {FIXED(TG_I64, SHAPE(1), 3), FIXED(TG_I64, SHAPE(1), 2)};
    complex_op(&r, "Col2Im", SHAPE(1, 2, 2), more, 2, 1);
    assert_int_equal(tg_tensor_count(&r.out[0]), 3);
    const float *y = r.out[0].data;
    /* columns are the first elements of both blocks, then the second ones */
    assert_true(y[0] == sums[0] && y[1] == sums[1]);
    assert_true(y[2] == 1 && y[3] == -1 && y[4] == 1 && y[5] == 2);
    op_done(&r);
    op_run(&r, "NonZero", INS(TEXTS(SHAPE(3), "", "x", "")), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I64, SHAPE(1, 1), VALUES(1));
    op_done(&r);
}

static void scales_that_are_no_floats(void **state)
{
    op_result r;
    (void)state;
    op_run(&r, "QuantizeLinear",
           INS(INPUT(TG_I32, SHAPE(4), -1000, -4, 7, 9), INPUT(TG_I32, SCALAR, 2)),
           ATTRS(INT("output_dtype", TG_I8)), 1);
    op_expect(&r, 0, TG_I8, SHAPE(4), VALUES(-128, -2, 4, 4));
    op_done(&r);
    op_run(&r, "DequantizeLinear",
           INS(INPUT(TG_I8, SHAPE(2, 1), 3, 3), INPUT(TG_E8M0, SHAPE(2), 2, 0.5)),
           ATTRS(INT("axis", 0), INT("output_dtype", TG_F32)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 1), VALUES(6, 1.5));
    op_done(&r);
}

static void products_of_small_floats(void **state)
{
    op_result r;
    op_input zero = INPUT(TG_E4M3FN, SCALAR, 0);
    (void)state;
    op_run(&r, "QLinearMatMul",
           INS(INPUT(TG_E4M3FN, SHAPE(1, 2), 1.5, -2), F(SCALAR, 2), zero,
               INPUT(TG_E4M3FN, SHAPE(2, 1), 4, 0.5), F(SCALAR, 0.5), zero, F(SCALAR, 0.25), zero),
           NO_ATTRS, 1);
    op_expect(&r, 0, TG_E4M3FN, SHAPE(1, 1), VALUES(20));
    op_done(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nearest_elements_only_move), cmocka_unit_test(grids_pick_any_element),
    cmocka_unit_test(wide_sums_are_exact),        cmocka_unit_test(complex_numbers_are_told_apart),
    cmocka_unit_test(scales_that_are_no_floats),  cmocka_unit_test(products_of_small_floats)};
UNIT_MAIN(tests)
