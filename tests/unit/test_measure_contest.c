/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparisons of drawn samples: how often each verdict falls, and how often the interval holds the
 * ratio that the samples were drawn with. The noise is that of a quiet machine.
 */
#include "tests/unit/unit.h"

#include "engine/measure/contest.h"

#include <math.h>

enum { CONTESTS = 200, MANY = 1000 };

#define BUDGET_MS 10000.0

typedef struct noise {
    double run_ms, plan_ms; /* of one run, and of planning both sides */
    double drift;           /* standard deviation of the speed, which wanders over seconds */
    double jitter;          /* mean of what a run takes longer, exponentially distributed */
    double place;           /* standard deviation of what a plan's place in memory makes */
    double bursts;          /* a second: other work, for 100 ms, that slows by a fifth */
    double strays;          /* share of runs that take up to ten times as long */
} noise;

static const noise quiet = {5, 40, 0.04, 0.03, 0.007, 0.3, 0.005};
static const noise busy = {5, 60, 0.08, 0.08, 0.010, 2, 0.03};
static const noise small = {0.2, 5, 0.04, 0.05, 0.012, 0.3, 0.01};

typedef struct machine {
    const noise *n;
    tg_rng *rng;
    double now_ms, speed, burst_end_ms;
} machine;

static double exponential(tg_rng *rng, double mean)
{
    return -mean * log(1 - tg_rng_uniform(rng));
}

/* An Ornstein-Uhlenbeck process of two seconds, and bursts that come by chance. */
static void pass(machine *m, double ms)
{
    double keep = exp(-ms / 2000);
    m->now_ms += ms;
    m->speed = keep * m->speed + m->n->drift * sqrt(1 - keep * keep) * tg_rng_normal(m->rng);
    if (tg_rng_uniform(m->rng) < m->n->bursts * ms / 1000)
        m->burst_end_ms = m->now_ms + exponential(m->rng, 100);
}

static double run(machine *m, double factor)
{
    double ms = m->n->run_ms * factor * exp(m->speed) * (1 + exponential(m->rng, m->n->jitter));
    if (m->now_ms < m->burst_end_ms) ms *= 1.2 * (1 + exponential(m->rng, 0.1));
    if (tg_rng_uniform(m->rng) < m->n->strays) ms *= 1 + 9 * tg_rng_uniform(m->rng);
    pass(m, ms);
    return ms;
}

/* A session as compare.c makes it: planning, warming up, samples by turns for a while. */
static void session(machine *m, double ratio, tg_contest *c)
{
    static const int sides[] = {0, 1, 1, 0, 1, 0, 0, 1};
    TG_VEC(double) x[2] = {{0}, {0}};
    double factor[2] = {exp(m->n->place * tg_rng_normal(m->rng)),
                        ratio * exp(m->n->place * tg_rng_normal(m->rng))};
    pass(m, m->n->plan_ms);
    for (int i = 0; i < 6; i++) (void)run(m, factor[i / 3]);
    double start = m->now_ms;
    while (!x[0].n || m->now_ms - start < BUDGET_MS / 48)
        for (int i = 0; i < 8; i++) {
            int side = sides[i] ^ (int)(c->logs.n % 2);
            tg_vec_push(&x[side], run(m, factor[side]));
        }
    tg_contest_add(c, x[0].v, x[1].v, (int)x[0].n);
    for (int i = 0; i < 2; i++) tg_vec_free(&x[i]);
}

typedef struct tally {
    int verdicts[4], held;
    double ms; /* all together */
} tally;

static tally contests(const noise *n, double ratio, int count, uint64_t seed)
{
    tally t = {.ms = 0};
    for (int i = 0; i < count; i++) {
        machine m = {.n = n, .rng = tg_rng_new(seed + (uint64_t)i)};
        tg_contest c;
        tg_contest_init(&c, 0.95, 0.01, seed + (uint64_t)i);
        pass(&m, 1e6); /* the drift is somewhere */
        m.now_ms = 0;
        do session(&m, ratio, &c);
        while (tg_contest_goes_on(&c, m.now_ms / BUDGET_MS));
        t.verdicts[c.verdict]++;
        t.held += c.interval.low <= ratio && ratio <= c.interval.high;
        t.ms += m.now_ms;
        tg_contest_done(&c);
        tg_rng_free(m.rng);
    }
    return t;
}

