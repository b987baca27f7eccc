/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Equality saturation (Tate et al., POPL 2009; Yang et al., Tensat, MLSys 2021). Rules have
 * conditions on the graph around a match, so they are matched in graphs: each graph adds what all
 * its candidates would make to one e-graph, in which both sides stay. Candidates that brought
 * something new are taken again, each alone and as many as go together, because what matches next
 * may need its neighbours as they were or as they become. Two walks through the graphs do that in
 * turns, each with its own account of what is new: a deep one that first takes all that go
 * together, again and again, and makes equal operators one, as they are in an e-graph; and a broad
 * one that takes the steps nearest to the start first and looks at graphs as rules leave them. When
 * neither brings anything new, the cheapest graph that the e-graph holds is taken out (extract.h);
 * it may combine steps of all of them.
 *
 * A graph that waits is a graph and marks of the sites still to be taken, without candidates.
 */
#include "saturate.h"

#include "share.h"

#include "engine/base/intern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 5000, FOR_EACH = 4, BRANCHES = 3000, SECONDS = 30 };

/* A graph to match in. number_of: by node id, in the e-graph. */
typedef struct witness {
    tg_trail *trail;
    tg_candidates *candidates;
    uint32_t *number_of;
} witness;

/* A candidate that brought something new. */
typedef struct bringer {
    double delta;
    tg_site_mark mark;
    int at; /* among the candidates */
} bringer;

typedef TG_VEC(bringer) bringer_vec;

/* A graph whose candidates are taken one by one, and then those of `rest` that go together. */
typedef struct source {
    tg_trail *trail;
    bringer_vec all, rest;
    size_t next; /* of all */
} source;

/* Invariants: `open` are to be harvested, newest first; sources before `first` are done. */
typedef struct side {
    bool deep;
    uint8_t bit; /* of egraph_node.known */
    TG_VEC(witness) open;
    TG_VEC(source) sources;
    size_t first;
    tg_map seen; /* keys of graphs looked at */
} side;

typedef struct saturation {
    const tg_rules *rules;
    const tg_graph *g;
    const tg_search_options *o;
    tg_search_report *r;
    egraph e;
    side sides[2];
    tg_trail *root, *best;
    uint32_t *root_numbers, *outputs;
    int n_outputs;
} saturation;

static void witness_done(witness *w)
{
    tg_candidates_free(w->candidates);
    tg_trail_unref(w->trail);
    free(w->number_of);
    *w = (witness){0};
}

static void source_done(source *s)
{
    tg_trail_unref(s->trail);
    tg_vec_free(&s->all);
    tg_vec_free(&s->rest);
}

/* The programme that takes a graph out must stay solvable. */
static bool is_full(const saturation *s)
{
    return s->e.nodes.n >= MOST_NODES + FOR_EACH * (size_t)s->g->n_nodes;
}

/* A quarter of the budget is for the way to what will be taken out, as is a third of the time. */
static bool out_of_budget(saturation *s)
{
    if (s->r->expansions >= s->o->budget - s->o->budget / 4) return true;
    if (is_full(s)) return true;
    if (tg_search_seconds_left(s->o, s->r) < s->o->seconds / 3) s->r->halted = "time";
    else if (tg_memory_short()) s->r->halted = "memory";
    return s->r->halted;
}

static void consider(saturation *s, const tg_trail *t)
{
    if (t->cost_ms < s->best->cost_ms * (1 - TG_SEARCH_LEAST))
        tg_search_keep(s->r, s->r->expansions, t, &s->best);
}

static const char *rule_of(const saturation *s, const tg_candidate *c)
{
    return tg_intern(tg_rules_get(s->rules, c->site->rule)->name);
}

/* A copy of a witness's numbers with room for those that a preview adds. */
static uint32_t *numbers_for(const witness *w, const tg_preview *p)
{
    size_t n = w->trail->graph->n_ids, all = n + (size_t)p->n_come;
    uint32_t *copy = tg_calloc(all + 1, sizeof *copy);
    memcpy(copy, w->number_of, n * sizeof *copy);
    return copy;
}

