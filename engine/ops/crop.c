/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Col2Im: blocks of columns added into an image. CenterCropPad: the middle of a box, or more. */
#include "compute.h"
#include "params.h"
#include "strided.h"

#include <string.h>

/* ---- Col2Im ---- */

enum { MOST_AXES = TG_MAX_RANK - 2 };

/* One spatial axis: an image of `size` elements under `blocks` blocks of `block` elements. */
typedef struct axis {
    int64_t size, block, blocks, stride, dilation, pad;
} axis;

/* Entry i of a list; `otherwise` where it has none. Errors: TG_INVALID outside [least, 2^30]. */
static tg_status entry(const tg_attr *list, int64_t i, int64_t least, int64_t otherwise, int64_t *v)
{
    *v = list->kind == TG_ATTR_INTS && list->n ? list->ints[i] : otherwise;
    if (*v >= least && *v <= (int64_t)1 << 30) return TG_OK;
    return tg_fail(TG_INVALID, "a list has the entry %lld", (long long)*v);
}

typedef struct lists {
    const tg_attr *image, *block, *strides, *dilations, *pads;
} lists;

static tg_status read_axis(const lists *l, int64_t i, int64_t n, axis *a)
{
    int64_t end;
    TG_TRY(entry(l->image, i, 0, 0, &a->size));
    TG_TRY(entry(l->block, i, 1, 0, &a->block));
    TG_TRY(entry(l->strides, i, 1, 1, &a->stride));
    TG_TRY(entry(l->dilations, i, 1, 1, &a->dilation));
    TG_TRY(entry(l->pads, i, 0, 0, &a->pad));
    TG_TRY(entry(l->pads, n + i, 0, 0, &end));
    int64_t room = a->size + a->pad + end - (a->dilation * (a->block - 1) + 1);
    if (room < 0) return tg_fail(TG_SHAPE, "a block is larger than axis %d of the image", (int)i);
    a->blocks = room / a->stride + 1;
    return TG_OK;
}

static bool has_entries(const tg_attr *list, int64_t n)
{
    return list->kind != TG_ATTR_INTS || list->n == 0 || list->n == n;
}

static tg_status read_axes(const lists *l, int64_t *n, axis *axes)
{
    *n = l->image->n;
    if (*n < 1 || *n > MOST_AXES || l->block->n != *n || !has_entries(l->strides, *n) ||
        !has_entries(l->dilations, *n) || !has_entries(l->pads, 2 * *n))
        return tg_fail(TG_INVALID, "lists for %lld axes of an image differ in length",
                       (long long)*n);
    for (int64_t i = 0; i < *n; i++) TG_TRY(read_axis(l, i, *n, &axes[i]));
    return TG_OK;
}

static tg_status check_columns(const tg_shape *x, const axis *axes, int64_t n, tg_shape *out)
{
    int64_t taps = 1, blocks = 1;
    *out = (tg_shape){.rank = 2 + n, .dim = {x->dim[0]}};
    for (int64_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(taps, axes[i].block, &taps) ||
            __builtin_mul_overflow(blocks, axes[i].blocks, &blocks))
            return tg_fail(TG_LIMIT, "the image has too many blocks");
        out->dim[2 + i] = axes[i].size;
    }
    if (x->dim[1] % taps || x->dim[2] != blocks)
        return tg_fail(TG_SHAPE, "%lld columns of %lld elements do not fit the image",
                       (long long)x->dim[2], (long long)x->dim[1]);
    out->dim[1] = x->dim[1] / taps;
    return TG_OK;
}

tg_status infer_col2im(tg_infer *infer)
{
    axis axes[MOST_AXES];
    int64_t n;
    tg_dtype dtype = infer->in[0].dtype;
    lists l = {.strides = tg_infer_attr(infer, "strides"),
               .dilations = tg_infer_attr(infer, "dilations"),
               .pads = tg_infer_attr(infer, "pads")};
    infer->out[0].dtype = dtype;
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 3));
    TG_TRY(infer_list(infer, "image_shape", 1, &l.image));
    TG_TRY(infer_list(infer, "block_shape", 2, &l.block));
    if (!l.image || !l.block) {
        if (has_type(infer, 1) || has_type(infer, 2)) return TG_OK;
        return tg_fail(TG_INVALID, "image_shape or block_shape is missing");
    }
    TG_TRY(read_axes(&l, &n, axes));
    return check_columns(&infer->in[0].shape, axes, n, &infer->out[0].shape);
}

/* Offset in the image of element `tap` of block `block`; -1 in the padding. */
static int64_t place(const axis *axes, int64_t n, int64_t block, int64_t tap)
{
    int64_t offset = 0, step = 1;
    for (int64_t i = n - 1; i >= 0; i--) {
        const axis *a = &axes[i];
        int64_t at = block % a->blocks * a->stride + tap % a->block * a->dilation - a->pad;
        if (at < 0 || at >= a->size) return -1;
        offset += at * step;
        step *= a->size;
        block /= a->blocks;
        tap /= a->block;
    }
    return offset;
}

/* What the sums of an image are made of: one number an element, or two of a complex one. */
typedef enum { SUM_REAL, SUM_WHOLE, SUM_FLOAT_PAIR, SUM_PAIR } sums;

