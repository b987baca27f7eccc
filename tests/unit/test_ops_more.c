/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses, detection, sampling and signals against values worked out by hand. */
#include "tests/unit/op_run.h"

#define I64(shape, ...) INPUT(TG_I64, shape, __VA_ARGS__)

static void losses_pick_the_target(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 3), -1, -2, -3, -4, -5, -6), t = I64(SHAPE(2), 2, 0);
    op_input w = F(SHAPE(3), 3, 1, 2);
    CHECK1("NegativeLogLikelihoodLoss", INS(x, t), NO_ATTRS, SCALAR, 3.5);
    CHECK1("NegativeLogLikelihoodLoss", INS(x, t), ATTRS(TEXT("reduction", "none")), SHAPE(2), 3,
           4);
    CHECK1("NegativeLogLikelihoodLoss", INS(x, t, w), ATTRS(TEXT("reduction", "sum")), SCALAR, 18);
    CHECK1("NegativeLogLikelihoodLoss", INS(x, t, w), NO_ATTRS, SCALAR, 18.0 / 5);
    CHECK1("NegativeLogLikelihoodLoss", INS(x, t, w), ATTRS(INT("ignore_index", 0)), SCALAR, 3);
    CHECK1("NegativeLogLikelihoodLoss", INS(F(SHAPE(1, 2, 2), 1, 2, 3, 4), I64(SHAPE(1, 2), 1, 0)),
           ATTRS(TEXT("reduction", "none")), SHAPE(1, 2), -3, -2);
}

static void cross_entropy_gives_the_logarithms(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "SoftmaxCrossEntropyLoss", INS(F(SHAPE(2, 2), 0, log(3), 5, 5), I64(SHAPE(2), 1, 0)),
           ATTRS(TEXT("reduction", "sum")), 2);
    op_expect(&r, 0, TG_F32, SCALAR, VALUES(log(4.0 / 3) + log(2)));
    op_expect(&r, 1, TG_F32, SHAPE(2, 2), VALUES(-log(4), -log(4.0 / 3), -log(2), -log(2)));
    op_done(&r);
}

static void losses_refuse_what_does_not_fit(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 2), 1, 2), t = I64(SHAPE(1), 2);
    op_refused("NegativeLogLikelihoodLoss", INS(x, I64(SHAPE(2), 0, 1)), NO_ATTRS, TG_SHAPE,
               "axis 0 of the target");
    op_refused("NegativeLogLikelihoodLoss", INS(x, t), ATTRS(TEXT("reduction", "max")), TG_INVALID,
               "reduction");
    assert_ok(op_build(&r, "NegativeLogLikelihoodLoss", INS(x, t), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_INVALID);
    assert_contains(tg_message(), "target 2");
    op_done(&r);
}

/* Boxes as two corners: the second overlaps the first by 4/5, the third none. */
#define BOXES F(SHAPE(1, 3, 4), 0, 0, 1, 9, 0, 1, 1, 10, 1, 20, 0, 21)

static op_input whole(double x)
{
    static double v[8];
    static int n;
    double *at = &v[n++ % 8];
    *at = x;
    return (op_input){TG_I64, SHAPE(1), at, 1, false};
}

