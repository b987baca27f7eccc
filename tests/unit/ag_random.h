/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random decisions for the tests of the agent: graphs, and changes that keep the rules of ag_delta.
 */
#ifndef TESTS_UNIT_AG_RANDOM_H
#define TESTS_UNIT_AG_RANDOM_H

#include "agent/features.h"
#include "engine/base/rng.h"
#include "engine/base/vec.h"

static const char *const random_operators[] = {"Add", "Conv", "MatMul", "Relu", "Concat"};
static const char *const random_rules[] = {"merge", "fuse", "cancel", "split"};
static const char *const random_node[] = {"cost", "kernel", "stride"};
static const char *const random_edge[] = {"forward", "reverse", "self", "size", "slot"};
static const char *const random_candidate[] = {"delta", "nodes"};
static const char *const random_global[] = {"cost", "left"};
static const ag_spec random_spec = {.operators = {5, random_operators},
                                    .rules = {4, random_rules},
                                    .node = {3, random_node},
                                    .edge = {5, random_edge},
                                    .candidate = {2, random_candidate},
                                    .global = {2, random_global}};

static inline float random_float(tg_rng *rng)
{
    return (float)tg_rng_normal(rng);
}

static inline float *random_floats(tg_arena *arena, tg_rng *rng, int n)
{
    float *x = TG_NEW_ARRAY(arena, float, n + 1);
    for (int i = 0; i < n; i++) x[i] = random_float(rng);
    return x;
}

/* A random acyclic graph; node i reads one to three earlier nodes. */
static inline void random_graph(tg_arena *arena, tg_rng *rng, int n, ag_graph *graph)
{
    int *op = TG_NEW_ARRAY(arena, int, n + 1), *from = TG_NEW_ARRAY(arena, int, 3 * n + 1);
    int *to = TG_NEW_ARRAY(arena, int, 3 * n + 1), links = 0;
    for (int i = 0; i < n; i++) {
        op[i] = (int)tg_rng_below(rng, 5);
        int inputs = i ? 1 + (int)tg_rng_below(rng, 3) % (i < 3 ? 1 : 3) : 0;
        for (int k = 0; k < inputs; k++, links++) {
            int back = 1 + (int)tg_rng_below(rng, i < 6 ? (uint64_t)i : 6);
            from[links] = i - back;
            to[links] = i;
        }
    }
    float *link_x = random_floats(arena, rng, links * 5);
    ag_graph_build(arena, graph, n, op, random_floats(arena, rng, n * 3), links, from, to, link_x,
                   5);
}

typedef struct random_change {
    TG_VEC(int) base, op, from, at, gone;
    TG_VEC(float) x, in_x;
    const ag_graph *graph;
    tg_rng *rng;
    char *gone_mark;
} random_change;

static inline void random_link(random_change *c, int from, int kind)
{
    tg_vec_push(&c->from, from);
    for (int j = 0; j < 5; j++)
        tg_vec_push(&c->in_x, j < 3 ? (float)(j == kind) : random_float(c->rng));
}

/* Starts the row of `base` (-1: new), with the edges of the old node that remain. */
static inline void random_row(random_change *c, int base)
{
    const ag_graph *g = c->graph;
    tg_vec_push(&c->base, base);
    tg_vec_push(&c->op, base >= 0 ? g->op[base] : (int)tg_rng_below(c->rng, 5));
    tg_vec_push(&c->at, (int)c->from.n);
    for (int j = 0; j < 3; j++)
        tg_vec_push(&c->x, base >= 0 ? g->x[base * 3 + j] : random_float(c->rng));
    if (base < 0) random_link(c, g->n + (int)c->base.n - 1, AG_EDGE_SELF);
    for (int k = base >= 0 ? g->in_at[base] : 0; base >= 0 && k < g->in_at[base + 1]; k++) {
        if (c->gone_mark[g->in_from[k]]) continue;
        tg_vec_push(&c->from, g->in_from[k]);
        for (int j = 0; j < 5; j++) tg_vec_push(&c->in_x, g->in_x[k * 5 + j]);
    }
}

#define RANDOM_KEEP(vec) ((vec).n ? tg_arena_dup(arena, (vec).v, (vec).n * sizeof *(vec).v) : NULL)

/*
 * Takes up to two nodes away and brings up to three; what read a vanished node, and a few others,
 * become rows and read new nodes instead.
 */
static inline void random_delta(tg_arena *arena, tg_rng *rng, const ag_graph *g, ag_delta *delta)
{
    random_change c = {.graph = g, .rng = rng, .gone_mark = tg_calloc((size_t)g->n, 1)};
    char *row = tg_calloc((size_t)g->n, 1);
    for (uint64_t k = tg_rng_below(rng, 3); k && g->n > 3; k--) {
        int v = (int)tg_rng_below(rng, (uint64_t)g->n);
        if (!c.gone_mark[v]) tg_vec_push(&c.gone, v);
        c.gone_mark[v] = 1;
    }
    for (int i = 0; i < g->n; i++) {
        for (int k = g->in_at[i]; k < g->in_at[i + 1]; k++) row[i] |= c.gone_mark[g->in_from[k]];
        if (tg_rng_below(rng, 20) == 0) row[i] = 1;
    }
    int fresh = (int)tg_rng_below(rng, 4);
    for (int i = 0; i < fresh; i++) {
        random_row(&c, -1);
        if (i) random_link(&c, g->n + i - 1, AG_EDGE_FORWARD);
        int other = (int)tg_rng_below(rng, (uint64_t)g->n);
        if (!c.gone_mark[other]) random_link(&c, other, AG_EDGE_FORWARD);
    }
    for (int i = 0; i < g->n; i++) {
        if (!row[i] || c.gone_mark[i]) continue;
        random_row(&c, i);
        if (fresh) random_link(&c, g->n + (int)tg_rng_below(rng, (uint64_t)fresh), AG_EDGE_FORWARD);
    }
    tg_vec_push(&c.at, (int)c.from.n);
    *delta = (ag_delta){.n_gone = (int)c.gone.n,
                        .n_rows = (int)c.base.n,
                        .gone = RANDOM_KEEP(c.gone),
                        .base = RANDOM_KEEP(c.base),
                        .op = RANDOM_KEEP(c.op),
                        .x = RANDOM_KEEP(c.x),
                        .in_at = RANDOM_KEEP(c.at),
                        .in_from = RANDOM_KEEP(c.from),
                        .in_x = RANDOM_KEEP(c.in_x)};
    tg_vec_free(&c.gone);
    tg_vec_free(&c.base);
    tg_vec_free(&c.op);
    tg_vec_free(&c.x);
    tg_vec_free(&c.at);
    tg_vec_free(&c.from);
    tg_vec_free(&c.in_x);
    free(c.gone_mark);
    free(row);
}

static inline ag_state *random_state(tg_rng *rng, int nodes, int candidates)
{
    ag_state *state = ag_state_new();
    random_graph(state->arena, rng, nodes, &state->graph);
    state->n_candidates = candidates;
    state->candidates = TG_NEW_ARRAY(state->arena, ag_candidate, candidates + 1);
    state->global = random_floats(state->arena, rng, 2);
    for (int c = 0; c < candidates; c++) {
        ag_candidate *a = &state->candidates[c];
        a->rule = (int)tg_rng_below(rng, 4);
        a->allowed = tg_rng_below(rng, 4) != 0;
        a->key = (uint64_t)c;
        a->x = random_floats(state->arena, rng, 2);
        random_delta(state->arena, rng, &state->graph, &a->delta);
    }
    return state;
}

#endif
