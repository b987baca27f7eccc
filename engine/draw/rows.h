/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of drawing, for the files of draw/ only. */
#ifndef TG_DRAW_ROWS_H
#define TG_DRAW_ROWS_H

#include "drawing.h"

/*
 * The drawn nodes in row order: a topological order that finishes the chain with the longest
 * remaining path before it starts the next. Writes at most g->n_nodes ids; returns how many.
 */
uint32_t tg_draw_order(const tg_graph *g, bool constants, const tg_drawing *previous,
                       uint32_t *ids);

/* A stretch of the row order that may fold. Blocks tile the order; a block of one row never folds.
 */
typedef struct tg_block {
    uint32_t first, count; /* rows in the order */
    uint32_t stage, index; /* index of the stage, of the block within it */
    uint64_t key;          /* stable across rewrites elsewhere */
    uint64_t signature;    /* equal for blocks of equal operators, attributes and shapes */
} tg_block;

/* Cuts the order into blocks; returns how many (at most n). O(nodes + edges). */
uint32_t tg_draw_blocks(const tg_graph *g, const uint32_t *ids, uint32_t n, tg_block *blocks);

/* Rows for a level: nodes, folds, outputs; fills d->rows without rails, d->row_of. */
void tg_draw_rows(const tg_graph *g, const uint32_t *ids, uint32_t n, const tg_block *blocks,
                  uint32_t n_blocks, const tg_draw_options *options, tg_drawing *d);

/* Lanes and rails of the rows. */
void tg_draw_lanes(const tg_graph *g, const tg_draw_options *options, tg_drawing *d);

static inline bool tg_draw_shown(const tg_node *node, bool constants)
{
    return node->op != TG_OP_SINK && (constants || !node->constant);
}

#endif
