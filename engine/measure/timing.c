/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timing.h"

#include "engine/base/clock.h"
#include "engine/exec/verify.h"

#include <math.h>

enum { WARM_UP = 3 };

/* A sample shorter than this is made of several runs, so that the clock does not matter. */
#define SHORTEST_NS 100000

tg_measure_options tg_timing_options(const tg_measure_options *options)
{
    tg_measure_options o = options ? *options : (tg_measure_options){0};
    if (o.threads < 1) o.threads = 1;
    if (!(o.budget_ms > 0)) o.budget_ms = 1000;
    if (!(o.confidence > 0)) o.confidence = 0.95;
    if (!(o.smallest_effect > 0)) o.smallest_effect = 0.01;
    return o;
}

tg_status tg_timing_load(tg_plan *plan, uint64_t seed)
{
    tg_tensor *in;
    const tg_graph *g = tg_plan_graph(plan);
    if (tg_plan_backend(plan)->outside) return TG_OK;
    TG_TRY(tg_inputs_draw(g, seed, &in));
    tg_status status = tg_plan_load(plan, in);
    tg_inputs_free(in, g->n_inputs);
    return status;
}

tg_status tg_timing_plan(const tg_backend *backend, const tg_graph *g, const tg_measure_options *o,
                         tg_plan **plan)
{
    tg_plan_options options = {.threads = o->threads, .command = o->command, .job = o->job};
    TG_TRY(tg_plan_new(backend, g, &options, plan));
    tg_status status = tg_timing_load(*plan, o->seed);
    if (status != TG_OK) {
        tg_plan_free(*plan);
        *plan = NULL;
    }
    return status;
}

tg_status tg_timing_sample(tg_plan *plan, int repeats, double *wall, double *cpu)
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

double tg_timing_since(int64_t start_ns)
{
    return (double)(tg_clock_ns() - start_ns) * 1e-6;
}

tg_status tg_timing_warm_up(tg_plan *plan, const tg_measure_options *o, int *repeats)
{
    double wall = 0, cpu, least = INFINITY;
    int64_t start = tg_clock_ns();
    *repeats = 1;
    if (tg_plan_backend(plan)->outside) return TG_OK; /* that program's own business */
    for (int i = 0; i < WARM_UP; i++) {
        TG_TRY(tg_job_poll(o->job));
        TG_TRY(tg_timing_sample(plan, 1, &wall, &cpu));
        if (wall < least) least = wall;
        if (tg_timing_since(start) > o->budget_ms / 50) break;
    }
    double ns = least * 1e6;
    if (ns < SHORTEST_NS) *repeats = (int)ceil(SHORTEST_NS / (ns < 100 ? 100 : ns));
    return TG_OK;
}
