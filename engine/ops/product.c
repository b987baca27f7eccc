/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "product.h"

#include "engine/base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
/* A product and a sum in one rounding would make the bits depend on the processor. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#ifdef __x86_64__
#define NAME(x) wide_##x
#define TARGET __attribute__((target("avx512f")))
#define ROWS 8
#define VECTORS 2
#include "product_body.h"
#undef NAME
#undef TARGET
#undef ROWS
#undef VECTORS
#define NAME(x) middle_##x
#define TARGET __attribute__((target("avx2")))
#define ROWS 4
#define VECTORS 1
#include "product_body.h"
#undef NAME
#undef TARGET
#undef ROWS
#undef VECTORS
#endif
#define NAME(x) base_##x
#define TARGET
#define ROWS 2
#define VECTORS 1
#include "product_body.h"

/* How one column of panels is computed, and how wide a panel is. */
typedef struct way {
    void (*column)(int64_t m, int64_t k, const double *a, int64_t a_row, const double *panel,
                   double *y, int64_t y_row);
    int width;
} way;

static way best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return (way){wide_column, 16};
    if (__builtin_cpu_supports("avx2")) return (way){middle_column, 8};
#endif
    return (way){base_column, 8};
}

/* Rows of the right operand at a time: a panel of them stays in the first-level cache. */
enum { DEPTH = 256, WIDEST = 16 };

/* Columns from `at` on, missing ones as zeros. */
static void pack(const double *b, int64_t n, int64_t rows, int64_t columns, int width,
                 double *panel)
{
    for (int64_t i = 0; i < rows; i++, b += n, panel += width) {
        memcpy(panel, b, (size_t)columns * sizeof *b);
        memset(panel + columns, 0, (size_t)(width - columns) * sizeof *b);
    }
}

/* The last columns are too few for a panel: they are computed beside y. */
static void run_edge(const way *w, int64_t m, int64_t k, const double *a, int64_t a_row,
                     const double *panel, double *y, int64_t n, int64_t columns)
{
    size_t size = (size_t)columns * sizeof *y;
    double *wide = tg_calloc((size_t)(m * w->width), sizeof *wide);
    for (int64_t r = 0; r < m; r++) memcpy(wide + r * w->width, y + r * n, size);
    w->column(m, k, a, a_row, panel, wide, w->width);
    for (int64_t r = 0; r < m; r++) memcpy(y + r * n, wide + r * w->width, size);
    free(wide);
}

/* Four terms at a time, in order, so that y moves less. */
static void run_row(int64_t n, int64_t k, const double *a, const double *restrict b,
                    double *restrict y)
{
    int64_t i = 0;
    for (; i + 4 <= k; i += 4, b += 4 * n)
        for (int64_t c = 0; c < n; c++)
            y[c] = y[c] + a[i] * b[c] + a[i + 1] * b[n + c] + a[i + 2] * b[2 * n + c] +
                   a[i + 3] * b[3 * n + c];
    for (; i < k; i++, b += n)
        for (int64_t c = 0; c < n; c++) y[c] += a[i] * b[c];
}

void tg_product_add(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *y)
{
    enum { FEW = 4 }; /* rows that do not repay the packing */
    if (m < FEW || n < FEW) {
        for (int64_t r = 0; r < m; r++) run_row(n, k, a + r * k, b, y + r * n);
        return;
    }
    double panel[DEPTH * WIDEST];
    way w = best();
    for (int64_t from = 0; from < k; from += DEPTH) {
        int64_t depth = k - from < DEPTH ? k - from : DEPTH;
        for (int64_t c = 0; c < n; c += w.width) {
            int64_t columns = n - c < w.width ? n - c : w.width;
            pack(b + from * n + c, n, depth, columns, w.width, panel);
            if (columns < w.width) run_edge(&w, m, depth, a + from, k, panel, y + c, n, columns);
            else w.column(m, depth, a + from, k, panel, y + c, n);
        }
    }
}