static int by_gain(const void *x, const void *y)
{
    const bringer *a = x, *b = y;
    if (a->delta != b->delta) return a->delta < b->delta ? -1 : 1;
    return a->at - b->at;
}

typedef TG_VEC(uint32_t) number_vec;

/* Adds what all candidates of a witness make; `numbers` gets the nodes of each, one after another.
 */
static void add_all(saturation *s, const witness *w, number_vec *numbers)
{
    const tg_graph *g = w->trail->graph;
    for (int i = 0; i < tg_candidates_count(w->candidates); i++) {
        const tg_candidate *c = tg_candidates_get(w->candidates, i);
        uint32_t *number_of = numbers_for(w, &c->preview);
        egraph_add_preview(&s->e, g, c, rule_of(s, c), number_of);
        egraph_join_preview(&s->e, &c->preview, number_of);
        for (int k = 0; k < c->preview.n_come; k++)
            tg_vec_push(numbers, number_of[g->n_ids + (uint32_t)k]);
        free(number_of);
    }
    egraph_rebuild(&s->e);
}

/* True if one of the nodes is new to the side; from here on it is not. */
static bool learn(saturation *s, const side *at, const uint32_t *numbers, int n)
{
    bool fresh = false;
    for (int i = 0; i < n; i++) {
        egraph_node *node = &s->e.nodes.v[egraph_survivor(&s->e, numbers[i])];
        fresh |= !(node->known & at->bit);
        node->known |= at->bit;
    }
    return fresh;
}

/* The candidates of a witness that bring something new to the side, those that save most first. */
static void harvest(saturation *s, const side *at, const witness *w, bringer_vec *out)
{
    number_vec numbers = {0};
    size_t first = 0;
    add_all(s, w, &numbers);
    for (int i = 0; i < tg_candidates_count(w->candidates); i++) {
        const tg_candidate *c = tg_candidates_get(w->candidates, i);
        if (learn(s, at, numbers.v + first, c->preview.n_come))
            tg_vec_push(out, ((bringer){c->preview.cost_delta_ms, tg_site_mark_of(c->site), i}));
        first += (size_t)c->preview.n_come;
    }
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_gain);
    tg_vec_free(&numbers);
}

/*
 * Looks at the graph of a trail, whose reference is taken over; `old` are the candidates of the
 * graph before, or NULL; number_of is taken over or, if NULL, made.
 */
static tg_status look(saturation *s, side *at, tg_trail *t, const tg_candidates *old,
                      uint32_t *number_of, witness *to)
{
    tg_trail *shared = NULL;
    tg_status status = at->deep ? share_equal(t, &shared) : TG_OK;
    *to = (witness){.trail = t, .number_of = number_of};
    consider(s, t);
    if (status == TG_OK && shared) {
        tg_trail_unref(t);
        to->trail = shared;
        old = NULL;
        consider(s, shared);
    }
    if (!number_of) {
        to->number_of = tg_calloc(to->trail->graph->n_ids + 1, sizeof *number_of);
        egraph_add_graph(&s->e, to->trail->graph, false, to->number_of);
    }
    tg_map_put(&at->seen, tg_graph_key(to->trail->graph), NULL);
    if (status == TG_OK)
        status = tg_search_expand(s->rules, to->trail, old, s->o, s->r, &to->candidates);
    if (status == TG_OK) tg_search_report_progress(s->o, s->r, s->best->cost_ms);
    else witness_done(to);
    return status;
}

/* The witness one step on. `w` stays as it is. */
static tg_status advance(saturation *s, side *at, const witness *w, int i, witness *to)
{
    const tg_candidate *c = tg_candidates_get(w->candidates, i);
    tg_trail *t;
    TG_TRY(tg_trail_step(w->trail, w->candidates, i, &t));
    uint32_t *number_of = numbers_for(w, &c->preview);
    egraph_add_preview(&s->e, w->trail->graph, c, rule_of(s, c), number_of);
    egraph_join_preview(&s->e, &c->preview, number_of);
    s->r->graphs++;
    return look(s, at, t, w->candidates, number_of, to);
}

/*
 * Takes as many of the candidates as go together and opens the graph that they lead to; those that
 * are left stay in `todo`.
 */
