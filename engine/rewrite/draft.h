/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * New nodes that no graph holds yet, typed as the builder would type them. For the files of
 * rewrite/ only.
 */
#ifndef TG_REWRITE_DRAFT_H
#define TG_REWRITE_DRAFT_H

#include "engine/base/vec.h"
#include "sites.h"

/* New nodes on top of a graph; the id of come.v[i] is g->n_ids + i. */
typedef struct draft {
    const tg_graph *g;
    tg_arena *arena;
    TG_VEC(tg_preview_node) come;
} draft;

const tg_type *draft_type(const draft *d, tg_value v);
bool draft_constant(const draft *d, tg_value v);

/*
 * Adds a node; `attr` (by spec position, all of them) becomes canonical in place. `in` is copied.
 * Errors: as tg_build_node.
 */
tg_status draft_node(draft *d, tg_op op, tg_attr *attr, const tg_value *in, int n_in, int n_out,
                     uint32_t *id) TG_MUST_USE;
/* Adds a constant of one number everywhere. */
tg_value draft_fill(draft *d, tg_dtype dtype, const tg_shape *shape, double x);

#endif
