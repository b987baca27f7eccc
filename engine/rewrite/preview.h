/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many previews of one graph. For the files of rewrite/ only. */
#ifndef TG_REWRITE_PREVIEW_H
#define TG_REWRITE_PREVIEW_H

#include "draft.h"
#include "match.h"

/*
 * Scratch by node id. An entry holds while its stamp is `now`, so that a preview costs what it
 * touches and not the graph.
 */
typedef struct previewer {
    const tg_rules *rules;
    const tg_graph *g;
    uint32_t now;
    uint32_t *count_stamp, *from_stamp;
    uint32_t *count; /* uses that are left */
    double *cost;    /* of the graph's nodes; NAN: not asked for yet */
} previewer;

void preview_init(previewer *p, const tg_rules *rules, const tg_graph *g);
void preview_done(previewer *p);
/* The result lives in the arena. Errors: none but those of memory. */
void preview_run(previewer *p, const tg_site *site, tg_arena *arena, tg_preview *out);

/* instantiate.c: the new nodes of a site and what they replace. Errors: TG_RULE, TG_SHAPE ... */
tg_status instantiate(draft *d, const tg_site *site, tg_preview_redirect **redirects,
                      int *n) TG_MUST_USE;

/* nested.c: the same for a site in a body; *inner is what it changes there. */
tg_status nested_instantiate(draft *d, const tg_rules *rules, const tg_site *site,
                             tg_preview *inner, tg_preview_redirect **redirects,
                             int *n) TG_MUST_USE;
/* The key of a site in a body that is an attribute of a node. */
uint64_t nested_key(const tg_node *node, uint32_t attr, uint64_t inner);

/*
 * rehash.c: whether the new graph has no cycle; false also where more than 64 nodes with results
 * would have to be told apart. Usually O(change).
 */
bool rehash_acyclic(const tg_graph *g, const tg_preview *p);
/* Something that new nodes read stands behind a node that reads a result. */
bool rehash_tangles(const tg_graph *g, const tg_preview *p);
/* tg_preview.change; *nothing: the graph after is the graph before. */
uint64_t rehash_change(const tg_graph *g, const tg_preview *p, tg_arena *arena, bool *nothing);

/* Where a value of the graph goes in the end. */
static inline tg_value resolve(const previewer *p, const tg_preview_redirect *r, int n, tg_value v)
{
    uint32_t id = tg_value_node(v);
    if (v == TG_NO_VALUE || id >= p->g->n_ids || p->from_stamp[id] != p->now) return v;
    for (int i = 0; i < n; i++)
        if (r[i].from == v) return r[i].to;
    return v;
}

#endif
