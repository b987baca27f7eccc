/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sequences of tensors: SequenceConstruct ... SplitToSequence, ConcatFromSequence. */
#include "engine/ir/list.h"
#include "engine/ir/value.h"
#include "params.h"
#include "strided.h"

#include <string.h>

/* Tensors that a tensor may be cut into. */
enum { MOST_ITEMS = 1 << 24 };

/* Types that are not known yet pass. Errors: TG_TYPE. */
static tg_status need_sequence(const tg_infer *infer)
{
    tg_dtype t = infer->in[0].dtype;
    if (!t || (tg_dtype_is_list(t) && !((unsigned)t & TG_OPT))) return TG_OK;
    return tg_fail(TG_TYPE, "input 0 is %s, not a sequence", tg_dtype_name(t));
}

static tg_status need_tensor(const tg_infer *infer, int slot)
{
    if (slot >= infer->n_in || !tg_dtype_is_list(infer->in[slot].dtype)) return TG_OK;
    return tg_fail(TG_TYPE, "input %d is %s, not a tensor", slot,
                   tg_dtype_name(infer->in[slot].dtype));
}

/* Sequences hold tensors of one element type. */
static tg_status need_element(tg_dtype sequence, tg_dtype item)
{
    if (!sequence || !item || tg_dtype_item(sequence) == item) return TG_OK;
    return tg_fail(TG_TYPE, "a tensor of %s for a %s", tg_dtype_name(item),
                   tg_dtype_name(sequence));
}

static tg_status need_place(const tg_infer *infer, int slot)
{
    TG_TRY(need_tensor(infer, slot));
    if (!has_type(infer, slot) || tg_element_integer(infer->in[slot].dtype)) return TG_OK;
    return tg_fail(TG_TYPE, "the position is %s, not an integer",
                   tg_dtype_name(infer->in[slot].dtype));
}

/* The position that an input gives among n + `behind` places, counted from the end if negative. */
static tg_status place_of(const tg_tensor *t, int64_t n, int64_t behind, int64_t *at)
{
    if (tg_tensor_count(t) != 1) return tg_fail(TG_SHAPE, "the position is not one number");
    int64_t i = tg_tensor_i64(t, 0);
    if (i < -n || i >= n + behind)
        return tg_fail(TG_INVALID, "position %lld in a sequence of %lld", (long long)i,
                       (long long)n);
    *at = i < 0 ? i + n : i;
    return TG_OK;
}

/* What a type that was not known turns out to be. Errors: TG_TYPE. */
static tg_status sequence_in(const tg_call *call, const tg_list **list)
{
    tg_dtype t = call->in[0].dtype;
    if (!tg_dtype_is_list(t) || (unsigned)t & TG_OPT)
        return tg_fail(TG_TYPE, "input 0 is %s, not a sequence", tg_dtype_name(t));
    *list = tg_list_of(&call->in[0]);
    return TG_OK;
}

/* ---- making them ---- */

tg_status infer_sequence_construct(tg_infer *infer)
{
    tg_dtype dtype = TG_DTYPE_NONE;
    for (int i = 0; i < infer->n_in; i++) {
        tg_dtype t = infer->in[i].dtype;
        if (dtype && t && t != dtype)
            return tg_fail(TG_TYPE, "element types %s and %s in one sequence", tg_dtype_name(dtype),
                           tg_dtype_name(t));
        if (t) dtype = t;
    }
    infer->out[0].dtype = tg_dtype_seq(dtype);
    return TG_OK;
}

tg_status kernel_sequence_construct(tg_call *call)
{
    tg_list *list = tg_list_new(call->n_in);
    for (int i = 0; i < call->n_in; i++) tg_list_set(list, i, &call->in[i]);
    tg_call_put(call, 0, tg_list_value(tg_dtype_seq(call->in[0].dtype), list));
    return TG_OK;
}

tg_status infer_sequence_empty(tg_infer *infer)
{
    int64_t code = tg_infer_attr(infer, "dtype")->i;
    if (code <= 0 || code >= TG_DTYPE_COUNT || !tg_dtype_size((tg_dtype)code))
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)code);
    infer->out[0].dtype = tg_dtype_seq((tg_dtype)code);
    return TG_OK;
}

tg_status kernel_sequence_empty(tg_call *call)
{
    tg_dtype dtype = tg_dtype_seq((tg_dtype)call_attr(call, "dtype")->i);
    tg_call_put(call, 0, tg_list_value(dtype, tg_list_new(0)));
    return TG_OK;
}

/* ---- taking from them, changing them ---- */

tg_status infer_sequence_at(tg_infer *infer)
{
    TG_TRY(need_sequence(infer));
    TG_TRY(need_place(infer, 1));
    infer->out[0].dtype = tg_dtype_item(infer->in[0].dtype);
    return TG_OK;
}

tg_status kernel_sequence_at(tg_call *call)
{
    const tg_list *list;
    int64_t at = 0;
    TG_TRY(sequence_in(call, &list));
    TG_TRY(place_of(&call->in[1], list->n, 0, &at));
    tg_call_put(call, 0, tg_tensor_copy(&list->item[at].tensor));
    return TG_OK;
}

