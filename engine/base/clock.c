/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic int64_t frozen = -1;

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t tg_clock_ns(void)
{
    int64_t at = atomic_load_explicit(&frozen, memory_order_relaxed);
    return at >= 0 ? at : read_clock(CLOCK_MONOTONIC);
}

int64_t tg_clock_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void tg_clock_freeze(int64_t ns)
{
    atomic_store(&frozen, ns);
}
