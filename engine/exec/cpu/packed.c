/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan.h"

#include "engine/base/lock.h"

#include <stdlib.h>

/* Unused packs up to this many bytes wait for the next plan of the search. */
#define IDLE_BYTES ((size_t)256 << 20)

/* The packs by key, chained; idle ones also in a queue, oldest first. */
typedef struct pack {
    tg_packed pub;
    struct pack *chain, *older, *newer;
    bool idle;
} pack;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tg_map cache;
static pack *oldest, *newest;
static size_t bytes, idle_bytes;

static uint64_t key_of(uint64_t value, uint64_t form)
{
    return tg_hash_add(value, form);
}

static pack *find(uint64_t value, uint64_t form)
{
    const uint64_t *at = tg_map_find(&cache, key_of(value, form));
    pack *k = at ? (pack *)(uintptr_t)*at : NULL;
    while (k && (k->pub.value != value || k->pub.form != form)) k = k->chain;
    return k;
}

static void unqueue(pack *k)
{
    if (!k->idle) return;
    if (k->older) k->older->newer = k->newer;
    else oldest = k->newer;
    if (k->newer) k->newer->older = k->older;
    else newest = k->older;
    k->older = k->newer = NULL;
    k->idle = false;
    idle_bytes -= k->pub.size;
}

static void drop(pack *k)
{
    uint64_t *at = tg_map_put(&cache, key_of(k->pub.value, k->pub.form), NULL);
    pack *head = (pack *)(uintptr_t)*at;
    unqueue(k);
    if (head == k) {
        *at = (uint64_t)(uintptr_t)k->chain;
    } else {
        while (head->chain != k) head = head->chain;
        head->chain = k->chain;
    }
    bytes -= k->pub.size;
    tg_block_free(k->pub.data, k->pub.size);
    free(k);
}

static tg_packed *take(uint64_t value, uint64_t form)
{
    pack *k = find(value, form);
    if (!k) return NULL;
    unqueue(k);
    k->pub.refs++;
    return &k->pub;
}

static tg_packed *insert(uint64_t value, uint64_t form, size_t size, void *data)
{
    tg_packed *there = take(value, form);
    if (there) {
        tg_block_free(data, size);
        return there;
    }
    pack *k = tg_calloc(1, sizeof *k);
    k->pub = (tg_packed){value, form, 1, size, data};
    uint64_t *at = tg_map_put(&cache, key_of(value, form), NULL);
    k->chain = (pack *)(uintptr_t)*at;
    *at = (uint64_t)(uintptr_t)k;
    bytes += size;
    return &k->pub;
}

tg_status tg_packed_get(uint64_t value, uint64_t form, size_t size,
                        tg_status (*fill)(void *ctx, void *data), void *ctx, tg_packed **out)
{
    tg_lock(&lock);
    tg_packed *there = take(value, form);
    tg_unlock(&lock);
    if (!there) {
        void *data = tg_block_new(size);
        tg_status status = fill(ctx, data);
        if (status != TG_OK) {
            tg_block_free(data, size);
            return status;
        }
        tg_lock(&lock);
        there = insert(value, form, size, data);
        tg_unlock(&lock);
    }
    *out = there;
    return TG_OK;
}

void tg_packed_unref(tg_packed *packed)
{
    pack *k = (pack *)packed;
    if (!k) return;
    tg_lock(&lock);
    if (--k->pub.refs == 0) {
        k->idle = true;
        k->older = newest;
        if (newest) newest->newer = k;
        else oldest = k;
        newest = k;
        idle_bytes += k->pub.size;
        while (idle_bytes > IDLE_BYTES) drop(oldest);
    }
    tg_unlock(&lock);
}

size_t tg_packed_bytes(void)
{
    tg_lock(&lock);
    size_t n = bytes;
    tg_unlock(&lock);
    return n;
}
