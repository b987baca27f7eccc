/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intern.h"

#include "arena.h"
#include "hash.h"

#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tg_strmap table;
static tg_arena *strings;

const char *tg_intern(const char *s)
{
    bool fresh;
    pthread_mutex_lock(&lock);
    if (!strings) strings = tg_arena_new();
    uint64_t *slot = tg_strmap_put(&table, s, &fresh);
    if (fresh) *slot = (uint64_t)(uintptr_t)tg_arena_strdup(strings, s);
    const char *copy = (const char *)(uintptr_t)*slot;
    pthread_mutex_unlock(&lock);
    return copy;
}
