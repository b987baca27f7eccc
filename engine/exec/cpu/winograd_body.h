/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transforms of a tile, included once for each instruction set by winograd.c, which defines
 * NAME(x), a suffix for the functions, and TARGET, their attribute. F(4x4, 3x3) of Lavin and Gray
 * (Fast Algorithms for Convolutional Neural Networks, CVPR 2016), but with the points 0, +-A, +-B
 * and infinity, A A = 1/2 and B B = 2: errors are a quarter of those with 1 and 2 (see Barabasz et
 * al., Error Analysis and Improving the Accuracy of Winograd Convolution, ACM TOMS 2020).
 */

/* Sixteen channels at any address; the compiler splits them where registers are narrower. */
typedef float NAME(v) __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t NAME(vi) __attribute__((vector_size(64), aligned(4), may_alias));
#define V NAME(v)
#define VI NAME(vi)
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Six values in a row or column of a tile to six of its transform. */
INLINE void NAME(six)(V d0, V d1, V d2, V d3, V d4, V d5, V *to, int step)
{
    V a_even = d4 - 2.0f * d2, a_odd = POINT_A * (d3 - 2.0f * d1);
    V b_even = d4 - 0.5f * d2, b_odd = POINT_B * (d3 - 0.5f * d1);
    to[0] = d0 - 2.5f * d2 + d4;
    to[step] = a_even + a_odd;
    to[2 * step] = a_even - a_odd;
    to[3 * step] = b_even + b_odd;
    to[4 * step] = b_even - b_odd;
    to[5 * step] = d1 - 2.5f * d3 + d5;
}

/* at[36]: the tile's pixels; channel c of place k goes to to[k * plane + c]. */
TARGET static void NAME(take)(const float *const *at, int64_t channels, float *to, int64_t plane)
{
    for (int64_t c = 0; c < channels; c += 16) {
        V t[36], row[6];
#define AT(i, j) (*(const V *)(at[6 * (i) + (j)] + c))
        for (int j = 0; j < 6; j++)
            NAME(six)(AT(0, j), AT(1, j), AT(2, j), AT(3, j), AT(4, j), AT(5, j), t + j, 6);
#undef AT
        for (int i = 0; i < 6; i++) {
            const V *d = t + 6 * i;
            float *out = to + 6 * i * plane + c;
            NAME(six)(d[0], d[1], d[2], d[3], d[4], d[5], row, 1);
            for (int j = 0; j < 6; j++) *(V *)(out + j * plane) = row[j];
        }
    }
}

/* Six sums to four results. */
INLINE void NAME(four)(V m0, V m1, V m2, V m3, V m4, V m5, V *to, int step)
{
    V a = m1 + m2, a_odd = POINT_A * (m1 - m2), b = m3 + m4, b_odd = POINT_B * (m3 - m4);
    to[0] = m0 + a + b;
    to[step] = a_odd + b_odd;
    to[2 * step] = 0.5f * a + 2.0f * b;
    to[3 * step] = 0.5f * a_odd + 2.0f * b_odd + m5;
}

INLINE V NAME(pick)(VI mask, V b, V a)
{
    return (V)((mask & (VI)b) | (~mask & (VI)a));
}

/* What follows, on the sixteen results y; `at` is where they go, NULL outside. */
INLINE void NAME(follow)(const tg_winograd_op *op, V *y, const int64_t *at, int64_t c)
{
    V lo = op->alpha + (V){0}, hi = op->beta + (V){0};
    const float *other = op->other;
    V v = other && !op->whole ? *(const V *)(other + c) : (V){0};
    for (int i = 0; i < 16; i++) {
        if (op->whole) v = at[i] < 0 ? (V){0} : *(const V *)(other + at[i] + c);
        switch (op->kind) {
        case TG_POST_RELU: y[i] = NAME(pick)(y[i] < 0.0f, y[i] * lo, y[i]); break;
        case TG_POST_LINEAR: y[i] = y[i] * lo + hi; break;
        case TG_POST_CLIP:
            y[i] = NAME(pick)(y[i] < lo, lo, y[i]);
            y[i] = NAME(pick)(y[i] > hi, hi, y[i]);
            break;
        case TG_POST_ADD: y[i] = y[i] + v; break;
        case TG_POST_SUB: y[i] = y[i] - v; break;
        default: y[i] = y[i] * v;
        }
    }
}

/* The way back: place k of channel c lies at from[k * plane + c]; pixel i goes to y[at[i] + c]. */
TARGET static void NAME(give)(const tg_winograd *w, const float *from, int64_t plane,
                              const int64_t *at, float *y)
{
    for (int64_t c = 0; c < w->m; c += 16) {
        V t[24], out[16];
#define AT(i, j) (*(const V *)(from + (6 * (i) + (j)) * plane + c))
        for (int j = 0; j < 6; j++)
            NAME(four)(AT(0, j), AT(1, j), AT(2, j), AT(3, j), AT(4, j), AT(5, j), t + j, 6);
#undef AT
        for (int i = 0; i < 4; i++) {
            const V *d = t + 6 * i;
            NAME(four)(d[0], d[1], d[2], d[3], d[4], d[5], out + 4 * i, 1);
        }
        for (int i = 0; i < w->n_ops; i++) NAME(follow)(&w->ops[i], out, at, c);
        for (int i = 0; i < 16; i++)
            if (at[i] >= 0) *(V *)(y + at[i] + c) = out[i];
    }
}

#undef V
#undef VI
#undef INLINE
