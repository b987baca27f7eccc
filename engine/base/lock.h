/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mutexes that are let go of when memory runs out under them. Whatever allocates while it holds a
 * mutex takes it with tg_lock, and leaves what the mutex guards whole at every allocation.
 */
#ifndef TG_BASE_LOCK_H
#define TG_BASE_LOCK_H

#include "alloc.h"

#include <pthread.h>

void tg_lock(pthread_mutex_t *mutex);
void tg_unlock(pthread_mutex_t *mutex);

#endif
