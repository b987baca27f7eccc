/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What convolutions of floats and of integers share. */
#ifndef TG_EXEC_CPU_CONV_H
#define TG_EXEC_CPU_CONV_H

#include "plan.h"

/* Weights [m, c, ...] as [groups, m / groups, c, ...]. */
tg_operand tg_conv_split_groups(tg_operand w, int64_t groups);
/* Strides, dilations and padding of the node's n spatial axes. */
void tg_conv_fill_window(const tg_node *node, tg_prim_spec *spec, int n);

#endif
