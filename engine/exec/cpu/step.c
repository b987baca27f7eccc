/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps: the library's primitives and the reference kernels. */
#include "engine/ir/eval.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tg_step *tg_cpu_step(tg_cpu_plan *p, const tg_node *node, tg_step_fn run, void *own,
                     const tg_operand *operands, int n)
{
    int number = (int)p->steps.n;
    tg_step step = {.run = run, .own = own, .node = node, .n = n};
    step.operands = tg_arena_dup(p->memory, operands, sizeof *operands * (size_t)n);
    step.ptr = TG_NEW_ARRAY(p->memory, void *, n + 1);
    for (int i = 0; i < n; i++) {
        if (operands[i].buffer < 0) continue;
        tg_cpu_buffer *b = &p->buffers.v[operands[i].buffer];
        if (b->first > number) b->first = number;
        if (b->last < number) b->last = number;
    }
    tg_vec_push(&p->steps, step);
    return &tg_vec_last(&p->steps);
}

/* The library compares strides of axes of size 1 too: they are set as in `first` or `second`. */
static tg_md md_of(const tg_operand *at, tg_layout first, tg_layout second)
{
    tg_md md;
    memset(&md, 0, sizeof md);
    tg_layout l = at->layout;
    if (tg_layout_same(&at->shape, &l, &first)) l = first;
    else if (tg_layout_same(&at->shape, &l, &second)) l = second;
    md.rank = at->shape.rank ? (int32_t)at->shape.rank : 1;
    md.dtype = (int32_t)at->dtype;
    md.dim[0] = md.stride[0] = 1;
    for (int i = 0; i < at->shape.rank; i++) {
        md.dim[i] = at->shape.dim[i];
        md.stride[i] = l.stride[i] ? l.stride[i] : 1;
    }
    return md;
}

tg_md tg_cpu_md(const tg_operand *at)
{
    return md_of(at, tg_layout_last(&at->shape), tg_layout_plain(&at->shape));
}

tg_md tg_cpu_md_plain(const tg_operand *at)
{
    return md_of(at, tg_layout_plain(&at->shape), tg_layout_last(&at->shape));
}

tg_md tg_cpu_md_any(const tg_operand *at)
{
    tg_md md = tg_cpu_md(at);
    memset(md.stride, 0, sizeof md.stride);
    md.any = 1;
    return md;
}

static tg_status run_prim(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p, (void)ptr;
    return tg_prim_run(step->call);
}

typedef struct packing {
    const tg_prim *prim;
    tg_md from;
    const void *data;
} packing;

static tg_status fill_packed(void *ctx, void *data)
{
    const packing *k = ctx;
    return tg_prim_pack(k->prim, &k->from, k->data, data);
}

/* Replaces constant weights by their packed form, made once for all plans. */
static tg_status pack_weights(tg_cpu_plan *p, const tg_prim *prim, tg_operand *weights)
{
    const tg_cpu_buffer *source = &p->buffers.v[weights->buffer];
    packing k = {prim, tg_cpu_md(weights), tg_cpu_constant_data(p, weights)};
    tg_packed *pack;
    uint64_t form = tg_hash_bytes(prim->weights_hash, &k.from, sizeof k.from);
    form = tg_hash_add(form, (uint64_t)weights->layout.offset);
    TG_TRY(tg_packed_get(source->hash, form, prim->weights_bytes, fill_packed, &k, &pack));
    p->stats->weight_bytes += prim->weights_bytes;
    tg_cpu_buffer b = {.place = TG_PLACE_CONST,
                       .size = prim->weights_bytes,
                       .data = pack->data,
                       .pack = pack,
                       .hash = tg_hash_add(source->hash, form)};
    tg_vec_push(&p->buffers, b);
    weights->buffer = (int)p->buffers.n - 1;
    weights->layout.offset = 0;
    return TG_OK;
}

/* Weights that are computed while running are packed each time. */
typedef struct pack_step {
    const tg_prim *prim;
    tg_md from;
} pack_step;

static tg_status run_pack(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const pack_step *k = step->own;
    return tg_prim_pack(k->prim, &k->from, ptr[0], ptr[1]);
}

