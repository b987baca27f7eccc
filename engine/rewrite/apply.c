/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building the graph that a preview describes. */
#include "apply.h"

#include "engine/ir/build.h"

#include <stdlib.h>

static tg_status build_node(tg_builder *b, const tg_preview_node *node, const char *rule,
                            uint32_t group, uint32_t *id)
{
    if (node->op == TG_OP_CONST) {
        tg_value v = tg_build_const(b, node->out[0].dtype, &node->out[0].shape,
                                    tg_weight_ref(node->weight), NULL);
        *id = tg_value_node(v);
        return TG_OK;
    }
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    tg_named_attr *attrs = tg_calloc((size_t)n + 1, sizeof *attrs);
    for (int i = 0; i < n; i++) attrs[i] = (tg_named_attr){spec[i].name, node->attr[i]};
    tg_status status = tg_build_node(b,
                                     &(tg_node_spec){.op = node->op,
                                                     .in = node->in,
                                                     .n_in = node->n_in,
                                                     .n_out = node->n_out,
                                                     .attrs = attrs,
                                                     .n_attrs = n,
                                                     .name = node->name,
                                                     .rule = rule,
                                                     .group = group},
                                     id);
    free(attrs);
    return status;
}

static tg_status build(tg_builder *b, const tg_graph *g, const tg_preview *preview,
                       const char *rule)
{
    uint32_t group = 0;
    if (preview->n_redirects) group = g->nodes[tg_value_node(preview->redirects[0].from)]->group;
    for (int i = 0; i < preview->n_come; i++) {
        uint32_t id;
        TG_TRY(build_node(b, &preview->come[i], rule, group, &id));
        if (id != g->n_ids + (uint32_t)i)
            return tg_fail(TG_RULE, "rule %s: the graph differs from its preview", rule);
    }
    for (int i = 0; i < preview->n_redirects; i++)
        TG_TRY(tg_build_redirect(b, preview->redirects[i].from, preview->redirects[i].to));
    return TG_OK;
}

tg_status apply_preview(const tg_graph *g, const tg_preview *preview, const char *rule,
                        tg_graph **out)
{
    if (!preview->ok) return tg_fail(TG_RULE, "rule %s: %s", rule, preview->why_not);
    tg_builder *b = tg_builder_from(g);
    tg_status status = build(b, g, preview, rule);
    tg_graph *made = NULL;
    if (status != TG_OK) {
        tg_builder_free(b);
        return status;
    }
    TG_TRY(tg_build_done(b, &made));
#ifndef NDEBUG
    status = tg_check(made);
    if (status == TG_OK && made->hash != tg_preview_hash(g, preview))
        status = tg_fail(TG_RULE, "the hash differs from the preview's");
    if (status != TG_OK) {
        tg_graph_unref(made);
        return tg_wrap(status, "after rule %s", rule);
    }
#endif
    *out = made;
    return TG_OK;
}

tg_status tg_site_apply(const tg_rules *rules, const tg_graph *g, const tg_site *site,
                        tg_graph **out)
{
    tg_arena *arena = tg_arena_new();
    tg_preview preview;
    tg_status status = tg_site_preview(rules, g, site, arena, &preview);
    if (status == TG_OK)
        status = apply_preview(g, &preview, tg_rules_get(rules, site->rule)->name, out);
    tg_arena_free(arena);
    return status;
}