static tg_status cover(saturation *s, side *at, const witness *from, bringer_vec *todo)
{
    witness w = *from;
    size_t left = 0;
    tg_status status = TG_OK;
    for (size_t k = 0; k < todo->n; k++) {
        int i = tg_candidates_find_key(w.candidates, todo->v[k].mark.key);
        witness to;
        if (i < 0 || status != TG_OK || w.trail->depth >= s->o->max_steps || out_of_budget(s)) {
            todo->v[left++] = todo->v[k];
            continue;
        }
        status = advance(s, at, &w, i, &to);
        if (status != TG_OK) continue;
        if (w.trail != from->trail) witness_done(&w);
        w = to;
    }
    todo->n = left;
    egraph_rebuild(&s->e);
    if (w.trail == from->trail) todo->n = 0;
    else if (status == TG_OK) tg_vec_push(&at->open, w);
    else witness_done(&w);
    return status;
}

static void copy_bringers(const bringer_vec *from, bringer_vec *to)
{
    for (size_t i = 0; i < from->n; i++) tg_vec_push(to, from->v[i]);
}

/* Harvests the newest open graph and keeps its candidates for later. */
static tg_status open_next(saturation *s, side *at)
{
    witness w = tg_vec_pop(&at->open);
    source from = {.trail = tg_trail_ref(w.trail)};
    tg_status status = TG_OK;
    harvest(s, at, &w, &from.all);
    copy_bringers(&from.all, &from.rest);
    if (from.all.n < 2) from.next = from.all.n; /* alone is what together is */
    if (at->deep && from.all.n) status = cover(s, at, &w, &from.rest);
    witness_done(&w);
    if (status == TG_OK && (from.next < from.all.n || from.rest.n)) tg_vec_push(&at->sources, from);
    else source_done(&from);
    return status;
}

/* Takes one candidate alone, if that leads to a graph that was not looked at. */
static tg_status take_alone(saturation *s, side *at, const source *from, const bringer *b)
{
    tg_trail *t;
    witness to;
    TG_TRY(tg_trail_step_to(from->trail, s->rules, b->mark, &t));
    s->r->graphs++;
    if (tg_map_find(&at->seen, tg_graph_key(t->graph))) {
        tg_trail_unref(t);
        return tg_search_poll(s->o, s->r);
    }
    TG_TRY(look(s, at, t, NULL, NULL, &to));
    egraph_rebuild(&s->e);
    tg_vec_push(&at->open, to);
    return TG_OK;
}

static tg_status take_rest(saturation *s, side *at, source *from)
{
    witness w;
    TG_TRY(look(s, at, tg_trail_ref(from->trail), NULL, NULL, &w));
    egraph_rebuild(&s->e);
    tg_status status = cover(s, at, &w, &from->rest);
    witness_done(&w);
    return status;
}

/* A turn of the first source; where it is to go deep, the others come before its next. */
static tg_status take_turn(saturation *s, side *at)
{
    source from = at->sources.v[at->first];
    tg_status status = TG_OK;
    if (from.trail->depth >= s->o->max_steps) from.next = from.all.n;
    if (from.next < from.all.n) status = take_alone(s, at, &from, &from.all.v[from.next++]);
    else if (from.rest.n) status = take_rest(s, at, &from);
    at->sources.v[at->first] = from;
    bool done = from.next >= from.all.n && !from.rest.n;
    if (!done && !at->deep) return status;
    at->sources.v[at->first++] = (source){0};
    if (done) source_done(&from);
    else tg_vec_push(&at->sources, from);
    return status;
}

static bool has_more(const side *at)
{
    return at->open.n || at->first < at->sources.n;
}

static tg_status explore(saturation *s)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < 2; i++) {
            side *at = &s->sides[i];
            if (at->first < at->sources.n && !out_of_budget(s)) TG_TRY(take_turn(s, at));
            while (at->open.n && !out_of_budget(s)) TG_TRY(open_next(s, at));
            more |= has_more(at);
        }
        if (out_of_budget(s)) break;
    }
    return TG_OK;
}

