/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

#define BACKEND(name) extern const tg_backend tg_backend_##name;
#include "backend.def"
#undef BACKEND

static const tg_backend *const backends[] = {
#define BACKEND(name) &tg_backend_##name,
#include "backend.def"
#undef BACKEND
};

enum { N_BACKENDS = sizeof backends / sizeof *backends };

struct tg_plan {
    const tg_backend *backend;
    tg_graph *g;
    tg_plan_stats stats;
    void *state;
};

const tg_backend *tg_backend_at(int i)
{
    return i >= 0 && i < N_BACKENDS ? backends[i] : NULL;
}

const tg_backend *tg_backend_find(const char *name)
{
    for (int i = 0; i < N_BACKENDS; i++)
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    return NULL;
}

const char *tg_backend_name(const tg_backend *backend)
{
    return backend->name;
}

tg_status tg_plan_new(const tg_backend *backend, const tg_graph *g, const tg_plan_options *options,
                      tg_plan **plan)
{
    tg_plan_options o = options ? *options : (tg_plan_options){0};
    if (o.threads < 1) o.threads = 1;
    tg_plan_stats stats = {0};
    void *state;
    TG_TRY(backend->plan(g, &o, &stats, &state));
    *plan = tg_malloc(sizeof **plan);
    **plan = (tg_plan){backend, tg_graph_ref(g), stats, state};
    return TG_OK;
}

void tg_plan_free(tg_plan *plan)
{
    if (!plan) return;
    plan->backend->close(plan->state);
    tg_graph_unref(plan->g);
    free(plan);
}

tg_status tg_plan_load(tg_plan *plan, const tg_tensor *in)
{
    TG_TRY(tg_inputs_check(plan->g, in));
    return plan->backend->load(plan->state, in);
}

tg_status tg_plan_run(tg_plan *plan, const tg_tensor *in, tg_tensor *out)
{
    TG_TRY(tg_plan_load(plan, in));
    return plan->backend->run(plan->state, out);
}

tg_status tg_plan_time(tg_plan *plan, tg_sample *sample)
{
    return plan->backend->time(plan->state, sample);
}

int tg_plan_ready(const tg_plan *plan)
{
    return plan->backend->ready ? plan->backend->ready(plan->state) : 0;
}

tg_status tg_plan_profile(tg_plan *plan, double *ms)
{
    return plan->backend->profile(plan->state, ms);
}

const tg_plan_stats *tg_plan_stats_of(const tg_plan *plan)
{
    return &plan->stats;
}

const tg_graph *tg_plan_graph(const tg_plan *plan)
{
    return plan->g;
}

const tg_backend *tg_plan_backend(const tg_plan *plan)
{
    return plan->backend;
}
