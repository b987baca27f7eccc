/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indices held in tensors: for gather.c and scatter.c. */
#ifndef TG_OPS_INDEX_H
#define TG_OPS_INDEX_H

#include "params.h"
#include "strided.h"

/* Makes an index in [-size, size) non-negative. Errors: TG_INVALID. */
tg_status tg_index_normalise(int64_t index, int64_t size, int64_t *out) TG_MUST_USE;
/* Errors: TG_TYPE unless int32 or int64. */
tg_status tg_index_type(tg_dtype t) TG_MUST_USE;

/*
 * The offset in elements that the n indices from element `at` on stand for, along the axes of
 * `shape` from `first` on. Errors: TG_INVALID.
 */
tg_status tg_index_offset(const tg_tensor *indices, int64_t at, int64_t n, const tg_shape *shape,
                          int64_t first, int64_t *offset) TG_MUST_USE;

/* Do indices along `axis` lie within the data's shape elsewhere? Errors: TG_SHAPE. */
tg_status tg_index_inside(const tg_shape *indices, const tg_shape *data, int64_t axis) TG_MUST_USE;
/* The offset in the data of each index, which replaces its own place along `axis`. */
tg_status tg_index_elements(const tg_tensor *indices, const tg_shape *data, int64_t axis,
                            int64_t *offset) TG_MUST_USE;

#endif
