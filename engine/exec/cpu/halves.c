/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators on halves (float16, bfloat16) that have code for floats only: a plan of their own runs
 * them on floats, which are rounded once at the end.
 */
#include "convert.h"
#include "engine/ir/build.h"
#include "engine/ir/value.h"
#include "loop.h"

#include <string.h>

enum { MOST = 8, BLOCK = 1024, SPARE = 16 }; /* inputs or outputs; elements at a time */

typedef struct halves {
    tg_plan *plan;
    int n, n_in, n_out;      /* inputs of the plan; operands before the outputs */
    int operand[MOST];       /* of each input of the plan */
    size_t at[MOST];         /* its floats in the scratch space */
    tg_type type[MOST];      /* as the plan has it */
    tg_dtype out_type[MOST]; /* as the node has it */
} halves;

static bool is_half(tg_dtype t)
{
    return t == TG_F16 || t == TG_BF16;
}

static tg_type widened(const tg_type *t)
{
    return (tg_type){is_half(t->dtype) ? TG_F32 : t->dtype, t->shape};
}

/* Both read and write a little behind the end, which the arena has room for. */
static void widen(tg_dtype dtype, const void *from, int64_t n, float *to)
{
    tg_code code = {.dtype = dtype, .scale = 1};
    for (int64_t i = 0; i < n; i += BLOCK)
        tg_convert_load(&code, (const uint16_t *)from + i, 1, (int)(n - i < BLOCK ? n - i : BLOCK),
                        to + i);
}

static void narrow(tg_dtype dtype, const float *from, int64_t n, void *to)
{
    tg_code code = {.dtype = dtype, .scale = 1};
    float block[BLOCK + SPARE] = {0};
    for (int64_t i = 0; i < n; i += BLOCK) {
        int count = (int)(n - i < BLOCK ? n - i : BLOCK);
        memcpy(block, from + i, sizeof *block * (size_t)count);
        tg_convert_store(&code, block, count, (uint16_t *)to + i, 1);
    }
}

/* ---- running ---- */

static void give(const halves *h, int i, tg_tensor *made, void *to)
{
    int64_t n = tg_tensor_count(made);
    if (is_half(h->out_type[i])) narrow(h->out_type[i], made->data, n, to);
    else memcpy(to, made->data, tg_tensor_bytes(made));
    tg_tensor_free(made);
}

static tg_status run_halves(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    const halves *h = step->own;
    tg_tensor in[MOST], out[MOST];
    float *scratch = ptr[h->n_in + h->n_out];
    (void)p;
    for (int i = 0; i < h->n; i++) {
        const tg_dtype dtype = step->operands[h->operand[i]].dtype;
        in[i] = (tg_tensor){h->type[i].dtype, h->type[i].shape, ptr[h->operand[i]]};
        if (!is_half(dtype)) continue;
        in[i].data = scratch + h->at[i];
        widen(dtype, ptr[h->operand[i]], tg_tensor_count(&in[i]), in[i].data);
    }
    TG_TRY(tg_plan_run(h->plan, in, out));
    for (int i = 0; i < h->n_out; i++) give(h, i, &out[i], ptr[h->n_in + i]);
    return TG_OK;
}

/* ---- planning ---- */

static tg_status add_constant(tg_cpu_plan *p, tg_builder *b, tg_value v, tg_value *out)
{
    tg_operand at;
    TG_TRY(tg_cpu_plain(p, v, &at));
    const void *data = tg_cpu_constant_data(p, &at);
    if (!data) return tg_fail(TG_UNSUPPORTED, "a constant that is not known");
    tg_type type = *tg_cpu_type(p, v), wide = widened(&type);
    tg_tensor t = {wide.dtype, wide.shape, NULL};
    int64_t n = tg_tensor_count(&t);
    t.data = tg_malloc(tg_tensor_bytes(&t));
    if (is_half(type.dtype)) {
        tg_tensor half = {type.dtype, type.shape, (void *)(uintptr_t)data};
        for (int64_t i = 0; i < n; i++) ((float *)t.data)[i] = (float)tg_tensor_f64(&half, i);
    } else {
        memcpy(t.data, data, tg_tensor_bytes(&t));
    }
    *out = tg_build_const(b, t.dtype, &t.shape, tg_weight_own(t.data, tg_tensor_bytes(&t)), NULL);
    return TG_OK;
}

