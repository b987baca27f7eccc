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
