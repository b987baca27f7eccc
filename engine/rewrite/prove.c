/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prove_run.h"

#include "sample.h"

#include <stdio.h>
#include <string.h>

enum {
    TRIES = 40000,
    DRAW_TRIES = 10000, /* for one graph; the rarest forms of the library need about a thousand */
    SITES = 3,
    CONDITION_TRIES = 400000,
    CONDITION_TAKEN = 1000,
    LARGEST = 1 << 16
};

/* ---- one drawn graph ------------------------------------------------------------------------ */

typedef struct trial {
    const tg_rules *rules;
    int index, number; /* of the rule; of the sample */
    uint64_t skip;     /* facts left out */
    tg_rng *rng;
    tg_rule_report *report;
    int taken; /* sites */
    /* Why so many draws came to nothing: not built, no site, refused by the preview. */
    int unbuilt, unfit, refused;
    char why_unbuilt[200], why_refused[200];
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

/* Both ways of comparing. */
static tg_status compare_both(trial *t, const tg_graph *g, const tg_site *site,
                              const tg_graph *after)
{
    prove_case c = {.rule = tg_rules_rule(t->rules, t->index),
                    .number = t->number,
                    .before = g,
                    .after = after,
                    .site = site,
                    .rng = t->rng,
                    .report = t->report};
    bool ran;
    c.equal = prove_in_field(&c);
    tg_status status = prove_in_floats(&c, &ran);
    t->taken += ran;
    return status;
}

static tg_status take_site(trial *t, const tg_graph *g, const tg_site *site, tg_arena *arena)
{
    tg_preview preview;
    tg_graph *after;
    TG_TRY(tg_site_preview(t->rules, g, site, arena, &preview));
    if (!preview.ok && t->skip) return tg_fail(TG_DIFFERS, "%s", preview.why_not);
    if (!preview.ok) { /* which is allowed */
        t->refused++;
        t->report->refused += preview.unfit;
        snprintf(t->why_refused, sizeof t->why_refused, "%s", preview.why_not);
        return TG_OK;
    }
    TG_TRY(tg_site_apply(t->rules, g, site, &after));
    tg_status status = after->hash == tg_preview_hash(g, &preview)
                           ? compare_both(t, g, site, after)
                           : tg_fail(TG_DIFFERS, "the graph's hash is not the preview's");
    tg_graph_unref(after);
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
    t->unfit += !sites.n;
    tg_vec_free(&sites);
    tg_vec_free(&allowed);
    tg_arena_free(arena);
    return status;
}

/*
 * Do most sites refuse the right side? Where another shape or type comes out a site cannot be
 * taken, so that nothing goes wrong; but a rule that seldom fits has a mistake in its shapes.
 */
static bool misfits(const trial *t)
{
    enum { FIRST = 100 };
    return !t->skip && t->report->refused > FIRST + 3 * (t->report->sites + t->taken);
}

static tg_status does_not_fit(const trial *t)
{
    char where[PROVE_WHERE];
    return tg_fail(TG_DIFFERS,
                   "%s: `to` fits %d sites and not %d others (the last: %s): mend its shapes, or "
                   "say under `if` where it holds",
                   prove_where(tg_rules_rule(t->rules, t->index), where),
                   t->report->sites + t->taken, t->report->refused, t->why_refused);
}

/* Draws until the rule could be taken; *fits false if it never could. */
static tg_status one_sample(trial *t, int tries, bool *fits)
{
    const tg_rule *rule = tg_rules_rule(t->rules, t->index);
    *fits = false;
    for (int i = 0; i < tries && !*fits; i++) {
        tg_graph *g;
        if (sample_graph(rule, t->rng, t->skip, &g) != TG_OK) {
            if (!t->unbuilt++) snprintf(t->why_unbuilt, sizeof t->why_unbuilt, "%s", tg_message());
            continue;
        }
        t->taken = 0;
        tg_status status = is_small(g) ? try_sites(t, g) : TG_OK;
        tg_graph_unref(g);
        if (status == TG_OK && misfits(t)) status = does_not_fit(t);
        if (status != TG_OK) return status;
        *fits = t->taken > 0;
    }
    return TG_OK;
}

/* ---- proofs --------------------------------------------------------------------------------- */

/* Without the fact some sample must differ or fail. */
static bool earns(const tg_rules *rules, int index, int fact, uint64_t seed)
{
    tg_rng *rng = tg_rng_new(seed);
    tg_rule_report ignored = {0};
    trial t = {.rules = rules,
               .index = index,
               .skip = (uint64_t)1 << fact,
               .rng = rng,
               .report = &ignored};
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
    for (int i = 0; i < rule->n_facts; i++) {
        if (!rule->facts[i].sound) continue;
        report->conditions++;
        if (!earns(rules, index, i, seed))
            return tg_fail(TG_DIFFERS,
                           "%s:%d:%d: rule %s: this condition never mattered: without it no drawn "
                           "graph was rewritten wrongly (leave it out, or list it under `pays`)",
                           rule->info.file, rule->facts[i].e->at.line, rule->facts[i].e->at.column,
                           rule->info.name);
        report->earned++;
    }
    return TG_OK;
}

/* The draws came to nothing: what stood in the way most. */
static tg_status nothing_fits(const trial *t, int tries)
{
    char where[PROVE_WHERE];
    tg_str out = {0};
    if (t->unbuilt)
        tg_str_addf(&out, "; %d could not be built (the first: %s)", t->unbuilt, t->why_unbuilt);
    if (t->unfit)
        tg_str_addf(&out, "; %d did not match, most likely for a condition under `if`", t->unfit);
    if (t->refused)
        tg_str_addf(&out, "; %d could not be replaced (the last: %s)", t->refused, t->why_refused);
    tg_status status =
        tg_fail(TG_RULE, "%s: no graph was drawn that it fits in %d tries%s",
                prove_where(tg_rules_rule(t->rules, t->index), where), tries, tg_str_text(&out));
    tg_str_free(&out);
    return status;
}

static tg_status prove_samples(const tg_rules *rules, int index, uint64_t seed, int samples,
                               int tries, tg_rule_report *report)
{
    tg_rng *base = tg_rng_new(seed);
    tg_status status = TG_OK;
    for (int i = 0; i < samples && status == TG_OK; i++) {
        bool fits;
        tg_rng *rng = tg_rng_split(base, (uint64_t)i);
        trial t = {.rules = rules, .index = index, .number = i, .rng = rng, .report = report};
        status = one_sample(&t, tries, &fits);
        if (status == TG_OK && !fits) status = nothing_fits(&t, tries);
        report->seed = (uint64_t)i;
        report->samples += fits;
        report->sites += t.taken;
        tg_rng_free(rng);
    }
    tg_rng_free(base);
    return status;
}

tg_status tg_rule_prove_with(const tg_rules *rules, int i, uint64_t seed,
                             const tg_rule_effort *effort, tg_rule_report *report)
{
    *report = (tg_rule_report){.exact = true};
    TG_TRY(prove_samples(rules, i, seed, effort->samples, effort->tries, report));
    return effort->conditions ? prove_conditions(rules, i, seed, report) : TG_OK;
}

tg_status tg_rule_prove(const tg_rules *rules, int i, uint64_t seed, int samples,
                        tg_rule_report *report)
{
    const tg_rule_effort effort = {samples, TRIES, true};
    return tg_rule_prove_with(rules, i, seed, &effort, report);
}

bool tg_rule_proved_exactly(const tg_rule_report *report)
{
    return report->field > 0 && report->agreed == report->field && report->slip < 1e-6;
}

void tg_rule_report_text(const tg_rule_report *r, tg_str *out)
{
    if (tg_rule_proved_exactly(r)) {
        tg_str_addf(out, "exact over a prime field (%d sites, %d points each, degree %.0f, ",
                    r->field, r->points, r->degree);
        tg_str_addf(out, "a false site passes with probability below %.0e), ", r->slip);
    }
    tg_str_addf(out, "%s%d samples of numbers, ",
                tg_rule_proved_exactly(r) ? "" : "by sampling: ", r->samples);
    if (r->exact) tg_str_add(out, "equal to the last bit");
    else tg_str_addf(out, "largest difference %.1e of the largest element", r->worst);
    if (r->conditions) tg_str_addf(out, ", %d of %d conditions earned", r->earned, r->conditions);
}

static tg_status draw(const tg_rules *rules, int i, uint64_t seed, bool bare, tg_graph **out)
{
    tg_rng *rng = tg_rng_new(seed);
    const tg_rule *rule = tg_rules_rule(rules, i);
    tg_status status = TG_RULE;
    for (int k = 0; k < DRAW_TRIES && status != TG_OK; k++)
        status = bare ? sample_bare_graph(rule, rng, out) : sample_graph(rule, rng, 0, out);
    tg_rng_free(rng);
    return status == TG_OK
               ? TG_OK
               : tg_fail(TG_RULE, "rule %s: no graph was drawn", tg_rules_get(rules, i)->name);
}

tg_status tg_rule_draw(const tg_rules *rules, int i, uint64_t seed, tg_graph **out)
{
    return draw(rules, i, seed, false, out);
}

tg_status tg_rule_draw_bare(const tg_rules *rules, int i, uint64_t seed, tg_graph **out)
{
    return draw(rules, i, seed, true, out);
}
