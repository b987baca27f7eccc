/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prove.h"

#include "engine/ir/eval.h"

#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 40000,
    SITES = 3,
    CONDITION_TRIES = 400000,
    CONDITION_TAKEN = 1000,
    LARGEST = 1 << 16
};

/* The values of one run, by node id and port. */
typedef struct run {
    const tg_graph *g;
    tg_tensor **values;
} run;

/* ---- running a graph ------------------------------------------------------------------------ */

static void run_free(run *r)
{
    for (uint32_t i = 0; i < r->g->n_nodes; i++) {
        const tg_node *node = r->g->nodes[r->g->order[i]];
        tg_tensor *v = r->values[node->id];
        bool owned = node->op >= TG_OP_FIRST_REAL;
        for (int k = 0; v && owned && k < node->n_out; k++) tg_tensor_free(&v[k]);
        free(v);
    }
    free(r->values);
}

static tg_status run_node(run *r, const tg_node *node)
{
    tg_tensor in[TG_MAX_PORTS] = {0};
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE)
            in[i] = r->values[tg_value_node(node->in[i])][tg_value_port(node->in[i])];
    tg_tensor *out = tg_calloc(node->n_out + 1u, sizeof *out);
    tg_status status = tg_node_eval(node, in, out);
    if (status == TG_OK) r->values[node->id] = out;
    else free(out);
    return status;
}

/* `inputs` by the number of the input. */
static tg_status run_graph(const tg_graph *g, const tg_tensor *inputs, run *r)
{
    *r = (run){g, tg_calloc(g->n_ids, sizeof *r->values)};
    for (uint32_t i = 0; i < g->n_inputs; i++)
        r->values[g->inputs[i]] = tg_memdup(&inputs[i], sizeof inputs[i]);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op == TG_OP_CONST) {
            tg_tensor t = tg_node_tensor(node);
            r->values[node->id] = tg_memdup(&t, sizeof t);
        } else if (node->op >= TG_OP_FIRST_REAL) {
            TG_TRY(run_node(r, node));
        }
    }
    return TG_OK;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static double tolerance(tg_dtype t)
{
    if (tg_dtype_kind(t) != 'f') return 0;
    return t == TG_F16 || t == TG_BF16 ? 2e-2 : 2e-4;
}

/* The largest difference in parts of the largest element; infinite where NaN or infinity differ. */
static double difference(const tg_tensor *a, const tg_tensor *b)
{
    double scale = 1e-3, worst = 0;
    int64_t n = tg_tensor_count(a);
    for (int64_t i = 0; i < n; i++) {
        double x = fabs(tg_tensor_f64(a, i));
        if (isfinite(x) && x > scale) scale = x;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = tg_tensor_f64(a, i), y = tg_tensor_f64(b, i);
        if (x == y || (isnan(x) && isnan(y))) continue;
        double d = isfinite(x) && isfinite(y) ? fabs(x - y) / scale : INFINITY;
        if (d > worst) worst = d;
    }
    return worst;
}

