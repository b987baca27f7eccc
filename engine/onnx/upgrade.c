/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Older forms of operators, brought to the newest meaning: one function a case. What cannot be
 * brought there is TG_UNSUPPORTED, and the node is carried as it is.
 */
#include "engine/ops/ops.h"
#include "import.h"
#include "standard.h"

#include <string.h>

/* ---- the draft ---- */

static tg_attr *find_attr(tg_draft *d, const char *name)
{
    for (size_t i = 0; i < d->attrs.n; i++)
        if (strcmp(d->attrs.v[i].name, name) == 0) return &d->attrs.v[i].value;
    return NULL;
}

static void set_attr(tg_draft *d, const char *name, tg_attr value)
{
    tg_attr *a = find_attr(d, name);
    if (a) *a = value;
    else tg_vec_push(&d->attrs, (tg_named_attr){name, value});
}

static void drop_attr(tg_draft *d, const char *name)
{
    for (size_t i = 0; i < d->attrs.n; i++)
        if (strcmp(d->attrs.v[i].name, name) == 0) {
            tg_vec_remove(&d->attrs, i);
            return;
        }
}

static int64_t int_attr(tg_draft *d, const char *name, int64_t otherwise)
{
    const tg_attr *a = find_attr(d, name);
    return a && a->kind == TG_ATTR_INT ? a->i : otherwise;
}

static tg_status cannot(const char *what)
{
    return tg_fail(TG_UNSUPPORTED, "%s cannot be brought to its newest form", what);
}

/* ---- Softmax, LogSoftmax, Hardmax before 13: over all axes from `axis` on, as one ---- */

/* The one axis from `from` on that is not 1; -1 if there are more, `from` if there is none. */
static int64_t only_axis(const tg_shape *s, int64_t from)
{
    int64_t only = -1;
    for (int64_t i = from; i < s->rank; i++) {
        if (s->dim[i] == 1) continue;
        if (only >= 0) return -1;
        only = i;
    }
    return only < 0 ? from : only;
}

static tg_status build_one(tg_draft *d, tg_op op, tg_value in, tg_named_attr attr, tg_value *out)
{
    uint32_t id;
    tg_node_spec spec = {.op = op, .in = &in, .n_in = 1, .attrs = &attr, .n_attrs = 1};
    TG_TRY(tg_build_node(d->im->b, &spec, &id));
    *out = tg_value_of(id, 0);
    return TG_OK;
}

/* A matrix, its rows, and the old shape again. */
static tg_status softmax_by_rows(tg_draft *d, const tg_shape *s, int64_t axis)
{
    int64_t rows = 1, columns = 1;
    for (int64_t i = 0; i < axis; i++) rows *= s->dim[i];
    for (int64_t i = axis; i < s->rank; i++) columns *= s->dim[i];
    if (rows * columns == 0) return cannot("an empty softmax");
    int64_t matrix[] = {rows, columns};
    tg_value v;
    TG_TRY(build_one(d, TG_OP(Reshape), d->in.v[0],
                     (tg_named_attr){"shape", TG_ATTR_OF_INTS(matrix, 2)}, &v));
    TG_TRY(build_one(d, d->op, v, (tg_named_attr){"axis", TG_ATTR_OF_INT(1)}, &v));
    tg_named_attr shape = {"shape", TG_ATTR_OF_INTS(s->dim, s->rank)};
    uint32_t id;
    tg_node_spec spec = {.op = TG_OP(Reshape),
                         .in = &v,
                         .n_in = 1,
                         .attrs = &shape,
                         .n_attrs = 1,
                         .name = d->proto->name,
                         .out_names = d->out_names};
    TG_TRY(tg_build_node(d->im->b, &spec, &id));
    d->out = TG_NEW(d->im->arena, tg_value);
    d->out[0] = tg_value_of(id, 0);
    d->built = true;
    return TG_OK;
}

