/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the elements of a tensor lie: a stride (in elements, >= 0) for each axis. */
#ifndef TG_EXEC_CPU_LAYOUT_H
#define TG_EXEC_CPU_LAYOUT_H

#include "engine/ir/type.h"

/* Invariant: strides of unused axes are 0. Strides of axes of size 1 mean nothing. */
typedef struct tg_layout {
    int64_t offset; /* of the first element, in elements */
    int64_t stride[TG_MAX_RANK];
} tg_layout;

/* Row-major; and with the channels (axis 1) innermost, which is row-major below rank 3. */
tg_layout tg_layout_plain(const tg_shape *s);
tg_layout tg_layout_last(const tg_shape *s);
/* Dense, its axes in this order from outermost to innermost. */
tg_layout tg_layout_of_order(const tg_shape *s, const int *axes);

/* Equal element places, offsets aside. */
bool tg_layout_same(const tg_shape *s, const tg_layout *a, const tg_layout *b);
bool tg_layout_is_plain(const tg_shape *s, const tg_layout *l);
bool tg_layout_is_last(const tg_shape *s, const tg_layout *l);
/* The elements fill one block without gaps or overlaps, in whatever order. */
bool tg_layout_is_dense(const tg_shape *s, const tg_layout *l);
/* The axes from outermost to innermost; axes of size 1 keep their place among their neighbours. */
void tg_layout_order(const tg_shape *s, const tg_layout *l, int *axes);
/* Elements from the first to the last, gaps included. */
int64_t tg_layout_span(const tg_shape *s, const tg_layout *l);

/*
 * The layout with which the same memory, read as shape `to`, has the elements of `from` in
 * row-major order; false if there is none and elements must move.
 */
bool tg_layout_reshape(const tg_shape *from, const tg_layout *l, const tg_shape *to,
                       tg_layout *out);

#endif
