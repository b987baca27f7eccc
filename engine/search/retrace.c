/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of rules to a graph that was taken out of an e-graph. */
#include "saturate.h"

#include "share.h"

#include "engine/base/intern.h"

#include <stdlib.h>
#include <string.h>

enum { MORE = 50 }; /* expansions beyond two for each needed operator */

/*
 * A graph reached, with its numbers in the e-graph. `had` by number: the operator has been on the
 * way here. Shared by the waiting steps from it.
 */
typedef struct stand {
    int refs, n_had;
    int strange; /* operators made on the way that are not needed */
    tg_trail *trail;
    uint32_t *number_of;
    unsigned char *had;
} stand;

typedef struct waiting {
    int missing; /* needed operators that have not been on the way */
    int strange;
    double cost;
    stand *from;
    tg_site_mark mark;
} waiting;

typedef struct retrace {
    egraph *e;
    unsigned char *needed; /* by number, of the first n_numbers */
    uint32_t n_numbers;
    int n_needed;
    TG_VEC(waiting) queue;
    tg_map seen;
    bool share;  /* make equal operators one after each step */
    bool strict; /* those on whose way least is strange come before those that cost less */
    /* Of the newest stand, whose steps are mostly the next: what waits has no candidates. */
    tg_candidates *candidates;
    const stand *newest;
    const tg_rules *rules;
    const tg_search_options *o;
    tg_search_report *r;
} retrace;

static void stand_unref(stand *s)
{
    if (!s || --s->refs) return;
    tg_trail_unref(s->trail);
    free(s->number_of);
    free(s->had);
    free(s);
}

static bool counts(const egraph_node *n)
{
    return !n->constant && n->op != TG_OP_INPUT;
}

/* The operators of the choice, those that rules matched to make them, and so on. */
static void need(retrace *t, const extract_choice *choice)
{
    TG_VEC(uint32_t) stack = {0};
    for (size_t i = 0; i < choice->order.n; i++) tg_vec_push(&stack, choice->order.v[i]);
    while (stack.n) {
        uint32_t number = tg_vec_pop(&stack);
        const egraph_node *n = &t->e->nodes.v[number];
        if (t->needed[number] || !counts(n)) continue;
        t->needed[number] = 1;
        t->n_needed++;
        for (int i = 0; i < n->n_from; i++) tg_vec_push(&stack, n->from[i]);
    }
    tg_vec_free(&stack);
}

static bool is_new_need(const retrace *t, const stand *s, uint32_t number)
{
    return number < t->n_numbers && t->needed[number] && !s->had[number];
}

/* What is missing and strange when the candidate is taken as well. */
static void foresee(retrace *t, const stand *s, const tg_candidate *c, const char *rule, waiting *w)
{
    const tg_graph *g = s->trail->graph;
    int n = c->preview.n_come;
    uint32_t *number_of = tg_calloc(g->n_ids + (size_t)n + 1, sizeof *number_of);
    memcpy(number_of, s->number_of, g->n_ids * sizeof *number_of);
    egraph_add_preview(t->e, g, c, rule, number_of);
    w->missing = t->n_needed - s->n_had;
    w->strange = s->strange;
    for (int i = 0; i < n; i++) {
        uint32_t number = number_of[g->n_ids + (uint32_t)i];
        w->missing -= is_new_need(t, s, number);
        if (counts(&t->e->nodes.v[number]))
            w->strange += number >= t->n_numbers || !t->needed[number];
    }
    free(number_of);
}

static void note_had(retrace *t, stand *s)
{
    const tg_graph *g = s->trail->graph;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint32_t number = s->number_of[g->order[i]];
        if (!is_new_need(t, s, number)) continue;
        s->had[number] = 1;
        s->n_had++;
    }
}

static tg_status find_candidates(retrace *t, const stand *s, const stand *from)
{
    tg_candidates *found;
    const tg_candidates *old = from && from == t->newest && !t->share ? t->candidates : NULL;
    TG_TRY(tg_search_expand(t->rules, s->trail, old, t->o, t->r, &found));
    tg_candidates_free(t->candidates);
    t->candidates = found;
    t->newest = s;
    return TG_OK;
}

/* Takes the trail over. */
static tg_status stand_new(retrace *t, tg_trail *trail, const stand *from, stand **out)
{
    stand *s = tg_calloc(1, sizeof *s);
    s->refs = 1;
    s->trail = trail;
    s->number_of = tg_calloc(trail->graph->n_ids + 1, sizeof *s->number_of);
    egraph_add_graph(t->e, trail->graph, false, s->number_of);
    s->had = tg_calloc((size_t)t->n_numbers + 1, 1);
    if (from) memcpy(s->had, from->had, t->n_numbers);
    s->n_had = from ? from->n_had : 0;
    note_had(t, s);
    tg_status status = find_candidates(t, s, from);
    if (status == TG_OK) *out = s;
    else stand_unref(s);
    return status;
}

