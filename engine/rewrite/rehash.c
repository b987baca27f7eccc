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

/* Invariants: hash[id] holds where `fresh` has the bit of id; a set bit of `queue` is a position.
 */
typedef struct rehasher {
    const tg_graph *g;
    const tg_preview *p;
    uint64_t *hash, *fresh, *queue, *come_hash;
    uint64_t *replaced; /* bits of the makers of replaced values */
} rehasher;

static bool has_bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* Where a value of the graph goes. */
static tg_value resolved(const rehasher *r, tg_value v)
{
    if (!has_bit(r->replaced, tg_value_node(v))) return v;
    for (int i = 0; i < r->p->n_redirects; i++)
        if (r->p->redirects[i].from == v) return r->p->redirects[i].to;
    return v;
}

/* The hash of a value, of a new node or as it is after the change. */
static uint64_t read_hash(const rehasher *r, tg_value v)
{
    uint32_t id = tg_value_node(v);
    uint64_t h = id >= r->g->n_ids       ? r->come_hash[id - r->g->n_ids]
                 : has_bit(r->fresh, id) ? r->hash[id]
                                         : r->g->hashes[id];
    return tg_hash_value(h, tg_value_port(v));
}

/* New nodes read what stands in the preview: replaced values are not redirected for them. */
static uint64_t value_hash(void *ctx, tg_value v)
{
    const rehasher *r = ctx;
    return read_hash(r, resolved(r, v));
}

static uint64_t new_hash(const tg_preview_node *node, const uint64_t *in)
{
    if (node->op == TG_OP_CONST) return tg_hash_const(&node->out[0], node->weight->hash);
    uint64_t attrs = (uint64_t)node->n_attr;
    for (int k = 0; k < node->n_attr; k++) attrs = tg_attr_hash(attrs, &node->attr[k]);
    return tg_hash_parts(node->op, attrs, in, node->n_in);
}

static void hash_new(rehasher *r, size_t i)
{
    const tg_preview_node *node = &r->p->come[i];
    uint64_t few[16] = {0}, *in = node->n_in <= 16 ? few : tg_malloc(node->n_in * sizeof *in);
    for (int k = 0; k < node->n_in; k++)
        in[k] = node->in[k] == TG_NO_VALUE ? ABSENT : read_hash(r, node->in[k]);
    r->come_hash[i] = new_hash(node, in);
    if (in != few) free(in);
}

static void queue_users(rehasher *r, uint32_t id)
{
    uint32_t n;
    const tg_use *use = tg_graph_uses(r->g, id, &n);
    for (uint32_t i = 0; i < n; i++) set_bit(r->queue, r->g->position[use[i].node]);
}

/* Takes the first queued position at or after `from`; UINT32_MAX if there is none. */
static uint32_t next_queued(rehasher *p, uint32_t from)
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

