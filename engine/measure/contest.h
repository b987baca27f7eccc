/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison of two sides while it is being measured: sessions come in, and after each it is
 * asked whether to go on. The interval is looked at when an eighth, a quarter and a half of the
 * budget are used and at its end, and the measuring ends early where that gives a verdict. Each
 * look may be wrong with a share of 1 - confidence of its own, which grows with the square of the
 * budget used (alpha spending: Lan and DeMets 1983), so that all looks together keep what is
 * promised, and the interval that decided is the one that is reported (repeated intervals: Jennison
 * and Turnbull 1989).
 */
#ifndef TG_MEASURE_CONTEST_H
#define TG_MEASURE_CONTEST_H

#include "engine/base/vec.h"
#include "stats.h"

/* Sessions without which there is no verdict, no early one, and after which it is over. */
enum { TG_CONTEST_LEAST = 4, TG_CONTEST_FIRST_LOOK = 8, TG_CONTEST_MOST = 128 };

/* Invariant: interval and verdict are those of the last look; without one, verdict is unsure. */
typedef struct tg_contest {
    double confidence, smallest_effect;
    TG_VEC(double) logs;   /* of the ratios b / a, one a session */
    TG_VEC(double) levels; /* logarithms of the sessions' latencies, of both sides alike */
    double looked;         /* share of the budget at the last look */
    double next;           /* and at the next; infinite: there is none before the end */
    tg_interval interval;
    tg_verdict verdict;
    tg_rng *rng;
} tg_contest;

void tg_contest_init(tg_contest *c, double confidence, double smallest_effect, uint64_t seed);
void tg_contest_done(tg_contest *c);

/* A session: n samples of each side, taken by turns; n > 0, all positive. */
void tg_contest_add(tg_contest *c, const double *a, const double *b, int n);
/* After a session, with the share of the budget that is used: true if another one is wanted. */
bool tg_contest_goes_on(tg_contest *c, double share);

/* The latencies of the two sides; their ratio is that of the interval's estimate. */
void tg_contest_pair(const tg_contest *c, double *a, double *b);

#endif
