/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that copy elements to other places, of any type. */
#include "copy.h"
#include "engine/ir/eval.h"
#include "plan.h"

#include <stdlib.h>
#include <string.h>

static const tg_attr *optional(const tg_node *node, const char *name)
{
    int i = tg_op_attr_index(node->op, name);
    return i < 0 || node->attrs->a[i].kind == TG_ATTR_NONE ? NULL : &node->attrs->a[i];
}

/* Channels last where the input has them so. */
static tg_layout like(const tg_operand *in, const tg_shape *shape)
{
    bool last = in->shape.rank == shape->rank && tg_layout_is_last(&in->shape, &in->layout) &&
                !tg_layout_is_plain(&in->shape, &in->layout);
    return last ? tg_layout_last(shape) : tg_layout_plain(shape);
}

/* Adds the step that copies `from` to `to`, both seen as one shape, and names `out` the result. */
static tg_status move_step(tg_cpu_plan *p, const tg_node *node, const tg_operand *from,
                           const tg_operand *to, const tg_operand *out)
{
    TG_TRY(tg_copy_plan(p, node, from, to));
    p->stats->reorders--;
    p->stats->loops++;
    tg_cpu_set(p, node, 0, out);
    return TG_OK;
}

/* Six axes: of the side of few channels n, c, h, the block's row, w, the block's column. */
static tg_operand deep_side(const tg_operand *at, int64_t b, int64_t c, bool crd)
{
    const int64_t *s = at->layout.stride, *d = at->shape.dim;
    tg_operand v = *at;
    v.shape = tg_shape_of(d[0], c, d[2], b, d[3], b);
    int64_t row = crd ? b : b * c, column = crd ? 1 : c;
    tg_layout l = {at->layout.offset,
                   {s[0], crd ? s[1] * b * b : s[1], s[2], s[1] * row, s[3], s[1] * column}};
    v.layout = l;
    return v;
}

static tg_operand wide_side(const tg_operand *at, const tg_operand *deep, int64_t b)
{
    const int64_t *s = at->layout.stride;
    tg_operand v = *at;
    v.shape = deep->shape;
    tg_layout l = {at->layout.offset, {s[0], s[1], s[2] * b, s[2], s[3] * b, s[3]}};
    v.layout = l;
    return v;
}

static bool is_crd(const tg_node *node)
{
    const tg_attr *mode = optional(node, "mode");
    return mode && strcmp(mode->s, "CRD") == 0;
}

tg_status tg_cpu_plan_depth_to_space(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in;
    int64_t b = tg_node_attr(node, "blocksize")->i;
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    if (tg_shape_count(&in.shape) == 0) return tg_fail(TG_UNSUPPORTED, "empty");
    tg_layout layout = like(&in, &node->out[0].shape);
    tg_operand out = tg_cpu_new(p, &node->out[0], &layout);
    tg_operand from = deep_side(&in, b, out.shape.dim[1], is_crd(node));
    tg_operand to = wide_side(&out, &from, b);
    return move_step(p, node, &from, &to, &out);
}

tg_status tg_cpu_plan_space_to_depth(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in;
    int64_t b = tg_node_attr(node, "blocksize")->i;
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    if (tg_shape_count(&in.shape) == 0) return tg_fail(TG_UNSUPPORTED, "empty");
    tg_layout layout = like(&in, &node->out[0].shape);
    tg_operand out = tg_cpu_new(p, &node->out[0], &layout);
    tg_operand to = deep_side(&out, b, in.shape.dim[1], is_crd(node));
    tg_operand from = wide_side(&in, &to, b);
    return move_step(p, node, &from, &to, &out);
}

/* Axes that repeat have stride 0. */
tg_status tg_cpu_plan_expand(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in, from;
    if (node->n_in != 1) return tg_fail(TG_UNSUPPORTED, "the shape varies");
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    tg_layout plain = tg_layout_plain(&node->out[0].shape);
    tg_operand out = tg_cpu_new(p, &node->out[0], &plain);
    int64_t skip = out.shape.rank - in.shape.rank;
    from = in;
    from.shape = out.shape;
    for (int64_t i = 0; i < out.shape.rank; i++) {
        bool repeats = i < skip || in.shape.dim[i - skip] != out.shape.dim[i];
        from.layout.stride[i] = repeats ? 0 : in.layout.stride[i - skip];
    }
    tg_copy c = tg_copy_of(in.dtype, &out.shape, &from.layout, &out.layout);
    tg_operand operands[] = {from, out};
    tg_cpu_step(p, node, tg_copy_step, tg_arena_dup(p->memory, &c, sizeof c), operands, 2);
    p->stats->loops++;
    tg_cpu_set(p, node, 0, &out);
    return TG_OK;
}

/* ---- padding with a number ---- */

typedef struct pad {
    tg_copy copy;
    int64_t count; /* elements of the output */
    unsigned char value[16];
} pad;

static tg_status run_pad(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const pad *k = step->own;
    char *to = ptr[1];
    size_t size = k->copy.size;
    for (int64_t i = 0; i < k->count; i++) memcpy(to + (size_t)i * size, k->value, size);
    tg_copy_do(&k->copy, ptr[0], ptr[2]);
    return TG_OK;
}

