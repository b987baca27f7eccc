/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes and tensors of a saved graph. */
#include "engine/ir/eval.h"
#include "export.h"
#include "tensor.h"

#include <string.h>

static void unref_weight(void *weight)
{
    tg_weight_unref(weight);
}

/* A tensor as the only attribute of a node. */
static void add_constant(tg_exporter *ex, Onnx__TensorProto *proto, const char *name)
{
    Onnx__NodeProto *node = TG_NEW(ex->arena, Onnx__NodeProto);
    Onnx__AttributeProto *a = TG_NEW(ex->arena, Onnx__AttributeProto);
    onnx__node_proto__init(node);
    onnx__attribute_proto__init(a);
    proto->name = NULL;
    a->name = "value";
    a->has_type = 1;
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    a->t = proto;
    node->op_type = "Constant";
    node->n_output = node->n_attribute = 1;
    node->output = TG_NEW(ex->arena, char *);
    node->output[0] = (char *)(uintptr_t)name;
    node->attribute = tg_arena_dup(ex->arena, &a, sizeof a);
    tg_vec_push(&ex->nodes, node);
}

/* As what the body of a file has it: an initialiser stays one, others are nodes. */
static bool is_node(const tg_exporter *ex, const char *name)
{
    if (!ex->outer) return false;
    return ex->inline_tensors || !ex->frame || !tg_strmap_find(&ex->frame->initialisers, name);
}

static Onnx__TensorProto *add_tensor(tg_exporter *ex, const tg_tensor *t, const char *name)
{
    Onnx__TensorProto *proto = TG_NEW(ex->arena, Onnx__TensorProto);
    tg_tensor_proto_fill(ex->arena, t, name, proto);
    if (is_node(ex, name)) add_constant(ex, proto, name);
    else tg_vec_push(&ex->tensor_list, proto);
    return proto;
}

const char *tg_export_tensor(tg_exporter *ex, const tg_tensor *t, const char *wish)
{
    bool fresh;
    uint64_t h = tg_hash_bytes((uint64_t)t->dtype, &t->shape, sizeof t->shape);
    uint64_t *at = tg_map_put(&ex->tensors, tg_hash_bytes(h, t->data, tg_tensor_bytes(t)), &fresh);
    if (fresh) {
        tg_tensor *copy = tg_arena_dup(ex->arena, t, sizeof *t);
        copy->data = tg_arena_dup(ex->arena, t->data, tg_tensor_bytes(t));
        const char *name = tg_export_fresh(ex, wish);
        *at = (uintptr_t)name;
        add_tensor(ex, copy, name);
    }
    return (const char *)(uintptr_t)*at;
}

/* ---- constants of the graph ---- */

static const Onnx__TensorProto *tensor_of_file(const tg_exporter *ex, const char *name)
{
    const uint64_t *at = ex->frame ? tg_strmap_find(&ex->frame->initialisers, name) : NULL;
    return at ? (const Onnx__TensorProto *)(uintptr_t)*at : NULL;
}

/* The message of the file that holds the same tensor, to keep what a tensor cannot: documentation.
 */
static void add_weight(tg_exporter *ex, const tg_type *type, tg_weight *w, const char *name)
{
    const Onnx__TensorProto *old = tensor_of_file(ex, name);
    tg_tensor t = {type->dtype, type->shape, (void *)(uintptr_t)w->data};
    Onnx__TensorProto *made = add_tensor(ex, &t, name);
    if (!old) return;
    made->doc_string = old->doc_string;
    made->n_metadata_props = old->n_metadata_props;
    made->metadata_props = old->metadata_props;
}

static tg_status emit_constants(tg_exporter *ex)
{
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        for (int k = 0; node->constant && k < node->n_out; k++) {
            tg_value v = tg_value_of(node->id, (uint32_t)k);
            const uint64_t *want = tg_map_find(&ex->wanted, v);
            tg_weight *w;
            if (!want || *want != TG_EXPORT_TENSOR) continue;
            TG_TRY(tg_const_eval(ex->g, v, &w));
            tg_arena_hold(ex->arena, unref_weight, w);
            add_weight(ex, &node->out[k], w, tg_export_name(ex, v));
        }
    }
    return TG_OK;
}

