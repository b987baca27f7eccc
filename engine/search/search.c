/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search.h"

#include "engine/base/clock.h"
#include "runs.h"

#include <string.h>

static const tg_search searches[] = {
    {"greedy", "Takes the rewrite that saves most, until none saves.", 200, tg_greedy_run},
    {"taso", "Best-first with backtracking: expands the cheapest graph within alpha of the best.",
     100, tg_backtrack_run},
    {"beam", "Level by level, keeps the cheapest graphs even where they cost more than before.",
     400, tg_beam_run},
    {"saturate", "Keeps all that rules make in one e-graph and takes the cheapest graph out of it.",
     1000, tg_saturate_run},
    {"random", "Walks at random from the start, again and again, and keeps the cheapest graph.",
     200, tg_random_run},
    {"exhaustive", "Expands every graph that can be reached, cheapest first.", 100000,
     tg_exhaust_run},
};

enum { SEARCHES = sizeof searches / sizeof *searches, MAX_STEPS = 200, WIDTH = 8 };

const tg_search *tg_search_at(int i)
{
    return i >= 0 && i < SEARCHES ? &searches[i] : NULL;
}

const tg_search *tg_search_find(const char *name)
{
    for (int i = 0; i < SEARCHES; i++)
        if (strcmp(searches[i].name, name) == 0) return &searches[i];
    return NULL;
}

tg_status tg_search_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                        const tg_search_options *options, tg_search_report *report, tg_trail **best)
{
    tg_search_options o = options ? *options : (tg_search_options){0};
    if (!(o.alpha > 0)) o.alpha = 1.05;
    if (o.width <= 0) o.width = WIDTH;
    if (o.budget <= 0) o.budget = search->budget;
    if (o.max_steps <= 0) o.max_steps = MAX_STEPS;
    *report = (tg_search_report){.stop = "no candidate"};
    int64_t start = tg_clock_ns();
    tg_status status = search->run(search, rules, g, &o, report, best);
    report->seconds = (double)(tg_clock_ns() - start) / 1e9;
    return status;
}

void tg_search_report_progress(const tg_search_options *o, const tg_search_report *r,
                               double best_ms)
{
    tg_search_progress p = {r->expansions, o->budget, best_ms};
    if (o->progress) o->progress(o->ctx, &p);
}

tg_status tg_search_expand(const tg_rules *rules, const tg_trail *at, const tg_candidates *old,
                           const tg_search_options *o, tg_search_report *r, tg_candidates **out)
{
    int sites, refused, merged;
    TG_TRY(old ? tg_candidates_update(old, at->graph, o->job, out)
               : tg_candidates_find(rules, at->graph, o->job, out));
    tg_candidates_tally(*out, &sites, &refused, &merged);
    r->expansions++;
    r->sites += sites;
    r->duplicates += merged;
    return TG_OK;
}

uint64_t tg_search_key(const tg_graph *g, const tg_preview *p, uint32_t ops)
{
    return tg_graph_key_of(tg_preview_hash(g, p), ops + (uint32_t)(p->nodes_come - p->nodes_gone));
}