static tg_status pack_varying(tg_cpu_plan *p, const tg_prim *prim, tg_operand *weights)
{
    pack_step k = {prim, tg_cpu_md_plain(weights)};
    tg_operand packed = *weights;
    packed.buffer = tg_cpu_scratch(p, prim->weights_bytes);
    packed.layout.offset = 0;
    tg_operand operands[] = {*weights, packed};
    tg_cpu_step(p, NULL, run_pack, tg_arena_dup(p->memory, &k, sizeof k), operands, 2);
    p->stats->reorders++;
    *weights = packed;
    return TG_OK;
}

/* Notes the name of an operator that is slow, once. */
static void note_slow(tg_plan_stats *stats, const char *name)
{
    size_t n = strlen(name), at = strlen(stats->slow_names);
    for (const char *s = strstr(stats->slow_names, name); s; s = strstr(s + 1, name))
        if ((s == stats->slow_names || s[-1] == ' ') && (!s[n] || s[n] == ',')) return;
    if (at + n + sizeof ", , ..." > sizeof stats->slow_names) name = "...";
    if (at >= 3 && strcmp(stats->slow_names + at - 3, "...") == 0) return;
    snprintf(stats->slow_names + at, sizeof stats->slow_names - at, "%s%s", at ? ", " : "", name);
}

tg_status tg_cpu_prim(tg_cpu_plan *p, const tg_node *node, const tg_prim *prim,
                      const tg_prim_operands *o)
{
    tg_operand all[TG_PRIM_FIRST_POST + TG_MAX_POSTS];
    tg_operand none = {.buffer = -1};
    all[TG_PRIM_SRC] = o->src;
    all[TG_PRIM_WEIGHTS] = prim->spec.weights.rank ? o->weights : none;
    all[TG_PRIM_BIAS] = prim->spec.bias.rank ? o->bias : none;
    all[TG_PRIM_DST] = o->dst;
    all[TG_PRIM_SCRATCH] = none;
    if (prim->spec.weights.any) {
        bool constant = tg_cpu_constant_data(p, &all[TG_PRIM_WEIGHTS]) != NULL;
        TG_TRY((constant ? pack_weights : pack_varying)(p, prim, &all[TG_PRIM_WEIGHTS]));
    }
    if (prim->scratch_bytes) {
        all[TG_PRIM_SCRATCH] = (tg_operand){.dtype = TG_U8, .shape = {.rank = 0}};
        all[TG_PRIM_SCRATCH].buffer = tg_cpu_scratch(p, prim->scratch_bytes);
    }
    for (int i = 0; i < prim->spec.n_post; i++)
        all[TG_PRIM_FIRST_POST + i] = prim->spec.post[i].kind >= TG_POST_ADD ? o->post[i] : none;
    tg_step *step =
        tg_cpu_step(p, node, run_prim, NULL, all, TG_PRIM_FIRST_POST + prim->spec.n_post);
    step->prim = prim;
    p->stats->primitives++;
    if (prim->slow) {
        p->stats->slow++;
        note_slow(p->stats, node ? tg_op_get(node->op)->name : "reorder");
    }
    return TG_OK;
}

/* What a reference step needs at run time. */
typedef struct reference {
    const tg_node *node;
    bool dynamic; /* some value is allocated while running */
    const tg_runner *runner;
} reference;

/* in and out: the step's operands as tensors; absent: buffer -1. */
static tg_tensor tensor_at(const tg_cpu_plan *p, const tg_operand *at, void *ptr)
{
    if (at->buffer < 0) return (tg_tensor){.dtype = TG_DTYPE_NONE};
    if (p->buffers.v[at->buffer].place == TG_PLACE_DYNAMIC) return p->dynamic[at->buffer];
    return (tg_tensor){at->dtype, at->shape, ptr};
}

static tg_status call_kernel(const tg_node *node, const tg_tensor *in, tg_tensor *out,
                             const tg_runner *runner)
{
    tg_arena *arena = tg_arena_new();
    tg_call call = {
        tg_op_get(node->op), node->attrs->a, node->n_in, node->n_out, in, out, arena, runner};
    tg_status status = call.row->kernel(&call);
    if (status != TG_OK)
        status = tg_wrap(status, "%s%s%s", call.row->name, node->name[0] ? " " : "", node->name);
    tg_arena_free(arena);
    return status;
}

