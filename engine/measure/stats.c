/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of a bootstrap: the ends of a 95 % interval rest on 25 values each. */
enum { ROUNDS = 1000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_of_sorted(const double *x, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)floor(at);
    if (i >= n - 1) return x[n - 1];
    return x[i] + (at - i) * (x[i + 1] - x[i]);
}

/* The k-th smallest; x is reordered so that nothing behind it is smaller (Hoare's selection). */
static double select_kth(double *x, int n, int k)
{
    int low = 0, high = n - 1;
    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            double t = x[i];
            x[i++] = x[j];
            x[j--] = t;
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else return x[k];
    }
    return x[k];
}

/* Reorders x. O(n). */
static double quantile_in_place(double *x, int n, double q)
{
    double at = q * (n - 1);
    int i = (int)floor(at);
    double low = select_kth(x, n, i);
    if (i >= n - 1) return low;
    double next = x[i + 1];
    for (int k = i + 2; k < n; k++)
        if (x[k] < next) next = x[k];
    return low + (at - i) * (next - low);
}

double tg_stats_quantile(const double *x, int n, double q)
{
    double *copy = tg_memdup(x, sizeof *x * (size_t)n);
    double result = quantile_in_place(copy, n, q);
    free(copy);
    return result;
}

double tg_stats_median(const double *x, int n)
{
    return tg_stats_quantile(x, n, 0.5);
}

double tg_stats_mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

int tg_stats_outliers(const double *x, int n)
{
    double low = tg_stats_quantile(x, n, 0.25), high = tg_stats_quantile(x, n, 0.75);
    double reach = 1.5 * (high - low);
    int count = 0;
    for (int i = 0; i < n; i++) count += x[i] < low - reach || x[i] > high + reach;
    return count;
}

/* The middle `confidence` of the bootstrap's results. */
static void set_ends(double *results, double confidence, tg_interval *interval)
{
    qsort(results, ROUNDS, sizeof *results, ascending);
    interval->low = quantile_of_sorted(results, ROUNDS, (1 - confidence) / 2);
    interval->high = quantile_of_sorted(results, ROUNDS, (1 + confidence) / 2);
}

static void draw_blocks(const double *x, int n, int block, double *drawn, tg_rng *rng)
{
    if (block > n) block = n;
    for (int i = 0; i < n;) {
        int start = (int)tg_rng_below(rng, (uint64_t)(n - block + 1));
        for (int k = 0; k < block && i < n; k++) drawn[i++] = x[start + k];
    }
}

tg_interval tg_stats_bootstrap(const double *x, int n, double q, int block, double confidence,
                               tg_rng *rng)
{
    double *drawn = tg_calloc((size_t)n, sizeof *drawn);
    double *results = tg_calloc(ROUNDS, sizeof *results);
    for (int r = 0; r < ROUNDS; r++) {
        draw_blocks(x, n, block, drawn, rng);
        results[r] = quantile_in_place(drawn, n, q);
    }
    tg_interval interval = {.estimate = tg_stats_quantile(x, n, q)};
    set_ends(results, confidence, &interval);
    free(drawn);
    free(results);
    return interval;
}

/* Sorts x. */
static double trim_in_place(double *x, int n)
{
    int cut = n / 5;
    qsort(x, (size_t)n, sizeof *x, ascending);
    return tg_stats_mean(x + cut, n - 2 * cut);
}

double tg_stats_trimmed(const double *x, int n)
{
    double *copy = tg_memdup(x, sizeof *x * (size_t)n);
    double mean = trim_in_place(copy, n);
    free(copy);
    return mean;
}

/* The bootstrap's standard error of the trimmed mean, without its bias at small n. */
static double standard_error(const double *x, int n, tg_rng *rng)
{
    double *drawn = tg_calloc((size_t)n, sizeof *drawn);
    double sum = 0, squares = 0;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < n; i++) drawn[i] = x[tg_rng_below(rng, (uint64_t)n)];
        double mean = trim_in_place(drawn, n) - x[0]; /* near 0: no cancellation */
        sum += mean;
        squares += mean * mean;
    }
    free(drawn);
    double variance = (squares - sum * sum / ROUNDS) / (ROUNDS - 1);
    return variance > 0 ? sqrt(variance * n / (n - 1.0)) : 0;
}

tg_interval tg_stats_sessions(const double *logs, int n, double confidence, tg_rng *rng)
{
    double centre = tg_stats_trimmed(logs, n);
    double half = gsl_cdf_tdist_Pinv((1 + confidence) / 2, n - 2 * (n / 5) - 1) *
                  standard_error(logs, n, rng);
    return (tg_interval){exp(centre), exp(centre - half), exp(centre + half)};
}

tg_verdict tg_verdict_of(const tg_interval *ratio, double smallest_effect)
{
    if (ratio->high < 1 && ratio->estimate <= 1 - smallest_effect) return TG_FASTER;
    if (ratio->low > 1 && ratio->estimate >= 1 + smallest_effect) return TG_SLOWER;
    double reach = 2 * smallest_effect;
    return ratio->low >= 1 - reach && ratio->high <= 1 + reach ? TG_SAME : TG_UNSURE;
}

const char *tg_verdict_name(tg_verdict v)
{
    static const char *const names[] = {"unsure", "faster", "slower", "same"};
    return names[v];
}

int tg_verdict_more(const tg_interval *ratio, int n, double smallest_effect)
{
    if (tg_verdict_of(ratio, smallest_effect) != TG_UNSURE) return 0;
    double half = (ratio->high - ratio->low) / 2, off = fabs(ratio->estimate - 1);
    /* Either the interval leaves 1, or it fits between what still counts as the same. */
    double need = off >= smallest_effect ? off : 2 * smallest_effect - off;
    double factor = half / need;
    double more = n * (factor * factor - 1);
    return more < 1 ? 1 : more > 1e6 ? 1000000 : (int)ceil(more);
}
