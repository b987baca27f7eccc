/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a cheap graph to a fast one. The analytic cost stands for no particular machine; what it
 * takes for a saving may cost time here. Rules are left out one by one, most used first, while
 * measuring says that the graph found without them is faster.
 */
#ifndef TG_ENGINE_REFINE_H
#define TG_ENGINE_REFINE_H

#include "engine/measure/bench.h"
#include "engine/search/search.h"

typedef struct tg_refine_options {
    const tg_search
        *search; /* finds a trail without the rules left out; NULL: only the last check */
    tg_search_options search_options;
    const tg_backend *backend;
    tg_measure_options measure; /* of one comparison */
    /* Told before each comparison; may be NULL. */
    void (*progress)(void *ctx, int tried, int rules, const char *without);
    void *ctx;
} tg_refine_options;

typedef struct tg_refine_report {
    tg_comparison latency;      /* the start against what is returned */
    const char *const *without; /* rules left out, interned; in the report's arena */
    int n_without, tried;
    bool given_up;   /* nothing found is faster than the start: that is returned */
    tg_arena *arena; /* of the report; tg_arena_free */
} tg_refine_report;

/*
 * *best (a trail from g) is replaced by the fastest one found. It is never slower than g by
 * measurement: if it would be, it becomes the start. Errors: those of searching and measuring,
 * TG_CANCELLED.
 */
tg_status tg_refine(const tg_rules *rules, const tg_graph *g, const tg_refine_options *options,
                    tg_trail **best, tg_refine_report *report) TG_MUST_USE;

#endif