/* pads[i] and pads[n + i] belong to axes[i]; no axes: to axis i. Only growing is done here. */
static bool pad_starts(const tg_node *node, int64_t rank, int64_t *start)
{
    const tg_attr *pads = optional(node, "pads"), *axes = optional(node, "axes");
    const tg_attr *mode = optional(node, "mode");
    if (node->n_in != 1 || !pads || (mode && strcmp(mode->s, "constant") != 0)) return false;
    memset(start, 0, sizeof *start * TG_MAX_RANK);
    uint32_t n = pads->n / 2;
    for (uint32_t i = 0; i < n; i++) {
        int64_t axis = axes ? axes->ints[i] : (int64_t)i;
        if (axis < 0) axis += rank;
        if (pads->ints[i] < 0 || pads->ints[n + i] < 0) return false;
        start[axis] = pads->ints[i];
    }
    return true;
}

tg_status tg_cpu_plan_pad(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in;
    int64_t start[TG_MAX_RANK];
    const tg_type *type = &node->out[0];
    if (!pad_starts(node, type->shape.rank, start)) return tg_fail(TG_UNSUPPORTED, "kind of pad");
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    if (tg_shape_count(&in.shape) == 0 || tg_dtype_size(type->dtype) > 8)
        return tg_fail(TG_UNSUPPORTED, "empty");
    tg_layout layout = like(&in, &type->shape);
    tg_operand out = tg_cpu_new(p, type, &layout), inside = out;
    pad k = {.count = tg_shape_count(&type->shape)};
    inside.shape = in.shape;
    for (int i = 0; i < in.shape.rank; i++) inside.layout.offset += start[i] * layout.stride[i];
    k.copy = tg_copy_of(in.dtype, &in.shape, &in.layout, &inside.layout);
    const tg_attr *value = optional(node, "value");
    tg_tensor number = {type->dtype, {.rank = 0}, k.value};
    tg_tensor_set_f64(&number, 0, value ? value->f : 0);
    tg_operand operands[] = {in, out, inside};
    tg_cpu_step(p, node, run_pad, tg_arena_dup(p->memory, &k, sizeof k), operands, 3);
    p->stats->loops++;
    tg_cpu_set(p, node, 0, &out);
    return TG_OK;
}

/* ---- gathering ---- */

typedef struct gather {
    int64_t outer, inner, dim, count; /* inner in bytes; count: indices */
    tg_dtype index_type;
} gather;

static tg_status run_gather(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const gather *k = step->own;
    const char *from = ptr[0];
    char *to = ptr[2];
    tg_tensor index = {k->index_type, {.rank = 1, .dim = {k->count}}, ptr[1]};
    for (int64_t o = 0; o < k->outer; o++, from += k->dim * k->inner) {
        for (int64_t i = 0; i < k->count; i++, to += k->inner) {
            int64_t at = tg_tensor_i64(&index, i);
            if (at < 0) at += k->dim;
            if (at < 0 || at >= k->dim)
                return tg_fail(TG_INVALID, "Gather %s: index %lld of an axis of %lld",
                               step->node->name, (long long)tg_tensor_i64(&index, i),
                               (long long)k->dim);
            memcpy(to, from + at * k->inner, (size_t)k->inner);
        }
    }
    return TG_OK;
}

/* One index known now is a part of the input. */
static bool gather_part(tg_cpu_plan *p, const tg_node *node, const tg_operand *in,
                        const tg_operand *index, int64_t axis)
{
    const void *data = tg_cpu_constant_data(p, index);
    if (!data || index->shape.rank != 0) return false;
    tg_tensor t = {index->dtype, index->shape, (void *)(uintptr_t)data};
    int64_t at = tg_tensor_i64(&t, 0), dim = in->shape.dim[axis];
    if (at < 0) at += dim;
    if (at < 0 || at >= dim) return false;
    tg_operand out = *in;
    out.shape = node->out[0].shape;
    out.layout.offset += at * in->layout.stride[axis];
    for (int64_t i = axis; i + 1 < in->shape.rank; i++)
        out.layout.stride[i] = in->layout.stride[i + 1];
    out.layout.stride[in->shape.rank - 1] = 0;
    tg_cpu_set(p, node, 0, &out);
    return true;
}

tg_status tg_cpu_plan_gather(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in, index;
    int64_t axis = tg_node_attr(node, "axis")->i;
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    if (axis < 0) axis += in.shape.rank;
    TG_TRY(tg_cpu_plain(p, node->in[1], &index));
    if (gather_part(p, node, &in, &index, axis)) return TG_OK;
    TG_TRY(tg_cpu_plain(p, node->in[0], &in));
    gather k = {1, (int64_t)tg_dtype_size(in.dtype), in.shape.dim[axis],
                tg_shape_count(&index.shape), index.dtype};
    for (int64_t i = 0; i < in.shape.rank; i++) {
        if (i < axis) k.outer *= in.shape.dim[i];
        if (i > axis) k.inner *= in.shape.dim[i];
    }
    tg_layout plain = tg_layout_plain(&node->out[0].shape);
    tg_operand out = tg_cpu_new(p, &node->out[0], &plain), operands[] = {in, index, out};
    tg_cpu_step(p, node, run_gather, tg_arena_dup(p->memory, &k, sizeof k), operands, 3);
    p->stats->loops++;
    tg_cpu_set(p, node, 0, &out);
    return TG_OK;
}

