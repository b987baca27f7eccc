/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resizing, blocks of pixels, and what goes along an axis, against values worked out by hand. */
#include "tests/unit/op_run.h"

#define SCALES(...) FIXED(TG_F32, SHAPE(3), __VA_ARGS__)

static void resize_nearest_repeats(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 2), 1, 2);
    CHECK1("Resize", INS(x, ABSENT, SCALES(1, 1, 2)), NO_ATTRS, SHAPE(1, 1, 4), 1, 1, 2, 2);
    /* places 0, 0.67, 1.33: the floor of each */
    CHECK1(
        "Resize", INS(x, ABSENT, ABSENT, FIXED(TG_I64, SHAPE(3), 1, 1, 3)),
        ATTRS(TEXT("coordinate_transformation_mode", "asymmetric"), TEXT("nearest_mode", "floor")),
        SHAPE(1, 1, 3), 1, 1, 2);
}

static void resize_linear_between(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 2), 1, 2), linear = SCALES(1, 1, 2);
    CHECK1("Resize", INS(x, ABSENT, linear), ATTRS(TEXT("mode", "linear")), SHAPE(1, 1, 4), 1, 1.25,
           1.75, 2);
    CHECK1("Resize", INS(x, ABSENT, ABSENT, FIXED(TG_I64, SHAPE(3), 1, 1, 3)),
           ATTRS(TEXT("mode", "linear"), TEXT("coordinate_transformation_mode", "align_corners")),
           SHAPE(1, 1, 3), 1, 1.5, 2);
    /* half the size: each place is the middle of two; with antialias, of four (1 3 3 1) / 8 */
    op_input y = F(SHAPE(1, 1, 4), 1, 2, 3, 4);
    CHECK1("Resize", INS(y, ABSENT, SCALES(1, 1, 0.5)), ATTRS(TEXT("mode", "linear")),
           SHAPE(1, 1, 2), 1.5, 3.5);
    CHECK1("Resize", INS(y, ABSENT, SCALES(1, 1, 0.5)),
           ATTRS(TEXT("mode", "linear"), INT("antialias", 1)), SHAPE(1, 1, 2),
           (1 + 3 * 1 + 3 * 2 + 3) / 8.0, (2 + 3 * 3 + 3 * 4 + 4) / 8.0);
}

/* At a quarter, with a = -0.75: weights -0.10546875 0.87890625 0.26171875 -0.03515625. */
static void resize_cubic_overshoots(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "Resize", INS(F(SHAPE(1, 1, 4), 0, 0, 1, 1), ABSENT, SCALES(1, 1, 2)),
           ATTRS(TEXT("mode", "cubic")), 1);
    double a = 0.26171875 - 0.03515625;
    assert_true(fabs(tg_tensor_f64(&r.out[0], 3) - a) < 1e-6);
    assert_true(fabs(tg_tensor_f64(&r.out[0], 4) - (1 - a)) < 1e-6);
    assert_true(fabs(tg_tensor_f64(&r.out[0], 5) - (1 + 0.10546875)) < 1e-6);
    op_done(&r);
}

/* An empty scales tensor beside sizes counts as absent. */
static void resize_takes_empty_scales_as_none(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 1, 2), 1, 2), sizes = FIXED(TG_I64, SHAPE(3), 1, 1, 4);
    op_run(&r, "Resize", INS(x, EMPTY_CONST(TG_F32), EMPTY_CONST(TG_F32), sizes), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 4), VALUES(1, 1, 2, 2));
    ATTR_IS(&r, "sizes", 1, 1, 4);
    assert_int_equal(tg_node_attr(r.node, "scales")->kind, TG_ATTR_NONE);
    assert_int_equal(tg_node_attr(r.node, "roi")->kind, TG_ATTR_NONE);
    assert_int_equal(r.node->n_in, 1);
    op_done(&r);
}

static void resize_reads_sizes_at_run_time(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 1, 2), 1, 2), sizes = INPUT(TG_I64, SHAPE(3), 1, 1, 4);
    assert_ok(op_build(&r, "Resize", INS(x, ABSENT, ABSENT, sizes), NO_ATTRS, 1));
    assert_int_equal(r.node->out[0].shape.rank, -1);
    assert_ok(op_eval(&r));
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 4), VALUES(1, 1, 2, 2));
    op_done(&r);
}

static void resize_crops_and_extrapolates(void **state)
{
    (void)state;
    op_input x = F(SHAPE(4), 1, 2, 3, 4), roi = FIXED(TG_F32, SHAPE(2), 0, 1.5);
    CHECK1("Resize", INS(x, roi, ABSENT, FIXED(TG_I64, SHAPE(1), 4)),
           ATTRS(TEXT("mode", "linear"),
                 TEXT("coordinate_transformation_mode", "tf_crop_and_resize"),
                 REAL("extrapolation_value", -7)),
           SHAPE(4), 1, 2.5, 4, -7);
}

static void resize_keeps_the_aspect(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2, 4), 1, 2, 3, 4, 5, 6, 7, 8), sizes = FIXED(TG_I64, SHAPE(2), 4, 4);
    op_run(&r, "Resize", INS(x, ABSENT, ABSENT, sizes),
           ATTRS(TEXT("keep_aspect_ratio_policy", "not_larger")), 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 4), VALUES(1, 2, 3, 4, 5, 6, 7, 8));
    op_done(&r);
}

