/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing element-wise programs: instructions on any number of variables, given registers last. */
#ifndef TG_EXEC_CPU_EMIT_H
#define TG_EXEC_CPU_EMIT_H

#include "absorb.h"
#include "plan.h"
#include "vector.h"

typedef struct tg_emit_in {
    tg_value value; /* TG_NO_VALUE: a constant of the plan's own */
    tg_operand at;
    int variable;
    tg_code code; /* dtype none: floats */
} tg_emit_in;

/* An instruction on variables. */
typedef struct tg_emit_line {
    int code, to, a, b;
    float k0, k1;
} tg_emit_line;

typedef struct tg_emit {
    tg_cpu_plan *p;
    const tg_node *node; /* whose shape all have */
    tg_shape shape;
    tg_status status;
    int n_variables;
    TG_VEC(tg_emit_in) in;
    TG_VEC(tg_emit_line) lines;
    tg_map results; /* node id -> variable + 1 */
} tg_emit;

tg_emit *tg_emit_new(tg_cpu_plan *p, const tg_node *node);
void tg_emit_free(tg_emit *e);

/* The variable that holds a value: the result of an earlier node, or a new input. */
int tg_emit_input(tg_emit *e, tg_value v);
int tg_emit_operand(tg_emit *e, const tg_operand *at);
/* Appends an instruction; the variable of its result. Instructions of one input ignore b. */
int tg_emit_op(tg_emit *e, int code, int a, int b, float k0, float k1);
void tg_emit_result(tg_emit *e, const tg_node *node, int variable);

/* Appends the instructions of an element-wise node. */
tg_status tg_emit_node(tg_emit *e, const tg_node *node) TG_MUST_USE;

/*
 * Adds the step. The outputs are the values of the group that others use, or the node's. Errors:
 * TG_UNSUPPORTED if the program is too large.
 */
tg_status tg_emit_done(tg_emit *e, const tg_group *group) TG_MUST_USE;

#endif
