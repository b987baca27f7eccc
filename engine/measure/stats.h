/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of latencies. */
#ifndef TG_MEASURE_STATS_H
#define TG_MEASURE_STATS_H

#include "engine/base/rng.h"

#include <stdbool.h>

/* All sort a copy; n > 0. Quantiles interpolate between order statistics (type 7 of Hyndman and
 * Fan 1996). O(n log n). */
double tg_stats_quantile(const double *x, int n, double q);
double tg_stats_median(const double *x, int n);
double tg_stats_mean(const double *x, int n);

typedef struct tg_interval {
    double estimate, low, high;
} tg_interval;

/*
 * The q-quantile of x with a percentile bootstrap interval of the given confidence (Efron 1979).
 * O(rounds * n).
 */
tg_interval tg_stats_bootstrap(const double *x, int n, double q, double confidence, tg_rng *rng);

/*
 * The ratio b / a: the geometric mean over sessions of the ratio of the q-quantiles, with a
 * bootstrap interval. a[i] and b[i] were measured beside each other; session k has the samples
 * first[k] .. first[k + 1] - 1. Sessions are drawn as a whole (where memory lies makes a constant
 * difference within one), and within each `block` neighbours together, so that slow drifts stay in
 * (moving blocks, Kunsch 1989). The interval is widened by Student's factor for few sessions.
 * O(rounds * n).
 */
tg_interval tg_stats_ratio(const double *a, const double *b, const int *first, int sessions,
                           double q, int block, double confidence, tg_rng *rng);

/* Values further than 1.5 interquartile ranges outside the quartiles (Tukey). */
int tg_stats_outliers(const double *x, int n);

typedef enum tg_verdict { TG_UNSURE, TG_FASTER, TG_SLOWER, TG_SAME } tg_verdict;

/*
 * From the ratio after / before and its interval: faster if the interval lies below 1 and the
 * estimate is at least `smallest_effect` (a share, 0.005) away; slower likewise; same if the
 * interval lies within 1 +- smallest_effect; else unsure.
 */
tg_verdict tg_verdict_of(const tg_interval *ratio, double smallest_effect);
const char *tg_verdict_name(tg_verdict v); /* "faster", "slower", "same", "unsure" */

/* Samples that would be needed, beside the n taken, to leave "unsure": the width of an interval
 * shrinks with the root of n. 0 if it is not unsure. */
int tg_verdict_more(const tg_interval *ratio, int n, double smallest_effect);

#endif
