/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Equality saturation (Tate et al., POPL 2009; Yang et al., Tensat, MLSys 2021). Rules have
 * conditions on the graph around a match, so they are matched in graphs: each graph adds what all
 * its candidates would make to one e-graph, in which both sides stay. A candidate that brought
 * something new is taken twice, alone and with as many others as go together, because what matches
 * next may need its neighbours as they were or as they become. When no graph brings anything new,
 * the cheapest graph that the e-graph holds is taken out (extract.h); it may combine steps of all
 * of them.
 */
#include "saturate.h"

#include "engine/base/intern.h"
#include "engine/ir/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 20000, BRANCHES = 3000, SECONDS = 30 };

/* A graph to match in. number_of: by node id, in the e-graph. */
typedef struct witness {
    tg_trail *trail;
    tg_candidates *candidates;
    uint32_t *number_of;
} witness;

typedef struct saturation {
    const tg_rules *rules;
    const tg_search_options *o;
    tg_search_report *r;
    egraph e;
    TG_VEC(witness) queue;
    size_t next; /* of the queue */
    tg_trail *root, *best;
    uint32_t *outputs;
    int n_outputs;
} saturation;

static void witness_done(witness *w)
{
    tg_candidates_free(w->candidates);
    tg_trail_unref(w->trail);
    free(w->number_of);
    *w = (witness){0};
}

/* A quarter of the budget is for the way to what will be taken out. */
static bool out_of_budget(const saturation *s)
{
    return s->r->expansions >= s->o->budget - s->o->budget / 4 || s->e.nodes.n >= MOST_NODES;
}

static void consider(saturation *s, tg_trail *t)
{
    if (t->cost_ms >= s->best->cost_ms * (1 - TG_SEARCH_LEAST)) return;
    tg_trail_unref(s->best);
    s->best = tg_trail_ref(t);
    s->r->best_at = s->r->expansions;
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

/* A candidate that brought nodes first .. end of the e-graph. */
typedef struct bringer {
    uint64_t key;
    double delta;
    int at;
    uint32_t first, end;
} bringer;

typedef TG_VEC(bringer) bringer_vec;

static int by_gain(const void *x, const void *y)
{
    const bringer *a = x, *b = y;
    if (a->delta != b->delta) return a->delta < b->delta ? -1 : 1;
    return a->at - b->at;
}

/* Adds what all candidates of a witness make; `out` gets those that brought something new. */
static void harvest(saturation *s, const witness *w, bringer_vec *out)
{
    const tg_graph *g = w->trail->graph;
    bringer_vec all = {0};
    for (int i = 0; i < tg_candidates_count(w->candidates); i++) {
        const tg_candidate *c = tg_candidates_get(w->candidates, i);
        uint32_t *number_of = numbers_for(w, &c->preview);
        uint32_t first = (uint32_t)s->e.nodes.n;
        egraph_add_preview(&s->e, g, c, rule_of(s, c), number_of);
        egraph_join_preview(&s->e, &c->preview, number_of);
        tg_vec_push(&all, ((bringer){c->site->key, c->preview.cost_delta_ms, i, first,
                                     (uint32_t)s->e.nodes.n}));
        free(number_of);
    }
    egraph_rebuild(&s->e);
    for (size_t i = 0; i < all.n; i++) {
        bool fresh = false;
        for (uint32_t k = all.v[i].first; k < all.v[i].end; k++) fresh |= !s->e.nodes.v[k].merged;
        if (fresh) tg_vec_push(out, all.v[i]);
    }
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_gain);
    tg_vec_free(&all);
}

/* The witness one step on. `w` stays as it is. */
static tg_status advance(saturation *s, const witness *w, int i, witness *to)
{
    const tg_candidate *c = tg_candidates_get(w->candidates, i);
    *to = (witness){.number_of = numbers_for(w, &c->preview)};
    egraph_add_preview(&s->e, w->trail->graph, c, rule_of(s, c), to->number_of);
    egraph_join_preview(&s->e, &c->preview, to->number_of);
    tg_status status = tg_trail_step(w->trail, w->candidates, i, &to->trail);
    if (status == TG_OK) {
        s->r->graphs++;
        consider(s, to->trail);
        status = tg_search_expand(s->rules, to->trail, w->candidates, s->o, s->r, &to->candidates);
    }
    if (status == TG_OK) tg_search_report_progress(s->o, s->r, s->best->cost_ms);
    else witness_done(to);
    return status;
}

