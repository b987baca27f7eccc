/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes at random, by what their names mean. */
#include "sample.h"

#include <math.h>
#include <string.h>

/* What a drawer of one attribute is given. */
typedef struct attr_draw {
    sample *s;
    tg_op op;
    const char *name;
    const tg_attr *so_far; /* by spec position; attributes before this one are there */
    const tg_type *in;     /* of the first input; NULL if there is none */
    int rank;
    tg_attr value; /* the default */
} attr_draw;

static tg_attr ints(attr_draw *a, const int64_t *v, int n)
{
    return TG_ATTR_OF_INTS(tg_arena_dup(a->s->arena, v, sizeof *v * (size_t)n), n);
}

static const tg_attr *other(const attr_draw *a, const char *name)
{
    int i = tg_op_attr_index(a->op, name);
    return i >= 0 ? &a->so_far[i] : NULL;
}

static bool is_op(const attr_draw *a, const char *name)
{
    return strcmp(tg_op_get(a->op)->name, name) == 0;
}

static tg_attr draw_axis(attr_draw *a)
{
    if (!a->rank) return TG_ATTR_OF_INT(0);
    return TG_ATTR_OF_INT(sample_below(a->s, 2 * a->rank) - a->rank);
}

static tg_attr draw_axes(attr_draw *a)
{
    int64_t v[2 * TG_MAX_RANK];
    int n = 0, rank = a->rank + (is_op(a, "Unsqueeze") ? 1 + sample_below(a->s, 2) : 0);
    bool ones = is_op(a, "Squeeze");
    if (is_op(a, "Pad")) return (tg_attr){.kind = TG_ATTR_NONE};
    if (rank > TG_MAX_RANK) rank = TG_MAX_RANK;
    if (is_op(a, "Unsqueeze")) {
        for (int at = sample_below(a->s, rank), k = rank - a->rank; k > 0; k--, at++)
            v[n++] = at % rank;
        return ints(a, v, n);
    }
    for (int i = 0; i < rank; i++)
        if (ones ? a->in->shape.dim[i] == 1 && sample_chance(a->s, 80) : sample_chance(a->s, 40))
            v[n++] = i;
    if (!n) v[n++] = rank ? sample_below(a->s, rank) : 0;
    return ints(a, v, n);
}

static tg_attr draw_perm(attr_draw *a)
{
    int64_t v[TG_MAX_RANK];
    for (int i = 0; i < a->rank; i++) v[i] = i;
    for (int i = a->rank - 1; i > 0; i--) {
        int k = sample_below(a->s, i + 1);
        int64_t x = v[i];
        v[i] = v[k];
        v[k] = x;
    }
    return ints(a, v, a->rank);
}

static tg_attr draw_spatial(attr_draw *a, int most)
{
    int64_t v[TG_MAX_RANK], same = 1 + sample_below(a->s, most);
    bool equal = sample_chance(a->s, 60);
    int n = a->rank > 2 ? a->rank - 2 : 0;
    for (int i = 0; i < n; i++) v[i] = equal ? same : 1 + sample_below(a->s, most);
    return ints(a, v, n);
}

static tg_attr draw_strides(attr_draw *a)
{
    return sample_chance(a->s, 50) ? draw_spatial(a, 1) : draw_spatial(a, 2);
}

static tg_attr draw_kernel(attr_draw *a)
{
    if (!tg_op_get(a->op)->attrs || !strstr(tg_op_get(a->op)->attrs, "kernel_shape:ints!"))
        return (tg_attr){.kind = TG_ATTR_NONE};
    return draw_spatial(a, 3);
}

static tg_attr draw_pads(attr_draw *a)
{
    int64_t v[2 * TG_MAX_RANK], same = sample_below(a->s, 3);
    bool pad = is_op(a, "Pad"), equal = sample_chance(a->s, 50);
    int n = pad ? a->rank : a->rank - 2;
    if (n < 0) n = 0;
    for (int i = 0; i < 2 * n; i++) v[i] = equal ? same : sample_below(a->s, 3);
    /* Convolutions pad the spatial axes only: such a Pad should not be rare. */
    for (int i = 0; pad && n > 2 && equal && i < 2; i++) v[i] = v[n + i] = 0;
    if (!pad && sample_chance(a->s, 40)) memset(v, 0, sizeof v);
    if (pad && n && sample_chance(a->s, 15)) v[sample_below(a->s, 2 * n)] = -1;
    return ints(a, v, 2 * n);
}