static void resize_spreads_scales_of_some_axes(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "Resize", INS(F(SHAPE(1, 1, 2), 1, 2), ABSENT, FIXED(TG_F32, SHAPE(1), 2)),
           ATTRS(INTS("axes", -1)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 4), VALUES(1, 1, 2, 2));
    assert_int_equal(tg_node_attr(r.node, "scales")->n, 3);
    assert_int_equal(tg_node_attr(r.node, "axes")->kind, TG_ATTR_NONE);
    op_done(&r);
}

static void resize_refuses_nonsense(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 2), 1, 2), two = SCALES(1, 1, 2);
    op_refused("Resize", INS(x), NO_ATTRS, TG_INVALID, "neither");
    op_refused("Resize", INS(x, ABSENT, two, FIXED(TG_I64, SHAPE(3), 1, 1, 4)), NO_ATTRS,
               TG_INVALID, "both");
    op_refused("Resize", INS(x, ABSENT, SCALES(1, 1, -2)), NO_ATTRS, TG_INVALID, "scaled by -2");
    op_refused("Resize", INS(x, ABSENT, FIXED(TG_F32, SHAPE(1), 2)), NO_ATTRS, TG_INVALID,
               "1 scales for 3 axes");
    op_refused("Resize", INS(x, ABSENT, two), ATTRS(TEXT("mode", "lanczos")), TG_INVALID,
               "lanczos");
}

static void depth_to_space_orders_channels(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 8, 1, 1), 0, 1, 2, 3, 4, 5, 6, 7);
    CHECK1("DepthToSpace", INS(x), ATTRS(INT("blocksize", 2)), SHAPE(1, 2, 2, 2), 0, 2, 4, 6, 1, 3,
           5, 7);
    CHECK1("DepthToSpace", INS(x), ATTRS(INT("blocksize", 2), TEXT("mode", "CRD")),
           SHAPE(1, 2, 2, 2), 0, 1, 2, 3, 4, 5, 6, 7);
    op_input y = F(SHAPE(1, 2, 2, 2), 0, 2, 4, 6, 1, 3, 5, 7);
    CHECK1("SpaceToDepth", INS(y), ATTRS(INT("blocksize", 2)), SHAPE(1, 8, 1, 1), 0, 1, 2, 3, 4, 5,
           6, 7);
    op_refused("DepthToSpace", INS(x), ATTRS(INT("blocksize", 3)), TG_SHAPE, "multiple of 9");
    op_refused("SpaceToDepth", INS(y), ATTRS(INT("blocksize", 3)), TG_SHAPE, "multiple of 3");
}

static void softmax_goes_along_its_axis(void **state)
{
    (void)state;
    double l3 = log(3);
    op_input x = F(SHAPE(2, 2), 0, l3, 0, 0);
    CHECK1("Softmax", INS(x), NO_ATTRS, SHAPE(2, 2), 0.25, 0.75, 0.5, 0.5);
    CHECK1("Softmax", INS(x), ATTRS(INT("axis", 0)), SHAPE(2, 2), 0.5, 0.75, 0.5, 0.25);
    CHECK1("LogSoftmax", INS(x), NO_ATTRS, SHAPE(2, 2), log(0.25), log(0.75), log(0.5), log(0.5));
    CHECK1("Softmax", INS(F(SHAPE(2), 1000, 1000)), NO_ATTRS, SHAPE(2), 0.5, 0.5);
    CHECK1("Softmax", INS(F(SHAPE(2), -INFINITY, 0)), NO_ATTRS, SHAPE(2), 0, 1);
    CHECK1("Hardmax", INS(F(SHAPE(3), 1, 2, 2)), NO_ATTRS, SHAPE(3), 0, 1, 0);
    op_refused("Softmax", INS(F(SCALAR, 1)), NO_ATTRS, TG_INVALID, "axis");
}

static void gelu_is_exact_or_not(void **state)
{
    (void)state;
    op_input x = F(SHAPE(3), -1, 0, 1);
    CHECK1("Gelu", INS(x), NO_ATTRS, SHAPE(3), -0.15865525, 0, 0.84134475);
    CHECK1("Gelu", INS(x), ATTRS(TEXT("approximate", "tanh")), SHAPE(3), -0.15880801, 0,
           0.84119199);
}

static void dropout_passes_at_inference(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(2), 1, 2), ratio = FIXED(TG_F32, SCALAR, 0.3);
    op_run(&r, "Dropout", INS(x, ratio, FIXED(TG_BOOL, SCALAR, 0)), NO_ATTRS, 2);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(1, 2));
    op_expect(&r, 1, TG_BOOL, SHAPE(2), VALUES(1, 1));
    assert_int_equal(r.node->n_in, 1);
    op_done(&r);
    assert_ok(op_build(&r, "Dropout", INS(x, ratio, FIXED(TG_BOOL, SCALAR, 1)), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_UNSUPPORTED);
    assert_contains(tg_message(), "training");
    op_done(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(resize_nearest_repeats),
    cmocka_unit_test(resize_linear_between),
    cmocka_unit_test(resize_cubic_overshoots),
    cmocka_unit_test(resize_takes_empty_scales_as_none),
    cmocka_unit_test(resize_reads_sizes_at_run_time),
    cmocka_unit_test(resize_crops_and_extrapolates),
    cmocka_unit_test(resize_keeps_the_aspect),
    cmocka_unit_test(resize_spreads_scales_of_some_axes),
    cmocka_unit_test(resize_refuses_nonsense),
    cmocka_unit_test(depth_to_space_orders_channels),
    cmocka_unit_test(softmax_goes_along_its_axis),
    cmocka_unit_test(gelu_is_exact_or_not),
    cmocka_unit_test(dropout_passes_at_inference),
};
UNIT_MAIN(tests)
