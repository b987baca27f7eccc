/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include "engine/base/vec.h"

/* Rows still to come below each node on the longest way down. By id. */
static uint32_t *heights(const tg_graph *g)
{
    uint32_t *height = tg_calloc(g->n_ids, sizeof *height);
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const tg_node *node = g->nodes[g->order[i]];
        for (int k = 0; k < node->n_in; k++) {
            if (node->in[k] == TG_NO_VALUE) continue;
            uint32_t *up = &height[tg_value_node(node->in[k])];
            if (*up < height[node->id] + 1) *up = height[node->id] + 1;
        }
    }
    return height;
}

typedef struct walk {
    const tg_graph *g;
    const uint32_t *height;
    const tg_drawing *previous;
    TG_VEC(uint32_t) stack;
    uint32_t *missing; /* inputs not drawn yet, by id */
    bool constants;
} walk;

static int32_t old_row(const walk *w, uint32_t id)
{
    return w->previous && id < w->previous->n_ids ? w->previous->row_of[id] : -1;
}

/* Should `a` be drawn before `b`, when both could be? */
static bool before(const walk *w, uint32_t a, uint32_t b)
{
    int32_t ra = old_row(w, a), rb = old_row(w, b);
    if (ra >= 0 && rb >= 0 && ra != rb) return ra < rb;
    if (w->height[a] != w->height[b]) return w->height[a] > w->height[b];
    return w->g->position[a] < w->g->position[b];
}

/* Pushes freed nodes so that the one to draw first is on top. Few are freed at once. */
static void push_ready(walk *w, const uint32_t *ready, size_t n)
{
    size_t start = w->stack.n;
    for (size_t i = 0; i < n; i++) {
        tg_vec_push(&w->stack, ready[i]);
        for (size_t k = w->stack.n - 1; k > start && before(w, w->stack.v[k - 1], w->stack.v[k]);
             k--) {
            uint32_t id = w->stack.v[k];
            w->stack.v[k] = w->stack.v[k - 1];
            w->stack.v[k - 1] = id;
        }
    }
}

static bool shown(const walk *w, uint32_t id)
{
    return tg_draw_shown(w->g->nodes[id], w->constants);
}

static void count_missing(walk *w)
{
    for (uint32_t i = 0; i < w->g->n_nodes; i++) {
        const tg_node *node = w->g->nodes[w->g->order[i]];
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE && shown(w, tg_value_node(node->in[k])))
                w->missing[node->id]++;
    }
}

uint32_t tg_draw_order(const tg_graph *g, bool constants, const tg_drawing *previous, uint32_t *ids)
{
    uint32_t *height = heights(g), n = 0;
    walk w = {g, height, previous, {0}, tg_calloc(g->n_ids, sizeof(uint32_t)), constants};
    TG_VEC(uint32_t) ready = {0};
    count_missing(&w);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (shown(&w, g->order[i]) && !w.missing[g->order[i]]) tg_vec_push(&ready, g->order[i]);
    push_ready(&w, ready.v, ready.n);
    while (w.stack.n) {
        uint32_t id = tg_vec_pop(&w.stack);
        ids[n++] = id;
        tg_vec_clear(&ready);
        for (uint32_t u = g->first_use[id]; u < g->first_use[id + 1]; u++) {
            uint32_t user = g->uses[u].node;
            if (--w.missing[user] == 0 && shown(&w, user)) tg_vec_push(&ready, user);
        }
        push_ready(&w, ready.v, ready.n);
    }
    tg_vec_free(&ready);
    tg_vec_free(&w.stack);
    free(w.missing);
    free(height);
    return n;
}
