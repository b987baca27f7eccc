/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph that was taken out of an e-graph, as one step that is no rule's. */
#include "saturate.h"

#include "engine/base/intern.h"
#include "engine/ir/build.h"

#include <stdlib.h>

static tg_status build_node(tg_builder *b, egraph *e, const egraph_node *n, const tg_value *made,
                            uint32_t *id)
{
    if (n->op == TG_OP_CONST) {
        *id = tg_value_node(tg_build_const(b, n->types[0].dtype, &n->types[0].shape,
                                           tg_weight_ref(n->weight), NULL));
        return TG_OK;
    }
    tg_value *in = tg_calloc((size_t)n->n_in + 1, sizeof *in);
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] == EGRAPH_ABSENT ? TG_NO_VALUE : made[egraph_find(e, n->in[i])];
    tg_status status = tg_build_copy(b, n->op, n->attrs->a, in, n->n_in, n->n_out,
                                     n->rule ? n->rule : "saturate", id);
    free(in);
    return status;
}

/* `made`: the value of each class. */
static tg_status build_choice(egraph *e, tg_builder *b, const extract_choice *c, tg_value *made)
{
    for (size_t i = 0; i < c->order.n; i++) {
        const egraph_node *n = &e->nodes.v[c->order.v[i]];
        uint32_t id = n->root;
        if (!id) TG_TRY(build_node(b, e, n, made, &id));
        for (int port = 0; port < n->n_out; port++) {
            tg_value *v = &made[egraph_find(e, n->out[port])];
            if (*v == TG_NO_VALUE) *v = tg_value_of(id, (uint32_t)port);
        }
    }
    return TG_OK;
}

/* Whoever reads a value of the first graph reads what was chosen for its class. */
static tg_status redirect_all(egraph *e, tg_builder *b, const tg_graph *g,
                              const uint32_t *number_of, const tg_value *made)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op == TG_OP_SINK) continue;
        const egraph_node *n = &e->nodes.v[number_of[node->id]];
        for (uint32_t port = 0; port < node->n_out; port++) {
            tg_value from = tg_value_of(node->id, port), to = made[egraph_find(e, n->out[port])];
            if (to != TG_NO_VALUE && to != from) TG_TRY(tg_build_redirect(b, from, to));
        }
    }
    return TG_OK;
}

tg_status leap_to(egraph *e, const extract_choice *c, const tg_trail *root,
                  const uint32_t *number_of, tg_trail **out)
{
    tg_builder *b = tg_builder_from(root->graph);
    tg_value *made = tg_calloc(e->parent.n + 1, sizeof *made);
    tg_graph *g;
    for (size_t i = 0; i < e->parent.n; i++) made[i] = TG_NO_VALUE;
    tg_status status = build_choice(e, b, c, made);
    if (status == TG_OK) status = redirect_all(e, b, root->graph, number_of, made);
    free(made);
    if (status != TG_OK) {
        tg_builder_free(b);
        return status;
    }
    TG_TRY(tg_build_done(b, &g));
    *out = tg_trail_leap(root, g, tg_intern("saturate"), tg_intern("the whole graph"));
    return TG_OK;
}
