/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between layouts: whole values and parts of them, of any element type. */
#ifndef TG_EXEC_CPU_COPY_H
#define TG_EXEC_CPU_COPY_H

#include "plan.h"

/* The axes of a copy, from outermost to innermost in the target, neighbours merged. */
typedef struct tg_copy {
    int rank;
    int64_t dim[TG_MAX_RANK], from[TG_MAX_RANK], to[TG_MAX_RANK]; /* strides in bytes */
    size_t size;                                                  /* of an element */
} tg_copy;

tg_copy tg_copy_of(tg_dtype dtype, const tg_shape *shape, const tg_layout *from,
                   const tg_layout *to);
void tg_copy_do(const tg_copy *copy, const void *from, void *to);

/* Copies at once; the layouts' offsets are not applied. */
void tg_copy_run(tg_dtype dtype, const tg_shape *shape, const tg_layout *from, const void *data,
                 const tg_layout *to, void *out);

/* The step function of copies: `own` is a tg_copy, the operands are source and target. */
tg_status tg_copy_step(tg_cpu_plan *p, const tg_step *step, void *const *ptr);

/* Adds a step that copies; `to` may be a part of a larger value. */
tg_status tg_copy_plan(tg_cpu_plan *p, const tg_node *node, const tg_operand *from,
                       const tg_operand *to) TG_MUST_USE;

#endif