/*
 * Takes as many of the candidates as go together and queues the graph that they lead to; those that
 * are left stay in `todo`.
 */
static tg_status cover(saturation *s, const witness *from, bringer_vec *todo)
{
    witness at = *from;
    size_t left = 0;
    tg_status status = TG_OK;
    for (size_t k = 0; k < todo->n; k++) {
        int i = tg_candidates_find_key(at.candidates, todo->v[k].key);
        witness to;
        if (i < 0 || out_of_budget(s) || status != TG_OK || at.trail->depth >= s->o->max_steps) {
            todo->v[left++] = todo->v[k];
            continue;
        }
        status = advance(s, &at, i, &to);
        if (status != TG_OK) continue;
        if (at.trail != from->trail) witness_done(&at);
        at = to;
    }
    todo->n = left;
    egraph_rebuild(&s->e);
    if (at.trail == from->trail) todo->n = 0;
    else if (status == TG_OK) tg_vec_push(&s->queue, at);
    else witness_done(&at);
    return status;
}

/* Queues the graphs that each of the candidates leads to on its own. */
static tg_status part(saturation *s, const witness *from, const bringer_vec *todo)
{
    for (size_t k = 0; k < todo->n && todo->n > 1 && !out_of_budget(s); k++) {
        int i = tg_candidates_find_key(from->candidates, todo->v[k].key);
        witness to;
        TG_TRY(advance(s, from, i, &to));
        tg_vec_push(&s->queue, to);
    }
    egraph_rebuild(&s->e);
    return TG_OK;
}

static tg_status explore(saturation *s)
{
    while (s->next < s->queue.n && !out_of_budget(s)) {
        witness w = s->queue.v[s->next];
        s->queue.v[s->next++] = (witness){0};
        bringer_vec todo = {0};
        tg_status status = TG_OK;
        harvest(s, &w, &todo);
        status = part(s, &w, &todo);
        while (todo.n && status == TG_OK && !out_of_budget(s)) status = cover(s, &w, &todo);
        tg_vec_free(&todo);
        witness_done(&w);
        TG_TRY(status);
    }
    return TG_OK;
}

static tg_status begin(saturation *s, const tg_graph *g)
{
    witness w = {.trail = tg_trail_ref(s->root),
                 .number_of = tg_calloc(g->n_ids + 1, sizeof *w.number_of)};
    const tg_node *sink = tg_graph_sink(g);
    egraph_add_graph(&s->e, g, true, w.number_of);
    s->n_outputs = sink->n_in;
    s->outputs = tg_calloc((size_t)sink->n_in + 1, sizeof *s->outputs);
    for (int i = 0; i < sink->n_in; i++)
        s->outputs[i] = egraph_class(&s->e, w.number_of, sink->in[i]);
    tg_status status = tg_search_expand(s->rules, s->root, NULL, s->o, s->r, &w.candidates);
    if (status == TG_OK) tg_vec_push(&s->queue, w);
    else witness_done(&w);
    return status;
}

/* --- the graph that was chosen, as one step --- */

static tg_status build_node(tg_builder *b, egraph *e, const egraph_node *n, const tg_value *made,
                            uint32_t *id)
{
    if (n->op == TG_OP_CONST) {
        *id = tg_value_node(tg_build_const(b, n->types[0].dtype, &n->types[0].shape,
                                           tg_weight_ref(n->weight), NULL));
        return TG_OK;
    }
    tg_value *in = tg_calloc((size_t)n->n_in + 1, sizeof *in);
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] == EGRAPH_ABSENT ? TG_NO_VALUE : made[egraph_find(e, n->in[i])];
    tg_status status = tg_build_copy(b, n->op, n->attrs->a, in, n->n_in, n->n_out,
                                     n->rule ? n->rule : "saturate", id);
    free(in);
    return status;
}

