/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest graph in an e-graph. For the files of search/ only. */
#ifndef TG_SEARCH_EXTRACT_H
#define TG_SEARCH_EXTRACT_H

#include "egraph.h"

/* order: the numbers of the nodes taken, producers first, constants included where needed. */
typedef struct extract_choice {
    TG_VEC(uint32_t) order;
    double cost_ms;
    bool proved; /* nothing in the e-graph is cheaper */
} extract_choice;

typedef struct extract_limits {
    int branches;   /* nodes of the branch-and-bound tree, over all its runs */
    double seconds; /* of each run; what the limit cuts off may differ from machine to machine */
    const tg_job *job;
} extract_limits;

/*
 * Takes a set of operators of least total cost that gives every output class, each operator counted
 * once however many use it: an integer linear programme (one 0-1 variable an operator, one row a
 * class and an input; GLPK). Cycles among those taken are cut off as they turn up. Errors:
 * TG_NOTFOUND (no solution within the limits), TG_CANCELLED, TG_NOMEM.
 */
tg_status extract_cheapest(egraph *e, const uint32_t *outputs, int n_outputs,
                           const extract_limits *limits, extract_choice *out) TG_MUST_USE;

#endif
