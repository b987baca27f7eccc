/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of the table, written in the form of an opset. */
#include "attribute.h"
#include "export.h"

#include <string.h>

/* A node on its way out. */
typedef struct row_writer {
    tg_exporter *ex;
    const tg_node *node;
    const tg_op_row *row;
    Onnx__NodeProto *proto;
    size_t room; /* entries of input and attribute */
} row_writer;

static const tg_fold_spec *fold_of(const row_writer *w, int attr)
{
    int n;
    const tg_fold_spec *folds = tg_op_folds(w->node->op, &n);
    for (int i = 0; i < n; i++)
        if (folds[i].attr == attr) return &folds[i];
    return NULL;
}

/* Numbers that are inputs in the newer form: their type is that of x where they are like x. */
static tg_dtype dtype_of_number(const row_writer *w, const char *attr)
{
    static const char *const like_x[] = {"min", "max", "value", "constant_value"};
    const tg_node *node = w->node;
    for (size_t i = 0; i < sizeof like_x / sizeof *like_x; i++)
        if (strcmp(attr, like_x[i]) == 0 && node->n_in && node->in[0] != TG_NO_VALUE)
            return tg_graph_type(w->ex->g, node->in[0])->dtype;
    return TG_F32;
}

/* An attribute as the tensor that it is where it is an input. */
static tg_tensor tensor_of(const row_writer *w, const char *name, const tg_attr *a)
{
    tg_arena *arena = w->ex->arena;
    bool list = a->kind == TG_ATTR_INTS || a->kind == TG_ATTR_FLOATS;
    bool one_of_list = strcmp(w->row->name, "TopK") == 0; /* k has shape [1] */
    tg_tensor t = {.shape = list          ? tg_shape_of((int64_t)a->n)
                            : one_of_list ? tg_shape_of(1)
                                          : (tg_shape){.rank = 0}};
    if (a->kind == TG_ATTR_INTS || a->kind == TG_ATTR_INT) {
        t.dtype = TG_I64;
        bool truth = strcmp(name, "training_mode") == 0;
        if (truth) t.dtype = TG_BOOL;
    } else t.dtype = a->kind == TG_ATTR_FLOATS ? TG_F32 : dtype_of_number(w, name);
    t.data = tg_arena_alloc(arena, tg_tensor_bytes(&t) + 1);
    for (int64_t i = 0; i < tg_tensor_count(&t); i++) {
        if (a->kind == TG_ATTR_INTS) tg_tensor_set_i64(&t, i, a->ints[i]);
        else if (a->kind == TG_ATTR_INT) tg_tensor_set_i64(&t, i, a->i);
        else tg_tensor_set_f64(&t, i, a->kind == TG_ATTR_FLOAT ? a->f : a->floats[i]);
    }
    return t;
}

static void put_input(row_writer *w, int slot, const char *name)
{
    while ((int)w->proto->n_input <= slot) w->proto->input[w->proto->n_input++] = "";
    w->proto->input[slot] = (char *)(uintptr_t)name;
}

static void write_inputs(row_writer *w)
{
    for (int i = 0; i < w->node->n_in; i++) put_input(w, i, tg_export_name(w->ex, w->node->in[i]));
}

static void write_attr(row_writer *w, int i, const tg_attr_spec *spec)
{
    const tg_attr *a = &w->node->attrs->a[i];
    if (tg_downgrade_implied(w->node, i)) return;
    const tg_fold_spec *fold = fold_of(w, i);
    bool as_input = fold && w->ex->opset >= fold->since &&
                    (fold->slot >= w->node->n_in || w->node->in[fold->slot] == TG_NO_VALUE);
    if (!as_input) {
        w->proto->attribute[w->proto->n_attribute++] =
            tg_attribute_write(w->ex->arena, spec->name, a);
        return;
    }
    tg_tensor t = tensor_of(w, spec->name, a);
    const char *wish =
        tg_arena_printf(w->ex->arena, "%s_%u_%s", w->row->name, w->node->id, spec->name);
    put_input(w, fold->slot, tg_export_tensor(w->ex, &t, wish));
}

/* What the standard has no attribute for: one that is of the standard has a word as its default. */
static bool is_fused(const tg_attr_spec *spec)
{
    return strcmp(spec->name, "activation") == 0 && !spec->value.s[0];
}

static const char *activation_of(const tg_node *node)
{
    int n, i = tg_op_attr_index(node->op, "activation");
    bool has = i >= 0 && is_fused(&tg_op_attrs(node->op, &n)[i]) &&
               node->attrs->a[i].kind == TG_ATTR_STR && node->attrs->a[i].n;
    return has ? node->attrs->a[i].s : NULL;
}

static void write_attrs(row_writer *w)
{
    int n;
    const tg_attr_spec *specs = tg_op_attrs(w->node->op, &n);
    bool standard = !w->row->domain[0];
    for (int i = 0; i < n; i++)
        if (!standard || !is_fused(&specs[i])) write_attr(w, i, &specs[i]);
}

/* What this node fuses becomes a node of its own behind it. */
static void write_activation(row_writer *w, const char *op)
{
    Onnx__NodeProto *after = TG_NEW(w->ex->arena, Onnx__NodeProto);
    onnx__node_proto__init(after);
    const char *wish = tg_arena_printf(w->ex->arena, "%s_%u_plain", w->row->name, w->node->id);
    char **between = TG_NEW(w->ex->arena, char *);
    *between = (char *)(uintptr_t)tg_export_fresh(w->ex, wish);
    after->op_type = tg_arena_strdup(w->ex->arena, op);
    after->n_input = after->n_output = 1;
    after->input = w->proto->output;
    after->output = w->proto->output;
    after->input = between;
    w->proto->output = between;
    tg_vec_push(&w->ex->nodes, after);
}

tg_status tg_export_row(tg_exporter *ex, const tg_node *node)
{
    int n_attrs;
    tg_op_attrs(node->op, &n_attrs);
    const tg_op_row *row = tg_op_get(node->op);
    if (row->flags & TG_INTERNAL)
        return tg_fail(TG_UNSUPPORTED, "operator %s cannot be saved", row->name);
    row_writer w = {ex, node, row, TG_NEW(ex->arena, Onnx__NodeProto),
                    (size_t)node->n_in + (size_t)n_attrs + 8};
    onnx__node_proto__init(w.proto);
    w.proto->input = TG_NEW_ARRAY(ex->arena, char *, w.room);
    w.proto->attribute = TG_NEW_ARRAY(ex->arena, Onnx__AttributeProto *, w.room);
    w.proto->op_type = (char *)(uintptr_t)row->name;
    if (row->domain[0]) w.proto->domain = (char *)(uintptr_t)row->domain;
    w.proto->name = (char *)(uintptr_t)tg_export_node_name(ex, node->name);
    write_inputs(&w);
    write_attrs(&w);
    tg_export_outputs(ex, node, w.proto);
    if (!row->domain[0]) tg_downgrade(ex, node, w.proto);
    tg_vec_push(&ex->nodes, w.proto);
    if (!row->domain[0] && activation_of(node)) write_activation(&w, activation_of(node));
    return TG_OK;
}
