/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laying out buffers by lifetime: largest first, each at the lowest place that is free as long as
 * it lives (greedy by size, Pisarchyk and Lee 2020, section 5). */
#include "plan.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    const tg_cpu_buffer *x = *(tg_cpu_buffer *const *)a, *y = *(tg_cpu_buffer *const *)b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The placed buffers, ascending in place. */
typedef struct placed {
    tg_cpu_buffer **v;
    size_t n;
} placed;

static void place(placed *all, tg_cpu_buffer *b)
{
    size_t at = 0, where = 0;
    for (size_t i = 0; i < all->n; i++) {
        const tg_cpu_buffer *o = all->v[i];
        if (o->last < b->first || o->first > b->last) continue;
        if (o->at >= at + b->size) break;
        if (o->at + o->size > at) at = o->at + o->size;
    }
    b->at = at;
    while (where < all->n && all->v[where]->at < at) where++;
    memmove(all->v + where + 1, all->v + where, (all->n - where) * sizeof *all->v);
    all->v[where] = b;
    all->n++;
}

size_t tg_cpu_lay_out(tg_cpu_buffer *buffers, size_t n)
{
    tg_cpu_buffer **sorted = tg_calloc(n + 1, sizeof *sorted);
    placed all = {tg_calloc(n + 1, sizeof *all.v), 0};
    size_t count = 0, end = 0;
    for (size_t i = 0; i < n; i++) {
        if (buffers[i].place != TG_PLACE_ARENA) continue;
        buffers[i].size = (buffers[i].size + 63) / 64 * 64;
        sorted[count++] = &buffers[i];
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    for (size_t i = 0; i < count; i++) {
        place(&all, sorted[i]);
        if (sorted[i]->at + sorted[i]->size > end) end = sorted[i]->at + sorted[i]->size;
    }
    free(sorted);
    free(all.v);
    return end;
}
