/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph as TASO sees it. For taso_view.c, taso_infer.c, taso_outcome.c and taso_exact.c only. */
#ifndef TG_REWRITE_TASO_VIEW_H
#define TG_REWRITE_TASO_VIEW_H

#include "engine/ir/graph.h"
#include "rule_taso.h"

enum { TASO_CUTS = 31 /* most boundaries along one dimension */ };

/*
 * A tensor: dimensions, strides in elements, and for each dimension the boundaries that
 * concatenations left in it, where a split may cut.
 */
typedef struct taso_shape {
    int rank;
    int64_t dim[TG_MAX_RANK], stride[TG_MAX_RANK];
    const int64_t *cut[TG_MAX_RANK];
    uint8_t n_cut[TG_MAX_RANK];
} taso_shape;

/* An output of a node of the view. */
typedef struct taso_value {
    int node, port;
} taso_value;

typedef struct taso_use {
    int node, slot, port;
} taso_use;

typedef struct taso_node {
    taso_op op; /* in[] is not used; n_in is capped, see n_in below */
    int n_in, n_out;
    const taso_value *in;
    taso_shape *out;
    const taso_use *uses;
    int n_uses;
    uint64_t object; /* what TASO shares between equal operators on equal shapes */
    uint64_t hash;   /* the object and, recursively, its producers */
} taso_node;

/* Nodes stand producers first. */
typedef struct taso_view {
    tg_arena *arena;
    taso_node *nodes;
    int n;
    int n_pools;
    uint64_t sum; /* of the nodes' hashes: the graph's */
    int *by_kind[TASO_OTHER + 1];
    int n_kind[TASO_OTHER + 1];
} taso_view;

void taso_view_make(const tg_graph *g, tg_arena *arena, taso_view *view);

/* What operator `op` makes of its inputs; false if it does not accept them. out: two of them. */
bool taso_infer(tg_arena *arena, const taso_op *op, const taso_shape *const *in, taso_shape *out);
/* Strides and boundaries of outputs whose dimensions are set. perm: of a transposition, else NULL.
 */
void taso_infer_cuts(tg_arena *arena, const taso_op *op, const taso_shape *const *in, int n_in,
                     const int64_t *perm, taso_shape *out, int n_out);
/* The identity of an operator; made: by a rule. */
uint64_t taso_object(const taso_op *op, const taso_shape *const *in, int n_in, bool made);

static inline uint64_t taso_node_hash(uint64_t hash, uint64_t producer, int port)
{
    hash = (hash ^ producer) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u + (uint64_t)port;
    return hash ^ hash >> 32;
}

#endif