static tg_status compare(const run *before, const run *after, tg_rule_report *report)
{
    const tg_node *a = tg_graph_sink(before->g), *b = tg_graph_sink(after->g);
    for (int i = 0; i < a->n_in; i++) {
        const tg_tensor *x = &before->values[tg_value_node(a->in[i])][tg_value_port(a->in[i])];
        const tg_tensor *y = &after->values[tg_value_node(b->in[i])][tg_value_port(b->in[i])];
        if (x->dtype != y->dtype || !tg_shape_equal(&x->shape, &y->shape))
            return tg_fail(TG_DIFFERS, "the results have different types");
        double d = difference(x, y);
        if (d > 0) report->exact = false;
        if (d > report->worst) report->worst = d;
        if (d > tolerance(x->dtype))
            return tg_fail(TG_DIFFERS, "result %d differs by %g of its largest element", i, d);
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

/* *ran: the graph before runs; some operators do not take all the types that are drawn. */
static tg_status run_both(const tg_graph *before, const tg_graph *after, tg_rng *rng,
                          tg_rule_report *report, bool *ran)
{
    tg_tensor *inputs = tg_calloc(before->n_inputs + 1u, sizeof *inputs);
    run a, b;
    draw_inputs(before, rng, inputs);
    tg_status status = TG_OK;
    *ran = run_graph(before, inputs, &a) == TG_OK;
    if (*ran) {
        status = run_graph(after, inputs, &b);
        if (status == TG_OK) status = compare(&a, &b, report);
        run_free(&b);
    }
    run_free(&a);
    for (uint32_t i = 0; i < before->n_inputs; i++) free(inputs[i].data);
    free(inputs);
    return status;
}

/* ---- one drawn graph ------------------------------------------------------------------------ */

typedef struct trial {
    const tg_rules *rules;
    int index;
    uint64_t skip; /* facts left out */
    tg_rng *rng;
    tg_rule_report *report;
    int taken; /* sites */
} trial;

static bool is_small(const tg_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        for (int k = 0; k < node->n_out; k++)
            if (!tg_type_complete(&node->out[k]) || tg_shape_count(&node->out[k].shape) > LARGEST)
                return false;
    }
    return true;
}

/* Sites without the dropped facts; a site that the facts allow as well does not count then. */
static void list_sites(const trial *t, const tg_graph *g, uint64_t skip, tg_arena *arena,
                       site_vec *sites)
{
    matcher *m = match_new(t->rules, g, arena, sites);
    match_skip_facts(m, skip);
    for (uint32_t i = 0; i < g->n_nodes; i++) match_run(m, t->index, g->nodes[g->order[i]]);
    match_free(m);
}

static bool has_key(const site_vec *sites, uint64_t key)
{
    for (size_t i = 0; i < sites->n; i++)
        if (sites->v[i].key == key) return true;
    return false;
}

static tg_status take_site(trial *t, const tg_graph *g, const tg_site *site, tg_arena *arena)
{
    tg_preview preview;
    tg_graph *after;
    TG_TRY(tg_site_preview(t->rules, g, site, arena, &preview));
    if (!preview.ok && !t->skip) return TG_OK; /* refused, which is allowed */
    if (!preview.ok) return tg_fail(TG_DIFFERS, "%s", preview.why_not);
    TG_TRY(tg_site_apply(t->rules, g, site, &after));
    tg_status status = TG_OK;
    bool ran = false;
    if (after->hash != tg_preview_hash(g, &preview))
        status = tg_fail(TG_DIFFERS, "the graph's hash is not the preview's");
    if (status == TG_OK) status = run_both(g, after, t->rng, t->report, &ran);
    tg_graph_unref(after);
    t->taken += ran;
    return status;
}

static tg_status try_sites(trial *t, const tg_graph *g)
{
    tg_arena *arena = tg_arena_new();
    site_vec sites = {0}, allowed = {0};
    list_sites(t, g, t->skip, arena, &sites);
    if (t->skip) list_sites(t, g, 0, arena, &allowed);
    tg_status status = TG_OK;
    for (size_t i = 0; i < sites.n && i < SITES && status == TG_OK; i++)
        if (!has_key(&allowed, sites.v[i].key)) status = take_site(t, g, &sites.v[i], arena);
    tg_vec_free(&sites);
    tg_vec_free(&allowed);
    tg_arena_free(arena);
    return status;
}

/* Draws until the rule could be taken; *fits false if it never could. */
static tg_status one_sample(trial *t, int tries, bool *fits)
{
    const tg_rule *rule = tg_rules_rule(t->rules, t->index);
    *fits = false;
    for (int i = 0; i < tries; i++) {
        tg_graph *g;
        if (sample_graph(rule, t->rng, t->skip, &g) != TG_OK) continue;
        t->taken = 0;
        tg_status status = is_small(g) ? try_sites(t, g) : TG_OK;
        if (status == TG_DIFFERS && !t->skip) {
            tg_str text = {0};
            tg_graph_print(g, &text);
            status = tg_wrap(status, "on the graph\n%s", tg_str_text(&text));
            tg_str_free(&text);
        }
        tg_graph_unref(g);
        if (status != TG_OK) return status;
        *fits = t->taken > 0;
        if (*fits) return TG_OK;
    }
    return TG_OK;
}

/* ---- proofs --------------------------------------------------------------------------------- */

static const char *fact_text(const tg_rule *rule, int i, char *buf, size_t size)
{
    snprintf(buf, size, "the condition in line %d, column %d", rule->facts[i].e->at.line,
             rule->facts[i].e->at.column);
    return buf;
}

/* Without the fact some sample must differ or fail. */
static bool earns(const tg_rules *rules, int index, int fact, uint64_t seed)
{
    tg_rng *rng = tg_rng_new(seed);
    tg_rule_report ignored = {0};
    trial t = {rules, index, (uint64_t)1 << fact, rng, &ignored, 0};
    bool earned = false;
    int taken = 0;
    for (int i = 0; i < CONDITION_TRIES && taken < CONDITION_TAKEN && !earned; i++) {
        bool fits;
        earned = one_sample(&t, 1, &fits) != TG_OK;
        taken += fits;
    }
    tg_rng_free(rng);
    return earned;
}

static tg_status prove_conditions(const tg_rules *rules, int index, uint64_t seed,
                                  tg_rule_report *report)
{
    const tg_rule *rule = tg_rules_rule(rules, index);
    char words[80];
    for (int i = 0; i < rule->n_facts; i++) {
        if (!rule->facts[i].sound) continue;
        report->conditions++;
        if (!earns(rules, index, i, seed))
            return tg_fail(TG_DIFFERS, "rule %s: %s never mattered", rule->info.name,
                           fact_text(rule, i, words, sizeof words));
        report->earned++;
    }
    return TG_OK;
}

static tg_status prove_samples(const tg_rules *rules, int index, uint64_t seed, int samples,
                               tg_rule_report *report)
{
    const char *name = tg_rules_get(rules, index)->name;
    tg_rng *base = tg_rng_new(seed);
    tg_status status = TG_OK;
    bool fits = true;
    for (int i = 0; i < samples && status == TG_OK && fits; i++) {
        tg_rng *rng = tg_rng_split(base, (uint64_t)i);
        trial t = {rules, index, 0, rng, report, 0};
        status = one_sample(&t, TRIES, &fits);
        report->seed = (uint64_t)i;
        report->samples += fits;
        report->sites += t.taken;
        tg_rng_free(rng);
    }
    tg_rng_free(base);
    if (status != TG_OK) return tg_wrap(status, "rule %s", name);
    return fits ? TG_OK : tg_fail(TG_RULE, "rule %s: no graph was drawn that it fits", name);
}

tg_status tg_rule_prove(const tg_rules *rules, int i, uint64_t seed, int samples,
                        tg_rule_report *report)
{
    *report = (tg_rule_report){.exact = true};
    TG_TRY(prove_samples(rules, i, seed, samples, report));
    return prove_conditions(rules, i, seed, report);
}

tg_status tg_rule_draw(const tg_rules *rules, int i, uint64_t seed, tg_graph **out)
{
    tg_rng *rng = tg_rng_new(seed);
    tg_status status = TG_RULE;
    for (int k = 0; k < TRIES && status != TG_OK; k++)
        status = sample_graph(tg_rules_rule(rules, i), rng, 0, out);
    tg_rng_free(rng);
    return status == TG_OK
               ? TG_OK
               : tg_fail(TG_RULE, "rule %s: no graph was drawn", tg_rules_get(rules, i)->name);
}
