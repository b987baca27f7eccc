/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules of rules/ are worth: costs below those that TASO's sound rules reach. */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"

static const struct {
    const char *model, *by;
    double peer; /* ms, by backtracking with alpha 1.05 */
} rows[] = {
    {"taso-bert", "greedy", 0.7456},        {"taso-squeezenet", "saturate", 0.2941},
    {"taso-resnet18bn", "greedy", 0.7256},  {"taso-resnet50", "greedy", 1.8103},
    {"taso-resnext50", "saturate", 1.9398}, {"taso-inceptionv3", "greedy", 2.2903},
    {"taso-nasrnn", "greedy", 1.0072},      {"taso-nasnet_a", "greedy", 7.3709},
};

static void costs_are_below_the_peers(void **state)
{
    (void)state;
    const char *dir = unit_source("rules");
    tg_rules *rules;
    assert_ok(tg_rules_load(&dir, 1, &rules));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_graph *g;
        tg_trail *best;
        tg_search_report report;
        assert_ok(tg_sample_build(rows[i].model, 1, true, &g));
        assert_ok(tg_search_run(tg_search_find(rows[i].by), rules, g, NULL, &report, &best));
        print_message("%s by %s: %.4f ms, %.4f elsewhere\n", rows[i].model, rows[i].by,
                      best->cost_ms, rows[i].peer);
        assert_ok(tg_check(best->graph));
        assert_true(best->cost_ms < 0.997 * rows[i].peer);
        tg_trail_unref(best);
        tg_graph_unref(g);
    }
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(costs_are_below_the_peers),
};

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    return unit_end(cmocka_run_group_tests(tests, NULL, NULL));
}
