/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Elements of any integer, bool or float type, read and written in blocks as double or int64.
 * Complex numbers and strings are not numeric: callers ask tg_element_numeric first.
 */
#ifndef TG_OPS_ELEMENT_H
#define TG_OPS_ELEMENT_H

#include "engine/ir/type.h"

/* Elements a block, so that scratch fits the stack. */
enum { TG_BLOCK = 512 };

static inline bool tg_element_float(tg_dtype t)
{
    return tg_dtype_kind(t) == 'f';
}
static inline bool tg_element_half(tg_dtype t)
{
    return t == TG_F16 || t == TG_BF16;
}
static inline bool tg_element_integer(tg_dtype t)
{
    return tg_dtype_kind(t) == 'i' || tg_dtype_kind(t) == 'u';
}
/* Errors: TG_UNSUPPORTED naming the type. */
tg_status tg_element_numeric(tg_dtype t) TG_MUST_USE;
/* Layout operators move elements of every known type. Errors: TG_UNSUPPORTED. */
tg_status tg_element_movable(tg_dtype t) TG_MUST_USE;

/* Elements at, at + step, ... (n of them) of a numeric tensor. Step 0 repeats one. */
void tg_element_load_f64(const tg_tensor *t, int64_t at, int64_t step, int64_t n, double *out);
void tg_element_load_f32(const tg_tensor *t, int64_t at, int64_t step, int64_t n, float *out);
/* The same as integers: floats are cut towards zero, unsigned 64-bit ones keep their bits. */
void tg_element_load_i64(const tg_tensor *t, int64_t at, int64_t step, int64_t n, int64_t *out);

/*
 * Writes n elements from `at` on. Floats are rounded once, to nearest even; integers keep the low
 * bits; what is written to bool becomes 0 or 1; floats written to integers are cut towards zero.
 */
void tg_element_store_f64(tg_tensor *t, int64_t at, int64_t n, const double *v);
void tg_element_store_f32(tg_tensor *t, int64_t at, int64_t n, const float *v);
void tg_element_store_i64(tg_tensor *t, int64_t at, int64_t n, const int64_t *v);

/* A double cut to an integer of 64 bits: values from 2^63 on keep their unsigned bits. */
int64_t tg_element_truncate(double x);

/* Address of element i. */
static inline void *tg_element_at(const tg_tensor *t, int64_t i)
{
    return (char *)t->data + (size_t)i * tg_dtype_size(t->dtype);
}

#endif
