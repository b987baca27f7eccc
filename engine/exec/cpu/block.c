/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prim.h"

#include "engine/base/lock.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Below this size a mapping of its own wastes more than huge pages gain. */
enum { MAPPED_FROM = 1 << 20, HUGE = 1 << 21 };

/*
 * Mappings that were given back wait for the next plan: making huge pages takes the system longer
 * than planning takes.
 */
enum { SPARES = 8 };
#define SPARE_BYTES ((size_t)256 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *p;
    size_t size;
} spares[SPARES];
static size_t spare_bytes;

static size_t mapped_size(size_t bytes)
{
    return (bytes + HUGE - 1) / HUGE * HUGE;
}

static void *spare_take(size_t size)
{
    void *p = NULL;
    tg_lock(&lock);
    for (int i = 0; i < SPARES && !p; i++) {
        if (spares[i].size != size) continue;
        p = spares[i].p;
        spares[i].p = NULL;
        spares[i].size = 0;
        spare_bytes -= size;
    }
    tg_unlock(&lock);
    return p;
}

static bool spare_keep(void *p, size_t size)
{
    bool kept = false;
    tg_lock(&lock);
    for (int i = 0; i < SPARES && !kept && spare_bytes + size <= SPARE_BYTES; i++) {
        if (spares[i].p) continue;
        spares[i].p = p;
        spares[i].size = size;
        spare_bytes += size;
        kept = true;
    }
    tg_unlock(&lock);
    return kept;
}

/* Memory ran out: the one way to say so is that of tg_malloc. */
static void *no_memory(void)
{
    return tg_malloc(SIZE_MAX / 2);
}

/* The mapping begins where a huge page may begin. */
static void *map_new(size_t size)
{
    char *at = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return no_memory();
    size_t skip = (HUGE - (uintptr_t)at % HUGE) % HUGE;
    if (skip) munmap(at, skip);
    if (skip < HUGE) munmap(at + skip + size, HUGE - skip);
    madvise(at + skip, size, MADV_HUGEPAGE);
    return at + skip;
}

void *tg_block_new(size_t bytes)
{
    void *p = NULL;
    if (bytes >= MAPPED_FROM) {
        p = spare_take(mapped_size(bytes));
        return p ? p : map_new(mapped_size(bytes));
    }
    size_t rounded = (bytes + 63) / 64 * 64;
    return posix_memalign(&p, 64, rounded ? rounded : 64) == 0 ? p : no_memory();
}

void tg_block_free(void *p, size_t bytes)
{
    if (p && bytes >= MAPPED_FROM && spare_keep(p, mapped_size(bytes))) return;
    tg_block_drop(p, bytes);
}

void tg_block_drop(void *p, size_t bytes)
{
    if (bytes < MAPPED_FROM) free(p);
    else if (p) munmap(p, mapped_size(bytes));
}