static tg_status old_softmax(tg_draft *d)
{
    const tg_type *type =
        d->in.n == 1 && d->in.v[0] != TG_NO_VALUE ? tg_build_type(d->im->b, d->in.v[0]) : NULL;
    if (!type || !tg_type_complete(type)) return cannot("a softmax of unknown shape");
    int64_t axis = int_attr(d, "axis", 1), only;
    if (axis == type->shape.rank || !type->shape.rank) return cannot("a softmax over no axis");
    TG_TRY(tg_axis_normalise(axis, type->shape.rank, &axis));
    only = only_axis(&type->shape, axis);
    if (only < 0) return softmax_by_rows(d, &type->shape, axis);
    set_attr(d, "axis", TG_ATTR_OF_INT(only));
    return TG_OK;
}

/* ---- Resize and its ancestors ---- */

/* Inputs that are empty constants count as absent. */
static tg_status drop_empty_inputs(tg_draft *d)
{
    for (size_t i = 1; i < d->in.n; i++) {
        if (d->in.v[i] == TG_NO_VALUE) continue;
        const tg_type *type = tg_build_type(d->im->b, d->in.v[i]);
        if (!tg_type_complete(type) || tg_shape_count(&type->shape)) continue;
        d->in.v[i] = TG_NO_VALUE;
    }
    return TG_OK;
}

/* Up to opset 10 both read x / scale without an offset, and took the element below. */
static tg_status set_old_sampling(tg_draft *d)
{
    const tg_attr *mode = find_attr(d, "mode");
    if (mode && mode->kind != TG_ATTR_STR) return cannot("a resize whose mode is no word");
    bool nearest = !mode || strcmp(mode->s, "nearest") == 0;
    if (!nearest && strcmp(mode->s, "linear") != 0) return cannot("this mode of resizing");
    set_attr(d, "coordinate_transformation_mode", tg_attr_str("asymmetric"));
    if (nearest) set_attr(d, "nearest_mode", tg_attr_str("floor"));
    return TG_OK;
}

static tg_status check_enlarges(const tg_tensor *scales)
{
    if (!scales) return cannot("a scale that is not constant");
    for (int64_t i = 0; i < tg_tensor_count(scales); i++)
        if (!(tg_tensor_f64(scales, i) >= 1)) return cannot("a reduction in size");
    return TG_OK;
}

static tg_status scales_to_slot_2(tg_draft *d)
{
    if (d->in.n != 2 || d->in.v[1] == TG_NO_VALUE) return cannot("a resize without scales");
    /* Upsample only enlarges; Resize may do both, and reduced otherwise. */
    const tg_tensor *scales = tg_build_value(d->im->b, d->in.v[1]);
    if (scales || strcmp(d->proto->op_type, "Upsample") != 0) TG_TRY(check_enlarges(scales));
    tg_vec_push(&d->in, d->in.v[1]);
    d->in.v[1] = TG_NO_VALUE;
    d->slots[1] = 2;
    return set_old_sampling(d);
}

static tg_status upsample_7(tg_draft *d)
{
    const tg_attr *scales = find_attr(d, "scales");
    if (!scales || scales->kind != TG_ATTR_FLOATS || d->in.n != 1)
        return cannot("an upsample without scales");
    for (uint32_t i = 0; i < scales->n; i++)
        if (!(scales->floats[i] >= 1)) return cannot("a reduction in size");
    return set_old_sampling(d);
}

/* ---- before 7: broadcasting by attributes ---- */

/* Makes input i a view of itself with this shape. */
static tg_status reshape_input(tg_draft *d, int i, const tg_shape *s)
{
    return build_one(d, TG_OP(Reshape), d->in.v[i],
                     (tg_named_attr){"shape", TG_ATTR_OF_INTS(s->dim, s->rank)}, &d->in.v[i]);
}

/* Gives input 1 axes of size 1 at the end, so that its first axis lies at `axis` of input 0. */
static tg_status align_second(tg_draft *d, int64_t axis)
{
    const tg_type *a = tg_build_type(d->im->b, d->in.v[0]);
    const tg_type *b = tg_build_type(d->im->b, d->in.v[1]);
    if (!tg_type_complete(b) || a->shape.rank < 0) return cannot("a broadcast of unknown shape");
    tg_shape s = b->shape;
    TG_TRY(tg_axis_normalise(axis, a->shape.rank, &axis));
    if (axis + s.rank > a->shape.rank)
        return tg_fail(TG_SHAPE, "a broadcast from axis %lld reaches past the last axis",
                       (long long)axis);
    if (tg_shape_count(&s) == 1 || axis + s.rank == a->shape.rank) return TG_OK;
    while (axis + s.rank < a->shape.rank) s.dim[s.rank++] = 1;
    return reshape_input(d, 1, &s);
}

