/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/job.h"
#include "engine/base/log.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* What a test's jobs share; `trace` is written by the dispatching thread alone. */
typedef struct board {
    tg_jobs *jobs;
    char trace[256];
    atomic_int started, running, most;
    atomic_bool go;
} board;

typedef struct task {
    board *board;
    const char *name;
    tg_status result;
    int posts; /* events to post while it runs */
} task;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Handles events until no job is pending; a hang is a failure, not a wait for ever. */
static void drain(board *b)
{
    for (int tries = 0; tg_jobs_busy(b->jobs); tries++) {
        assert_true(tries < 10000);
        struct pollfd fd = {.fd = tg_jobs_fd(b->jobs), .events = POLLIN};
        poll(&fd, 1, 1000);
        tg_jobs_dispatch(b->jobs);
    }
}

static void on_event(void *owner, void *event)
{
    board *b = owner;
    strcat(b->trace, event);
    free(event);
}

static tg_status run(tg_job *job, void *ctx)
{
    task *t = ctx;
    board *b = t->board;
    int now = atomic_fetch_add(&b->running, 1) + 1;
    for (int most = atomic_load(&b->most); most < now;)
        if (atomic_compare_exchange_weak(&b->most, &most, now)) break;
    atomic_fetch_add(&b->started, 1);
    for (int i = 0; i < t->posts; i++) tg_jobs_post(b->jobs, on_event, b, strdup("."));
    while (!atomic_load(&b->go) && !tg_job_cancelled(job)) pause_ms(1);
    atomic_fetch_sub(&b->running, 1);
    TG_TRY(tg_job_poll(job));
    return t->result == TG_OK ? TG_OK : tg_fail(t->result, "%s went wrong", t->name);
}

static void done(void *ctx, tg_status status, const char *message)
{
    task *t = ctx;
    char *trace = t->board->trace;
    snprintf(trace + strlen(trace), 200 - strlen(trace), "%s:%s:%s ", t->name,
             tg_status_name(status), message);
    free(t);
}

static tg_job *start(board *b, const char *name, tg_status result, int posts)
{
    task *t = malloc(sizeof *t);
    *t = (task){b, name, result, posts};
    return tg_jobs_start(b->jobs, run, done, t);
}

static void one_worker_keeps_the_order(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(1), .go = true};
    tg_job_unref(start(&b, "a", TG_OK, 3));
    tg_job_unref(start(&b, "b", TG_SHAPE, 1));
    tg_job_unref(start(&b, "c", TG_OK, 0));
    assert_true(tg_jobs_busy(b.jobs));
    drain(&b);
    assert_string_equal(b.trace, "...a:OK: .b:SHAPE:b went wrong c:OK: ");
    tg_jobs_free(b.jobs);
}

static void nothing_is_handed_over_but_in_dispatch(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(1), .go = true};
    tg_job *job = start(&b, "a", TG_OK, 1);
    struct pollfd fd = {.fd = tg_jobs_fd(b.jobs), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 10000), 1);
    while (atomic_load(&b.running)) pause_ms(1);
    pause_ms(20);
    assert_string_equal(b.trace, "");
    assert_true(tg_jobs_busy(b.jobs));
    assert_false(tg_job_finished(job));
    assert_int_equal(tg_jobs_dispatch(b.jobs), 2);
    assert_true(tg_job_finished(job));
    assert_false(tg_jobs_busy(b.jobs));
    assert_int_equal(poll(&fd, 1, 0), 0); /* nothing waits any more */
    assert_int_equal(tg_jobs_dispatch(b.jobs), 0);
    tg_job_unref(job);
    tg_jobs_free(b.jobs);
}

static void workers_run_at_once(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(3)};
    for (int i = 0; i < 5; i++) tg_job_unref(start(&b, "x", TG_OK, 0));
    for (int i = 0; i < 10000 && atomic_load(&b.started) < 3; i++) pause_ms(1);
    assert_int_equal(atomic_load(&b.started), 3);
    atomic_store(&b.go, true);
    drain(&b);
    assert_int_equal(atomic_load(&b.started), 5);
    assert_int_equal(atomic_load(&b.most), 3);
    tg_jobs_free(b.jobs);
}

