/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cpu backend: planning a graph, running the plan. */
#include "plan.h"

#include "absorb.h"
#include "engine/base/clock.h"
#include "engine/base/log.h"
#include "engine/ir/eval.h"
#include "quant.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

static void plan_close(void *state)
{
    tg_cpu_plan *p = state;
    for (size_t i = 0; i < p->steps.n; i++) {
        if (p->steps.v[i].close) p->steps.v[i].close(p->steps.v[i].own);
        tg_prim_unbind(p->steps.v[i].call);
    }
    for (size_t i = 0; i < p->buffers.n; i++) {
        tg_weight_unref(p->buffers.v[i].weight);
        tg_packed_unref(p->buffers.v[i].pack);
        if (p->dynamic) tg_tensor_free(&p->dynamic[i]);
    }
    tg_block_free(p->block, p->block_size);
    tg_vec_free(&p->steps);
    tg_vec_free(&p->buffers);
    tg_vec_free(&p->copies);
    free(p->dynamic);
    tg_arena_free(p->memory);
    free(p);
}

static void index_values(tg_cpu_plan *p)
{
    uint32_t n = 0;
    p->first = TG_NEW_ARRAY(p->memory, uint32_t, p->g->n_ids);
    for (uint32_t i = 0; i < p->g->n_nodes; i++) {
        p->first[p->g->order[i]] = n;
        n += p->g->nodes[p->g->order[i]]->n_out;
    }
    p->values = TG_NEW_ARRAY(p->memory, tg_operand, n + 1);
    for (uint32_t i = 0; i < n; i++) p->values[i].buffer = -1;
}

static tg_status place_inputs(tg_cpu_plan *p)
{
    char label[64];
    p->inputs = TG_NEW_ARRAY(p->memory, tg_operand, p->g->n_inputs + 1);
    for (uint32_t i = 0; i < p->g->n_inputs; i++) {
        const tg_node *node = p->g->nodes[p->g->inputs[i]];
        bool list = tg_dtype_is_list(node->out->dtype);
        if (!list && !tg_type_complete(node->out))
            return tg_fail(TG_SHAPE, "the shape of input %s is not known",
                           tg_graph_label(p->g, node->id, label, sizeof label));
        if (list || node->out->dtype == TG_STR) {
            tg_vec_push(&p->buffers, (tg_cpu_buffer){.place = TG_PLACE_DYNAMIC});
            p->inputs[i] =
                (tg_operand){(int)p->buffers.n - 1, node->out->dtype, node->out->shape, {0}};
        } else {
            tg_layout plain = tg_layout_plain(&node->out->shape);
            p->inputs[i] = tg_cpu_new(p, node->out, &plain);
            p->buffers.v[p->inputs[i].buffer].first = -1;
            p->buffers.v[p->inputs[i].buffer].last = INT32_MAX;
        }
        tg_cpu_set(p, node, 0, &p->inputs[i]);
    }
    return TG_OK;
}

static tg_status place_outputs(tg_cpu_plan *p)
{
    const tg_node *sink = tg_graph_sink(p->g);
    p->outputs = TG_NEW_ARRAY(p->memory, tg_operand, sink->n_in);
    for (int i = 0; i < sink->n_in; i++) {
        TG_TRY(tg_cpu_value(p, sink->in[i], &p->outputs[i]));
        if (p->buffers.v[p->outputs[i].buffer].place == TG_PLACE_DYNAMIC) continue;
        TG_TRY(tg_cpu_plain(p, sink->in[i], &p->outputs[i]));
        if (p->buffers.v[p->outputs[i].buffer].place == TG_PLACE_ARENA)
            p->buffers.v[p->outputs[i].buffer].last = INT32_MAX;
    }
    return TG_OK;
}

static bool runs(const tg_node *node)
{
    return !node->constant && node->op != TG_OP_INPUT && node->op != TG_OP_SINK;
}