static bool is_gone(const tg_preview *p, uint32_t id)
{
    int low = 0, high = p->n_gone;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->gone[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < p->n_gone && p->gone[low] == id;
}

/* The first position at which a replaced value is read by a node that stays; queues all if asked.
 */
static uint32_t first_reader(const tg_graph *g, const tg_preview *p, uint64_t *queue)
{
    uint32_t first = UINT32_MAX;
    for (int i = 0; i < p->n_redirects; i++) {
        tg_value from = p->redirects[i].from;
        uint32_t n;
        const tg_use *use = tg_graph_uses(g, tg_value_node(from), &n);
        for (uint32_t k = 0; k < n; k++) {
            if (use[k].port != tg_value_port(from) || is_gone(p, use[k].node)) continue;
            uint32_t at = g->position[use[k].node];
            if (queue) set_bit(queue, at);
            if (at < first) first = at;
        }
    }
    return first;
}

/* The last position of what new nodes read and of the old values that are results; at least 0. */
static uint32_t last_read(const tg_graph *g, const tg_preview *p)
{
    uint32_t last = 0;
    for (int i = 0; i < p->n_come; i++)
        for (int k = 0; k < p->come[i].n_in; k++) {
            tg_value v = p->come[i].in[k];
            if (v == TG_NO_VALUE || tg_value_node(v) >= g->n_ids) continue;
            uint32_t at = g->position[tg_value_node(v)];
            if (at > last) last = at;
        }
    for (int i = 0; i < p->n_redirects; i++) {
        uint32_t id = tg_value_node(p->redirects[i].to);
        if (id < g->n_ids && g->position[id] > last) last = g->position[id];
    }
    return last;
}

/* True if all of that is before `at`, where a result is first read. */
static bool all_before(const tg_graph *g, const tg_preview *p, uint32_t at)
{
    return last_read(g, p) < at;
}

static void hash_old(rehasher *r, uint32_t id)
{
    r->hash[id] = tg_hash_node(r->g->nodes[id], value_hash, r);
    set_bit(r->fresh, id);
}

static void sweep(rehasher *r, uint32_t at)
{
    for (int i = 0; i < r->p->n_come; i++) hash_new(r, (size_t)i);
    for (; (at = next_queued(r, at)) != UINT32_MAX; at++) {
        uint32_t id = r->g->order[at];
        hash_old(r, id);
        if (id) queue_users(r, id);
    }
}

/* ---- the general case ---------------------------------------------------------------------- */

/* The nodes concerned: new ones, then those below replaced values. */
typedef struct tangle {
    rehasher *r;
    TG_VEC(uint32_t) old;            /* ids */
    uint32_t *index;                 /* by id: position in old, plus 1; 0: not there */
    uint32_t *degree, *first, *next; /* edges of v: next[first[v]] ... next[first[v + 1] - 1] */
    TG_VEC(uint32_t) ready, edge_from, edge_to;
} tangle;

/* The vertex that makes v, or UINT32_MAX if v keeps its hash. */
static uint32_t vertex_of(const tangle *t, tg_value v)
{
    uint32_t id = tg_value_node(v), n_ids = t->r->g->n_ids;
    if (id >= n_ids) return id - n_ids;
    return t->index[id] ? (uint32_t)t->r->p->n_come + t->index[id] - 1 : UINT32_MAX;
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
    for (; (at = next_queued(t->r, at)) != UINT32_MAX; at++) {
        uint32_t id = t->r->g->order[at];
        tg_vec_push(&t->old, id);
        t->index[id] = (uint32_t)t->old.n;
        if (id) queue_users(t->r, id);
    }
}

static void list_edges(tangle *t)
{
    const rehasher *r = t->r;
    uint32_t n_come = (uint32_t)r->p->n_come;
    for (uint32_t i = 0; i < n_come; i++)
        for (int k = 0; k < r->p->come[i].n_in; k++) add_edge(t, r->p->come[i].in[k], i);
    for (uint32_t i = 0; i < t->old.n; i++) {
        const tg_node *node = r->g->nodes[t->old.v[i]];
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE) add_edge(t, resolved(r, node->in[k]), n_come + i);
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
static void untangle(tangle *t)
{
    size_t come = (size_t)t->r->p->n_come, total = come + t->old.n;
    index_edges(t, total);
    for (uint32_t i = 0; i < total; i++)
        if (!t->degree[i]) tg_vec_push(&t->ready, i);
    while (t->ready.n) {
        uint32_t v = tg_vec_pop(&t->ready);
        if (v < come) hash_new(t->r, v);
        else hash_old(t->r, t->old.v[v - come]);
        for (uint32_t e = t->first[v]; e < t->first[v + 1]; e++)
            if (--t->degree[t->next[e]] == 0) tg_vec_push(&t->ready, t->next[e]);
    }
    free(t->first);
    free(t->next);
}

static void rehash_tangled(rehasher *r, uint32_t at)
{
    tangle t = {.r = r, .index = tg_calloc(r->g->n_ids, sizeof *t.index)};
    list_old(&t, at);
    t.degree = tg_calloc((size_t)r->p->n_come + t.old.n + 1, sizeof *t.degree);
    list_edges(&t);
    untangle(&t);
    free(t.degree);
    tg_vec_free(&t.old);
    tg_vec_free(&t.ready);
    tg_vec_free(&t.edge_from);
    tg_vec_free(&t.edge_to);
    free(t.index);
}

static void run(rehasher *r, uint64_t *hash)
{
    const tg_graph *g = r->g;
    uint32_t first = first_reader(g, r->p, r->queue);
    if (first == UINT32_MAX) {
        *hash = g->hash;
        return;
    }
    if (all_before(g, r->p, first)) sweep(r, first);
    else rehash_tangled(r, first);
    *hash = has_bit(r->fresh, 0) ? r->hash[0] : g->hash;
}

uint64_t tg_preview_hash(const tg_graph *g, const tg_preview *preview)
{
    size_t ids = g->n_ids / 64 + 1;
    uint64_t hash = 0;
    rehasher r = {.g = g, .p = preview};
    r.fresh = tg_calloc(2 * ids + g->n_nodes / 64 + 1, sizeof *r.fresh);
    r.replaced = r.fresh + ids;
    r.queue = r.replaced + ids;
    r.hash = tg_malloc((g->n_ids + (size_t)preview->n_come + 1) * sizeof *r.hash);
    r.come_hash = r.hash + g->n_ids;
    for (int i = 0; i < preview->n_redirects; i++)
        set_bit(r.replaced, tg_value_node(preview->redirects[i].from));
    run(&r, &hash);
    free(r.fresh);
    free(r.hash);
    return hash;
}

bool rehash_tangles(const tg_graph *g, const tg_preview *p)
{
    uint32_t first = first_reader(g, p, NULL);
    return first != UINT32_MAX && !all_before(g, p, first);
}

/* ---- cycles ---------------------------------------------------------------------------------- */

enum { MOST_RESULTS = 64, WORDS = 64 };

/*
 * Which results stand above which. A cycle leads from a result over nodes of the graph to something
 * that new nodes read on the way to that result or to another one that is above it. Results of one
 * node are one.
 * below: by result, the ids of nodes that read it, nodes that read those, and so on; come: by new
 * node, a bit a result that is above it.
 */
typedef struct order {
    const tg_graph *g;
    const tg_preview *p;
    size_t ids, positions; /* words of a set of them */
    uint64_t *below, *queue, *come;
    uint32_t limit;            /* nodes at later positions do not matter */
    uint32_t to[MOST_RESULTS]; /* the node that makes each result */
    int n;
} order;

/* False if there are too many. */
static bool list_results(order *o)
{
    for (int i = 0; i < o->p->n_redirects; i++) {
        uint32_t id = tg_value_node(o->p->redirects[i].to);
        int k = 0;
        while (k < o->n && o->to[k] != id) k++;
        if (k == MOST_RESULTS) return false;
        if (k == o->n) o->to[o->n++] = id;
    }
    return true;
}

static bool is_replaced(const tg_preview *p, tg_value v)
{
    for (int i = 0; i < p->n_redirects; i++)
        if (p->redirects[i].from == v) return true;
    return false;
}

static void queue_readers(order *o, uint32_t id, bool only_of, tg_value value)
{
    uint32_t n;
    const tg_use *use = tg_graph_uses(o->g, id, &n);
    for (uint32_t i = 0; i < n; i++) {
        tg_value v = tg_value_of(id, use[i].port);
        uint32_t at = o->g->position[use[i].node];
        if (at > o->limit || (only_of ? v != value : is_replaced(o->p, v))) continue;
        if (!is_gone(o->p, use[i].node)) set_bit(o->queue, at);
    }
}

static void find_below(order *o, int result)
{
    uint64_t *below = o->below + (size_t)result * o->ids;
    for (int i = 0; i < o->p->n_redirects; i++) {
        const tg_preview_redirect *r = &o->p->redirects[i];
        if (tg_value_node(r->to) == o->to[result])
            queue_readers(o, tg_value_node(r->from), true, r->from);
    }
    for (size_t w = 0; w < o->positions; w++)
        while (o->queue[w]) {
            uint32_t at = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(o->queue[w]);
            uint32_t id = o->g->order[at];
            o->queue[w] &= o->queue[w] - 1;
            set_bit(below, id);
            queue_readers(o, id, false, 0);
        }
}

/* A bit a result that the value stands below. */
static uint64_t results_above(const order *o, tg_value v)
{
    uint32_t id = tg_value_node(v);
    uint64_t above = 0;
    if (v == TG_NO_VALUE) return 0;
    if (id >= o->g->n_ids) return o->come[id - o->g->n_ids];
    for (int i = 0; i < o->n; i++)
        if (has_bit(o->below + (size_t)i * o->ids, id)) above |= (uint64_t)1 << i;
    return above;
}

/* above[i] of each result, closed: above what is above it, too. */
static bool has_loop(uint64_t *above, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            if (above[i] >> k & 1) above[i] |= above[k];
    for (int i = 0; i < n; i++)
        if (above[i] >> i & 1) return true;
    return false;
}

static bool is_ordered(order *o)
{
    uint64_t above[MOST_RESULTS];
    for (int i = 0; i < o->n; i++) find_below(o, i);
    for (int i = 0; i < o->p->n_come; i++)
        for (int k = 0; k < o->p->come[i].n_in; k++)
            o->come[i] |= results_above(o, o->p->come[i].in[k]);
    for (int i = 0; i < o->n; i++) above[i] = results_above(o, tg_value_of(o->to[i], 0));
    return !has_loop(above, o->n);
}

bool rehash_acyclic(const tg_graph *g, const tg_preview *p)
{
    uint64_t few[WORDS] = {0}, *bits = few;
    if (!rehash_tangles(g, p)) return true;
    order o = {.g = g, .p = p, .ids = g->n_ids / 64 + 1, .limit = last_read(g, p)};
    if (!list_results(&o)) return false;
    o.positions = o.limit / 64 + 1;
    size_t words = o.ids * (size_t)o.n + o.positions + (size_t)p->n_come;
    if (words > WORDS) bits = tg_calloc(words, sizeof *bits);
    o.below = bits;
    o.queue = o.below + o.ids * (size_t)o.n;
    o.come = o.queue + o.positions;
    bool ok = is_ordered(&o);
    if (bits != few) free(bits);
    return ok;
}

/* ---- the change itself ---------------------------------------------------------------------- */

static uint64_t change_hash(const tg_graph *g, const uint64_t *come_hash, tg_value v)
{
    uint32_t id = tg_value_node(v);
    return tg_hash_value(id >= g->n_ids ? come_hash[id - g->n_ids] : g->hashes[id],
                         tg_value_port(v));
}

uint64_t rehash_change(const tg_graph *g, const tg_preview *p, tg_arena *arena, bool *nothing)
{
    uint64_t *come = TG_NEW_ARRAY(arena, uint64_t, p->n_come), gone_sum = 0, come_sum = 0, to = 0;
    bool same = true;
    for (int i = 0; i < p->n_come; i++) {
        const tg_preview_node *node = &p->come[i];
        uint64_t few[16] = {0}, *in = node->n_in <= 16 ? few : tg_malloc(node->n_in * sizeof *in);
        for (int k = 0; k < node->n_in; k++)
            in[k] = node->in[k] == TG_NO_VALUE ? ABSENT : change_hash(g, come, node->in[k]);
        come[i] = new_hash(node, in);
        come_sum += tg_mix(come[i]);
        if (in != few) free(in);
    }
    for (int i = 0; i < p->n_gone; i++) gone_sum += tg_mix(g->hashes[p->gone[i]]);
    for (int i = 0; i < p->n_redirects; i++) {
        uint64_t a = change_hash(g, come, p->redirects[i].from);
        uint64_t b = change_hash(g, come, p->redirects[i].to);
        to += tg_mix(tg_hash_add(a, b));
        same &= a == b;
    }
    *nothing = same && gone_sum == come_sum;
    return tg_hash_add(tg_hash_add(tg_mix(come_sum), gone_sum), to);
}