static void running_and_queued_jobs_are_cancelled(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(1)};
    tg_job *first = start(&b, "a", TG_OK, 0), *second = start(&b, "b", TG_OK, 0);
    while (!atomic_load(&b.started)) pause_ms(1);
    tg_job_cancel(second);
    tg_job_cancel(first);
    drain(&b);
    assert_int_equal(atomic_load(&b.started), 1); /* the queued one never ran, yet is handed over */
    assert_string_equal(b.trace, "a:CANCELLED:cancelled b:CANCELLED:cancelled ");
    assert_true(tg_job_cancelled(first) && tg_job_finished(first));
    assert_false(tg_job_cancelled(NULL));
    tg_job_unref(first), tg_job_unref(second), tg_job_unref(NULL);
    tg_jobs_free(b.jobs);
}

static void free_cancels_waits_and_hands_over(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(2)};
    tg_job *kept = tg_job_ref(start(&b, "a", TG_OK, 2));
    tg_job_unref(kept);
    for (int i = 0; i < 5; i++) tg_job_unref(start(&b, "", TG_OK, 0));
    while (atomic_load(&b.started) < 2) pause_ms(1);
    tg_jobs_free(b.jobs);
    assert_contains(b.trace, "..");
    assert_contains(b.trace, "a:CANCELLED:cancelled ");
    assert_int_equal(atomic_load(&b.running), 0);
    assert_true(tg_job_finished(kept)); /* a reference outlives the pool */
    tg_job_unref(kept);
}

static void *posts(void *arg)
{
    board *b = arg;
    for (int i = 0; i < 100; i++) tg_jobs_post(b->jobs, on_event, b, strdup("."));
    return NULL;
}

static void any_thread_posts(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(1)};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, posts, &b), 0);
    int n = 0;
    for (int tries = 0; n < 200 && tries < 10000; tries++) {
        n += tg_jobs_dispatch(b.jobs);
        pause_ms(1);
    }
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    assert_int_equal(n, 200);
    assert_int_equal(strlen(b.trace), 200);
    tg_jobs_free(b.jobs);
}

static void again(void *owner, void *event)
{
    board *b = owner;
    strcat(b->trace, "1");
    tg_jobs_post(b->jobs, on_event, b, event);
}

static void events_posted_by_the_last_events_are_handled(void **state)
{
    (void)state;
    board b = {.jobs = tg_jobs_new(1)};
    tg_jobs_post(b.jobs, again, &b, strdup("2"));
    tg_jobs_free(b.jobs);
    assert_string_equal(b.trace, "12");
}

static void the_clock_runs_and_freezes(void **state)
{
    (void)state;
    int64_t a = tg_clock_ns();
    pause_ms(2);
    assert_true(tg_clock_ns() - a >= 1000000);
    tg_clock_freeze(42);
    assert_true(tg_clock_ns() == 42);
    pause_ms(1);
    assert_true(tg_clock_ns() == 42);
    tg_clock_freeze(-1);
    assert_true(tg_clock_ns() >= a);
    int64_t own = tg_clock_thread_ns();
    pause_ms(30); /* sleep costs the thread no time of its own */
    assert_true(tg_clock_thread_ns() - own < 20000000);
}

static void log_to_board(void *ctx, tg_log_level level, const char *text)
{
    sprintf((char *)ctx + strlen(ctx), "%d:%s ", (int)level, text);
}

static void words_go_where_they_are_sent(void **state)
{
    (void)state;
    char got[200] = "";
    tg_log(TG_LOG_WARN, "dropped");
    tg_log_to(log_to_board, got);
    tg_log(TG_LOG_NOTE, "%d operators", 3);
    tg_log(TG_LOG_WARN, "slow");
    tg_log_to(NULL, NULL);
    tg_log(TG_LOG_WARN, "dropped");
    assert_string_equal(got, "1:3 operators 2:slow ");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_worker_keeps_the_order),
    cmocka_unit_test(nothing_is_handed_over_but_in_dispatch),
    cmocka_unit_test(workers_run_at_once),
    cmocka_unit_test(running_and_queued_jobs_are_cancelled),
    cmocka_unit_test(free_cancels_waits_and_hands_over),
    cmocka_unit_test(any_thread_posts),
    cmocka_unit_test(events_posted_by_the_last_events_are_handled),
    cmocka_unit_test(the_clock_runs_and_freezes),
    cmocka_unit_test(words_go_where_they_are_sent),
};
UNIT_MAIN(tests)
