/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators and programs made of them. */
#ifndef TG_EXEC_CPU_ELTWISE_H
#define TG_EXEC_CPU_ELTWISE_H

#include "plan.h"
#include "vector.h"

struct tg_emit;

/* How an operator becomes an instruction; see eltwise.def. */
typedef struct tg_eltwise {
    const char *name;
    int code;            /* tg_vector_code */
    const char *k0, *k1; /* attributes of the constants, "" if absent */
    int post;            /* tg_post_kind; TG_POST_KINDS: none */
    int arity;           /* 1, 2 (or more, one after the other); 0: special */
    tg_status (*emit)(struct tg_emit *e, const tg_node *node);
} tg_eltwise;

/* The row of an operator, or NULL. */
const tg_eltwise *tg_eltwise_of(tg_op op);

/* True if the node can be part of a program: floats of known shape, supported attributes. */
bool tg_eltwise_fits(const tg_graph *g, const tg_node *node);

/* The constant factors and terms of a batch normalisation with constant parameters, [C] each. */
tg_status tg_batchnorm_fold(tg_cpu_plan *p, const tg_node *node, tg_operand *factor,
                            tg_operand *term) TG_MUST_USE;

/* A float attribute; `missing` if it is absent. */
float tg_attr_or(const tg_node *node, const char *name, float missing);

#endif
