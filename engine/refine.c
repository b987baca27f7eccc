/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refine.h"

#include "engine/base/vec.h"

#include <math.h>
#include <string.h>

typedef struct refine {
    const tg_rules *rules;
    const tg_graph *g;
    const tg_refine_options *o;
    tg_refine_report *r;
    TG_VEC(const char *) without;
    TG_VEC(const char *) tried;
} refine;

static bool has(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* The rule that the trail takes most often among those not tried yet, or NULL. */
static const char *most_used(const refine *w, const tg_trail *trail)
{
    const char *best = NULL;
    int most = 0;
    for (const tg_trail *a = trail; a->parent; a = a->parent) {
        int n = 0;
        for (const tg_trail *b = trail; b->parent; b = b->parent)
            n += strcmp(a->taken.rule, b->taken.rule) == 0;
        if (n > most && !has(w->tried.v, w->tried.n, a->taken.rule)) {
            most = n;
            best = a->taken.rule;
        }
    }
    return best;
}

static bool keep(void *ctx, const tg_rule_info *info)
{
    const refine *w = ctx;
    return !has(w->without.v, w->without.n, info->name);
}

/*
 * The candidate that stands for a step taken elsewhere: the same site; else a site of that rule
 * with the same words, or one that saves as much. -1 if there is none.
 */
static int find_step(const tg_candidates *c, const tg_trail *step)
{
    int i = tg_candidates_find_key(c, step->taken.key);
    double saved = step->cost_ms - step->parent->cost_ms;
    for (int pass = 0; pass < 2 && i < 0; pass++)
        for (int k = 0; k < tg_candidates_count(c) && i < 0; k++) {
            const tg_candidate *other = tg_candidates_get(c, k);
            const tg_rule_info *rule = tg_rules_get(tg_candidates_rules(c), other->site->rule);
            if (strcmp(rule->name, step->taken.rule) != 0) continue;
            bool same = pass == 0 ? strcmp(tg_site_words(tg_candidates_graph(c), other->site),
                                           step->taken.site) == 0
                                  : fabs(other->preview.cost_delta_ms - saved) < 1e-9;
            if (same) i = k;
        }
    return i;
}

/* One step of the old trail on the new one, if it is still there. */
static tg_status follow_step(const refine *w, const tg_trail *step, tg_trail **at)
{
    tg_candidates *c;
    tg_trail *next = NULL;
    if (has(w->without.v, w->without.n, step->taken.rule)) return TG_OK;
    TG_TRY(tg_candidates_find(w->rules, (*at)->graph, w->o->measure.job, &c));
    int i = find_step(c, step);
    tg_status status = i >= 0 ? tg_trail_step(*at, c, i, &next) : TG_OK;
    tg_candidates_free(c);
    if (status != TG_OK || !next) return status;
    tg_trail_unref(*at);
    *at = next;
    return TG_OK;
}

/* The trail again without the steps of the rules left out. */
static tg_status follow(const refine *w, const tg_trail *trail, tg_trail **out)
{
    tg_trail *at = tg_trail_root(w->g);
    for (int depth = 1; depth <= trail->depth; depth++) {
        tg_status status = follow_step(w, tg_trail_at(trail, depth), &at);
        if (status == TG_OK) continue;
        tg_trail_unref(at);
        return status;
    }
    *out = at;
    return TG_OK;
}

static tg_status search_again(const refine *w, const tg_trail *best, tg_trail **other)
{
    tg_search_report report;
    if (!w->o->search) return follow(w, best, other);
    tg_rules *rest = tg_rules_select(w->rules, keep, (void *)(uintptr_t)w);
    tg_status status =
        tg_search_run(w->o->search, rest, w->g, &w->o->search_options, &report, other);
    tg_rules_unref(rest);
    return status;
}

/* Keeps what is found without the rule if that is faster than *best. */
static tg_status try_without(refine *w, const char *rule, tg_trail **best)
{
    tg_comparison comparison;
    tg_trail *other;
    tg_vec_push(&w->without, rule);
    tg_status status = search_again(w, *best, &other);
    bool better = false;
    if (status == TG_OK) {
        status = tg_measure_compare(w->o->backend, (*best)->graph, other->graph, &w->o->measure,
                                    &comparison);
        better = status == TG_OK && comparison.verdict == TG_FASTER;
        if (better) {
            tg_trail *was = *best;
            *best = other;
            other = was;
        }
        tg_trail_unref(other);
    }
    if (!better) w->without.n--;
    return status;
}

static tg_status refine_rules(refine *w, tg_trail **best)
{
    const char *rule;
    while ((rule = most_used(w, *best))) {
        if (w->o->progress) w->o->progress(w->o->ctx, (int)w->tried.n, (int)w->tried.n + 1, rule);
        tg_vec_push(&w->tried, rule);
        TG_TRY(try_without(w, rule, best));
        TG_TRY(tg_job_poll(w->o->measure.job));
    }
    return TG_OK;
}

/* What is handed back must not be slower than what was given. */
static tg_status last_check(refine *w, tg_trail **best)
{
    tg_measure_options twice = w->o->measure;
    twice.budget_ms *= 2;
    TG_TRY(tg_measure_compare(w->o->backend, w->g, (*best)->graph, &twice, &w->r->latency));
    if (w->r->latency.verdict != TG_SLOWER) return TG_OK;
    tg_trail_unref(*best);
    *best = tg_trail_root(w->g);
    w->r->given_up = true;
    return tg_measure_compare(w->o->backend, w->g, w->g, &w->o->measure, &w->r->latency);
}

tg_status tg_refine(const tg_rules *rules, const tg_graph *g, const tg_refine_options *options,
                    tg_trail **best, tg_refine_report *report)
{
    refine w = {.rules = rules, .g = g, .o = options, .r = report};
    *report = (tg_refine_report){.arena = tg_arena_new()};
    tg_status status = refine_rules(&w, best);
    if (status == TG_OK) status = last_check(&w, best);
    report->tried = (int)w.tried.n;
    report->n_without = (int)w.without.n;
    report->without = tg_arena_dup(report->arena, w.without.v, w.without.n * sizeof *w.without.v);
    tg_vec_free(&w.without);
    tg_vec_free(&w.tried);
    return status;
}
