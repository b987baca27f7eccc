/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/rewrite/prove.h"
#include "engine/rewrite/sites.h"

#include <string.h>

typedef struct quest {
    const tg_rules *others;
    const follow_limits *limits;
    uint64_t goal; /* the hash to reach */
    uint32_t most_ops;
    tg_map seen;
    TG_VEC(tg_graph *) now, next;
    int graphs;
} quest;

/* True: the goal is one step away. */
static bool expand(quest *q, const tg_graph *g)
{
    tg_candidates *c;
    bool reached = false, fresh;
    if (tg_candidates_find(q->others, g, NULL, &c) != TG_OK) return false;
    uint32_t ops = tg_graph_op_count(g);
    for (int i = 0; i < tg_candidates_count(c) && !reached; i++) {
        const tg_preview *p = &tg_candidates_get(c, i)->preview;
        uint64_t hash = tg_preview_hash(g, p);
        reached = hash == q->goal;
        tg_map_put(&q->seen, hash, &fresh);
        tg_graph *next;
        if (reached || !fresh || q->graphs >= q->limits->graphs ||
            ops + (uint32_t)p->nodes_come > q->most_ops + (uint32_t)p->nodes_gone)
            continue;
        if (tg_candidates_apply(c, i, &next) != TG_OK) continue;
        q->graphs++;
        tg_vec_push(&q->next, next);
    }
    tg_candidates_free(c);
    return reached;
}

static void drop(quest *q)
{
    for (size_t i = 0; i < q->now.n; i++) tg_graph_unref(q->now.v[i]);
    tg_vec_clear(&q->now);
}

/* Breadth first. */
static int reach(quest *q, const tg_graph *g)
{
    int found = g->hash == q->goal ? 0 : -1;
    tg_map_put(&q->seen, g->hash, NULL);
    tg_vec_push(&q->now, tg_graph_ref(g));
    for (int step = 1; step <= q->limits->steps && found < 0 && q->now.n; step++) {
        for (size_t i = 0; i < q->now.n && found < 0; i++)
            if (expand(q, q->now.v[i])) found = step;
        drop(q);
        for (size_t i = 0; i < q->next.n; i++) tg_vec_push(&q->now, q->next.v[i]);
        tg_vec_clear(&q->next);
    }
    drop(q);
    tg_vec_free(&q->now);
    tg_vec_free(&q->next);
    tg_map_free(&q->seen);
    return found;
}

/* A graph with the form of the set's only rule, and what the rule makes of it. */
static bool draw_both(const tg_rules *rule, uint64_t seed, int tries, tg_graph **before,
                      tg_graph **after)
{
    for (int k = 0; k < tries; k++) {
        tg_candidates *c;
        bool ok = false;
        if (tg_rule_draw_bare(rule, 0, seed * 10000 + (uint64_t)k, before) != TG_OK) return false;
        if (tg_candidates_find(rule, *before, NULL, &c) == TG_OK) {
            for (int n = 0; n < tg_candidates_count(c) && !ok; n++)
                ok = tg_candidates_apply(c, n, after) == TG_OK;
            tg_candidates_free(c);
        }
        if (ok) return true;
        tg_graph_unref(*before);
    }
    return false;
}

static int steps_of(const tg_rules *others, const tg_graph *before, const tg_graph *after,
                    const follow_limits *limits)
{
    uint32_t a = tg_graph_op_count(before), b = tg_graph_op_count(after);
    quest q = {.others = others,
               .limits = limits,
               .goal = after->hash,
               .most_ops = (a > b ? a : b) + (uint32_t)limits->grow};
    return reach(&q, before);
}

static bool is_named(void *ctx, const tg_rule_info *info)
{
    return strcmp(info->name, ctx) == 0;
}

int follow_steps(const tg_rules *others, const tg_rules *rules, int i, uint64_t seed,
                 const follow_limits *limits)
{
    int worst = 0;
    tg_rules *rule = tg_rules_select(rules, is_named, (void *)tg_rules_get(rules, i)->name);
    for (int d = 0; d < limits->draws && worst >= 0; d++) {
        tg_graph *before, *after;
        if (!draw_both(rule, seed + (uint64_t)d, limits->tries, &before, &after)) {
            worst = -1;
            break;
        }
        int steps = steps_of(others, before, after, limits);
        worst = steps < 0 ? -1 : steps > worst ? steps : worst;
        tg_graph_unref(before);
        tg_graph_unref(after);
    }
    tg_rules_unref(rule);
    return worst;
}
