/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measuring latencies. All times in milliseconds. A measurement takes the process's turn, so that
 * trainers can pause meanwhile; it stops within 100 ms when its job is cancelled.
 */
#ifndef TG_MEASURE_BENCH_H
#define TG_MEASURE_BENCH_H

#include "engine/base/job.h"
#include "engine/exec/backend.h"
#include "stats.h"

typedef struct tg_measure_options {
    int threads;            /* 0 means 1 */
    double budget_ms;       /* time to spend; 0: 1000 */
    uint64_t seed;          /* of inputs and bootstrap */
    double confidence;      /* 0: 0.95 */
    double smallest_effect; /* what a verdict must reach (stats.h); 0: 0.01 */
    const tg_job *job;      /* may cancel; NULL: nobody does */
    tg_command command;     /* for the backend "command" */
    bool whole_budget; /* a comparison goes on when its verdict is clear, for a narrower interval */
    bool no_cache;     /* neither read nor write the database of operator latencies */
} tg_measure_options;

typedef struct tg_latency {
    double median_ms, low_ms, high_ms; /* wall time, with the interval of the median */
    int n, outliers;
    double sum_of_operators_ms; /* of isolated cache-cold runs; NaN if not asked for or not to be
                                   had */
} tg_latency;

typedef struct tg_comparison {
    double before_ms, after_ms; /* of the clock that is compared; after is ratio * before */
    double ratio, ratio_low, ratio_high; /* after / before */
    tg_verdict verdict;
    int n;    /* samples of each side */
    int more; /* about as many more samples would decide; 0 unless unsure */
} tg_comparison;

/* End to end. `operators` asks for the sum over the nodes too. `options` NULL: the defaults. */
tg_status tg_measure_graph(const tg_backend *backend, const tg_graph *g, bool operators,
                           const tg_measure_options *options, tg_latency *latency) TG_MUST_USE;
tg_status tg_measure_plan(tg_plan *plan, const tg_measure_options *options,
                          tg_latency *latency) TG_MUST_USE;

/*
 * Interleaved A B B A in one run: the ratio of the 25th percentiles of thread-CPU time (of wall
 * time with more than one thread) with a bootstrap interval, over sessions that each plan anew.
 * Stops early when the verdict is clear (contest.h); planning counts towards the budget. Takes four
 * sessions at least, however long they are.
 */
tg_status tg_measure_compare(const tg_backend *backend, const tg_graph *a, const tg_graph *b,
                             const tg_measure_options *options,
                             tg_comparison *comparison) TG_MUST_USE;

/*
 * The latency of each operator of its own, cache-cold, in short rounds spread over the budget; ms
 * has g->n_ids entries, 0 for what does not run, NaN for what cannot be run alone. Operators known
 * to the database are not run again; those whose interval became narrow are kept there. Errors:
 * TG_UNSUPPORTED from a backend that measures whole models only, TG_CANCELLED.
 */
tg_status tg_measure_nodes(const tg_backend *backend, const tg_graph *g,
                           const tg_measure_options *options, double *ms) TG_MUST_USE;

/* What the latency of a node depends on: operator, attributes, types, which inputs are constant. */
uint64_t tg_measure_signature(const tg_graph *g, const tg_node *node);

/*
 * The turn: one measurement at a time in this process. Waits; TG_CANCELLED if the job is cancelled
 * meanwhile. Measuring functions take it themselves; a thread may take it again.
 */
tg_status tg_measure_turn_acquire(const tg_job *job) TG_MUST_USE;
void tg_measure_turn_release(void);
/* True while a thread holds the turn: trainers pause between their steps. */
bool tg_measure_turn_held(void);
/* Waits until nobody holds the turn, or the job is cancelled, or `ms` passed. */
void tg_measure_turn_wait(const tg_job *job, int ms);

#endif