static sums sums_of(tg_dtype t)
{
    if (t == TG_I64 || t == TG_U64) return SUM_WHOLE;
    return t == TG_C64 ? SUM_FLOAT_PAIR : t == TG_C128 ? SUM_PAIR : SUM_REAL;
}

/* Adds element i of the columns to element `at` of the image, which is doubles or as typed. */
static void add_element(sums kind, void *image, int64_t at, const void *columns, int64_t i)
{
    switch (kind) {
    case SUM_REAL: ((double *)image)[at] += ((const double *)columns)[i]; break;
    case SUM_WHOLE: ((uint64_t *)image)[at] += ((const uint64_t *)columns)[i]; break;
    case SUM_FLOAT_PAIR:
        for (int k = 0; k < 2; k++)
            ((float *)image)[2 * at + k] += ((const float *)columns)[2 * i + k];
        break;
    case SUM_PAIR:
        for (int k = 0; k < 2; k++)
            ((double *)image)[2 * at + k] += ((const double *)columns)[2 * i + k];
    }
}

tg_status kernel_col2im(tg_call *call)
{
    const tg_shape *x = &call->in[0].shape, *out = &call->out[0].shape;
    axis axes[MOST_AXES];
    lists l = {call_attr(call, "image_shape"), call_attr(call, "block_shape"),
               call_attr(call, "strides"), call_attr(call, "dilations"), call_attr(call, "pads")};
    int64_t n, plane = tg_dims_count(out, 2, out->rank), blocks = x->dim[2];
    sums kind = sums_of(call->in[0].dtype);
    if (kind == SUM_REAL) TG_TRY(tg_element_numeric(call->in[0].dtype));
    TG_TRY(read_axes(&l, &n, axes));
    const void *columns = kind == SUM_REAL ? tg_call_doubles(call, 0) : call->in[0].data;
    void *y = kind == SUM_REAL ? tg_call_scratch(call, tg_tensor_count(&call->out[0]))
                               : call->out[0].data;
    if (kind != SUM_REAL) memset(y, 0, tg_tensor_bytes(&call->out[0]));
    int64_t taps = out->dim[1] ? x->dim[1] / out->dim[1] : 0;
    for (int64_t row = 0; row < x->dim[0] * x->dim[1]; row++)
        for (int64_t b = 0; b < blocks; b++) {
            int64_t at = place(axes, n, b, row % taps);
            if (at >= 0) add_element(kind, y, row / taps * plane + at, columns, row * blocks + b);
        }
    if (kind == SUM_REAL) tg_call_store(call, 0, y);
    return TG_OK;
}

/* ---- CenterCropPad ---- */

static tg_status crop_axes(const tg_attr *axes, uint32_t n, int64_t rank, int64_t *list)
{
    bool given = axes->kind == TG_ATTR_INTS;
    unsigned set;
    if (n != (given ? axes->n : rank) || n > TG_MAX_RANK)
        return tg_fail(TG_SHAPE, "%u sizes for %lld axes", n,
                       (long long)(given ? (int64_t)axes->n : rank));
    for (uint32_t i = 0; i < n; i++)
        TG_TRY(tg_axis_normalise(given ? axes->ints[i] : i, rank, &list[i]));
    return tg_axes_set(list, n, rank, &set);
}

tg_status infer_center_crop_pad(tg_infer *infer)
{
    const tg_attr *sizes;
    int64_t list[TG_MAX_RANK];
    tg_shape out = infer->in[0].shape;
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(infer_list(infer, "shape", 1, &sizes));
    if (!sizes) return has_type(infer, 1) ? TG_OK : tg_fail(TG_INVALID, "the shape is missing");
    const tg_attr *axes = tg_infer_attr(infer, "axes");
    TG_TRY(crop_axes(axes, sizes->n, out.rank, list));
    for (uint32_t i = 0; i < sizes->n; i++) {
        if (sizes->ints[i] < 0) return tg_fail(TG_INVALID, "size %u of the shape is negative", i);
        out.dim[list[i]] = sizes->ints[i];
    }
    if (axes->kind == TG_ATTR_INTS) tg_infer_set_ints(infer, "axes", list, sizes->n);
    infer->out[0].shape = out;
    return TG_OK;
}

/* What is cut off, or added, in front is half of the difference, rounded down. */
tg_status kernel_center_crop_pad(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    int64_t to[TG_MAX_RANK], from[TG_MAX_RANK], at = 0, at_x = 0;
    tg_strided s = {0};
    TG_TRY(tg_element_movable(x->dtype));
    tg_strided_of(&y->shape, to);
    tg_strided_of(&x->shape, from);
    for (int64_t k = 0; k < x->shape.rank; k++) {
        int64_t have = x->shape.dim[k], want = y->shape.dim[k];
        if (have > want) at_x += (have - want) / 2 * from[k];
        else at += (want - have) / 2 * to[k];
        tg_strided_add(&s, have < want ? have : want, to[k], from[k]);
    }
    tg_strided_copy(&s, tg_element_at(y, at), tg_element_at(x, at_x), tg_dtype_size(x->dtype));
    return TG_OK;
}