static void expect(const char *what, const noise *n, double ratio, tg_verdict verdict, int least)
{
    tally t = contests(n, ratio, CONTESTS, 1000);
    printf("# %s: %d faster, %d slower, %d same, %d unsure; interval holds %d of %d, %.1f s each\n",
           what, t.verdicts[TG_FASTER], t.verdicts[TG_SLOWER], t.verdicts[TG_SAME],
           t.verdicts[TG_UNSURE], t.held, CONTESTS, t.ms / CONTESTS / 1000);
    if (t.verdicts[verdict] < least * CONTESTS / 100)
        fail_msg("%s: %s %d times of %d", what, tg_verdict_name(verdict), t.verdicts[verdict],
                 CONTESTS);
    assert_true(t.held >= 94 * CONTESTS / 100);
}

static void on_a_quiet_machine(void **state)
{
    (void)state;
    expect("identical", &quiet, 1, TG_SAME, 95);
    expect("3 % more", &quiet, 1.03, TG_SLOWER, 80);
    expect("3 % less", &quiet, 1 / 1.03, TG_FASTER, 80);
    expect("half as much again", &quiet, 1.5, TG_SLOWER, 99);
    expect("0.5 % more", &quiet, 1.005, TG_SAME, 80);
}

static void small_graphs(void **state)
{
    (void)state;
    expect("small, identical", &small, 1, TG_SAME, 95);
    expect("small, 3 % more", &small, 1.03, TG_SLOWER, 80);
}

/* Less is found out, but nothing that is not so. */
static void on_a_busy_machine(void **state)
{
    (void)state;
    tally t = contests(&busy, 1, CONTESTS, 5000);
    assert_true(t.verdicts[TG_FASTER] + t.verdicts[TG_SLOWER] <= 5 * CONTESTS / 100);
    assert_true(t.held >= 94 * CONTESTS / 100);
    expect("busy, a fifth more", &busy, 1.2, TG_SLOWER, 99);
}

/* A person's model may be slow to run: few sessions, and still no verdict that is not so. */
static void slow_graphs(void **state)
{
    (void)state;
    static const noise slow = {150, 400, 0.04, 0.03, 0.007, 0.3, 0.005};
    tally t = contests(&slow, 1, MANY, 7000);
    assert_true(t.verdicts[TG_FASTER] + t.verdicts[TG_SLOWER] <= 5 * MANY / 100);
    assert_true(t.held >= 94 * MANY / 100);
}

static void the_pair_says_what_the_ratio_says(void **state)
{
    (void)state;
    machine m = {.n = &busy, .rng = tg_rng_new(9)};
    tg_contest c;
    double a, b;
    tg_contest_init(&c, 0.95, 0.01, 9);
    do session(&m, 1.01, &c);
    while (tg_contest_goes_on(&c, m.now_ms / 3000));
    tg_contest_pair(&c, &a, &b);
    assert_true(fabs(b / a - c.interval.estimate) < 1e-9);
    assert_true(a > 4 && a < 8);
    tg_contest_done(&c);
    tg_rng_free(m.rng);
}

static void exact_sides_are_the_same(void **state)
{
    (void)state;
    static const double x[] = {2, 2, 2, 2};
    tg_contest c;
    tg_contest_init(&c, 0.95, 0.01, 1);
    do tg_contest_add(&c, x, x, 4);
    while (tg_contest_goes_on(&c, (double)c.logs.n / 100));
    assert_int_equal(c.verdict, TG_SAME);
    assert_true(c.logs.n < 20);
    assert_true(c.interval.low == 1 && c.interval.high == 1);
    tg_contest_done(&c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(on_a_quiet_machine),
    cmocka_unit_test(small_graphs),
    cmocka_unit_test(on_a_busy_machine),
    cmocka_unit_test(slow_graphs),
    cmocka_unit_test(the_pair_says_what_the_ratio_says),
    cmocka_unit_test(exact_sides_are_the_same),
};
UNIT_MAIN(tests)
