/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the policy sees: a graph as arrays, and candidates as changes of it.
 *
 * A feature must depend on its node and its neighbours only (never on the size or cost of the whole
 * graph, except through constants of the episode), because a candidate lists only what it changes.
 * Whatever describes the whole graph belongs into the globals or into the candidate's own features.
 */
#ifndef AG_FEATURES_H
#define AG_FEATURES_H

#include "engine/base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Names of one kind of thing, in the order of their ids. */
typedef struct ag_names {
    int n;
    const char *const *name;
} ag_names;

/*
 * The vocabulary. Operators and rules are ids in these lists; features are columns. Names are for
 * ever: checkpoints store them. The first AG_EDGE_KINDS edge features are always those below.
 */
typedef struct ag_spec {
    ag_names operators, rules, node, edge, candidate, global;
} ag_spec;

enum { AG_EDGE_FORWARD, AG_EDGE_REVERSE, AG_EDGE_SELF, AG_EDGE_KINDS };

/* A deep copy owned by `arena`. */
ag_spec *ag_spec_copy(tg_arena *arena, const ag_spec *spec);
int ag_names_find(const ag_names *names, const char *name); /* -1 if absent */

/*
 * A graph as the encoder reads it. Edges are grouped by receiver: node i receives edges in_at[i] up
 * to in_at[i + 1]. For each edge of the network there is one in either direction, and each node has
 * one to itself. out_at and out_to give the receivers of each sender, self edges left out.
 */
typedef struct ag_graph {
    int n, m;           /* nodes, edges with reverse and self edges */
    const int *op;      /* [n] operator ids */
    const float *x;     /* [n, spec.node.n] */
    const int *in_at;   /* [n + 1] */
    const int *in_from; /* [m] */
    const float *in_x;  /* [m, spec.edge.n] */
    const int *out_at;  /* [n + 1] */
    const int *out_to;  /* [out_at[n]] */
} ag_graph;

/*
 * A graph from `links` producer -> consumer with features x[links, dims], dims = spec.edge.n; the
 * kind columns are overwritten. Adds reverse and self edges. O(n + links), owned by `arena`; op and
 * x are kept, not copied.
 */
void ag_graph_build(tg_arena *arena, ag_graph *graph, int n, const int *op, const float *x,
                    int links, const int *from, const int *to, const float *link_x, int dims);

/*
 * A change of a graph with n nodes: `gone` nodes vanish, and each row is a node that is new (base
 * -1) or whose operator, features or incoming edges differ (base: its index). A row lists all its
 * incoming edges, reverse and self edges too; senders below n are nodes of the graph, n + r is row
 * r. A kept node that is no row must not receive from a vanished node. Rows with equal base, or a
 * base that is also gone, are not allowed.
 */
typedef struct ag_delta {
    int n_gone, n_rows;
    const int *gone;    /* [n_gone] */
    const int *base;    /* [n_rows] */
    const int *op;      /* [n_rows] */
    const float *x;     /* [n_rows, spec.node.n] */
    const int *in_at;   /* [n_rows + 1] */
    const int *in_from; /* [in_at[n_rows]] */
    const float *in_x;  /* [in_at[n_rows], spec.edge.n] */
} ag_delta;

typedef struct ag_candidate {
    int rule;       /* id in spec.rules */
    bool allowed;   /* false: masked, its probability is 0 */
    uint64_t key;   /* names the candidate within its state, e.g. the hash of the graph after */
    const float *x; /* [spec.candidate.n] */
    ag_delta delta;
} ag_candidate;

/* A decision: the current graph and what may be done to it. Immutable once shared. */
typedef struct ag_state {
    atomic_int refs;
    tg_arena *arena; /* owns all below */
    uint64_t key;    /* names the state, e.g. the hash of the graph */
    ag_graph graph;
    bool no_stop; /* STOP is masked; some candidate is allowed then */
    int n_candidates;
    ag_candidate *candidates;
    const float *global; /* [spec.global.n] */
} ag_state;

ag_state *ag_state_new(void); /* empty, with an arena to fill */
ag_state *ag_state_ref(ag_state *state);
void ag_state_unref(ag_state *state); /* NULL is fine */

/*
 * A state of its own that shares all but its masks: `allowed` and `no_stop` may be changed before
 * it is shared in turn. O(candidates).
 */
ag_state *ag_state_share(ag_state *state);

/* Whether all indices of a state are in range and deltas keep their rules; for tests and asserts.
 */
tg_status ag_state_check(const ag_state *state, const ag_spec *spec) TG_MUST_USE;

/* The whole graph after `delta`: kept nodes in order, then new rows. O(n + m). */
void ag_graph_apply(tg_arena *arena, ag_graph *after, const ag_graph *graph, const ag_delta *delta,
                    const ag_spec *spec);

#endif
