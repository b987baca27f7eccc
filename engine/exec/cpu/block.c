/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prim.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Below this size a mapping of its own wastes more than huge pages gain. */
enum { MAPPED_FROM = 1 << 20, HUGE = 1 << 21 };

/* A mapping is enlarged so that a huge page boundary lies inside. */
static size_t mapped_size(size_t bytes)
{
    return (bytes + HUGE - 1) / HUGE * HUGE;
}

void *tg_block_new(size_t bytes)
{
    void *p = NULL;
    if (bytes < MAPPED_FROM) {
        size_t rounded = (bytes + 63) / 64 * 64;
        if (posix_memalign(&p, 64, rounded ? rounded : 64) == 0) return p;
        return tg_malloc((size_t)-1 / 2);
    }
    size_t size = mapped_size(bytes);
    char *at = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return tg_malloc((size_t)-1 / 2);
    size_t skip = (HUGE - (uintptr_t)at % HUGE) % HUGE;
    if (skip) munmap(at, skip);
    if (skip < HUGE) munmap(at + skip + size, HUGE - skip);
    madvise(at + skip, size, MADV_HUGEPAGE);
    return at + skip;
}

void tg_block_free(void *p, size_t bytes)
{
    if (bytes < MAPPED_FROM) free(p);
    else if (p) munmap(p, mapped_size(bytes));
}
