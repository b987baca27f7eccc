/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph encoder: an embedding of each node from its operator, its features and the sum of its
 * incoming edges' features, then rounds of graph attention (Velickovic et al. 2018, equations 1-6)
 * with several heads, concatenated, and a residual connection:
 *
 *   q = h W + b          z(e) = leaky(s . q_sender + r . q_receiver + t . x_edge, 0.2), per head
 *   h' = h + leaky(sum over incoming e of softmax(z)(e) q_sender, 0.01)
 *
 * The first version of X-RLflow has the heads and the per-candidate use; edge features in the
 * scores and the residual connection are additions (the first lets heads tell producers from
 * consumers).
 */
#ifndef AG_GNN_H
#define AG_GNN_H

#include "rows.h"

enum { AG_MAX_HEADS = 16 };

typedef struct ag_gnn_layer {
    size_t w, b;       /* [hidden, hidden], [hidden] */
    size_t send, recv; /* [hidden]: the vectors s and r of all heads */
    size_t edge;       /* [edge features, heads]: t */
} ag_gnn_layer;

/* Shape and parameter offsets; a plain value. */
typedef struct ag_gnn {
    int hidden, heads, layers; /* hidden is a multiple of heads */
    int node_dim, edge_dim;
    size_t op, node, edge, bias; /* [operators, hidden], [node_dim, hidden], [edge_dim, hidden] */
    ag_gnn_layer layer[AG_MAX_LAYERS];
} ag_gnn;

/* Adds the encoder's tensors to a layout. */
void ag_gnn_define(ag_gnn *gnn, ag_layout *layout, const ag_spec *spec, int hidden, int heads,
                   int layers);

/* Activations of one round, kept for the backward pass. */
typedef struct ag_gnn_round {
    ag_real *q;           /* [active before, hidden] */
    ag_real *send, *recv; /* [active before, heads] */
    ag_real *edge;        /* [edge features, heads] */
    ag_real *alpha;       /* [edges of the rows active after, heads] */
    ag_real *mix;         /* [active after, hidden] before the activation */
    ag_real *h;           /* [active after, hidden] */
    ag_buffer buffers[7];
} ag_gnn_round;

/* Scratch of one thread. Zero-initialise; free with ag_gnn_work_done. */
typedef struct ag_gnn_work {
    ag_rows rows;
    int heads, hidden;
    ag_real *x, *edge_x; /* features of the level-0 rows and of the edges */
    ag_real *edge_sum;   /* [active[0], edge_dim] */
    int *ops;            /* [active[0]] */
    ag_real *h0;
    ag_gnn_round round[AG_MAX_LAYERS];
    ag_real *read; /* [1 + candidates, hidden]: sum over the graph, then the differences */
    ag_buffer buffers[10];
} ag_gnn_work;

void ag_gnn_work_done(ag_gnn_work *work);

/*
 * Encodes the graph of `state` and its candidates. Afterwards work->read holds the sum of the last
 * h over the graph's nodes, and for each candidate the sum over its own graph minus that.
 */
void ag_gnn_forward(const ag_gnn *gnn, const ag_real *value, const ag_state *state,
                    ag_gnn_work *work);

/* Adds to grad the gradient that d_read[1 + candidates, hidden] has through the last forward. */
void ag_gnn_backward(const ag_gnn *gnn, const ag_real *value, const ag_state *state,
                     ag_gnn_work *work, const ag_real *d_read, ag_real *grad);

#endif
