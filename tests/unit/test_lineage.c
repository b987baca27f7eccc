/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of graphs of one lineage: the same before and after building, and for any order of steps. */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "engine/rewrite/lineage.h"
#include "samples/samples.h"

static tg_rules *load(void)
{
    const char *folder = unit_source("rules");
    tg_rules *rules;
    assert_ok(tg_rules_load(&folder, 1, &rules));
    return rules;
}

static uint64_t key_of(const tg_graph *g)
{
    tg_lineage *l = tg_lineage_new(g);
    uint64_t key = tg_lineage_key(l);
    tg_lineage_free(l);
    return key;
}

/* How many of the candidates' keys are those of the graphs built, and none tells two apart wrongly.
 */
static int check_all(const tg_candidates *c, int *tangled)
{
    tg_lineage *l = tg_lineage_new(tg_candidates_graph(c));
    tg_map graphs = {0};
    int n = tg_candidates_count(c), same = 0;
    for (int i = 0; i < n; i++) {
        tg_graph *next;
        bool fresh;
        uint64_t key = tg_lineage_after(l, &tg_candidates_get(c, i)->preview);
        assert_true(key == tg_lineage_after(l, &tg_candidates_get(c, i)->preview));
        assert_ok(tg_candidates_apply(c, i, &next));
        uint64_t *graph = tg_map_put(&graphs, key, &fresh);
        if (fresh) *graph = tg_graph_key(next);
        assert_true(*graph == tg_graph_key(next));
        if (key == key_of(next)) same++;
        else ++*tangled;
        tg_graph_unref(next);
    }
    tg_map_free(&graphs);
    tg_lineage_free(l);
    return same;
}

static void a_key_is_that_of_the_graph_built(void **state)
{
    (void)state;
    static const char *const names[] = {"squeezenet", "taso-bertx2", "taso-nasrnnx1", "layernorm",
                                        "attention"};
    tg_rules *rules = load();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tg_graph *g;
        tg_rng *rng = tg_rng_new(i);
        int same = 0, tangled = 0;
        assert_ok(tg_sample_build(names[i], 1, false, &g));
        for (int step = 0; step < 5; step++) {
            tg_candidates *c;
            tg_graph *next;
            assert_ok(tg_candidates_find(rules, g, NULL, &c));
            int n = tg_candidates_count(c);
            if (n) same += check_all(c, &tangled);
            if (n) assert_ok(tg_candidates_apply(c, (int)tg_rng_below(rng, (uint64_t)n), &next));
            tg_candidates_free(c);
            if (!n) break;
            tg_graph_unref(g);
            g = next;
        }
        assert_true(same > 0 && tangled <= same / 2);
        tg_graph_unref(g);
        tg_rng_free(rng);
    }
    tg_rules_unref(rules);
}

static tg_graph *take(const tg_rules *rules, const tg_graph *g, uint64_t key)
{
    tg_candidates *c;
    tg_graph *next = NULL;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    int at = tg_candidates_find_key(c, key);
    if (at >= 0) assert_ok(tg_candidates_apply(c, at, &next));
    tg_candidates_free(c);
    return next;
}

static bool share_node(const tg_site *a, const tg_site *b)
{
    for (int i = 0; i < a->n_nodes; i++)
        for (int k = 0; k < b->n_nodes; k++)
            if (a->nodes[i] == b->nodes[k]) return true;
    return false;
}

/* Two steps in either order lead to one key. */
static void the_order_of_steps_does_not_matter(void **state)
{
    (void)state;
    tg_rules *rules = load();
    tg_graph *g;
    tg_candidates *c;
    int pairs = 0;
    assert_ok(tg_sample_build("squeezenet", 1, true, &g));
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    int n = tg_candidates_count(c);
    for (int k = 1; k < n && pairs < 20; k++) {
        const tg_site *a = tg_candidates_get(c, 0)->site, *b = tg_candidates_get(c, k)->site;
        if (share_node(a, b)) continue;
        tg_graph *ga = take(rules, g, a->key), *gb = take(rules, g, b->key);
        tg_graph *ab = take(rules, ga, b->key), *ba = take(rules, gb, a->key);
        if (ab && ba) {
            assert_true(key_of(ab) == key_of(ba));
            assert_true(key_of(ab) != key_of(ga));
            pairs++;
        }
        tg_graph_unref(ab);
        tg_graph_unref(ba);
        tg_graph_unref(ga);
        tg_graph_unref(gb);
    }
    assert_true(pairs >= 10);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_key_is_that_of_the_graph_built),
    cmocka_unit_test(the_order_of_steps_does_not_matter),
};
UNIT_MAIN(tests)
