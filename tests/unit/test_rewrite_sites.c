/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites, previews and candidates: what they promise to each other and to the graph. */
#include "tests/unit/unit.h"

#include "engine/base/job.h"
#include "engine/base/rng.h"
#include "engine/base/str.h"
#include "engine/ops/cost.h"
#include "engine/ops/ops.h"
#include "engine/rewrite/prove.h"
#include "engine/rewrite/sites.h"

#include <math.h>
#include <stdatomic.h>

static tg_rules *all_rules(void)
{
    tg_rules *rules;
    const char *folder = unit_source("rules");
    assert_ok(tg_rules_load(&folder, 1, &rules));
    return rules;
}

/* The graph of a rule's `given` and `from` whose results are its outputs. */
static tg_graph *graph_of(const char *given, const char *from, const char *once, const char *to)
{
    tg_str text = {0};
    tg_rules *rules;
    tg_graph *g;
    tg_str_addf(&text, "rule graph\ngiven %s\nfrom %s\n", given, from);
    if (once[0]) tg_str_addf(&text, "pays %s\n", once);
    tg_str_addf(&text, "to %s\n", to);
    assert_ok(tg_rules_parse(tg_str_text(&text), "graph", &rules));
    assert_ok(tg_rule_draw(rules, 0, 7, &g));
    tg_rules_unref(rules);
    tg_str_free(&text);
    return g;
}

static tg_rules *rule_of(const char *body)
{
    tg_str text = {0};
    tg_rules *rules;
    tg_str_addf(&text, "rule tested\n%s\n", body);
    assert_ok(tg_rules_parse(tg_str_text(&text), "algebra.rules", &rules));
    tg_str_free(&text);
    return rules;
}

static int sites_of(const tg_rules *rules, const char *name, const tg_graph *g)
{
    tg_sites *sites;
    int n = 0;
    assert_ok(tg_sites_find(rules, g, NULL, &sites));
    for (int i = 0; i < tg_sites_count(sites); i++)
        n += strcmp(tg_rules_get(rules, tg_sites_get(sites, i)->rule)->name, name) == 0;
    tg_sites_free(sites);
    return n;
}

static int count_op(const tg_graph *g, tg_op op)
{
    int n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) n += g->nodes[g->order[i]]->op == op;
    return n;
}

static void assert_equal_previews(const tg_preview *a, const tg_preview *b)
{
    assert_int_equal(a->nodes_gone, b->nodes_gone);
    assert_int_equal(a->nodes_come, b->nodes_come);
    assert_int_equal(a->n_gone, b->n_gone);
    assert_int_equal(a->n_come, b->n_come);
    assert_int_equal(a->n_redirects, b->n_redirects);
    for (int i = 0; i < a->n_gone; i++) assert_int_equal(a->gone[i], b->gone[i]);
    for (int i = 0; i < a->n_come; i++) {
        const tg_preview_node *x = &a->come[i], *y = &b->come[i];
        assert_int_equal(x->op, y->op);
        assert_int_equal(x->n_in, y->n_in);
        assert_int_equal(x->n_attr, y->n_attr);
        for (int k = 0; k < x->n_in; k++) assert_int_equal(x->in[k], y->in[k]);
        for (int k = 0; k < x->n_attr; k++) assert_true(tg_attr_equal(&x->attr[k], &y->attr[k]));
        for (int k = 0; k < x->n_out; k++) assert_true(tg_type_equal(&x->out[k], &y->out[k]));
    }
    for (int i = 0; i < a->n_redirects; i++) {
        assert_int_equal(a->redirects[i].from, b->redirects[i].from);
        assert_int_equal(a->redirects[i].to, b->redirects[i].to);
    }
}

static void assert_equal_candidates(const tg_candidates *a, const tg_candidates *b)
{
    assert_int_equal(tg_candidates_count(a), tg_candidates_count(b));
    for (int i = 0; i < tg_candidates_count(a); i++) {
        const tg_candidate *x = tg_candidates_get(a, i), *y = tg_candidates_get(b, i);
        assert_int_equal(x->site->key, y->site->key);
        assert_int_equal(x->site->rule, y->site->rule);
        assert_int_equal(x->preview.change, y->preview.change);
        assert_true(x->preview.cost_delta_ms == y->preview.cost_delta_ms);
        assert_equal_previews(&x->preview, &y->preview);
        assert_int_equal(tg_candidates_find_key(a, x->site->key), i);
    }
}

