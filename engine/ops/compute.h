/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the operators that compute with numbers share: checks of input types for inference, and
 * tensors as arrays of doubles for the reference kernels, which thus work for every float type.
 */
#ifndef TG_OPS_COMPUTE_H
#define TG_OPS_COMPUTE_H

#include "rows.h"

/* Fails unless input `slot` has a rank in [least, most]. Errors: TG_SHAPE naming `what`. */
tg_status tg_need_rank(const tg_infer *infer, int slot, const char *what, int64_t least,
                       int64_t most) TG_MUST_USE;
/* Fails unless the input is of a float type. Errors: TG_TYPE. */
tg_status tg_need_float(const tg_infer *infer, int slot, const char *what) TG_MUST_USE;
/* Fails unless the inputs, where both are present, have one element type. Errors: TG_TYPE. */
tg_status tg_need_same(const tg_infer *infer, int slot, int other, const char *what) TG_MUST_USE;
/* Fails unless the input, where present, is a vector of n elements. Errors: TG_SHAPE. */
tg_status tg_need_vector(const tg_infer *infer, int slot, const char *what, int64_t n) TG_MUST_USE;
/* Makes the integer attribute, an axis, non-negative in place. Errors: TG_INVALID. */
tg_status tg_need_axis(tg_infer *infer, const char *name, int64_t rank) TG_MUST_USE;

/* The elements of an input as doubles, in the call's arena or in place; NULL if it is absent. */
const double *tg_call_doubles(tg_call *call, int slot);
/* n zeroed doubles in the call's arena. */
double *tg_call_scratch(tg_call *call, int64_t n);
/* Rounds y, an element for each, into output i. */
void tg_call_store(tg_call *call, int i, const double *y);
/* True if output i is wanted. */
static inline bool has_output(const tg_call *call, int i)
{
    return i < call->n_out && call->out[i].data;
}

/* Product of the dims in [from, to). */
int64_t tg_dims_count(const tg_shape *s, int64_t from, int64_t to);
/* Reads an integer or float attribute of a call. */
static inline int64_t call_int(const tg_call *call, const char *name)
{
    return call_attr(call, name)->i;
}
static inline float call_float(const tg_call *call, const char *name)
{
    return call_attr(call, name)->f;
}

#endif
