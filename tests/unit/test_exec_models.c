/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cpu backend gives the stored outputs of the shared models, and runs them by itself. */
#include "tests/unit/unit.h"

#include "tests/bench/models.h"

#include <math.h>

static const char *why_not(void)
{
    return unit_shared("models") ? NULL : "the shared models are not there";
}

/* Judged as the models' own notes say: by the largest value of the output. */
static void compare(const char *name, int i, const tg_tensor *want, const tg_tensor *got)
{
    double largest = 0, off = 0;
    assert_int_equal(want->dtype, got->dtype);
    if (!tg_shape_equal(&want->shape, &got->shape)) fail_msg("%s: shape of output %d", name, i);
    for (int64_t k = 0; k < tg_tensor_count(want); k++) {
        double a = tg_tensor_f64(want, k), b = tg_tensor_f64(got, k);
        largest = fmax(largest, fabs(a));
        if (!(fabs(a - b) <= off)) off = fabs(a - b);
    }
    bool exact = want->dtype != TG_F32;
    if (!(off <= (exact ? 0 : 1e-4 * largest)))
        fail_msg("%s: output %d is off by %g of %g", name, i, off, largest);
}

static void run_model(const char *name, int reference)
{
    char path[4200];
    model_case m;
    tg_tensor out[8], want;
    tg_plan *plan;
    snprintf(path, sizeof path, "%s", unit_shared("models"));
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", name);
    assert_ok(model_load(path, &m));
    assert_ok(tg_plan_new(tg_backend_find("cpu"), m.g, NULL, &plan));
    const tg_plan_stats *s = tg_plan_stats_of(plan);
    if (s->reference > reference || s->slow)
        fail_msg("%s: %d by reference, %d slow", name, s->reference, s->slow);
    assert_ok(tg_plan_run(plan, m.in, out));
    for (int i = 0; i < tg_graph_sink(m.g)->n_in; i++) {
        snprintf(path, sizeof path, "%s/test_data_set_0/output_%d.pb", m.folder, i);
        assert_ok(tg_onnx_read_tensor(path, &want, NULL));
        compare(name, i, &want, &out[i]);
        tg_tensor_free(&want);
        tg_tensor_free(&out[i]);
    }
    tg_plan_free(plan);
    model_done(&m);
}

/* The number: nodes that may be left to the reference kernels, on integers all of them. */
#define MODEL(test, name, reference)                                                               \
    static void test(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        run_model(name, reference);                                                                \
    }

MODEL(bertlike_mlm, "bertlike_mlm_vespa", 2)
MODEL(bertlike_tiny, "bertlike_tiny_vespa", 6)
MODEL(ocr_det, "ch_PP-OCRv4_det_infer", 0)
MODEL(ocr_rec, "ch_PP-OCRv4_rec_infer", 0)
MODEL(ocr_cls, "ch_ppocr_mobile_v2.0_cls_infer", 0)
MODEL(fastestdet, "fastestdet", 0)
MODEL(mnist, "mnist_cntk", 0)
MODEL(super_resolution, "pytorch_super_resolution", 0)
MODEL(shufflenet, "shufflenet_rand", 0)
MODEL(squeezenet, "squeezenet_rand", 0)
MODEL(strange_names, "strange_names_vespa", 0)
MODEL(t5like, "t5like_encoder_vespa", 1)
MODEL(ultraface, "ultraface_rfb320", 0)
MODEL(unstable_types, "unstable_types_vespa", 2)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bertlike_mlm),  cmocka_unit_test(bertlike_tiny),
    cmocka_unit_test(ocr_det),       cmocka_unit_test(ocr_rec),
    cmocka_unit_test(ocr_cls),       cmocka_unit_test(fastestdet),
    cmocka_unit_test(mnist),         cmocka_unit_test(super_resolution),
    cmocka_unit_test(shufflenet),    cmocka_unit_test(squeezenet),
    cmocka_unit_test(strange_names), cmocka_unit_test(t5like),
    cmocka_unit_test(ultraface),     cmocka_unit_test(unstable_types),
};
UNIT_MAIN_IF(tests, why_not())
