/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The product of two matrices of doubles, for the reference kernels. */
#ifndef TG_OPS_PRODUCT_H
#define TG_OPS_PRODUCT_H

#include <stdint.h>

/*
 * y += a b, all row-major: a is m x k, b is k x n, y is m x n. Each element is summed one term
 * after the other with a rounding each, so every processor gives the same bits. O(m n k); the
 * blocking is that of Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication,
 * ACM TOMS 2008, section 4), with panels of the right operand packed.
 */
void tg_product_add(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *y);

#endif
