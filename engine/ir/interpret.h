/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a whole graph node by node with the reference kernels. */
#ifndef TG_IR_INTERPRET_H
#define TG_IR_INTERPRET_H

#include "graph.h"

/* How a graph is run; any function may be NULL. */
typedef struct tg_interpreter {
    /* Elements of a constant; *weight is a new reference. NULL: tg_const_eval. */
    tg_status (*constant)(const tg_graph *g, tg_value v, tg_weight **weight);
    /* Is handed every value when it is made; an error stops the run. */
    tg_status (*see)(void *ctx, const tg_node *node, uint32_t port, const tg_tensor *t);
    void *ctx;               /* of `see` */
    const tg_runner *runner; /* of bodies; NULL: they are interpreted in the plain way */
} tg_interpreter;

/*
 * in: one tensor a graph input; out: one a graph output, allocated by the call (tg_tensor_free), or
 * NULL. Values are freed after their last use. `how` may be NULL. Errors: TG_UNSUPPORTED naming the
 * operator that cannot be run, TG_SHAPE, TG_TYPE (inputs), those of kernels. On failure nothing is
 * allocated.
 */
tg_status tg_interpret(const tg_graph *g, const tg_tensor *in, tg_tensor *out,
                       const tg_interpreter *how) TG_MUST_USE;

/* Errors: TG_SHAPE or TG_TYPE if a tensor does not fit the graph input, naming it. */
tg_status tg_inputs_check(const tg_graph *g, const tg_tensor *in) TG_MUST_USE;

#endif
