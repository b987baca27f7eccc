/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rewriting.h"

#include "engine/base/lock.h"


enum { MOST_PLACES = 400 };

typedef struct start {
    ag_view *view;
    tg_rules *rules;
    tg_graph *graph;
    double first_ms, measure_ms;
    const tg_backend *backend; /* NULL: analytic */
    uint64_t *vetoed;
    int n_vetoed;
    tg_job *job; /* cancelled with the source */
    pthread_mutex_t lock;
    tg_map measured; /* graph hash -> bits of milliseconds */
} start;

/* A state that an environment has been to. */
typedef struct place {
    uint64_t way; /* hash of the actions that lead there */
    int steps;
    tg_graph *graph;
    tg_candidates *candidates;
    ag_state *state; /* made when first observed */
    double cost_ms;  /* 0: not known yet */
} place;

typedef struct rewriting {
    start *start;
    TG_VEC(place) places; /* places.v[0] is the start */
    tg_map by_way;
    size_t now;
} rewriting;

static void place_done(place *p)
{
    ag_state_unref(p->state);
    tg_candidates_free(p->candidates);
    tg_graph_unref(p->graph);
}

/* Forgets all places but the first `keep`. */
static void forget(rewriting *r, size_t keep)
{
    while (r->places.n > keep) place_done(&tg_vec_pop(&r->places));
    tg_map_free(&r->by_way);
    r->by_way = (tg_map){0};
}

static tg_status rewriting_reset(void *env)
{
    rewriting *r = env;
    if (r->places.n > MOST_PLACES) forget(r, 1);
    r->now = 0;
    return TG_OK;
}

static bool vetoed(const start *s, uint64_t key)
{
    for (int i = 0; i < s->n_vetoed; i++) {
        if (s->vetoed[i] == key) return true;
    }
    return false;
}

static tg_status rewriting_observe(void *env, ag_state **state)
{
    rewriting *r = env;
    place *p = &r->places.v[r->now];
    if (!p->state) {
        TG_TRY(
            ag_view_state(r->start->view, p->candidates, r->start->first_ms, p->steps, &p->state));
        for (int i = 0; i < p->state->n_candidates; i++) {
            ag_candidate *c = &p->state->candidates[i];
            c->allowed = !vetoed(r->start, c->key);
        }
    }
    *state = ag_state_share(p->state);
    return TG_OK;
}

static tg_status go_on(rewriting *r, int candidate, uint64_t way)
{
    const place *p = &r->places.v[r->now];
    place next = {.way = way, .steps = p->steps + 1};
    TG_TRY(tg_candidates_apply(p->candidates, candidate, &next.graph));
    tg_status status =
        tg_candidates_update(p->candidates, next.graph, r->start->job, &next.candidates);
    if (status != TG_OK) {
        tg_graph_unref(next.graph);
        return status;
    }
    *tg_map_put(&r->by_way, way, NULL) = r->places.n;
    r->now = r->places.n;
    tg_vec_push(&r->places, next);
    return TG_OK;
}

static tg_status rewriting_step(void *env, int candidate)
{
    rewriting *r = env;
    uint64_t way = tg_hash_add(r->places.v[r->now].way, (uint64_t)candidate);
    const uint64_t *known = tg_map_find(&r->by_way, way);
    if (!known) return go_on(r, candidate, way);
    r->now = (size_t)*known;
    return TG_OK;
}

/* Measures a graph once, whichever environment asks first. */
static tg_status measured(start *s, const tg_graph *g, double *ms)
{
    tg_latency latency;
    tg_measure_options options = {.budget_ms = s->measure_ms, .job = s->job};
    tg_lock(&s->lock);
    const uint64_t *known = tg_map_find(&s->measured, g->hash);
    if (known) memcpy(ms, known, sizeof *ms);
    tg_unlock(&s->lock);
    if (known) return TG_OK;
    TG_TRY(tg_measure_graph(s->backend, g, false, &options, &latency));
    *ms = latency.median_ms;
    tg_lock(&s->lock);
    memcpy(tg_map_put(&s->measured, g->hash, NULL), ms, sizeof *ms);
    tg_unlock(&s->lock);
    return TG_OK;
}

