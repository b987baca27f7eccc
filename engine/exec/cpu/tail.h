/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bias of an anchor and the post-operations that its group's tail becomes. */
#ifndef TG_EXEC_CPU_TAIL_H
#define TG_EXEC_CPU_TAIL_H

#include "absorb.h"
#include "plan.h"

typedef struct tg_tail_in {
    tg_cpu_plan *p;
    const tg_node *node;
    const tg_group *group; /* NULL: none */
    tg_shape shape;        /* of the primitive's result, which may join axes of the node's */
    const tg_layout *layout;
    int axis;      /* along which a bias runs, in `shape` */
    tg_value bias; /* TG_NO_VALUE: none, a constant addition may become it */
} tg_tail_in;

void tg_operand_none(tg_prim_operands *o);

/* Fills bias and post-operations of record and operands. Errors: TG_UNSUPPORTED. */
tg_status tg_tail_place(const tg_tail_in *in, tg_prim_spec *spec, tg_prim_operands *o) TG_MUST_USE;

#endif
