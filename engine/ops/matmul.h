/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products on doubles, shared by the float and the quantised operators. */
#ifndef TG_OPS_MATMUL_H
#define TG_OPS_MATMUL_H

#include "compute.h"

/* numpy's product of shapes a and b (ranks 1 to 8). Errors: TG_SHAPE. */
tg_status tg_matmul_shape(const tg_shape *a, const tg_shape *b, tg_shape *out) TG_MUST_USE;

/*
 * A product as `batch` products of m x k by k x n. The elements of batch i begin at a_at(i),
 * b_at(i) and i * m * n.
 */
typedef struct tg_matmul {
    tg_shape a, b, out; /* as matrices: rank >= 2, batch axes in front */
    int64_t batch, m, k, n;
} tg_matmul;

tg_matmul tg_matmul_of(const tg_shape *a, const tg_shape *b);
int64_t tg_matmul_a_at(const tg_matmul *p, int64_t i);
int64_t tg_matmul_b_at(const tg_matmul *p, int64_t i);

/* y is zero at the start. O(batch * m * n * k). */
void tg_matmul_run(const tg_matmul *p, const double *a, const double *b, double *y);

#endif
