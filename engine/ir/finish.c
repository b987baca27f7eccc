/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last step of building: redirect, drop the dead, order, list the uses, hash. */
#include "builder.h"
#include "hash.h"

#include <stdlib.h>

/* Where uses of v go in the end. Errors: TG_INVALID if redirects go round. */
static tg_status resolve(const tg_builder *b, tg_value *v)
{
    size_t steps = 0;
    for (const uint64_t *to; (to = tg_map_find(&b->redirects, *v)); *v = (tg_value)*to)
        if (steps++ > b->redirects.n)
            return tg_fail(TG_INVALID, "replaced values replace each other");
    return TG_OK;
}

static tg_status redirect_node(tg_builder *b, uint32_t id, tg_value *in)
{
    tg_node *node = b->nodes.v[id];
    bool changed = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = node->in[i];
        if (in[i] == TG_NO_VALUE) continue;
        TG_TRY(resolve(b, &in[i]));
        changed |= in[i] != node->in[i];
    }
    if (!changed) return TG_OK;
    b->nodes.v[id] = tg_node_clone(node, in, node->constant);
    tg_node_unref(node);
    return TG_OK;
}

static tg_status redirect_all(tg_builder *b)
{
    if (!b->redirects.n) return TG_OK;
    size_t most = 1;
    for (size_t id = 1; id < b->nodes.n; id++)
        if (b->nodes.v[id] && b->nodes.v[id]->n_in > most) most = b->nodes.v[id]->n_in;
    tg_value *in = tg_malloc(most * sizeof *in);
    tg_status status = TG_OK;
    for (uint32_t id = 1; id < b->first_new && status == TG_OK; id++)
        if (b->nodes.v[id]) status = redirect_node(b, id, in);
    for (size_t i = 0; i < b->outputs.n && status == TG_OK; i++)
        status = resolve(b, &b->outputs.v[i]);
    free(in);
    return status;
}

static tg_status make_sink(tg_builder *b)
{
    if (!b->outputs.n) return tg_fail(TG_INVALID, "the graph has no outputs");
    tg_node_unref(b->nodes.v[0]);
    b->nodes.v[0] = tg_node_new(&(tg_node_parts){.op = TG_OP_SINK,
                                                 .n_in = (int)b->outputs.n,
                                                 .in = b->outputs.v,
                                                 .attrs = tg_attrs_new(NULL, 0),
                                                 .name = "outputs"});
    return TG_OK;
}

/* Drops what the sink does not reach; inputs stay. */
static void drop_dead(tg_builder *b)
{
    unsigned char *live = tg_calloc(b->nodes.n, 1);
    tg_id_vec stack = {0};
    tg_vec_push(&stack, 0);
    for (size_t i = 0; i < b->inputs.n; i++) live[b->inputs.v[i]] = 1;
    live[0] = 1;
    while (stack.n) {
        const tg_node *node = b->nodes.v[tg_vec_pop(&stack)];
        for (int i = 0; i < node->n_in; i++) {
            uint32_t id = tg_value_node(node->in[i]);
            if (node->in[i] == TG_NO_VALUE || live[id]) continue;
            live[id] = 1;
            tg_vec_push(&stack, id);
        }
    }
    for (size_t id = 0; id < b->nodes.n; id++)
        if (!live[id]) {
            tg_node_unref(b->nodes.v[id]);
            b->nodes.v[id] = NULL;
        }
    tg_vec_free(&stack);
    free(live);
}

