/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of equality saturation share. For search/ only. */
#ifndef TG_SEARCH_SATURATE_H
#define TG_SEARCH_SATURATE_H

#include "extract.h"
#include "runs.h"

/*
 * Looks for steps from the root to a graph as cheap as `choice`, by best-first search: nearest is
 * the graph on whose way most of the operators of the choice, and of those that rules matched to
 * make them, have been. *found stays NULL if that does not lead there.
 */
tg_status retrace_steps(egraph *e, const extract_choice *choice, const tg_rules *rules,
                        const tg_trail *root, const tg_search_options *o, tg_search_report *r,
                        tg_trail **found) TG_MUST_USE;

/*
 * A step from the root to the chosen graph, whatever rules would lead there. number_of: by node id
 * of the root, in the e-graph. Errors: those of building.
 */
tg_status leap_to(egraph *e, const extract_choice *choice, const tg_trail *root,
                  const uint32_t *number_of, tg_trail **out) TG_MUST_USE;

#endif
