/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests of searches begin with: regraft's rules, samples, and what holds for every best. */
#ifndef TESTS_UNIT_SEARCH_CASE_H
#define TESTS_UNIT_SEARCH_CASE_H

#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"

#include <math.h>

static tg_rules *rules;

static int load_rules(void **state)
{
    (void)state;
    const char *dir = unit_source("rules");
    assert_ok(tg_rules_load(&dir, 1, &rules));
    return 0;
}

static int drop_rules(void **state)
{
    (void)state;
    tg_rules_unref(rules);
    return 0;
}

static tg_graph *sample(const char *name)
{
    tg_graph *g;
    assert_ok(tg_sample_build(name, 1, true, &g));
    return g;
}

/* A search in a job must not fail. */
UNIT_MAYBE void note_status(void *ctx, tg_status status, const char *message)
{
    (void)ctx;
    if (status != TG_OK) fail_msg("%s", message);
}

/* Costs and hashes along the trail are those of its graphs. */
static void check_trail(const tg_graph *g, const tg_trail *t)
{
    const tg_trail *root = tg_trail_at(t, 0);
    assert_true(root->graph->hash == g->hash);
    assert_true(t->cost_ms <= root->cost_ms);
    for (; t; t = t->parent) {
        assert_ok(tg_check(t->graph));
        assert_true(fabs(t->cost_ms - tg_graph_cost_ms(t->graph)) < 1e-9);
        assert_true(t->taken.hash == t->graph->hash);
    }
}

/* A main that loads the rules before the tests. */
#define SEARCH_MAIN(tests)                                                                         \
    int main(void)                                                                                 \
    {                                                                                              \
        setvbuf(stdout, NULL, _IOLBF, 0);                                                          \
        return unit_end(cmocka_run_group_tests(tests, load_rules, drop_rules));                    \
    }

#endif
