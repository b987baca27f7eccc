/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every search reports, and that each can be ended at any point and still has a valid best. */
#include "tests/unit/search_case.h"

#include <sys/wait.h>

static void check_course(const tg_graph *g, const tg_search_report *r, const tg_trail *best)
{
    const tg_search_point *p = r->course;
    assert_in_range(r->n_course, 1, TG_SEARCH_POINTS);
    assert_int_equal(p[0].expansions, 0);
    assert_true(p[0].cost_ms == tg_graph_cost_ms(g));
    assert_true(p[r->n_course - 1].cost_ms == best->cost_ms);
    for (int i = 1; i < r->n_course; i++) {
        assert_true(p[i].cost_ms < p[i - 1].cost_ms);
        assert_true(p[i].expansions >= p[i - 1].expansions);
        assert_true(p[i].seconds >= p[i - 1].seconds);
    }
    assert_int_equal(p[r->n_course - 1].expansions, r->best_at);
    assert_true(p[r->n_course - 1].seconds <= r->seconds);
}

static void every_search_reports(void **state)
{
    (void)state;
    static const char *const names[] = {"attention", "taso-squeezenet"};
    for (int i = 0; i < 2; i++) {
        tg_graph *g = sample(names[i]);
        for (int k = 0; tg_search_at(k); k++) {
            tg_search_report r;
            tg_trail *best;
            tg_search_options o = {.budget = 60, .seed = 7};
            assert_ok(tg_search_run(tg_search_at(k), rules, g, &o, &r, &best));
            check_trail(g, best);
            check_course(g, &r, best);
            assert_true(r.stop && *r.stop && !r.halted);
            assert_in_range(r.expansions, 1, 60);
            assert_in_range(r.sites, r.graphs ? 1 : 0, 1000000);
            assert_true(r.duplicates >= 0 && r.seconds > 0);
            tg_trail_unref(best);
        }
        tg_graph_unref(g);
    }
}

/* More improvements than a report holds: the first and the newest stay. */
static void a_long_course_is_thinned_out(void **state)
{
    (void)state;
    tg_graph *g = sample("taso-bertx48");
    tg_search_report r;
    tg_trail *best;
    assert_ok(tg_search_run(tg_search_find("greedy"), rules, g, NULL, &r, &best));
    print_message("%d steps, %d points\n", best->depth, r.n_course);
    assert_true(best->depth >= TG_SEARCH_POINTS && r.n_course < best->depth);
    check_course(g, &r, best);
    tg_trail_unref(best);
    tg_graph_unref(g);
}

/* Cancels its job when so many expansions were told. */
typedef struct canceller {
    tg_job *job;
    int after, told;
} canceller;

static void cancel_after(void *ctx, const tg_search_progress *p)
{
    canceller *c = ctx;
    (void)p;
    if (++c->told >= c->after) tg_job_cancel(c->job);
}

static void every_search_can_be_cancelled_anywhere(void **state)
{
    (void)state;
    static const int after[] = {0, 1, 2, 3, 7, 20, 45, 120};
    tg_graph *g = sample("taso-squeezenet");
    for (int k = 0; tg_search_at(k); k++) {
        double last = INFINITY;
        for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
            canceller c = {tg_job_new(), after[i], 0};
            tg_search_options o = {
                .budget = 150, .seed = 3, .job = c.job, .progress = cancel_after, .ctx = &c};
            tg_search_report r;
            tg_trail *best;
            if (!after[i]) tg_job_cancel(c.job);
            assert_ok(tg_search_run(tg_search_at(k), rules, g, &o, &r, &best));
            check_trail(g, best);
            check_course(g, &r, best);
            if (c.told >= after[i]) assert_string_equal(r.stop, "cancelled");
            if (!after[i]) assert_int_equal(best->depth, 0);
            assert_true(best->cost_ms <= last); /* longer is never worse */
            last = best->cost_ms;
            tg_trail_unref(best);
            tg_job_unref(c.job);
        }
    }
    tg_graph_unref(g);
}

static void every_search_keeps_to_its_time(void **state)
{
    (void)state;
    tg_graph *g = sample("taso-nasnet_a");
    for (int k = 0; tg_search_at(k); k++) {
        static const double seconds[] = {1e-9, 0.02};
        for (int i = 0; i < 2; i++) {
            tg_search_options o = {
                .budget = 1000000, .max_steps = 100000, .seconds = seconds[i], .seed = 1};
            tg_search_report r;
            tg_trail *best;
            assert_ok(tg_search_run(tg_search_at(k), rules, g, &o, &r, &best));
            check_trail(g, best);
            check_course(g, &r, best);
            if (!i || strcmp(r.stop, "no candidate improves") != 0)
                assert_string_equal(r.stop, "time");
            if (!i) assert_int_equal(best->depth, 0);
            tg_trail_unref(best);
        }
    }
    tg_graph_unref(g);
}

