/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantised values: how they are read, and which operators run on them as they are. */
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

/* A DequantizeLinear: it is planned when somebody needs its floats. */
bool tg_quant_is_lazy(const tg_graph *g, const tg_node *node);

#endif
