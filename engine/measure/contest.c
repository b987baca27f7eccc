/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contest.h"

#include <math.h>

#define QUANTILE                                                                                   \
    0.25 /* of a session's samples: less disturbed than the median, steadier than least */
#define LEAST_MS 1e-9 /* of what takes no time that a clock could tell */
#define FIRST_SHARE 0.125
#define LAST_SHARE 0.6 /* a later look would leave too little for the last */

void tg_contest_init(tg_contest *c, double confidence, double smallest_effect, uint64_t seed)
{
    *c = (tg_contest){.confidence = confidence,
                      .smallest_effect = smallest_effect,
                      .next = FIRST_SHARE,
                      .interval = {1, 0, INFINITY},
                      .verdict = TG_UNSURE,
                      .rng = tg_rng_new(seed)};
}

void tg_contest_done(tg_contest *c)
{
    tg_vec_free(&c->logs);
    tg_vec_free(&c->levels);
    tg_rng_free(c->rng);
}

void tg_contest_add(tg_contest *c, const double *a, const double *b, int n)
{
    double la = log(fmax(tg_stats_quantile(a, n, QUANTILE), LEAST_MS));
    double lb = log(fmax(tg_stats_quantile(b, n, QUANTILE), LEAST_MS));
    tg_vec_push(&c->logs, lb - la);
    tg_vec_push(&c->levels, (la + lb) / 2);
}

static void look(tg_contest *c, double share)
{
    double error = (1 - c->confidence) * (share * share - c->looked * c->looked);
    c->interval = tg_stats_sessions(c->logs.v, (int)c->logs.n, 1 - error, c->rng);
    c->verdict = tg_verdict_of(&c->interval, c->smallest_effect);
    c->looked = share;
    c->next = 2 * share;
}

bool tg_contest_goes_on(tg_contest *c, double share)
{
    size_t n = c->logs.n;
    if (n < TG_CONTEST_LEAST) return true;
    bool over = share >= 1 || n >= TG_CONTEST_MOST;
    bool due = n >= TG_CONTEST_FIRST_LOOK && share >= c->next && share <= LAST_SHARE;
    if (!over && !due) return true;
    look(c, over ? 1 : share);
    return !over && c->verdict == TG_UNSURE;
}

void tg_contest_pair(const tg_contest *c, double *a, double *b)
{
    double level = exp(tg_stats_trimmed(c->levels.v, (int)c->levels.n));
    *a = level / sqrt(c->interval.estimate);
    *b = level * sqrt(c->interval.estimate);
}
