/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators that only choose among elements, between DequantizeLinear and QuantizeLinear of one
 * scale: they run on the integers.
 */
#include "loop.h"
#include "quant.h"

#include <string.h>

/* The operators, and how many of their inputs are data: 0 all. */
static const struct {
    const char *name;
    int data;
} choosers[] = {
    {"MaxPool", 1},      {"Reshape", 1},      {"Flatten", 1}, {"Squeeze", 1},  {"Unsqueeze", 1},
    {"Transpose", 1},    {"Slice", 1},        {"Concat", 0},  {"Expand", 1},   {"Tile", 1},
    {"DepthToSpace", 1}, {"SpaceToDepth", 1}, {"Gather", 1},  {"Identity", 1}, {"Resize", 1},
};

static int data_inputs(const tg_node *node)
{
    for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++)
        if (tg_cpu_named(node, choosers[i].name))
            return choosers[i].data ? choosers[i].data : node->n_in;
    return 0;
}

static bool same_code(const tg_code *a, const tg_code *b)
{
    return a->dtype == b->dtype && a->scale == b->scale && a->zero == b->zero;
}

bool tg_quant_passes(const tg_graph *g, const tg_node *node, const tg_node *quantize)
{
    tg_code out, in;
    tg_value from;
    int n = node->constant || node->n_out != 1 ? 0 : data_inputs(node);
    if (!n || !tg_quant_code(g, quantize, &out)) return false;
    const tg_attr *mode = tg_cpu_attr(node, "mode");
    if (tg_cpu_named(node, "Resize") && mode && strcmp(mode->s, "nearest") != 0) return false;
    for (int i = 0; i < n; i++)
        if (!tg_quant_source(g, node->in[i], &from, &in) || !same_code(&in, &out)) return false;
    return true;
}

tg_status tg_quant_pass(tg_cpu_plan *p, const tg_group *group)
{
    const tg_node *node = group->nodes[0], *last = group->quantize;
    tg_value *in = tg_arena_dup(p->memory, node->in, sizeof *in * (size_t)node->n_in);
    for (int i = 0; i < data_inputs(node); i++) in[i] = tg_graph_maker(p->g, in[i])->in[0];
    /* The same operator on other values: what it makes is what the last node would make. */
    tg_node *shadow = TG_NEW(p->memory, tg_node);
    shadow->id = last->id;
    shadow->op = node->op;
    shadow->n_in = node->n_in;
    shadow->n_out = 1;
    shadow->attrs = node->attrs;
    shadow->name = node->name;
    shadow->rule = node->rule;
    shadow->group = node->group;
    shadow->in = in;
    shadow->out = last->out;
    shadow->out_name = last->out_name;
    TG_TRY(tg_cpu_plan_shadow(p, shadow));
    p->stats->absorbed++;
    return TG_OK;
}
