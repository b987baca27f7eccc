/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analytic cost: a roofline of a device with 8 TFLOP/s, 300 GB/s and 5 us a kernel launch.
 * An operator takes 0.005 * kernels + 1000 * max(flops / 8e12, bytes / 300e9) ms, computed in
 * double and kept as a 32-bit float; a graph takes the sum in the order in which its nodes were
 * made, in 32-bit floats. With these roundings costs compare with those of TASO to the last digit.
 * Constants and constant expressions cost nothing, and neither does a concatenation that a rule
 * made: its pieces are written in place. An If takes the mean of its branches, so that a gain in
 * either counts; a Loop or Scan takes its body as often as it runs, once where that is not known.
 */
#ifndef TG_OPS_COST_H
#define TG_OPS_COST_H

#include "engine/ir/graph.h"

/*
 * Cost in ms of one operator. Absent inputs have dtype TG_DTYPE_NONE; values whose type is not
 * known count nothing. `constant`: the node is a constant expression; `by_rule`: a rule made it.
 */
double tg_cost_ms(tg_op op, const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out,
                  int n_out, bool constant, bool by_rule);

/* What a node of a graph does; nothing for those that do not run. */
tg_work tg_node_work(const tg_graph *g, const tg_node *node);
double tg_node_cost_ms(const tg_graph *g, const tg_node *node);
/* The cost of work that is known. */
double tg_work_ms(const tg_work *work, tg_op op, bool by_rule);
double tg_graph_cost_ms(const tg_graph *g); /* O(nodes) */

/* What the row's work function says, or its default. */
tg_work tg_op_work(tg_op op, const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out,
                   int n_out);

#endif
