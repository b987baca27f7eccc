/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements picked and placed by index, padding by tables, slices backwards. */
#include "copy.h"
#include "loop.h"

#include "engine/ops/pad.h"

#include <string.h>

/* ---- one index an element ---- */

/* The indices row by row along their last axis; strides are those of the data, in elements. */
typedef struct elements {
    int rank, axis;
    int64_t dim[TG_MAX_RANK], stride[TG_MAX_RANK];
    int64_t size, count; /* of the data along the axis; elements of the data */
    size_t bytes;        /* of an element */
    tg_dtype index_type;
    bool places; /* else picks */
} elements;

static inline int64_t index_at(const elements *k, const void *index, int64_t i)
{
    return k->index_type == TG_I64 ? ((const int64_t *)index)[i] : ((const int32_t *)index)[i];
}

#define MOVE_ROW(T)                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                              \
        int64_t at = index_at(k, index, first + i);                                                \
        if (at < 0) at += k->size;                                                                 \
        if (at < 0 || at >= k->size) return false;                                                 \
        int64_t place = base + i * step + at * axis_step;                                          \
        if (k->places) ((T *)data)[place] = ((const T *)row)[i];                                   \
        else ((T *)row)[i] = ((const T *)data)[place];                                             \
    }                                                                                              \
    return true

/* Between a row of picked (or placed) elements and the data; false: an index is out of range. */
static bool move_row(const elements *k, const void *index, int64_t first, int64_t base, char *row,
                     char *data)
{
    int last = k->rank - 1;
    int64_t n = k->dim[last], step = k->axis == last ? 0 : k->stride[last];
    int64_t axis_step = k->stride[k->axis];
    switch (k->bytes) {
    case 1: MOVE_ROW(uint8_t);
    case 2: MOVE_ROW(uint16_t);
    case 4: MOVE_ROW(uint32_t);
    default: MOVE_ROW(uint64_t);
    }
}

static tg_status run_elements(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const elements *k = step->own;
    int64_t at[TG_MAX_RANK] = {0}, rows = 1, n = k->dim[k->rank - 1];
    char *data = ptr[0], *row = ptr[2];
    if (k->places) {
        data = ptr[3];
        memcpy(data, ptr[0], (size_t)k->count * k->bytes);
    }
    for (int i = 0; i < k->rank - 1; i++) rows *= k->dim[i];
    for (int64_t r = 0; n > 0 && r < rows; r++, row += (size_t)n * k->bytes) {
        int64_t base = 0;
        for (int i = 0; i < k->rank - 1; i++) base += i == k->axis ? 0 : at[i] * k->stride[i];
        if (!move_row(k, ptr[1], r * n, base, row, data))
            return tg_fail(TG_INVALID, "%s %s: an index is outside an axis of %lld",
                           tg_op_get(step->node->op)->name, step->node->name, (long long)k->size);
        for (int i = k->rank - 2; i >= 0 && ++at[i] == k->dim[i]; i--) at[i] = 0;
    }
    return TG_OK;
}

static tg_status plan_elements(tg_cpu_plan *p, const tg_node *node, bool places)
{
    const tg_type *data = tg_cpu_type(p, node->in[0]), *index = tg_cpu_type(p, node->in[1]);
    const tg_attr *how = tg_cpu_attr(node, "reduction");
    elements k = {.rank = (int)data->shape.rank, .index_type = index->dtype, .places = places};
    k.bytes = tg_dtype_size(data->dtype);
    if (k.rank == 0 || k.bytes > 8 || (how && strcmp(how->s, "none") != 0))
        return tg_cpu_plan_kernel(p, node);
    k.axis = (int)tg_node_attr(node, "axis")->i;
    if (k.axis < 0) k.axis += k.rank;
    tg_layout plain = tg_layout_plain(&data->shape);
    for (int i = 0; i < k.rank; i++) {
        k.dim[i] = index->shape.dim[i];
        k.stride[i] = plain.stride[i];
    }
    k.size = data->shape.dim[k.axis];
    k.count = tg_shape_count(&data->shape);
    return tg_cpu_loop(p, node, run_elements, &k, sizeof k, 0);
}

tg_status tg_cpu_plan_gather_elements(tg_cpu_plan *p, const tg_node *node)
{
    return plan_elements(p, node, false);
}

tg_status tg_cpu_plan_scatter_elements(tg_cpu_plan *p, const tg_node *node)
{
    return plan_elements(p, node, true);
}

/* ---- padding that repeats, or takes away ---- */

/* Axes in the order of the output's memory. from[a][i]: where place i of it comes from, in elements
 * of the input; -1: the value. */
typedef struct padding {
    int rank;
    int64_t dim[TG_MAX_RANK], step[TG_MAX_RANK];
    const int64_t *from[TG_MAX_RANK];
    int64_t first, end; /* places of the last axis that follow each other in the input too */
    size_t bytes;
    unsigned char value[8];
} padding;

static void pad_place(const padding *k, const char *x, int64_t from, char *to)
{
    if (from < 0) memcpy(to, k->value, k->bytes);
    else memcpy(to, x + (size_t)from * k->bytes, k->bytes);
}

