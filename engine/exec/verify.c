/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify.h"

#include "backend.h"
#include "engine/base/log.h"
#include "engine/base/rng.h"
#include "engine/ir/eval.h"
#include "engine/ir/list.h"
#include "engine/ops/cost.h"
#include "engine/ops/ops.h"
#include "reference.h"
#include "region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How numbers are drawn. */
typedef enum manner { ANY, NOT_NEGATIVE, ZERO_INTEGERS } manner;

static void draw(tg_tensor *t, tg_rng *rng, manner how)
{
    static const tg_string words[] = {{"0", 1}, {"1", 1}, {"", 0}, {"a b", 3}};
    int64_t n = tg_tensor_count(t);
    char kind = tg_dtype_kind(t->dtype);
    for (int64_t i = 0; i < n; i++) {
        if (t->dtype == TG_STR) {
            ((tg_string *)t->data)[i] = words[how == ZERO_INTEGERS ? 0 : tg_rng_below(rng, 4)];
        } else if (kind == 'f') {
            double x = tg_rng_normal(rng);
            tg_tensor_set_f64(t, i, how == NOT_NEGATIVE ? fabs(x) : x);
        } else {
            int64_t x = (int64_t)tg_rng_below(rng, 2);
            tg_tensor_set_i64(t, i, how == ZERO_INTEGERS ? 0 : x);
        }
    }
}

/* A value of the type, whose shape is complete. */
static tg_tensor draw_tensor(const tg_type *type, tg_rng *rng, manner how)
{
    tg_tensor t = {type->dtype, type->shape, NULL};
    t.data = tg_calloc(1, tg_tensor_bytes(&t) + 1);
    draw(&t, rng, how);
    return t;
}

/*
 * Shapes in lists are not known: lists of two, or single numbers where these did not do. Sequences
 * have three items, optionals hold something.
 */
static tg_tensor draw_list(tg_dtype dtype, tg_rng *rng, manner how)
{
    enum { ITEMS = 3, SIZE = 2 };
    tg_dtype held = tg_dtype_item(dtype);
    tg_type item = {held, how == ZERO_INTEGERS ? (tg_shape){.rank = 0} : tg_shape_of(SIZE)};
    tg_list *list = tg_list_new((unsigned)dtype & TG_OPT ? 1 : ITEMS);
    for (int64_t i = 0; i < list->n; i++)
        tg_list_give(list, i,
                     tg_dtype_is_list(held) ? draw_list(held, rng, how)
                                            : draw_tensor(&item, rng, how));
    return tg_list_value(dtype, list);
}

static bool can_draw(const tg_type *type)
{
    return tg_dtype_is_list(type->dtype) || tg_type_complete(type);
}

/* The number that an input is compared with, if it is a constant of the graph. */
static bool compared_with(const tg_graph *g, uint32_t input, int64_t *x)
{
    uint32_t n;
    const tg_use *use = tg_graph_uses(g, input, &n);
    for (uint32_t i = 0; i < n; i++) {
        const tg_node *node = g->nodes[use[i].node];
        if (node->op != TG_OP(Equal) || node->n_in != 2) continue;
        const tg_node *other = tg_graph_maker(g, node->in[1 - use[i].slot]);
        if (other->op != TG_OP_CONST || tg_shape_count(&other->out[0].shape) != 1) continue;
        tg_tensor t = tg_node_tensor(other);
        *x = tg_tensor_i64(&t, 0);
        return true;
    }
    return false;
}

static tg_status draw_all(const tg_graph *g, uint64_t seed, const manner *how, tg_tensor **tensors)
{
    char label[64];
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (!can_draw(g->nodes[g->inputs[i]]->out))
            return tg_fail(TG_SHAPE, "the shape of input %s is not known",
                           tg_graph_label(g, g->inputs[i], label, sizeof label));
    tg_rng *rng = tg_rng_new(seed);
    tg_tensor *all = tg_calloc(g->n_inputs + 1, sizeof *all);
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const tg_type *type = g->nodes[g->inputs[i]]->out;
        manner manner = how ? how[i] : ANY;
        all[i] = tg_dtype_is_list(type->dtype) ? draw_list(type->dtype, rng, manner)
                                               : draw_tensor(type, rng, manner);
        int64_t x;
        if (type->dtype == TG_I64 && tg_tensor_count(&all[i]) == 1 &&
            compared_with(g, g->inputs[i], &x))
            tg_tensor_set_i64(&all[i], 0, x);
    }
    tg_rng_free(rng);
    *tensors = all;
    return TG_OK;
}

