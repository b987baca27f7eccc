/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "interpret.h"

#include "eval.h"

#include <stdlib.h>
#include <string.h>

/* An unknown dimension takes any size. */
static bool shape_fits(const tg_shape *want, const tg_shape *got)
{
    if (want->rank < 0) return true;
    if (want->rank != got->rank) return false;
    for (int i = 0; i < want->rank; i++)
        if (want->dim[i] >= 0 && want->dim[i] != got->dim[i]) return false;
    return true;
}

tg_status tg_inputs_check(const tg_graph *g, const tg_tensor *in)
{
    char label[64], a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const tg_type *type = g->nodes[g->inputs[i]]->out;
        const char *name = tg_graph_label(g, g->inputs[i], label, sizeof label);
        if (type->dtype != TG_DTYPE_NONE && in[i].dtype != type->dtype)
            return tg_fail(TG_TYPE, "input %s is %s, not %s", name, tg_dtype_name(in[i].dtype),
                           tg_dtype_name(type->dtype));
        if (!shape_fits(&type->shape, &in[i].shape))
            return tg_fail(TG_SHAPE, "input %s has shape %s, not %s", name,
                           tg_shape_text(a, &in[i].shape), tg_shape_text(b, &type->shape));
    }
    return TG_OK;
}

/* One value of a run. Invariant: `owned` data came from tg_node_eval, `weight` data from folding.
 */
typedef struct slot {
    tg_tensor tensor;
    tg_weight *weight;
    uint32_t uses_left;
    bool owned;
} slot;

/* The slots of node `id` are slots[first[id] .. first[id] + n_out). */
typedef struct run {
    const tg_graph *g;
    const tg_tensor *in;
    slot *slots;
    uint32_t *first;
    const tg_interpreter *how;
} run;

static slot *slot_of(const run *r, tg_value v)
{
    return &r->slots[r->first[tg_value_node(v)] + tg_value_port(v)];
}

static void slot_clear(slot *s)
{
    if (s->owned) tg_tensor_free(&s->tensor);
    tg_weight_unref(s->weight);
    s->tensor.data = NULL;
    s->weight = NULL;
    s->owned = false;
}

static void slots_init(run *r)
{
    const tg_graph *g = r->g;
    uint32_t n = 0;
    r->first = tg_calloc(g->n_ids, sizeof *r->first);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        r->first[g->order[i]] = n;
        n += g->nodes[g->order[i]]->n_out;
    }
    r->slots = tg_calloc(n, sizeof *r->slots);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        for (uint32_t p = 0; p < node->n_out; p++)
            r->slots[r->first[node->id] + p].uses_left =
                tg_graph_use_count(g, tg_value_of(node->id, p));
    }
}

static void slots_done(run *r)
{
    for (uint32_t i = 0; i < r->g->n_nodes; i++) {
        const tg_node *node = r->g->nodes[r->g->order[i]];
        for (uint32_t p = 0; p < node->n_out; p++) slot_clear(&r->slots[r->first[node->id] + p]);
    }
    free(r->slots);
    free(r->first);
}

static tg_status fetch(const run *r, tg_value v, tg_tensor *t)
{
    slot *s = slot_of(r, v);
    const tg_node *maker = tg_graph_maker(r->g, v);
    if (!s->tensor.data && maker->constant) {
        TG_TRY((r->how->constant ? r->how->constant : tg_const_eval)(r->g, v, &s->weight));
        const tg_type *type = tg_graph_type(r->g, v);
        s->tensor = (tg_tensor){type->dtype, type->shape, (void *)(uintptr_t)s->weight->data};
    }
    *t = s->tensor;
    return TG_OK;
}

static void release_inputs(const run *r, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        slot *s = slot_of(r, node->in[i]);
        if (--s->uses_left == 0) slot_clear(s);
    }
}

static tg_status keep_outputs(const run *r, const tg_node *node, const tg_tensor *out)
{
    tg_status status = TG_OK;
    for (uint32_t p = 0; p < node->n_out; p++) {
        slot *s = &r->slots[r->first[node->id] + p];
        s->tensor = out[p];
        s->owned = true;
        if (r->how->see && status == TG_OK) status = r->how->see(r->how->ctx, node, p, &out[p]);
        if (!s->uses_left) slot_clear(s);
    }
    return status;
}

static tg_status run_node(const run *r, const tg_node *node, tg_tensor *in, tg_tensor *out)
{
    for (int i = 0; i < node->n_in; i++) {
        in[i] = (tg_tensor){.dtype = TG_DTYPE_NONE};
        if (node->in[i] != TG_NO_VALUE) TG_TRY(fetch(r, node->in[i], &in[i]));
    }
    TG_TRY(tg_node_eval_with(node, in, out, r->how->runner));
    tg_status status = keep_outputs(r, node, out);
    release_inputs(r, node);
    return status;
}

static void most_ports(const tg_graph *g, size_t *n_in, size_t *n_out)
{
    *n_in = *n_out = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->n_in > *n_in) *n_in = node->n_in;
        if (node->n_out > *n_out) *n_out = node->n_out;
    }
}

static tg_status run_nodes(const run *r)
{
    size_t n_in, n_out;
    most_ports(r->g, &n_in, &n_out);
    tg_tensor *in = tg_calloc(n_in + n_out + 1, sizeof *in), *out = in + n_in;
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < r->g->n_inputs; i++) {
        slot *s = slot_of(r, tg_value_of(r->g->inputs[i], 0));
        s->tensor = r->in[i];
        if (r->how->see && status == TG_OK)
            status = r->how->see(r->how->ctx, r->g->nodes[r->g->inputs[i]], 0, &r->in[i]);
    }
    for (uint32_t i = 0; i < r->g->n_nodes && status == TG_OK; i++) {
        const tg_node *node = r->g->nodes[r->g->order[i]];
        if (node->constant || node->op == TG_OP_INPUT || node->op == TG_OP_SINK) continue;
        status = run_node(r, node, in, out);
    }
    free(in);
    return status;
}

static tg_status take_outputs(const run *r, tg_tensor *out)
{
    const tg_node *sink = tg_graph_sink(r->g);
    for (int i = 0; i < sink->n_in; i++) {
        tg_tensor t;
        tg_status status = fetch(r, sink->in[i], &t);
        if (status != TG_OK) {
            while (i--) tg_tensor_free(&out[i]);
            return status;
        }
        out[i] = tg_tensor_copy(&t);
    }
    return TG_OK;
}

tg_status tg_interpret(const tg_graph *g, const tg_tensor *in, tg_tensor *out,
                       const tg_interpreter *how)
{
    static const tg_interpreter plain;
    TG_TRY(tg_inputs_check(g, in));
    run r = {.g = g, .in = in, .how = how ? how : &plain};
    slots_init(&r);
    tg_status status = run_nodes(&r);
    if (status == TG_OK && out) status = take_outputs(&r, out);
    slots_done(&r);
    return status;
}

tg_status tg_call_run(const tg_call *call, const tg_graph *body, const tg_tensor *in,
                      tg_tensor *out)
{
    if (call->runner) return call->runner->run(call->runner->ctx, body, in, out);
    return tg_interpret(body, in, out, NULL);
}
