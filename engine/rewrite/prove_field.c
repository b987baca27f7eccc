/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prove_run.h"

#include "engine/base/hash.h"
#include "engine/ir/eval.h"
#include "field.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 3, REDRAWS = 8 };

/* One point: what the constants are there. */
typedef struct point {
    const bool *fixed;
    uint64_t seed;
} point;

static bool is_real(const tg_type *t)
{
    return tg_dtype_kind(t->dtype) == 'f';
}

static tg_status point_eval(void *ctx, const tg_node *node, const tg_tensor *in, tg_tensor *out)
{
    const point *p = ctx;
    return field_eval(node, p->seed, in, out);
}

/* The same in both graphs: it depends on the point and the node alone. */
static tg_status point_constant(void *ctx, const tg_node *node, tg_tensor *out)
{
    const point *p = ctx;
    if (p->fixed[node->id] || !is_real(&node->out[0])) return field_embed(out, out);
    tg_rng *rng = tg_rng_new(tg_hash_add(p->seed, node->id));
    tg_shape shape = node->out[0].shape;
    field_draw(rng, &shape, out);
    tg_rng_free(rng);
    return TG_OK;
}

static void point_inputs(const tg_graph *g, tg_rng *rng, tg_tensor *inputs)
{
    sample s = {.rng = rng};
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const tg_type *type = &g->nodes[g->inputs[i]]->out[0];
        if (is_real(type)) {
            field_draw(rng, &type->shape, &inputs[i]);
            continue;
        }
        inputs[i] = (tg_tensor){type->dtype, type->shape, NULL};
        inputs[i].data = tg_calloc(1, tg_tensor_bytes(&inputs[i]) + 1);
        sample_fill(&s, &inputs[i], 0, false);
    }
}

/* TG_DIFFERS, TG_INVALID (divides by zero), or outside. */
static tg_status at_point(const tg_graph *before, const tg_graph *after, const bool *fixed,
                          tg_rng *rng)
{
    tg_tensor *inputs = tg_calloc(before->n_inputs + 1u, sizeof *inputs);
    point p = {fixed, tg_rng_u64(rng)};
    const prove_way way = {point_eval, point_constant, &p};
    prove_run a, b = {0};
    point_inputs(before, rng, inputs);
    tg_status status = prove_run_graph(before, inputs, &way, &a);
    if (status == TG_OK) status = prove_run_graph(after, inputs, &way, &b);
    for (int i = 0; status == TG_OK && i < tg_graph_sink(before)->n_in; i++)
        if (!tg_tensor_equal(prove_run_output(&a, i), prove_run_output(&b, i))) status = TG_DIFFERS;
    prove_run_free(&a);
    if (b.g) prove_run_free(&b);
    for (uint32_t i = 0; i < before->n_inputs; i++) free(inputs[i].data);
    free(inputs);
    return status;
}

/* At a point where something divides by zero the formulas have no value: another is drawn. */
static tg_status at_points(const tg_graph *before, const tg_graph *after, const bool *fixed,
                           tg_rng *rng)
{
    int left = REDRAWS;
    for (int i = 0; i < POINTS;) {
        tg_status status = at_point(before, after, fixed, rng);
        if (status == TG_OK) i++;
        else if (status != TG_INVALID || !left--) return status;
    }
    return TG_OK;
}

/* Constants that the rule's names stand for and whose elements no condition reads may be any. */
static bool *fixed_constants(const tg_graph *g, const tg_graph *after, const tg_site *site,
                             bool all)
{
    const tg_site_binding *b = site->binding;
    uint64_t reads = sample_reads(b->rule);
    uint32_t n = g->n_ids > after->n_ids ? g->n_ids : after->n_ids;
    bool *fixed = tg_calloc(n, sizeof *fixed);
    memset(fixed, true, n * sizeof *fixed);
    for (int i = 0; i < b->rule->n_values && !all; i++) {
        const rule_value *v = &b->rule->values[i];
        if (v->node >= 0 || v->number || reads >> i & 1) continue;
        if (b->has_value >> i & 1 && b->values[i] != TG_NO_VALUE)
            fixed[tg_value_node(b->values[i])] = false;
        for (int k = 0; b->has_list >> i & 1 && k < b->lists[i].n; k++)
            if (b->lists[i].v[k] != TG_NO_VALUE) fixed[tg_value_node(b->lists[i].v[k])] = false;
    }
    return fixed;
}

/* Anything drawn at all? */
static bool has_variables(const tg_graph *g, const bool *fixed)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        bool drawn = node->op == TG_OP_INPUT || (node->op == TG_OP_CONST && !fixed[node->id]);
        if (drawn && is_real(&node->out[0]) && tg_shape_count(&node->out[0].shape)) return true;
    }
    return false;
}

static void count_agreed(const tg_graph *before, const tg_graph *after, const bool *fixed,
                         tg_rule_report *report)
{
    prove_bound bound = prove_bound_of(before, after, fixed);
    double slip = 1;
    for (int i = 0; i < POINTS; i++) slip *= bound.slip;
    report->agreed++;
    report->points = POINTS;
    if (bound.degree > report->degree) report->degree = bound.degree;
    if (slip > report->slip) report->slip = slip;
}

bool prove_in_field(const prove_case *c)
{
    tg_rng *rng = tg_rng_new(tg_hash_add(c->before->hash, c->after->hash));
    tg_status status = TG_DIFFERS;
    for (int all = 0; all < 2 && status == TG_DIFFERS; all++) {
        bool *fixed = fixed_constants(c->before, c->after, c->site, all);
        status = TG_UNSUPPORTED;
        if (has_variables(c->before, fixed)) status = at_points(c->before, c->after, fixed, rng);
        c->report->field += all == 0 && (status == TG_OK || status == TG_DIFFERS);
        if (status == TG_OK) count_agreed(c->before, c->after, fixed, c->report);
        free(fixed);
    }
    tg_rng_free(rng);
    return status == TG_OK;
}
