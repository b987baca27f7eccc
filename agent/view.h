/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs and candidates as the policy sees them (features.h). Nodes are all nodes that are not
 * constant, graph inputs and the sink among them; constants appear as features of their readers. A
 * candidate is described from its preview: no graph is built.
 */
#ifndef AG_VIEW_H
#define AG_VIEW_H

#include "engine/engine.h"
#include "policy.h"

/* A vocabulary: all operators of the table and the rules of a set. Reference-counted, immutable. */
typedef struct ag_view ag_view;

ag_view *ag_view_new(const tg_rules *rules);
ag_view *ag_view_ref(ag_view *view);
void ag_view_unref(ag_view *view); /* NULL is fine */
const ag_spec *ag_view_spec(const ag_view *view);

/*
 * The decision at the graph of `candidates`, which may come from a selection of the view's rules.
 * `first_ms` is the analytic cost of the graph where the run began, `steps` those taken since.
 * Errors: TG_NOTFOUND (a rule that the view does not know). O(graph + candidates and their
 * surroundings).
 */
tg_status ag_view_state(const ag_view *view, const tg_candidates *candidates, double first_ms,
                        int steps, ag_state **state) TG_MUST_USE;

/*
 * Makes a new policy of this vocabulary lean towards candidates that the analytic cost likes, and
 * towards STOP where it likes none. Mildly: training starts on the side of the greedy search, but
 * looks around.
 */
void ag_view_lean(const ag_net *net, ag_real *value);

#endif
