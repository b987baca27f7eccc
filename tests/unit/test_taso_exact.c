/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TASO's first step on the graphs that it was measured on: the counts of the program itself. */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"

#define RULE_FILE "rules/graph_subst.pb"

/* {rule, matches, bad shape, external, graphs, loops, distinct}; other rules match nothing. */
enum { MOST = 16 };

static const struct {
    const char *name;
    int nodes, ops;
    tg_taso_count rules[MOST];
} models[] = {
    {"taso-bert", 146, 113, {{"pb0", 21, 0, 21, 0, 0, 0}, {"pb77", 48, 0, 0, 48, 0, 48}}},
    {"taso-squeezenet",
     95,
     64,
     {{"B0", 25, 0, 0, 25, 0, 25},
      {"B9", 1, 0, 0, 1, 0, 1},
      {"B12", 16, 8, 0, 8, 0, 8},
      {"B14", 25, 25, 0, 0, 0, 0},
      {"pb64", 25, 0, 0, 25, 0, 0},
      {"pb70", 650, 650, 0, 0, 0, 0},
      {"pb81", 650, 650, 0, 0, 0, 0},
      {"pb94", 8, 0, 0, 8, 0, 8},
      {"pb95", 650, 434, 0, 216, 200, 16},
      {"pb120", 650, 594, 0, 56, 40, 16},
      {"pb127", 16, 16, 0, 0, 0, 0}}},
    {"taso-resnet18bn",
     158,
     62,
     {{"B1", 13, 0, 0, 13, 0, 13},
      {"B7", 6, 0, 0, 6, 0, 6},
      {"B14", 13, 13, 0, 0, 0, 0},
      {"B16", 6, 6, 0, 0, 0, 0},
      {"pb70", 240, 240, 0, 0, 0, 0},
      {"pb81", 240, 240, 0, 0, 0, 0},
      {"pb95", 240, 192, 0, 48, 48, 0},
      {"pb120", 240, 192, 0, 48, 48, 0}}},
    {"taso-resnet50",
     137,
     84,
     {{"B13", 2, 0, 0, 2, 0, 2},
      {"B14", 16, 16, 0, 0, 0, 0},
      {"B15", 30, 30, 0, 0, 0, 0},
      {"B17", 6, 6, 0, 0, 0, 0},
      {"pb70", 240, 240, 0, 0, 0, 0},
      {"pb81", 240, 240, 0, 0, 0, 0},
      {"pb95", 240, 186, 0, 54, 54, 0},
      {"pb120", 240, 186, 0, 54, 54, 0}}},
    {"taso-resnext50",
     141,
     86,
     {{"B13", 2, 0, 0, 2, 0, 2},
      {"B14", 16, 16, 0, 0, 0, 0},
      {"B15", 30, 17, 0, 13, 0, 13},
      {"B17", 7, 4, 0, 3, 0, 3},
      {"pb70", 240, 240, 0, 0, 0, 0},
      {"pb81", 240, 240, 0, 0, 0, 0},
      {"pb95", 240, 186, 0, 54, 54, 0},
      {"pb120", 240, 186, 0, 54, 54, 0}}},
    {"taso-inceptionv3", 228, 119, {{"B13", 64, 8, 0, 56, 0, 56}, {"B15", 87, 87, 0, 0, 0, 0}}},
    {"taso-nasrnn",
     316,
     230,
     {{"pb70", 90, 0, 0, 90, 80, 10},
      {"pb73", 40, 0, 0, 40, 0, 40},
      {"pb77", 560, 0, 0, 560, 0, 560},
      {"pb81", 90, 0, 0, 90, 80, 10},
      {"pb91", 40, 0, 0, 40, 0, 0},
      {"pb95", 90, 90, 0, 0, 0, 0},
      {"pb120", 90, 90, 0, 0, 0, 0}}},
    {"taso-nasnet_a",
     659,
     383,
     {{"B12", 120, 0, 0, 120, 0, 120},
      {"B13", 42, 0, 0, 42, 0, 42},
      {"B14", 168, 90, 0, 78, 0, 78},
      {"B15", 36, 36, 0, 0, 0, 0},
      {"B16", 12, 0, 0, 12, 0, 12},
      {"B17", 1, 1, 0, 0, 0, 0},
      {"pb24", 3, 0, 3, 0, 0, 0},
      {"pb28", 3, 0, 3, 0, 0, 0},
      {"pb60", 3, 0, 3, 0, 0, 0},
      {"pb62", 3, 0, 3, 0, 0, 0},
      {"pb98", 33, 0, 0, 33, 0, 33},
      {"pb105", 33, 0, 0, 33, 0, 0},
      {"pb127", 120, 0, 0, 120, 0, 120}}},
    {"xrlflow-bert", 146, 113, {{"pb0", 28, 0, 28, 0, 0, 0}, {"pb77", 96, 0, 0, 96, 0, 96}}},
    {"xrlflow-vit", 290, 217, {{"pb0", 12, 0, 0, 12, 0, 12}, {"pb77", 72, 0, 0, 72, 0, 72}}},
    {"xrlflow-dalle",
     250,
     177,
     {{"pb70", 72, 0, 0, 72, 72, 0},
      {"pb77", 64, 0, 0, 64, 0, 64},
      {"pb81", 72, 16, 0, 56, 56, 0},
      {"pb95", 72, 72, 0, 0, 0, 0},
      {"pb120", 72, 72, 0, 0, 0, 0}}},
    {"xrlflow-transducer",
     361,
     272,
     {{"pb0", 4, 0, 3, 1, 0, 1},
      {"pb70", 210, 0, 0, 210, 162, 48},
      {"pb73", 1, 0, 1, 0, 0, 0},
      {"pb77", 90, 0, 0, 90, 0, 90},
      {"pb81", 210, 28, 0, 182, 134, 48},
      {"pb91", 1, 0, 1, 0, 0, 0},
      {"pb95", 210, 210, 0, 0, 0, 0},
      {"pb120", 210, 210, 0, 0, 0, 0}}},
};

