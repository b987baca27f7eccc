/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which nodes run as one step. A group has a first node and a last one whose value it makes; it is
 * planned when the last one's turn comes. Either the first node is an anchor (a convolution, a
 * product of matrices) and the others are its tail, or all are element-wise and run as one loop.
 */
#ifndef TG_EXEC_CPU_ABSORB_H
#define TG_EXEC_CPU_ABSORB_H

#include "plan.h"

/* One operation of a tail; `other` is its second operand. Made of `nodes` nodes. */
typedef struct tg_tail_op {
    tg_post_kind kind;
    float alpha, beta;
    tg_value other;      /* TG_NO_VALUE: none */
    const tg_node *norm; /* a batch normalisation: a product and an addition; NULL: none */
} tg_tail_op;

/* Invariants: nodes in order of running; nodes[0] is the anchor or the first of the loop. */
typedef struct tg_group {
    const tg_node **nodes;
    int n;
    tg_tail_op ops[TG_MAX_POSTS];
    int n_ops;
    bool loop;               /* all are element-wise */
    bool passes; /* the first node chooses among the integers of the last */
    const tg_node *quantize; /* the last node, if the anchor makes integers; else NULL */
} tg_group;

/* By node id, NULL for a node that runs alone. In the plan's memory. */
tg_group **tg_absorb(const tg_cpu_plan *p);

/*
 * An element-wise node as an operation on its input `slot`, the other being its second operand,
 * which has all elements or runs along `axis`.
 */
bool tg_tail_op_of(const tg_graph *g, const tg_node *node, int slot, int64_t axis, tg_tail_op *op);

/* The constant of one element behind a value. */
bool tg_absorb_scalar(const tg_graph *g, tg_value v, float *x);

#endif