static void suppression_keeps_the_best(void **state)
{
    (void)state;
    op_result r;
    op_input scores = F(SHAPE(1, 2, 3), 0.5, 0.9, 0.1, 0.3, 0.2, 0.8);
    op_run(&r, "NonMaxSuppression", INS(BOXES, scores, whole(3), F(SHAPE(1), 0.5)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I64, SHAPE(4, 3), VALUES(0, 0, 1, 0, 0, 2, 0, 1, 2, 0, 1, 0));
    op_done(&r);
    op_run(&r, "NonMaxSuppression",
           INS(BOXES, scores, whole(3), F(SHAPE(1), 0.85), F(SHAPE(1), 0.4)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I64, SHAPE(3, 3), VALUES(0, 0, 1, 0, 0, 0, 0, 1, 2));
    op_done(&r);
    op_run(&r, "NonMaxSuppression", INS(BOXES, scores, whole(1), F(SHAPE(1), 1)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_I64, SHAPE(2, 3), VALUES(0, 0, 1, 0, 1, 2));
    op_done(&r);
    op_run(&r, "NonMaxSuppression", INS(BOXES, scores), NO_ATTRS, 1);
    assert_int_equal(r.out[0].shape.dim[0], 0);
    op_done(&r);
    op_refused("NonMaxSuppression", INS(BOXES, F(SHAPE(1, 1, 2), 1, 2)), NO_ATTRS, TG_SHAPE,
               "do not fit");
}

static void suppression_reads_centers(void **state)
{
    (void)state;
    op_result r;
    op_input boxes = F(SHAPE(1, 2, 4), 5, 5, 10, 10, 5, 10, 10, 10); /* overlap 50 of 150 */
    op_input scores = F(SHAPE(1, 1, 2), 0.5, 0.6);
    op_run(&r, "NonMaxSuppression", INS(boxes, scores, whole(2), F(SHAPE(1), 0.34)),
           ATTRS(INT("center_point_box", 1)), 1);
    op_expect(&r, 0, TG_I64, SHAPE(2, 3), VALUES(0, 0, 1, 0, 0, 0));
    op_done(&r);
    op_run(&r, "NonMaxSuppression", INS(boxes, scores, whole(2), F(SHAPE(1), 0.33)),
           ATTRS(INT("center_point_box", 1)), 1);
    op_expect(&r, 0, TG_I64, SHAPE(1, 3), VALUES(0, 0, 1));
    op_done(&r);
}

static void regions_are_pooled(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 3, 3), 0, 1, 2, 3, 4, 5, 6, 7, 8), roi = F(SHAPE(1, 4), 0, 0, 2, 2);
    op_input image = I64(SHAPE(1), 0);
    /* x[v][u] = 3 v + u; without the shift the sample is at 1, 1; with it there are four, at 0 and
     * 1 */
    CHECK1("RoiAlign", INS(x, roi, image),
           ATTRS(INT("sampling_ratio", 1),
                 TEXT("coordinate_transformation_mode", "output_half_pixel")),
           SHAPE(1, 1, 1, 1), 4);
    CHECK1("RoiAlign", INS(x, roi, image), NO_ATTRS, SHAPE(1, 1, 1, 1), 2);
    CHECK1("RoiAlign", INS(x, roi, image),
           ATTRS(INT("output_width", 2), INT("sampling_ratio", 1), REAL("spatial_scale", 0.5),
                 TEXT("coordinate_transformation_mode", "output_half_pixel")),
           SHAPE(1, 1, 1, 2), 1.75, 2.25);
    op_refused("RoiAlign", INS(x, roi, image), ATTRS(TEXT("mode", "sum")), TG_INVALID, "mode");
}

static void grids_name_points(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 1, 3), 10, 20, 40);
    op_input grid = F(SHAPE(1, 1, 4, 2), -1, 0, 0.5, 0, 1, 0, 2, 0); /* 0, 1.5, 2, 3 at corners */
    CHECK1("GridSample", INS(x, grid), ATTRS(INT("align_corners", 1)), SHAPE(1, 1, 1, 4), 10, 30,
           40, 0);
    CHECK1("GridSample", INS(x, grid),
           ATTRS(INT("align_corners", 1), TEXT("padding_mode", "border")), SHAPE(1, 1, 1, 4), 10,
           30, 40, 40);
    CHECK1("GridSample", INS(x, grid),
           ATTRS(INT("align_corners", 1), TEXT("padding_mode", "reflection")), SHAPE(1, 1, 1, 4),
           10, 30, 40, 20);
    /* without corners: -0.5, 1.75, 2.5, 4 */
    CHECK1("GridSample", INS(x, grid), NO_ATTRS, SHAPE(1, 1, 1, 4), 5, 35, 20, 0);
    CHECK1("GridSample", INS(x, grid),
           ATTRS(TEXT("mode", "nearest"), TEXT("padding_mode", "border")), SHAPE(1, 1, 1, 4), 10,
           40, 40, 40);
    CHECK1("GridSample", INS(F(SHAPE(1, 1, 2), 1, 3), F(SHAPE(1, 1, 1), 0)), NO_ATTRS,
           SHAPE(1, 1, 1), 2);
    /* halfway between the middle two of four, a = -0.75: (-3, 19, 19, -3) / 32 */
    CHECK1("GridSample", INS(F(SHAPE(1, 1, 1, 4), 32, 64, 0, 32), F(SHAPE(1, 1, 1, 2), 0, 0)),
           ATTRS(TEXT("mode", "bicubic"), TEXT("padding_mode", "border")), SHAPE(1, 1, 1, 1), 32);
    op_refused("GridSample", INS(x, grid), ATTRS(TEXT("mode", "area")), TG_INVALID, "area");
}

static void windows_rise_and_fall(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "HannWindow", INS(whole(4)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(4), VALUES(0, 0.5, 1, 0.5));
    op_done(&r);
    op_run(&r, "HannWindow", INS(FIXED(TG_I64, SCALAR, 3)),
           ATTRS(INT("periodic", 0), INT("output_datatype", TG_F64)), 1);
    op_expect(&r, 0, TG_F64, SHAPE(3), VALUES(0, 1, 0));
    assert_int_equal(r.node->out[0].shape.dim[0], 3);
    op_done(&r);
    op_run(&r, "HammingWindow", INS(whole(2)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(4.0 / 46, 1));
    op_done(&r);
    op_run(&r, "BlackmanWindow", INS(whole(4)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(4), VALUES(0, 0.34, 1, 0.34));
    op_done(&r);
    op_refused("HannWindow", INS(FIXED(TG_I64, SCALAR, -1)), NO_ATTRS, TG_INVALID, "-1 elements");
}

static void determinants(void **state)
{
    (void)state;
    CHECK1("Det", INS(F(SHAPE(2, 2), 0, 2, 3, 4)), NO_ATTRS, SCALAR, -6);
    CHECK1("Det", INS(F(SHAPE(2, 2, 2), 1, 2, 2, 4, 1, 2, 3, 4)), NO_ATTRS, SHAPE(2), 0, -2);
    CHECK1("Det", INS(F(SHAPE(3, 3), 2, 0, 1, 1, 3, 2, 1, 1, 1)), NO_ATTRS, SCALAR, 0);
    CHECK1("Det", INS(F(SHAPE(3, 3), 2, 0, 1, 1, 3, 2, 1, 1, 2)), NO_ATTRS, SCALAR, 6);
    op_refused("Det", INS(F(SHAPE(1, 2), 1, 2)), NO_ATTRS, TG_SHAPE, "1 x 2");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(suppression_keeps_the_best),
    cmocka_unit_test(suppression_reads_centers),
    cmocka_unit_test(regions_are_pooled),
    cmocka_unit_test(grids_name_points),
    cmocka_unit_test(windows_rise_and_fall),
    cmocka_unit_test(determinants),
    cmocka_unit_test(losses_pick_the_target),
    cmocka_unit_test(cross_entropy_gives_the_logarithms),
    cmocka_unit_test(losses_refuse_what_does_not_fit),
};
UNIT_MAIN(tests)
