/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that relabel or rearrange whole tensors: Reshape ... Transpose, Expand, Tile. */
#include "engine/ir/value.h"
#include "params.h"
#include "strided.h"

#include <string.h>

static tg_status too_deep(int64_t rank)
{
    return tg_fail(TG_UNSUPPORTED, "a shape of rank %lld, above %d", (long long)rank, TG_MAX_RANK);
}

/* Output 0 is input 0 under another shape. */
tg_status kernel_relabel(tg_call *call)
{
    TG_TRY(tg_element_movable(call->in[0].dtype));
    if (tg_tensor_bytes(&call->in[0]) != tg_tensor_bytes(&call->out[0]))
        return tg_fail(TG_SHAPE, "the numbers of elements differ");
    size_t bytes = tg_tensor_bytes(&call->in[0]);
    if (bytes) memcpy(call->out[0].data, call->in[0].data, bytes);
    return TG_OK;
}

tg_status kernel_identity(tg_call *call)
{
    if (!tg_dtype_is_list(call->in[0].dtype)) return kernel_relabel(call);
    tg_call_put(call, 0, tg_tensor_copy(&call->in[0]));
    return TG_OK;
}

static tg_status does_not_fit(const tg_shape *in, const tg_attr *want)
{
    char from[TG_SHAPE_TEXT];
    tg_str to = {0};
    tg_attr_print(want, &to);
    tg_status status =
        tg_fail(TG_SHAPE, "%s cannot be shaped as %s", tg_shape_text(from, in), tg_str_text(&to));
    tg_str_free(&to);
    return status;
}

/* The shape that `want` asks for: 0 copies (unless allowzero), one -1 follows from the count. */
static tg_status resolve_shape(const tg_shape *in, const tg_attr *want, bool allowzero,
                               tg_shape *out)
{
    int64_t wild = -1;
    if (want->n > TG_MAX_RANK) return too_deep(want->n);
    tg_shape s = {.rank = want->n};
    for (int64_t k = 0; k < s.rank; k++) {
        int64_t d = want->ints[k];
        if (d == 0 && !allowzero) {
            if (k >= in->rank) return does_not_fit(in, want);
            d = in->dim[k];
        }
        if (d < -1 || (d == -1 && wild >= 0)) return does_not_fit(in, want);
        if (d == -1) wild = k;
        s.dim[k] = d == -1 ? 1 : d;
    }
    int64_t have = tg_shape_count(in), rest = tg_shape_count(&s);
    if (wild >= 0) {
        if (rest == 0 || have % rest) return does_not_fit(in, want);
        s.dim[wild] = have / rest;
    } else if (rest != have) return does_not_fit(in, want);
    *out = s;
    return TG_OK;
}

/* Canonical: shape is the output's; allowzero is 1 only if there is a 0. */
tg_status infer_reshape(tg_infer *infer)
{
    tg_attr *allowzero = tg_infer_attr(infer, "allowzero");
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_attr *want;
    TG_TRY(infer_list(infer, "shape", 1, &want));
    if (!want && has_type(infer, 1)) return TG_OK;
    if (!want) return tg_fail(TG_INVALID, "the shape is missing");
    tg_shape *out = &infer->out[0].shape;
    TG_TRY(resolve_shape(&infer->in[0].shape, want, allowzero->i != 0, out));
    allowzero->i = 0;
    for (int64_t k = 0; k < out->rank; k++) allowzero->i |= out->dim[k] == 0;
    tg_infer_set_ints(infer, "shape", out->dim, (size_t)out->rank);
    return TG_OK;
}

tg_status infer_flatten(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    tg_attr *axis = tg_infer_attr(infer, "axis");
    if (axis->i < -in->rank || axis->i > in->rank)
        return tg_fail(TG_INVALID, "axis %lld is outside rank %lld", (long long)axis->i,
                       (long long)in->rank);
    if (axis->i < 0) axis->i += in->rank;
    tg_shape head = tg_shape_from(in->dim, (int)axis->i);
    tg_shape tail = tg_shape_from(in->dim + axis->i, (int)(in->rank - axis->i));
    infer->out[0] =
        (tg_type){infer->in[0].dtype, tg_shape_of(tg_shape_count(&head), tg_shape_count(&tail))};
    return TG_OK;
}

/* Canonical: the axes are listed, ascending. */
tg_status infer_squeeze(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_attr *axes;
    TG_TRY(infer_list(infer, "axes", 1, &axes));
    if (!axes && has_type(infer, 1)) return TG_OK;
    unsigned set = 0;
    for (int k = 0; !axes && k < in->rank && k < TG_MAX_RANK; k++)
        if (in->dim[k] == 1) set |= 1u << k;
    if (axes) TG_TRY(tg_axes_set(axes->ints, axes->n, in->rank, &set));
    tg_shape out = {0};
    for (int k = 0; k < in->rank; k++) {
        if (!(set >> k & 1)) out.dim[out.rank++] = in->dim[k];
        else if (in->dim[k] != 1)
            return tg_fail(TG_SHAPE, "axis %d to squeeze has size %lld", k, (long long)in->dim[k]);
    }
    infer_set_axes(infer, "axes", set);
    infer->out[0].shape = out;
    return TG_OK;
}

