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
 * `block` neighbours are drawn together, so that slow drifts stay in (moving blocks, Kunsch 1989);
 * 1 where each value stands alone. O(rounds * n).
 */
tg_interval tg_stats_bootstrap(const double *x, int n, double q, int block, double confidence,
                               tg_rng *rng);

/*
 * The ratio that `n` sessions give, each by the logarithm of its own ratio: the mean without the
 * upper and lower fifth (one disturbed session does not count), with an interval of Student's
 * factor times the bootstrap standard error (Efron 1979) over sessions. Sessions are drawn as a
 * whole, because where memory lies makes a constant difference within one, and slow drifts stay
 * inside. n > 1. O(rounds * n log n).
 */
tg_interval tg_stats_sessions(const double *logs, int n, double confidence, tg_rng *rng);
/* The mean of the middle three fifths. */
double tg_stats_trimmed(const double *x, int n);

/* Values further than 1.5 interquartile ranges outside the quartiles (Tukey). */
int tg_stats_outliers(const double *x, int n);

typedef enum tg_verdict { TG_UNSURE, TG_FASTER, TG_SLOWER, TG_SAME } tg_verdict;

/*
 * From the ratio after / before and its interval, with `smallest_effect` a share (0.01):
 *   faster   the interval lies below 1, and the estimate at least smallest_effect below it
 *   slower   the same above
 *   same     neither, and the interval lies within 1 +- 2 smallest_effect
 *   unsure   all else: the interval is too wide to say
 */
tg_verdict tg_verdict_of(const tg_interval *ratio, double smallest_effect);
const char *tg_verdict_name(tg_verdict v); /* "faster", "slower", "same", "unsure" */

/* About how many samples would be needed, beside the n taken, to leave "unsure": the width of an
 * interval shrinks with the root of n. 0 if it is not unsure. */
int tg_verdict_more(const tg_interval *ratio, int n, double smallest_effect);

#endif