/* `made`: the value of each class. */
static tg_status build_choice(saturation *s, tg_builder *b, const extract_choice *c, tg_value *made)
{
    for (size_t i = 0; i < c->order.n; i++) {
        const egraph_node *n = &s->e.nodes.v[c->order.v[i]];
        uint32_t id = n->root;
        if (!id) TG_TRY(build_node(b, &s->e, n, made, &id));
        for (int port = 0; port < n->n_out; port++) {
            tg_value *v = &made[egraph_find(&s->e, n->out[port])];
            if (*v == TG_NO_VALUE) *v = tg_value_of(id, (uint32_t)port);
        }
    }
    for (uint32_t i = 0; i < s->e.nodes.n; i++) {
        const egraph_node *n = &s->e.nodes.v[i];
        for (int port = 0; n->root && port < n->n_out; port++) {
            tg_value from = tg_value_of(n->root, (uint32_t)port);
            tg_value to = made[egraph_find(&s->e, n->out[port])];
            if (to != TG_NO_VALUE && to != from) TG_TRY(tg_build_redirect(b, from, to));
        }
    }
    return TG_OK;
}

static tg_status build(saturation *s, const extract_choice *c, tg_graph **g)
{
    tg_builder *b = tg_builder_from(s->root->graph);
    tg_value *made = tg_calloc(s->e.parent.n + 1, sizeof *made);
    for (size_t i = 0; i < s->e.parent.n; i++) made[i] = TG_NO_VALUE;
    tg_status status = build_choice(s, b, c, made);
    free(made);
    if (status == TG_OK) return tg_build_done(b, g);
    tg_builder_free(b);
    return status;
}

/* A trail of one step that is no rule's. */
static tg_status leap(saturation *s, const extract_choice *c, tg_trail **out)
{
    tg_graph *g;
    TG_TRY(build(s, c, &g));
    tg_trail *t = tg_trail_root(g);
    t->parent = tg_trail_ref(s->root);
    t->depth = 1;
    t->taken.rule = "saturate";
    t->taken.site = "the whole graph";
    t->taken.key = g->hash;
    tg_graph_unref(g);
    *out = t;
    return TG_OK;
}

static tg_status take_out(saturation *s)
{
    extract_limits limits = {BRANCHES, SECONDS, s->o->job};
    extract_choice c = {0};
    for (int i = 0; i < s->n_outputs; i++) s->outputs[i] = egraph_find(&s->e, s->outputs[i]);
    tg_status status = extract_cheapest(&s->e, s->outputs, s->n_outputs, &limits, &c);
    tg_trail *t = NULL;
    if (status == TG_OK) {
        s->r->proved = c.proved;
        if (c.cost_ms < s->best->cost_ms * (1 - TG_SEARCH_LEAST)) {
            status = retrace_steps(&s->e, &c, s->rules, s->root, s->o, s->r, &t);
            if (status == TG_OK && !t) status = leap(s, &c, &t);
        }
    } else if (status == TG_NOTFOUND) status = TG_OK;
    if (status == TG_OK && t) consider(s, t);
    tg_trail_unref(t);
    tg_vec_free(&c.order);
    return status;
}

tg_status tg_saturate_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                          const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    saturation s = {.rules = rules, .o = o, .r = r, .root = tg_trail_root(g)};
    /* What limits keep from being taken out must not be worse than what costs nothing to find. */
    tg_status status = tg_greedy_run(search, rules, g, o, r, &s.best);
    if (status != TG_OK) s.best = tg_trail_ref(s.root);
    egraph_init(&s.e);
    if (status == TG_OK) status = begin(&s, g);
    if (status == TG_OK) status = explore(&s);
    if (status == TG_OK) {
        bool full = s.next < s.queue.n;
        r->stop = s.e.nodes.n >= MOST_NODES ? "size of the e-graph" : full ? "budget" : "saturated";
        r->equal_nodes = (int)s.e.nodes.n;
        status = take_out(&s);
    }
    if (status == TG_CANCELLED) {
        r->stop = "cancelled";
        status = TG_OK;
    }
    for (; s.next < s.queue.n; s.next++) witness_done(&s.queue.v[s.next]);
    tg_vec_free(&s.queue);
    egraph_done(&s.e);
    free(s.outputs);
    tg_trail_unref(s.root);
    if (status == TG_OK) *best = s.best;
    else tg_trail_unref(s.best);
    return status;
}
