/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameters that are an attribute or, where they are no constant, an input. Inference takes them
 * from either; before a kernel runs, inference has put the input's elements into the attribute
 * unless the output types were complete without it.
 */
#ifndef TG_OPS_PARAMS_H
#define TG_OPS_PARAMS_H

#include "element.h"
#include "rows.h"

/*
 * The list in attribute `name`, filled from the constant that feeds `slot`. *list NULL: there is no
 * such input, or it is known only when it runs. Errors: TG_TYPE (not integers),
 * TG_INVALID (given as attribute and as input).
 */
static inline tg_status infer_list(tg_infer *infer, const char *name, int slot,
                                   const tg_attr **list)
{
    tg_attr *attr = tg_infer_attr(infer, name);
    *list = attr->kind != TG_ATTR_NONE ? attr : NULL;
    if (!has_type(infer, slot)) return TG_OK;
    if (*list) return tg_fail(TG_INVALID, "%s are given twice", name);
    if (!tg_element_integer(infer->in[slot].dtype))
        return tg_fail(TG_TYPE, "%s are %s, not integers", name,
                       tg_dtype_name(infer->in[slot].dtype));
    const tg_tensor *t = tg_infer_value(infer, slot);
    if (!t) return TG_OK;
    int64_t n = tg_tensor_count(t);
    int64_t *v = TG_NEW_ARRAY(infer->arena, int64_t, n + 1);
    tg_element_load_i64(t, 0, 1, n, v);
    *attr = TG_ATTR_OF_INTS(v, n);
    *list = attr;
    return TG_OK;
}

/* The same for one integer. Errors: TG_TYPE, TG_INVALID, TG_SHAPE (not one number). */
static inline tg_status infer_number(tg_infer *infer, const char *name, int slot, bool *known)
{
    tg_attr *attr = tg_infer_attr(infer, name);
    *known = attr->kind != TG_ATTR_NONE;
    if (!has_type(infer, slot)) return TG_OK;
    if (*known) return tg_fail(TG_INVALID, "%s is given twice", name);
    TG_TRY(tg_element_numeric(infer->in[slot].dtype));
    if (tg_shape_count(&infer->in[slot].shape) != 1)
        return tg_fail(TG_SHAPE, "%s is not one number", name);
    const tg_tensor *t = tg_infer_value(infer, slot);
    if (!t) return TG_OK;
    *attr = TG_ATTR_OF_INT(tg_tensor_i64(t, 0));
    *known = true;
    return TG_OK;
}

/* Makes the attribute `axis` non-negative. */
static inline tg_status infer_axis(tg_infer *infer, int64_t rank, int64_t *axis)
{
    tg_attr *attr = tg_infer_attr(infer, "axis");
    TG_TRY(tg_axis_normalise(attr->i, rank, axis));
    attr->i = *axis;
    return TG_OK;
}

/*
 * Axes in [-rank, rank) as a set: bit k of *set for axis k. Errors: TG_INVALID (outside, twice).
 */
static inline tg_status tg_axes_set(const int64_t *axes, int64_t n, int64_t rank, unsigned *set)
{
    *set = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t axis = 0;
        TG_TRY(tg_axis_normalise(axes[i], rank, &axis));
        if (*set >> axis & 1) return tg_fail(TG_INVALID, "axis %d is given twice", (int)axis);
        *set |= 1u << axis;
    }
    return TG_OK;
}

/* Sets an attribute to the members of a set of axes, ascending. */
static inline void infer_set_axes(tg_infer *infer, const char *name, unsigned set)
{
    int64_t v[TG_MAX_RANK * 2];
    size_t n = 0;
    for (int k = 0; k < TG_MAX_RANK * 2; k++)
        if (set >> k & 1) v[n++] = k;
    tg_infer_set_ints(infer, name, v, n);
}

#endif
