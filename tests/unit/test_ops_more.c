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
    return (op_input){TG_I64, SHAPE(1), at, 1, false, NULL};
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

static void transforms_along_an_axis(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 4, 1), 1, 2, 3, 4), n = FIXED(TG_I64, SCALAR, 2);
    CHECK1("DFT", INS(x), NO_ATTRS, SHAPE(1, 4, 2), 10, 0, -2, 2, -2, 0, -2, -2);
    CHECK1("DFT", INS(x), ATTRS(INT("onesided", 1), INT("axis", 1)), SHAPE(1, 3, 2), 10, 0, -2, 2,
           -2, 0);
    CHECK1("DFT", INS(x, n), NO_ATTRS, SHAPE(1, 2, 2), 3, 0, -1, 0);
    CHECK1("DFT", INS(F(SHAPE(2, 1, 1), 1, 2), whole(4), whole(0)), NO_ATTRS, SHAPE(4, 1, 2), 3, 0,
           1, -2, -1, 0, 1, 2);
    CHECK1("DFT", INS(F(SHAPE(1, 4, 2), 10, 0, -2, 2, -2, 0, -2, -2)), ATTRS(INT("inverse", 1)),
           SHAPE(1, 4, 2), 1, 0, 2, 0, 3, 0, 4, 0);
    op_refused("DFT", INS(x), ATTRS(INT("axis", -1)), TG_INVALID, "parts");
    op_refused("DFT", INS(F(SHAPE(1, 3), 1, 2, 3)), NO_ATTRS, TG_SHAPE, "size 3");
}

static void frames_are_transformed(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 5, 1), 1, 2, 3, 4, 5), step = FIXED(TG_I64, SCALAR, 2);
    CHECK1("STFT", INS(x, step, ABSENT, FIXED(TG_I64, SCALAR, 2)), NO_ATTRS, SHAPE(1, 2, 2, 2), 3,
           0, -1, 0, 7, 0, -1, 0);
    CHECK1("STFT", INS(x, whole(3), F(SHAPE(2), 1, 0.5)), NO_ATTRS, SHAPE(1, 2, 2, 2), 2, 0, 0, 0,
           6.5, 0, 1.5, 0);
    op_refused("STFT", INS(x, step, ABSENT, FIXED(TG_I64, SCALAR, 6)), NO_ATTRS, TG_SHAPE,
               "frames of 6");
}

static void mel_bins_are_triangles(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "MelWeightMatrix",
           INS(FIXED(TG_I32, SCALAR, 1), FIXED(TG_I32, SCALAR, 8), FIXED(TG_I32, SCALAR, 16),
               FIXED(TG_F32, SCALAR, 0), FIXED(TG_F32, SCALAR, 12)),
           NO_ATTRS, 1);
    /* 0, 3.98 and 7.97 hertz: bins 0, 2 and 4 */
    op_expect(&r, 0, TG_F32, SHAPE(5, 1), VALUES(0, 0.5, 1, 0.5, 0));
    op_done(&r);
}

static void maxima_go_back(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 1, 2), 7, 9), at = I64(SHAPE(1, 1, 2), 1, 2);
    CHECK1("MaxUnpool", INS(x, at), ATTRS(INTS("kernel_shape", 2), INTS("strides", 2)),
           SHAPE(1, 1, 4), 0, 7, 9, 0);
    CHECK1("MaxUnpool", INS(x, at, FIXED(TG_I64, SHAPE(3), 1, 1, 5)),
           ATTRS(INTS("kernel_shape", 2), INTS("strides", 2)), SHAPE(1, 1, 5), 0, 7, 9, 0, 0);
    assert_ok(op_build(&r, "MaxUnpool", INS(x, I64(SHAPE(1, 1, 2), 1, 4)),
                       ATTRS(INTS("kernel_shape", 2), INTS("strides", 2)), 1));
    assert_status(op_eval(&r), TG_INVALID);
    assert_contains(tg_message(), "index 4");
    op_done(&r);
}

#define GRAMS(mode_)                                                                               \
    TEXT("mode", mode_), INT("min_gram_length", 1), INT("max_gram_length", 2),                     \
        INT("max_skip_count", 1), INTS("ngram_counts", 0, 1), INTS("ngram_indexes", 1, 0),         \
        INTS("pool_int64s", 5, 5, 6)

static void grams_are_counted(void **state)
{
    (void)state;
    op_result r;
    static const float weights[] = {2, 3};
    tg_named_attr weighted = {"weights", {TG_ATTR_FLOATS, 2, {.floats = weights}}};
    op_input x = I64(SHAPE(2, 4), 5, 5, 6, 6, 1, 5, 1, 1);
    /* 5, 6 stands once side by side and twice with one between */
    op_run(&r, "TfIdfVectorizer", INS(x), ATTRS(GRAMS("TF")), 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 2), VALUES(3, 2, 0, 1));
    op_done(&r);
    op_run(&r, "TfIdfVectorizer", INS(x), ATTRS(GRAMS("TFIDF"), weighted), 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 2), VALUES(9, 4, 0, 2));
    op_done(&r);
    op_run(&r, "TfIdfVectorizer", INS(x), ATTRS(GRAMS("IDF"), weighted), 1);
    op_expect(&r, 0, TG_F32, SHAPE(2, 2), VALUES(3, 2, 0, 2));
    op_done(&r);
    op_refused("TfIdfVectorizer", INS(x), ATTRS(GRAMS("DF")), TG_INVALID, "mode");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(transforms_along_an_axis),
    cmocka_unit_test(frames_are_transformed),
    cmocka_unit_test(mel_bins_are_triangles),
    cmocka_unit_test(maxima_go_back),
    cmocka_unit_test(grams_are_counted),
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