/* The graph built is the one that the preview describes. */
static void assert_as_previewed(const tg_graph *g, const tg_graph *next, const tg_preview *p)
{
    assert_ok(tg_check(next));
    assert_int_equal(next->hash, tg_preview_hash(g, p));
    assert_int_equal(next->n_gone, p->n_gone);
    for (int i = 0; i < p->n_gone; i++) assert_int_equal(next->gone[i], p->gone[i]);
    for (int i = 0; i < p->n_come; i++) {
        const tg_node *node = tg_graph_node(next, g->n_ids + (uint32_t)i);
        assert_non_null(node);
        assert_int_equal(node->op, p->come[i].op);
        assert_int_equal(node->constant, p->come[i].constant);
        for (int k = 0; k < node->n_out; k++)
            assert_true(tg_type_equal(&node->out[k], &p->come[i].out[k]));
    }
    assert_int_equal((int)tg_graph_op_count(next) - (int)tg_graph_op_count(g),
                     p->nodes_come - p->nodes_gone);
    double delta = tg_graph_cost_ms(next) - tg_graph_cost_ms(g);
    assert_true(fabs(delta - p->cost_delta_ms) < 1e-4);
}

static void walk(const tg_rules *rules, tg_graph *g, tg_rng *rng, int steps)
{
    tg_candidates *c, *updated, *fresh;
    tg_graph *next;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    for (int s = 0; s < steps && tg_candidates_count(c); s++) {
        int pick = (int)tg_rng_below(rng, (uint64_t)tg_candidates_count(c));
        assert_ok(tg_candidates_apply(c, pick, &next));
        assert_as_previewed(g, next, &tg_candidates_get(c, pick)->preview);
        assert_ok(tg_candidates_update(c, next, NULL, &updated));
        assert_ok(tg_candidates_find(rules, next, NULL, &fresh));
        assert_equal_candidates(updated, fresh);
        tg_candidates_free(fresh);
        tg_candidates_free(c);
        tg_graph_unref(g);
        c = updated;
        g = next;
    }
    tg_candidates_free(c);
    tg_graph_unref(g);
}

static void updates_equal_fresh_finds(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    tg_rng *rng = tg_rng_new(5);
    for (int i = 0; i < tg_rules_count(rules); i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            tg_graph *g;
            assert_ok(tg_rule_draw(rules, i, seed, &g));
            walk(rules, g, rng, 6);
        }
    tg_rng_free(rng);
    tg_rules_unref(rules);
}

/* Sites far from a step are kept as they are, also those whose biases are absent. */
static void far_sites_are_kept(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    tg_rng *rng = tg_rng_new(9);
    for (int i = 0; i < 8; i++) {
        tg_graph *g = graph_of(
            "x:[1,2,6,6] k,l:[3,2,3,3]",
            "u = Conv(x, k; pads=[1,1,1,1]) v = Conv(x, l; pads=[1,1,1,1]) w = Add(u, v) "
            "a = Sigmoid(w) b = Exp(a) c = Abs(b) d = Neg(c) e = Neg(d) f = Tanh(e) "
            "g = Identity(f) h = Transpose(g; perm=[0,1,3,2]) i = Transpose(h; perm=[0,1,3,2])",
            "const(k, l), once(u, v, w, a, b, c, d, e, f, g, h)", "i = Identity(i)");
        walk(rules, g, rng, 5);
    }
    tg_rng_free(rng);
    tg_rules_unref(rules);
}

