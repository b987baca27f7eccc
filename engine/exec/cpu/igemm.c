/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "igemm.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Columns a panel, rows a tile. A panel holds pairs of rows of b: [k / 2][COLUMNS][2]. */
enum { COLUMNS = 16, ROWS = 8 };

size_t tg_igemm_packed(int64_t k, int64_t n)
{
    return (size_t)((n + COLUMNS - 1) / COLUMNS * COLUMNS * tg_igemm_depth(k));
}

void tg_igemm_pack(const int16_t *b, int64_t row, int64_t column, int64_t k, int64_t n,
                   int16_t *packed)
{
    int64_t depth = tg_igemm_depth(k);
    memset(packed, 0, tg_igemm_packed(k, n) * sizeof *packed);
    for (int64_t j = 0; j < n; j++) {
        int16_t *to = packed + j / COLUMNS * COLUMNS * depth + j % COLUMNS * 2;
        for (int64_t i = 0; i < k; i++) to[i / 2 * COLUMNS * 2 + i % 2] = b[i * row + j * column];
    }
}

/* One tile: `rows` rows by COLUMNS columns into c, COLUMNS apart. */
typedef void (*tile_fn)(int rows, int64_t depth, const int16_t *a, const int16_t *panel,
                        int32_t *c);

static void tile_plain(int rows, int64_t depth, const int16_t *a, const int16_t *panel, int32_t *c)
{
    memset(c, 0, sizeof *c * (size_t)(rows * COLUMNS));
    for (int r = 0; r < rows; r++)
        for (int64_t i = 0; i < depth; i += 2)
            for (int j = 0; j < COLUMNS; j++) {
                const int16_t *x = a + r * depth + i, *y = panel + (i * COLUMNS + j * 2);
                c[r * COLUMNS + j] += x[0] * y[0] + x[1] * y[1];
            }
}

#ifdef __x86_64__
static inline int32_t pair_at(const int16_t *a)
{
    int32_t pair;
    memcpy(&pair, a, sizeof pair);
    return pair;
}

__attribute__((target("avx512f,avx512bw"))) static void tile_wide(int rows, int64_t depth,
                                                                  const int16_t *a,
                                                                  const int16_t *panel, int32_t *c)
{
    __m512i sum[ROWS];
    for (int r = 0; r < ROWS; r++) sum[r] = _mm512_setzero_si512();
    /* A tile of fewer rows computes some of them twice. */
    const int16_t *row[ROWS];
    for (int r = 0; r < ROWS; r++) row[r] = a + (r < rows ? r : 0) * depth;
    for (int64_t i = 0; i < depth; i += 2, panel += COLUMNS * 2) {
        __m512i b = _mm512_loadu_si512(panel);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            sum[r] = _mm512_add_epi32(sum[r],
                                      _mm512_madd_epi16(_mm512_set1_epi32(pair_at(row[r] + i)), b));
    }
    for (int r = 0; r < rows; r++) _mm512_storeu_si512(c + r * COLUMNS, sum[r]);
}

__attribute__((target("avx2"))) static void tile_half(int rows, int64_t depth, const int16_t *a,
                                                      const int16_t *panel, int32_t *c)
{
    for (int at = 0; at < rows; at += 4) {
        __m256i sum[4][2];
        const int16_t *row[4];
        for (int r = 0; r < 4; r++) {
            sum[r][0] = sum[r][1] = _mm256_setzero_si256();
            row[r] = a + (at + r < rows ? at + r : 0) * depth;
        }
        for (int64_t i = 0; i < depth; i += 2) {
            const int16_t *b = panel + i * COLUMNS;
            __m256i low = _mm256_loadu_si256((const __m256i *)b);
            __m256i high = _mm256_loadu_si256((const __m256i *)(b + COLUMNS));
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++) {
                __m256i x = _mm256_set1_epi32(pair_at(row[r] + i));
                sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(x, low));
                sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(x, high));
            }
        }
        for (int r = 0; r < 4 && at + r < rows; r++) {
            _mm256_storeu_si256((__m256i *)(c + (at + r) * COLUMNS), sum[r][0]);
            _mm256_storeu_si256((__m256i *)(c + (at + r) * COLUMNS + 8), sum[r][1]);
        }
    }
}
#endif

static tile_fn best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return tile_wide;
    if (__builtin_cpu_supports("avx2")) return tile_half;
#endif
    return tile_plain;
}

void tg_igemm(int64_t m, int64_t n, int64_t k, const int16_t *a, const int16_t *packed, int32_t *c)
{
    int64_t depth = tg_igemm_depth(k);
    tile_fn tile = best();
    int32_t few[ROWS * COLUMNS];
    for (int64_t i = 0; i < m; i += ROWS) {
        int rows = m - i < ROWS ? (int)(m - i) : ROWS;
        for (int64_t j = 0; j < n; j += COLUMNS) {
            size_t columns = (size_t)(n - j < COLUMNS ? n - j : COLUMNS);
            tile(rows, depth, a + i * depth, packed + j * depth, few);
            for (int r = 0; r < rows; r++)
                memcpy(c + (i + r) * n + j, few + r * COLUMNS, columns * sizeof *c);
        }
    }
}

void tg_igemm_centre(tg_dtype dtype, const void *from, int64_t n, int zero, int16_t *to)
{
    const uint8_t *u = from;
    const int8_t *s = from;
    if (dtype == TG_U8)
        for (int64_t i = 0; i < n; i++) to[i] = (int16_t)(u[i] - zero);
    else
        for (int64_t i = 0; i < n; i++) to[i] = (int16_t)(s[i] - zero);
}
