/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between two layouts of one box of elements: what transpose, slice, tile ... come to. */
#ifndef TG_OPS_STRIDED_H
#define TG_OPS_STRIDED_H

#include "engine/ir/type.h"

enum { TG_STRIDED_MAX = 2 * TG_MAX_RANK };

/* A box of dim[0] x dim[1] x ... elements; strides count elements and may be 0 or negative. */
typedef struct tg_strided {
    int rank;
    int64_t dim[TG_STRIDED_MAX], to[TG_STRIDED_MAX], from[TG_STRIDED_MAX];
} tg_strided;

/* Adds an innermost dimension. */
static inline void tg_strided_add(tg_strided *s, int64_t dim, int64_t to, int64_t from)
{
    s->dim[s->rank] = dim;
    s->to[s->rank] = to;
    s->from[s->rank++] = from;
}

/* Copies; size: bytes an element (1, 2, 4, 8 or 16). The two do not overlap. O(elements). */
void tg_strided_copy(const tg_strided *s, void *to, const void *from, size_t size);

/* Strides of a row-major tensor of this shape. */
void tg_strided_of(const tg_shape *shape, int64_t *stride);

#endif
