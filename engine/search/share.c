/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "share.h"

#include "engine/base/hash.h"
#include "engine/ir/build.h"
#include "engine/ir/hash.h"
#include "engine/ops/ops.h"

#include <stdlib.h>

/* first: by id, the node that stands for this one. */
typedef struct sharing {
    const tg_graph *g;
    uint32_t *first;
    tg_map index; /* of what a node computes -> its id */
    int merged;   /* operators that run and have an equal before them */
} sharing;

static bool may_share(const tg_node *node)
{
    return node->op != TG_OP_SINK && node->op != TG_OP_INPUT && node->op != TG_OP_OPAQUE &&
           !node->attrs->graphs && !(tg_op_get(node->op)->flags & TG_RANDOM);
}

static tg_value standing_for(const sharing *s, tg_value v)
{
    return v == TG_NO_VALUE ? v : tg_value_of(s->first[tg_value_node(v)], tg_value_port(v));
}

/* Concatenations of the model cost what those of rules do not. */
static uint64_t content(const sharing *s, const tg_node *node)
{
    uint64_t h = tg_hash_add(tg_hash_add(node->op, node->n_out), node->rule != NULL);
    h = tg_hash_add(h, node->attrs->hash);
    if (node->op == TG_OP_CONST)
        h = tg_hash_add(h, tg_hash_const(&node->out[0], node->weight->hash));
    for (int i = 0; i < node->n_in; i++) h = tg_hash_add(h, standing_for(s, node->in[i]));
    return h;
}

static bool equal(const sharing *s, const tg_node *a, const tg_node *b)
{
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out) return false;
    if (a->op == TG_OP_CONST &&
        (a->weight->hash != b->weight->hash || !tg_type_equal(&a->out[0], &b->out[0])))
        return false;
    for (int i = 0; i < a->n_in; i++)
        if (standing_for(s, a->in[i]) != standing_for(s, b->in[i])) return false;
    return tg_attrs_equal(a->attrs, b->attrs);
}

static void find(sharing *s)
{
    for (uint32_t i = 0; i < s->g->n_nodes; i++) {
        const tg_node *node = s->g->nodes[s->g->order[i]];
        bool fresh;
        s->first[node->id] = node->id;
        if (!may_share(node)) continue;
        uint64_t *at = tg_map_put(&s->index, content(s, node), &fresh);
        if (fresh) *at = node->id;
        else if (equal(s, s->g->nodes[*at], node)) {
            s->first[node->id] = (uint32_t)*at;
            s->merged += !node->constant;
        }
    }
}

static tg_status build(const sharing *s, tg_graph **out)
{
    tg_builder *b = tg_builder_from(s->g);
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < s->g->n_nodes && status == TG_OK; i++) {
        const tg_node *node = s->g->nodes[s->g->order[i]];
        uint32_t first = s->first[node->id];
        for (uint32_t port = 0; first != node->id && port < node->n_out; port++)
            if (status == TG_OK)
                status =
                    tg_build_redirect(b, tg_value_of(node->id, port), tg_value_of(first, port));
    }
    if (status == TG_OK) return tg_build_done(b, out);
    tg_builder_free(b);
    return status;
}

tg_status share_equal(const tg_trail *at, tg_trail **next)
{
    sharing s = {.g = at->graph, .first = tg_calloc(at->graph->n_ids + 1, sizeof *s.first)};
    tg_graph *g;
    tg_status status = TG_OK;
    *next = NULL;
    find(&s);
    if (s.merged) {
        status = build(&s, &g);
        if (status == TG_OK) *next = tg_trail_leap(at, g, SHARE_RULE, "the whole graph");
    }
    tg_map_free(&s.index);
    free(s.first);
    return status;
}
