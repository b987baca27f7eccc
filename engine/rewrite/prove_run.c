/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prove_run.h"

#include "engine/ir/eval.h"

#include <stdlib.h>

void prove_run_free(prove_run *run)
{
    for (uint32_t i = 0; i < run->g->n_nodes; i++) {
        const tg_node *node = run->g->nodes[run->g->order[i]];
        tg_tensor *v = run->values[node->id];
        bool owned =
            node->op >= TG_OP_FIRST_REAL || (node->op == TG_OP_CONST && run->own_constants);
        for (int k = 0; v && owned && k < node->n_out; k++) tg_tensor_free(&v[k]);
        free(v);
    }
    free(run->values);
}

static tg_status run_node(prove_run *run, const prove_way *way, const tg_node *node)
{
    tg_tensor in[TG_MAX_PORTS] = {0};
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE)
            in[i] = run->values[tg_value_node(node->in[i])][tg_value_port(node->in[i])];
    tg_tensor *out = tg_calloc(node->n_out + 1u, sizeof *out);
    tg_status status = way ? way->eval(way->ctx, node, in, out) : tg_node_eval(node, in, out);
    if (status == TG_OK) run->values[node->id] = out;
    else free(out);
    return status;
}

static tg_status run_constant(prove_run *run, const prove_way *way, const tg_node *node)
{
    tg_tensor t = tg_node_tensor(node);
    if (way) TG_TRY(way->constant(way->ctx, node, &t));
    run->values[node->id] = tg_memdup(&t, sizeof t);
    return TG_OK;
}

tg_status prove_run_graph(const tg_graph *g, const tg_tensor *inputs, const prove_way *way,
                          prove_run *run)
{
    *run = (prove_run){g, tg_calloc(g->n_ids, sizeof *run->values), way != NULL};
    for (uint32_t i = 0; i < g->n_inputs; i++)
        run->values[g->inputs[i]] = tg_memdup(&inputs[i], sizeof inputs[i]);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op == TG_OP_CONST) TG_TRY(run_constant(run, way, node));
        else if (node->op >= TG_OP_FIRST_REAL) TG_TRY(run_node(run, way, node));
    }
    return TG_OK;
}

const tg_tensor *prove_run_output(const prove_run *run, int i)
{
    tg_value v = tg_graph_sink(run->g)->in[i];
    return &run->values[tg_value_node(v)][tg_value_port(v)];
}
