/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers that stand for reals: x = (q - zero) * scale. */
#ifndef TG_OPS_QUANT_H
#define TG_OPS_QUANT_H

#include "compute.h"

/* The range of an integer type of at most 32 bits. */
void tg_quant_range(tg_dtype t, double *low, double *high);
/* Puts x / scale + zero, rounded to nearest even and saturated, into element i. */
void tg_quant_put(tg_tensor *q, int64_t i, double quotient, double zero);
/* The elements of an integer input less its zero point (slot `zero`, one element or one for each
 * index of `axis`; absent: 0), as doubles. */
const double *tg_quant_centred(tg_call *call, int slot, int zero, int axis);

#endif
