/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Worker threads. A job is a function run on a worker; while it runs it may post events, and it
 * must look at tg_job_cancelled at least every 100 ms. Events and the end of a job are handed to
 * the owner of the pool by tg_jobs_dispatch, in the order they were posted; tg_jobs_fd becomes
 * readable when there are any, so that an event loop can sleep in poll.
 */
#ifndef TG_BASE_JOB_H
#define TG_BASE_JOB_H

#include "alloc.h"

#include <stdbool.h>

typedef struct tg_jobs tg_jobs; /* a pool and its queue of events */
typedef struct tg_job tg_job;   /* reference-counted */

/* Runs on a worker. Its status and this thread's message are kept for `done`. */
typedef tg_status (*tg_job_fn)(tg_job *job, void *ctx);
/* Runs in tg_jobs_dispatch, once a job. `message` is that of a failed job. Owns ctx. */
typedef void (*tg_job_done_fn)(void *ctx, tg_status status, const char *message);
/* Runs in tg_jobs_dispatch for each event posted. Owns `event`. */
typedef void (*tg_event_fn)(void *owner, void *event);

tg_jobs *tg_jobs_new(int threads);
/* Cancels all jobs, waits for them, calls their `done`, frees the pool. */
void tg_jobs_free(tg_jobs *jobs);

/* Queues a job. The returned reference belongs to the caller (tg_job_unref); `done` may be NULL. */
tg_job *tg_jobs_start(tg_jobs *jobs, tg_job_fn run, tg_job_done_fn done, void *ctx);
/* Posts an event from any thread. */
void tg_jobs_post(tg_jobs *jobs, tg_event_fn handle, void *owner, void *event);
/* Readable while events wait. */
int tg_jobs_fd(const tg_jobs *jobs);
/* Handles the waiting events on the calling thread; returns how many. */
int tg_jobs_dispatch(tg_jobs *jobs);
/* True while any job is queued or running. */
bool tg_jobs_busy(tg_jobs *jobs);

/* A job of no pool: never runs, only tells those who watch it that they are cancelled. */
tg_job *tg_job_new(void);
void tg_job_cancel(tg_job *job);
bool tg_job_cancelled(const tg_job *job); /* NULL: never */
bool tg_job_finished(const tg_job *job);
tg_job *tg_job_ref(tg_job *job);
void tg_job_unref(tg_job *job); /* NULL is fine */

/* TG_CANCELLED with a message if the job was cancelled, else TG_OK. */
tg_status tg_job_poll(const tg_job *job) TG_MUST_USE;

#endif