static tg_status rewriting_cost(void *env, double *ms)
{
    rewriting *r = env;
    place *p = &r->places.v[r->now];
    if (p->cost_ms <= 0) {
        if (r->start->backend) TG_TRY(measured(r->start, p->graph, &p->cost_ms));
        else p->cost_ms = tg_graph_cost_ms(p->graph);
    }
    *ms = p->cost_ms;
    return TG_OK;
}

static void rewriting_free(void *env)
{
    rewriting *r = env;
    forget(r, 0);
    tg_vec_free(&r->places);
    free(r);
}

static const ag_env_class rewriting_class = {.reset = rewriting_reset,
                                             .observe = rewriting_observe,
                                             .step = rewriting_step,
                                             .cost = rewriting_cost,
                                             .free = rewriting_free};

/* ---- the source --------------------------------------------------------------------------------
 */

static tg_status start_open(void *self, ag_env *env)
{
    start *s = self;
    tg_candidates *candidates;
    TG_TRY(tg_candidates_find(s->rules, s->graph, s->job, &candidates));
    rewriting *r = tg_calloc(1, sizeof *r);
    r->start = s;
    place first = {.graph = tg_graph_ref(s->graph), .candidates = candidates};
    tg_vec_push(&r->places, first);
    *env = (ag_env){&rewriting_class, r};
    return TG_OK;
}

static void start_free(void *self)
{
    start *s = self;
    ag_view_unref(s->view);
    tg_rules_unref(s->rules);
    tg_graph_unref(s->graph);
    free(s->vetoed);
    tg_map_free(&s->measured);
    tg_job_unref(s->job);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void start_cancel(void *self)
{
    start *s = self;
    tg_job_cancel(s->job);
}

static const ag_source_class start_class = {
    .open = start_open, .cancel = start_cancel, .free = start_free};

ag_source *ag_rewriting_source(ag_view *view, const tg_rules *rules, const tg_graph *graph,
                               const ag_rewriting_options *options)
{
    start *s = tg_calloc(1, sizeof *s);
    s->view = ag_view_ref(view);
    s->rules = tg_rules_ref(rules);
    s->graph = tg_graph_ref(graph);
    s->first_ms = options->first_ms > 0 ? options->first_ms : tg_graph_cost_ms(graph);
    s->measure_ms = options->measure_ms > 0 ? options->measure_ms : 200;
    if (options->backend && !options->backend->exact) s->backend = options->backend;
    s->n_vetoed = options->n_vetoed;
    s->vetoed = tg_calloc((size_t)options->n_vetoed + 1, sizeof *s->vetoed);
    for (int i = 0; i < options->n_vetoed; i++) s->vetoed[i] = options->vetoed[i];
    s->job = tg_job_new();
    pthread_mutex_init(&s->lock, NULL);
    return ag_source_new(&start_class, s);
}

/* Takes a step and finds what may follow. *candidates is replaced. */
static tg_status trail_on(tg_trail **trail, tg_candidates **candidates, int action, bool last)
{
    tg_trail *next;
    tg_candidates *after = NULL;
    if (action < 0 || action >= tg_candidates_count(*candidates))
        return tg_fail(TG_NOTFOUND, "no candidate %d", action);
    TG_TRY(tg_trail_step(*trail, *candidates, action, &next));
    tg_trail_unref(*trail);
    *trail = next;
    if (!last) TG_TRY(tg_candidates_update(*candidates, next->graph, NULL, &after));
    tg_candidates_free(*candidates);
    *candidates = after;
    return TG_OK;
}

tg_status ag_rewriting_trail(ag_source *source, const int *actions, int n, tg_trail **out)
{
    start *s = source->self;
    tg_candidates *candidates;
    TG_TRY(tg_candidates_find(s->rules, s->graph, NULL, &candidates));
    tg_trail *trail = tg_trail_root(s->graph);
    tg_status status = TG_OK;
    for (int i = 0; i < n && status == TG_OK; i++)
        status = trail_on(&trail, &candidates, actions[i], i + 1 == n);
    tg_candidates_free(candidates);
    if (status != TG_OK) tg_trail_unref(trail);
    else *out = trail;
    return status;
}
