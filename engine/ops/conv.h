/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution on doubles, shared by the float and the quantised operators. */
#ifndef TG_OPS_CONV_H
#define TG_OPS_CONV_H

#include "window.h"

/* y[n, m, out] = bias[m] + sum over the window of x[n, c, in] * w[m, c / groups, kernel]. */
typedef struct tg_conv {
    int64_t n, c, m, groups;
    tg_window window;
} tg_conv;

/* From canonical attributes and shapes; `x` and `y` may be the gradient's way round. */
tg_conv tg_conv_of(const tg_call *call, const tg_shape *x, const tg_shape *y);

/* bias NULL: none. O(outputs * weights a channel). */
void tg_conv_run(const tg_conv *conv, const double *x, const double *w, const double *bias,
                 double *y);

/* Shapes and canonical attributes of a convolution of input `x` with weight `w` (slots). */
tg_status tg_conv_infer(tg_infer *infer, int x, int w, tg_shape *out) TG_MUST_USE;

#endif
