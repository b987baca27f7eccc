/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of values and nodes: those of the model where they survive, unique in every case. */
#include "export.h"

static void give(tg_exporter *ex, tg_value v, const char *name)
{
    *tg_map_put(&ex->names, v, NULL) = (uintptr_t)name;
    tg_strmap_put(&ex->used, name, NULL);
}

const char *tg_export_name(const tg_exporter *ex, tg_value v)
{
    const uint64_t *at = v == TG_NO_VALUE ? NULL : tg_map_find(&ex->names, v);
    return at ? (const char *)(uintptr_t)*at : "";
}

static const char *fresh_in(tg_exporter *ex, tg_strmap *used, const char *wish)
{
    const char *name = wish;
    bool fresh;
    for (int i = 1; tg_strmap_find(used, name); i++)
        name = tg_arena_printf(ex->arena, "%s_%d", wish, i);
    tg_strmap_put(used, name, &fresh);
    return tg_arena_strdup(ex->arena, name);
}

const char *tg_export_fresh(tg_exporter *ex, const char *wish)
{
    return fresh_in(ex, &ex->used, wish);
}

const char *tg_export_node_name(tg_exporter *ex, const char *wish)
{
    return wish[0] ? fresh_in(ex, &ex->node_names, wish) : "";
}

static void name_inputs(tg_exporter *ex)
{
    for (uint32_t i = 0; i < ex->g->n_inputs; i++) {
        const tg_node *node = ex->g->nodes[ex->g->inputs[i]];
        give(ex, tg_value_of(node->id, 0), node->name);
    }
}

/* A value that is an output gets the output's name, unless it has one already or is a constant. */
static void name_outputs(tg_exporter *ex)
{
    const tg_node *sink = tg_graph_sink(ex->g);
    for (int i = 0; i < sink->n_in; i++) {
        const tg_node *maker = tg_graph_maker(ex->g, sink->in[i]);
        const char *name = ex->g->output_names[i];
        bool named = tg_map_find(&ex->names, sink->in[i]);
        if (named || tg_strmap_find(&ex->used, name)) continue;
        if (ex->emitted[maker->id] ||
            (maker->op == TG_OP_CONST && strcmp(maker->out_name[0], name) == 0))
            give(ex, sink->in[i], name);
    }
    for (int i = 0; i < sink->n_in; i++) tg_strmap_put(&ex->used, ex->g->output_names[i], NULL);
}

static const char *wish_for(tg_exporter *ex, const tg_node *node, int port)
{
    if (node->out_name[port][0]) return node->out_name[port];
    const char *op = tg_op_get(node->op)->name;
    return port ? tg_arena_printf(ex->arena, "%s_%u_%d", op, node->id, port)
                : tg_arena_printf(ex->arena, "%s_%u", op, node->id);
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
            if (own && name[0] && !tg_strmap_find(&ex->used, name)) give(ex, v, name);
            if (!own && (wanted || name[0]))
                give(ex, v, tg_export_fresh(ex, wish_for(ex, node, k)));
        }
    }
}

void tg_export_names(tg_exporter *ex)
{
    name_inputs(ex);
    name_outputs(ex);
    name_values(ex, true);
    name_values(ex, false);
}
