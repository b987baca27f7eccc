/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Beam search: all graphs of a level are expanded, and the cheapest `width` of their results that
 * were not seen before make the next level, whether or not they are cheaper than their parents.
 */
#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "runs.h"

#include <stdlib.h>

/* A graph of the present level with its candidates. */
typedef struct place {
    tg_trail *trail;
    tg_candidates *candidates;
} place;

typedef TG_VEC(place) place_vec;

/* A graph that the next level may have: a candidate of one of this level. */
typedef struct offer {
    double cost;
    int from, candidate;
} offer;

typedef struct beam {
    const tg_rules *rules;
    const tg_search_options *o;
    tg_search_report *r;
    tg_map built;   /* keys of the graphs of all levels */
    tg_map offered; /* keys of the offers of this level */
    place_vec level;
    TG_VEC(offer) offers;
    tg_trail *best;
} beam;

static void level_clear(beam *b)
{
    for (size_t i = 0; i < b->level.n; i++) {
        tg_candidates_free(b->level.v[i].candidates);
        tg_trail_unref(b->level.v[i].trail);
    }
    b->level.n = 0;
}

static int by_cost(const void *x, const void *y)
{
    const offer *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    if (a->from != b->from) return a->from - b->from;
    return a->candidate - b->candidate;
}

static void collect(beam *b, int from)
{
    const place *at = &b->level.v[from];
    uint32_t ops = tg_graph_op_count(at->trail->graph);
    for (int i = 0; i < tg_candidates_count(at->candidates); i++) {
        const tg_preview *p = &tg_candidates_get(at->candidates, i)->preview;
        bool fresh = false;
        uint64_t key = tg_search_key(at->trail->graph, p, ops);
        if (!tg_map_find(&b->built, key)) tg_map_put(&b->offered, key, &fresh);
        if (fresh) tg_vec_push(&b->offers, (offer){at->trail->cost_ms + p->cost_delta_ms, from, i});
        else b->r->duplicates++;
    }
}

static void collect_level(beam *b)
{
    b->offers.n = 0;
    tg_map_free(&b->offered);
    for (size_t i = 0; i < b->level.n; i++) collect(b, (int)i);
    if (b->offers.n) qsort(b->offers.v, b->offers.n, sizeof *b->offers.v, by_cost);
}

/* Expands a graph, whose reference is taken over; `old`: its parent's candidates, or NULL. */
static tg_status admit(beam *b, tg_trail *trail, const tg_candidates *old, place *to)
{
    *to = (place){trail, NULL};
    tg_map_put(&b->built, tg_graph_key(trail->graph), NULL);
    if (trail->cost_ms < b->best->cost_ms * (1 - TG_SEARCH_LEAST)) {
        tg_search_keep(b->r, b->r->expansions + 1, trail, &b->best);
    }
    tg_status status = tg_search_expand(b->rules, trail, old, b->o, b->r, &to->candidates);
    if (status != TG_OK) tg_trail_unref(trail);
    else tg_search_report_progress(b->o, b->r, b->best->cost_ms);
    return status;
}

/* Builds and expands the cheapest offers into `next`, until the budget ends. */
static tg_status build_level(beam *b, place_vec *next)
{
    for (size_t i = 0; i < b->offers.n && next->n < (size_t)b->o->width; i++) {
        const offer *f = &b->offers.v[i];
        const place *from = &b->level.v[f->from];
        tg_trail *trail;
        place to;
        if (b->r->expansions >= b->o->budget) break;
        TG_TRY(tg_trail_step(from->trail, from->candidates, f->candidate, &trail));
        b->r->graphs++;
        TG_TRY(admit(b, trail, from->candidates, &to));
        tg_vec_push(next, to);
    }
    return TG_OK;
}

static tg_status levels(beam *b)
{
    for (int depth = 0; depth < b->o->max_steps; depth++) {
        place_vec next = {0};
        collect_level(b);
        tg_status status = build_level(b, &next);
        level_clear(b);
        tg_vec_free(&b->level);
        b->level = next;
        if (status != TG_OK) return status;
        b->r->stop = b->r->expansions >= b->o->budget ? "budget"
                     : next.n                         ? "length of a path"
                                                      : "no new graph";
        if (b->r->expansions >= b->o->budget || !next.n) return TG_OK;
    }
    return TG_OK;
}

tg_status tg_beam_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                      const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    (void)search;
    beam b = {.rules = rules, .o = o, .r = r};
    tg_trail *start = tg_trail_root(g);
    place root;
    tg_search_keep(r, 0, start, &b.best);
    tg_status status = admit(&b, start, NULL, &root);
    if (status == TG_OK) {
        tg_vec_push(&b.level, root);
        status = levels(&b);
    }
    level_clear(&b);
    tg_vec_free(&b.level);
    tg_vec_free(&b.offers);
    tg_map_free(&b.built);
    tg_map_free(&b.offered);
    return tg_search_end(r, status, b.best, best);
}
