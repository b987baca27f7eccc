/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small world for the tests of learning: a chain of letters, rules that rewrite neighbours, a
 * price for each letter. One rule pays only after another that costs. The optimum is found
 * exhaustively.
 */
#ifndef TESTS_UNIT_AG_TOY_H
#define TESTS_UNIT_AG_TOY_H

#include "agent/env.h"
#include "engine/base/hash.h"
#include "engine/base/vec.h"

enum { TOY_MOST = 24, TOY_RULES = 6 };

static const char *const toy_operators[] = {"A", "B", "C", "D", "E"};
static const double toy_price[] = {3, 2, 4, 1.5, 5};
static const char *const toy_rules[] = {"swap-ab", "fuse-bc", "grow-aa",
                                        "fuse-ec", "trap-ac", "swap-ba"};
static const char *const toy_from[] = {"AB", "BC", "AA", "EC", "AC", "BA"};
static const char *const toy_to[] = {"BA", "D", "E", "D", "BB", "AB"};
static const char *const toy_node[] = {"price"};
static const char *const toy_edge[] = {"forward", "reverse", "self"};
static const char *const toy_candidate[] = {"delta", "always"};
static const char *const toy_global[] = {"cost", "left"};
static const ag_spec toy_spec = {.operators = {5, toy_operators},
                                 .rules = {TOY_RULES, toy_rules},
                                 .node = {1, toy_node},
                                 .edge = {3, toy_edge},
                                 .candidate = {2, toy_candidate},
                                 .global = {2, toy_global}};

typedef struct toy_match {
    int rule, at;
} toy_match;

typedef struct toy {
    char start[TOY_MOST + 1], now[TOY_MOST + 1];
    double first;
    int steps;
    toy_match match[TOY_MOST * TOY_RULES];
    int n_match;
} toy;

static inline double toy_cost(const char *s)
{
    double sum = 1;
    for (; *s; s++) sum += toy_price[*s - 'A'];
    return sum;
}

static inline int toy_matches(const char *s, toy_match *match)
{
    int n = 0;
    for (int r = 0; r < TOY_RULES; r++) {
        for (int i = 0; s[i]; i++) {
            if (!strncmp(s + i, toy_from[r], strlen(toy_from[r]))) match[n++] = (toy_match){r, i};
        }
    }
    return n;
}

static inline void toy_rewrite(const char *s, toy_match m, char *to)
{
    char out[TOY_MOST + 1];
    snprintf(out, sizeof out, "%.*s%s%s", m.at, s, toy_to[m.rule],
             s + m.at + strlen(toy_from[m.rule]));
    strcpy(to, out);
}

static inline tg_status toy_reset(void *env)
{
    toy *t = env;
    strcpy(t->now, t->start);
    t->first = toy_cost(t->start);
    t->steps = 0;
    return TG_OK;
}

static inline tg_status toy_env_cost(void *env, double *ms)
{
    *ms = toy_cost(((toy *)env)->now);
    return TG_OK;
}

static inline void toy_edge_put(int *from, float *x, int *n, int sender, int kind)
{
    from[*n] = sender;
    x[3 * (*n)++ + kind] = 1;
}

/* The rows of a rewrite: new letters first, then the neighbours whose edges change. */
static inline void toy_delta(tg_arena *arena, const char *s, int n, toy_match m, ag_delta *d)
{
    const char *to = toy_to[m.rule];
    int old = (int)strlen(toy_from[m.rule]), fresh = (int)strlen(to), rows = 0, edges = 0;
    /* The chain after the rewrite around the change, by sender number; -1 beyond the ends. */
    int chain[8], len = 0;
    chain[len++] = m.at >= 2 ? m.at - 2 : -1;
    chain[len++] = m.at >= 1 ? m.at - 1 : -1;
    for (int i = 0; i < fresh; i++) chain[len++] = n + i;
    chain[len++] = m.at + old < n ? m.at + old : -1;
    chain[len++] = m.at + old + 1 < n ? m.at + old + 1 : -1;
    int *gone = TG_NEW_ARRAY(arena, int, 2), *base = TG_NEW_ARRAY(arena, int, 8);
    int *op = TG_NEW_ARRAY(arena, int, 8), *at = TG_NEW_ARRAY(arena, int, 9);
    int *from = TG_NEW_ARRAY(arena, int, 24);
    float *x = TG_NEW_ARRAY(arena, float, 8), *in_x = TG_NEW_ARRAY(arena, float, 24 * 3);
    for (int i = 0; i < old; i++) gone[i] = m.at + i;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 1; i + 1 < len; i++) {
            int node = chain[i];
            if (node < 0 || (node >= n) != (pass == 0)) continue;
            base[rows] = node < n ? node : -1;
            op[rows] = (node < n ? s[node] : to[node - n]) - 'A';
            x[rows] = (float)toy_price[op[rows]] / 5;
            at[rows++] = edges;
            toy_edge_put(from, in_x, &edges, node, AG_EDGE_SELF);
            if (chain[i - 1] >= 0) toy_edge_put(from, in_x, &edges, chain[i - 1], AG_EDGE_FORWARD);
            if (chain[i + 1] >= 0) toy_edge_put(from, in_x, &edges, chain[i + 1], AG_EDGE_REVERSE);
        }
    }
    at[rows] = edges;
    *d = (ag_delta){.n_gone = old,
                    .n_rows = rows,
                    .gone = gone,
                    .base = base,
                    .op = op,
                    .x = x,
                    .in_at = at,
                    .in_from = from,
                    .in_x = in_x};
}

