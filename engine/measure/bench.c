/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timing.h"

#include "engine/base/clock.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_SAMPLES = 5, BLOCKS = 16 };

static bool goes_on(const tg_plan *plan, const tg_measure_options *o, int64_t start, size_t n)
{
    if (n < LEAST_SAMPLES) return true;
    bool time = tg_timing_since(start) < o->budget_ms || tg_plan_ready(plan);
    return n < TG_TIMING_MOST && time;
}

static tg_status collect(tg_plan *plan, const tg_measure_options *o, tg_samples *x)
{
    int repeats;
    double wall, cpu;
    TG_TRY(tg_timing_warm_up(plan, o, &repeats));
    int64_t start = tg_clock_ns();
    while (goes_on(plan, o, start, x->n)) {
        TG_TRY(tg_job_poll(o->job));
        TG_TRY(tg_timing_sample(plan, repeats, &wall, &cpu));
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
    tg_measure_options o = tg_timing_options(options);
    if (tg_plan_backend(plan)->exact) return measure_exact(plan, latency);
    tg_samples x = {0};
    TG_TRY(tg_timing_load(plan, o.seed));
    TG_TRY(tg_measure_turn_acquire(o.job));
    tg_status status = collect(plan, &o, &x);
    tg_measure_turn_release();
    if (status == TG_OK) {
        tg_rng *rng = tg_rng_new(o.seed);
        tg_interval i =
            tg_stats_bootstrap(x.v, (int)x.n, 0.5, 1 + (int)x.n / BLOCKS, o.confidence, rng);
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
    tg_measure_options o = tg_timing_options(options);
    tg_plan *plan;
    TG_TRY(tg_timing_plan(backend, g, &o, &plan));
    tg_status status = tg_measure_plan(plan, &o, latency);
    tg_plan_free(plan);
    if (status == TG_OK && operators && !backend->outside)
        status = sum_operators(backend, g, &o, &latency->sum_of_operators_ms);
    return status;
}
