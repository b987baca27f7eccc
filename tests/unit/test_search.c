/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/search_case.h"

static tg_trail *search(const char *by, const tg_graph *g, tg_search_options options,
                        tg_search_report *report)
{
    tg_trail *best;
    assert_ok(tg_search_run(tg_search_find(by), rules, g, &options, report, &best));
    return best;
}

static void every_search_on_every_small_sample(void **state)
{
    (void)state;
    static const char *const names[] = {"conv-bn", "attention", "branches", "layernorm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tg_graph *g = sample(names[i]);
        tg_search_report report;
        tg_trail *all = search("exhaustive", g, (tg_search_options){.budget = 300}, &report);
        print_message("%s %.4f -> %.4f ms, %d graphs, %s\n", names[i], tg_graph_cost_ms(g),
                      all->cost_ms, report.expansions, report.stop);
        for (int k = 0; tg_search_at(k); k++) {
            tg_search_options options = {.budget = 60, .seed = 7};
            tg_trail *best = search(tg_search_at(k)->name, g, options, &report);
            check_trail(g, best);
            assert_true(report.expansions <= 60);
            tg_trail_unref(best);
        }
        check_trail(g, all);
        tg_trail_unref(all);
        tg_graph_unref(g);
    }
}

static void searches_repeat(void **state)
{
    (void)state;
    tg_graph *g = sample("resnet18");
    for (int k = 0; tg_search_at(k); k++) {
        tg_search_report a, b;
        tg_search_options options = {.budget = 40, .seed = 3};
        tg_trail *x = search(tg_search_at(k)->name, g, options, &a);
        tg_trail *y = search(tg_search_at(k)->name, g, options, &b);
        assert_true(x->graph->hash == y->graph->hash);
        assert_int_equal(a.sites, b.sites);
        assert_int_equal(a.graphs, b.graphs);
        tg_trail_unref(x);
        tg_trail_unref(y);
    }
    tg_graph_unref(g);
}

/* Detours that pay only together: the e-graph holds them all, and steps of rules lead there. */
static void saturation_combines_what_greedy_misses(void **state)
{
    (void)state;
    tg_graph *g = sample("taso-squeezenet");
    tg_search_report report;
    tg_trail *greedy = search("greedy", g, (tg_search_options){0}, &report);
    tg_trail *best = search("saturate", g, (tg_search_options){0}, &report);
    print_message("greedy %.4f, saturate %.4f ms in %d steps, %d operators, %s\n", greedy->cost_ms,
                  best->cost_ms, best->depth, report.equal_nodes, report.stop);
    check_trail(g, best);
    assert_true(report.proved);
    assert_string_equal(report.stop, "saturated");
    assert_true(best->cost_ms < 0.9 * greedy->cost_ms);
    assert_true(best->depth > 10);
    for (const tg_trail *t = best; t->parent; t = t->parent)
        assert_true(tg_rules_find(rules, t->taken.rule) >= 0);
    tg_verify_report verified;
    tg_trail *good;
    assert_ok(tg_trail_verify(best, 5, NULL, &verified, &good));
    assert_ptr_equal(good, best);
    tg_trail_unref(good);
    tg_trail_unref(best);
    tg_trail_unref(greedy);
    tg_graph_unref(g);
}

/* On graphs small enough to expand wholly, nothing is cheaper than what saturation finds. */
static void saturation_reaches_the_exhaustive_optimum(void **state)
{
    (void)state;
    static const char *const names[] = {"conv-bn", "attention", "branches", "layernorm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tg_graph *g = sample(names[i]);
        tg_search_report report, whole;
        tg_trail *all = search("exhaustive", g, (tg_search_options){.budget = 2000}, &whole);
        tg_trail *best = search("saturate", g, (tg_search_options){0}, &report);
        print_message("%s: exhaustive %.5f (%s), saturate %.5f (%s%s, %d graphs)\n", names[i],
                      all->cost_ms, whole.stop, best->cost_ms, report.stop,
                      report.proved ? ", proved" : "", report.expansions);
        assert_true(best->cost_ms <= all->cost_ms * (1 + 1e-6));
        tg_trail_unref(all);
        tg_trail_unref(best);
        tg_graph_unref(g);
    }
}

static void a_batch_norm_costs_nothing_in_the_end(void **state)
{
    (void)state;
    tg_graph *g = sample("conv-bn");
    tg_search_report report;
    tg_trail *best = search("greedy", g, (tg_search_options){0}, &report);
    for (uint32_t i = 0; i < best->graph->n_nodes; i++)
        assert_true(best->graph->nodes[best->graph->order[i]]->op != TG_OP(BatchNormalization));
    assert_true(tg_graph_op_count(best->graph) <= tg_graph_op_count(g) - 2);
    tg_trail_unref(best);
    tg_graph_unref(g);
}

static tg_status run_cancelled(tg_job *job, void *ctx)
{
    tg_search_report report;
    tg_trail *best;
    tg_search_options options = {.job = job, .budget = 1000000, .max_steps = 1000};
    tg_status status =
        tg_search_run(tg_search_find("exhaustive"), rules, ctx, &options, &report, &best);
    if (status != TG_OK) return status;
    status = strcmp(report.stop, "cancelled") == 0
                 ? TG_OK
                 : tg_fail(TG_INVALID, "stopped by %s", report.stop);
    tg_trail_unref(best);
    return status;
}

