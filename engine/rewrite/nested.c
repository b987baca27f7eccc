/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites in bodies. A body is a graph, so that it has sites of its own; taking one makes the body
 * anew, and with it the one node that has it.
 */
#include "apply.h"
#include "preview.h"

#include "engine/base/hash.h"

uint64_t nested_key(const tg_node *node, uint32_t attr, uint64_t inner)
{
    /* The node is another after each step inside; its group stays. */
    uint64_t h = tg_hash_add(tg_hash_str(11, tg_op_get(node->op)->name), node->group);
    return tg_hash_add(tg_hash_add(h, attr), inner);
}

const tg_site *tg_site_inner(const tg_graph *g, const tg_site *site, const tg_graph **body)
{
    const site_nest *nest = site->binding->nest;
    if (!nest) return NULL;
    *body = g->nodes[site->binding->anchor]->attrs->a[nest->attr].graph;
    return nest->inner;
}

static void release_graph(void *g)
{
    tg_graph_unref(g);
}

/* The body with the site taken, held by the arena, and what that changed. */
static tg_status rewrite_body(const tg_rules *rules, const tg_graph *body, const tg_site *site,
                              tg_arena *arena, tg_preview *inner, tg_graph **made)
{
    previewer p;
    preview_init(&p, rules, body);
    preview_run(&p, site, arena, inner);
    preview_done(&p);
    if (!inner->ok) return tg_fail(TG_RULE, "%s", inner->why_not);
    TG_TRY(apply_preview(body, inner, tg_rules_get(rules, site->rule)->name, made));
    tg_arena_hold(arena, release_graph, *made);
    return TG_OK;
}

tg_status nested_instantiate(draft *d, const tg_rules *rules, const tg_site *site,
                             tg_preview *inner, tg_preview_redirect **redirects, int *n)
{
    const site_nest *nest = site->binding->nest;
    const tg_node *node = d->g->nodes[site->binding->anchor];
    tg_attr *attr = tg_arena_dup(d->arena, node->attrs->a, node->attrs->n * sizeof *attr);
    tg_graph *made;
    uint32_t id;
    TG_TRY(rewrite_body(rules, attr[nest->attr].graph, nest->inner, d->arena, inner, &made));
    attr[nest->attr].graph = made;
    TG_TRY(draft_node(d, node->op, attr, node->in, node->n_in, node->n_out, &id));
    d->come.v[d->come.n - 1].name = node->name;
    *redirects = TG_NEW_ARRAY(d->arena, tg_preview_redirect, node->n_out);
    for (uint32_t p = 0; p < node->n_out; p++)
        (*redirects)[p] = (tg_preview_redirect){tg_value_of(node->id, p), tg_value_of(id, p)};
    *n = node->n_out;
    return TG_OK;
}
