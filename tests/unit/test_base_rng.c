/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/rng.h"

#include <math.h>

static void equal_seeds_draw_equal_numbers(void **state)
{
    (void)state;
    tg_rng *a = tg_rng_new(7), *b = tg_rng_new(7), *c = tg_rng_new(8);
    int differ = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = tg_rng_u64(a);
        assert_true(x == tg_rng_u64(b));
        differ += x != tg_rng_u64(c);
    }
    assert_in_range(differ, 999, 1000);
    tg_rng_free(a), tg_rng_free(b), tg_rng_free(c);
    tg_rng_free(NULL);
}

static void neighbouring_seeds_are_unrelated(void **state)
{
    (void)state;
    enum { N = 2000 };
    double sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < N; seed++) {
        tg_rng *rng = tg_rng_new(seed);
        double x = tg_rng_uniform(rng);
        sum += x;
        squares += x * x;
        tg_rng_free(rng);
    }
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1 / 12.0 / N));
    assert_true(fabs(squares / N - 1 / 3.0) < 5 * sqrt(4 / 45.0 / N));
}

static void splits_depend_on_seed_and_stream_alone(void **state)
{
    (void)state;
    tg_rng *a = tg_rng_new(3), *b = tg_rng_new(3), *other = tg_rng_new(4);
    for (int i = 0; i < 17; i++) tg_rng_u64(a); /* does not matter */
    tg_rng *a1 = tg_rng_split(a, 1), *b1 = tg_rng_split(b, 1);
    tg_rng *a2 = tg_rng_split(a, 2), *o1 = tg_rng_split(other, 1);
    for (int i = 0; i < 100; i++) {
        uint64_t x = tg_rng_u64(a1);
        assert_true(x == tg_rng_u64(b1));
        assert_true(x != tg_rng_u64(a2) && x != tg_rng_u64(o1));
    }
    tg_rng *all[] = {a, b, other, a1, b1, a2, o1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tg_rng_free(all[i]);
}

static void state_is_kept_and_restored(void **state)
{
    (void)state;
    tg_rng *rng = tg_rng_new(1), *copy = tg_rng_new(99);
    for (int i = 0; i < 10; i++) tg_rng_normal(rng);
    char bytes[256];
    assert_in_range(tg_rng_state_size(rng), 8, sizeof bytes);
    tg_rng_state_get(rng, bytes);
    tg_rng_state_set(copy, bytes);
    tg_rng *split = tg_rng_split(rng, 5), *split_copy = tg_rng_split(copy, 5);
    for (int i = 0; i < 1000; i++) {
        assert_true(tg_rng_normal(rng) == tg_rng_normal(copy));
        assert_true(tg_rng_u64(split) == tg_rng_u64(split_copy));
    }
    tg_rng_free(rng), tg_rng_free(copy), tg_rng_free(split), tg_rng_free(split_copy);
}

/* Chi-square over 10 bins: 27.9 is the 0.1 % point of 9 degrees of freedom; the seed is fixed. */
static void below_is_uniform(void **state)
{
    (void)state;
    enum { N = 100000 };
    tg_rng *rng = tg_rng_new(5);
    int count[10] = {0};
    for (int i = 0; i < N; i++) {
        uint64_t x = tg_rng_below(rng, 10);
        assert_true(x < 10);
        count[x]++;
    }
    double chi = 0;
    for (int i = 0; i < 10; i++) chi += pow(count[i] - N / 10.0, 2) / (N / 10.0);
    assert_true(chi < 27.9);
    for (int i = 0; i < 100; i++) assert_int_equal(tg_rng_below(rng, 1), 0);
    int high = 0; /* all 64 bits are used */
    for (int i = 0; i < 100; i++) high += tg_rng_below(rng, UINT64_MAX) > UINT64_MAX / 2;
    assert_in_range(high, 25, 75);
    tg_rng_free(rng);
}

static void uniform_and_normal_have_their_moments(void **state)
{
    (void)state;
    enum { N = 100000 };
    tg_rng *rng = tg_rng_new(6);
    double uniform = 0, normal = 0, squares = 0;
    int tails = 0;
    for (int i = 0; i < N; i++) {
        double u = tg_rng_uniform(rng), z = tg_rng_normal(rng);
        assert_true(u >= 0 && u < 1);
        uniform += u;
        normal += z;
        squares += z * z;
        tails += fabs(z) > 2;
    }
    assert_true(fabs(uniform / N - 0.5) < 5 * sqrt(1 / 12.0 / N));
    assert_true(fabs(normal / N) < 5 / sqrt(N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(tails / (double)N - 0.0455) < 5 * sqrt(0.0455 / N));
    tg_rng_free(rng);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_seeds_draw_equal_numbers),
    cmocka_unit_test(neighbouring_seeds_are_unrelated),
    cmocka_unit_test(splits_depend_on_seed_and_stream_alone),
    cmocka_unit_test(state_is_kept_and_restored),
    cmocka_unit_test(below_is_uniform),
    cmocka_unit_test(uniform_and_normal_have_their_moments),
};
UNIT_MAIN(tests)
