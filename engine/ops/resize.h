/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How Resize resamples each axis, for code that does it otherwise than the reference kernel. */
#ifndef TG_OPS_RESIZE_H
#define TG_OPS_RESIZE_H

#include "rows.h"

/* One axis that moves: output place i is the sum over k of weight[i * n + k] times the element at
 * at[i * n + k]. */
typedef struct tg_resize_axis {
    int axis;
    int64_t in, out, n;
    const int64_t *at;
    const double *weight;
    bool outside; /* some places get the extrapolation value */
} tg_resize_axis;

/*
 * The axes in the order in which they are resampled, at most TG_MAX_RANK; *count of them. By
 * canonical attributes, without inputs. In the arena. Errors: those of the operator.
 */
tg_status tg_resize_axes(const tg_op_row *row, const tg_attr *attr, const tg_shape *x,
                         tg_arena *arena, tg_resize_axis *axes, int *count) TG_MUST_USE;

#endif
