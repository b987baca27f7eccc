/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/measure/stats.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void quantiles_interpolate(void **state)
{
    (void)state;
    static const double x[] = {9, 1, 4, 2, 7}; /* as R's quantile(x, q, type = 7) */
    NEAR(tg_stats_median(x, 5), 4);
    NEAR(tg_stats_quantile(x, 5, 0), 1);
    NEAR(tg_stats_quantile(x, 5, 1), 9);
    NEAR(tg_stats_quantile(x, 5, 0.25), 2);
    NEAR(tg_stats_quantile(x, 5, 0.9), 8.2);
    NEAR(tg_stats_median(x, 4), 3);
    NEAR(tg_stats_median(x, 1), 9);
    NEAR(tg_stats_mean(x, 5), 4.6);
}

static void quantiles_of_many_equal(void **state)
{
    (void)state;
    double x[1000];
    for (int i = 0; i < 1000; i++) x[i] = i % 3;
    NEAR(tg_stats_quantile(x, 1000, 0.1), 0);
    NEAR(tg_stats_median(x, 1000), 1);
    NEAR(tg_stats_quantile(x, 1000, 0.9), 2);
    for (int i = 0; i < 1000; i++) x[i] = 1000 - i;
    NEAR(tg_stats_median(x, 1000), 500.5);
}

static void outliers_lie_far_out(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 100, -50};
    assert_int_equal(tg_stats_outliers(x, 8), 0);
    assert_int_equal(tg_stats_outliers(x, 10), 2);
}

/* Of intervals of 90 % about nine in ten hold the true median. */
static void intervals_hold_what_they_say(void **state)
{
    (void)state;
    tg_rng *rng = tg_rng_new(3);
    double x[40];
    int held = 0;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 40; i++) x[i] = exp(tg_rng_normal(rng)); /* median 1 */
        tg_interval i = tg_stats_bootstrap(x, 40, 0.5, 1, 0.9, rng);
        assert_true(i.low <= i.estimate && i.estimate <= i.high);
        held += i.low <= 1 && 1 <= i.high;
    }
    tg_rng_free(rng);
    assert_in_range(held, 165, 198);
}

/* Values that hang together in runs of ten: alone each would count as ten. */
static void blocks_keep_drifts_in(void **state)
{
    (void)state;
    tg_rng *rng = tg_rng_new(4);
    double x[200], level = 0;
    int alone = 0, together = 0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 200; i++) {
            if (i % 10 == 0) level = tg_rng_normal(rng);
            x[i] = 1 + 0.1 * level + 0.001 * tg_rng_normal(rng);
        }
        tg_interval a = tg_stats_bootstrap(x, 200, 0.5, 1, 0.9, rng);
        tg_interval t = tg_stats_bootstrap(x, 200, 0.5, 20, 0.9, rng);
        alone += a.low <= 1 && 1 <= a.high;
        together += t.low <= 1 && 1 <= t.high;
    }
    tg_rng_free(rng);
    assert_true(alone < 60);
    assert_true(together > 75);
}

static void the_middle_is_what_counts(void **state)
{
    (void)state;
    static const double x[] = {0.01, 5, 0.02, -7, 0.03}; /* a fifth goes at each end */
    NEAR(tg_stats_trimmed(x, 5), 0.02);
    static const double y[] = {1, 2, 3, 9};
    NEAR(tg_stats_trimmed(y, 4), 3.75);
}

/* Of intervals of 95 % at most one in twenty misses, however few the sessions are. */
static void sessions_are_few(void **state)
{
    (void)state;
    tg_rng *rng = tg_rng_new(5);
    double logs[40];
    for (int n = 4; n <= 40; n *= 2) {
        int held = 0;
        for (int round = 0; round < 400; round++) {
            for (int i = 0; i < n; i++) {
                logs[i] = log(1.03) + 0.01 * tg_rng_normal(rng);
                if (tg_rng_below(rng, 20) == 0) logs[i] += 0.2 * tg_rng_normal(rng);
            }
            tg_interval r = tg_stats_sessions(logs, n, 0.95, rng);
            assert_true(r.low <= r.estimate && r.estimate <= r.high);
            held += r.low <= 1.03 && 1.03 <= r.high;
        }
        assert_in_range(held, 372, 400);
    }
    tg_rng_free(rng);
}

static void a_seed_repeats(void **state)
{
    (void)state;
    static const double x[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
    tg_rng *one = tg_rng_new(7), *two = tg_rng_new(7);
    tg_interval a = tg_stats_bootstrap(x, 10, 0.5, 1, 0.95, one);
    tg_interval b = tg_stats_bootstrap(x, 10, 0.5, 1, 0.95, two);
    assert_memory_equal(&a, &b, sizeof a);
    tg_rng_free(one);
    tg_rng_free(two);
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        tg_interval r;
        tg_verdict want;
    } cases[] = {
        {{0.95, 0.94, 0.96}, TG_FASTER},
        {{1.05, 1.04, 1.06}, TG_SLOWER},
        {{1.0, 0.991, 1.009}, TG_SAME},
        {{0.999, 0.975, 1.01}, TG_UNSURE},
        {{0.98, 0.95, 1.001}, TG_UNSURE},
        {{1.02, 0.999, 1.05}, TG_UNSURE},
        {{0.992, 0.986, 0.999}, TG_SAME}, /* too little to count */
        {{0.992, 0.979, 1.005}, TG_UNSURE},
        {{1.012, 1.005, 1.019}, TG_SLOWER},
        {{1.012, 0.999, 1.0199}, TG_SAME},
        {{0.988, 0.9801, 0.999}, TG_FASTER},
        {{1, 1, 1}, TG_SAME},
        {{0.5, 0.5, 0.5}, TG_FASTER},
        {{1.011, 1.011, 1.011}, TG_SLOWER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tg_verdict_of(&cases[i].r, 0.01), cases[i].want);
        int more = tg_verdict_more(&cases[i].r, 50, 0.01);
        if (cases[i].want == TG_UNSURE) assert_in_range(more, 1, 1000000);
        else assert_int_equal(more, 0);
    }
    assert_string_equal(tg_verdict_name(TG_FASTER), "faster");
    assert_string_equal(tg_verdict_name(TG_UNSURE), "unsure");
    tg_interval wide = {0.98, 0.94, 1.02}, wider = {0.98, 0.90, 1.06};
    assert_true(tg_verdict_more(&wide, 50, 0.01) < tg_verdict_more(&wider, 50, 0.01));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(quantiles_interpolate),
    cmocka_unit_test(quantiles_of_many_equal),
    cmocka_unit_test(outliers_lie_far_out),
    cmocka_unit_test(intervals_hold_what_they_say),
    cmocka_unit_test(blocks_keep_drifts_in),
    cmocka_unit_test(the_middle_is_what_counts),
    cmocka_unit_test(sessions_are_few),
    cmocka_unit_test(a_seed_repeats),
    cmocka_unit_test(verdicts),
};
UNIT_MAIN(tests)