static void assert_same(const char *model, const tg_taso_count *got, const tg_taso_count *want)
{
    bool same = strcmp(got->rule, want->rule) == 0 && got->full == want->full &&
                got->bad_shape == want->bad_shape && got->external == want->external &&
                got->graphs == want->graphs && got->loops == want->loops &&
                got->distinct == want->distinct;
    if (!same)
        fail_msg("%s: %s %d %d %d %d %d %d, not %s %d %d %d %d %d %d", model, got->rule, got->full,
                 got->bad_shape, got->external, got->graphs, got->loops, got->distinct, want->rule,
                 want->full, want->bad_shape, want->external, want->graphs, want->loops,
                 want->distinct);
}

static void check_model(const tg_graph *g, size_t i)
{
    tg_taso_report r;
    const tg_taso_count *want = models[i].rules;
    int n = 0, graphs = 0, loops = 0, distinct = 0;
    assert_ok(tg_taso_exact(unit_shared(RULE_FILE), g, NULL, &r));
    for (; n < MOST && want[n].full; n++) {
        assert_true(n < r.n_rules);
        assert_same(models[i].name, &r.rules[n], &want[n]);
        graphs += want[n].graphs;
        loops += want[n].loops;
        distinct += want[n].distinct;
    }
    assert_int_equal(r.n_rules, n);
    assert_int_equal(r.graphs, graphs);
    assert_int_equal(r.loops, loops);
    assert_int_equal(r.distinct, distinct);
    assert_int_equal(r.nodes, models[i].nodes);
    assert_int_equal(r.ops, models[i].ops);
    tg_taso_report_done(&r);
}

static void the_counts_are_those_of_taso(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tg_graph *g;
        assert_ok(tg_sample_build(models[i].name, 1, true, &g));
        check_model(g, i);
        tg_graph_unref(g);
    }
}

/* Fused activations come back from a file, and with them cost and counts. */
static void a_file_gives_the_same_counts(void **state)
{
    (void)state;
    const char *path = unit_temporary("model.onnx");
    tg_graph *g, *loaded;
    assert_ok(tg_sample_build("taso-resnext50", 1, true, &g));
    assert_ok(tg_onnx_save(g, path));
    assert_ok(tg_onnx_load(path, NULL, &loaded));
    check_model(loaded, 4);
    assert_true(tg_graph_cost_ms(loaded) == tg_graph_cost_ms(g));
    tg_graph_unref(loaded);
    tg_graph_unref(g);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    tg_graph *g;
    tg_taso_report r;
    assert_ok(tg_sample_build("taso-bertx1", 1, true, &g));
    assert_status(tg_taso_exact("nosuch.pb", g, NULL, &r), TG_IO);
    assert_contains(tg_message(), "nosuch.pb");
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_counts_are_those_of_taso),
    cmocka_unit_test(a_file_gives_the_same_counts),
    cmocka_unit_test(a_file_that_is_not_there_is_named),
};

static const char *why_not(void)
{
    return unit_shared(RULE_FILE) ? NULL : "TASO's rule file is not beside the checkout";
}

UNIT_MAIN_IF(tests, why_not())