static bool has_two(const tg_draft *d)
{
    return d->in.n == 2 && d->in.v[0] != TG_NO_VALUE && d->in.v[1] != TG_NO_VALUE;
}

/* Without an axis the last axes were matched, as they are now. */
static tg_status binary_6(tg_draft *d)
{
    const tg_attr *axis = find_attr(d, "axis");
    int64_t at = axis && axis->kind == TG_ATTR_INT ? axis->i : 0;
    bool aligned = axis && int_attr(d, "broadcast", 0);
    drop_attr(d, "axis");
    drop_attr(d, "broadcast");
    return aligned && has_two(d) ? align_second(d, at) : TG_OK;
}

static tg_status gemm_6(tg_draft *d)
{
    drop_attr(d, "broadcast");
    return TG_OK;
}

/* A slope for each channel. */
static tg_status prelu_6(tg_draft *d)
{
    if (!has_two(d)) return TG_OK;
    const tg_type *x = tg_build_type(d->im->b, d->in.v[0]);
    const tg_type *slope = tg_build_type(d->im->b, d->in.v[1]);
    if (x->shape.rank < 0 || slope->shape.rank < 0) return cannot("a slope of unknown shape");
    return slope->shape.rank == 1 && x->shape.rank > 1 ? align_second(d, 1) : TG_OK;
}

/* ---- before 7: others ---- */

static void rename_attr(tg_draft *d, const char *from, const char *to)
{
    for (size_t i = 0; i < d->attrs.n; i++)
        if (strcmp(d->attrs.v[i].name, from) == 0) d->attrs.v[i].name = to;
}

static tg_status pad_1(tg_draft *d)
{
    rename_attr(d, "paddings", "pads");
    return TG_OK;
}

static tg_status concat_3(tg_draft *d)
{
    if (!find_attr(d, "axis")) set_attr(d, "axis", TG_ATTR_OF_INT(1));
    return TG_OK;
}

/* The type was a word such as FLOAT. */
static tg_status cast_5(tg_draft *d)
{
    const tg_attr *to = find_attr(d, "to");
    if (!to || to->kind != TG_ATTR_STR) return TG_OK;
    char name[16] = "";
    for (size_t i = 0; i + 1 < sizeof name && to->s[i]; i++)
        name[i] = to->s[i] >= 'A' && to->s[i] <= 'Z' ? (char)(to->s[i] - 'A' + 'a') : to->s[i];
    tg_dtype type = tg_dtype_find(name);
    if (type == TG_DTYPE_NONE) return cannot("a cast to this type");
    set_attr(d, "to", TG_ATTR_OF_INT(type));
    return TG_OK;
}

/* The lengths could be an input, of the type of the data. */
static tg_status split_1(tg_draft *d)
{
    return d->in.n > 1 ? cannot("a split by an input") : TG_OK;
}

/* One axis was repeated. */
static tg_status tile_5(tg_draft *d)
{
    const tg_tensor *tiles = d->in.n == 3 ? tg_build_value(d->im->b, d->in.v[1]) : NULL;
    const tg_tensor *at = d->in.n == 3 ? tg_build_value(d->im->b, d->in.v[2]) : NULL;
    const tg_type *x =
        d->in.n && d->in.v[0] != TG_NO_VALUE ? tg_build_type(d->im->b, d->in.v[0]) : NULL;
    if (!tiles || !at || tg_tensor_count(tiles) != 1 || tg_tensor_count(at) != 1 || !x ||
        x->shape.rank < 0)
        return cannot("a tile whose axis is not constant");
    int64_t axis;
    int64_t *repeats = TG_NEW_ARRAY(d->im->arena, int64_t, x->shape.rank + 1);
    TG_TRY(tg_axis_normalise((int64_t)tg_tensor_f64(at, 0), x->shape.rank, &axis));
    for (int i = 0; i < x->shape.rank; i++) repeats[i] = 1;
    repeats[axis] = (int64_t)tg_tensor_f64(tiles, 0);
    set_attr(d, "repeats", TG_ATTR_OF_INTS(repeats, x->shape.rank));
    d->in.n = 1;
    return TG_OK;
}

