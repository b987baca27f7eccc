/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of values and nodes: those of the model where they survive, unique in every case. */
#include "export.h"

#include <string.h>

/* A name of a body is not made anew in a graph around it. */
static void take(tg_exporter *ex, const char *name)
{
    tg_strmap_put(&ex->used, name, NULL);
    for (tg_exporter *around = ex->outer; around; around = around->outer)
        tg_strmap_put(&around->inside, name, NULL);
}

static void give(tg_exporter *ex, tg_value v, const char *name)
{
    *tg_map_put(&ex->names, v, NULL) = (uintptr_t)name;
    take(ex, name);
}

const char *tg_export_name(const tg_exporter *ex, tg_value v)
{
    const uint64_t *at = v == TG_NO_VALUE ? NULL : tg_map_find(&ex->names, v);
    return at ? (const char *)(uintptr_t)*at : "";
}

bool tg_export_taken(const tg_exporter *ex, const char *name)
{
    for (; ex; ex = ex->outer)
        if (tg_strmap_find(&ex->used, name)) return true;
    return false;
}

const char *tg_export_fresh(tg_exporter *ex, const char *wish)
{
    const char *name = wish;
    for (int i = 1; tg_export_taken(ex, name) || tg_strmap_find(&ex->inside, name); i++)
        name = tg_arena_printf(ex->arena, "%s_%d", wish, i);
    take(ex, name);
    return tg_arena_strdup(ex->arena, name);
}

const char *tg_export_node_name(tg_exporter *ex, const char *wish)
{
    const char *name = wish;
    if (!wish[0]) return "";
    for (int i = 1; tg_strmap_find(&ex->node_names, name); i++)
        name = tg_arena_printf(ex->arena, "%s_%d", wish, i);
    tg_strmap_put(&ex->node_names, name, NULL);
    return tg_arena_strdup(ex->arena, name);
}

static const char *wish_for(tg_exporter *ex, const tg_node *node, int port)
{
    if (node->out_name[port][0]) return node->out_name[port];
    const char *op = tg_op_get(node->op)->name;
    return port ? tg_arena_printf(ex->arena, "%s_%u_%d", op, node->id, port)
                : tg_arena_printf(ex->arena, "%s_%u", op, node->id);
}

/* Captured values of a body have the names that they have around it. */
static void name_inputs(tg_exporter *ex)
{
    int formals = tg_export_formals(ex), captured = (int)ex->g->n_inputs - formals;
    for (int i = 0; i < (int)ex->g->n_inputs; i++) {
        const tg_node *node = ex->g->nodes[ex->g->inputs[i]];
        tg_value v = tg_value_of(node->id, 0);
        if (!ex->outer) give(ex, v, node->name);
        else if (i < formals)
            *tg_map_put(&ex->names, v, NULL) =
                (uintptr_t)tg_export_fresh(ex, wish_for(ex, node, 0));
        else
            *tg_map_put(&ex->names, v, NULL) = (uintptr_t)tg_export_name(
                ex->outer, ex->owner->in[ex->owner->n_in - captured + i - formals]);
    }
}

/* Those of the model stay in every case; a body's give way to names around it. */
static void choose_output_names(tg_exporter *ex)
{
    int n = tg_graph_sink(ex->g)->n_in;
    ex->output_names = TG_NEW_ARRAY(ex->arena, const char *, n + 1);
    for (int i = 0; i < n; i++) {
        const char *name = ex->g->output_names[i];
        bool again = false;
        for (int k = 0; k < i; k++) again |= strcmp(ex->output_names[k], name) == 0;
        if (ex->outer && (!name[0] || (!again && tg_export_taken(ex->outer, name)))) {
            int k = 0;
            const char *wish = name[0] ? name : "out";
            do name = tg_arena_printf(ex->arena, "%s_%d", wish, ++k);
            while (tg_export_taken(ex, name) || tg_strmap_find(&ex->inside, name));
        }
        ex->output_names[i] = name;
    }
}

/* A value that is an output gets the output's name, unless it has one already or is a constant. */
static void name_outputs(tg_exporter *ex)
{
    const tg_node *sink = tg_graph_sink(ex->g);
    for (int i = 0; i < sink->n_in; i++) {
        const tg_node *maker = tg_graph_maker(ex->g, sink->in[i]);
        const char *name = ex->output_names[i];
        bool named = tg_map_find(&ex->names, sink->in[i]);
        if (named || tg_export_taken(ex, name)) continue;
        if (ex->emitted[maker->id] ||
            (maker->op == TG_OP_CONST && strcmp(maker->out_name[0], name) == 0))
            give(ex, sink->in[i], name);
    }
    for (int i = 0; i < sink->n_in; i++) take(ex, ex->output_names[i]);
}

/* Own names first, so that no made name takes one of them. */
static void name_values(tg_exporter *ex, bool own)
{
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        for (int k = 0; k < node->n_out; k++) {
            tg_value v = tg_value_of(node->id, (uint32_t)k);
            bool wanted = tg_map_find(&ex->wanted, v);
            if (tg_map_find(&ex->names, v) || (!wanted && !ex->emitted[node->id])) continue;
            const char *name = node->out_name[k];
            if (own && name[0] && !tg_export_taken(ex, name)) give(ex, v, name);
            /* ONNX Runtime wants names for all that a body makes. */
            if (!own && (wanted || name[0] || node->attrs->graphs))
                give(ex, v, tg_export_fresh(ex, wish_for(ex, node, k)));
        }
    }
}

void tg_export_names(tg_exporter *ex)
{
    name_inputs(ex);
    choose_output_names(ex);
    if (ex->outer) tg_export_outside(ex);
    name_outputs(ex);
    name_values(ex, true);
    name_values(ex, false);
}
