/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hash after a rewrite: of the new nodes and of what lies below the replaced values. Usually
 * all that new nodes read comes before all that reads their results, and one pass in the graph's
 * order does; otherwise the nodes are ordered anew, which also finds cycles.
 */
#include "preview.h"

#include "engine/base/hash.h"
#include "engine/ir/hash.h"

#include <stdlib.h>
#include <string.h>

enum { ABSENT = 0x51 }; /* the hash of an absent input, as in ir/hash.c */

typedef struct rehasher {
    previewer *p;
    const draft *d;
    const tg_preview_redirect *redirects;
    int n;
    uint64_t *come_hash;
} rehasher;

static uint64_t value_hash(void *ctx, tg_value v)
{
    const rehasher *r = ctx;
    const previewer *p = r->p;
    v = resolve(p, r->redirects, r->n, v);
    uint32_t id = tg_value_node(v);
    uint64_t h = id >= p->g->n_ids             ? r->come_hash[id - p->g->n_ids]
                 : p->hash_stamp[id] == p->now ? p->hash[id]
                                               : p->g->hashes[id];
    return tg_hash_value(h, tg_value_port(v));
}

/* New nodes read what stands in the draft: replaced values are not redirected for them. */
static uint64_t read_hash(const rehasher *r, tg_value v)
{
    const previewer *p = r->p;
    uint32_t id = tg_value_node(v);
    uint64_t h = id >= p->g->n_ids             ? r->come_hash[id - p->g->n_ids]
                 : p->hash_stamp[id] == p->now ? p->hash[id]
                                               : p->g->hashes[id];
    return tg_hash_value(h, tg_value_port(v));
}

static void hash_new(rehasher *r, size_t i)
{
    const tg_preview_node *node = &r->d->come.v[i];
    if (node->op == TG_OP_CONST) {
        r->come_hash[i] = tg_hash_const(&node->out[0], node->weight->hash);
        return;
    }
    uint64_t few[16], *in = node->n_in <= 16 ? few : tg_malloc(node->n_in * sizeof *in);
    for (int k = 0; k < node->n_in; k++)
        in[k] = node->in[k] == TG_NO_VALUE ? ABSENT : read_hash(r, node->in[k]);
    uint64_t attrs = (uint64_t)node->n_attr;
    for (int k = 0; k < node->n_attr; k++) attrs = tg_attr_hash(attrs, &node->attr[k]);
    r->come_hash[i] = tg_hash_parts(node->op, attrs, in, node->n_in);
    if (in != few) free(in);
}

static void queue_users(previewer *p, uint32_t id)
{
    uint32_t n;
    const tg_use *use = tg_graph_uses(p->g, id, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = p->g->position[use[i].node];
        p->queue[at / 64] |= (uint64_t)1 << at % 64;
    }
}

/* Takes the first queued position at or after `from`; UINT32_MAX if there is none. */
static uint32_t next_queued(previewer *p, uint32_t from)
{
    uint32_t words = (p->g->n_nodes + 63) / 64, w = from / 64;
    for (; w < words; w++) {
        uint64_t bits = p->queue[w];
        if (w == from / 64) bits &= ~(uint64_t)0 << from % 64;
        if (!bits) continue;
        uint32_t at = w * 64 + (uint32_t)__builtin_ctzll(bits);
        p->queue[w] &= ~((uint64_t)1 << at % 64);
        return at;
    }
    return UINT32_MAX;
}

/* Queues the users of replaced values; returns the first position. */
static uint32_t queue_replaced(rehasher *r)
{
    uint32_t first = UINT32_MAX;
    for (int i = 0; i < r->n; i++) {
        uint32_t n, id = tg_value_node(r->redirects[i].from);
        const tg_use *use = tg_graph_uses(r->p->g, id, &n);
        for (uint32_t k = 0; k < n; k++) {
            if (use[k].port != tg_value_port(r->redirects[i].from)) continue;
            if (previewer_gone(r->p, use[k].node)) continue;
            uint32_t at = r->p->g->position[use[k].node];
            r->p->queue[at / 64] |= (uint64_t)1 << at % 64;
            if (at < first) first = at;
        }
    }
    return first;
}

/* True if everything that new nodes read, and every old value that is a result, is before `at`. */
static bool all_before(const rehasher *r, uint32_t at)
{
    const tg_graph *g = r->p->g;
    for (size_t i = 0; i < r->d->come.n; i++)
        for (int k = 0; k < r->d->come.v[i].n_in; k++) {
            tg_value v = r->d->come.v[i].in[k];
            if (v == TG_NO_VALUE || tg_value_node(v) >= g->n_ids) continue;
            if (g->position[tg_value_node(v)] >= at) return false;
        }
    for (int i = 0; i < r->n; i++) {
        uint32_t id = tg_value_node(r->redirects[i].to);
        if (id < g->n_ids && g->position[id] >= at) return false;
    }
    return true;
}

static void hash_old(rehasher *r, uint32_t id)
{
    previewer *p = r->p;
    p->hash[id] = tg_hash_node(p->g->nodes[id], value_hash, r);
    p->hash_stamp[id] = p->now;
}

