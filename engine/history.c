/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history.h"

#include <math.h>
#include <stdlib.h>

const char *tg_who_name(tg_who who)
{
    static const char *const names[] = {"agent", "you", "search"};
    return names[who];
}

const char *tg_who_short_name(tg_who who)
{
    static const char *const names[] = {"agt", "you", "sea"};
    return names[who];
}

static int push(tg_history *h, int parent, const tg_trail *trail, const tg_step_info *info)
{
    int id = (int)h->states.n;
    tg_state state = {.id = id,
                      .parent = parent,
                      .first_child = -1,
                      .next_sibling = -1,
                      .last_visited = -1,
                      .trail = tg_trail_ref(trail),
                      .info = *info,
                      .max_abs_error = NAN};
    tg_vec_push(&h->states, state);
    *tg_map_put(&h->by_key, tg_graph_key(trail->graph), NULL) = (uint64_t)id;
    return id;
}

tg_history *tg_history_new(const tg_graph *root)
{
    tg_history *h = tg_calloc(1, sizeof *h);
    tg_trail *trail = tg_trail_root(root);
    push(h, -1, trail, &(tg_step_info){.probability = NAN, .version = -1, .value = NAN});
    tg_trail_unref(trail);
    return h;
}

void tg_history_free(tg_history *h)
{
    if (!h) return;
    for (size_t i = 0; i < h->states.n; i++) tg_trail_unref(h->states.v[i].trail);
    tg_vec_free(&h->states);
    tg_map_free(&h->by_key);
    free(h);
}

tg_state *tg_history_get(tg_history *h, int id)
{
    return id >= 0 && id < (int)h->states.n ? &h->states.v[id] : NULL;
}

tg_state *tg_history_head(tg_history *h)
{
    return &h->states.v[h->head];
}

int tg_history_find(const tg_history *h, const tg_graph *g)
{
    const uint64_t *id = tg_map_find(&h->by_key, tg_graph_key(g));
    return id && !h->states.v[*id].pruned ? (int)*id : -1;
}

static void link_child(tg_history *h, int parent, int id)
{
    int *at = &h->states.v[parent].first_child;
    while (*at >= 0) at = &h->states.v[*at].next_sibling;
    *at = id;
}

int tg_history_add(tg_history *h, int parent, const tg_trail *trail, const tg_step_info *info,
                   bool *linked)
{
    int id = tg_history_find(h, trail->graph);
    if (linked) *linked = id >= 0;
    if (id < 0) return tg_history_branch(h, parent, trail, info);
    tg_history_go(h, id);
    return id;
}

int tg_history_branch(tg_history *h, int parent, const tg_trail *trail, const tg_step_info *info)
{
    int id = push(h, parent, trail, info);
    link_child(h, parent, id);
    tg_history_go(h, id);
    return id;
}

void tg_history_go(tg_history *h, int id)
{
    h->head = id;
    for (int at = id; h->states.v[at].parent >= 0; at = h->states.v[at].parent)
        h->states.v[h->states.v[at].parent].last_visited = at;
}

bool tg_history_undo(tg_history *h)
{
    int parent = h->states.v[h->head].parent;
    if (parent < 0) return false;
    tg_history_go(h, parent);
    return true;
}

static int any_child(const tg_history *h, int id)
{
    for (int c = h->states.v[id].first_child; c >= 0; c = h->states.v[c].next_sibling)
        if (!h->states.v[c].pruned) return c;
    return -1;
}

bool tg_history_redo(tg_history *h)
{
    int child = h->states.v[h->head].last_visited;
    if (child < 0 || h->states.v[child].pruned) child = any_child(h, h->head);
    if (child < 0) return false;
    tg_history_go(h, child);
    return true;
}

void tg_history_prune(tg_history *h, int id)
{
    if (id <= 0) return;
    /* Children come after their parents, so one pass marks the whole branch. */
    h->states.v[id].pruned = true;
    for (size_t i = (size_t)id + 1; i < h->states.n; i++)
        if (h->states.v[h->states.v[i].parent].pruned) h->states.v[i].pruned = true;
    while (h->states.v[h->head].pruned) h->head = h->states.v[h->head].parent;
}

int tg_history_depth(const tg_history *h, int id)
{
    int depth = 0;
    for (; h->states.v[id].parent >= 0; id = h->states.v[id].parent) depth++;
    return depth;
}

int tg_history_count(const tg_history *h, int *leaves)
{
    int n = 0;
    *leaves = 0;
    for (size_t i = 0; i < h->states.n; i++) {
        if (h->states.v[i].pruned) continue;
        n++;
        *leaves += any_child(h, (int)i) < 0;
    }
    return n;
}
