/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each allocation in turn fails, from loading a model to saving it: the call says that memory ran
 * out, and everything goes on to work in the same process. What a failed call had taken is lost by
 * design (alloc.h), so a leak checker looks away while one is made to fail.
 */
#include "tests/unit/files.h"
#include "tests/unit/onnx_bytes.h"

#include "agent/events.h"
#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/job.h"
#include "engine/engine.h"
#include "samples/samples.h"

#include <poll.h>

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* More than this many allocations are sampled: each of the first, then ever fewer. */
enum { EACH = 1200, MOST_MODEL_BYTES = 1 << 20 };

typedef struct stage {
    const void *bytes;
    size_t size;
    const char *out; /* a path */
    const tg_rules *rules;
    tg_graph *g;     /* made by load; kept */
    uint64_t answer; /* of the stage that ran last */
} stage;

typedef tg_status (*stage_fn)(void *ctx);

static tg_status loads(void *ctx)
{
    stage *s = ctx;
    tg_graph *g;
    TG_TRY(tg_onnx_load_memory(s->bytes, s->size, "model", NULL, &g));
    s->answer = g->hash;
    tg_graph_unref(g);
    return TG_OK;
}

static tg_status checks(void *ctx)
{
    return tg_check(((stage *)ctx)->g);
}

static tg_status answer_of(stage *s, tg_tensor *out)
{
    s->answer = 0;
    for (int i = 0; i < tg_graph_sink(s->g)->n_in; i++) {
        s->answer = tg_hash_bytes(s->answer, out[i].data, tg_tensor_bytes(&out[i]));
        tg_tensor_free(&out[i]);
    }
    return TG_OK;
}

static tg_status runs(void *ctx)
{
    stage *s = ctx;
    tg_tensor *in, out[TG_MAX_PORTS];
    TG_TRY(tg_inputs_draw(s->g, 1, &in));
    tg_status status = tg_reference_run(s->g, in, out);
    tg_inputs_free(in, s->g->n_inputs);
    return status == TG_OK ? answer_of(s, out) : status;
}

static tg_status plans(void *ctx)
{
    stage *s = ctx;
    tg_tensor *in, out[TG_MAX_PORTS];
    tg_plan *plan;
    TG_TRY(tg_inputs_draw(s->g, 1, &in));
    tg_status status = tg_plan_new(tg_backend_find("cpu"), s->g, NULL, &plan);
    if (status == TG_OK) {
        status = tg_plan_run(plan, in, out);
        tg_plan_free(plan);
    }
    tg_inputs_free(in, s->g->n_inputs);
    return status == TG_OK ? answer_of(s, out) : status;
}

static tg_status steps(void *ctx)
{
    stage *s = ctx;
    tg_candidates *c;
    tg_graph *next;
    TG_TRY(tg_candidates_find(s->rules, s->g, NULL, &c));
    s->answer = (uint64_t)tg_candidates_count(c);
    tg_status status = TG_OK;
    if (tg_candidates_count(c)) {
        status = tg_candidates_apply(c, 0, &next);
        if (status == TG_OK) {
            s->answer = next->hash;
            tg_graph_unref(next);
        }
    }
    tg_candidates_free(c);
    return status;
}

static tg_status saves(void *ctx)
{
    return tg_onnx_save(((stage *)ctx)->g, ((stage *)ctx)->out);
}

static tg_status reads_rules(void *ctx)
{
    tg_rules *rules;
    TG_TRY(tg_rules_load(NULL, 0, &rules));
    ((stage *)ctx)->answer = (uint64_t)tg_rules_count(rules);
    tg_rules_unref(rules);
    return TG_OK;
}

static tg_status opens_curves(void *ctx)
{
    ag_events *events;
    TG_TRY(ag_events_open(((stage *)ctx)->out, &events));
    ag_events_close(events);
    return TG_OK;
}

/* Runs a stage with its k-th allocation failing. */
static tg_status fail_at(stage_fn run, stage *s, long k)
{
    if (__lsan_disable) __lsan_disable();
    tg_alloc_fail_after(k);
    tg_status status = tg_protect(run, s);
    tg_alloc_fail_after(0);
    if (__lsan_enable) __lsan_enable();
    return status;
}

static void each_failure_is_told_and_over(stage_fn run, stage *s)
{
    int open = count_files("/proc/self/fd"), beside = count_files(unit_folder);
    long k = 1;
    for (;; k += k < EACH ? 1 : k / 16) {
        tg_status status = fail_at(run, s, k);
        if (status == TG_OK) break;
        assert_status(status, TG_NOMEM);
        assert_contains(tg_message(), "out of memory");
        if (k % 64 == 1) assert_ok(run(s));
    }
    assert_true(k > 5);
    uint64_t after = s->answer;
    assert_ok(run(s));
    assert_true(s->answer == after);
    assert_int_equal(count_files("/proc/self/fd"), open);
    assert_in_range(count_files(unit_folder), beside, beside + 1); /* the model saved */
}

