/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random operators draw from the distributions that they name. Seeds are fixed: a bound of five
 * standard deviations fails a wrong program and no right one.
 */
#include "tests/unit/op_run.h"

enum { DRAWS = 40000, WIDE = 5 };

typedef struct moments {
    double mean, variance, skew, tail, follows; /* follows: correlation with the draw before */
    double least, most;
} moments;

static moments moments_of(const tg_tensor *t)
{
    int64_t n = tg_tensor_count(t);
    moments m = {.least = INFINITY, .most = -INFINITY};
    for (int64_t i = 0; i < n; i++) m.mean += tg_tensor_f64(t, i) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double x = tg_tensor_f64(t, i), d = x - m.mean;
        m.variance += d * d / (double)n;
        m.skew += d * d * d / (double)n;
        m.tail += d * d * d * d / (double)n;
        if (i) m.follows += d * (tg_tensor_f64(t, i - 1) - m.mean) / (double)n;
        m.least = x < m.least ? x : m.least;
        m.most = x > m.most ? x : m.most;
    }
    m.skew /= pow(m.variance, 1.5);
    m.tail /= m.variance * m.variance;
    m.follows /= m.variance;
    return m;
}

/* `deviation` is that of one draw of what is averaged. */
static void near(double got, double want, double deviation)
{
    double bound = WIDE * deviation / sqrt(DRAWS);
    if (!(fabs(got - want) <= bound)) fail_msg("%g, not %g within %g", got, want, bound);
}

/* Of a normal distribution the skew is 0 with deviation sqrt(6), the tail 3 with sqrt(24). */
static void check_normal(const tg_tensor *t, double mean, double scale)
{
    moments m = moments_of(t);
    near(m.mean, mean, scale);
    near(m.variance, scale * scale, scale * scale * sqrt(2));
    near(m.skew, 0, sqrt(6));
    near(m.tail, 3, sqrt(24));
    near(m.follows, 0, 1);
}

static void normal_numbers_have_their_moments(void **state)
{
    (void)state;
    op_result r;
    op_run(
        &r, "RandomNormal", NULL, 0,
        ATTRS(INTS("shape", 200, DRAWS / 200), REAL("mean", -3), REAL("scale", 2), REAL("seed", 7)),
        1);
    check_normal(&r.out[0], -3, 2);
    op_done(&r);
    static double zeros[DRAWS];
    op_input x = {.dtype = TG_F64, .shape = SHAPE(DRAWS), .v = zeros, .n = DRAWS};
    op_run(&r, "RandomNormalLike", INS(x), ATTRS(REAL("mean", 10), REAL("scale", 0.5)), 1);
    check_normal(&r.out[0], 10, 0.5);
    op_done(&r);
}

/* Counts in ten classes of equal probability: chi-squared with nine degrees of freedom. */
static void check_uniform(const tg_tensor *t, double low, double high)
{
    moments m = moments_of(t);
    double span = high - low, count[10] = {0}, chi = 0, each = DRAWS / 10.0;
    near(m.mean, (low + high) / 2, span / sqrt(12));
    near(m.variance, span * span / 12, span * span / sqrt(180));
    near(m.follows, 0, 1);
    assert_true(m.least >= low && m.most <= high);
    assert_true(m.least < low + span / 1000 && m.most > high - span / 1000);
    for (int i = 0; i < DRAWS; i++) count[(int)fmin((tg_tensor_f64(t, i) - low) / span * 10, 9)]++;
    for (int k = 0; k < 10; k++) chi += (count[k] - each) * (count[k] - each) / each;
    assert_true(chi > 0.5 && chi < 40);
}