tg_status infer_unsqueeze(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_attr *axes;
    TG_TRY(infer_list(infer, "axes", 1, &axes));
    if (!axes && has_type(infer, 1)) return TG_OK;
    if (!axes) return tg_fail(TG_INVALID, "the axes are missing");
    int64_t rank = in->rank + axes->n;
    if (rank > TG_MAX_RANK) return too_deep(rank);
    unsigned set = 0;
    TG_TRY(tg_axes_set(axes->ints, axes->n, rank, &set));
    tg_shape out = {.rank = rank};
    for (int k = 0, from = 0; k < rank; k++) out.dim[k] = set >> k & 1 ? 1 : in->dim[from++];
    infer_set_axes(infer, "axes", set);
    infer->out[0].shape = out;
    return TG_OK;
}

/* Canonical: perm is given. */
tg_status infer_transpose(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    const tg_attr *perm = tg_infer_attr(infer, "perm");
    int64_t p[TG_MAX_RANK];
    unsigned set = 0;
    if (perm->kind == TG_ATTR_NONE) {
        for (int64_t k = 0; k < in->rank; k++) p[k] = in->rank - 1 - k;
        tg_infer_set_ints(infer, "perm", p, (size_t)in->rank);
    }
    if (perm->n != in->rank)
        return tg_fail(TG_SHAPE, "perm has %u entries for rank %lld", perm->n, (long long)in->rank);
    TG_TRY(tg_axes_set(perm->ints, perm->n, in->rank, &set));
    tg_shape out = {.rank = in->rank};
    for (int64_t k = 0; k < in->rank; k++) {
        p[k] = perm->ints[k] < 0 ? perm->ints[k] + in->rank : perm->ints[k];
        out.dim[k] = in->dim[p[k]];
    }
    tg_infer_set_ints(infer, "perm", p, (size_t)in->rank);
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

tg_status kernel_transpose(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_movable(x->dtype));
    const int64_t *perm = call_attr(call, "perm")->ints;
    int64_t from[TG_MAX_RANK], to[TG_MAX_RANK];
    tg_strided_of(&x->shape, from);
    tg_strided_of(&call->out[0].shape, to);
    tg_strided s = {0};
    for (int64_t k = 0; k < x->shape.rank; k++)
        tg_strided_add(&s, call->out[0].shape.dim[k], to[k], from[perm[k]]);
    tg_strided_copy(&s, call->out[0].data, x->data, tg_dtype_size(x->dtype));
    return TG_OK;
}

/* Canonical: shape is the output's. */
tg_status infer_expand(tg_infer *infer)
{
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_attr *want;
    TG_TRY(infer_list(infer, "shape", 1, &want));
    if (!want && has_type(infer, 1)) return TG_OK;
    if (!want) return tg_fail(TG_INVALID, "the shape is missing");
    if (want->n > TG_MAX_RANK) return too_deep(want->n);
    for (uint32_t k = 0; k < want->n; k++)
        if (want->ints[k] < 0)
            return tg_fail(TG_INVALID, "dimension %u of the shape is negative", k);
    tg_shape to = tg_shape_from(want->ints, (int)want->n);
    TG_TRY(tg_shape_broadcast(&infer->in[0].shape, &to, &infer->out[0].shape));
    const tg_shape *out = &infer->out[0].shape;
    tg_infer_set_ints(infer, "shape", out->dim, (size_t)out->rank);
    return TG_OK;
}

tg_status kernel_expand(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    const tg_shape *out = &call->out[0].shape;
    TG_TRY(tg_element_movable(x->dtype));
    int64_t from[TG_MAX_RANK], to[TG_MAX_RANK], lead = out->rank - x->shape.rank;
    tg_strided_of(&x->shape, from);
    tg_strided_of(out, to);
    tg_strided s = {0};
    for (int64_t k = 0; k < out->rank; k++) {
        bool repeats = k < lead || x->shape.dim[k - lead] == 1;
        tg_strided_add(&s, out->dim[k], to[k], repeats ? 0 : from[k - lead]);
    }
    tg_strided_copy(&s, call->out[0].data, x->data, tg_dtype_size(x->dtype));
    return TG_OK;
}

tg_status infer_tile(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_attr *repeats;
    TG_TRY(infer_list(infer, "repeats", 1, &repeats));
    if (!repeats && has_type(infer, 1)) return TG_OK;
    if (!repeats || repeats->n != in->rank)
        return tg_fail(TG_SHAPE, "%u repeats for rank %lld", repeats ? repeats->n : 0,
                       (long long)in->rank);
    tg_shape out = *in;
    for (uint32_t k = 0; k < repeats->n; k++)
        if (repeats->ints[k] < 0 ||
            __builtin_mul_overflow(in->dim[k], repeats->ints[k], &out.dim[k]))
            return tg_fail(TG_INVALID, "axis %u cannot be repeated %lld times", k,
                           (long long)repeats->ints[k]);
    infer->out[0].shape = out;
    return TG_OK;
}

tg_status kernel_tile(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_movable(x->dtype));
    const int64_t *repeats = call_attr(call, "repeats")->ints;
    int64_t from[TG_MAX_RANK], to[TG_MAX_RANK];
    tg_strided_of(&x->shape, from);
    tg_strided_of(&call->out[0].shape, to);
    tg_strided s = {0};
    for (int64_t k = 0; k < x->shape.rank; k++) {
        tg_strided_add(&s, repeats[k], to[k] * x->shape.dim[k], 0);
        tg_strided_add(&s, x->shape.dim[k], to[k], from[k]);
    }
    tg_strided_copy(&s, call->out[0].data, x->data, tg_dtype_size(x->dtype));
    return TG_OK;
}
