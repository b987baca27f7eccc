/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search.h"

#include "engine/base/clock.h"
#include "runs.h"

#include <math.h>
#include <string.h>

static const tg_search searches[] = {
    {"greedy", "Takes the rewrite that saves most, until none saves.", 200, tg_greedy_run},
    {"taso", "Best-first with backtracking: expands the cheapest graph within alpha of the best.",
     100, tg_backtrack_run},
    {"beam", "Level by level, keeps the cheapest graphs even where they cost more than before.",
     800, tg_beam_run},
    {"saturate", "Keeps all that rules make in one e-graph and takes the cheapest graph out of it.",
     2000, tg_saturate_run},
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

static double seconds_since(const tg_search_report *r)
{
    return (double)(tg_clock_ns() - r->begun_ns) / 1e9;
}

tg_status tg_search_run(const tg_search *search, const tg_rules *rules, const tg_graph *g,
                        const tg_search_options *options, tg_search_report *report, tg_trail **best)
{
    tg_search_options o = options ? *options : (tg_search_options){0};
    if (!(o.alpha > 0)) o.alpha = 1.05;
    if (o.width <= 0) o.width = WIDTH;
    if (o.budget <= 0) o.budget = search->budget;
    if (o.max_steps <= 0) o.max_steps = MAX_STEPS;
    *report = (tg_search_report){.stop = "no candidate", .begun_ns = tg_clock_ns()};
    tg_status status = search->run(search, rules, g, &o, report, best);
    report->seconds = seconds_since(report);
    if (report->halted) report->stop = report->halted;
    return status;
}

double tg_search_seconds_left(const tg_search_options *o, const tg_search_report *r)
{
    double left = o->seconds > 0 ? o->seconds - seconds_since(r) : INFINITY;
    return left > 0 ? left : 0;
}

tg_status tg_search_poll(const tg_search_options *o, tg_search_report *r)
{
    TG_TRY(tg_job_poll(o->job));
    if (tg_search_seconds_left(o, r) <= 0) r->halted = "time";
    else if (tg_memory_short()) r->halted = "memory";
    return r->halted ? tg_fail(TG_CANCELLED, "%s", r->halted) : TG_OK;
}

/* Leaves out every second point but the first and the newest. */
static void thin_out(tg_search_report *r)
{
    int n = 1;
    for (int i = 2; i < r->n_course; i += 2) r->course[n++] = r->course[i];
    r->n_course = n;
}

void tg_search_keep(tg_search_report *r, int at, const tg_trail *t, tg_trail **best)
{
    r->best_at = at;
    tg_trail_unref(*best);
    *best = tg_trail_ref(t);
    if (r->n_course == TG_SEARCH_POINTS) thin_out(r);
    r->course[r->n_course++] = (tg_search_point){seconds_since(r), at, t->cost_ms};
}

tg_status tg_search_end(tg_search_report *r, tg_status status, tg_trail *found, tg_trail **best)
{
    if (status == TG_CANCELLED) r->stop = "cancelled";
    if (status == TG_OK || status == TG_CANCELLED) {
        *best = found;
        return TG_OK;
    }
    tg_trail_unref(found);
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
    TG_TRY(tg_search_poll(o, r));
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
