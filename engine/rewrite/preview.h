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
    uint32_t *hash_stamp, *count_stamp, *from_stamp;
    uint64_t *hash;  /* of nodes below a redirected value */
    uint32_t *count; /* uses that are left */
    uint64_t *queue; /* a bit a position of the order; all 0 between previews */
    double *cost;    /* of the graph's nodes; NAN: not asked for yet */
} previewer;

void preview_init(previewer *p, const tg_rules *rules, const tg_graph *g);
void preview_done(previewer *p);
/* The result lives in the arena. Errors: none but those of memory. */
void preview_run(previewer *p, const tg_site *site, tg_arena *arena, tg_preview *out);

/* instantiate.c: the new nodes of a site and what they replace. Errors: TG_RULE, TG_SHAPE ... */
tg_status instantiate(draft *d, const tg_site *site, tg_preview_redirect **redirects,
                      int *n) TG_MUST_USE;

/* rehash.c: the new graph's hash; false: it would have a cycle. */
bool rehash(previewer *p, const draft *d, const tg_preview_redirect *redirects, int n,
            uint64_t *hash);

/* True if the node goes, once the uses that are left have been counted. */
static inline bool previewer_gone(const previewer *p, uint32_t id)
{
    return id && p->count_stamp[id] == p->now && !p->count[id] &&
           p->g->nodes[id]->op != TG_OP_INPUT;
}

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
