/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of states that a person and an agent have reached. Nothing in it is ever lost: undo and
 * acting elsewhere move HEAD. Belongs to one thread; the graphs in it are shared.
 */
#ifndef TG_ENGINE_HISTORY_H
#define TG_ENGINE_HISTORY_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/measure/bench.h"
#include "engine/search/trail.h"

typedef enum tg_who { TG_BY_AGENT, TG_BY_YOU, TG_BY_SEARCH } tg_who;
const char *tg_who_name(tg_who who);       /* "agent", "you", "search" */
const char *tg_who_short_name(tg_who who); /* three letters */

/* How a step came about. */
typedef struct tg_step_info {
    tg_who who;
    double probability; /* the policy gave it; NaN if none */
    int rank;           /* in the policy's order, from 1; 0 if none */
    bool override;      /* the agent's first choice was another */
    int64_t version;    /* of the policy; -1 if none */
    double value;       /* V(s) of the state it left; NaN if none */
} tg_step_info;

/* Invariants: id is its place in the history; parent < id; children are linked in order of arrival.
 */
typedef struct tg_state {
    int id, parent;                              /* parent -1: the root */
    int first_child, next_sibling, last_visited; /* -1: none */
    tg_trail *trail;
    tg_step_info info;
    const char *tag; /* interned; NULL: none */
    bool measured;   /* `against_parent` holds */
    tg_comparison against_parent;
    bool timed; /* `latency` holds */
    tg_latency latency;
    double max_abs_error; /* of the step, as verified; NaN if it was not */
    bool pruned;
} tg_state;

typedef struct tg_history {
    TG_VEC(tg_state) states;
    tg_map by_key; /* tg_graph_key -> id */
    int head;
} tg_history;

tg_history *tg_history_new(const tg_graph *root);
void tg_history_free(tg_history *h); /* NULL is fine */

tg_state *tg_history_get(tg_history *h, int id);
tg_state *tg_history_head(tg_history *h);
/* The id of the state with this graph, or -1. */
int tg_history_find(const tg_history *h, const tg_graph *g);

/*
 * Adds a step from state `parent` and moves HEAD there. Where the resulting graph is a known state,
 * HEAD moves to that one instead and *linked (may be NULL) is set. Returns the id. Takes a
 * reference.
 */
int tg_history_add(tg_history *h, int parent, const tg_trail *trail, const tg_step_info *info,
                   bool *linked);

/* The same as a state of its own even if its graph is known: later steps name nodes of this one. */
int tg_history_branch(tg_history *h, int parent, const tg_trail *trail, const tg_step_info *info);

/* Moves HEAD and remembers the way for redo. */
void tg_history_go(tg_history *h, int id);
/* To the parent, to the child visited last; false at the root, at a leaf. */
bool tg_history_undo(tg_history *h);
bool tg_history_redo(tg_history *h);
/* Hides a state and what comes after it; HEAD, if inside, moves to its parent. The root stays. */
void tg_history_prune(tg_history *h, int id);

/* Steps from the root. */
int tg_history_depth(const tg_history *h, int id);
/* Number of states that are not pruned, of leaves among them. */
int tg_history_count(const tg_history *h, int *leaves);

#endif
