/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "threads.h"

#include <pthread.h>

enum { MOST_THREADS = 64 };

void threads_run(int threads, void *(*work)(void *), void *ctx)
{
    pthread_t thread[MOST_THREADS];
    int n = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads, started = 0;
    for (int i = 1; i < n; i++)
        if (pthread_create(&thread[started], NULL, work, ctx) == 0) started++;
    work(ctx);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
}
