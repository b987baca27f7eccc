/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

#include "engine/base/clock.h"
#include "engine/base/vec.h"
#include "engine/exec/verify.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 4000, WARM_UP = 3, BLOCK = 4 };

/* A sample shorter than this is made of several runs, so that the clock does not matter. */
#define SHORTEST_NS 100000

typedef TG_VEC(double) samples;

static tg_measure_options filled(const tg_measure_options *options)
{
    tg_measure_options o = options ? *options : (tg_measure_options){0};
    if (o.threads < 1) o.threads = 1;
    if (!(o.budget_ms > 0)) o.budget_ms = 1000;
    if (!(o.confidence > 0)) o.confidence = 0.95;
    if (!(o.smallest_effect > 0)) o.smallest_effect = 0.005;
    return o;
}

static tg_status new_plan(const tg_backend *backend, const tg_graph *g, const tg_measure_options *o,
                          tg_plan **plan)
{
    tg_plan_options options = {.threads = o->threads, .command = o->command};
    return tg_plan_new(backend, g, &options, plan);
}

static tg_status load_drawn(tg_plan *plan, uint64_t seed)
{
    tg_tensor *in;
    const tg_graph *g = tg_plan_graph(plan);
    TG_TRY(tg_inputs_draw(g, seed, &in));
    tg_status status = tg_plan_load(plan, in);
    tg_inputs_free(in, g->n_inputs);
    return status;
}

/* One sample: `repeats` runs, the mean of each clock in ms. */
static tg_status sample(tg_plan *plan, int repeats, double *wall, double *cpu)
{
    double w = 0, c = 0;
    for (int i = 0; i < repeats; i++) {
        tg_sample s;
        TG_TRY(tg_plan_time(plan, &s));
        w += (double)s.wall_ns;
        c += (double)s.cpu_ns;
    }
    *wall = w / repeats * 1e-6;
    *cpu = c / repeats * 1e-6;
    return TG_OK;
}

static double ms_since(int64_t start)
{
    return (double)(tg_clock_ns() - start) * 1e-6;
}

/* Runs until caches and clocks are warm; tells how many runs make a sample. */
static tg_status warm_up(tg_plan *plan, const tg_measure_options *o, int *repeats)
{
    double wall = 0, cpu, least = INFINITY;
    int64_t start = tg_clock_ns();
    for (int i = 0; i < WARM_UP; i++) {
        TG_TRY(tg_job_poll(o->job));
        TG_TRY(sample(plan, 1, &wall, &cpu));
        if (wall < least) least = wall;
        if (ms_since(start) > o->budget_ms / 2) break;
    }
    double ns = least * 1e6;
    *repeats = ns >= SHORTEST_NS ? 1 : (int)ceil(SHORTEST_NS / (ns < 100 ? 100 : ns));
    return TG_OK;
}

static bool goes_on(const tg_measure_options *o, int64_t start, size_t n)
{
    if (n < LEAST_SAMPLES) return true;
    return n < MOST_SAMPLES && ms_since(start) < o->budget_ms;
}

static tg_status collect(tg_plan *plan, const tg_measure_options *o, samples *x)
{
    int repeats;
    double wall, cpu;
    TG_TRY(warm_up(plan, o, &repeats));
    int64_t start = tg_clock_ns();
    while (goes_on(o, start, x->n)) {
        TG_TRY(tg_job_poll(o->job));
        TG_TRY(sample(plan, repeats, &wall, &cpu));
        tg_vec_push(x, wall);
    }
    return TG_OK;
}

static tg_status measure_exact(tg_plan *plan, tg_latency *latency)
{
    tg_sample s;
    TG_TRY(tg_plan_time(plan, &s));
    double ms = (double)s.wall_ns * 1e-6;
    *latency = (tg_latency){ms, ms, ms, 1, 0, NAN};
    return TG_OK;
}

tg_status tg_measure_plan(tg_plan *plan, const tg_measure_options *options, tg_latency *latency)
{
    tg_measure_options o = filled(options);
    if (tg_plan_backend(plan)->exact) return measure_exact(plan, latency);
    samples x = {0};
    TG_TRY(load_drawn(plan, o.seed));
    TG_TRY(tg_measure_turn_acquire(o.job));
    tg_status status = collect(plan, &o, &x);
    tg_measure_turn_release();
    if (status == TG_OK) {
        tg_rng *rng = tg_rng_new(o.seed);
        tg_interval i = tg_stats_bootstrap(x.v, (int)x.n, 0.5, o.confidence, rng);
        *latency = (tg_latency){
            i.estimate, i.low, i.high, (int)x.n, tg_stats_outliers(x.v, (int)x.n), NAN};
        tg_rng_free(rng);
    }
    tg_vec_free(&x);
    return status;
}

static tg_status sum_operators(const tg_backend *backend, const tg_graph *g,
                               const tg_measure_options *o, double *sum)
{
    double *ms = tg_calloc(g->n_ids, sizeof *ms);
    tg_status status = tg_measure_nodes(backend, g, o, ms);
    *sum = 0;
    for (uint32_t i = 0; i < g->n_ids && status == TG_OK; i++)
        if (!isnan(ms[i])) *sum += ms[i];
    free(ms);
    return status;
}

tg_status tg_measure_graph(const tg_backend *backend, const tg_graph *g, bool operators,
                           const tg_measure_options *options, tg_latency *latency)
{
    tg_measure_options o = filled(options);
    tg_plan *plan;
    TG_TRY(new_plan(backend, g, &o, &plan));
    tg_status status = tg_measure_plan(plan, &o, latency);
    tg_plan_free(plan);
    if (status == TG_OK && operators)
        status = sum_operators(backend, g, &o, &latency->sum_of_operators_ms);
    return status;
}

