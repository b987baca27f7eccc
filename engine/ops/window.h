/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows that slide over the spatial axes of [n, c, spatial...]: convolution and pooling. */
#ifndef TG_OPS_WINDOW_H
#define TG_OPS_WINDOW_H

#include "compute.h"

enum { TG_MAX_SPATIAL = 3 };

/*
 * Always three spatial axes: missing leading ones have size 1 and a kernel of 1. Output position o
 * and kernel position k meet input position o * stride + k * dilation - pad.
 */
typedef struct tg_window {
    int64_t in[TG_MAX_SPATIAL], out[TG_MAX_SPATIAL], kernel[TG_MAX_SPATIAL];
    int64_t stride[TG_MAX_SPATIAL], dilation[TG_MAX_SPATIAL];
    int64_t pad[TG_MAX_SPATIAL], pad_end[TG_MAX_SPATIAL];
} tg_window;

/*
 * Brings auto_pad, pads, strides, dilations (if the row has it) and kernel_shape to their canonical
 * form: everything explicit, auto_pad=NOTSET. `kernel` is what kernel_shape must be (NULL: the
 * attribute decides). Sets out->dim[2..] from x->dim[2..]. The rank of x is 3..5.
 * Errors: TG_INVALID, TG_SHAPE.
 */
tg_status tg_window_infer(tg_infer *infer, const tg_shape *x, const int64_t *kernel,
                          tg_shape *out) TG_MUST_USE;

/* The parts of tg_window_infer that a transposed convolution shares. */
tg_status tg_window_fill(tg_infer *infer, int n, const int64_t *kernel) TG_MUST_USE;
bool tg_infer_has_attr(const tg_infer *infer, const char *name);

/* From canonical attributes and the shapes of both sides. */
tg_window tg_window_of(const tg_call *call, const tg_shape *in, const tg_shape *out);

/*
 * The outputs o in [*first, *last) of one axis for which kernel position k meets an input element.
 */
void tg_window_range(const tg_window *w, int axis, int64_t k, int64_t *first, int64_t *last);

#endif
