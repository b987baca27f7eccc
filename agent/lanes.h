/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inner loops in blocks of a constant length, which compilers turn into vector instructions without
 * being allowed to reorder sums: the order of every sum is fixed here.
 */
#ifndef AG_LANES_H
#define AG_LANES_H

#include "nn.h"

#include <math.h>
#include <stdint.h>

enum { AG_LANES = 8 };

/* to += scale * from */
static inline void ag_axpy(ag_real *restrict to, const ag_real *restrict from, ag_real scale, int n)
{
    int i = 0;
    for (; i + AG_LANES <= n; i += AG_LANES) {
        for (int j = 0; j < AG_LANES; j++) to[i + j] += scale * from[i + j];
    }
    for (; i < n; i++) to[i] += scale * from[i];
}

/* The leaky rectifier for slopes below 1, without a branch. */
static inline ag_real ag_leaky(ag_real x, ag_real slope)
{
    ag_real low = x * slope;
    return x > low ? x : low;
}

/* to = base + leaky(x) */
static inline void ag_add_leaky(ag_real *restrict to, const ag_real *restrict base,
                                const ag_real *restrict x, ag_real slope, int n)
{
    int i = 0;
    for (; i + AG_LANES <= n; i += AG_LANES) {
        for (int j = 0; j < AG_LANES; j++) to[i + j] = base[i + j] + ag_leaky(x[i + j], slope);
    }
    for (; i < n; i++) to[i] = base[i] + ag_leaky(x[i], slope);
}

/* to *= derivative of leaky at x */
static inline void ag_leaky_back(ag_real *restrict to, const ag_real *restrict x, ag_real slope,
                                 int n)
{
    int i = 0;
    for (; i + AG_LANES <= n; i += AG_LANES) {
        for (int j = 0; j < AG_LANES; j++) to[i + j] *= x[i + j] >= 0 ? 1 : slope;
    }
    for (; i < n; i++) to[i] *= x[i] >= 0 ? 1 : slope;
}

static inline ag_real ag_dot(const ag_real *restrict a, const ag_real *restrict b, int n)
{
    ag_real part[AG_LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + AG_LANES <= n; i += AG_LANES) {
        for (int j = 0; j < AG_LANES; j++) part[j] += a[i + j] * b[i + j];
    }
    for (; i < n; i++) sum += a[i] * b[i];
    for (int j = 0; j < AG_LANES / 2; j++) part[j] += part[j + AG_LANES / 2];
    return sum + ((part[0] + part[2]) + (part[1] + part[3]));
}

#ifdef AG_DOUBLE
static inline void ag_exp(ag_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = exp(x[i]);
}
#else
typedef float ag_float4 __attribute__((vector_size(16)));
typedef int32_t ag_int4 __attribute__((vector_size(16)));

/* exp of numbers in [-87, 0], relative error below 3e-7 (Cephes expf, Moshier 1992). */
static inline ag_float4 ag_exp4(ag_float4 x)
{
    ag_int4 k = __builtin_convertvector(x * 1.44269504f - 0.5f, ag_int4);
    ag_float4 n = __builtin_convertvector(k, ag_float4);
    ag_float4 r = x - n * 0.693359375f + n * 2.12194440e-4f;
    ag_float4 p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    return p * (ag_float4)((k + 127) * (1 << 23));
}

/* x = exp(x) for numbers that are not positive. */
static inline void ag_exp(ag_real *x, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        size_t k = n - i < 4 ? n - i : 4;
        float lane[4] = {0};
        memcpy(lane, x + i, k * sizeof *lane);
        for (int j = 0; j < 4; j++) lane[j] = lane[j] > -87 ? lane[j] : -87;
        ag_float4 v = ag_exp4((ag_float4){lane[0], lane[1], lane[2], lane[3]});
        memcpy(x + i, &v, k * sizeof *lane);
    }
}
#endif

#endif