tg_status infer_sequence_length(tg_infer *infer)
{
    infer->out[0] = (tg_type){TG_I64, {.rank = 0}};
    return need_sequence(infer);
}

tg_status kernel_sequence_length(tg_call *call)
{
    const tg_list *list;
    TG_TRY(sequence_in(call, &list));
    *(int64_t *)call->out[0].data = list->n;
    return TG_OK;
}

tg_status infer_sequence_erase(tg_infer *infer)
{
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(need_sequence(infer));
    return need_place(infer, 1);
}

tg_status kernel_sequence_erase(tg_call *call)
{
    const tg_list *from;
    TG_TRY(sequence_in(call, &from));
    int64_t at = from->n - 1;
    if (!from->n) return tg_fail(TG_INVALID, "nothing to erase in a sequence of 0");
    if (has_input(call, 1)) TG_TRY(place_of(&call->in[1], from->n, 0, &at));
    tg_list *to = tg_list_new(from->n - 1);
    for (int64_t i = 0; i < to->n; i++) tg_list_share(to, i, &from->item[i + (i >= at)]);
    tg_call_put(call, 0, tg_list_value(call->in[0].dtype, to));
    return TG_OK;
}

tg_status infer_sequence_insert(tg_infer *infer)
{
    infer->out[0].dtype = infer->in[0].dtype;
    if (!infer->in[0].dtype) infer->out[0].dtype = tg_dtype_seq(infer->in[1].dtype);
    TG_TRY(need_sequence(infer));
    TG_TRY(need_tensor(infer, 1));
    TG_TRY(need_element(infer->in[0].dtype, infer->in[1].dtype));
    return need_place(infer, 2);
}

tg_status kernel_sequence_insert(tg_call *call)
{
    const tg_list *from;
    TG_TRY(sequence_in(call, &from));
    int64_t at = from->n;
    if (has_input(call, 2)) TG_TRY(place_of(&call->in[2], from->n, 1, &at));
    tg_list *to = tg_list_new(from->n + 1);
    for (int64_t i = 0; i < from->n; i++) tg_list_share(to, i + (i >= at), &from->item[i]);
    tg_list_set(to, at, &call->in[1]);
    tg_call_put(call, 0, tg_list_value(call->in[0].dtype, to));
    return TG_OK;
}

/* ---- cutting and joining ---- */

tg_status infer_split_to_sequence(tg_infer *infer)
{
    const tg_type *x = &infer->in[0];
    infer->out[0].dtype = tg_dtype_seq(x->dtype);
    if (has_type(infer, 1) && !tg_element_integer(infer->in[1].dtype))
        return tg_fail(TG_TYPE, "split is %s, not integers", tg_dtype_name(infer->in[1].dtype));
    if (has_type(infer, 1) && infer->in[1].shape.rank > 1)
        return tg_fail(TG_SHAPE, "split is neither one number nor a list");
    if (x->shape.rank < 0) return TG_OK;
    int64_t axis;
    return infer_axis(infer, x->shape.rank, &axis);
}

/* The sizes of the pieces, in the call's arena: given, or equal with what is left as the last. */
static tg_status piece_sizes(tg_call *call, int64_t size, int64_t *n, int64_t **sizes)
{
    const tg_tensor *split = has_input(call, 1) ? &call->in[1] : NULL;
    if (split && split->shape.rank == 1) {
        int64_t sum = 0;
        *n = tg_tensor_count(split);
        *sizes = TG_NEW_ARRAY(call->arena, int64_t, *n + 1);
        for (int64_t i = 0; i < *n; i++) {
            (*sizes)[i] = tg_tensor_i64(split, i);
            if ((*sizes)[i] < 0 || (*sizes)[i] > size - sum)
                return tg_fail(TG_INVALID, "a piece of %lld, %lld are left", (long long)(*sizes)[i],
                               (long long)(size - sum));
            sum += (*sizes)[i];
        }
        if (sum == size) return TG_OK;
        return tg_fail(TG_SHAPE, "the sizes sum to %lld, not %lld", (long long)sum,
                       (long long)size);
    }
    int64_t each = split ? tg_tensor_i64(split, 0) : 1;
    if (each <= 0) return tg_fail(TG_INVALID, "pieces of %lld", (long long)each);
    if (each > size) each = size ? size : 1;
    *n = (size + each - 1) / each;
    if (*n > MOST_ITEMS) return tg_fail(TG_LIMIT, "a sequence of %lld", (long long)*n);
    *sizes = TG_NEW_ARRAY(call->arena, int64_t, *n + 1);
    for (int64_t i = 0; i < *n; i++) (*sizes)[i] = i + 1 < *n ? each : size - i * each;
    return TG_OK;
}

/* Copies a box of outer x size x inner elements between tensors that are longer along the axis. */
static void copy_part(void *to, int64_t to_size, const void *from, int64_t from_size, int64_t outer,
                      int64_t size, int64_t inner, size_t bytes)
{
    tg_strided s = {0};
    tg_strided_add(&s, outer, to_size * inner, from_size * inner);
    tg_strided_add(&s, size * inner, 1, 1);
    tg_strided_copy(&s, to, from, bytes);
}

