/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The turn: who measures has the machine to itself. */
#include "bench.h"

#include <pthread.h>
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

tg_status tg_measure_turn_acquire(const tg_job *job)
{
    tg_status status = TG_OK;
    pthread_mutex_lock(&lock);
    while (depth && !pthread_equal(holder, pthread_self()) && status == TG_OK) {
        wait_a_little(20);
        status = tg_job_poll(job);
    }
    if (status == TG_OK) {
        holder = pthread_self();
        depth++;
        atomic_store(&held, true);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void tg_measure_turn_release(void)
{
    pthread_mutex_lock(&lock);
    if (--depth == 0) {
        atomic_store(&held, false);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

bool tg_measure_turn_held(void)
{
    return atomic_load(&held);
}

void tg_measure_turn_wait(const tg_job *job, int ms)
{
    pthread_mutex_lock(&lock);
    while (depth && ms > 0 && !tg_job_cancelled(job)) {
        int part = ms < 20 ? ms : 20;
        wait_a_little(part);
        ms -= part;
    }
    pthread_mutex_unlock(&lock);
}
