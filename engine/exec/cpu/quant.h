/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantised values: how they are read, and which operators run on them as they are. Sums of
 * products of integers are exact; scaling them to the output's units rounds otherwise than the
 * standard's two divisions do, so that a result may be one quantum off where it is a tie, and equal
 * elsewhere.
 */
#ifndef TG_EXEC_CPU_QUANT_H
#define TG_EXEC_CPU_QUANT_H

#include "absorb.h"
#include "convert.h"
#include "plan.h"

/*
 * How the integers of a QuantizeLinear or DequantizeLinear stand for floats, if one constant scale
 * and zero point hold for all of them.
 */
bool tg_quant_code(const tg_graph *g, const tg_node *node, tg_code *code);

/* The value is floats made from integers of such a code: *from is theirs. */
bool tg_quant_source(const tg_graph *g, tg_value v, tg_value *from, tg_code *code);

static inline bool tg_quant_is_byte(tg_dtype t)
{
    return t == TG_U8 || t == TG_I8;
}

/* The value is floats made from bytes, by one scale or one for each index of `axis`. */
bool tg_quant_weight(const tg_graph *g, tg_value v, int64_t axis);

/* What an operation on integers makes: the value of `last`, floats cut to [low, high] first. */
typedef struct tg_quant_out {
    const tg_node *last;
    tg_code code;
    float low, high;
} tg_quant_out;

/* By the values of a constant scale and zero point of the node's own. */
bool tg_quant_out_given(const tg_graph *g, const tg_node *node, tg_value scale, tg_value zero,
                        tg_quant_out *out);
/* By the group that the node begins, if its tail only cuts. */
bool tg_quant_out_of(const tg_cpu_plan *p, const tg_node *node, tg_quant_out *out);

/*
 * The node, a product or convolution of what DequantizeLinear made, on the integers. Errors:
 * TG_UNSUPPORTED: it is not, or there is no code for it.
 */
tg_status tg_quant_matmul(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
tg_status tg_quant_conv(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
/* True if the node may be such. */
bool tg_quant_anchor(const tg_graph *g, const tg_node *node);

/* True if the node chooses among elements of the code that `quantize`, its only user, makes. */
bool tg_quant_passes(const tg_graph *g, const tg_node *node, const tg_node *quantize);
/* Plans such a pair. */
tg_status tg_quant_pass(tg_cpu_plan *p, const tg_group *group) TG_MUST_USE;

/* A DequantizeLinear: it is planned when somebody needs its floats. */
bool tg_quant_is_lazy(const tg_graph *g, const tg_node *node);

#endif
