/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The searches behind the table, and what they share: for the files of search/ only. */
#ifndef TG_SEARCH_RUNS_H
#define TG_SEARCH_RUNS_H

#include "search.h"

#define RUN_DECLARED(name)                                                                         \
    tg_status name(const tg_search *search, const tg_rules *rules, const tg_graph *g,              \
                   const tg_search_options *o, tg_search_report *r, tg_trail **best)
RUN_DECLARED(tg_greedy_run);
RUN_DECLARED(tg_backtrack_run);
RUN_DECLARED(tg_beam_run);
RUN_DECLARED(tg_saturate_run);
RUN_DECLARED(tg_random_run);
RUN_DECLARED(tg_exhaust_run);

/* Savings below this share of the cost are noise of the arithmetic. */
#define TG_SEARCH_LEAST 1e-7

/* TG_CANCELLED if the job is, the time is over or memory runs short; the report tells which. */
tg_status tg_search_poll(const tg_search_options *o, tg_search_report *r) TG_MUST_USE;
/* The seconds that are left; INFINITY: no limit. */
double tg_search_seconds_left(const tg_search_options *o, const tg_search_report *r);
/* Makes `t` the best, which is NULL before the first, and notes when: `at` is its expansion. */
void tg_search_keep(tg_search_report *r, int at, const tg_trail *t, tg_trail **best);
/* What a status means for a search: TG_CANCELLED is an end like others. */
tg_status tg_search_end(tg_search_report *r, tg_status status, tg_trail *found, tg_trail **best);
void tg_search_report_progress(const tg_search_options *o, const tg_search_report *r,
                               double best_ms);
/* The candidates of a trail's graph, counted in the report; `old`: those of its parent, or NULL. */
tg_status tg_search_expand(const tg_rules *rules, const tg_trail *at, const tg_candidates *old,
                           const tg_search_options *o, tg_search_report *r,
                           tg_candidates **out) TG_MUST_USE;
/*
 * tg_graph_key of the graph that a preview of `g` leads to; `ops` is tg_graph_op_count(g). O(nodes
 * below the change).
 */
uint64_t tg_search_key(const tg_graph *g, const tg_preview *p, uint32_t ops);

#endif
