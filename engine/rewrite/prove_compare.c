/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prove_run.h"

#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------- */

const char *prove_where(const tg_rule *rule, char *buf)
{
    snprintf(buf, PROVE_WHERE, "%.160s:%d: rule %.60s", rule->info.file, rule->info.line,
             rule->info.name);
    return buf;
}

static void add_values(const char *label, const tg_tensor *t, tg_str *out)
{
    enum { MOST = 24 };
    char text[TG_SHAPE_TEXT];
    int64_t n = tg_tensor_count(t);
    tg_str_addf(out, "  %s: %s[%s] =", label, tg_dtype_name(t->dtype),
                tg_shape_text(text, &t->shape));
    for (int64_t i = 0; i < n && i < MOST; i++) tg_str_addf(out, " %.6g", tg_tensor_f64(t, i));
    tg_str_add(out, n > MOST ? " ...\n" : "\n");
}

/* Both graphs and what they ran on. */
static void write_detail(const prove_case *c, const tg_tensor *inputs)
{
    tg_str out = {0};
    char label[96];
    tg_str_addf(&out, "sample %d, before:\n", c->number);
    tg_graph_print(c->before, &out);
    tg_str_add(&out, "after:\n");
    tg_graph_print(c->after, &out);
    tg_str_add(&out, "on:\n");
    for (uint32_t i = 0; i < c->before->n_inputs; i++)
        add_values(tg_graph_label(c->before, c->before->inputs[i], label, sizeof label), &inputs[i],
                   &out);
    snprintf(c->report->detail, sizeof c->report->detail, "%s", tg_str_text(&out));
    tg_str_free(&out);
}

/* The name in `from` that output i is, or -1: the sample has more outputs than the rule. */
static int name_of_output(const prove_case *c, int i)
{
    const tg_site_binding *b = c->site->binding;
    tg_value v = tg_graph_sink(c->before)->in[i];
    for (int slot = 0; slot < c->rule->n_values; slot++) {
        if (b->has_value >> slot & 1 && b->values[slot] == v) return slot;
        for (int k = 0; b->has_list >> slot & 1 && k < b->lists[slot].n; k++)
            if (b->lists[slot].v[k] == v) return slot;
    }
    return -1;
}

/* Where a person finds what makes output i: the line of `from`, and that of `to`. */
static void add_lines(const prove_case *c, int slot, tg_str *out)
{
    int line = slot < 0 ? -1 : c->rule->values[slot].node;
    if (line < 0) return;
    tg_str_addf(out, "%s of line %d", c->rule->values[slot].name, c->rule->from[line].at.line);
    for (int i = 0; i < c->rule->n_results; i++) {
        const term *to = &c->rule->results[i].to;
        if (c->rule->results[i].from == slot && (to->kind == TERM_NEW || to->kind == TERM_NEWS))
            tg_str_addf(out, ", replaced by line %d", c->rule->to[to->node].at.line);
    }
    tg_str_add(out, ": ");
}

static void add_element(const tg_shape *s, int64_t at, tg_str *out)
{
    int64_t index[TG_MAX_RANK];
    for (int64_t k = s->rank - 1; k >= 0; k--) {
        index[k] = at % s->dim[k];
        at /= s->dim[k];
    }
    tg_str_addc(out, '[');
    for (int k = 0; k < s->rank; k++) tg_str_addf(out, "%s%lld", k ? "," : "", (long long)index[k]);
    tg_str_addc(out, ']');
}

/* ---- comparing ------------------------------------------------------------------------------ */

static double tolerance(tg_dtype t)
{
    if (tg_dtype_kind(t) != 'f') return 0;
    return t == TG_F16 || t == TG_BF16 ? 2e-2 : 2e-4;
}

static double scale_of(const tg_tensor *t)
{
    double scale = 1e-3;
    for (int64_t i = 0, n = tg_tensor_count(t); i < n; i++) {
        double x = fabs(tg_tensor_f64(t, i));
        if (isfinite(x) && x > scale) scale = x;
    }
    return scale;
}

static double difference_at(const tg_tensor *a, const tg_tensor *b, int64_t i, double scale)
{
    double x = tg_tensor_f64(a, i), y = tg_tensor_f64(b, i);
    if (x == y || (isnan(x) && isnan(y))) return 0;
    return isfinite(x) && isfinite(y) ? fabs(x - y) / scale : INFINITY;
}

/* Of the largest number on the way: where formulas are equal, terms that cancel leave its rounding.
 */
static double scale_of_all(const prove_run *run)
{
    double scale = 1e-3;
    for (uint32_t i = 0; i < run->g->n_nodes; i++) {
        const tg_node *node = run->g->nodes[run->g->order[i]];
        for (int k = 0; run->values[node->id] && k < node->n_out; k++) {
            const tg_tensor *t = &run->values[node->id][k];
            if (tg_dtype_kind(t->dtype) == 'f') scale = fmax(scale, scale_of(t));
        }
    }
    return scale;
}

