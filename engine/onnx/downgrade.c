/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of operators in opsets before the one that gave them their present meaning. */
#include "attribute.h"
#include "engine/ops/ops.h"
#include "export.h"

#include <string.h>

/* Attributes that are younger than the operator: where one is written, so old must the opset be. */
static const struct age {
    const char *op, *attr;
    int since;
} ages[] = {
    {"ArgMax", "select_last_index", 12},
    {"ArgMin", "select_last_index", 12},
    {"Attention", "left_window_size", 25},
    {"Attention", "right_window_size", 25},
    {"AveragePool", "ceil_mode", 10},
    {"AveragePool", "dilations", 19},
    {"BatchNormalization", "training_mode", 14},
    {"Cast", "round_mode", 24},
    {"Cast", "saturate", 19},
    {"CastLike", "round_mode", 24},
    {"CastLike", "saturate", 19},
    {"DepthToSpace", "mode", 11},
    {"DequantizeLinear", "axis", 13},
    {"DequantizeLinear", "block_size", 21},
    {"DequantizeLinear", "output_dtype", 23},
    {"Dropout", "seed", 12},
    {"GRU", "layout", 14},
    {"GatherND", "batch_dims", 12},
    {"LSTM", "layout", 14},
    {"LpPool", "ceil_mode", 18},
    {"LpPool", "dilations", 18},
    {"MaxPool", "ceil_mode", 10},
    {"MaxPool", "dilations", 10},
    {"MaxPool", "storage_order", 8},
    {"Pad", "axes", 18},
    {"QuantizeLinear", "axis", 13},
    {"QuantizeLinear", "block_size", 21},
    {"QuantizeLinear", "output_dtype", 21},
    {"QuantizeLinear", "precision", 23},
    {"QuantizeLinear", "saturate", 19},
    {"RNN", "layout", 14},
    {"Range", "stash_type", 27},
    {"ReduceL1", "noop_with_empty_axes", 18},
    {"ReduceL2", "noop_with_empty_axes", 18},
    {"ReduceLogSum", "noop_with_empty_axes", 18},
    {"ReduceLogSumExp", "noop_with_empty_axes", 18},
    {"ReduceMax", "noop_with_empty_axes", 18},
    {"ReduceMean", "noop_with_empty_axes", 18},
    {"ReduceMin", "noop_with_empty_axes", 18},
    {"ReduceProd", "noop_with_empty_axes", 18},
    {"ReduceSum", "noop_with_empty_axes", 13},
    {"ReduceSumSquare", "noop_with_empty_axes", 18},
    {"Reshape", "allowzero", 14},
    {"Resize", "antialias", 18},
    {"Resize", "axes", 18},
    {"Resize", "keep_aspect_ratio_policy", 18},
    {"ScatterElements", "reduction", 16},
    {"ScatterND", "reduction", 16},
    {"Shape", "end", 15},
    {"Shape", "start", 15},
    {"Slice", "steps", 10},
    {"SpaceToDepth", "mode", 28},
    {"Split", "num_outputs", 18},
    {"TopK", "largest", 11},
    {"TopK", "sorted", 11},
};

bool tg_downgrade_implied(const tg_node *node, int i)
{
    int n;
    const tg_attr_spec *spec = &tg_op_attrs(node->op, &n)[i];
    const tg_attr *a = &node->attrs->a[i];
    if (a->kind == TG_ATTR_NONE) return true;
    if (spec->required) return false;
    if (tg_attr_equal(a, &spec->value)) return true;
    bool ones = strcmp(spec->name, "dilations") == 0 || strcmp(spec->name, "strides") == 0 ||
                strcmp(spec->name, "steps") == 0;
    bool zeros = strcmp(spec->name, "output_padding") == 0 ||
                 (strcmp(spec->name, "pads") == 0 && node->op != TG_OP(Pad));
    if (a->kind != TG_ATTR_INTS || (!ones && !zeros)) return false;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->ints[k] != (ones ? 1 : 0)) return false;
    return true;
}

/* ---- the opset that a node needs ---- */

static bool softmax_fits(const tg_graph *g, const tg_node *node)
{
    const tg_shape *s = &tg_graph_type(g, node->in[0])->shape;
    int64_t axis = tg_node_attr(node, "axis")->i;
    for (int64_t i = axis + 1; i < s->rank; i++)
        if (s->dim[i] != 1) return false;
    return axis >= 0 && s->rank > 0;
}

static bool is_text(const tg_node *node, const char *attr, const char *text)
{
    const tg_attr *a = tg_node_attr(node, attr);
    return a->kind == TG_ATTR_STR && strcmp(a->s, text) == 0;
}

