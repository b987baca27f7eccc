/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The models and cases of the shared folder: all that is good loads and saves, all that is not
 * is refused in one line. */
#include "tests/unit/onnx_bytes.h"

#include <dirent.h>
#include <sys/resource.h>

/* Sizes at which the models with symbolic dimensions are meant to run. */
static const tg_dim_fix sizes[] = {
    {"tokens", 6}, {"p2o.DynamicDimension.1", 96}, {"p2o.DynamicDimension.2", 96}};
static const tg_load_options options = {.dims = sizes, .n_dims = 3};

/* Calls visit for each entry of a shared folder, in the order of names. */
static int each_entry(const char *folder, const char *ending, void (*visit)(const char *path))
{
    struct dirent **list;
    const char *at = unit_shared(folder);
    int n = at ? scandir(at, &list, NULL, alphasort) : 0, seen = 0;
    char path[8192], root[4096];
    snprintf(root, sizeof root, "%s", at ? at : "");
    for (int i = 0; i < n; i++) {
        if (list[i]->d_name[0] != '.' && tg_ends_with(list[i]->d_name, ending)) {
            snprintf(path, sizeof path, "%s/%s", root, list[i]->d_name);
            visit(path);
            seen++;
        }
        free(list[i]);
    }
    if (n > 0) free(list);
    return seen;
}

static tg_graph *saved_again(const tg_graph *g, const char *path)
{
    void *bytes;
    size_t n;
    tg_graph *made;
    if (tg_onnx_save_memory(g, &bytes, &n) != TG_OK) fail_msg("%s: %s", path, tg_message());
    if (tg_onnx_load_memory(bytes, n, path, &options, &made) != TG_OK) fail_msg("%s", tg_message());
    free(bytes);
    return made;
}

/* Constant expressions become constants when saved, so it is the second file that is the same. */
static void goes_round(const char *path)
{
    tg_graph *g;
    if (tg_onnx_load(path, &options, &g) != TG_OK) fail_msg("%s", tg_message());
    if (tg_check(g) != TG_OK) fail_msg("%s: %s", path, tg_message());
    tg_graph *once = saved_again(g, path), *twice = saved_again(once, path);
    bool folded = false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        folded |= node->constant && node->op != TG_OP_CONST;
    }
    if (!folded && once->hash != g->hash) fail_msg("%s: the saved graph differs", path);
    if (twice->hash != once->hash) fail_msg("%s: the graph saved again differs", path);
    assert_int_equal(once->n_inputs, g->n_inputs);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        assert_string_equal(once->nodes[once->inputs[i]]->name, g->nodes[g->inputs[i]]->name);
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++)
        assert_string_equal(once->output_names[i], g->output_names[i]);
    tg_graph_unref(twice);
    tg_graph_unref(once);
    tg_graph_unref(g);
}

static void model_goes_round(const char *folder)
{
    char path[8300];
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (access(path, R_OK) == 0) goes_round(path);
}

static void models_go_round(void **state)
{
    (void)state;
    assert_true(each_entry("models", "", model_goes_round) > 10);
}

/* Cases whose file must be refused, and what the message names. */
static const struct {
    const char *name, *needle;
} refused[] = {
    {"C21_", "h"}, {"C25_", "data"}, {"C41_", "tensor w"}, {"C49_", "(Conv)"}, {"C51_", "b, a"}};

static void case_as_it_says(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strncmp(name, refused[i].name, 4) == 0) {
            tg_graph *g;
            if (tg_onnx_load(path, NULL, &g) == TG_OK) fail_msg("%s was read", path);
            assert_contains(tg_message(), refused[i].needle);
            return;
        }
    goes_round(path);
}

static void cases_go_round(void **state)
{
    (void)state;
    assert_true(each_entry("cases/open", ".onnx", case_as_it_says) > 30);
}

static const struct {
    const char *name, *needle;
} broken[] = {{"bad_wiretype", "wire type 7 at byte 0"},
              {"dangling_input", "node 0 (Add) reads the value nobody"},
              {"dims_minus4", "tensor w has dimensions -4"},
              {"dims_overflow", "1099511627776x1099511627776"},
              {"empty", "empty"},
              {"git_lfs_pointer", "pointer"},
              {"html", "HTML"},
              {"length_2e34", "34359738367"},
              {"no_opset_import", "opset_import"},
              {"opset_999", "999"},
              {"random", "at byte"},
              {"raw_data_too_short", "needs 32 bytes, 16 are there"},
              {"truncated", "needs 4745504 bytes, 2999993 are there"},
              {"unknown_op", "NoSuchOp"}};

static void broken_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char name[128];
        tg_graph *g;
        snprintf(name, sizeof name, "cases/corrupt/%s.onnx", broken[i].name);
        const char *path = unit_shared(name);
        if (!path) fail_msg("no %s", name);
        if (tg_onnx_load(path, NULL, &g) == TG_OK) fail_msg("%s was read", path);
        assert_contains(tg_message(), broken[i].needle);
        assert_contains(tg_message(), path);
        assert_null(strchr(tg_message(), '\n'));
    }
}

static const char *why_not(void)
{
    return unit_shared("models") && unit_shared("cases") ? NULL : "no shared models and cases";
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(models_go_round),
                                          cmocka_unit_test(cases_go_round),
                                          cmocka_unit_test(broken_files_are_refused)};

UNIT_MAIN_IF(tests, why_not())
