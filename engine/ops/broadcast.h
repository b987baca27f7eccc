/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk over the elements of a broadcast, row by row:
 *
 *     tg_broadcast b;
 *     for (tg_broadcast_start(&b, &out_shape, shapes, 2); b.rows; tg_broadcast_next(&b))
 *         for (int64_t i = 0; i < b.n; i++)
 *             y[b.to + i] = f(x0[b.at[0] + i * b.step[0]], x1[b.at[1] + i * b.step[1]]);
 *
 * Neighbouring dimensions are joined where all operands allow it, so that operands of equal shapes
 * meet in one row. Shapes are complete and broadcast to the output's.
 */
#ifndef TG_OPS_BROADCAST_H
#define TG_OPS_BROADCAST_H

#include "engine/ir/type.h"

#include <string.h>

enum { TG_BROADCAST_MAX = 3 };

typedef struct tg_broadcast {
    int n_in, rank;                                       /* operands; dimensions outside the row */
    int64_t n;                                            /* elements a row */
    int64_t rows;                                         /* left, this one included */
    int64_t to;                                           /* the row's first output element */
    int64_t at[TG_BROADCAST_MAX], step[TG_BROADCAST_MAX]; /* per operand: first element, step */
    int64_t dim[TG_MAX_RANK], index[TG_MAX_RANK];
    int64_t stride[TG_BROADCAST_MAX][TG_MAX_RANK];
} tg_broadcast;

/* Strides of an operand over the dimensions of `out`: 0 where it repeats. */
static inline void tg_broadcast_strides(const tg_shape *in, const tg_shape *out, int64_t *stride)
{
    int64_t step = 1;
    for (int64_t k = out->rank - 1; k >= 0; k--) {
        int64_t own = k - (out->rank - in->rank);
        int64_t dim = own >= 0 ? in->dim[own] : 1;
        stride[k] = dim == 1 ? 0 : step;
        step *= dim;
    }
}

/* May dimensions `outer` and the next one be walked as one? */
static inline bool tg_broadcast_joins(const tg_broadcast *b, int last, int64_t dim,
                                      int64_t full[][TG_MAX_RANK], int64_t k)
{
    for (int i = 0; i < b->n_in; i++)
        if (b->stride[i][last] != full[i][k] * dim) return false;
    return true;
}

static inline void tg_broadcast_start(tg_broadcast *b, const tg_shape *out,
                                      const tg_shape *const *in, int n_in)
{
    int64_t full[TG_BROADCAST_MAX][TG_MAX_RANK];
    memset(b, 0, sizeof *b);
    b->n_in = n_in;
    for (int i = 0; i < n_in; i++) tg_broadcast_strides(in[i], out, full[i]);
    for (int64_t k = 0; k < out->rank; k++) {
        if (out->dim[k] == 1) continue;
        bool join = b->rank && tg_broadcast_joins(b, b->rank - 1, out->dim[k], full, k);
        int slot = join ? b->rank - 1 : b->rank++;
        b->dim[slot] = join ? b->dim[slot] * out->dim[k] : out->dim[k];
        for (int i = 0; i < n_in; i++) b->stride[i][slot] = full[i][k];
    }
    b->n = b->rank ? b->dim[--b->rank] : 1;
    for (int i = 0; i < n_in; i++) b->step[i] = b->stride[i][b->rank];
    b->rows = b->n ? 1 : 0;
    for (int k = 0; k < b->rank; k++) b->rows *= b->dim[k];
}

static inline void tg_broadcast_next(tg_broadcast *b)
{
    b->rows--;
    b->to += b->n;
    for (int k = b->rank - 1; k >= 0; k--) {
        bool wraps = ++b->index[k] == b->dim[k];
        int64_t move = wraps ? 1 - b->dim[k] : 1;
        for (int i = 0; i < b->n_in; i++) b->at[i] += move * b->stride[i][k];
        if (!wraps) return;
        b->index[k] = 0;
    }
}

#endif
