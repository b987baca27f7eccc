/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two graphs against each other. A session plans both anew, because where their memory lies makes a
 * difference of a per cent that no number of samples averages out, and takes samples by turns.
 */
#include "contest.h"
#include "engine/base/clock.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a session: its share of the budget, and the room that is left at random. */
enum { SHARE = 48, GAP_BYTES = 4 << 20 };

/* Invariants: the lists of a session are of one length; entry i of all was measured in one go. */
typedef struct duel {
    const tg_backend *backend;
    const tg_graph *graph[2];
    const tg_measure_options *o;
    tg_plan *plan[2];
    void *gap[2];
    int session, repeats, n;
    double plan_ms; /* of this session */
    tg_samples cpu[2], wall[2];
    tg_contest contest;
    tg_rng *rng;
} duel;

static void close_plans(duel *d)
{
    for (int i = 0; i < 2; i++) {
        tg_plan_free(d->plan[i]);
        free(d->gap[i]);
        d->plan[i] = NULL;
        d->gap[i] = NULL;
    }
}

/* Memory that is in use meanwhile, so that plans get other places than the last ones had. */
static void leave_gap(duel *d, int i)
{
    size_t size = 64 + (size_t)tg_rng_below(d->rng, GAP_BYTES / 64) * 64;
    d->gap[i] = tg_malloc(size);
    memset(d->gap[i], i + 1, size);
}

/* Every other time the second graph comes first and takes the memory that the first had. */
static tg_status open_plans(duel *d)
{
    int64_t start = tg_clock_ns();
    close_plans(d);
    for (int k = 0; k < 2; k++) {
        int i = k ^ (d->session % 2);
        if (!d->backend->outside) leave_gap(d, i);
        TG_TRY(tg_timing_plan(d->backend, d->graph[i], d->o, &d->plan[i]));
    }
    d->plan_ms = tg_timing_since(start);
    return TG_OK;
}

static tg_status take(duel *d, int side)
{
    double w, c;
    TG_TRY(tg_timing_sample(d->plan[side], d->repeats, &w, &c));
    tg_vec_push(&d->cpu[side], c);
    tg_vec_push(&d->wall[side], w);
    return TG_OK;
}

/*
 * A B B A: a drift that is even over the four touches both alike. And B A A B, because caches make
 * a run after one of its own plan faster: each side has one such in the eight.
 */
static tg_status one_round(duel *d)
{
    static const int sides[] = {0, 1, 1, 0, 1, 0, 0, 1};
    int n = d->backend->outside ? 4 : 8;
    for (int i = 0; i < n; i++) {
        TG_TRY(tg_job_poll(d->o->job));
        TG_TRY(take(d, sides[i] ^ (d->session % 2)));
    }
    return TG_OK;
}

/* At least half of the time is for measuring. */
static bool session_goes_on(const duel *d, int rounds, int64_t start)
{
    bool ready = tg_plan_ready(d->plan[0]) && tg_plan_ready(d->plan[1]);
    if (!rounds || (ready && rounds < TG_TIMING_MOST)) return true;
    double spent = tg_timing_since(start);
    return rounds < TG_TIMING_MOST / TG_CONTEST_MOST / 4 + 1 &&
           (spent < d->o->budget_ms / SHARE || spent < d->plan_ms);
}

static tg_status run_session(duel *d)
{
    int repeats[2];
    TG_TRY(tg_job_poll(d->o->job));
    TG_TRY(open_plans(d));
    for (int k = 0; k < 2; k++) {
        int i = k ^ (d->session % 2);
        TG_TRY(tg_timing_warm_up(d->plan[i], d->o, &repeats[i]));
    }
    if (!d->session) d->repeats = repeats[0] > repeats[1] ? repeats[0] : repeats[1];
    for (int i = 0; i < 2; i++) {
        tg_vec_clear(&d->cpu[i]);
        tg_vec_clear(&d->wall[i]);
    }
    int64_t start = tg_clock_ns();
    for (int rounds = 0; session_goes_on(d, rounds, start); rounds++) TG_TRY(one_round(d));
    const tg_samples *x = d->o->threads > 1 ? d->wall : d->cpu; /* other threads' time counts too */
    tg_contest_add(&d->contest, x[0].v, x[1].v, (int)x[0].n);
    d->n += (int)x[0].n;
    d->session++;
    return TG_OK;
}

static tg_status fight(duel *d)
{
    int64_t start = tg_clock_ns();
    do TG_TRY(run_session(d));
    while (tg_contest_goes_on(&d->contest, tg_timing_since(start) / d->o->budget_ms));
    return TG_OK;
}

static void report(const duel *d, tg_comparison *c)
{
    const tg_interval *r = &d->contest.interval;
    *c = (tg_comparison){.ratio = r->estimate,
                         .ratio_low = r->low,
                         .ratio_high = r->high,
                         .verdict = d->contest.verdict,
                         .n = d->n,
                         .more = tg_verdict_more(r, d->n, d->o->smallest_effect)};
    tg_contest_pair(&d->contest, &c->before_ms, &c->after_ms);
}

static tg_status compare_exact(duel *d, tg_comparison *c)
{
    tg_sample a, b;
    TG_TRY(open_plans(d));
    TG_TRY(tg_plan_time(d->plan[0], &a));
    TG_TRY(tg_plan_time(d->plan[1], &b));
    double ratio = a.wall_ns ? (double)b.wall_ns / (double)a.wall_ns : 1;
    tg_interval r = {ratio, ratio, ratio};
    *c = (tg_comparison){.before_ms = (double)a.wall_ns * 1e-6,
                         .after_ms = (double)b.wall_ns * 1e-6,
                         .ratio = ratio,
                         .ratio_low = ratio,
                         .ratio_high = ratio,
                         .verdict = tg_verdict_of(&r, d->o->smallest_effect),
                         .n = 1};
    return TG_OK;
}

static tg_status compare_measured(duel *d, tg_comparison *c)
{
    TG_TRY(tg_measure_turn_acquire(d->o->job));
    tg_status status = fight(d);
    tg_measure_turn_release();
    if (status == TG_OK) report(d, c);
    return status;
}

tg_status tg_measure_compare(const tg_backend *backend, const tg_graph *a, const tg_graph *b,
                             const tg_measure_options *options, tg_comparison *comparison)
{
    tg_measure_options o = tg_timing_options(options);
    duel d = {.backend = backend, .graph = {a, b}, .o = &o, .rng = tg_rng_new(o.seed)};
    tg_contest_init(&d.contest, o.confidence, o.smallest_effect, o.seed);
    if (o.whole_budget) d.contest.next = INFINITY;
    tg_status status =
        backend->exact ? compare_exact(&d, comparison) : compare_measured(&d, comparison);
    close_plans(&d);
    for (int i = 0; i < 2; i++) {
        tg_vec_free(&d.cpu[i]);
        tg_vec_free(&d.wall[i]);
    }
    tg_contest_done(&d.contest);
    tg_rng_free(d.rng);
    return status;
}