static int64_t product(const tg_shape *s, int64_t from, int64_t to)
{
    int64_t n = 1;
    for (int64_t k = from; k < to; k++) n *= s->dim[k];
    return n;
}

static tg_shape without_axis(const tg_shape *s, int64_t axis)
{
    tg_shape out = {.rank = s->rank - 1};
    for (int64_t k = 0; k < out.rank; k++) out.dim[k] = s->dim[k + (k >= axis)];
    return out;
}

tg_status kernel_split_to_sequence(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    int64_t axis = call_attr(call, "axis")->i, n = 0, *sizes = NULL, at = 0;
    TG_TRY(tg_element_movable(x->dtype));
    TG_TRY(tg_axis_normalise(axis, x->shape.rank, &axis));
    int64_t size = x->shape.dim[axis], inner = product(&x->shape, axis + 1, x->shape.rank);
    TG_TRY(piece_sizes(call, size, &n, &sizes));
    bool drops = !has_input(call, 1) && !call_attr(call, "keepdims")->i;
    tg_list *list = tg_list_new(n);
    for (int64_t i = 0; i < n; at += sizes[i++] * inner) {
        tg_tensor piece = {x->dtype, x->shape, NULL};
        piece.shape.dim[axis] = sizes[i];
        piece.data = tg_calloc(1, tg_tensor_bytes(&piece));
        copy_part(piece.data, sizes[i], tg_element_at(x, at), size, product(&x->shape, 0, axis),
                  sizes[i], inner, tg_dtype_size(x->dtype));
        if (drops) piece.shape = without_axis(&x->shape, axis);
        tg_list_give(list, i, piece);
    }
    tg_call_put(call, 0, tg_list_value(tg_dtype_seq(x->dtype), list));
    return TG_OK;
}

tg_status infer_concat_from_sequence(tg_infer *infer)
{
    int64_t added = tg_infer_attr(infer, "new_axis")->i;
    TG_TRY(need_sequence(infer));
    if (added != 0 && added != 1) return tg_fail(TG_INVALID, "new_axis is %lld", (long long)added);
    infer->out[0].dtype = tg_dtype_item(infer->in[0].dtype);
    return TG_OK;
}

static tg_status do_not_join(const tg_shape *a, const tg_shape *b)
{
    char ta[TG_SHAPE_TEXT], tb[TG_SHAPE_TEXT];
    return tg_fail(TG_SHAPE, "%s and %s cannot be joined", tg_shape_text(ta, a),
                   tg_shape_text(tb, b));
}

/* The shape of all tensors joined; they may differ along the axis unless it is new. */
static tg_status joined_shape(const tg_list *list, int64_t axis, bool added, tg_shape *out)
{
    *out = list->item[0].tensor.shape;
    for (int64_t i = 1; i < list->n; i++) {
        const tg_shape *first = &list->item[0].tensor.shape, *s = &list->item[i].tensor.shape;
        if (first->rank != s->rank) return do_not_join(first, s);
        for (int64_t k = 0; k < s->rank; k++)
            if ((added || k != axis) && s->dim[k] != first->dim[k]) return do_not_join(first, s);
        if (!added && __builtin_add_overflow(out->dim[axis], s->dim[axis], &out->dim[axis]))
            return tg_fail(TG_LIMIT, "axis %d grows too large", (int)axis);
    }
    if (!added) return tg_type_limit(&(tg_type){list->item[0].tensor.dtype, *out});
    if (out->rank == TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "a shape of rank %d, above %d", TG_MAX_RANK + 1,
                       TG_MAX_RANK);
    for (int64_t k = out->rank++; k > axis; k--) out->dim[k] = out->dim[k - 1];
    out->dim[axis] = list->n;
    return TG_OK;
}

tg_status kernel_concat_from_sequence(tg_call *call)
{
    const tg_list *list;
    TG_TRY(sequence_in(call, &list));
    bool added = call_attr(call, "new_axis")->i != 0;
    int64_t axis = call_attr(call, "axis")->i, at = 0;
    tg_shape shape;
    if (!list->n) return tg_fail(TG_INVALID, "nothing to join in a sequence of 0");
    const tg_tensor *first = &list->item[0].tensor;
    TG_TRY(tg_element_movable(first->dtype));
    TG_TRY(tg_axis_normalise(axis, first->shape.rank + added, &axis));
    TG_TRY(joined_shape(list, axis, added, &shape));
    tg_call_alloc(call, 0, first->dtype, shape);
    int64_t outer = product(&shape, 0, axis), inner = product(&shape, axis + 1, shape.rank);
    for (int64_t i = 0; i < list->n; i++) {
        const tg_tensor *x = &list->item[i].tensor;
        int64_t size = added ? 1 : x->shape.dim[axis];
        copy_part(tg_element_at(&call->out[0], at), shape.dim[axis], x->data, size, outer, size,
                  inner, tg_dtype_size(x->dtype));
        at += size * inner;
    }
    return TG_OK;
}
