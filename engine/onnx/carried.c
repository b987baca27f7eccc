/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that were only carried, and the names that their subgraphs read and define. */
#include "export.h"
#include "import.h"
#include "standard.h"

#include <stdlib.h>
#include <string.h>

static void free_node(void *proto)
{
    onnx__node_proto__free_unpacked(proto, NULL);
}

/* The node as the file has it, without its names. Lives as long as the arena. */
static tg_status unpack_node(const tg_exporter *ex, const tg_node *node, Onnx__NodeProto **proto)
{
    const tg_attr *bytes = tg_node_attr(node, "proto");
    *proto = onnx__node_proto__unpack(NULL, bytes->n, bytes->bytes);
    if (!*proto) return tg_fail(TG_INVALID, "the carried node %s is damaged", node->name);
    tg_arena_hold(ex->arena, free_node, *proto);
    return TG_OK;
}

/* Calls visit(ctx, graph) for each graph below a node, outer ones first. */
static void each_subgraph(const Onnx__NodeProto *proto,
                          void (*visit)(void *ctx, Onnx__GraphProto *g), void *ctx)
{
    for (size_t i = 0; i < proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = proto->attribute[i];
        for (size_t k = 0; k < a->n_graphs + (a->g ? 1 : 0); k++) {
            Onnx__GraphProto *g = k < a->n_graphs ? a->graphs[k] : a->g;
            visit(ctx, g);
            for (size_t n = 0; n < g->n_node; n++) each_subgraph(g->node[n], visit, ctx);
        }
    }
}

/* ---- opsets ---- */

typedef struct change {
    int64_t from, to;
    bool same;
} change;

/* A constant means the same in all opsets, whatever kinds were added. */
static bool same_form(const change *c, const char *domain, const char *op)
{
    if ((domain && domain[0] && strcmp(domain, "ai.onnx") != 0) || strcmp(op, "Constant") == 0)
        return true;
    return tg_standard_version(op, (int)c->from) == tg_standard_version(op, (int)c->to);
}

static void compare_graph(void *ctx, Onnx__GraphProto *g)
{
    change *c = ctx;
    for (size_t i = 0; i < g->n_node; i++)
        c->same &= same_form(c, g->node[i]->domain, g->node[i]->op_type ? g->node[i]->op_type : "");
}

bool tg_proto_survives(const Onnx__NodeProto *proto, int64_t from, int64_t to)
{
    change c = {from, to, true};
    c.same = same_form(&c, proto->domain, proto->op_type);
    each_subgraph(proto, compare_graph, &c);
    return c.same;
}

tg_status tg_carried_survives(const tg_exporter *ex, const tg_node *node, int64_t opset,
                              bool *survives)
{
    Onnx__NodeProto *proto;
    TG_TRY(unpack_node(ex, node, &proto));
    *survives = tg_proto_survives(proto, ex->file_opset, opset);
    return TG_OK;
}

/* ---- names ---- */

static void reserve(tg_strmap *names, const char *name)
{
    if (name && name[0]) tg_strmap_put(names, name, NULL);
}

static void reserve_graph(void *ctx, Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_input; i++) reserve(ctx, g->input[i]->name);
    for (size_t i = 0; i < g->n_initializer; i++) reserve(ctx, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (g->sparse_initializer[i]->values) reserve(ctx, g->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++) reserve(ctx, g->node[i]->output[k]);
}

void tg_proto_reserve(const Onnx__NodeProto *proto, tg_strmap *names)
{
    each_subgraph(proto, reserve_graph, names);
}

tg_status tg_carried_reserve(tg_exporter *ex, const tg_node *node, tg_strmap *names)
{
    Onnx__NodeProto *proto;
    TG_TRY(unpack_node(ex, node, &proto));
    tg_proto_reserve(proto, names);
    return TG_OK;
}

static void rename_one(const tg_strmap *names, char **name)
{
    const uint64_t *to = *name && **name ? tg_strmap_find(names, *name) : NULL;
    if (!to) return;
    free(*name);
    *name = tg_strdup((const char *)(uintptr_t)*to);
}

/* A captured name is defined nowhere inside, so that every use of it is the captured value. */
static void rename_graph(void *ctx, Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++) rename_one(ctx, &g->node[i]->input[k]);
    for (size_t i = 0; i < g->n_output; i++) rename_one(ctx, &g->output[i]->name);
}

tg_status tg_proto_rename(tg_exporter *ex, const Onnx__NodeProto *proto, const tg_strmap *names,
                          Onnx__NodeProto **out)
{
    size_t n = onnx__node_proto__get_packed_size(proto);
    uint8_t *bytes = tg_malloc(n + 1);
    onnx__node_proto__pack(proto, bytes);
    *out = onnx__node_proto__unpack(NULL, n, bytes);
    free(bytes);
    if (!*out) return tg_fail(TG_INVALID, "the node %s is damaged", proto->name);
    tg_arena_hold(ex->arena, free_node, *out);
    each_subgraph(*out, rename_graph, (void *)(uintptr_t)names);
    return TG_OK;
}

static void rename_captured(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto, int n_in)
{
    tg_strmap names = {0};
    tg_item item = {.proto = proto};
    tg_scope_captured(ex->arena, &item);
    for (int i = 0; i < item.n_captured && n_in + i < node->n_in; i++) {
        const char *name = tg_export_name(ex, node->in[n_in + i]);
        if (strcmp(name, item.captured[i]) != 0)
            *tg_strmap_put(&names, item.captured[i], NULL) = (uintptr_t)name;
    }
    if (names.n) each_subgraph(proto, rename_graph, &names);
    tg_strmap_free(&names);
}

tg_status tg_export_carried(tg_exporter *ex, const tg_node *node)
{
    Onnx__NodeProto *proto;
    TG_TRY(unpack_node(ex, node, &proto));
    int n_in = node->n_in - (int)tg_node_attr(node, "captured")->i;
    rename_captured(ex, node, proto, n_in);
    /* The message that is written shares all but the lists of names with the unpacked one. */
    Onnx__NodeProto *out = tg_arena_dup(ex->arena, proto, sizeof *proto);
    out->name = (char *)(uintptr_t)tg_export_node_name(ex, node->name);
    out->input = TG_NEW_ARRAY(ex->arena, char *, n_in + 1);
    out->n_input = (size_t)n_in;
    for (int i = 0; i < n_in; i++)
        out->input[i] = (char *)(uintptr_t)tg_export_name(ex, node->in[i]);
    while (out->n_input && !out->input[out->n_input - 1][0]) out->n_input--;
    tg_export_outputs(ex, node, out);
    tg_vec_push(&ex->nodes, out);
    return TG_OK;
}