/* The name under which a constant is written that was an input in the file, an attribute here. */
const char *tg_export_folded(tg_exporter *ex, const char *name)
{
    bool fresh;
    const uint64_t *at = tg_strmap_find(&ex->frame->const_of, name);
    if (!at) return "";
    const tg_frame_const *c = &ex->frame->consts.v[*at];
    uint64_t *written = tg_strmap_put(&ex->written, name, &fresh);
    if (!fresh) return (const char *)(uintptr_t)*written;
    const char *as = tg_export_fresh(ex, c->name);
    *written = (uintptr_t)as;
    add_weight(ex, &c->type, c->weight, as);
    return as;
}

/* A constant of the graph may be the very one that a node has as an attribute. */
static void note_written(tg_exporter *ex)
{
    for (uint32_t i = 0; ex->frame && i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        if (node->op != TG_OP_CONST) continue;
        const char *name = tg_export_name(ex, tg_value_of(node->id, 0));
        const uint64_t *at = name[0] ? tg_strmap_find(&ex->frame->const_of, name) : NULL;
        if (!at || ex->frame->consts.v[*at].weight != node->weight) continue;
        *tg_strmap_put(&ex->written, name, NULL) = (uintptr_t)name;
    }
}

/* ---- nodes ---- */

/* Fills the outputs of a message with the names of a node's; unnamed ones at the end are left. */
void tg_export_outputs(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto)
{
    proto->output = TG_NEW_ARRAY(ex->arena, char *, node->n_out + 1);
    proto->n_output = 0;
    for (int i = 0; i < node->n_out; i++) {
        const char *name = tg_export_name(ex, tg_value_of(node->id, (uint32_t)i));
        proto->output[i] = (char *)(uintptr_t)name;
        if (name[0]) proto->n_output = (size_t)i + 1;
    }
}

static void emit_verbatim(tg_exporter *ex, const tg_node *node, const tg_frame_node *f)
{
    Onnx__NodeProto *proto = tg_arena_dup(ex->arena, f->proto, sizeof *f->proto);
    proto->input = TG_NEW_ARRAY(ex->arena, char *, proto->n_input + 1);
    for (size_t i = 0; i < proto->n_input; i++) {
        const char *old = f->proto->input[i];
        bool present = f->slots[i] >= 0;
        const char *name = present  ? tg_export_name(ex, node->in[f->slots[i]])
                           : old[0] ? tg_export_folded(ex, old)
                                    : "";
        proto->input[i] = (char *)(uintptr_t)name;
    }
    while (proto->n_input && !proto->input[proto->n_input - 1][0]) proto->n_input--;
    tg_export_outputs(ex, node, proto);
    proto->name = (char *)(uintptr_t)tg_export_node_name(ex, node->name);
    tg_vec_push(&ex->nodes, proto);
}

static void add_identity(tg_exporter *ex, const char *from, const char *to)
{
    Onnx__NodeProto *proto = TG_NEW(ex->arena, Onnx__NodeProto);
    onnx__node_proto__init(proto);
    char **ends = TG_NEW_ARRAY(ex->arena, char *, 2);
    ends[0] = (char *)(uintptr_t)from;
    ends[1] = (char *)(uintptr_t)to;
    proto->op_type = "Identity";
    proto->n_input = proto->n_output = 1;
    proto->input = &ends[0];
    proto->output = &ends[1];
    tg_vec_push(&ex->nodes, proto);
}

static void emit_outputs(tg_exporter *ex)
{
    const tg_node *sink = tg_graph_sink(ex->g);
    for (int i = 0; i < sink->n_in; i++) {
        const char *name = tg_export_name(ex, sink->in[i]);
        if (strcmp(name, ex->output_names[i]) != 0) add_identity(ex, name, ex->output_names[i]);
    }
}

tg_status tg_export_nodes(tg_exporter *ex)
{
    note_written(ex);
    TG_TRY(emit_constants(ex));
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        if (!ex->emitted[node->id]) continue;
        const tg_frame_node *f = tg_export_verbatim(ex, node);
        if (node->attrs->graphs) TG_TRY(tg_export_control(ex, node, f));
        else if (f) emit_verbatim(ex, node, f);
        else if (node->op == TG_OP_OPAQUE) TG_TRY(tg_export_carried(ex, node));
        else TG_TRY(tg_export_row(ex, node));
    }
    emit_outputs(ex);
    return TG_OK;
}