static void sweep(rehasher *r, uint32_t at)
{
    previewer *p = r->p;
    for (size_t i = 0; i < r->d->come.n; i++) hash_new(r, i);
    for (; (at = next_queued(p, at)) != UINT32_MAX; at++) {
        uint32_t id = p->g->order[at];
        hash_old(r, id);
        if (id) queue_users(p, id);
    }
}

/* ---- the general case ---------------------------------------------------------------------- */

/* The nodes concerned: new ones, then those below replaced values. */
typedef struct tangle {
    rehasher *r;
    TG_VEC(uint32_t) old;            /* ids */
    tg_map index;                    /* id -> position in old */
    uint32_t *degree, *first, *next; /* edges of v: next[first[v]] ... next[first[v + 1] - 1] */
    TG_VEC(uint32_t) ready, edge_from, edge_to;
} tangle;

/* The vertex that makes v, or UINT32_MAX if v keeps its hash. */
static uint32_t vertex_of(const tangle *t, tg_value v)
{
    uint32_t id = tg_value_node(v), n_ids = t->r->p->g->n_ids;
    if (id >= n_ids) return id - n_ids;
    const uint64_t *at = tg_map_find(&t->index, id);
    return at ? (uint32_t)(t->r->d->come.n + *at) : UINT32_MAX;
}

static void add_edge(tangle *t, tg_value v, uint32_t to)
{
    uint32_t from = v == TG_NO_VALUE ? UINT32_MAX : vertex_of(t, v);
    if (from == UINT32_MAX) return;
    tg_vec_push(&t->edge_from, from);
    tg_vec_push(&t->edge_to, to);
    t->degree[to]++;
}

static void list_old(tangle *t, uint32_t at)
{
    previewer *p = t->r->p;
    for (; (at = next_queued(p, at)) != UINT32_MAX; at++) {
        uint32_t id = p->g->order[at];
        *tg_map_put(&t->index, id, NULL) = t->old.n;
        tg_vec_push(&t->old, id);
        if (id) queue_users(p, id);
    }
}

static void list_edges(tangle *t)
{
    const rehasher *r = t->r;
    for (size_t i = 0; i < r->d->come.n; i++)
        for (int k = 0; k < r->d->come.v[i].n_in; k++)
            add_edge(t, r->d->come.v[i].in[k], (uint32_t)i);
    for (size_t i = 0; i < t->old.n; i++) {
        const tg_node *node = r->p->g->nodes[t->old.v[i]];
        for (int k = 0; k < node->n_in; k++)
            add_edge(t, resolve(r->p, r->redirects, r->n, node->in[k]),
                     (uint32_t)(r->d->come.n + i));
    }
}

/* Sorts the edges by where they start. */
static void index_edges(tangle *t, size_t total)
{
    t->first = tg_calloc(total + 2, sizeof *t->first);
    t->next = tg_calloc(t->edge_to.n + 1, sizeof *t->next);
    for (size_t e = 0; e < t->edge_from.n; e++) t->first[t->edge_from.v[e] + 2]++;
    for (size_t v = 2; v < total + 2; v++) t->first[v] += t->first[v - 1];
    for (size_t e = 0; e < t->edge_from.n; e++)
        t->next[t->first[t->edge_from.v[e] + 1]++] = t->edge_to.v[e];
}

/* Kahn's algorithm. */
static bool untangle(tangle *t)
{
    size_t total = t->r->d->come.n + t->old.n, done = 0;
    index_edges(t, total);
    for (uint32_t i = 0; i < total; i++)
        if (!t->degree[i]) tg_vec_push(&t->ready, i);
    while (t->ready.n) {
        uint32_t v = tg_vec_pop(&t->ready);
        done++;
        if (v < t->r->d->come.n) hash_new(t->r, v);
        else hash_old(t->r, t->old.v[v - t->r->d->come.n]);
        for (uint32_t e = t->first[v]; e < t->first[v + 1]; e++)
            if (--t->degree[t->next[e]] == 0) tg_vec_push(&t->ready, t->next[e]);
    }
    free(t->first);
    free(t->next);
    return done == total;
}

static bool rehash_tangled(rehasher *r, uint32_t at)
{
    tangle t = {.r = r};
    list_old(&t, at);
    t.degree = tg_calloc(r->d->come.n + t.old.n + 1, sizeof *t.degree);
    list_edges(&t);
    bool ok = untangle(&t);
    free(t.degree);
    tg_vec_free(&t.old);
    tg_vec_free(&t.ready);
    tg_vec_free(&t.edge_from);
    tg_vec_free(&t.edge_to);
    tg_map_free(&t.index);
    return ok;
}

bool rehash(previewer *p, const draft *d, const tg_preview_redirect *redirects, int n,
            uint64_t *hash)
{
    rehasher r = {p, d, redirects, n, TG_NEW_ARRAY(d->arena, uint64_t, d->come.n + 1)};
    uint32_t first = queue_replaced(&r);
    bool ok = true;
    if (first == UINT32_MAX) {
        *hash = p->g->hash;
        return true;
    }
    if (all_before(&r, first)) sweep(&r, first);
    else ok = rehash_tangled(&r, first);
    if (ok) *hash = p->hash_stamp[0] == p->now ? p->hash[0] : p->g->hash;
    return ok;
}