/* Enlarging as Upsample did. */
static bool resize_fits(const tg_node *node)
{
    const tg_attr *scales = tg_node_attr(node, "scales");
    bool nearest = is_text(node, "mode", "nearest");
    if (node->n_in != 1 || scales->kind != TG_ATTR_FLOATS || !scales->n) return false;
    if (tg_node_attr(node, "sizes")->n || tg_node_attr(node, "axes")->n) return false;
    if (!is_text(node, "coordinate_transformation_mode", "asymmetric")) return false;
    if (nearest ? !is_text(node, "nearest_mode", "floor") : !is_text(node, "mode", "linear"))
        return false;
    for (uint32_t i = 0; i < scales->n; i++)
        if (!(scales->floats[i] >= 1)) return false;
    return true;
}

static bool same_shapes(const tg_graph *g, const tg_node *node)
{
    const tg_shape *first = &tg_graph_type(g, node->in[0])->shape;
    for (int i = 0; i < node->n_in; i++) {
        const tg_shape *s = &tg_graph_type(g, node->in[i])->shape;
        if (!tg_shape_complete(s) || !tg_shape_equal(first, s)) return false;
    }
    return true;
}

/* Whether an opset before the row's has another form with this meaning. */
static bool has_older_form(const tg_graph *g, const tg_node *node, int64_t opset)
{
    if (node->op == TG_OP(Softmax) || node->op == TG_OP(LogSoftmax) || node->op == TG_OP(Hardmax))
        return softmax_fits(g, node);
    if (node->op == TG_OP(Resize)) return resize_fits(node);
    if (node->op == TG_OP(RoiAlign))
        return opset >= 10 && is_text(node, "coordinate_transformation_mode", "output_half_pixel");
    if (node->op == TG_OP(Sum) || node->op == TG_OP(Mean) || node->op == TG_OP(Max) ||
        node->op == TG_OP(Min))
        return same_shapes(g, node);
    return false;
}

int64_t tg_downgrade_needs(const tg_graph *g, const tg_node *node, int64_t opset)
{
    const tg_op_row *row = tg_op_get(node->op);
    int64_t needs = row->since;
    if (needs > opset && has_older_form(g, node, opset)) return opset;
    if (node->op == TG_OP(Gemm) && node->n_in < 3 && needs < 11) needs = 11;
    if (node->op == TG_OP(Attention) && node->n_in > 6 && needs < 24) needs = 24;
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        if (strcmp(ages[i].op, row->name) != 0 || ages[i].since <= needs) continue;
        int at = tg_op_attr_index(node->op, ages[i].attr);
        if (at >= 0 && !tg_downgrade_implied(node, at)) needs = ages[i].since;
    }
    return needs;
}

/* ---- older forms ---- */

static void drop_attribute(Onnx__NodeProto *proto, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (strcmp(proto->attribute[i]->name, name) != 0)
            proto->attribute[kept++] = proto->attribute[i];
    proto->n_attribute = kept;
}

static void old_resize(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto)
{
    const tg_attr *scales = tg_node_attr(node, "scales");
    drop_attribute(proto, "coordinate_transformation_mode");
    drop_attribute(proto, "nearest_mode");
    drop_attribute(proto, "scales");
    if (ex->opset < 10) proto->op_type = "Upsample";
    if (ex->opset < 9) {
        proto->attribute[proto->n_attribute++] = tg_attribute_write(ex->arena, "scales", scales);
        return;
    }
    tg_tensor t = {TG_F32, tg_shape_of((int64_t)scales->n), (void *)(uintptr_t)scales->floats};
    proto->input[1] = (char *)(uintptr_t)tg_export_tensor(ex, &t, "scales");
    proto->n_input = 2;
}

/* In 11 and 12 the inputs roi and scales had to be there, if only empty. */
static void fill_resize_inputs(tg_exporter *ex, Onnx__NodeProto *proto)
{
    tg_tensor none = {TG_F32, tg_shape_of(0), ""};
    for (size_t i = 1; i < 3; i++) {
        if (i >= proto->n_input) proto->input[proto->n_input++] = "";
        if (!proto->input[i][0])
            proto->input[i] = (char *)(uintptr_t)tg_export_tensor(ex, &none, "empty");
    }
}

void tg_downgrade(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto)
{
    if (node->op == TG_OP(RoiAlign) && ex->opset < 16)
        drop_attribute(proto, "coordinate_transformation_mode");
    if (node->op != TG_OP(Resize)) return;
    if (ex->opset < 11) old_resize(ex, node, proto);
    else if (ex->opset < 13) fill_resize_inputs(ex, proto);
}