/* Uses of every node: counts first, then slots, in the order in which users are visited. */
static void list_uses(const tg_builder *b, tg_graph *g, const uint32_t *users, uint32_t n_users)
{
    uint32_t *first = TG_NEW_ARRAY(g->arena, uint32_t, b->nodes.n + 1), total = 0;
    for (size_t id = 0; id < b->nodes.n; id++)
        for (int i = 0; b->nodes.v[id] && i < b->nodes.v[id]->n_in; i++)
            if (b->nodes.v[id]->in[i] != TG_NO_VALUE)
                first[tg_value_node(b->nodes.v[id]->in[i]) + 1]++, total++;
    for (size_t id = 0; id < b->nodes.n; id++) first[id + 1] += first[id];
    uint32_t *at = tg_memdup(first, b->nodes.n * sizeof *at);
    tg_use *uses = TG_NEW_ARRAY(g->arena, tg_use, total + 1);
    for (uint32_t u = 0; u < n_users; u++) {
        const tg_node *node = b->nodes.v[users[u]];
        for (int i = 0; i < node->n_in; i++) {
            if (node->in[i] == TG_NO_VALUE) continue;
            uses[at[tg_value_node(node->in[i])]++] =
                (tg_use){node->id, (uint16_t)i, (uint16_t)tg_value_port(node->in[i])};
        }
    }
    free(at);
    g->first_use = first;
    g->uses = uses;
}

/* A binary heap of ids, smallest key first. */
typedef struct heap {
    tg_id_vec ids;
    const uint64_t *key;
} heap;

static void heap_push(heap *h, uint32_t id)
{
    tg_vec_push(&h->ids, id);
    size_t i = h->ids.n - 1;
    for (; i && h->key[h->ids.v[(i - 1) / 2]] > h->key[id]; i = (i - 1) / 2)
        h->ids.v[i] = h->ids.v[(i - 1) / 2];
    h->ids.v[i] = id;
}

static uint32_t heap_pop(heap *h)
{
    uint32_t top = h->ids.v[0], last = tg_vec_pop(&h->ids);
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < h->ids.n; i = c) {
        if (c + 1 < h->ids.n && h->key[h->ids.v[c + 1]] < h->key[h->ids.v[c]]) c++;
        if (h->key[h->ids.v[c]] >= h->key[last]) break;
        h->ids.v[i] = h->ids.v[c];
    }
    if (h->ids.n) h->ids.v[i] = last;
    return top;
}

/*
 * Sort keys: nodes of the parent keep their order; new ones come where the first node that went
 * was, so that a rewrite moves no other row.
 */
static uint64_t *order_keys(const tg_builder *b)
{
    uint64_t *key = tg_calloc(b->nodes.n, sizeof *key), anchor = b->nodes.n;
    for (uint32_t i = 0; b->parent && i < b->parent->n_nodes; i++)
        if (!b->nodes.v[b->parent->order[i]] &&
            b->parent->nodes[b->parent->order[i]]->op != TG_OP_CONST) {
            anchor = i;
            break;
        }
    for (size_t id = 0; id < b->nodes.n; id++) {
        bool old = b->parent && id < b->first_new && b->parent->position[id] != UINT32_MAX;
        uint64_t place = old ? b->parent->position[id] : b->parent ? anchor : id;
        key[id] = place << 32 | id;
    }
    key[0] = UINT64_MAX;
    return key;
}

static void count_in_edges(const tg_builder *b, uint32_t *degree, heap *ready)
{
    for (uint32_t id = 0; id < b->nodes.n; id++) {
        const tg_node *node = b->nodes.v[id];
        if (!node) continue;
        for (int i = 0; i < node->n_in; i++) degree[id] += node->in[i] != TG_NO_VALUE;
        if (!degree[id]) heap_push(ready, id);
    }
}

