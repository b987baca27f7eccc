/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/base/rng.h"
#include "runs.h"

typedef struct walker {
    const tg_rules *rules;
    const tg_search_options *o;
    tg_search_report *r;
    tg_rng *rng;
    tg_trail *best;
} walker;

static void keep(walker *w, const tg_trail *t)
{
    if (t->cost_ms >= w->best->cost_ms) return;
    tg_search_keep(w->r, w->r->expansions, t, &w->best);
}

/* One walk: each step uniform over the candidates and stopping. */
static tg_status walk(walker *w, const tg_trail *root)
{
    tg_trail *at = tg_trail_ref(root), *next;
    tg_candidates *c = NULL, *fresh;
    tg_status status = TG_OK;
    while (w->r->expansions < w->o->budget && at->depth < w->o->max_steps) {
        status = tg_search_expand(w->rules, at, c, w->o, w->r, &fresh);
        if (status != TG_OK) break;
        tg_candidates_free(c);
        c = fresh;
        int i = (int)tg_rng_below(w->rng, (uint64_t)tg_candidates_count(c) + 1);
        if (i == tg_candidates_count(c)) break;
        status = tg_trail_step(at, c, i, &next);
        if (status != TG_OK) break;
        tg_trail_unref(at);
        at = next;
        w->r->graphs++;
        keep(w, at);
    }
    tg_candidates_free(c);
    tg_trail_unref(at);
    tg_search_report_progress(w->o, w->r, w->best->cost_ms);
    return status;
}

tg_status tg_random_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                        const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    (void)search;
    tg_trail *root = tg_trail_root(g);
    walker w = {rules, o, r, tg_rng_new(o->seed), NULL};
    tg_status status = TG_OK;
    r->stop = "budget";
    tg_search_keep(r, 0, root, &w.best);
    while (status == TG_OK && r->expansions < o->budget) status = walk(&w, root);
    tg_rng_free(w.rng);
    tg_trail_unref(root);
    return tg_search_end(r, status, w.best, best);
}
