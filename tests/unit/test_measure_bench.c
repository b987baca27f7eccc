/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/exec_case.h"

#include "engine/base/clock.h"
#include "engine/measure/bench.h"
#include "engine/ops/cost.h"

#include <pthread.h>

static tg_graph *products(int n, int k)
{
    net m = net_new(1);
    tg_value x = net_input(&m, tg_shape_of(64, k));
    for (int i = 0; i < n; i++)
        x = net_node(&m, "Relu", "",
                     net_node(&m, "MatMul", "", x, net_weight(&m, tg_shape_of(k, k))));
    return net_done(&m, x);
}

static void the_model_is_exact(void **state)
{
    (void)state;
    const tg_backend *model = tg_backend_find("model");
    tg_graph *a = products(2, 32), *b = products(3, 32);
    tg_latency l;
    assert_ok(tg_measure_graph(model, a, true, NULL, &l));
    assert_true(fabs(l.median_ms - tg_graph_cost_ms(a)) < 1e-6);
    assert_true(l.low_ms == l.median_ms && l.high_ms == l.median_ms);
    assert_true(fabs(l.sum_of_operators_ms - l.median_ms) < 1e-5);
    tg_comparison c;
    assert_ok(tg_measure_compare(model, a, b, NULL, &c));
    assert_int_equal(c.verdict, TG_SLOWER);
    assert_true(fabs(c.ratio - 1.5) < 1e-3);
    assert_true(c.ratio_low == c.ratio && c.ratio_high == c.ratio);
    assert_ok(tg_measure_compare(model, b, a, NULL, &c));
    assert_int_equal(c.verdict, TG_FASTER);
    assert_ok(tg_measure_compare(model, a, a, NULL, &c));
    assert_int_equal(c.verdict, TG_SAME);
    tg_graph_unref(a);
    tg_graph_unref(b);
}

static void the_model_computes_values(void **state)
{
    (void)state;
    tg_graph *g = products(1, 8);
    tg_tensor *in, a, b;
    tg_plan *plan;
    double x, y;
    assert_ok(tg_inputs_draw(g, 1, &in));
    assert_ok(tg_plan_new(tg_backend_find("model"), g, NULL, &plan));
    assert_ok(tg_plan_run(plan, in, &a));
    assert_ok(tg_reference_run(g, in, &b));
    assert_ok(tg_tensor_compare(&a, &b, 1, &x, &y));
    assert_true(x == 0);
    tg_tensor_free(&a);
    tg_tensor_free(&b);
    tg_inputs_free(in, g->n_inputs);
    tg_plan_free(plan);
    tg_graph_unref(g);
}

static void twice_the_work_is_slower(void **state)
{
    (void)state;
    const tg_backend *cpu = tg_backend_find("cpu");
    tg_graph *a = products(2, 128), *b = products(6, 128);
    tg_measure_options o = {.budget_ms = 300, .no_cache = true};
    tg_comparison c;
    assert_ok(tg_measure_compare(cpu, a, b, &o, &c));
    assert_true(c.n >= 5 && c.ratio_low <= c.ratio && c.ratio <= c.ratio_high);
    assert_true(fabs(c.after_ms / c.before_ms - c.ratio) < 1e-9); /* one pair, one direction */
    assert_int_equal(c.verdict, TG_SLOWER);
    assert_true(c.ratio > 1.5 && c.ratio < 6);
    tg_latency l;
    assert_ok(tg_measure_graph(cpu, a, false, &o, &l));
    assert_true(l.low_ms <= l.median_ms && l.median_ms <= l.high_ms && l.low_ms > 0);
    assert_true(isnan(l.sum_of_operators_ms));
    tg_graph_unref(a);
    tg_graph_unref(b);
}

