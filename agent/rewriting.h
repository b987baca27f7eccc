/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The environment that training is for: rewriting a graph. The source is a start state; each
 * environment keeps the graphs, candidates and features of the states that it has been to, by the
 * way taken there, so that episodes that repeat themselves cost little.
 */
#ifndef AG_REWRITING_H
#define AG_REWRITING_H

#include "env.h"
#include "view.h"

typedef struct ag_rewriting_options {
    double first_ms;           /* analytic cost where the run began; 0: that of the start graph */
    const tg_backend *backend; /* measures the reward; NULL or "model": the analytic cost */
    double measure_ms;         /* budget of one measurement; 0: 200 */
    const uint64_t *vetoed;    /* keys of sites that are masked; copied */
    int n_vetoed;
} ag_rewriting_options;

/* Takes references of view, rules and graph. `rules` may be a selection of the view's. */
ag_source *ag_rewriting_source(ag_view *view, const tg_rules *rules, const tg_graph *start,
                               const ag_rewriting_options *options);

/*
 * Follows candidate numbers from the start of a source of this kind: *trail is made anew, with
 * references. Errors: those of finding and applying candidates, TG_NOTFOUND (no such candidate).
 */
tg_status ag_rewriting_trail(ag_source *source, const int *actions, int n,
                             tg_trail **trail) TG_MUST_USE;

#endif
