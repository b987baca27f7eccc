/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows that encode a graph together with its candidates, each candidate only where it differs.
 *
 * After l rounds of message passing a candidate's nodes differ from the graph's within l edges of
 * its change. So row i < n is node i of the graph, and behind them come, level by level, one row
 * for each (candidate, node) that differs from that level on: level 0 holds the rows of the deltas,
 * level l the nodes first reached by round l. The rows in use after round l are therefore the first
 * active[l], and a round is one dense product over them. A sender that does not differ yet is read
 * from the graph's own row. Results equal those of encoding each candidate's graph whole.
 */
#ifndef AG_ROWS_H
#define AG_ROWS_H

#include "features.h"
#include "nn.h"

enum { AG_MAX_LAYERS = 8 };

/* Zero-initialise, fill as often as wanted, free with ag_rows_done. */
typedef struct ag_rows {
    int layers, n, rows;           /* nodes of the graph, all rows */
    int active[AG_MAX_LAYERS + 1]; /* rows in use after each round; active[layers] = rows */
    int *base;                     /* [rows] the graph's row it stands for; its own if new */
    int *edge_at;                  /* [rows + 1] incoming edges of a row */
    int *own, *other;              /* [edges] sender: `own` if that row is in use, else `other` */
    int *feature;                  /* [edges] row of the edge feature matrix */
    int most_edges;                /* of one row */
    int edge_features;             /* its rows: graph.m, then the deltas' in order */
    int *candidate_at;             /* [candidates + 1] a candidate's rows, in `candidate_row` */
    int *candidate_row;
    ag_buffer buffers[12];
} ag_rows;

/*
 * Lays out the rows of a graph and of its candidates for `layers` rounds (at most AG_MAX_LAYERS).
 * O(rows + their edges).
 */
void ag_rows_build(ag_rows *rows, const ag_graph *graph, const ag_candidate *candidates,
                   int n_candidates, int layers);
void ag_rows_done(ag_rows *rows);

/* The sender's row of edge `e` in a round that reads `active` rows. */
static inline int ag_rows_sender(const ag_rows *rows, int e, int active)
{
    return rows->own[e] < active ? rows->own[e] : rows->other[e];
}

#endif