static void nodes_have_latencies(void **state)
{
    (void)state;
    net m = net_new(2);
    tg_value x = net_input(&m, tg_shape_of(1, 16, 14, 14));
    tg_value y = net_node(&m, "Conv", "", x, net_weight(&m, tg_shape_of(32, 16, 3, 3)));
    tg_value z = net_node(&m, "Relu", "", y), v = net_node(&m, "Flatten", "", z);
    tg_graph *g = net_done(&m, v);
    double *ms = tg_calloc(g->n_ids, sizeof *ms);
    tg_measure_options o = {.budget_ms = 50, .no_cache = true};
    assert_ok(tg_measure_nodes(tg_backend_find("cpu"), g, &o, ms));
    assert_true(ms[tg_value_node(y)] > 0 && ms[tg_value_node(y)] < 1000);
    assert_true(ms[tg_value_node(z)] > 0);
    assert_true(ms[tg_value_node(v)] == 0);
    assert_true(ms[tg_value_node(x)] == 0);
    free(ms);
    tg_graph_unref(g);
}

static void signatures_tell_operators_apart(void **state)
{
    (void)state;
    net m = net_new(3);
    tg_value x = net_input(&m, tg_shape_of(1, 4, 8, 8)),
             w = net_weight(&m, tg_shape_of(4, 4, 3, 3));
    tg_value a = net_node(&m, "Conv", "pads=1,1,1,1", x, w);
    tg_value b = net_node(&m, "Conv", "pads=1,1,1,1", a, w);
    tg_value c = net_node(&m, "Conv", "", b, w);
    tg_graph *g = net_done(&m, c);
    uint64_t sa = tg_measure_signature(g, g->nodes[tg_value_node(a)]);
    assert_true(sa == tg_measure_signature(g, g->nodes[tg_value_node(b)]));
    assert_true(sa != tg_measure_signature(g, g->nodes[tg_value_node(c)]));
    tg_graph_unref(g);
}

/* ---- the turn ---- */

static void *hold(void *arg)
{
    assert_ok(tg_measure_turn_acquire(NULL));
    *(int *)arg = 1;
    usleep(100000);
    *(int *)arg = 2;
    tg_measure_turn_release();
    return NULL;
}

static void one_at_a_time(void **state)
{
    (void)state;
    pthread_t t;
    static int stage;
    assert_false(tg_measure_turn_held());
    pthread_create(&t, NULL, hold, &stage);
    while (!tg_measure_turn_held()) usleep(1000);
    tg_measure_turn_wait(NULL, 1); /* gives up soon */
    assert_ok(tg_measure_turn_acquire(NULL));
    assert_int_equal(stage, 2);
    assert_ok(tg_measure_turn_acquire(NULL)); /* again, by the same thread */
    tg_measure_turn_release();
    assert_true(tg_measure_turn_held());
    tg_measure_turn_release();
    assert_false(tg_measure_turn_held());
    pthread_join(t, NULL);
}

typedef struct long_one {
    tg_graph *g;
    int64_t ended;
} long_one;

static tg_status measure_long(tg_job *job, void *ctx)
{
    long_one *l = ctx;
    tg_latency latency;
    tg_measure_options o = {.budget_ms = 60000, .job = job};
    tg_status status = tg_measure_graph(tg_backend_find("cpu"), l->g, false, &o, &latency);
    l->ended = tg_clock_ns();
    return status;
}

static void remember(void *ctx, tg_status status, const char *message)
{
    (void)ctx, (void)message;
    assert_int_equal(status, TG_CANCELLED);
}

static void cancelling_ends_it(void **state)
{
    (void)state;
    long_one l = {.g = products(2, 64)};
    tg_jobs *jobs = tg_jobs_new(1);
    tg_job *job = tg_jobs_start(jobs, measure_long, remember, &l);
    while (!tg_measure_turn_held()) usleep(1000);
    int64_t asked = tg_clock_ns();
    tg_job_cancel(job);
    while (tg_jobs_busy(jobs)) {
        tg_jobs_dispatch(jobs);
        usleep(1000);
    }
    assert_true(l.ended - asked < 5000000000); /* not the minute it was given */
    assert_false(tg_measure_turn_held());
    tg_job_unref(job);
    tg_jobs_free(jobs);
    tg_graph_unref(l.g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_model_is_exact),
    cmocka_unit_test(the_model_computes_values),
    cmocka_unit_test(twice_the_work_is_slower),
    cmocka_unit_test(nodes_have_latencies),
    cmocka_unit_test(signatures_tell_operators_apart),
    cmocka_unit_test(one_at_a_time),
    cmocka_unit_test(cancelling_ends_it),
};
UNIT_MAIN(tests)
