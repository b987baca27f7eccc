/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a whole graph with the reference kernels: slow, exact, the oracle. */
#ifndef TG_EXEC_REFERENCE_H
#define TG_EXEC_REFERENCE_H

#include "engine/ir/graph.h"

/*
 * in: one tensor a graph input; out: one a graph output, allocated by the call (tg_tensor_free).
 * Intermediate values are freed after their last use. Errors: TG_UNSUPPORTED naming the operator
 * that cannot be run, TG_SHAPE, TG_TYPE (inputs), those of kernels. On failure nothing is
 * allocated.
 */
tg_status tg_reference_run(const tg_graph *g, const tg_tensor *in, tg_tensor *out) TG_MUST_USE;

/*
 * The same, and hands every value to see(ctx, node, port, tensor) when it is made, but for those
 * of bodies. An error that `see` returns stops the run. out may be NULL.
 */
typedef tg_status (*tg_see_fn)(void *ctx, const tg_node *node, uint32_t port, const tg_tensor *t);
tg_status tg_reference_watch(const tg_graph *g, const tg_tensor *in, tg_tensor *out, tg_see_fn see,
                             void *ctx) TG_MUST_USE;

/* What runs bodies like this. */
const tg_runner *tg_reference_runner(void);

#endif
