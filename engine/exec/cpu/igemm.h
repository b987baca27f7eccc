/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Products of matrices of 16-bit integers, summed exactly in 32 bits: for quantised values that the
 * library has no code for. What stands for 0 is taken off first, which leaves nine bits.
 */
#ifndef TG_EXEC_CPU_IGEMM_H
#define TG_EXEC_CPU_IGEMM_H

#include "engine/ir/type.h"

/* The depth of rows on the left: k rounded up to even. */
static inline int64_t tg_igemm_depth(int64_t k)
{
    return (k + 1) / 2 * 2;
}
/* Elements of a packed right operand [k, n]. */
size_t tg_igemm_packed(int64_t k, int64_t n);

/* Packs b, whose element (i, j) is b[i * row + j * column]. */
void tg_igemm_pack(const int16_t *b, int64_t row, int64_t column, int64_t k, int64_t n,
                   int16_t *packed);

/*
 * c [m, n] = a b: a has m rows, tg_igemm_depth(k) elements apart, 0 behind the k-th; rows of c are
 * n elements long. Sums wrap.
 */
void tg_igemm(int64_t m, int64_t n, int64_t k, const int16_t *a, const int16_t *packed, int32_t *c);

/* n elements of int8 or uint8 less zero. */
void tg_igemm_centre(tg_dtype dtype, const void *from, int64_t n, int zero, int16_t *to);

#endif
