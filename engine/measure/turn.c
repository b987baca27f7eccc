/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The turn: who measures has the machine to itself. */
#include "bench.h"

#include "engine/base/lock.h"

#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t holder;
static int depth;
static atomic_bool held;

/* Waits a little at a time, so that a cancelled job is seen. */
static void wait_a_little(int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&changed, &lock, &until);
}

static void let_go(void *unused)
{
    (void)unused;
    tg_lock(&lock);
    if (--depth == 0) {
        atomic_store(&held, false);
        pthread_cond_broadcast(&changed);
    }
    tg_unlock(&lock);
}

tg_status tg_measure_turn_acquire(const tg_job *job)
{
    tg_status status = TG_OK;
    tg_lock(&lock);
    while (depth && !pthread_equal(holder, pthread_self()) && status == TG_OK) {
        wait_a_little(20);
        status = tg_job_poll(job);
    }
    if (status == TG_OK) {
        holder = pthread_self();
        depth++;
        atomic_store(&held, true);
    }
    tg_unlock(&lock);
    if (status == TG_OK) tg_unwind_push(let_go, &depth);
    return status;
}

void tg_measure_turn_release(void)
{
    tg_unwind_pop(&depth);
    let_go(&depth);
}

bool tg_measure_turn_held(void)
{
    return atomic_load(&held);
}

void tg_measure_turn_wait(const tg_job *job, int ms)
{
    tg_lock(&lock);
    while (depth && ms > 0 && !tg_job_cancelled(job)) {
        int part = ms < 20 ? ms : 20;
        wait_a_little(part);
        ms -= part;
    }
    tg_unlock(&lock);
}
