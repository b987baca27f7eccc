/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of two graphs that a rewrite changed, as two small graphs that must compute the same. */
#ifndef TG_EXEC_REGION_H
#define TG_EXEC_REGION_H

#include "engine/ir/graph.h"

/* Invariants: before and after have the same inputs, which stand for the values `inputs` that both
 * large graphs have; output i is value outputs[i] of the first large graph. */
typedef struct tg_region {
    tg_graph *before, *after;
    tg_value *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
} tg_region;

/*
 * `after` was made from `before` by one builder. A region without outputs has no graphs. Errors:
 * TG_UNSUPPORTED if a type at the boundary is not known, or an operator cannot be copied.
 */
tg_status tg_region_cut(const tg_graph *before, const tg_graph *after, tg_region *r) TG_MUST_USE;
void tg_region_done(tg_region *r);

#endif
