/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosers that need no learning: each looks for a cheap graph by the analytic cost. */
#ifndef TG_SEARCH_SEARCH_H
#define TG_SEARCH_SEARCH_H

#include "trail.h"

typedef struct tg_search_progress {
    int expansions, budget;
    double best_ms;
} tg_search_progress;

typedef struct tg_search_options {
    double alpha;   /* backtracking: a graph may cost this times the best; 0: 1.05 */
    int width;      /* beam: graphs of a level; 0: 8 */
    int budget;     /* graphs to expand; 0: the chooser's own default */
    int max_steps;  /* length of a path; 0: 200 */
    double seconds; /* the best so far is returned when they are over; 0: no limit */
    uint64_t seed;
    const tg_job *job; /* may cancel: the best so far is returned; NULL: nobody does */
    void (*progress)(void *ctx, const tg_search_progress *progress); /* may be NULL */
    void *ctx;
} tg_search_options;

/* The best graph became this cheap when so much had been done. */
typedef struct tg_search_point {
    double seconds;
    int expansions;
    double cost_ms;
} tg_search_point;

enum { TG_SEARCH_POINTS = 64 };

typedef struct tg_search_report {
    const char *stop; /* why it ended: "no candidate improves", "budget", "queue empty", "no new
                        graph", "length of a path", "saturated", "size of the e-graph", "cancelled",
                        "time", "memory" */
    bool exhausted;   /* every reachable graph within the limits was seen */
    int equal_nodes;  /* saturation: operators in the e-graph */
    bool proved;      /* saturation: the e-graph holds nothing cheaper than was found in it */
    int expansions, graphs, duplicates;
    long sites;
    int queued;  /* candidates that wait at the end (backtracking) */
    int best_at; /* expansion that found the best */
    double seconds;
    /* Best cost over time, the start first, the end last; where there are too many points, each
     * second one is left out. */
    tg_search_point course[TG_SEARCH_POINTS];
    int n_course;
    int64_t begun_ns;   /* tg_clock_ns */
    const char *halted; /* "time" or "memory"; NULL: neither ended it */
} tg_search_report;

typedef struct tg_search {
    const char *name;
    const char *about; /* one sentence */
    int budget;        /* default */
    tg_status (*run)(const struct tg_search *search, const tg_rules *rules, const tg_graph *g,
                     const tg_search_options *options, tg_search_report *report, tg_trail **best);
} tg_search;

/* The searches: greedy, taso, beam, saturate, random, exhaustive. NULL if there is none of that
 * name. */
const tg_search *tg_search_find(const char *name);
const tg_search *tg_search_at(int i); /* NULL behind the last */

/*
 * Runs a search; *best is never dearer than the start and always valid. options may be NULL.
 * Errors: those of finding and applying candidates; being cancelled is none.
 */
tg_status tg_search_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                        const tg_search_options *options, tg_search_report *report,
                        tg_trail **best) TG_MUST_USE;

#endif