tg_status tg_inputs_draw(const tg_graph *g, uint64_t seed, tg_tensor **tensors)
{
    return draw_all(g, seed, NULL, tensors);
}

void tg_inputs_free(tg_tensor *tensors, uint32_t n)
{
    for (uint32_t i = 0; tensors && i < n; i++) tg_tensor_free(&tensors[i]);
    free(tensors);
}

/* By the cpu plan where it can run the graph. */
static tg_status run_best(const tg_job *job, const tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    tg_plan *plan;
    tg_plan_options options = {.job = job};
    tg_status status = tg_plan_new(tg_backend_find("cpu"), g, &options, &plan);
    if (status == TG_OK) {
        status = tg_plan_run(plan, in, out);
        tg_plan_free(plan);
    }
    if (status != TG_UNSUPPORTED && status != TG_SHAPE) return status;
    return tg_reference_run(g, in, out);
}

static double depth_of(const tg_graph *g);

/* Terms that are summed for one element of a node's result. */
static double terms(const tg_graph *g, const tg_node *node)
{
    double n = 1, out = 1;
    for (uint32_t i = 0; node->attrs->graphs && i < node->attrs->n; i++)
        if (node->attrs->a[i].kind == TG_ATTR_GRAPH) n = fmax(n, depth_of(node->attrs->a[i].graph));
    if (node->attrs->graphs) return n;
    if (node->n_out && tg_type_complete(&node->out[0]))
        out = fmax(1, (double)tg_shape_count(&node->out[0].shape));
    if (node->n_in && node->in[0] != TG_NO_VALUE && tg_type_complete(tg_graph_type(g, node->in[0])))
        n = fmax(n, (double)tg_shape_count(&tg_graph_type(g, node->in[0])->shape) / out);
    return fmax(n, tg_node_work(g, node).flops / 2 / out);
}

/* The most terms that are summed on any way through the graph. */
static double depth_of(const tg_graph *g)
{
    double *depth = tg_calloc(g->n_ids, sizeof *depth), most = 1;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        double d = 0;
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE) d = fmax(d, depth[tg_value_node(node->in[k])]);
        if (tg_op_get(node->op)->flags & TG_ACCUMULATES && !node->constant) d += terms(g, node);
        depth[node->id] = d;
        most = fmax(most, d);
    }
    free(depth);
    return most;
}

/* What tg_verify works on. */
typedef struct check {
    const tg_job *job;
    const tg_graph *before, *after;
    tg_tensor *want, *got;
    tg_verify_report report;
} check;

/* Zeros, infinities and NaN agree whatever a graph does. */
static bool tells(const tg_tensor *t)
{
    if (tg_dtype_kind(t->dtype) != 'f') return true;
    for (int64_t i = 0; i < tg_tensor_count(t); i++) {
        double x = tg_tensor_f64(t, i);
        if (isfinite(x) && x != 0) return true;
    }
    return false;
}

static tg_status compare_outputs(check *c)
{
    double depth = fmax(depth_of(c->before), depth_of(c->after)), max_abs, relative;
    const tg_node *sink = tg_graph_sink(c->before);
    tg_status status = TG_OK;
    for (int i = 0; i < sink->n_in; i++) {
        tg_status one = tg_tensor_compare(&c->want[i], &c->got[i], depth, &max_abs, &relative);
        c->report.compared++;
        c->report.telling += tells(&c->want[i]);
        if (max_abs > c->report.max_abs_error) c->report.max_abs_error = max_abs;
        bool first_failure = one != TG_OK && status == TG_OK;
        if (first_failure || (status == TG_OK && relative > c->report.max_relative)) {
            c->report.max_relative = relative;
            c->report.worst_output = (uint32_t)i;
            c->report.worst_value = sink->in[i];
        }
        const char *name = c->before->output_names[i];
        if (first_failure)
            status = tg_wrap(TG_DIFFERS, "output %s", *name ? name : "of the changed part");
    }
    return status;
}

static void free_outputs(const tg_graph *g, tg_tensor *t)
{
    for (int i = 0; t && i < tg_graph_sink(g)->n_in; i++) tg_tensor_free(&t[i]);
    free(t);
}