static tg_attr draw_group(attr_draw *a)
{
    int64_t c = a->rank > 1 ? a->in->shape.dim[1] : 1;
    int64_t all[] = {1, 1, 1, 2, 2, 3, c};
    return TG_ATTR_OF_INT(all[sample_below(a->s, 7)]);
}

/* Some product of factors of the count. */
static tg_attr draw_shape(attr_draw *a)
{
    int64_t v[TG_MAX_RANK], left;
    int n = 1 + sample_below(a->s, 4);
    if (is_op(a, "Expand") || !a->in) return ints(a, a->s->base.dim, (int)a->s->base.rank);
    left = tg_shape_count(&a->in->shape);
    for (int i = 0; i < n; i++) v[i] = 1;
    for (int64_t p = 2; p <= left; p++)
        while (left % p == 0) {
            v[sample_below(a->s, n)] *= p;
            left /= p;
        }
    return left ? ints(a, v, n) : ints(a, a->in->shape.dim, a->rank);
}

static int64_t axis_size(const attr_draw *a)
{
    const tg_attr *axis = other(a, "axis");
    int64_t at = axis && axis->kind == TG_ATTR_INT ? axis->i : 0;
    if (at < 0) at += a->rank;
    return at >= 0 && at < a->rank ? a->in->shape.dim[at] : 1;
}

/* As many parts as the line has results. */
static tg_attr draw_split(attr_draw *a)
{
    int64_t v[16], left = axis_size(a);
    int n = a->s->parts < 16 ? a->s->parts : 16;
    for (int i = 0; i < n; i++) {
        int64_t rest = n - 1 - i, most = left - rest;
        v[i] = i == n - 1 ? left : most < 1 ? 0 : 1 + sample_below(a->s, (int)most);
        left -= v[i];
    }
    return ints(a, v, n);
}

/* The axes of a Slice, in any order; the other attributes follow them. */
static tg_attr draw_slice_axes(attr_draw *a)
{
    int64_t v[TG_MAX_RANK];
    int n = 0, some = sample_chance(a->s, 25) ? 100 : 50;
    for (int i = 0; i < a->rank; i++)
        if (sample_chance(a->s, some)) v[n++] = i;
    if (!n && a->rank) v[n++] = sample_below(a->s, a->rank);
    if (n > 1 && sample_chance(a->s, 30)) {
        int64_t x = v[0];
        v[0] = v[n - 1];
        v[n - 1] = x;
    }
    return ints(a, v, n);
}

/* starts, ends and steps fit together: a few axes run backward, as their number says. */
static tg_attr draw_slice(attr_draw *a)
{
    int64_t v[TG_MAX_RANK];
    const tg_attr *axes = other(a, "axes");
    if (strcmp(a->name, "axes") == 0) return draw_slice_axes(a);
    int n = axes->kind == TG_ATTR_INTS && axes->n <= TG_MAX_RANK ? (int)axes->n : a->rank;
    for (int i = 0; i < n; i++) {
        int64_t at = axes->kind == TG_ATTR_INTS ? axes->ints[i] : i;
        if (at < 0) at += a->rank;
        int64_t size = at >= 0 && at < a->rank ? a->in->shape.dim[at] : 1;
        bool back = (at + a->s->list_axis) % 5 == 4;
        if (strcmp(a->name, "steps") == 0) v[i] = back ? -1 : sample_chance(a->s, 80) ? 1 : 2;
        else if (strcmp(a->name, "starts") == 0)
            v[i] = back                      ? size - 1
                   : sample_chance(a->s, 40) ? 0
                                             : sample_below(a->s, (int)size + 1);
        else v[i] = back ? -size - 1 : size - sample_below(a->s, 2);
    }
    return ints(a, v, n);
}

static tg_attr draw_to(attr_draw *a)
{
    static const tg_dtype types[] = {TG_F32, TG_F32, TG_F32, TG_F64, TG_F16,
                                     TG_I32, TG_I64, TG_I64, TG_U8,  TG_BOOL};
    return TG_ATTR_OF_INT(types[sample_below(a->s, (int)(sizeof types / sizeof *types))]);
}

