/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loops of tg_product_add, included once for each instruction set by product.c, which defines
 * NAME(x), a suffix for the functions, TARGET, their attribute, and the size of the tile that is
 * summed in registers: ROWS rows of VECTORS vectors.
 */

/* Eight doubles at any address; the compiler splits them where registers are narrower. */
typedef double NAME(v) __attribute__((vector_size(64), aligned(8), may_alias));
#define V NAME(v)

/* A panel's rows lie behind each other, WIDTH elements each. */
static inline __attribute__((always_inline)) TARGET void NAME(tile)(int rows, int64_t k,
                                                                    const double *a, int64_t a_row,
                                                                    const double *panel, double *y,
                                                                    int64_t y_row)
{
    enum { WIDTH = 8 * VECTORS };
    V sum[ROWS * VECTORS];
#pragma GCC unroll 16
    for (int j = 0; j < rows * VECTORS; j++)
        sum[j] = *(const V *)(y + j / VECTORS * y_row + j % VECTORS * 8);
    for (int64_t i = 0; i < k; i++, panel += WIDTH) {
#pragma GCC unroll 16
        for (int j = 0; j < rows * VECTORS; j++)
            sum[j] += a[j / VECTORS * a_row + i] * *(const V *)(panel + j % VECTORS * 8);
    }
#pragma GCC unroll 16
    for (int j = 0; j < rows * VECTORS; j++)
        *(V *)(y + j / VECTORS * y_row + j % VECTORS * 8) = sum[j];
}

/* One panel of k rows, for all m rows of the result. */
static TARGET void NAME(column)(int64_t m, int64_t k, const double *a, int64_t a_row,
                                const double *panel, double *y, int64_t y_row)
{
    int64_t r = 0;
    for (; r + ROWS <= m; r += ROWS)
        NAME(tile)(ROWS, k, a + r * a_row, a_row, panel, y + r * y_row, y_row);
    for (; r < m; r++) NAME(tile)(1, k, a + r * a_row, a_row, panel, y + r * y_row, y_row);
}

#undef V