static tg_status add_inputs(tg_cpu_plan *p, const tg_node *node, tg_builder *b, halves *h,
                            tg_value *in, size_t *floats)
{
    for (int i = 0; i < node->n_in; i++) {
        in[i] = TG_NO_VALUE;
        if (node->in[i] == TG_NO_VALUE) continue;
        if (tg_graph_maker(p->g, node->in[i])->constant) {
            TG_TRY(add_constant(p, b, node->in[i], &in[i]));
            continue;
        }
        h->operand[h->n] = i;
        h->type[h->n] = widened(tg_cpu_type(p, node->in[i]));
        h->at[h->n] = *floats;
        in[i] = tg_build_input(b, "x", &h->type[h->n]);
        if (is_half(tg_cpu_type(p, node->in[i])->dtype))
            *floats += (size_t)tg_shape_count(&h->type[h->n].shape);
        h->n++;
    }
    return TG_OK;
}

/* The node alone, on floats. Frees the builder. */
static tg_status graph_of(tg_cpu_plan *p, const tg_node *node, tg_builder *b, halves *h,
                          size_t *floats, tg_graph **g)
{
    tg_value in[MOST], out[MOST];
    const char *names[MOST];
    uint32_t id = 0;
    tg_status status = add_inputs(p, node, b, h, in, floats);
    if (status == TG_OK)
        status = tg_build_copy(b, node->op, node->attrs->a, in, node->n_in, node->n_out, NULL, &id);
    for (int i = 0; i < node->n_out && status == TG_OK; i++) {
        out[i] = tg_value_of(id, (uint32_t)i);
        names[i] = "y";
        h->out_type[i] = node->out[i].dtype;
        tg_type want = widened(&node->out[i]);
        if (!tg_type_equal(tg_build_type(b, out[i]), &want))
            status = tg_fail(TG_UNSUPPORTED, "other types of floats");
    }
    if (status != TG_OK) {
        tg_builder_free(b);
        return status == TG_NOMEM || status == TG_CANCELLED ? status
                                                            : tg_fail(TG_UNSUPPORTED, "no floats");
    }
    tg_build_outputs(b, out, names, node->n_out);
    return tg_build_done(b, g);
}

static bool fits(const tg_cpu_plan *p, const tg_node *node)
{
    bool half = false;
    if (node->attrs->graphs || node->n_in > MOST || node->n_out > MOST) return false;
    for (int i = 0; i < node->n_in; i++)
        half |= node->in[i] != TG_NO_VALUE && is_half(tg_cpu_type(p, node->in[i])->dtype);
    for (int i = 0; i < node->n_out; i++)
        if (tg_dtype_is_list(node->out[i].dtype) || !tg_shape_count(&node->out[i].shape))
            return false;
    return half;
}

static void free_plan(void *plan)
{
    tg_plan_free(plan);
}

tg_status tg_cpu_plan_halves(tg_cpu_plan *p, const tg_node *node)
{
    halves h = {.n_in = node->n_in, .n_out = node->n_out};
    tg_plan_options options = {.threads = p->threads, .job = p->job};
    size_t floats = 0;
    tg_graph *g;
    if (!fits(p, node)) return tg_fail(TG_UNSUPPORTED, "not of halves");
    TG_TRY(graph_of(p, node, tg_builder_new(p->g->origin), &h, &floats, &g));
    tg_status status = tg_plan_new(tg_backend_find("cpu"), g, &options, &h.plan);
    tg_graph_unref(g);
    TG_TRY(status);
    const tg_plan_stats *stats = tg_plan_stats_of(h.plan);
    if (stats->reference) {
        tg_plan_free(h.plan);
        return tg_fail(TG_UNSUPPORTED, "no code for floats");
    }
    tg_cpu_add_stats(p->stats, stats);
    tg_arena_hold(p->memory, free_plan, h.plan);
    return tg_cpu_loop(p, node, run_halves, &h, sizeof h, (floats + SPARE) * sizeof(float));
}