static void a_cancelled_search_gives_its_best(void **state)
{
    (void)state;
    tg_graph *g = sample("resnet18");
    tg_jobs *jobs = tg_jobs_new(1);
    tg_job *job = tg_jobs_start(jobs, run_cancelled, note_status, g);
    usleep(50000);
    tg_job_cancel(job);
    int64_t start = tg_clock_ns();
    while (!tg_job_finished(job)) {
        tg_jobs_dispatch(jobs);
        usleep(1000);
    }
    print_message("stopped after %.1f ms\n", (double)(tg_clock_ns() - start) / 1e6);
    tg_job_unref(job);
    tg_jobs_free(jobs);
    tg_graph_unref(g);
}

static void steps_are_proved(void **state)
{
    (void)state;
    static const char *const names[] = {"conv-bn", "attention", "branches", "layernorm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tg_graph *g;
        tg_search_report report;
        tg_verify_report verify;
        tg_trail *good;
        assert_ok(tg_sample_build(names[i], 1, false, &g));
        tg_trail *best = search("greedy", g, (tg_search_options){0}, &report);
        assert_ok(tg_trail_verify(best, 5, NULL, &verify, &good));
        assert_ptr_equal(good, best);
        assert_true(verify.whole && verify.telling == verify.compared);
        print_message("%s: %d steps, largest difference %.3g\n", names[i], best->depth,
                      verify.max_abs_error);
        tg_trail_unref(good);
        tg_trail_unref(best);
        tg_graph_unref(g);
    }
}

static void count_words(void *ctx, tg_log_level level, const char *text)
{
    if (level == TG_LOG_WARN && strstr(text, "says little")) ++*(int *)ctx;
}

/* Two graphs that give nothing but 0 agree; that is no proof, and it is said. */
static void outputs_that_say_nothing_are_told(void **state)
{
    (void)state;
    int told = 0;
    tg_graph *g;
    tg_verify_report verify;
    assert_ok(tg_sample_build("taso-bertx8", 1, true, &g)); /* blank weights: the output is 0 */
    tg_log_to(count_words, &told);
    assert_ok(tg_verify(g, g, 1, NULL, &verify));
    tg_log_to(NULL, NULL);
    assert_int_equal(verify.telling, 0);
    assert_int_equal(told, 1);
    tg_graph_unref(g);
}

static void steps_replay_by_rule_and_key(void **state)
{
    (void)state;
    tg_graph *g = sample("resnet18");
    tg_search_report report;
    tg_trail *best = search("greedy", g, (tg_search_options){.max_steps = 5}, &report);
    tg_trail *at = tg_trail_root(g), *next;
    for (int depth = 1; depth <= best->depth; depth++) {
        const tg_taken *taken = &tg_trail_at(best, depth)->taken;
        assert_ok(tg_step_replay(at, rules, taken->rule, taken->key, NULL, &next));
        assert_true(next->graph->hash == taken->hash);
        tg_trail_unref(at);
        at = next;
    }
    assert_status(tg_step_replay(at, rules, "no-such-rule", 1, NULL, &next), TG_NOTFOUND);
    assert_status(tg_step_replay(at, rules, best->taken.rule, best->taken.key, NULL, &next),
                  TG_NOTFOUND);
    tg_trail_unref(at);
    tg_trail_unref(best);
    tg_graph_unref(g);
}

/* y = (x - 1) * (x - 1), the difference written twice. */
static tg_graph *twice(void)
{
    static const char *const names[] = {"y"};
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type type = {TG_F32, tg_shape_of(64, 64)};
    tg_value in[] = {tg_build_input(b, "x", &type), tg_build_scalar(b, TG_F32, 1)}, both[2];
    uint32_t id;
    for (int i = 0; i < 2; i++) {
        assert_ok(tg_build_node(b, &(tg_node_spec){.op = TG_OP(Sub), .in = in, .n_in = 2}, &id));
        both[i] = tg_value_of(id, 0);
    }
    assert_ok(tg_build_node(b, &(tg_node_spec){.op = TG_OP(Mul), .in = both, .n_in = 2}, &id));
    tg_value y = tg_value_of(id, 0);
    tg_build_outputs(b, &y, names, 1);
    tg_graph *g;
    assert_ok(tg_build_done(b, &g));
    tg_origin_unref(origin);
    return g;
}

/* What a graph computes does not change when equal nodes become one, but it is another state. */
static void merged_equal_nodes_are_another_state(void **state)
{
    (void)state;
    tg_graph *g = twice();
    tg_search_report report;
    tg_trail *best = search("exhaustive", g, (tg_search_options){.budget = 50}, &report);
    assert_true(tg_graph_op_count(best->graph) < tg_graph_op_count(g));
    tg_history *h = tg_history_new(g);
    tg_step_info info = {.who = TG_BY_YOU, .probability = NAN, .version = -1, .value = NAN};
    for (int depth = 1; depth <= best->depth; depth++) {
        bool linked;
        tg_history_add(h, depth - 1, tg_trail_at(best, depth), &info, &linked);
        assert_false(linked);
    }
    tg_history_free(h);
    tg_trail_unref(best);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_search_on_every_small_sample),
    cmocka_unit_test(searches_repeat),
    cmocka_unit_test(saturation_combines_what_greedy_misses),
    cmocka_unit_test(saturation_reaches_the_exhaustive_optimum),
    cmocka_unit_test(a_batch_norm_costs_nothing_in_the_end),
    cmocka_unit_test(a_cancelled_search_gives_its_best),
    cmocka_unit_test(steps_are_proved),
    cmocka_unit_test(outputs_that_say_nothing_are_told),
    cmocka_unit_test(steps_replay_by_rule_and_key),
    cmocka_unit_test(merged_equal_nodes_are_another_state),
};

SEARCH_MAIN(tests)