static tg_status selu_5(tg_draft *d)
{
    if (!find_attr(d, "alpha")) set_attr(d, "alpha", TG_ATTR_OF_FLOAT(1.6732f));
    if (!find_attr(d, "gamma")) set_attr(d, "gamma", TG_ATTR_OF_FLOAT(1.0507f));
    return TG_OK;
}

/* The exponent of a norm was a real number. */
static tg_status norm_1(tg_draft *d)
{
    const tg_attr *p = find_attr(d, "p");
    if (!p || p->kind != TG_ATTR_FLOAT) return TG_OK;
    if (!(p->f >= 1 && p->f <= 64) || p->f != (float)(int)p->f) return cannot("a broken exponent");
    set_attr(d, "p", TG_ATTR_OF_INT((int)p->f));
    return TG_OK;
}

/* Outputs were asked for by an attribute and are by their names since. */
static tg_status recurrent_6(tg_draft *d)
{
    drop_attr(d, "output_sequence");
    return TG_OK;
}

static tg_status upsample_1(tg_draft *d)
{
    const tg_attr *h = find_attr(d, "height_scale"), *w = find_attr(d, "width_scale");
    const tg_attr *mode = find_attr(d, "mode");
    if (!h || !w || h->kind != TG_ATTR_FLOAT || w->kind != TG_ATTR_FLOAT)
        return cannot("an upsample without scales");
    float *scales = TG_NEW_ARRAY(d->im->arena, float, 4);
    scales[0] = scales[1] = 1;
    scales[2] = h->f;
    scales[3] = w->f;
    if (mode && mode->kind == TG_ATTR_STR && strcmp(mode->s, "bilinear") == 0)
        set_attr(d, "mode", tg_attr_str("linear"));
    drop_attr(d, "height_scale");
    drop_attr(d, "width_scale");
    set_attr(d, "scales", (tg_attr){.kind = TG_ATTR_FLOATS, .n = 4, .floats = scales});
    return upsample_7(d);
}

/* ---- others ---- */

/* Leaves out results at the end that nothing reads; the first stays. */
static void drop_unread(tg_draft *d)
{
    while (d->n_out > 1 && !tg_strmap_find(&d->im->read, d->out_names[d->n_out - 1])) d->n_out--;
}

static tg_status batch_norm_7(tg_draft *d)
{
    if (!int_attr(d, "spatial", 1)) return cannot("a batch norm that is not spatial");
    drop_attr(d, "spatial");
    return TG_OK;
}

/* Before 14 the number of outputs told training from use; before 7 so did is_test. */
static tg_status batch_norm_13(tg_draft *d)
{
    drop_unread(d);
    if (d->im->opset < 7) drop_attr(d, "is_test");
    if (d->n_out > 1) return cannot("a batch norm in training");
    return batch_norm_7(d);
}

/* Before 10 the mask had the type of the data. */
static tg_status dropout_9(tg_draft *d)
{
    drop_unread(d);
    if (d->im->opset < 7) drop_attr(d, "is_test");
    return d->n_out > 1 ? cannot("a dropout that gives its mask") : TG_OK;
}

/* Before 16 regions were read without a shift of half a pixel. */
static tg_status roi_align_10(tg_draft *d)
{
    set_attr(d, "coordinate_transformation_mode", tg_attr_str("output_half_pixel"));
    return TG_OK;
}

/* Before 20 the axis was 1 where none was named. */
static tg_status dft_17(tg_draft *d)
{
    set_attr(d, "axis", TG_ATTR_OF_INT(int_attr(d, "axis", 1)));
    return TG_OK;
}

/* Gives each channel what its group had. */
static tg_status spread_groups(tg_draft *d, int i, int64_t groups, int64_t channels)
{
    const tg_type *type = tg_build_type(d->im->b, d->in.v[i]);
    if (!tg_type_complete(type)) return cannot("a group norm of unknown shape");
    if (type->shape.rank != 1 || type->shape.dim[0] != groups)
        return tg_fail(TG_SHAPE, "the scale or shift has no entry a group");
    tg_shape column = tg_shape_of(groups, 1), flat = tg_shape_of(channels);
    int64_t wide[] = {groups, channels / groups};
    TG_TRY(reshape_input(d, i, &column));
    TG_TRY(build_one(d, TG_OP(Expand), d->in.v[i],
                     (tg_named_attr){"shape", TG_ATTR_OF_INTS(wide, 2)}, &d->in.v[i]));
    return reshape_input(d, i, &flat);
}