static tg_status begin(saturation *s)
{
    const tg_node *sink = tg_graph_sink(s->g);
    s->root_numbers = tg_calloc(s->g->n_ids + 1, sizeof *s->root_numbers);
    egraph_add_graph(&s->e, s->g, true, s->root_numbers);
    s->n_outputs = sink->n_in;
    s->outputs = tg_calloc((size_t)sink->n_in + 1, sizeof *s->outputs);
    for (int i = 0; i < sink->n_in; i++)
        s->outputs[i] = egraph_class(&s->e, s->root_numbers, sink->in[i]);
    for (int i = 0; i < 2; i++) {
        witness w;
        s->sides[i].deep = i == 0;
        s->sides[i].bit = (uint8_t)(1 << i);
        TG_TRY(look(s, &s->sides[i], tg_trail_ref(s->root), NULL, NULL, &w));
        tg_vec_push(&s->sides[i].open, w);
    }
    return TG_OK;
}

/* Steps of rules to what was chosen, or one step there. */
static tg_status go_there(saturation *s, const extract_choice *c)
{
    tg_trail *t = NULL;
    tg_status status = retrace_steps(&s->e, c, s->rules, s->root, s->o, s->r, &t);
    if (status == TG_CANCELLED && !tg_job_cancelled(s->o->job)) status = TG_OK;
    if (status == TG_OK && !t) status = leap_to(&s->e, c, s->root, s->root_numbers, &t);
    if (status == TG_OK) consider(s, t);
    tg_trail_unref(t);
    return status;
}

static tg_status take_out(saturation *s)
{
    double left = tg_search_seconds_left(s->o, s->r);
    extract_limits limits = {BRANCHES, fmin(SECONDS, left), s->o->job};
    extract_choice c = {0};
    for (int i = 0; i < s->n_outputs; i++) s->outputs[i] = egraph_find(&s->e, s->outputs[i]);
    tg_status status = extract_cheapest(&s->e, s->outputs, s->n_outputs, &limits, &c);
    if (status == TG_OK) {
        s->r->proved = c.proved;
        if (c.cost_ms < s->best->cost_ms * (1 - TG_SEARCH_LEAST)) status = go_there(s, &c);
    } else if (status == TG_NOTFOUND) status = TG_OK;
    tg_vec_free(&c.order);
    return status;
}

static void drop_waiting(side *at)
{
    for (size_t i = 0; i < at->open.n; i++) witness_done(&at->open.v[i]);
    for (; at->first < at->sources.n; at->first++) source_done(&at->sources.v[at->first]);
    tg_vec_free(&at->open);
    tg_vec_free(&at->sources);
    tg_map_free(&at->seen);
    at->first = 0;
}

/* All that may run out of memory. */
static tg_status run(void *ctx)
{
    saturation *s = ctx;
    TG_TRY(begin(s));
    TG_TRY(explore(s));
    bool full = has_more(&s->sides[0]) || has_more(&s->sides[1]);
    s->r->stop = is_full(s) ? "size of the e-graph" : full ? "budget" : "saturated";
    s->r->exhausted = !full;
    s->r->equal_nodes = (int)s->e.nodes.n;
    for (int i = 0; i < 2; i++) drop_waiting(&s->sides[i]);
    return take_out(s);
}

tg_status tg_saturate_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                          const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    saturation s = {.rules = rules, .g = g, .o = o, .r = r};
    /* What limits keep from being taken out must not be worse than what costs nothing to find. */
    TG_TRY(tg_greedy_run(search, rules, g, o, r, &s.best));
    s.root = tg_trail_root(g);
    egraph_init(&s.e);
    tg_status status = r->halted ? TG_OK : tg_job_poll(o->job);
    if (status == TG_OK && !r->halted) status = tg_protect(run, &s);
    if (status == TG_NOMEM) {
        r->halted = "memory";
        status = TG_OK;
    }
    for (int i = 0; i < 2; i++) drop_waiting(&s.sides[i]);
    egraph_done(&s.e);
    free(s.root_numbers);
    free(s.outputs);
    tg_trail_unref(s.root);
    return tg_search_end(r, status, s.best, best);
}
