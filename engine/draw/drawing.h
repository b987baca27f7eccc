/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph drawn as text, one node (or folded group) a row, with rails for the values that are
 * alive, in the manner of `git log --graph`. Knows nothing of the terminal: rows are UTF-8 text.
 */
#ifndef TG_DRAW_DRAWING_H
#define TG_DRAW_DRAWING_H

#include "engine/base/job.h"
#include "engine/ir/graph.h"

/*
 * A row. Invariants: nodes[0..n_nodes) are ids in row order; n_nodes is 1 unless the row is a fold;
 * output >= 0 marks the row of a graph output, whose nodes are empty.
 */
typedef struct tg_row {
    const char *rails; /* "├─● │", padded to the drawing's width */
    const char *label; /* name of the node or the fold; never empty */
    const char *op;    /* operator, or "" for a fold or an output */
    const uint32_t *nodes;
    uint32_t n_nodes;
    uint32_t n_ops;         /* those of them that run: inputs are no operators */
    int32_t output;  /* index of the graph output, or -1 */
    uint32_t repeat; /* equal blocks behind a fold; 1 if it is none of several */
    uint64_t block;  /* key of the block that the row belongs to (for tg_draw_options.flipped) */
    bool fold;       /* the row stands for a folded group */
    int lane;        /* of the dot */
    int reference;   /* number of the value in the margin if it left the picture, else 0 */
    int n_weights;   /* constant inputs */
    tg_type type;    /* of the first output that leaves the row */
} tg_row;

typedef struct tg_drawing {
    tg_arena *arena;
    const tg_row *rows;
    uint32_t n_rows;
    uint32_t n_ids;
    const int32_t *row_of; /* by node id; -1: not drawn (constants) */
    int width;             /* columns of the rails */
    int lanes;             /* the most that are used at once */
    int level;             /* the level used when auto was asked */
} tg_drawing;

typedef struct tg_draw_options {
    int level; /* 1 stages, 2 blocks, 3 operators, 4 with constants; 0: 2 above 60 rows, else 3 */
    const uint64_t
        *flipped; /* blocks that are open where the level folds them, or the reverse; ascending */
    size_t n_flipped;
    int lane_columns;           /* 0: 14 */
    const tg_drawing *previous; /* rows that are in both keep their order; may be NULL */
} tg_draw_options;

/* Draws. O((nodes + edges) log nodes). Errors: TG_CANCELLED. */
tg_status tg_draw_rails(const tg_graph *g, const tg_draw_options *options, const tg_job *job,
                        tg_drawing **drawing) TG_MUST_USE;
void tg_drawing_free(tg_drawing *d); /* NULL is fine */

/* The drawing as plain text lines, for .txt files and pipes. */
void tg_drawing_text(const tg_graph *g, const tg_drawing *d, tg_str *out);

#endif