/* Before 21 scale and shift had an entry a group. */
static tg_status group_norm_18(tg_draft *d)
{
    int64_t groups = int_attr(d, "num_groups", 0);
    const tg_type *x =
        d->in.n == 3 && d->in.v[0] != TG_NO_VALUE ? tg_build_type(d->im->b, d->in.v[0]) : NULL;
    if (!x || x->shape.rank < 2 || x->shape.dim[1] < 0 || d->in.v[1] == TG_NO_VALUE ||
        d->in.v[2] == TG_NO_VALUE)
        return cannot("a group norm of unknown shape");
    if (groups < 1 || x->shape.dim[1] % groups)
        return tg_fail(TG_SHAPE, "%lld channels are not %lld groups of one size",
                       (long long)x->shape.dim[1], (long long)groups);
    d->changed = true;
    TG_TRY(spread_groups(d, 1, groups, x->shape.dim[1]));
    return spread_groups(d, 2, groups, x->shape.dim[1]);
}

typedef struct upgrade {
    const char *op_type;
    int below; /* opsets before this one have the older form */
    tg_status (*apply)(tg_draft *d);
} upgrade;

/* The first row that fits is taken. */
static const upgrade upgrades[] = {
    {"Softmax", 13, old_softmax},
    {"LogSoftmax", 13, old_softmax},
    {"Hardmax", 13, old_softmax},
    {"Add", 7, binary_6},
    {"Sub", 7, binary_6},
    {"Mul", 7, binary_6},
    {"Div", 7, binary_6},
    {"Pow", 7, binary_6},
    {"And", 7, binary_6},
    {"Or", 7, binary_6},
    {"Xor", 7, binary_6},
    {"Equal", 7, binary_6},
    {"Less", 7, binary_6},
    {"Greater", 7, binary_6},
    {"Gemm", 7, gemm_6},
    {"PRelu", 7, prelu_6},
    {"Pad", 2, pad_1},
    {"Concat", 4, concat_3},
    {"Cast", 6, cast_5},
    {"Split", 2, split_1},
    {"Tile", 6, tile_5},
    {"Selu", 6, selu_5},
    {"LpPool", 2, norm_1},
    {"GlobalLpPool", 2, norm_1},
    {"GRU", 7, recurrent_6},
    {"LSTM", 7, recurrent_6},
    {"RNN", 7, recurrent_6},
    {"Upsample", 7, upsample_1},
    {"Upsample", 9, upsample_7},
    {"Upsample", 100, scales_to_slot_2},
    {"Resize", 11, scales_to_slot_2},
    {"Resize", 100, drop_empty_inputs},
    {"BatchNormalization", 14, batch_norm_13},
    {"GroupNormalization", 21, group_norm_18},
    {"Dropout", 10, dropout_9},
    {"RoiAlign", 16, roi_align_10},
    {"DFT", 20, dft_17},
};

tg_status tg_upgrade(tg_draft *d)
{
    /* Which inputs may be overwritten was said of most operators before 6. */
    if (d->im->opset < 6) drop_attr(d, "consumed_inputs");
    for (size_t i = 0; i < sizeof upgrades / sizeof *upgrades; i++)
        if (d->im->opset < upgrades[i].below && strcmp(d->proto->op_type, upgrades[i].op_type) == 0)
            return upgrades[i].apply(d);
    return TG_OK;
}

int tg_onnx_oldest_form(const char *op_type)
{
    for (int opset = TG_ONNX_OPSET_OLDEST; opset <= TG_ONNX_OPSET_NEWEST; opset++)
        if (tg_standard_version(op_type, opset)) return opset;
    return 0;
}

tg_op tg_upgrade_op(const char *domain, const char *op_type)
{
    if (!domain[0] && strcmp(op_type, "Upsample") == 0) return TG_OP(Resize);
    if (!domain[0] && strcmp(op_type, "Scatter") == 0) return TG_OP(ScatterElements);
    return tg_op_find(domain, op_type);
}