/* ---- resizing to the nearest element ---- */

/* from[i]: the input pixel that output pixel i shows. Pixels lie channels last. */
typedef struct nearest {
    int64_t images, pixels_in, pixels_out, channels;
    size_t size; /* of an element */
    const int32_t *from;
} nearest;

static tg_status run_nearest(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const nearest *k = step->own;
    const char *in = ptr[0];
    char *out = ptr[1];
    size_t size = k->size * (size_t)k->channels;
    for (int64_t n = 0; n < k->images; n++, in += (size_t)k->pixels_in * size)
        for (int64_t i = 0; i < k->pixels_out; i++, out += size)
            memcpy(out, in + (size_t)k->from[i] * size, size);
    return TG_OK;
}

/*
 * The reference kernel itself says where pixels come from: it resizes an image of one channel whose
 * pixels are their own numbers.
 */
static tg_status ask_kernel(const tg_node *node, const tg_shape *in, float *from)
{
    tg_arena *arena = tg_arena_new();
    int count;
    tg_op_attrs(node->op, &count);
    tg_attr *attr = tg_arena_dup(arena, node->attrs->a, sizeof *attr * (size_t)count);
    int sizes = tg_op_attr_index(node->op, "sizes");
    int64_t list[4] = {1, 1, node->out[0].shape.dim[2], node->out[0].shape.dim[3]};
    if (attr[sizes].kind == TG_ATTR_INTS && attr[sizes].n == 4) attr[sizes].ints = list;
    int64_t h = in->dim[2], w = in->dim[3];
    float *numbers = TG_NEW_ARRAY(arena, float, h *w);
    for (int64_t i = 0; i < h * w; i++) numbers[i] = (float)i;
    tg_tensor x = {TG_F32, tg_shape_of(1, 1, h, w), numbers};
    tg_tensor y = {TG_F32, tg_shape_of(1, 1, list[2], list[3]), from};
    tg_call call = {tg_op_get(node->op), attr, 1, 1, &x, &y, arena, NULL};
    tg_status status = call.row->kernel(&call);
    tg_arena_free(arena);
    return status;
}

static bool is_nearest(const tg_cpu_plan *p, const tg_node *node)
{
    const tg_attr *mode = optional(node, "mode"), *policy;
    const tg_attr *where = optional(node, "coordinate_transformation_mode");
    if (node->n_in != 1) return false;
    if (!mode || strcmp(mode->s, "nearest") != 0) return false;
    if (where && strcmp(where->s, "tf_crop_and_resize") == 0) return false;
    if ((policy = optional(node, "keep_aspect_ratio_policy")) && strcmp(policy->s, "stretch") != 0)
        return false;
    const tg_shape *in = &tg_cpu_type(p, node->in[0])->shape, *out = &node->out[0].shape;
    return in->rank == 4 && in->dim[0] == out->dim[0] && in->dim[1] == out->dim[1] &&
           tg_shape_count(out) > 0 && in->dim[2] * in->dim[3] < 1 << 24;
}

tg_status tg_cpu_plan_resize(tg_cpu_plan *p, const tg_node *node)
{
    if (!is_nearest(p, node)) return tg_fail(TG_UNSUPPORTED, "kind of resize");
    tg_operand in;
    const tg_shape *shape = &node->out[0].shape;
    nearest k = {.images = shape->dim[0], .channels = shape->dim[1]};
    k.size = tg_dtype_size(node->out[0].dtype);
    k.pixels_out = shape->dim[2] * shape->dim[3];
    float *from = tg_calloc((size_t)k.pixels_out, sizeof *from);
    int32_t *numbers = TG_NEW_ARRAY(p->memory, int32_t, k.pixels_out);
    tg_status status = ask_kernel(node, &tg_cpu_type(p, node->in[0])->shape, from);
    for (int64_t i = 0; i < k.pixels_out; i++) numbers[i] = (int32_t)from[i];
    free(from);
    if (status != TG_OK) return tg_fail(TG_UNSUPPORTED, "not by one channel");
    k.from = numbers;
    TG_TRY(tg_cpu_last(p, node->in[0], &in));
    k.pixels_in = in.shape.dim[2] * in.shape.dim[3];
    tg_layout last = tg_layout_last(shape);
    tg_operand out = tg_cpu_new(p, &node->out[0], &last), operands[] = {in, out};
    tg_cpu_step(p, node, run_nearest, tg_arena_dup(p->memory, &k, sizeof k), operands, 2);
    p->stats->loops++;
    tg_cpu_set(p, node, 0, &out);
    return TG_OK;
}