static char *pad_axis(const padding *k, int axis, const char *x, int64_t base, char *to)
{
    const int64_t *from = k->from[axis];
    int64_t n = k->dim[axis];
    if (axis < k->rank - 1) {
        for (int64_t i = 0; i < n; i++)
            to = pad_axis(k, axis + 1, x, base < 0 || from[i] < 0 ? -1 : base + from[i], to);
        return to;
    }
    for (int64_t i = 0; i < n; i++, to += k->bytes) {
        if (base >= 0 && i == k->first && k->end > i) {
            size_t size = (size_t)(k->end - i) * k->bytes;
            memcpy(to, x + (size_t)(base + from[i]) * k->bytes, size);
            to += size;
            i = k->end;
            if (i == n) break;
        }
        pad_place(k, x, base < 0 || from[i] < 0 ? -1 : base + from[i], to);
    }
    return to;
}

static tg_status run_padding(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    pad_axis(step->own, 0, ptr[0], 0, ptr[1]);
    return TG_OK;
}

static void fill_axis(tg_cpu_plan *p, padding *k, const char *mode, int64_t pad, int64_t size,
                      int64_t dim, int64_t step)
{
    int64_t *from = TG_NEW_ARRAY(p->memory, int64_t, dim + 1);
    for (int64_t i = 0; i < dim; i++) {
        int64_t at = tg_pad_source(mode, i - pad, size);
        from[i] = at < 0 ? -1 : at * step;
    }
    k->first = pad > 0 ? pad : 0;
    k->end = size + pad < dim ? size + pad : dim;
    if (step != 1 || k->first >= dim) k->first = k->end = 0;
    k->dim[k->rank] = dim;
    k->from[k->rank++] = from;
}

/* A trailing axis of one element's step must exist: what is copied lies there. */
tg_status tg_cpu_plan_padding(tg_cpu_plan *p, const tg_node *node)
{
    tg_status status = tg_cpu_plan_pad(p, node); /* a number around what is there */
    if (status != TG_UNSUPPORTED) return status;
    const tg_attr *pads = tg_cpu_attr(node, "pads"), *value = tg_cpu_attr(node, "value");
    const char *mode = tg_node_attr(node, "mode")->s;
    const tg_shape *out = &node->out[0].shape;
    tg_operand all[2];
    int order[TG_MAX_RANK];
    padding k = {.bytes = tg_dtype_size(node->out[0].dtype)};
    if (node->n_in != 1 || !pads || tg_cpu_attr(node, "axes") || k.bytes > 8 || out->rank == 0 ||
        tg_shape_count(out) == 0 || tg_shape_count(&tg_cpu_type(p, node->in[0])->shape) == 0)
        return tg_fail(TG_UNSUPPORTED, "kind of pad");
    TG_TRY(tg_cpu_value(p, node->in[0], &all[0]));
    bool last = tg_layout_is_last(&all[0].shape, &all[0].layout) &&
                !tg_layout_is_plain(&all[0].shape, &all[0].layout);
    if (!last) TG_TRY(tg_cpu_plain(p, node->in[0], &all[0]));
    tg_layout in = last ? tg_layout_last(&all[0].shape) : tg_layout_plain(&all[0].shape);
    tg_layout to = last ? tg_layout_last(out) : tg_layout_plain(out);
    tg_layout_order(out, &to, order);
    for (int i = 0; i < out->rank; i++)
        fill_axis(p, &k, mode, pads->ints[order[i]], all[0].shape.dim[order[i]], out->dim[order[i]],
                  in.stride[order[i]]);
    tg_tensor number = {node->out[0].dtype, {.rank = 0}, k.value};
    tg_tensor_set_f64(&number, 0, value ? value->f : 0);
    all[1] = tg_cpu_new(p, &node->out[0], &to);
    tg_cpu_step(p, node, run_padding, tg_arena_dup(p->memory, &k, sizeof k), all, 2);
    tg_cpu_set(p, node, 0, &all[1]);
    p->stats->loops++;
    return TG_OK;
}

/* ---- backwards ---- */

tg_status tg_cpu_plan_part(tg_cpu_plan *p, const tg_node *node)
{
    tg_status status = tg_cpu_plan_slice(p, node); /* a view */
    if (status != TG_UNSUPPORTED) return status;
    const tg_attr *starts = tg_cpu_attr(node, "starts"), *axes = tg_cpu_attr(node, "axes");
    const tg_attr *steps = tg_cpu_attr(node, "steps");
    if (node->n_in != 1 || !starts || tg_shape_count(&node->out[0].shape) == 0)
        return tg_fail(TG_UNSUPPORTED, "bounds vary");
    tg_operand all[2];
    TG_TRY(tg_cpu_value(p, node->in[0], &all[0]));
    tg_layout from = all[0].layout;
    for (uint32_t i = 0; i < starts->n; i++) {
        int64_t axis = axes ? axes->ints[i] : (int64_t)i, step = steps ? steps->ints[i] : 1;
        if (axis < 0) axis += all[0].shape.rank;
        int64_t dim = all[0].shape.dim[axis], start = starts->ints[i];
        if (start < 0) start += dim;
        int64_t most = step < 0 ? dim - 1 : dim;
        start = start < 0 ? 0 : start > most ? most : start;
        from.offset += start * from.stride[axis];
        from.stride[axis] *= step;
    }
    const tg_shape *shape = &node->out[0].shape;
    tg_layout plain = tg_layout_plain(shape);
    all[0].layout.offset = from.offset;
    all[1] = tg_cpu_new(p, &node->out[0], &plain);
    tg_copy c = tg_copy_of(all[0].dtype, shape, &from, &plain);
    tg_cpu_step(p, node, tg_copy_step, tg_arena_dup(p->memory, &c, sizeof c), all, 2);
    tg_cpu_set(p, node, 0, &all[1]);
    p->stats->loops++;
    return TG_OK;
}
