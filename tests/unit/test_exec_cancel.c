/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planning and running end between two operators when their job is cancelled. */
#include "tests/unit/exec_case.h"

#include "engine/base/job.h"

#include <pthread.h>
#include <unistd.h>

/* Products one after the other, with weights of their own. */
static tg_graph *long_chain(int n, int64_t width)
{
    net m = net_new(1);
    tg_value x = net_input(&m, tg_shape_of(4, width));
    for (int i = 0; i < n; i++) {
        tg_value w = net_weight(&m, tg_shape_of(width, width));
        x = net_node(&m, "MatMul", "", x, w);
    }
    return net_done(&m, x);
}

static void a_cancelled_job_plans_nothing(void **state)
{
    (void)state;
    tg_graph *g = long_chain(3, 8);
    tg_job *job = tg_job_new();
    tg_plan_options options = {.job = job};
    tg_plan *plan = NULL;
    tg_job_cancel(job);
    assert_status(tg_plan_new(tg_backend_find("cpu"), g, &options, &plan), TG_CANCELLED);
    assert_null(plan);
    assert_status(tg_verify_for(job, g, g, 1, NULL, NULL), TG_CANCELLED);
    tg_job_unref(job);
    tg_graph_unref(g);
}

static void a_run_ends_when_its_job_does(void **state)
{
    (void)state;
    tg_graph *g = long_chain(3, 8);
    tg_job *job = tg_job_new();
    tg_plan_options options = {.job = job};
    tg_plan *plan;
    tg_tensor *in, out;
    assert_ok(tg_inputs_draw(g, 1, &in));
    assert_ok(tg_plan_new(tg_backend_find("cpu"), g, &options, &plan));
    assert_ok(tg_plan_run(plan, in, &out));
    tg_tensor_free(&out);
    tg_job_cancel(job);
    assert_status(tg_plan_run(plan, in, &out), TG_CANCELLED);
    tg_plan_free(plan);
    tg_inputs_free(in, g->n_inputs);
    tg_job_unref(job);
    tg_graph_unref(g);
}

typedef struct planning {
    const tg_graph *g;
    tg_job *job;
    tg_status status;
} planning;

static void *plan_until_cancelled(void *arg)
{
    planning *p = arg;
    tg_plan_options options = {.job = p->job};
    do {
        tg_plan *plan;
        p->status = tg_plan_new(tg_backend_find("cpu"), p->g, &options, &plan);
        if (p->status == TG_OK) tg_plan_free(plan);
    } while (p->status == TG_OK);
    return NULL;
}

/* Whichever plan is being made then: it is given up, and nothing of it stays. */
static void planning_ends_in_the_middle(void **state)
{
    (void)state;
    tg_graph *g = long_chain(60, 96);
    for (useconds_t wait = 0; wait < 20000; wait += 1700) {
        planning p = {.g = g, .job = tg_job_new()};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, plan_until_cancelled, &p), 0);
        usleep(wait);
        tg_job_cancel(p.job);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(p.status, TG_CANCELLED);
        tg_job_unref(p.job);
    }
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(a_cancelled_job_plans_nothing),
                                          cmocka_unit_test(a_run_ends_when_its_job_does),
                                          cmocka_unit_test(planning_ends_in_the_middle)};
UNIT_MAIN(tests)
