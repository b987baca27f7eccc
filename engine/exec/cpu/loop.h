/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps that are one function over row-major operands: what has no layout of its own. */
#ifndef TG_EXEC_CPU_LOOP_H
#define TG_EXEC_CPU_LOOP_H

#include "plan.h"

/*
 * Adds a step: its operands are the node's inputs, row-major (buffer -1: absent), then its outputs,
 * new and row-major, then `scratch` bytes if not 0. `own` is copied (size bytes; NULL: nothing).
 */
tg_status tg_cpu_loop(tg_cpu_plan *p, const tg_node *node, tg_step_fn run, const void *own,
                      size_t size, size_t scratch) TG_MUST_USE;

/* Plan functions that others fall back on; table.c declares them all. */
tg_status tg_cpu_plan_kernel(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
tg_status tg_cpu_plan_pad(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
tg_status tg_cpu_plan_slice(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
tg_status tg_cpu_plan_resize(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
tg_status tg_cpu_plan_moments(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
tg_status tg_cpu_plan_attend(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;

/* The attribute, or NULL if the operator or the node has none such. */
const tg_attr *tg_cpu_attr(const tg_node *node, const char *name);
/* True if the operator is called so. */
bool tg_cpu_named(const tg_node *node, const char *name);

/* A shape as axes before `axis`, the axis, and axes behind it. */
typedef struct tg_fold3 {
    int64_t outer, dim, inner;
} tg_fold3;
tg_fold3 tg_cpu_fold3(const tg_shape *s, int64_t axis);

#endif