/*
 * The largest difference in parts of `scale`; infinite where NaN or infinity differ. *first: the
 * first element that differs by more than the tolerance.
 */
static double difference(const tg_tensor *a, const tg_tensor *b, double scale, int64_t *first)
{
    double worst = 0;
    *first = -1;
    for (int64_t i = 0, n = tg_tensor_count(a); i < n; i++) {
        double d = difference_at(a, b, i, scale);
        if (d > worst) worst = d;
        if (d > tolerance(a->dtype) && *first < 0) *first = i;
    }
    return worst;
}

static void add_output(const prove_case *c, int i, const tg_tensor *t, tg_str *out)
{
    char where[PROVE_WHERE], text[TG_SHAPE_TEXT];
    tg_str_addf(out, "%s: sample %d: result %d (%s[%s]", prove_where(c->rule, where), c->number, i,
                tg_dtype_name(t->dtype), tg_shape_text(text, &t->shape));
}

static tg_status differs_in_type(const prove_case *c, int i, const tg_tensor *x, const tg_tensor *y)
{
    tg_str out = {0};
    char text[TG_SHAPE_TEXT];
    add_output(c, i, x, &out);
    tg_str_addf(&out, ") differs in its type: %s[%s] after", tg_dtype_name(y->dtype),
                tg_shape_text(text, &y->shape));
    tg_status status = tg_fail(TG_DIFFERS, "%s", tg_str_text(&out));
    tg_str_free(&out);
    return status;
}

static tg_status differs_at(const prove_case *c, int i, const tg_tensor *x, const tg_tensor *y,
                            int64_t at, double d)
{
    tg_str out = {0};
    add_output(c, i, x, &out);
    tg_str_addf(&out, ") differs by %.3g of its largest element; ", d);
    add_lines(c, name_of_output(c, i), &out);
    tg_str_add(&out, "element ");
    add_element(&x->shape, at, &out);
    tg_str_addf(&out, " is %.9g before and %.9g after", tg_tensor_f64(x, at), tg_tensor_f64(y, at));
    tg_status status = tg_fail(TG_DIFFERS, "%s", tg_str_text(&out));
    tg_str_free(&out);
    return status;
}

static tg_status compare(const prove_case *c, const prove_run *before, const prove_run *after)
{
    for (int i = 0; i < tg_graph_sink(c->before)->n_in; i++) {
        const tg_tensor *x = prove_run_output(before, i), *y = prove_run_output(after, i);
        if (x->dtype != y->dtype || !tg_shape_equal(&x->shape, &y->shape))
            return differs_in_type(c, i, x, y);
        int64_t first;
        double d = difference(x, y, c->equal ? scale_of_all(before) : scale_of(x), &first);
        if (d > 0) c->report->exact = false;
        if (d > c->report->worst) c->report->worst = d;
        if (first >= 0) return differs_at(c, i, x, y, first, d);
    }
    return TG_OK;
}

static void draw_inputs(const tg_graph *g, tg_rng *rng, tg_tensor *inputs)
{
    sample s = {.rng = rng};
    s.style = sample_below(&s, 3);
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const tg_type *type = &g->nodes[g->inputs[i]]->out[0];
        inputs[i] = (tg_tensor){type->dtype, type->shape, NULL};
        inputs[i].data = tg_calloc(1, tg_tensor_bytes(&inputs[i]) + 1);
        sample_fill(&s, &inputs[i], 0, false);
    }
}

static tg_status run_after(const prove_case *c, const tg_tensor *inputs, const prove_run *before)
{
    char where[PROVE_WHERE];
    prove_run after;
    tg_status status = prove_run_graph(c->after, inputs, NULL, &after);
    if (status == TG_OK) status = compare(c, before, &after);
    else
        status = tg_wrap(TG_DIFFERS, "%s: sample %d: what `to` makes does not run",
                         prove_where(c->rule, where), c->number);
    prove_run_free(&after);
    return status;
}

tg_status prove_in_floats(const prove_case *c, bool *ran)
{
    tg_tensor *inputs = tg_calloc(c->before->n_inputs + 1u, sizeof *inputs);
    prove_run before;
    draw_inputs(c->before, c->rng, inputs);
    *ran = prove_run_graph(c->before, inputs, NULL, &before) == TG_OK;
    tg_status status = *ran ? run_after(c, inputs, &before) : TG_OK;
    if (status != TG_OK) write_detail(c, inputs);
    prove_run_free(&before);
    for (uint32_t i = 0; i < c->before->n_inputs; i++) free(inputs[i].data);
    free(inputs);
    return status;
}
