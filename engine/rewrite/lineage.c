/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tells graphs of one lineage apart. Nodes keep their ids, so an id says which node of the
 * model it is, and nothing behind a change needs a new hash but the nodes that rules made: they go
 * by what they compute, as far back as to nodes of the model.
 */
#include "lineage.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/ir/hash.h"
#include "preview.h"

#include <stdlib.h>
#include <string.h>

enum { ABSENT = 0x51, OF_MODEL = 0x1d, TANGLED = 0x7a, FEW = 16 };

/* Invariants: ident and record hold for the graph's nodes; sum is that of all records. */
struct tg_lineage {
    tg_graph *g;
    uint64_t *ident;  /* by id: who the node is */
    uint64_t *record; /* by id: who it is and whom it reads */
    uint64_t sum;
    /* of one change: an entry holds while its stamp is `now` */
    uint32_t now;
    uint32_t *gone, *changed, *queued, *replaced;
    uint64_t *after; /* idents of changed nodes */
    TG_VEC(uint64_t) come;
    TG_VEC(uint32_t) queue; /* positions */
};

/* Idents and records that a preview is read with. */
typedef struct reading {
    tg_lineage *l;
    const tg_preview *p;
} reading;

static bool of_model(const tg_node *node)
{
    return !node->rule && node->op != TG_OP_CONST;
}

static tg_value resolved(const reading *r, tg_value v)
{
    if (!r || r->l->replaced[tg_value_node(v)] != r->l->now) return v;
    for (int i = 0; i < r->p->n_redirects; i++)
        if (r->p->redirects[i].from == v) return r->p->redirects[i].to;
    return v;
}

static uint64_t value_ident(const tg_lineage *l, const reading *r, tg_value v)
{
    uint32_t id = tg_value_node(v);
    if (v == TG_NO_VALUE) return ABSENT;
    uint64_t h = id >= l->g->n_ids               ? l->come.v[id - l->g->n_ids]
                 : r && l->changed[id] == l->now ? l->after[id]
                                                 : l->ident[id];
    return tg_hash_value(h, tg_value_port(v));
}

static uint64_t parts(const tg_lineage *l, const reading *r, tg_op op, uint64_t seed,
                      const tg_value *v, int n)
{
    uint64_t few[FEW] = {0}, *in = n <= FEW ? few : tg_malloc((size_t)n * sizeof *in);
    for (int i = 0; i < n; i++)
        in[i] = value_ident(l, r, v[i] == TG_NO_VALUE ? v[i] : resolved(r, v[i]));
    uint64_t h = tg_hash_parts(op, seed, in, n);
    if (in != few) free(in);
    return h;
}

/* Who a node is and its record, with r == NULL in the graph itself, else after the change. */
static uint64_t identify(const tg_lineage *l, const reading *r, const tg_node *node,
                         uint64_t *record)
{
    uint64_t ident;
    if (node->op == TG_OP_CONST) {
        ident = tg_hash_const(&node->out[0], node->weight->hash);
        *record = tg_mix(ident);
    } else if (of_model(node)) {
        ident = tg_hash_add(OF_MODEL, node->id);
        *record = tg_mix(parts(l, r, node->op, ident, node->in, node->n_in));
    } else {
        ident = parts(l, r, node->op, node->attrs->hash, node->in, node->n_in);
        *record = tg_mix(ident);
    }
    return ident;
}

tg_lineage *tg_lineage_new(const tg_graph *g)
{
    tg_lineage *l = tg_calloc(1, sizeof *l);
    l->g = tg_graph_ref(g);
    l->ident = tg_calloc(g->n_ids * 3, sizeof *l->ident);
    l->record = l->ident + g->n_ids;
    l->after = l->record + g->n_ids;
    l->gone = tg_calloc(g->n_ids * 4 + 1, sizeof *l->gone);
    l->changed = l->gone + g->n_ids;
    l->queued = l->changed + g->n_ids;
    l->replaced = l->queued + g->n_ids;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint32_t id = g->order[i];
        l->ident[id] = identify(l, NULL, g->nodes[id], &l->record[id]);
        l->sum += l->record[id];
    }
    return l;
}

void tg_lineage_free(tg_lineage *l)
{
    if (!l) return;
    free(l->ident);
    free(l->gone);
    tg_vec_free(&l->come);
    tg_vec_free(&l->queue);
    tg_graph_unref(l->g);
    free(l);
}

uint64_t tg_lineage_key(const tg_lineage *l)
{
    return tg_mix(l->sum);
}

static void queue_users(tg_lineage *l, uint32_t id, int port)
{
    uint32_t n;
    const tg_use *use = tg_graph_uses(l->g, id, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t user = use[i].node;
        if ((port >= 0 && use[i].port != port) || l->gone[user] == l->now) continue;
        if (l->queued[user] == l->now) continue;
        l->queued[user] = l->now;
        tg_vec_push(&l->queue, l->g->position[user]);
    }
}

static uint32_t take_first(tg_lineage *l)
{
    size_t at = 0;
    for (size_t i = 1; i < l->queue.n; i++)
        if (l->queue.v[i] < l->queue.v[at]) at = i;
    uint32_t first = l->queue.v[at];
    l->queue.v[at] = tg_vec_pop(&l->queue);
    return first;
}

static uint64_t add_come(tg_lineage *l, const reading *r)
{
    uint64_t sum = 0;
    tg_vec_clear(&l->come);
    for (int i = 0; i < r->p->n_come; i++) {
        const tg_preview_node *node = &r->p->come[i];
        uint64_t ident, attrs = (uint64_t)node->n_attr;
        for (int k = 0; k < node->n_attr; k++) attrs = tg_attr_hash(attrs, &node->attr[k]);
        ident = node->op == TG_OP_CONST ? tg_hash_const(&node->out[0], node->weight->hash)
                                        : parts(l, NULL, node->op, attrs, node->in, node->n_in);
        tg_vec_push(&l->come, ident);
        sum += tg_mix(ident);
    }
    return sum;
}

/* Nodes that read other values now; of those that rules made, the ident changes as well. */
static uint64_t follow(tg_lineage *l, const reading *r)
{
    uint64_t sum = 0;
    while (l->queue.n) {
        uint32_t id = l->g->order[take_first(l)];
        uint64_t record, ident = identify(l, r, l->g->nodes[id], &record);
        sum += record - l->record[id];
        l->queued[id] = 0;
        if (ident == l->ident[id]) continue;
        l->changed[id] = l->now;
        l->after[id] = ident;
        queue_users(l, id, -1);
    }
    return sum;
}

uint64_t tg_lineage_after(tg_lineage *l, const tg_preview *p)
{
    reading r = {l, p};
    uint64_t sum = l->sum;
    l->now++;
    for (int i = 0; i < p->n_gone; i++) {
        l->gone[p->gone[i]] = l->now;
        sum -= l->record[p->gone[i]];
    }
    if (rehash_tangles(l->g, p)) return tg_hash_add(tg_preview_hash(l->g, p), TANGLED);
    for (int i = 0; i < p->n_redirects; i++)
        l->replaced[tg_value_node(p->redirects[i].from)] = l->now;
    sum += add_come(l, &r);
    for (int i = 0; i < p->n_redirects; i++)
        queue_users(l, tg_value_node(p->redirects[i].from),
                    (int)tg_value_port(p->redirects[i].from));
    return tg_mix(sum + follow(l, &r));
}