/* One matched node feeds the other: what replaces it has no reader and must not come at all. */
static void what_only_new_nodes_read_is_not_replaced(void **state)
{
    (void)state;
    tg_rules *rules = rule_of("given x  z\n"
                              "from u = Relu(x)\n"
                              "       v = Sub(z, x)\n"
                              "to   u = Max(x, 0)\n"
                              "       v = Neg(Sub(x, z))");
    tg_graph *g = graph_of("x", "r = Relu(x)\n       y = Sub(r, x)", "", "y = Sub(Relu(x), x)");
    tg_candidates *c;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    assert_int_equal(tg_candidates_count(c), 1);
    const tg_preview *p = &tg_candidates_get(c, 0)->preview;
    tg_graph *next;
    assert_int_equal(p->n_redirects, 1);
    assert_int_equal(p->nodes_come, 2);
    assert_ok(tg_candidates_apply(c, 0, &next));
    assert_as_previewed(g, next, p);
    tg_graph_unref(next);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void any_number_of_products_become_one(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    tg_graph *g = graph_of("x:[4,8] a,b,c,d:[8,3]",
                           "p = MatMul(x, a) q = MatMul(x, b) r = MatMul(x, c) s = MatMul(x, d)",
                           "const(a, b, c, d)",
                           "p = Identity(p) q = Identity(q) r = Identity(r) s = Identity(s)");
    tg_candidates *c;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    int rule = tg_rules_find(rules, "merge-matmuls-sharing-input"), found = 0;
    for (int i = 0; i < tg_candidates_count(c); i++) {
        if (tg_candidates_get(c, i)->site->rule != rule) continue;
        tg_graph *next;
        assert_int_equal(tg_candidates_get(c, i)->site->n_nodes, 4);
        assert_ok(tg_candidates_apply(c, i, &next));
        assert_int_equal(count_op(next, TG_OP(MatMul)), 1);
        assert_int_equal(count_op(next, TG_OP(Split)), 1);
        assert_int_equal(tg_graph_op_count(next), 2);
        assert_int_equal(tg_graph_sink(next)->n_in, 4);
        tg_graph_unref(next);
        found++;
    }
    assert_int_equal(found, 1);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void values_that_others_read_stay(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    /* t is an output as well: the rule may go past it, but not take it away. */
    tg_graph *g = graph_of("x:[2,3]", "t = Transpose(x; perm=[1,0]) y = Transpose(t; perm=[1,0])",
                           "", "t = Identity(t) y = Identity(y)");
    tg_candidates *c;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    int rule = tg_rules_find(rules, "cancel-transposes"), found = 0;
    for (int i = 0; i < tg_candidates_count(c); i++) {
        if (tg_candidates_get(c, i)->site->rule != rule) continue;
        tg_graph *next;
        assert_int_equal(tg_candidates_get(c, i)->preview.n_gone, 1);
        assert_ok(tg_candidates_apply(c, i, &next));
        assert_int_equal(count_op(next, TG_OP(Transpose)), 1);
        assert_int_equal(tg_graph_sink(next)->n_in, 2);
        tg_graph_unref(next);
        found++;
    }
    assert_int_equal(found, 1);
    tg_candidates_free(c);
    tg_graph_unref(g);
    /* once(t) counts being an output as a use. */
    g = graph_of("x:[2,3] k:[3,4] c:[4]", "t = MatMul(x, k) y = Mul(t, c)", "const(k, c)",
                 "t = Identity(t) y = Identity(y)");
    assert_int_equal(sites_of(rules, "fold-column-scale-into-matmul", g), 0);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void cycles_are_refused(void **state)
{
    (void)state;
    const char *given = "x,a:[3]", *from = "u = Add(x, a) b = Relu(u) v = Add(x, b)";
    tg_graph *g = graph_of(given, from, "once(b)", "u = Identity(u) v = Identity(v)");
    tg_rules *joined = rule_of("given x:[n] a,b:[n]\n"
                               "from u = Add(x, a) v = Add(x, b)\n"
                               "to xx = Concat(x, x; axis=0) ab = Concat(a, b; axis=0)\n"
                               "   w = Add(xx, ab) u, v = Split(w; axis=0, split=[n,n])\n");
    tg_rules *apart = rule_of("given x:[n] a,b:[n]\n"
                              "from u = Add(x, a) v = Add(x, b)\n"
                              "to u = Sub(x, Neg(a)) v = Sub(x, Neg(b))\n");
    tg_sites *sites;
    tg_preview preview;
    tg_arena *arena = tg_arena_new();
    assert_ok(tg_sites_find(joined, g, NULL, &sites));
    assert_true(tg_sites_count(sites) >= 2);
    int cycles = 0;
    for (int i = 0; i < tg_sites_count(sites); i++) {
        tg_graph *next;
        assert_ok(tg_site_preview(joined, g, tg_sites_get(sites, i), arena, &preview));
        if (preview.ok) continue;
        assert_contains(preview.why_not, "cycle");
        assert_status(tg_site_apply(joined, g, tg_sites_get(sites, i), &next), TG_RULE);
        cycles++;
    }
    assert_true(cycles >= 2);
    tg_sites_free(sites);
    /* The same nodes, replaced one by one, make none. */
    assert_ok(tg_sites_find(apart, g, NULL, &sites));
    for (int i = 0; i < tg_sites_count(sites); i++) {
        tg_graph *next;
        assert_ok(tg_site_preview(apart, g, tg_sites_get(sites, i), arena, &preview));
        assert_true(preview.ok);
        assert_ok(tg_site_apply(apart, g, tg_sites_get(sites, i), &next));
        assert_as_previewed(g, next, &preview);
        tg_graph_unref(next);
    }
    tg_sites_free(sites);
    tg_arena_free(arena);
    tg_rules_unref(joined);
    tg_rules_unref(apart);
    tg_graph_unref(g);
}

static void numbers_must_not_widen(void **state)
{
    (void)state;
    tg_rules *rules = rule_of("given x\nfrom y = Add(x, 0)\nto y = x");
    tg_graph *narrow = graph_of("x:[1] c:[3]", "t = Add(x, c) y = Relu(t)",
                                "const(c), below(c, 0 - 9)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "tested", narrow), 0);
    tg_graph_unref(narrow);
    tg_rules_unref(rules);
    rules = all_rules();
    /* The scale of a normalisation that is wider than what it scales (x is [1,1], s is [1,2]). */
    tg_graph *g = graph_of("x:[1,1] s:[1,2] e:number",
                           "m = ReduceMean(x; axes=[1], keepdims=1) c = Sub(x, m) "
                           "v = ReduceMean(Pow(c, 2); axes=[1], keepdims=1) "
                           "n = Div(c, Sqrt(Add(v, e))) y = Mul(n, s)",
                           "const(s), once(m, v, n)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "fuse-layernorm", g), 0);
    tg_graph_unref(g);
    g = graph_of("x:[5,2] s:[2] e:number",
                 "m = ReduceMean(x; axes=[1], keepdims=1) c = Sub(x, m) "
                 "v = ReduceMean(Pow(c, 2); axes=[1], keepdims=1) "
                 "n = Div(c, Sqrt(Add(v, e))) y = Mul(n, s)",
                 "const(s), once(m, v, n)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "fuse-layernorm", g), 1);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void training_and_batch_padding_are_left_alone(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    tg_graph *g = graph_of("x:[1,2,5,5] k:[3,2,3,3] s,b,m,v:[3]",
                           "t = Conv(x, k; pads=[0,0,0,0]) "
                           "y = BatchNormalization(t, s, b, m, v; training_mode=1)",
                           "const(k, s, b), once(t), positive(v)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "fold-batchnorm-into-conv", g), 0);
    tg_graph_unref(g);
    g = graph_of("x:[1,3,8,8] k:[4,3,3,3]",
                 "t = Pad(x; pads=[1,0,1,1,0,0,1,1], value=0) y = Conv(t, k; pads=[0,0,0,0])",
                 "once(t)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "fold-pad-into-conv", g), 0);
    tg_graph_unref(g);
    g = graph_of("x:[1,1,4,4]",
                 "t = Pad(x; pads=[0,0,1,1,0,0,1,1], value=0) "
                 "y = MaxPool(t; kernel_shape=[2,2], pads=[0,0,0,0])",
                 "once(t)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "fold-pad-into-max-pool", g), 0);
    tg_graph_unref(g);
    g = graph_of("x:[4]", "t = Cast(x; to=7) y = Cast(t; to=1)", "once(t)", "y = Identity(y)");
    assert_int_equal(sites_of(rules, "cancel-casts", g), 0);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void sites_come_in_order(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    tg_graph *g = graph_of("x:[4,8] a,b:[8,3] c:[3]",
                           "p = MatMul(x, a) q = MatMul(x, b) s = Add(p, c) t = Relu(s) "
                           "u = Identity(t) w = Identity(u) z = Add(w, q)",
                           "const(a, b, c)", "z = Identity(z)");
    tg_sites *once, *again;
    assert_ok(tg_sites_find(rules, g, NULL, &once));
    assert_ok(tg_sites_find(rules, g, NULL, &again));
    assert_true(tg_sites_count(once) > 3);
    assert_int_equal(tg_sites_count(once), tg_sites_count(again));
    for (int i = 0; i < tg_sites_count(once); i++) {
        assert_int_equal(tg_sites_get(once, i)->key, tg_sites_get(again, i)->key);
        if (i) assert_true(tg_sites_get(once, i - 1)->rule <= tg_sites_get(once, i)->rule);
        for (int k = 0; k < i; k++)
            assert_true(tg_sites_get(once, i)->key != tg_sites_get(once, k)->key);
    }
    tg_sites_free(once);
    tg_sites_free(again);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void fuse_rules_never_add_nodes(void **state)
{
    (void)state;
    tg_rules *rules = all_rules();
    for (int i = 0; i < tg_rules_count(rules); i++) {
        const tg_rule_info *info = tg_rules_get(rules, i);
        if (strcmp(info->family, "cancel") != 0 && strcmp(info->family, "fuse") != 0) continue;
        for (uint64_t seed = 0; seed < 4; seed++) {
            tg_graph *g;
            tg_candidates *c;
            assert_ok(tg_rule_draw(rules, i, seed, &g));
            assert_ok(tg_candidates_find(rules, g, NULL, &c));
            for (int k = 0; k < tg_candidates_count(c); k++) {
                const tg_candidate *candidate = tg_candidates_get(c, k);
                if (candidate->site->rule == i)
                    assert_true(candidate->preview.nodes_come <= candidate->preview.nodes_gone);
            }
            tg_candidates_free(c);
            tg_graph_unref(g);
        }
    }
    tg_rules_unref(rules);
}

typedef struct stopped {
    tg_rules *rules;
    tg_graph *g;
    tg_status sites, candidates;
    atomic_bool started;
} stopped;

static tg_status find_when_cancelled(tg_job *job, void *ctx)
{
    stopped *s = ctx;
    tg_sites *sites = NULL;
    tg_candidates *c = NULL;
    atomic_store(&s->started, true);
    while (!tg_job_cancelled(job)) usleep(1000);
    s->sites = tg_sites_find(s->rules, s->g, job, &sites);
    s->candidates = tg_candidates_find(s->rules, s->g, job, &c);
    return TG_OK;
}

static void a_cancelled_search_stops(void **state)
{
    (void)state;
    stopped s = {.rules = all_rules()};
    assert_ok(tg_rule_draw(s.rules, 0, 1, &s.g));
    tg_jobs *jobs = tg_jobs_new(1);
    tg_job *job = tg_jobs_start(jobs, find_when_cancelled, NULL, &s);
    while (!atomic_load(&s.started)) usleep(1000);
    tg_job_cancel(job);
    while (!tg_job_finished(job)) {
        tg_jobs_dispatch(jobs);
        usleep(1000);
    }
    tg_job_unref(job);
    tg_jobs_free(jobs);
    assert_int_equal(s.sites, TG_CANCELLED);
    assert_int_equal(s.candidates, TG_CANCELLED);
    tg_graph_unref(s.g);
    tg_rules_unref(s.rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(updates_equal_fresh_finds),
    cmocka_unit_test(far_sites_are_kept),
    cmocka_unit_test(what_only_new_nodes_read_is_not_replaced),
    cmocka_unit_test(any_number_of_products_become_one),
    cmocka_unit_test(values_that_others_read_stay),
    cmocka_unit_test(cycles_are_refused),
    cmocka_unit_test(numbers_must_not_widen),
    cmocka_unit_test(training_and_batch_padding_are_left_alone),
    cmocka_unit_test(sites_come_in_order),
    cmocka_unit_test(fuse_rules_never_add_nodes),
    cmocka_unit_test(a_cancelled_search_stops),
};

UNIT_MAIN(tests)
