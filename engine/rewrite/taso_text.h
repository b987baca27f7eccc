/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the tensors of a TASO rule. For taso_shape.c and taso_text.c only. */
#ifndef TG_REWRITE_TASO_TEXT_H
#define TG_REWRITE_TASO_TEXT_H

#include "rule_taso.h"

#include <string.h>

/* Tensors by number: variables, then two outputs for each operator of `from`, then of `to`. */
enum { TENSORS = TASO_VARS + 4 * TASO_OPS, RANKS = 8, DIMS = RANKS + 2 };

typedef struct writer {
    const taso_rule *rule;
    tg_str *out;
    int rank[TENSORS];         /* 0: not known */
    int same[TENSORS * DIMS];  /* dimensions that must be equal: a forest */
    int named[TENSORS * DIMS]; /* by root: the number in its name + 1 */
    int group_of[TASO_OPS];    /* convolutions of `from` that share attributes: the first of them */
    const char *group[TASO_OPS]; /* of convolutions of `from`: what stands behind `group=` */
    int n_named;
} writer;

static inline int tensor_number(bool to, taso_tensor t)
{
    if (t.op < 0) return ~t.op;
    return TASO_VARS + (to ? 2 * TASO_OPS : 0) + 2 * t.op + t.port;
}

static inline const taso_op *side(const writer *w, bool to, int *n)
{
    *n = to ? w->rule->n_to : w->rule->n_from;
    return to ? w->rule->to : w->rule->from;
}

static inline const taso_op *maker(const writer *w, bool to, taso_tensor t)
{
    return t.op < 0 ? NULL : to ? &w->rule->to[t.op] : &w->rule->from[t.op];
}

/* taso_shape.c. False: some new convolution is like none of the old ones. */
bool taso_find_shapes(writer *w);
/*
 * -1, or: operator i of `from` is a sum or product that a concatenation or convolution reads, so
 * that its operands must be of one shape. The dimension returned is left to a condition.
 */
int taso_must_agree(const writer *w, int i);
int taso_dim_root(const writer *w, int dim);
/* The convolution of `from` that has the filter, or a part of the filter, of one of `to`; or -1. */
int taso_conv_like(const writer *w, const taso_op *to);

#endif