static void uniform_numbers_fill_their_range(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "RandomUniform", NULL, 0,
           ATTRS(INTS("shape", DRAWS), REAL("low", -1), REAL("high", 3), REAL("seed", 1.5)), 1);
    check_uniform(&r.out[0], -1, 3);
    op_done(&r);
    static double zeros[DRAWS];
    op_input x = {.dtype = TG_F32, .shape = SHAPE(DRAWS), .v = zeros, .n = DRAWS};
    op_run(&r, "RandomUniformLike", INS(x), NO_ATTRS, 1);
    check_uniform(&r.out[0], 0, 1);
    op_done(&r);
}

/* Draws 2i and 2i + 1 have probabilities 0.1 and 0.75. */
static void bernoulli_counts_by_probability(void **state)
{
    (void)state;
    op_result r;
    static double p[2 * DRAWS];
    double ones[2] = {0};
    for (int i = 0; i < 2 * DRAWS; i++) p[i] = i % 2 ? 0.75 : 0.1;
    op_input x = {.dtype = TG_F32, .shape = SHAPE(2 * DRAWS), .v = p, .n = 2 * DRAWS};
    op_run(&r, "Bernoulli", INS(x), ATTRS(REAL("seed", 3), INT("dtype", TG_I32)), 1);
    for (int i = 0; i < 2 * DRAWS; i++) {
        int64_t v = tg_tensor_i64(&r.out[0], i);
        assert_true(v == 0 || v == 1);
        ones[i % 2] += (double)v / DRAWS;
    }
    near(ones[0], 0.1, sqrt(0.1 * 0.9));
    near(ones[1], 0.75, sqrt(0.75 * 0.25));
    op_done(&r);
}

/* The input holds logarithms of weights, up to a constant a row. */
static void multinomial_counts_by_weight(void **state)
{
    (void)state;
    op_result r;
    static const double want[2][3] = {{0.2, 0.3, 0.5}, {0.6, 0, 0.4}};
    double count[2][3] = {{0}};
    op_input x = F(SHAPE(2, 3), log(2), log(3), log(5), log(0.006), -INFINITY, log(0.004));
    op_run(&r, "Multinomial", INS(x),
           ATTRS(INT("sample_size", DRAWS), INT("dtype", TG_I64), REAL("seed", 11)), 1);
    for (int i = 0; i < 2 * DRAWS; i++) {
        int64_t c = tg_tensor_i64(&r.out[0], i);
        assert_in_range(c, 0, 2);
        count[i / DRAWS][c] += 1.0 / DRAWS;
    }
    for (int row = 0; row < 2; row++)
        for (int c = 0; c < 3; c++)
            near(count[row][c], want[row][c], sqrt(want[row][c] * (1 - want[row][c])));
    op_done(&r);
}

/* A seed repeats its numbers, another gives others. */
static void seeds_tell_runs_apart(void **state)
{
    (void)state;
    static const char *const ops[] = {"RandomNormal", "RandomUniform"};
    for (int k = 0; k < 2; k++) {
        op_result a, b, c;
        op_run(&a, ops[k], NULL, 0, ATTRS(INTS("shape", 64), REAL("seed", 1)), 1);
        op_run(&b, ops[k], NULL, 0, ATTRS(INTS("shape", 64), REAL("seed", 1)), 1);
        op_run(&c, ops[k], NULL, 0, ATTRS(INTS("shape", 64), REAL("seed", 2)), 1);
        assert_memory_equal(a.out[0].data, b.out[0].data, tg_tensor_bytes(&a.out[0]));
        int same = 0;
        for (int i = 0; i < 64; i++)
            same += tg_tensor_f64(&a.out[0], i) == tg_tensor_f64(&c.out[0], i);
        assert_true(same < 4);
        op_done(&a);
        op_done(&b);
        op_done(&c);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(normal_numbers_have_their_moments),
                                          cmocka_unit_test(uniform_numbers_fill_their_range),
                                          cmocka_unit_test(bernoulli_counts_by_probability),
                                          cmocka_unit_test(multinomial_counts_by_weight),
                                          cmocka_unit_test(seeds_tell_runs_apart)};
UNIT_MAIN(tests)