static inline void toy_graph(tg_arena *arena, const char *s, ag_graph *graph)
{
    int n = (int)strlen(s);
    int *op = TG_NEW_ARRAY(arena, int, n + 1), *from = TG_NEW_ARRAY(arena, int, n + 1);
    int *to = TG_NEW_ARRAY(arena, int, n + 1);
    float *x = TG_NEW_ARRAY(arena, float, n + 1), *link = TG_NEW_ARRAY(arena, float, 3 * n + 3);
    for (int i = 0; i < n; i++) {
        op[i] = s[i] - 'A';
        x[i] = (float)toy_price[op[i]] / 5;
        from[i] = i;
        to[i] = i + 1;
    }
    ag_graph_build(arena, graph, n, op, x, n - 1, from, to, link, 3);
}

static inline tg_status toy_observe(void *env, ag_state **out)
{
    toy *t = env;
    ag_state *state = ag_state_new();
    toy_graph(state->arena, t->now, &state->graph);
    state->key = tg_hash_str(0, t->now);
    t->n_match = toy_matches(t->now, t->match);
    state->n_candidates = t->n_match;
    state->candidates = TG_NEW_ARRAY(state->arena, ag_candidate, t->n_match + 1);
    float *global = TG_NEW_ARRAY(state->arena, float, 2);
    double cost = toy_cost(t->now);
    global[0] = (float)(cost / t->first);
    global[1] = (float)t->steps / 10;
    state->global = global;
    for (int i = 0; i < t->n_match; i++) {
        ag_candidate *c = &state->candidates[i];
        char after[TOY_MOST + 1];
        float *x = TG_NEW_ARRAY(state->arena, float, 2);
        toy_rewrite(t->now, t->match[i], after);
        x[0] = (float)(10 * (toy_cost(after) - cost) / t->first);
        x[1] = 1;
        *c = (ag_candidate){
            .rule = t->match[i].rule, .allowed = true, .x = x, .key = tg_hash_str(0, after)};
        toy_delta(state->arena, t->now, (int)strlen(t->now), t->match[i], &c->delta);
    }
    *out = state;
    return TG_OK;
}

static inline tg_status toy_step(void *env, int candidate)
{
    toy *t = env;
    if (candidate < 0 || candidate >= t->n_match) return tg_fail(TG_INVALID, "no such candidate");
    toy_rewrite(t->now, t->match[candidate], t->now);
    t->steps++;
    return TG_OK;
}

static const ag_env_class toy_class = {.reset = toy_reset,
                                       .observe = toy_observe,
                                       .step = toy_step,
                                       .cost = toy_env_cost,
                                       .free = free};

static inline ag_env toy_open(const char *start)
{
    toy *t = tg_calloc(1, sizeof *t);
    snprintf(t->start, sizeof t->start, "%s", start);
    (void)toy_reset(t);
    return (ag_env){&toy_class, t};
}

static inline tg_status toy_source_open(void *source, ag_env *env)
{
    *env = toy_open(source);
    return TG_OK;
}

static const ag_source_class toy_source_class = {.open = toy_source_open, .free = free};

static inline ag_source *toy_source(const char *start)
{
    return ag_source_new(&toy_source_class, tg_strdup(start));
}

/* The lowest cost that any sequence of rewrites reaches; *states (may be NULL) counts them. */
static inline double toy_optimum(const char *start, size_t *states)
{
    tg_strmap seen = {0};
    TG_VEC(char *) queue = {0};
    double best = toy_cost(start);
    tg_vec_push(&queue, tg_strdup(start));
    tg_strmap_put(&seen, start, NULL);
    for (size_t i = 0; i < queue.n; i++) {
        toy_match match[TOY_MOST * TOY_RULES];
        int n = toy_matches(queue.v[i], match);
        for (int k = 0; k < n; k++) {
            char to[TOY_MOST + 1];
            bool fresh;
            toy_rewrite(queue.v[i], match[k], to);
            tg_strmap_put(&seen, to, &fresh);
            if (!fresh) continue;
            if (toy_cost(to) < best) best = toy_cost(to);
            tg_vec_push(&queue, tg_strdup(to));
        }
    }
    if (states) *states = queue.n;
    for (size_t i = 0; i < queue.n; i++) free(queue.v[i]);
    tg_vec_free(&queue);
    tg_strmap_free(&seen);
    return best;
}

#endif