static void enqueue(retrace *t, stand *s)
{
    const tg_graph *g = s->trail->graph;
    uint32_t ops = tg_graph_op_count(g);
    for (int i = 0; i < tg_candidates_count(t->candidates); i++) {
        const tg_candidate *c = tg_candidates_get(t->candidates, i);
        bool fresh;
        tg_map_put(&t->seen, tg_search_key(g, &c->preview, ops), &fresh);
        if (!fresh) continue;
        const char *rule = tg_intern(tg_rules_get(t->rules, c->site->rule)->name);
        waiting w = {.cost = s->trail->cost_ms + c->preview.cost_delta_ms,
                     .from = s,
                     .mark = tg_site_mark_of(c->site)};
        foresee(t, s, c, rule, &w);
        s->refs++;
        tg_vec_push(&t->queue, w);
    }
}

static bool is_nearer(const retrace *t, const waiting *a, const waiting *b)
{
    if (a->missing != b->missing) return a->missing < b->missing;
    if (t->strict && a->strange != b->strange) return a->strange < b->strange;
    return a->cost < b->cost;
}

static waiting take_nearest(retrace *t)
{
    size_t best = 0;
    for (size_t i = 1; i < t->queue.n; i++)
        if (is_nearer(t, &t->queue.v[i], &t->queue.v[best])) best = i;
    waiting w = t->queue.v[best];
    memmove(&t->queue.v[best], &t->queue.v[best + 1], (t->queue.n - best - 1) * sizeof *t->queue.v);
    t->queue.n--;
    return w;
}

/* Looks at the graph of a trail, which is taken over, unless it is as cheap as it has to be. */
static tg_status arrive(retrace *t, tg_trail *trail, const stand *from, int strange, double target,
                        tg_trail **found)
{
    tg_trail *shared = NULL;
    stand *s;
    tg_status status = t->share ? share_equal(trail, &shared) : TG_OK;
    if (status != TG_OK) {
        tg_trail_unref(trail);
        return status;
    }
    if (shared) {
        tg_trail_unref(trail);
        trail = shared;
    }
    if (trail->cost_ms <= target * (1 + TG_SEARCH_LEAST)) {
        *found = trail;
        return TG_OK;
    }
    if (trail->depth >= t->o->max_steps) {
        tg_trail_unref(trail);
        return TG_OK;
    }
    TG_TRY(stand_new(t, trail, from, &s));
    s->strange = strange;
    enqueue(t, s);
    stand_unref(s);
    return TG_OK;
}

static tg_status walk(retrace *t, const tg_trail *root, double target, tg_trail **found)
{
    int last = t->r->expansions + 2 * t->n_needed + MORE;
    if (last > t->o->budget) last = t->o->budget;
    if (t->r->expansions >= last) return TG_OK;
    TG_TRY(arrive(t, tg_trail_ref(root), NULL, 0, target, found));
    while (t->r->expansions < last && t->queue.n && !*found) {
        waiting w = take_nearest(t);
        tg_trail *next;
        tg_status status = tg_trail_step_to(w.from->trail, t->rules, w.mark, &next);
        if (status == TG_OK) status = arrive(t, next, w.from, w.strange, target, found);
        stand_unref(w.from);
        TG_TRY(status);
    }
    return TG_OK;
}

static tg_status try_walk(egraph *e, const extract_choice *choice, const tg_rules *rules,
                          const tg_trail *root, const tg_search_options *o, tg_search_report *r,
                          bool share, bool strict, tg_trail **found)
{
    retrace t = {.e = e,
                 .rules = rules,
                 .o = o,
                 .r = r,
                 .n_numbers = (uint32_t)e->nodes.n,
                 .share = share,
                 .strict = strict};
    t.needed = tg_calloc(e->nodes.n + 1, 1);
    need(&t, choice);
    tg_map_put(&t.seen, tg_graph_key(root->graph), NULL);
    tg_status status = walk(&t, root, choice->cost_ms, found);
    for (size_t i = 0; i < t.queue.n; i++) stand_unref(t.queue.v[i].from);
    tg_vec_free(&t.queue);
    tg_map_free(&t.seen);
    tg_candidates_free(t.candidates);
    free(t.needed);
    return status;
}

tg_status retrace_steps(egraph *e, const extract_choice *choice, const tg_rules *rules,
                        const tg_trail *root, const tg_search_options *o, tg_search_report *r,
                        tg_trail **found)
{
    for (int i = 0; i < 3 && !*found; i++)
        TG_TRY(try_walk(e, choice, rules, root, o, r, i == 1, i < 2, found));
    return TG_OK;
}
