/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference.h"

#include "backend.h"
#include "engine/ir/eval.h"
#include "fold.h"

#include <stdlib.h>
#include <string.h>

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
    tg_see_fn see;
    void *see_ctx;
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
        TG_TRY(tg_fold_value(r->g, v, &s->weight));
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
        if (r->see && status == TG_OK) status = r->see(r->see_ctx, node, p, &out[p]);
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
    TG_TRY(tg_node_eval(node, in, out));
    tg_status status = keep_outputs(r, node, out);
    release_inputs(r, node);
    return status;
}

static tg_status run_nodes(const run *r)
{
    tg_tensor out[TG_MAX_PORTS], *in = NULL;
    tg_status status = TG_OK;
    size_t cap = 0;
    for (uint32_t i = 0; i < r->g->n_inputs; i++) {
        slot *s = slot_of(r, tg_value_of(r->g->inputs[i], 0));
        s->tensor = r->in[i];
        if (r->see && status == TG_OK)
            status = r->see(r->see_ctx, r->g->nodes[r->g->inputs[i]], 0, &r->in[i]);
    }
    for (uint32_t i = 0; i < r->g->n_nodes && status == TG_OK; i++) {
        const tg_node *node = r->g->nodes[r->g->order[i]];
        if (node->constant || node->op == TG_OP_INPUT || node->op == TG_OP_SINK) continue;
        if (node->n_in > cap) {
            cap = node->n_in;
            in = tg_realloc(in, cap * sizeof *in);
        }
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

tg_status tg_reference_watch(const tg_graph *g, const tg_tensor *in, tg_tensor *out, tg_see_fn see,
                             void *ctx)
{
    TG_TRY(tg_inputs_check(g, in));
    run r = {.g = g, .in = in, .see = see, .see_ctx = ctx};
    slots_init(&r);
    tg_status status = run_nodes(&r);
    if (status == TG_OK && out) status = take_outputs(&r, out);
    slots_done(&r);
    return status;
}

tg_status tg_reference_run(const tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    return tg_reference_watch(g, in, out, NULL, NULL);
}