static tg_status run_and_compare(check *c, const tg_tensor *in)
{
    int n = tg_graph_sink(c->before)->n_in;
    if (n != tg_graph_sink(c->after)->n_in || c->before->n_inputs != c->after->n_inputs)
        return tg_fail(TG_DIFFERS, "the graphs differ in number of inputs or outputs");
    tg_tensor *want = tg_calloc((size_t)n, sizeof *want), *got = tg_calloc((size_t)n, sizeof *got);
    tg_status status = run_best(c->job, c->before, in, want);
    if (status == TG_OK) c->want = want;
    else free(want);
    if (status == TG_OK && (status = run_best(c->job, c->after, in, got)) == TG_OK) c->got = got;
    else free(got);
    if (status == TG_OK) status = compare_outputs(c);
    free_outputs(c->before, c->want);
    free_outputs(c->after, c->got);
    c->want = c->got = NULL;
    return status;
}

static bool has_bodies(const tg_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[g->order[i]]->attrs->graphs) return true;
    return false;
}

/* Conditions that are inputs, or compare one with a number, take the other way. */
static void flip_conditions(const tg_graph *g, tg_tensor *in)
{
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        int64_t x;
        if (tg_dtype_is_list(in[i].dtype) || tg_tensor_count(&in[i]) != 1) continue;
        if (in[i].dtype == TG_BOOL) tg_tensor_set_i64(&in[i], 0, !tg_tensor_i64(&in[i], 0));
        else if (in[i].dtype == TG_I64 && compared_with(g, g->inputs[i], &x))
            tg_tensor_set_i64(&in[i], 0, x + 1);
    }
}

/* Both ways where there are bodies: one may not be made for inputs of this size. */
static tg_status verify_ways(check *c, tg_tensor *in)
{
    tg_status status = run_and_compare(c, in);
    if (status == TG_DIFFERS || !has_bodies(c->before)) return status;
    char *words = tg_strdup(status == TG_OK ? "" : tg_message());
    flip_conditions(c->before, in);
    tg_status other = run_and_compare(c, in);
    if (status == TG_OK && other != TG_DIFFERS) other = TG_OK;
    else if (other != TG_OK && other != TG_DIFFERS) other = tg_fail(status, "%s", words);
    free(words);
    return other;
}

static tg_status verify_drawn(check *c, uint64_t seed, const manner *how)
{
    tg_tensor *in;
    TG_TRY(draw_all(c->before, seed, how, &in));
    tg_status status = verify_ways(c, in);
    tg_inputs_free(in, c->before->n_inputs);
    return status;
}

/* An index of 1 may lie outside: then all integers are 0. */
static tg_status verify_drawn_twice(check *c, uint64_t seed)
{
    tg_status status = verify_drawn(c, seed, NULL);
    if (status == TG_OK || status == TG_DIFFERS || status == TG_UNSUPPORTED) return status;
    manner *how = tg_calloc(c->before->n_inputs + 1, sizeof *how);
    for (uint32_t i = 0; i < c->before->n_inputs; i++) how[i] = ZERO_INTEGERS;
    status = verify_drawn(c, seed, how);
    free(how);
    return status;
}

tg_status tg_verify_for(const tg_job *job, const tg_graph *before, const tg_graph *after,
                        uint64_t seed, const tg_tensor *in, tg_verify_report *report)
{
    check c = {
        .job = job, .before = before, .after = after, .report = {.seed = seed, .whole = true}};
    tg_status status = in ? run_and_compare(&c, in) : verify_drawn_twice(&c, seed);
    if (report && (status == TG_OK || status == TG_DIFFERS)) *report = c.report;
    if (status == TG_OK && c.report.compared && !c.report.telling)
        tg_log(TG_LOG_WARN,
               "all outputs are 0 or not finite on random inputs: that they agree says "
               "little about the whole graph");
    return status;
}

tg_status tg_verify(const tg_graph *before, const tg_graph *after, uint64_t seed,
                    const tg_tensor *in, tg_verify_report *report)
{
    return tg_verify_for(NULL, before, after, seed, in, report);
}