/* Evaluates into fresh memory; what has a place in the arena is copied there. */
static tg_status eval_dynamic(tg_cpu_plan *p, const tg_step *step, const tg_tensor *in,
                              void *const *ptr)
{
    const tg_node *node = step->node;
    tg_tensor *out = tg_calloc(node->n_out + 1u, sizeof *out);
    tg_status status = tg_node_eval_with(node, in, out, ((const reference *)step->own)->runner);
    for (int i = 0; status == TG_OK && i < node->n_out; i++) {
        int buffer = step->operands[node->n_in + i].buffer;
        if (p->buffers.v[buffer].place == TG_PLACE_DYNAMIC) {
            tg_tensor_free(&p->dynamic[buffer]);
            p->dynamic[buffer] = out[i];
        } else {
            memcpy(ptr[node->n_in + i], out[i].data, tg_tensor_bytes(&out[i]));
            tg_tensor_free(&out[i]);
        }
    }
    free(out);
    return status;
}

static tg_status run_reference(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    const reference *r = step->own;
    const tg_node *node = r->node;
    int n = node->n_in + node->n_out;
    tg_tensor few[16], *all = n <= 16 ? few : tg_calloc((size_t)n, sizeof *all);
    for (int i = 0; i < n; i++) all[i] = tensor_at(p, &step->operands[i], ptr[i]);
    tg_tensor *out = all + node->n_in;
    tg_status status;
    if (r->dynamic) {
        status = eval_dynamic(p, step, all, ptr);
    } else {
        for (int i = 0; i < node->n_out; i++) memset(out[i].data, 0, tg_tensor_bytes(&out[i]));
        status = call_kernel(node, all, out, r->runner);
    }
    if (all != few) free(all);
    return status;
}

static tg_operand new_dynamic(tg_cpu_plan *p, const tg_type *type)
{
    tg_cpu_buffer b = {.place = TG_PLACE_DYNAMIC};
    tg_vec_push(&p->buffers, b);
    return (tg_operand){(int)p->buffers.n - 1, type->dtype, type->shape, {0}};
}

/* A string tensor's elements point into its own allocation. */
static bool is_dynamic(const tg_type *type)
{
    return !tg_type_complete(type) || type->dtype == TG_STR;
}

tg_status tg_cpu_plan_reference(tg_cpu_plan *p, const tg_node *node)
{
    reference r = {.node = node, .runner = node->attrs->graphs ? tg_cpu_bodies(p, node) : NULL};
    tg_operand *all = tg_calloc((size_t)(node->n_in + node->n_out) + 1, sizeof *all);
    tg_status status = TG_OK;
    for (int i = 0; i < node->n_in && status == TG_OK; i++) {
        all[i].buffer = -1;
        if (node->in[i] == TG_NO_VALUE) continue;
        status = tg_cpu_value(p, node->in[i], &all[i]);
        if (status != TG_OK) break;
        if (p->buffers.v[all[i].buffer].place == TG_PLACE_DYNAMIC) r.dynamic = true;
        else status = tg_cpu_plain(p, node->in[i], &all[i]);
    }
    for (int i = 0; i < node->n_out && status == TG_OK; i++) {
        const tg_type *type = &node->out[i];
        tg_layout plain = tg_layout_plain(&type->shape);
        if (is_dynamic(type)) r.dynamic = true;
        all[node->n_in + i] = is_dynamic(type) ? new_dynamic(p, type) : tg_cpu_new(p, type, &plain);
        tg_cpu_set(p, node, (uint32_t)i, &all[node->n_in + i]);
    }
    if (status == TG_OK) {
        tg_cpu_step(p, node, run_reference, tg_arena_dup(p->memory, &r, sizeof r), all,
                    node->n_in + node->n_out);
        if (!r.runner) {
            p->stats->reference++;
            note_slow(p->stats, tg_op_get(node->op)->name);
        }
    }
    free(all);
    return status;
}
