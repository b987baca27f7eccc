/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backend `model`: values by the reference kernels, times by the analytic cost. */
#include "backend.h"
#include "engine/ir/eval.h"
#include "engine/ops/cost.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct model {
    const tg_graph *g;
    double ms;
    tg_tensor *in; /* copies of the inputs loaded last */
} model;

static char *model_identity(char *buf, size_t size)
{
    snprintf(buf, size, "roofline 8 TFLOP/s, 300 GB/s, 5 us");
    return buf;
}

static tg_status model_plan(const tg_graph *g, const tg_plan_options *options, tg_plan_stats *stats,
                            void **state)
{
    (void)options;
    model *m = tg_calloc(1, sizeof *m);
    m->g = g;
    m->ms = tg_graph_cost_ms(g);
    m->in = tg_calloc(g->n_inputs + 1, sizeof *m->in);
    stats->steps = stats->reference = (int)tg_graph_op_count(g);
    *state = m;
    return TG_OK;
}

static tg_status model_load(void *state, const tg_tensor *in)
{
    model *m = state;
    for (uint32_t i = 0; i < m->g->n_inputs; i++) {
        tg_tensor_free(&m->in[i]);
        m->in[i] = tg_tensor_copy(&in[i]);
    }
    return TG_OK;
}

static tg_status model_run(void *state, tg_tensor *out)
{
    const model *m = state;
    return tg_reference_run(m->g, m->in, out);
}

static tg_status model_time(void *state, tg_sample *sample)
{
    const model *m = state;
    sample->wall_ns = sample->cpu_ns = (int64_t)llround(m->ms * 1e6);
    return TG_OK;
}

static tg_status model_profile(void *state, double *ms)
{
    const model *m = state;
    for (uint32_t i = 0; i < m->g->n_nodes; i++)
        ms[m->g->order[i]] += tg_node_cost_ms(m->g, m->g->nodes[m->g->order[i]]);
    return TG_OK;
}

static void model_close(void *state)
{
    model *m = state;
    for (uint32_t i = 0; i < m->g->n_inputs; i++) tg_tensor_free(&m->in[i]);
    free(m->in);
    free(m);
}

const tg_backend tg_backend_model = {
    .name = "model",
    .exact = true,
    .doc = "an analytic roofline: deterministic, the same on every machine",
    .identity = model_identity,
    .plan = model_plan,
    .load = model_load,
    .run = model_run,
    .time = model_time,
    .profile = model_profile,
    .close = model_close,
};
