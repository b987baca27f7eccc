/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Elements of any numeric type as floats and back, a block at a time: what lets element-wise
 * programs work on bytes, halves and quantised values.
 */
#ifndef TG_EXEC_CPU_CONVERT_H
#define TG_EXEC_CPU_CONVERT_H

#include "engine/ir/type.h"

/* What an operand's elements stand for: (x - zero) * scale. `quantised` false: for themselves. */
typedef struct tg_code {
    tg_dtype dtype;
    bool quantised;
    float scale, zero;
} tg_code;

/* True if elements of the type are loaded and stored by vector code. */
bool tg_convert_fits(tg_dtype dtype);

/*
 * n elements, `stride` apart, as floats. Where stride is 1, up to 15 elements behind them are read
 * and up to 15 floats written.
 */
void tg_convert_load(const tg_code *code, const void *from, int64_t stride, int n, float *to);
/*
 * Back: quantised values are x / scale rounded to even, plus zero, saturated, NaN being zero; bool
 * is x != 0; other integers are cut towards zero. Up to 15 floats behind are read.
 */
void tg_convert_store(const tg_code *code, const float *from, int n, void *to, int64_t stride);

#endif
