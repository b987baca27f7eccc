/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies on their way out: which constants lie outside, their graphs, the nodes that have them. */
#include "attribute.h"
#include "export.h"
#include "import.h"

#include <string.h>

enum { ATTRS = 16 }; /* no operator has as many */

/* Names that values in a body have, so that no made name outside is one of them. */
static void note_inside(tg_exporter *body, tg_strmap *names)
{
    const tg_graph *g = body->g;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        for (int k = 0; node->op != TG_OP_CONST && k < node->n_out; k++)
            if (node->out_name[k][0]) tg_strmap_put(names, node->out_name[k], NULL);
    }
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++)
        if (g->output_names[i][0]) tg_strmap_put(names, g->output_names[i], NULL);
    for (size_t i = 0; i < body->bodies.n; i++) note_inside(body->bodies.v[i], names);
}

static void add_body(tg_exporter *ex, const tg_node *node, uint32_t attr)
{
    tg_exporter *body = TG_NEW(ex->arena, tg_exporter);
    const tg_graph *g = node->attrs->a[attr].graph;
    *body = (tg_exporter){
        .g = g, .frame = g->origin->frame, .outer = ex, .owner = node, .arena = ex->arena};
    *tg_map_put(&ex->body_of, (uint64_t)node->id * ATTRS + attr, NULL) = ex->bodies.n;
    tg_vec_push(&ex->bodies, body);
    tg_export_choose(body);
    tg_export_bodies(body);
    note_inside(body, &ex->inside);
}

void tg_export_bodies(tg_exporter *ex)
{
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        if (!ex->emitted[node->id] || !node->attrs->graphs) continue;
        for (uint32_t k = 0; k < node->attrs->n; k++)
            if (node->attrs->a[k].kind == TG_ATTR_GRAPH) add_body(ex, node, k);
        const tg_frame_node *f = tg_frame_find(ex->frame, node);
        if (f) tg_proto_reserve(f->proto, &ex->inside);
    }
}

tg_exporter *tg_export_body(const tg_exporter *ex, const tg_node *node, int i)
{
    return ex->bodies.v[*tg_map_find(&ex->body_of, (uint64_t)node->id * ATTRS + (uint64_t)i)];
}

/* How many of a node's last inputs are captured values. */
static int captured_of(const tg_node *node)
{
    int at = tg_op_attr_index(node->op, "captured");
    return at < 0 ? node->n_in - 1 : (int)node->attrs->a[at].i;
}

int tg_export_formals(const tg_exporter *ex)
{
    return (int)ex->g->n_inputs - (ex->outer ? captured_of(ex->owner) : 0);
}

/* ---- constants of graphs around ------------------------------------------------------------ */

static const char *name_outside(tg_exporter *ex, const tg_node *node)
{
    const char *name = ex->outer ? name_outside(ex->outer, node) : "";
    const uint64_t *at =
        name[0] || !ex->frame ? NULL : tg_strmap_find(&ex->frame->const_of, node->out_name[0]);
    if (!at) return name;
    const tg_frame_const *c = &ex->frame->consts.v[*at];
    bool same = tg_type_equal(&c->type, &node->out[0]) &&
                (c->weight == node->weight || c->weight->hash == node->weight->hash);
    return same ? tg_export_folded(ex, c->name) : "";
}

void tg_export_outside(tg_exporter *ex)
{
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        tg_value v = tg_value_of(node->id, 0);
        uint64_t *want = node->op == TG_OP_CONST ? tg_map_find(&ex->wanted, v) : NULL;
        if (!want || !node->out_name[0][0]) continue;
        const char *name = name_outside(ex->outer, node);
        if (!name[0]) continue;
        *want = TG_EXPORT_OUTSIDE;
        *tg_map_put(&ex->names, v, NULL) = (uintptr_t)name;
    }
}

/* ---- nodes --------------------------------------------------------------------------------- */

static void write_inputs(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto)
{
    int n = node->n_in - captured_of(node);
    proto->input = TG_NEW_ARRAY(ex->arena, char *, n + 1);
    proto->n_input = (size_t)n;
    for (int i = 0; i < n; i++)
        proto->input[i] = (char *)(uintptr_t)tg_export_name(ex, node->in[i]);
    while (proto->n_input && !proto->input[proto->n_input - 1][0]) proto->n_input--;
}

/* The names that the bodies read, where they are others now. */
static void list_renamed(tg_exporter *ex, const tg_node *node, const tg_frame_node *f,
                         tg_strmap *names)
{
    tg_item item = {.proto = f->proto};
    tg_scope_captured(ex->arena, &item);
    for (int i = 0; i < item.n_captured; i++) {
        int slot = f->slots[f->proto->n_input + (size_t)i];
        const char *was = item.captured[i];
        const char *name =
            slot < 0 ? tg_export_folded(ex, was) : tg_export_name(ex, node->in[slot]);
        if (name[0] && strcmp(name, was) != 0) *tg_strmap_put(names, was, NULL) = (uintptr_t)name;
    }
}

static tg_status write_verbatim(tg_exporter *ex, const tg_node *node, const tg_frame_node *f,
                                Onnx__NodeProto *proto)
{
    tg_strmap names = {0};
    Onnx__NodeProto *source = (Onnx__NodeProto *)(uintptr_t)f->proto;
    list_renamed(ex, node, f, &names);
    tg_status status = names.n ? tg_proto_rename(ex, f->proto, &names, &source) : TG_OK;
    tg_strmap_free(&names);
    *proto = *source;
    return status;
}

static bool is_written(const tg_attr_spec *spec, const tg_attr *a)
{
    return a->kind != TG_ATTR_NONE && strcmp(spec->name, "captured") != 0 &&
           strcmp(spec->name, "rounds") != 0;
}

static tg_status write_attrs(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto)
{
    int n;
    const tg_attr_spec *specs = tg_op_attrs(node->op, &n);
    proto->op_type = (char *)(uintptr_t)tg_op_get(node->op)->name;
    proto->attribute = TG_NEW_ARRAY(ex->arena, Onnx__AttributeProto *, n + 1);
    for (int i = 0; i < n; i++) {
        const tg_attr *a = &node->attrs->a[i];
        if (!is_written(&specs[i], a)) continue;
        Onnx__AttributeProto *out = tg_attribute_write(ex->arena, specs[i].name, a);
        proto->attribute[proto->n_attribute++] = out;
        if (a->kind != TG_ATTR_GRAPH) continue;
        tg_exporter *body = tg_export_body(ex, node, i);
        TG_TRY(tg_export_graph(body, ex->g->origin->ir_version, &out->g));
    }
    return TG_OK;
}

tg_status tg_export_control(tg_exporter *ex, const tg_node *node, const tg_frame_node *f)
{
    Onnx__NodeProto *proto = TG_NEW(ex->arena, Onnx__NodeProto);
    onnx__node_proto__init(proto);
    TG_TRY(f ? write_verbatim(ex, node, f, proto) : write_attrs(ex, node, proto));
    write_inputs(ex, node, proto);
    tg_export_outputs(ex, node, proto);
    proto->name = (char *)(uintptr_t)tg_export_node_name(ex, node->name);
    tg_vec_push(&ex->nodes, proto);
    return TG_OK;
}