/* What cannot run together runs one by one. */
static tg_status plan_group(tg_cpu_plan *p, const tg_group *group)
{
    tg_status status = group->passes ? tg_quant_pass(p, group)
                       : group->loop ? tg_cpu_plan_eltwise(p, group->nodes[0])
                                     : tg_cpu_plan_anchor(p, group->nodes[0]);
    if (status != TG_UNSUPPORTED) return status;
    for (int i = 0; i < group->n; i++) p->groups[group->nodes[i]->id] = NULL;
    for (int i = 0; i < group->n; i++) TG_TRY(tg_cpu_plan_node(p, group->nodes[i]));
    return TG_OK;
}

/* A group is planned in the place of its last node, when all that it reads is there. */
static tg_status plan_nodes(tg_cpu_plan *p)
{
    for (uint32_t i = 0; i < p->g->n_nodes; i++) {
        const tg_node *node = p->g->nodes[p->g->order[i]];
        if (!runs(node) || tg_quant_is_lazy(p->g, node)) continue;
        const tg_group *group = p->groups[node->id];
        if (group && node != group->nodes[group->n - 1]) continue;
        size_t steps = p->steps.n;
        TG_TRY(tg_job_poll(p->job));
        TG_TRY(group ? plan_group(p, group) : tg_cpu_plan_node(p, node));
        if (p->steps.n == steps) p->stats->views++;
    }
    return TG_OK;
}

static void *place_of(const tg_cpu_plan *p, const tg_operand *at)
{
    if (at->buffer < 0) return NULL;
    const tg_cpu_buffer *b = &p->buffers.v[at->buffer];
    char *base = b->place == TG_PLACE_CONST ? b->data : (char *)p->block + b->at;
    if (b->place == TG_PLACE_DYNAMIC) return NULL;
    return base + at->layout.offset * (int64_t)tg_dtype_size(at->dtype);
}

static tg_status bind_step(const tg_cpu_plan *p, tg_step *step)
{
    for (int i = 0; i < step->n; i++) step->ptr[i] = place_of(p, &step->operands[i]);
    if (!step->prim) return TG_OK;
    tg_prim_args args = {.src = step->ptr[TG_PRIM_SRC],
                         .weights = step->ptr[TG_PRIM_WEIGHTS],
                         .bias = step->ptr[TG_PRIM_BIAS],
                         .dst = step->ptr[TG_PRIM_DST],
                         .scratch = step->ptr[TG_PRIM_SCRATCH]};
    for (int i = 0; i < step->prim->spec.n_post; i++)
        args.post[i] = step->ptr[TG_PRIM_FIRST_POST + i];
    return tg_prim_bind(step->prim, &args, &step->call);
}

/* Vector code may read a little past the end of the last buffer. */
enum { SPARE = 4096 };

static tg_status bind_all(tg_cpu_plan *p)
{
    p->stats->steps = (int)p->steps.n;
    p->stats->peak_bytes = tg_cpu_lay_out(p->buffers.v, p->buffers.n);
    p->block_size = p->stats->peak_bytes + SPARE;
    p->block = tg_block_new(p->block_size);
    p->dynamic = tg_calloc(p->buffers.n + 1, sizeof *p->dynamic);
    for (size_t i = 0; i < p->steps.n; i++) {
        TG_TRY(tg_job_poll(p->job));
        TG_TRY(bind_step(p, &p->steps.v[i]));
    }
    return TG_OK;
}

/* Says what is slow, once a plan. */
static void tell(const tg_cpu_plan *p)
{
    const tg_plan_stats *s = p->stats;
    if (s->slow)
        tg_log(TG_LOG_NOTE, "%d primitives run scalar code of the library (%s)", s->slow,
               s->slow_names);
    else if (s->reference)
        tg_log(TG_LOG_DEBUG, "%d operators run by their reference kernels (%s)", s->reference,
               s->slow_names);
}

static tg_status plan_all(tg_cpu_plan *p)
{
    index_values(p);
    TG_TRY(place_inputs(p));
    p->groups = tg_absorb(p);
    TG_TRY(plan_nodes(p));
    TG_TRY(place_outputs(p));
    TG_TRY(bind_all(p));
    tell(p);
    return TG_OK;
}

