/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cost-based backtracking search (Jia et al., TASO, SOSP 2019, section 5 "Cost-based backtracking
 * search"): a queue ordered by cost; the cheapest graph is taken out, may become the best, and its
 * candidates go in unless they cost alpha times the best or were seen. A queued graph is its parent
 * and the mark of a site; it is built when it is taken out. Most graphs that were seen are known by
 * a key that costs no more than the change; the rest show when they are built. Candidates are kept
 * of the newest graph only, from which the next one mostly comes.
 */
#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/rewrite/lineage.h"
#include "runs.h"

typedef struct entry {
    double cost;
    uint64_t order;       /* of arrival: first come, first served at equal cost */
    const tg_trail *from; /* NULL: the start itself */
    tg_site_mark mark;
} entry;

typedef struct queue {
    TG_VEC(entry) heap;
    tg_map seen;  /* keys of the lineage of graphs that were queued */
    tg_map built; /* keys of graphs that were taken out */
    uint64_t arrivals;
    tg_trail *newest; /* the graph expanded last, and its candidates */
    tg_candidates *candidates;
} queue;

static bool before(const entry *a, const entry *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->order < b->order;
}

static void push(queue *q, entry e)
{
    tg_vec_push(&q->heap, e);
    size_t i = q->heap.n - 1;
    for (; i && before(&e, &q->heap.v[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap.v[i] = q->heap.v[(i - 1) / 2];
    q->heap.v[i] = e;
}

static entry pop(queue *q)
{
    entry top = q->heap.v[0], last = tg_vec_pop(&q->heap);
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < q->heap.n; i = c) {
        if (c + 1 < q->heap.n && before(&q->heap.v[c + 1], &q->heap.v[c])) c++;
        if (!before(&q->heap.v[c], &last)) break;
        q->heap.v[i] = q->heap.v[c];
    }
    if (q->heap.n) q->heap.v[i] = last;
    return top;
}

static void push_candidates(queue *q, const tg_trail *t, double limit, tg_search_report *r)
{
    tg_lineage *lineage = tg_lineage_new(t->graph);
    for (int i = 0; i < tg_candidates_count(q->candidates); i++) {
        const tg_candidate *c = tg_candidates_get(q->candidates, i);
        double cost = t->cost_ms + c->preview.cost_delta_ms;
        if (cost >= limit) continue;
        bool fresh;
        tg_map_put(&q->seen, tg_lineage_after(lineage, &c->preview), &fresh);
        if (!fresh) {
            r->duplicates++;
            continue;
        }
        push(q, (entry){cost, q->arrivals++, tg_trail_ref(t), tg_site_mark_of(c->site)});
    }
    tg_lineage_free(lineage);
}

static tg_status expand(queue *q, const tg_rules *rules, tg_trail *trail, double limit,
                        const tg_search_options *o, tg_search_report *r)
{
    tg_candidates *found;
    const tg_candidates *old = trail->parent && trail->parent == q->newest ? q->candidates : NULL;
    TG_TRY(tg_search_expand(rules, trail, old, o, r, &found));
    tg_candidates_free(q->candidates);
    tg_trail_unref(q->newest);
    q->candidates = found;
    q->newest = tg_trail_ref(trail);
    if (trail->depth < o->max_steps) push_candidates(q, trail, limit, r);
    return TG_OK;
}

/* Keeps a graph that was taken out if it is the best, and expands it. */
static tg_status visit(queue *q, const tg_rules *rules, const tg_search_options *o, double alpha,
                       tg_search_report *r, tg_trail *at, tg_trail **best)
{
    bool fresh;
    tg_map_put(&q->built, tg_graph_key(at->graph), &fresh);
    if (!fresh) {
        r->duplicates++;
        return tg_job_poll(o->job);
    }
    r->graphs++;
    if (at->cost_ms < (*best)->cost_ms) {
        tg_search_keep(r, r->expansions + 1, at, best);
    }
    tg_status status = expand(q, rules, at, (*best)->cost_ms * alpha, o, r);
    tg_search_report_progress(o, r, (*best)->cost_ms);
    return status;
}

/* Takes the cheapest graph out. */
static tg_status turn(queue *q, const tg_rules *rules, const tg_search_options *o, double alpha,
                      tg_search_report *r, const tg_trail *root, tg_trail **best)
{
    entry e = pop(q);
    tg_trail *at;
    tg_status status = TG_OK;
    if (e.from) status = tg_trail_step_to(e.from, rules, e.mark, &at);
    else at = tg_trail_ref(root);
    if (status == TG_OK) {
        status = visit(q, rules, o, alpha, r, at, best);
        tg_trail_unref(at);
    }
    tg_trail_unref(e.from);
    return status;
}

static void see_root(queue *q, const tg_graph *g)
{
    tg_lineage *lineage = tg_lineage_new(g);
    tg_map_put(&q->seen, tg_lineage_key(lineage), NULL);
    tg_lineage_free(lineage);
}

static tg_status run(const tg_rules *rules, const tg_graph *g, const tg_search_options *o,
                     double alpha, tg_search_report *r, tg_trail **out)
{
    queue q = {0};
    tg_trail *root = tg_trail_root(g), *best = NULL;
    tg_status status = TG_OK;
    tg_search_keep(r, 0, root, &best);
    see_root(&q, g);
    push(&q, (entry){root->cost_ms, q.arrivals++, NULL, {0}});
    while (q.heap.n && r->expansions < o->budget && status == TG_OK)
        status = turn(&q, rules, o, alpha, r, root, &best);
    r->stop = q.heap.n ? "budget" : "queue empty";
    r->exhausted = status == TG_OK && !q.heap.n;
    r->queued = (int)q.heap.n;
    for (size_t i = 0; i < q.heap.n; i++) tg_trail_unref(q.heap.v[i].from);
    tg_candidates_free(q.candidates);
    tg_trail_unref(q.newest);
    tg_vec_free(&q.heap);
    tg_map_free(&q.seen);
    tg_map_free(&q.built);
    tg_trail_unref(root);
    return tg_search_end(r, status, best, out);
}

tg_status tg_backtrack_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                           const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    (void)search;
    return run(rules, g, o, o->alpha, r, best);
}

tg_status tg_exhaust_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                         const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    (void)search;
    return run(rules, g, o, 1e9, r, best);
}
