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

tg_interval tg_stats_bootstrap(const double *x, int n, double q, double confidence, tg_rng *rng)
{
    double *drawn = tg_calloc((size_t)n, sizeof *drawn);
    double *results = tg_calloc(ROUNDS, sizeof *results);
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < n; i++) drawn[i] = x[tg_rng_below(rng, (uint64_t)n)];
        results[r] = quantile_in_place(drawn, n, q);
    }
    tg_interval interval = {.estimate = tg_stats_quantile(x, n, q)};
    set_ends(results, confidence, &interval);
    free(drawn);
    free(results);
    return interval;
}

/* The logarithm of the ratio of one session, its blocks drawn anew; n values fit into da, db. */
static double drawn_ratio(const double *a, const double *b, int n, double q, int block, double *da,
                          double *db, tg_rng *rng)
{
    if (block > n) block = n;
    for (int i = 0; i < n;) {
        int start = (int)tg_rng_below(rng, (uint64_t)(n - block + 1));
        for (int k = 0; k < block && i < n; k++, i++) {
            da[i] = a[start + k];
            db[i] = b[start + k];
        }
    }
    return log(quantile_in_place(db, n, q) / quantile_in_place(da, n, q));
}

static double mean_ratio(const double *a, const double *b, const int *first, int sessions, double q)
{
    double sum = 0;
    for (int s = 0; s < sessions; s++) {
        int at = first[s], n = first[s + 1] - at;
        sum += log(tg_stats_quantile(b + at, n, q) / tg_stats_quantile(a + at, n, q));
    }
    return sum / sessions;
}

/* A bootstrap of few clusters is too sure of itself. */
static double widening(int sessions, double confidence)
{
    if (sessions < 2) return 1;
    double p = (1 + confidence) / 2, n = sessions;
    return sqrt(n / (n - 1)) * gsl_cdf_tdist_Pinv(p, n - 1) / gsl_cdf_ugaussian_Pinv(p);
}

tg_interval tg_stats_ratio(const double *a, const double *b, const int *first, int sessions,
                           double q, int block, double confidence, tg_rng *rng)
{
    int n = first[sessions] - first[0];
    double *da = tg_calloc((size_t)n, sizeof *da), *db = tg_calloc((size_t)n, sizeof *db);
    double *results = tg_calloc(ROUNDS, sizeof *results);
    double mean = mean_ratio(a, b, first, sessions, q);
    for (int r = 0; r < ROUNDS; r++) {
        for (int k = 0; k < sessions; k++) {
            int s = (int)tg_rng_below(rng, (uint64_t)sessions), at = first[s];
            results[r] += drawn_ratio(a + at, b + at, first[s + 1] - at, q, block, da, db, rng);
        }
        results[r] /= sessions;
    }
    tg_interval i;
    set_ends(results, confidence, &i);
    double wide = widening(sessions, confidence);
    i = (tg_interval){exp(mean), exp(mean + (i.low - mean) * wide),
                      exp(mean + (i.high - mean) * wide)};
    free(da);
    free(db);
    free(results);
    return i;
}

tg_verdict tg_verdict_of(const tg_interval *ratio, double smallest_effect)
{
    if (ratio->low >= 1 - smallest_effect && ratio->high <= 1 + smallest_effect) return TG_SAME;
    if (ratio->high < 1 && ratio->estimate <= 1 - smallest_effect) return TG_FASTER;
    if (ratio->low > 1 && ratio->estimate >= 1 + smallest_effect) return TG_SLOWER;
    return TG_UNSURE;
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
    /* Either the interval leaves 1, or it fits between the smallest effects. */
    double need = off >= smallest_effect ? off : smallest_effect - off;
    if (need < smallest_effect / 5) need = smallest_effect / 5;
    double factor = half / need;
    double more = n * (factor * factor - 1);
    return more < 1 ? 1 : more > 1e6 ? 1000000 : (int)ceil(more);
}
