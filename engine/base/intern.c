/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intern.h"

#include "arena.h"
#include "hash.h"
#include "lock.h"

#include <stdlib.h>
#include <string.h>

/* Invariant: text is NULL (a free slot) or holds n bytes and a NUL. */
typedef struct entry {
    uint64_t hash;
    size_t n;
    const char *text;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *table;
static size_t used, cap;
static tg_arena *strings;

/* The slot that holds the bytes or the free one where they would go; the table is never full. */
static entry *seek(uint64_t hash, const char *p, size_t n)
{
    size_t i = (size_t)hash & (cap - 1);
    while (table[i].text &&
           (table[i].hash != hash || table[i].n != n || (n && memcmp(table[i].text, p, n) != 0)))
        i = (i + 1) & (cap - 1);
    return &table[i];
}

static void grow(void)
{
    entry *old = table;
    size_t n = cap, wider = cap ? cap * 2 : 1024;
    table = tg_calloc(wider, sizeof *table);
    cap = wider;
    for (size_t i = 0; i < n; i++)
        if (old[i].text) *seek(old[i].hash, old[i].text, old[i].n) = old[i];
    free(old);
}

const char *tg_intern_bytes(const char *p, size_t n)
{
    uint64_t hash = tg_hash_bytes(0, p, n);
    tg_lock(&lock);
    if (!strings) strings = tg_arena_new();
    if (used * 4 >= cap * 3) grow();
    entry *at = seek(hash, p, n);
    if (!at->text) {
        char *copy = tg_arena_alloc(strings, n + 1);
        if (n) memcpy(copy, p, n);
        *at = (entry){hash, n, copy};
        used++;
    }
    const char *text = at->text;
    tg_unlock(&lock);
    return text;
}

const char *tg_intern(const char *s)
{
    return tg_intern_bytes(s, strlen(s));
}