/* In a process of its own: a limit cannot be taken back. */
static void short_memory_ends_a_search(void **state)
{
    (void)state;
    tg_graph *g = sample("taso-nasrnn");
    pid_t child = fork();
    if (child == 0) {
        tg_search_report r;
        tg_trail *best;
        size_t ballast = (size_t)60 << 20;
        if (tg_memory_limit_set((size_t)64 << 20) != TG_OK) _exit(1);
        void *p = malloc(ballast / 10 * 8);
        for (int k = 0; tg_search_at(k); k++) {
            tg_search_options o = {.budget = 100000};
            if (tg_search_run(tg_search_at(k), rules, g, &o, &r, &best) != TG_OK) _exit(2);
            if (strcmp(r.stop, "memory") != 0) _exit(3);
            if (tg_check(best->graph) != TG_OK || best->cost_ms > tg_graph_cost_ms(g)) _exit(4);
            tg_trail_unref(best);
        }
        free(p);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    tg_graph_unref(g);
}

/* y = (x + x) * (x + x), the sum written twice: no rule, but one operator of an e-graph. */
static tg_graph *twice(void)
{
    static const char *const names[] = {"y"};
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type type = {TG_F32, tg_shape_of(64, 64)};
    tg_value x = tg_build_input(b, "x", &type), in[] = {x, x}, both[2];
    uint32_t id;
    for (int i = 0; i < 2; i++) {
        assert_ok(tg_build_node(b, &(tg_node_spec){.op = TG_OP(Add), .in = in, .n_in = 2}, &id));
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

static bool none(void *ctx, const tg_rule_info *info)
{
    (void)ctx;
    (void)info;
    return false;
}

static void saturation_makes_equal_operators_one(void **state)
{
    (void)state;
    tg_graph *g = twice();
    tg_rules *no_rules = tg_rules_select(rules, none, NULL);
    tg_search_report r;
    tg_trail *best, *good;
    tg_verify_report verify;
    assert_ok(tg_search_run(tg_search_find("saturate"), no_rules, g, NULL, &r, &best));
    assert_int_equal(tg_graph_op_count(g), 3);
    assert_int_equal(tg_graph_op_count(best->graph), 2);
    assert_string_equal(best->taken.rule, "merge-equal-operators");
    assert_true(r.proved);
    assert_ok(tg_trail_verify(best, 5, NULL, &verify, &good));
    assert_ptr_equal(good, best);
    tg_trail_unref(good);
    tg_trail_unref(best);
    tg_rules_unref(no_rules);
    tg_graph_unref(g);
}

/* One run of every search; `hash` and the rest of all of them together. */
typedef struct outcome {
    tg_graph *g;
    uint64_t sum;
} outcome;

static tg_status run_all(tg_job *job, void *ctx)
{
    outcome *out = ctx;
    for (int k = 0; tg_search_at(k); k++) {
        tg_search_options o = {.budget = 60, .seed = 11, .job = job};
        tg_search_report r;
        tg_trail *best;
        TG_TRY(tg_search_run(tg_search_at(k), rules, out->g, &o, &r, &best));
        uint64_t parts[] = {best->graph->hash,     (uint64_t)best->depth, (uint64_t)r.sites,
                            (uint64_t)r.graphs,    (uint64_t)r.n_course,  (uint64_t)r.expansions,
                            (uint64_t)r.duplicates};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            out->sum = tg_hash_add(out->sum, parts[i]);
        for (int i = 0; i < r.n_course; i++)
            out->sum = tg_hash_bytes(out->sum, &r.course[i].cost_ms, sizeof(double));
        tg_trail_unref(best);
    }
    return TG_OK;
}

static void threads_beside_each_other_find_the_same(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    tg_graph *g = sample("resnet18");
    outcome alone = {g, 0}, beside[THREADS];
    tg_job *job[THREADS], *own = tg_job_new();
    tg_jobs *jobs = tg_jobs_new(THREADS);
    assert_ok(run_all(own, &alone));
    for (int i = 0; i < THREADS; i++) {
        beside[i] = (outcome){g, 0};
        job[i] = tg_jobs_start(jobs, run_all, note_status, &beside[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        while (!tg_job_finished(job[i])) {
            tg_jobs_dispatch(jobs);
            usleep(1000);
        }
        tg_job_unref(job[i]);
        assert_true(beside[i].sum == alone.sum);
    }
    tg_jobs_free(jobs);
    tg_job_unref(own);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_search_reports),
    cmocka_unit_test(a_long_course_is_thinned_out),
    cmocka_unit_test(every_search_can_be_cancelled_anywhere),
    cmocka_unit_test(every_search_keeps_to_its_time),
    cmocka_unit_test(short_memory_ends_a_search),
    cmocka_unit_test(saturation_makes_equal_operators_one),
    cmocka_unit_test(threads_beside_each_other_find_the_same),
};

SEARCH_MAIN(tests)
