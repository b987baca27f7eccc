/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rewrite drawn as two pictures, before and after: only what goes and comes and its
 * neighbourhood, each with rails, and the lines on which rows of both stand beside each other.
 * Costs what it shows, not what the graph holds.
 */
#ifndef TG_DRAW_DIFF_H
#define TG_DRAW_DIFF_H

#include "drawing.h"

/* A node that the rewrite would make; its id is graph->n_ids plus its index. */
typedef struct tg_diff_new {
    tg_op op;
    bool constant;
    uint16_t n_in, n_out;
    const tg_value *in; /* of nodes of the graph or of earlier new ones; TG_NO_VALUE: absent */
    const tg_type *out;
    double cost_ms;
} tg_diff_new;

typedef struct tg_diff_redirect { /* each use of `from` becomes a use of `to` */
    tg_value from, to;
} tg_diff_redirect;

/* A rewrite that has not been made: what goes (ascending), what comes (producers first). */
typedef struct tg_diff_change {
    const uint32_t *gone;
    const tg_diff_new *come;
    const tg_diff_redirect *redirects;
    int n_gone, n_come, n_redirects;
} tg_diff_change;

typedef struct tg_diff_row {
    uint32_t id;
    const char *rails; /* padded to the side's width */
    const char *label, *op;
    tg_type type; /* of the first output */
    int n_weights;
    double cost_ms; /* analytic */
    bool changed;   /* goes or comes */
} tg_diff_row;

typedef struct tg_diff_side {
    const tg_diff_row *rows;
    int n, width; /* columns of the rails */
} tg_diff_side;

/* Rows that stand beside each other: the same node, or one that goes and one that comes; -1: none.
 */
typedef struct tg_diff_line {
    int before, after;
} tg_diff_line;

typedef struct tg_diff {
    tg_arena *arena;
    tg_diff_side before, after;
    const tg_diff_line *lines;
    int n_lines;
    int left_out; /* operators of the graph before that are not shown */
} tg_diff;

enum { TG_DIFF_MOST_ROWS = 240 };

/*
 * The rewrite with what lies within `radius` values of it. At most TG_DIFF_MOST_ROWS nodes of the
 * graph are drawn. Cannot fail; free with tg_diff_free.
 */
tg_diff *tg_diff_of_change(const tg_graph *g, const tg_diff_change *change, int radius);
/* The same of two graphs of one lineage. */
tg_diff *tg_diff_of_graphs(const tg_graph *before, const tg_graph *after, int radius);
void tg_diff_free(tg_diff *diff); /* NULL is fine */

#endif