static void whole_way(const char *name)
{
    stage s = {.out = unit_temporary("saved.onnx")};
    tg_graph *sample;
    tg_rules *rules;
    void *bytes;
    assert_ok(tg_sample_build(name, 1, false, &sample));
    assert_ok(tg_onnx_save_memory(sample, &bytes, &s.size));
    assert_true(s.size < MOST_MODEL_BYTES);
    tg_graph_unref(sample);
    s.bytes = bytes;
    each_failure_is_told_and_over(loads, &s);
    assert_ok(tg_rules_load(NULL, 0, &rules));
    assert_ok(tg_onnx_load_memory(bytes, s.size, "model", NULL, &s.g));
    s.rules = rules;
    each_failure_is_told_and_over(checks, &s);
    each_failure_is_told_and_over(runs, &s);
    each_failure_is_told_and_over(plans, &s);
    each_failure_is_told_and_over(steps, &s);
    each_failure_is_told_and_over(saves, &s);
    tg_graph_unref(s.g);
    tg_rules_unref(rules);
    free(bytes);
}

static void convolutions_survive(void **state)
{
    (void)state;
    whole_way("branches");
}

static void norms_survive(void **state)
{
    (void)state;
    whole_way("conv-bn");
}

static void attention_survives(void **state)
{
    (void)state;
    whole_way("attention");
}

static void reading_rules_survives(void **state)
{
    (void)state;
    stage s = {0};
    each_failure_is_told_and_over(reads_rules, &s);
}

static void opening_curves_survives(void **state)
{
    (void)state;
    stage s = {.out = unit_temporary("curves")};
    each_failure_is_told_and_over(opens_curves, &s);
}

/* ---- jobs ---- */

static tg_status runs_out(tg_job *job, void *ctx)
{
    (void)job;
    tg_alloc_fail_after(2);
    for (int i = 0; i < 3; i++) free(tg_malloc(8));
    *(int *)ctx = 1;
    return TG_OK;
}

static tg_status ended_with;

static void note_status(void *ctx, tg_status status, const char *message)
{
    (void)ctx;
    ended_with = status;
    assert_contains(message, "out of memory");
}

static void a_job_fails_alone(void **state)
{
    (void)state;
    int reached = 0;
    tg_jobs *jobs = tg_jobs_new(1);
    if (__lsan_disable) __lsan_disable();
    tg_job *job = tg_jobs_start(jobs, runs_out, note_status, &reached);
    struct pollfd p = {tg_jobs_fd(jobs), POLLIN, 0};
    while (tg_jobs_busy(jobs)) {
        poll(&p, 1, 1000);
        tg_jobs_dispatch(jobs);
    }
    if (__lsan_enable) __lsan_enable();
    assert_int_equal(ended_with, TG_NOMEM);
    assert_int_equal(reached, 0);
    tg_job_unref(job);
    tg_jobs_free(jobs);
}

/* ---- what is undone ---- */

static int undone;

static void undo(void *arg)
{
    undone = undone * 10 + *(int *)arg;
}

static tg_status registers(void *ctx)
{
    int *n = ctx;
    tg_unwind_push(undo, &n[0]);
    tg_unwind_push(undo, &n[1]);
    tg_unwind_push(undo, &n[2]);
    tg_unwind_pop(&n[1]);
    tg_alloc_fail_after(1);
    free(tg_malloc(1));
    return TG_OK;
}

static void what_was_registered_is_undone_newest_first(void **state)
{
    (void)state;
    int n[] = {1, 2, 3}, outer = 7;
    undone = 0;
    tg_unwind_push(undo, &outer);
    assert_status(tg_protect(registers, n), TG_NOMEM);
    assert_int_equal(undone, 31);
    tg_unwind_pop(&outer);
}

static tg_status asks_for_more_than_there_is(void *ctx)
{
    free(tg_malloc(*(size_t *)ctx));
    return TG_OK;
}

static void more_than_the_machine_has_is_refused(void **state)
{
    (void)state;
    size_t size = tg_memory_limit() + ((size_t)1 << 30);
    assert_status(tg_protect(asks_for_more_than_there_is, &size), TG_NOMEM);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(convolutions_survive),
    cmocka_unit_test(norms_survive),
    cmocka_unit_test(attention_survives),
    cmocka_unit_test(reading_rules_survives),
    cmocka_unit_test(opening_curves_survives),
    cmocka_unit_test(a_job_fails_alone),
    cmocka_unit_test(what_was_registered_is_undone_newest_first),
    cmocka_unit_test(more_than_the_machine_has_is_refused),
};
UNIT_MAIN(tests)