/* Kahn's algorithm with the ready node of smallest key first. O((n + e) log n). */
static tg_status sort(const tg_builder *b, tg_graph *g)
{
    uint64_t *key = order_keys(b);
    uint32_t *degree = tg_calloc(b->nodes.n, sizeof *degree), n = 0, live = 0;
    uint32_t *order = TG_NEW_ARRAY(g->arena, uint32_t, b->nodes.n),
             *any = tg_calloc(b->nodes.n, sizeof *any);
    for (uint32_t id = 0; id < b->nodes.n; id++)
        if (b->nodes.v[id]) any[live++] = id;
    list_uses(b, g, any, live);
    heap ready = {.key = key};
    count_in_edges(b, degree, &ready);
    while (ready.ids.n) {
        uint32_t id = heap_pop(&ready);
        order[n++] = id;
        for (uint32_t u = g->first_use[id]; u < g->first_use[id + 1]; u++)
            if (--degree[g->uses[u].node] == 0) heap_push(&ready, g->uses[u].node);
    }
    tg_vec_free(&ready.ids);
    free(any);
    free(degree);
    free(key);
    if (n < live) return tg_fail(TG_INVALID, "the graph has a cycle");
    g->order = order;
    g->n_nodes = n;
    list_uses(b, g, order, n);
    return TG_OK;
}

/* Inputs may have become constant or ceased to be. */
static void mark_constants(tg_builder *b, const tg_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        tg_node *node = b->nodes.v[g->order[i]];
        bool constant = tg_node_is_constant(node->op, node->in, node->n_in, b->nodes.v);
        if (constant == node->constant) continue;
        b->nodes.v[node->id] = tg_node_clone(node, node->in, constant);
        tg_node_unref(node);
    }
}

static void list_changes(tg_builder *b, tg_graph *g)
{
    uint32_t *gone = TG_NEW_ARRAY(g->arena, uint32_t, b->nodes.n),
             *come = TG_NEW_ARRAY(g->arena, uint32_t, b->nodes.n);
    for (uint32_t id = 0; id < b->nodes.n; id++) {
        const tg_node *was = b->parent ? tg_graph_node(b->parent, id) : NULL, *now = b->nodes.v[id];
        if (was && !now) gone[g->n_gone++] = id;
        if (now && now != was && id) come[g->n_come++] = id;
    }
    g->gone = gone;
    g->come = come;
}

static void fill_tables(tg_builder *b, tg_graph *g)
{
    g->n_ids = (uint32_t)b->nodes.n;
    g->nodes = tg_arena_dup(g->arena, b->nodes.v, b->nodes.n * sizeof *b->nodes.v);
    uint32_t *position = TG_NEW_ARRAY(g->arena, uint32_t, b->nodes.n);
    memset(position, 0xff, b->nodes.n * sizeof *position);
    for (uint32_t i = 0; i < g->n_nodes; i++) position[g->order[i]] = i;
    g->position = position;
    g->inputs = tg_arena_dup(g->arena, b->inputs.v, b->inputs.n * sizeof *b->inputs.v);
    g->n_inputs = (uint32_t)b->inputs.n;
    g->output_names = tg_arena_dup(g->arena, b->output_names.v, b->output_names.n * sizeof(char *));
}

static tg_status finish(tg_builder *b, tg_graph *g)
{
    TG_TRY(redirect_all(b));
    TG_TRY(make_sink(b));
    drop_dead(b);
    TG_TRY(sort(b, g));
    mark_constants(b, g);
    fill_tables(b, g);
    list_changes(b, g);
    uint64_t *hashes = TG_NEW_ARRAY(g->arena, uint64_t, g->n_ids);
    tg_hash_graph(g, hashes);
    g->hashes = hashes;
    g->hash = hashes[0];
    return TG_OK;
}

tg_status tg_build_done(tg_builder *b, tg_graph **graph)
{
    tg_arena *arena = tg_arena_new();
    tg_graph *g = TG_NEW(arena, tg_graph);
    atomic_init(&g->refs, 1);
    g->arena = arena;
    tg_status status = finish(b, g);
    if (status == TG_OK) {
        g->origin = tg_origin_ref(b->origin);
        tg_vec_clear(&b->nodes); /* the graph has the references now */
        *graph = g;
    } else {
        tg_arena_free(arena);
    }
    tg_builder_free(b);
    return status;
}
