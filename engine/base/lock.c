/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lock.h"

static void let_go(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

void tg_lock(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    tg_unwind_push(let_go, mutex);
}

void tg_unlock(pthread_mutex_t *mutex)
{
    tg_unwind_pop(mutex);
    pthread_mutex_unlock(mutex);
}
