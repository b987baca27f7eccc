/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "picture.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Names of models need not be UTF-8; JSON must be. */
static json_t *text(const char *s)
{
    json_t *j = json_string(s);
    if (j) return j;
    tg_str safe = {0};
    for (; *s; s++) {
        if ((unsigned char)*s < 0x80) tg_str_addc(&safe, *s);
        else tg_str_addf(&safe, "\\x%02x", (unsigned char)*s);
    }
    j = json_string(tg_str_text(&safe));
    tg_str_free(&safe);
    return j;
}

static json_t *value_name(tg_value v)
{
    if (v == TG_NO_VALUE) return json_null();
    return json_sprintf("%u.%u", tg_value_node(v), tg_value_port(v));
}

static json_t *type_json(const tg_type *t)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->shape.rank; i++)
        json_array_append_new(shape, json_integer(t->shape.dim[i]));
    if (t->shape.rank < 0) {
        json_decref(shape);
        shape = json_null();
    }
    return json_pack("{s:s, s:o}", "dtype", tg_dtype_name(t->dtype), "shape", shape);
}

static json_t *attrs_json(const tg_node *node)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    json_t *all = json_object();
    for (int i = 0; i < n; i++) {
        if (tg_attr_equal(&node->attrs->a[i], &spec[i].value)) continue;
        tg_str s = {0};
        tg_attr_print(&node->attrs->a[i], &s);
        json_object_set_new(all, spec[i].name, text(tg_str_text(&s)));
        tg_str_free(&s);
    }
    return all;
}

static json_t *node_json(const tg_graph *g, const tg_node *node)
{
    char label[256];
    json_t *in = json_array(), *out = json_array();
    for (int i = 0; i < node->n_in; i++) json_array_append_new(in, value_name(node->in[i]));
    for (int i = 0; i < node->n_out; i++) json_array_append_new(out, type_json(&node->out[i]));
    return json_pack("{s:i, s:o, s:s, s:b, s:o, s:o, s:o}", "id", (int)node->id, "name",
                     text(tg_graph_label(g, node->id, label, sizeof label)), "op",
                     tg_op_get(node->op)->name, "constant", node->constant, "inputs", in, "outputs",
                     out, "attributes", attrs_json(node));
}

tg_status tg_picture_json(const tg_graph *g, const tg_picture_options *o, tg_str *out,
                          tg_picture_report *report)
{
    json_t *nodes = json_array(), *names = json_array();
    for (uint32_t i = 0; i < g->n_nodes; i++)
        json_array_append_new(nodes, node_json(g, g->nodes[g->order[i]]));
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++)
        json_array_append_new(names, text(g->output_names[i]));
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o}", "name", text(o->title ? o->title : g->origin->graph_name), "hash",
        json_sprintf("%016llx", (unsigned long long)g->hash), "outputs", names, "nodes", nodes);
    char *bytes = json_dumps(all, JSON_INDENT(1));
    *report =
        (tg_picture_report){.layout = "json", .rows = g->n_nodes, .ops = tg_graph_op_count(g)};
    json_decref(all);
    if (!bytes) return tg_fail(TG_INVALID, "the graph cannot be written as JSON");
    tg_str_add(out, bytes);
    tg_str_addc(out, '\n');
    free(bytes);
    return TG_OK;
}

static const struct {
    const char *extension;
    tg_status (*draw)(const tg_graph *, const tg_picture_options *, tg_str *, tg_picture_report *);
} formats[] = {{".svg", tg_picture_svg},
               {".dot", tg_picture_dot},
               {".json", tg_picture_json},
               {".txt", tg_picture_text}};

tg_status tg_picture_write(const tg_graph *g, const char *path, const tg_picture_options *options,
                           tg_picture_report *report)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!tg_ends_with(path, formats[i].extension)) continue;
        tg_str out = {0};
        tg_status status = formats[i].draw(g, options, &out, report);
        if (status == TG_OK) status = tg_write_file(path, tg_str_text(&out), out.n);
        tg_str_free(&out);
        return status;
    }
    return tg_fail(TG_USAGE, "%s: no format has this extension (.onnx .svg .dot .json .txt)", path);
}