/* Values of these are never below 0, and what reads them may count on it. */
static bool never_negative(const tg_node *maker)
{
    static const char *const names[] = {
        "Relu",     "Sigmoid",  "Exp",      "Softmax",     "Sqrt",           "Abs",
        "Softplus", "ReduceL1", "ReduceL2", "HardSigmoid", "ReduceSumSquare"};
    const char *name = tg_op_get(maker->op)->name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    int at = tg_op_attr_index(maker->op, "min");
    if (at >= 0 && maker->attrs->a[at].kind == TG_ATTR_FLOAT) return maker->attrs->a[at].f >= 0;
    at = tg_op_attr_index(maker->op, "activation");
    const tg_attr *a = at < 0 ? NULL : &maker->attrs->a[at];
    return a && a->kind == TG_ATTR_STR && (!strcmp(a->s, "Relu") || !strcmp(a->s, "Sigmoid"));
}

static tg_status verify_region(const tg_job *job, const tg_graph *before, const tg_region *r,
                               uint64_t seed, tg_verify_report *report)
{
    check c = {.job = job, .before = r->before, .after = r->after, .report = {.seed = seed}};
    manner *how = tg_calloc(r->n_inputs + 1, sizeof *how);
    for (uint32_t i = 0; i < r->n_inputs; i++)
        if (never_negative(tg_graph_maker(before, r->inputs[i]))) how[i] = NOT_NEGATIVE;
    tg_status status = verify_drawn(&c, seed, how);
    free(how);
    if (r->n_outputs) c.report.worst_value = r->outputs[c.report.worst_output];
    if (status == TG_OK && report) *report = c.report;
    return status;
}

/* The node of the first graph whose place `node` took, with another body. */
static const tg_node *remade_from(const tg_graph *before, const tg_graph *after,
                                  const tg_node *node)
{
    for (uint32_t i = 0; i < after->n_gone; i++) {
        const tg_node *old = before->nodes[after->gone[i]];
        if (old->attrs->graphs && old->op == node->op && old->group == node->group &&
            old->n_in == node->n_in && !memcmp(old->in, node->in, node->n_in * sizeof *node->in))
            return old;
    }
    return NULL;
}

/* The only node that came, if it is one that has another body now; else NULL. */
static const tg_node *only_body(const tg_graph *before, const tg_graph *after)
{
    const tg_node *found = NULL;
    for (uint32_t i = 0; i < after->n_come; i++) {
        const tg_node *node = after->nodes[after->come[i]];
        if (tg_graph_node(before, node->id)) continue;
        if (found || !node->attrs->graphs) return NULL;
        found = node;
    }
    return found;
}

/* A rewrite inside a body is one of a graph: that of the body. TG_UNSUPPORTED: this was none. */
static tg_status verify_body(const tg_job *job, const tg_graph *before, const tg_graph *after,
                             uint64_t seed, tg_verify_report *report)
{
    const tg_node *node = only_body(before, after);
    const tg_node *old = node && after->n_gone == 1 ? remade_from(before, after, node) : NULL;
    for (uint32_t i = 0; old && i < node->attrs->n; i++) {
        const tg_attr *a = &old->attrs->a[i], *b = &node->attrs->a[i];
        if (a->kind != TG_ATTR_GRAPH || a->graph == b->graph) continue;
        TG_TRY(tg_verify_step_for(job, a->graph, b->graph, seed, report));
        if (report) report->worst_value = tg_value_of(old->id, 0);
        return TG_OK;
    }
    return tg_fail(TG_UNSUPPORTED, "not in a body");
}

tg_status tg_verify_step(const tg_graph *before, const tg_graph *after, uint64_t seed,
                         tg_verify_report *report)
{
    return tg_verify_step_for(NULL, before, after, seed, report);
}

tg_status tg_verify_step_for(const tg_job *job, const tg_graph *before, const tg_graph *after,
                             uint64_t seed, tg_verify_report *report)
{
    tg_region r;
    if (verify_body(job, before, after, seed, report) == TG_OK) return TG_OK;
    if (tg_region_cut(before, after, &r) == TG_OK) {
        tg_status status = TG_OK;
        if (r.before) status = verify_region(job, before, &r, seed, report);
        else if (report) *report = (tg_verify_report){.seed = seed};
        tg_region_done(&r);
        if (status == TG_OK) return TG_OK;
    }
    return tg_verify_for(job, before, after, seed, NULL, report);
}
