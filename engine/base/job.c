/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job.h"

#include "lock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct event {
    struct event *next;
    tg_event_fn handle;
    void *owner, *payload;
} event;

/* Invariant: linked in the pool's queue until a worker takes it; `refs` counts pool and callers. */
struct tg_job {
    tg_job *next;
    atomic_int refs;
    atomic_bool cancelled, finished;
    tg_job_fn run;
    tg_job_done_fn done;
    void *ctx;
    tg_status status;
    char *message;
    event *over; /* says that it has finished; made beforehand, for when memory has run out */
};

struct tg_jobs {
    pthread_mutex_t lock;
    pthread_cond_t work;
    tg_job *queue, **queue_end;
    event *events, **events_end;
    tg_job **running; /* one slot a thread, NULL when idle */
    pthread_t *threads;
    /* pending: jobs queued, running, or finished and not yet handed over */
    int n_threads, fd, pending;
    bool stopping;
};

typedef struct start {
    tg_jobs *jobs;
    int slot;
} start;

static void post(tg_jobs *jobs, event *e)
{
    tg_lock(&jobs->lock);
    *jobs->events_end = e;
    jobs->events_end = &e->next;
    tg_unlock(&jobs->lock);
    uint64_t one = 1;
    while (write(jobs->fd, &one, sizeof one) < 0) {}
}

void tg_jobs_post(tg_jobs *jobs, tg_event_fn handle, void *owner, void *payload)
{
    event *e = tg_malloc(sizeof *e);
    *e = (event){NULL, handle, owner, payload};
    post(jobs, e);
}

static void handle_done(void *owner, void *payload)
{
    tg_jobs *jobs = owner;
    tg_job *job = payload;
    tg_lock(&jobs->lock);
    jobs->pending--;
    tg_unlock(&jobs->lock);
    atomic_store(&job->finished, true);
    if (job->done)
        job->done(job->ctx, job->status,
                  job->message              ? job->message
                  : job->status == TG_NOMEM ? "out of memory"
                                            : "");
    tg_job_unref(job);
}

static tg_job *take(tg_jobs *jobs, int slot)
{
    tg_lock(&jobs->lock);
    while (!jobs->queue && !jobs->stopping) pthread_cond_wait(&jobs->work, &jobs->lock);
    tg_job *job = jobs->queue;
    if (job) {
        jobs->queue = job->next;
        if (!jobs->queue) jobs->queue_end = &jobs->queue;
        jobs->running[slot] = job;
    }
    tg_unlock(&jobs->lock);
    return job;
}

static tg_status run_body(void *arg)
{
    tg_job *job = arg;
    TG_TRY(tg_job_poll(job));
    return job->run(job, job->ctx);
}

static tg_status keep_message(void *arg)
{
    tg_job *job = arg;
    job->message = tg_strdup(tg_message());
    return TG_OK;
}

/* A job that memory runs out in has failed; the program goes on. */
static void run_job(tg_job *job)
{
    job->status = tg_protect(run_body, job);
    if (job->status != TG_OK && tg_protect(keep_message, job) != TG_OK) job->message = NULL;
}

static void *worker(void *arg)
{
    start at = *(start *)arg;
    free(arg);
    for (tg_job *job; (job = take(at.jobs, at.slot));) {
        run_job(job);
        tg_lock(&at.jobs->lock);
        at.jobs->running[at.slot] = NULL;
        tg_unlock(&at.jobs->lock);
        event *over = job->over;
        *over = (event){NULL, handle_done, at.jobs, job};
        post(at.jobs, over);
    }
    return NULL;
}

tg_jobs *tg_jobs_new(int threads)
{
    tg_jobs *jobs = tg_calloc(1, sizeof *jobs);
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->work, NULL);
    jobs->queue_end = &jobs->queue;
    jobs->events_end = &jobs->events;
    jobs->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    jobs->n_threads = threads;
    jobs->running = tg_calloc((size_t)threads, sizeof *jobs->running);
    jobs->threads = tg_calloc((size_t)threads, sizeof *jobs->threads);
    for (int i = 0; i < threads; i++) {
        start *at = tg_malloc(sizeof *at);
        *at = (start){jobs, i};
        if (pthread_create(&jobs->threads[i], NULL, worker, at) != 0) abort();
    }
    return jobs;
}

void tg_jobs_free(tg_jobs *jobs)
{
    if (!jobs) return;
    tg_lock(&jobs->lock);
    jobs->stopping = true;
    for (tg_job *job = jobs->queue; job; job = job->next) tg_job_cancel(job);
    for (int i = 0; i < jobs->n_threads; i++)
        if (jobs->running[i]) tg_job_cancel(jobs->running[i]);
    pthread_cond_broadcast(&jobs->work);
    tg_unlock(&jobs->lock);
    for (int i = 0; i < jobs->n_threads; i++) pthread_join(jobs->threads[i], NULL);
    while (tg_jobs_dispatch(jobs) > 0) {} /* handlers may post */
    close(jobs->fd);
    pthread_mutex_destroy(&jobs->lock);
    pthread_cond_destroy(&jobs->work);
    free(jobs->running);
    free(jobs->threads);
    free(jobs);
}

tg_job *tg_jobs_start(tg_jobs *jobs, tg_job_fn run, tg_job_done_fn done, void *ctx)
{
    tg_job *job = tg_calloc(1, sizeof *job);
    atomic_init(&job->refs, 2);
    job->run = run;
    job->done = done;
    job->ctx = ctx;
    job->over = tg_malloc(sizeof *job->over);
    tg_lock(&jobs->lock);
    *jobs->queue_end = job;
    jobs->queue_end = &job->next;
    jobs->pending++;
    pthread_cond_signal(&jobs->work);
    tg_unlock(&jobs->lock);
    return job;
}

int tg_jobs_fd(const tg_jobs *jobs)
{
    return jobs->fd;
}

int tg_jobs_dispatch(tg_jobs *jobs)
{
    uint64_t count;
    while (read(jobs->fd, &count, sizeof count) > 0) {}
    tg_lock(&jobs->lock);
    event *list = jobs->events;
    jobs->events = NULL;
    jobs->events_end = &jobs->events;
    tg_unlock(&jobs->lock);
    int n = 0;
    for (event *e = list, *next; e; e = next, n++) {
        next = e->next;
        e->handle(e->owner, e->payload);
        free(e);
    }
    return n;
}

bool tg_jobs_busy(tg_jobs *jobs)
{
    tg_lock(&jobs->lock);
    bool busy = jobs->pending > 0;
    tg_unlock(&jobs->lock);
    return busy;
}

tg_job *tg_job_new(void)
{
    tg_job *job = tg_calloc(1, sizeof *job);
    atomic_init(&job->refs, 1);
    return job;
}

void tg_job_cancel(tg_job *job)
{
    atomic_store(&job->cancelled, true);
}

bool tg_job_cancelled(const tg_job *job)
{
    return job && atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

bool tg_job_finished(const tg_job *job)
{
    return atomic_load(&job->finished);
}

tg_job *tg_job_ref(tg_job *job)
{
    atomic_fetch_add(&job->refs, 1);
    return job;
}

void tg_job_unref(tg_job *job)
{
    if (!job || atomic_fetch_sub(&job->refs, 1) != 1) return;
    free(job->message);
    free(job);
}

tg_status tg_job_poll(const tg_job *job)
{
    return tg_job_cancelled(job) ? tg_fail(TG_CANCELLED, "cancelled") : TG_OK;
}
