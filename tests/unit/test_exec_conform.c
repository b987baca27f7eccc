/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On the operator tests of the ONNX project the cpu backend computes what the reference kernels
 * compute, and refuses what they refuse. */
#include "tests/unit/unit.h"

#include "engine/exec/reference.h"
#include "engine/exec/verify.h"
#include "tests/bench/models.h"

#define DATA "/usr/share/libonnx-testdata/data/"

static const char *why_not(void)
{
    return access(DATA "node", R_OK) == 0 ? NULL : "libonnx-testdata is not installed";
}

static void compare_outputs(const char *name, const model_case *m, tg_tensor *want, tg_tensor *got)
{
    for (int i = 0; i < tg_graph_sink(m->g)->n_in; i++) {
        double max_abs, relative;
        if (tg_tensor_compare(&want[i], &got[i], 100, &max_abs, &relative) != TG_OK)
            fail_msg("%s, output %d: %s", name, i, tg_message());
        tg_tensor_free(&want[i]);
        tg_tensor_free(&got[i]);
    }
}

static tg_status run_cpu(const model_case *m, tg_tensor *out)
{
    tg_plan *plan;
    TG_TRY(tg_plan_new(tg_backend_find("cpu"), m->g, NULL, &plan));
    tg_status status = tg_plan_run(plan, m->in, out);
    tg_plan_free(plan);
    return status;
}

/* True if the case could be run. */
static bool run_case(const char *folder)
{
    model_case m;
    tg_tensor want[64] = {{0}}, got[64] = {{0}};
    if (model_load(folder, &m) != TG_OK) return false;
    tg_status by_reference = tg_reference_run(m.g, m.in, want), by_cpu = run_cpu(&m, got);
    if (by_reference != by_cpu)
        fail_msg("%s: %s by reference, %s by cpu: %s", folder, tg_status_name(by_reference),
                 tg_status_name(by_cpu), tg_message());
    if (by_cpu == TG_OK) compare_outputs(folder, &m, want, got);
    model_done(&m);
    return by_cpu == TG_OK;
}

static int run_folder(const char *folder)
{
    char path[2048];
    char **names = model_names(folder);
    int ran = 0;
    for (int i = 0; names[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        ran += run_case(path);
        free(names[i]);
    }
    free(names);
    return ran;
}

static void node_tests(void **state)
{
    (void)state;
    assert_true(run_folder(DATA "node") > 500);
}

/* What PyTorch exported, as far as its opset is read. */
static void exported_tests(void **state)
{
    (void)state;
    run_folder(DATA "pytorch-operator");
    assert_true(run_folder(DATA "pytorch-converted") > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(node_tests),
    cmocka_unit_test(exported_tests),
};
UNIT_MAIN_IF(tests, why_not())