static tg_status plan_open(const tg_graph *g, const tg_plan_options *options, tg_plan_stats *stats,
                           void **state)
{
    tg_cpu_plan *p = tg_calloc(1, sizeof *p);
    p->g = g;
    p->stats = stats;
    p->threads = options->threads;
    p->job = options->job;
    p->memory = tg_arena_new();
    tg_prim_threads(p->threads);
    tg_status status = plan_all(p);
    p->stats = NULL;
    if (status != TG_OK) {
        plan_close(p);
        return status;
    }
    *state = p;
    return TG_OK;
}

static tg_status plan_load(void *state, const tg_tensor *in)
{
    tg_cpu_plan *p = state;
    for (uint32_t i = 0; i < p->g->n_inputs; i++) {
        void *to = place_of(p, &p->inputs[i]);
        if (to) {
            memcpy(to, in[i].data, tg_tensor_bytes(&in[i]));
            continue;
        }
        tg_tensor *t = &p->dynamic[p->inputs[i].buffer];
        tg_tensor_free(t);
        *t = tg_tensor_copy(&in[i]);
    }
    p->ready = true;
    return TG_OK;
}

/* Denormal numbers cost a hundred times as much and never matter: zero while running. */
static unsigned flush_denormals(void)
{
#ifdef __SSE__
    unsigned old = _mm_getcsr();
    _mm_setcsr(old | 0x8040);
    return old;
#else
    return 0;
#endif
}

static void restore_denormals(unsigned old)
{
#ifdef __SSE__
    _mm_setcsr(old);
#else
    (void)old;
#endif
}

static tg_status run_steps(tg_cpu_plan *p)
{
    if (!p->ready) return tg_fail(TG_BACKEND, "no inputs are loaded");
    tg_prim_threads(p->threads);
    unsigned old = flush_denormals();
    tg_status status = TG_OK;
    for (size_t i = 0; i < p->steps.n && status == TG_OK; i++) {
        status = tg_job_poll(p->job);
        if (status == TG_OK) status = p->steps.v[i].run(p, &p->steps.v[i], p->steps.v[i].ptr);
    }
    restore_denormals(old);
    return status;
}

static tg_status plan_run(void *state, tg_tensor *out)
{
    tg_cpu_plan *p = state;
    TG_TRY(run_steps(p));
    for (int i = 0; i < tg_graph_sink(p->g)->n_in; i++) {
        const tg_operand *at = &p->outputs[i];
        void *from = place_of(p, at);
        tg_tensor t = from ? (tg_tensor){at->dtype, at->shape, from} : p->dynamic[at->buffer];
        out[i] = tg_tensor_copy(&t);
    }
    return TG_OK;
}

static tg_status plan_time(void *state, tg_sample *sample)
{
    int64_t wall = tg_clock_ns(), cpu = tg_clock_thread_ns();
    TG_TRY(run_steps(state));
    sample->cpu_ns = tg_clock_thread_ns() - cpu;
    sample->wall_ns = tg_clock_ns() - wall;
    return TG_OK;
}

static tg_status plan_profile(void *state, double *ms)
{
    tg_cpu_plan *p = state;
    if (!p->ready) return tg_fail(TG_BACKEND, "no inputs are loaded");
    tg_prim_threads(p->threads);
    unsigned old = flush_denormals();
    tg_status status = TG_OK;
    for (size_t i = 0; i < p->steps.n && status == TG_OK; i++) {
        const tg_step *step = &p->steps.v[i];
        int64_t start = tg_clock_ns();
        status = step->run(p, step, step->ptr);
        if (step->node) ms[step->node->id] += (double)(tg_clock_ns() - start) * 1e-6;
    }
    restore_denormals(old);
    return status;
}

const tg_backend tg_backend_cpu = {
    .name = "cpu",
    .doc = "oneDNN on this machine's processor",
    .identity = tg_prim_identity,
    .plan = plan_open,
    .load = plan_load,
    .run = plan_run,
    .time = plan_time,
    .profile = plan_profile,
    .close = plan_close,
};