/* ---- comparing ---- */

/*
 * Sessions: plans made anew, because where their memory lies makes a difference of a per cent that
 * no number of samples averages out.
 */
enum { MOST_SESSIONS = 16, LEAST_SESSIONS = 4, FIRST_LOOK = 8, LEAST_ROUNDS = 3 };

/* Invariants: the four lists are of one length; entry i of all was measured in one go; session k
 * began with entry first[k]. */
typedef struct duel {
    const tg_backend *backend;
    const tg_graph *graph[2];
    const tg_measure_options *o;
    tg_plan *plan[2];
    int repeats;
    samples cpu[2], wall[2];
    TG_VEC(int) first;
    tg_rng *rng;
} duel;

static void close_plans(duel *d)
{
    for (int i = 0; i < 2; i++) {
        tg_plan_free(d->plan[i]);
        d->plan[i] = NULL;
    }
}

/* Every other time the second graph comes first and takes the memory that the first had. */
static tg_status open_plans(duel *d, size_t session)
{
    for (int k = 0; k < 2; k++) {
        int i = session % 2 ? 1 - k : k;
        TG_TRY(new_plan(d->backend, d->graph[i], d->o, &d->plan[i]));
        TG_TRY(load_drawn(d->plan[i], d->o->seed));
    }
    return TG_OK;
}

static tg_status take(duel *d, int side)
{
    double w, c;
    TG_TRY(sample(d->plan[side], d->repeats, &w, &c));
    tg_vec_push(&d->cpu[side], c);
    tg_vec_push(&d->wall[side], w);
    return TG_OK;
}

/* A B B A: a drift that is even over the four touches both alike. */
static tg_status round_of_four(duel *d)
{
    static const int sides[] = {0, 1, 1, 0};
    TG_TRY(tg_job_poll(d->o->job));
    for (int i = 0; i < 4; i++) TG_TRY(take(d, sides[i]));
    return TG_OK;
}

static tg_status run_session(duel *d)
{
    int repeats[2];
    size_t session = d->first.n;
    TG_TRY(tg_job_poll(d->o->job));
    close_plans(d);
    TG_TRY(open_plans(d, session));
    for (int i = 0; i < 2; i++) TG_TRY(warm_up(d->plan[i], d->o, &repeats[i]));
    if (!session) d->repeats = repeats[0] > repeats[1] ? repeats[0] : repeats[1];
    tg_vec_push(&d->first, (int)d->cpu[0].n);
    int64_t start = tg_clock_ns();
    for (int round = 0; round < LEAST_ROUNDS || ms_since(start) < d->o->budget_ms / MOST_SESSIONS;
         round++) {
        if (round * 2 * MOST_SESSIONS > MOST_SAMPLES) break;
        TG_TRY(round_of_four(d));
    }
    return TG_OK;
}

static tg_interval ratio_of(duel *d, double confidence)
{
    const samples *x = d->o->threads > 1 ? d->wall : d->cpu; /* other threads' time counts too */
    int sessions = (int)d->first.n;
    tg_vec_push(&d->first, (int)d->cpu[0].n);
    tg_interval r =
        tg_stats_ratio(x[0].v, x[1].v, d->first.v, sessions, 0.25, BLOCK, confidence, d->rng);
    d->first.n--;
    return r;
}

/* Looking often would find differences that are none: an early verdict needs more certainty. */
static bool is_clear(duel *d)
{
    if (d->first.n < FIRST_LOOK || d->first.n % 4) return false;
    tg_interval strict = ratio_of(d, 1 - (1 - d->o->confidence) / 10);
    return tg_verdict_of(&strict, d->o->smallest_effect) != TG_UNSURE;
}

static tg_status fight(duel *d)
{
    int64_t start = tg_clock_ns();
    while (d->first.n < LEAST_SESSIONS ||
           (d->first.n < MOST_SESSIONS && ms_since(start) < d->o->budget_ms && !is_clear(d)))
        TG_TRY(run_session(d));
    return TG_OK;
}

static void report(duel *d, tg_comparison *c)
{
    tg_interval r = ratio_of(d, d->o->confidence);
    int n = (int)d->cpu[0].n;
    *c = (tg_comparison){.before_ms = tg_stats_median(d->wall[0].v, n),
                         .after_ms = tg_stats_median(d->wall[1].v, n),
                         .ratio = r.estimate,
                         .ratio_low = r.low,
                         .ratio_high = r.high,
                         .verdict = tg_verdict_of(&r, d->o->smallest_effect),
                         .n = n,
                         .more = tg_verdict_more(&r, n, d->o->smallest_effect)};
}

static tg_status compare_exact(duel *d, tg_comparison *c)
{
    tg_sample a, b;
    TG_TRY(open_plans(d, 0));
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
    tg_measure_options o = filled(options);
    duel d = {.backend = backend, .graph = {a, b}, .o = &o, .rng = tg_rng_new(o.seed)};
    tg_status status =
        backend->exact ? compare_exact(&d, comparison) : compare_measured(&d, comparison);
    close_plans(&d);
    for (int i = 0; i < 2; i++) {
        tg_vec_free(&d.cpu[i]);
        tg_vec_free(&d.wall[i]);
    }
    tg_vec_free(&d.first);
    tg_rng_free(d.rng);
    return status;
}
