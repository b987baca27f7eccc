/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running single nodes with the reference kernels, and constant expressions. */
#ifndef TG_IR_EVAL_H
#define TG_IR_EVAL_H

#include "graph.h"
#include "value.h"

/*
 * Runs one node: infers the output types from the tensors given where the node's own are
 * incomplete, allocates the outputs (tg_tensor_free) and calls the kernel. in[i].data NULL: absent.
 * Errors: TG_UNSUPPORTED (no kernel), those of infer and kernel.
 */
tg_status tg_node_eval(const tg_node *node, const tg_tensor *in, tg_tensor *out) TG_MUST_USE;
/* The same with something that runs bodies. */
tg_status tg_node_eval_with(const tg_node *node, const tg_tensor *in, tg_tensor *out,
                            const tg_runner *runner) TG_MUST_USE;

/*
 * The elements of a constant value: the weight itself, or the expression evaluated with the
 * reference kernels. *weight is a new reference. Errors: TG_INVALID (not constant), TG_UNSUPPORTED,
 * those of kernels.
 */
tg_status tg_const_eval(const tg_graph *g, tg_value v, tg_weight **weight) TG_MUST_USE;

/* The tensor of a TG_OP_CONST node, as a view. */
tg_tensor tg_node_tensor(const tg_node *node);

#endif