static tg_attr draw_float(attr_draw *a)
{
    static const float values[] = {0.5f, 0.25f, 1e-5f, 1, 2, 0, -1, 3, 6, 1.0f / 6};
    return TG_ATTR_OF_FLOAT(values[sample_below(a->s, (int)(sizeof values / sizeof *values))]);
}

static tg_attr draw_epsilon(attr_draw *a)
{
    static const float values[] = {0.5f, 0.25f, 1e-5f};
    return TG_ATTR_OF_FLOAT(values[sample_below(a->s, 3)]);
}

static tg_attr draw_bound(attr_draw *a)
{
    bool low = strcmp(a->name, "min") == 0;
    static const float lows[] = {0, -1, 0, 1, 0}, highs[] = {6, 1, 2, 0, -1};
    if (sample_chance(a->s, 15)) return (tg_attr){.kind = TG_ATTR_NONE};
    return TG_ATTR_OF_FLOAT((low ? lows : highs)[sample_below(a->s, 5)]);
}

static tg_attr draw_value(attr_draw *a)
{
    static const float values[] = {0, 0, 0, 1, -1, -INFINITY, -INFINITY};
    return TG_ATTR_OF_FLOAT(values[sample_below(a->s, 7)]);
}

static tg_attr draw_activation(attr_draw *a)
{
    static const char *const all[] = {"", "", "Relu", "Sigmoid", "Tanh"};
    return tg_attr_str(all[sample_below(a->s, 5)]);
}

static tg_attr draw_padding(attr_draw *a)
{
    static const char *const all[] = {"NOTSET", "NOTSET",     "NOTSET",
                                      "NOTSET", "SAME_UPPER", "VALID"};
    return tg_attr_str(all[sample_below(a->s, 6)]);
}

static tg_attr draw_flag(attr_draw *a)
{
    return TG_ATTR_OF_INT(sample_below(a->s, 2));
}

static tg_attr draw_training(attr_draw *a)
{
    return TG_ATTR_OF_INT(sample_chance(a->s, 10));
}

static tg_attr draw_default(attr_draw *a)
{
    return a->value;
}

static tg_attr draw_repeats(attr_draw *a)
{
    int64_t v[TG_MAX_RANK];
    for (int i = 0; i < a->rank; i++) v[i] = 1 + sample_below(a->s, 2);
    return ints(a, v, a->rank);
}

static const struct {
    const char *name;
    tg_attr (*draw)(attr_draw *a);
} drawers[] = {{"axis", draw_axis},
               {"axes", draw_axes},
               {"perm", draw_perm},
               {"strides", draw_strides},
               {"dilations", draw_strides},
               {"kernel_shape", draw_kernel},
               {"pads", draw_pads},
               {"group", draw_group},
               {"shape", draw_shape},
               {"split", draw_split},
               {"to", draw_to},
               {"alpha", draw_float},
               {"beta", draw_float},
               {"epsilon", draw_epsilon},
               {"min", draw_bound},
               {"max", draw_bound},
               {"value", draw_value},
               {"activation", draw_activation},
               {"auto_pad", draw_padding},
               {"keepdims", draw_flag},
               {"ceil_mode", draw_flag},
               {"count_include_pad", draw_flag},
               {"transA", draw_flag},
               {"transB", draw_flag},
               {"training_mode", draw_training},
               {"scale", draw_epsilon},
               {"repeats", draw_repeats},
               {"starts", draw_slice},
               {"ends", draw_slice},
               {"steps", draw_slice}};

tg_attr sample_attr(sample *s, tg_op op, int index, const tg_attr *so_far, const tg_value *in,
                    int n_in)
{
    int n;
    const tg_attr_spec *spec = &tg_op_attrs(op, &n)[index];
    const tg_type *type = n_in && in[0] != TG_NO_VALUE ? tg_build_type(s->b, in[0]) : NULL;
    attr_draw a = {.s = s,
                   .op = op,
                   .name = spec->name,
                   .so_far = so_far,
                   .in = type,
                   .rank = type ? (int)type->shape.rank : 0,
                   .value = spec->value};
    if (is_op(&a, "Slice")) return draw_slice(&a);
    if (is_op(&a, "ConstantOfShape")) return draw_default(&a);
    for (size_t i = 0; i < sizeof drawers / sizeof *drawers; i++)
        if (strcmp(drawers[i].name, spec->name) == 0) return drawers[i].draw(&a);
    return a.value;
}
