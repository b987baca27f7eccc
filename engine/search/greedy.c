/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runs.h"

static int cheapest(const tg_candidates *c, double cost)
{
    int best = -1;
    double least = -cost * TG_SEARCH_LEAST;
    for (int i = 0; i < tg_candidates_count(c); i++) {
        double delta = tg_candidates_get(c, i)->preview.cost_delta_ms;
        if (delta < least) {
            least = delta;
            best = i;
        }
    }
    return best;
}

tg_status tg_greedy_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                        const tg_search_options *o, tg_search_report *r, tg_trail **best)
{
    (void)search;
    tg_trail *at = NULL, *next, *root = tg_trail_root(g);
    tg_candidates *c = NULL, *fresh;
    tg_status status = TG_OK;
    r->stop = "budget";
    tg_search_keep(r, 0, root, &at);
    tg_trail_unref(root);
    while (r->expansions < o->budget && at->depth < o->max_steps) {
        status = tg_search_expand(rules, at, c, o, r, &fresh);
        if (status != TG_OK) break;
        tg_candidates_free(c);
        c = fresh;
        int i = cheapest(c, at->cost_ms);
        if (i < 0) {
            r->stop = "no candidate improves";
            break;
        }
        status = tg_trail_step(at, c, i, &next);
        if (status != TG_OK) break;
        r->graphs++;
        tg_search_keep(r, r->expansions, next, &at);
        tg_trail_unref(next);
        tg_search_report_progress(o, r, at->cost_ms);
    }
    if (at->depth >= o->max_steps) r->stop = "length of a path";
    tg_candidates_free(c);
    return tg_search_end(r, status, at, best);
}
