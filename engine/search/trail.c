/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trail.h"

#include "engine/base/intern.h"
#include "engine/ops/cost.h"

#include <math.h>
#include <stdlib.h>

enum { NAMED = 4 };

/* "conv1,relu1"; in a body "if3: conv1,relu1". */
static void add_words(const tg_graph *g, const tg_site *site, tg_str *words)
{
    char label[128];
    const tg_graph *body;
    const tg_site *inner = tg_site_inner(g, site, &body);
    for (int i = 0; i < site->n_nodes && i < NAMED; i++)
        tg_str_addf(words, "%s%s", i ? "," : "",
                    tg_graph_label(g, site->nodes[i], label, sizeof label));
    if (site->n_nodes > NAMED) tg_str_addf(words, ",+%d", site->n_nodes - NAMED);
    if (!inner) return;
    tg_str_add(words, ": ");
    add_words(body, inner, words);
}

const char *tg_site_words(const tg_graph *g, const tg_site *site)
{
    tg_str words = {0};
    add_words(g, site, &words);
    const char *interned = tg_intern(tg_str_text(&words));
    tg_str_free(&words);
    return interned;
}

tg_trail *tg_trail_root(const tg_graph *g)
{
    tg_trail *root = tg_calloc(1, sizeof *root);
    atomic_init(&root->refs, 1);
    root->graph = tg_graph_ref(g);
    root->cost_ms = tg_graph_cost_ms(g);
    root->taken = (tg_taken){
        .rule = "", .site = "", .hash = g->hash, .predicted_ms = root->cost_ms, .probability = NAN};
    return root;
}

tg_trail *tg_trail_leap(const tg_trail *parent, tg_graph *graph, const char *rule, const char *site)
{
    tg_trail *t = tg_calloc(1, sizeof *t);
    atomic_init(&t->refs, 1);
    t->parent = tg_trail_ref(parent);
    t->graph = graph;
    t->cost_ms = tg_graph_cost_ms(graph);
    t->depth = parent->depth + 1;
    t->taken = (tg_taken){.rule = rule,
                          .site = site,
                          .key = graph->hash,
                          .predicted_ms = t->cost_ms,
                          .hash = graph->hash,
                          .probability = NAN};
    return t;
}

static tg_trail *step(const tg_trail *parent, const tg_rules *rules, const tg_site *site,
                      tg_graph *graph)
{
    tg_trail *t = tg_trail_leap(parent, graph, tg_intern(tg_rules_get(rules, site->rule)->name),
                                tg_site_words(parent->graph, site));
    t->taken.key = site->key;
    return t;
}

tg_status tg_trail_step(const tg_trail *parent, const tg_candidates *c, int i, tg_trail **next)
{
    tg_graph *graph;
    TG_TRY(tg_candidates_apply(c, i, &graph));
    *next = step(parent, tg_candidates_rules(c), tg_candidates_get(c, i)->site, graph);
    return TG_OK;
}

tg_status tg_trail_step_to(const tg_trail *parent, const tg_rules *rules, tg_site_mark mark,
                           tg_trail **next)
{
    tg_arena *arena = tg_arena_new();
    tg_graph *graph;
    tg_site site;
    tg_status status = tg_site_recall(rules, parent->graph, mark, arena, &site);
    if (status == TG_OK) status = tg_site_apply(rules, parent->graph, &site, &graph);
    if (status == TG_OK) *next = step(parent, rules, &site, graph);
    tg_arena_free(arena);
    return status;
}

tg_trail *tg_trail_ref(const tg_trail *trail)
{
    tg_trail *t = (tg_trail *)(uintptr_t)trail;
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void tg_trail_unref(const tg_trail *trail)
{
    tg_trail *t = (tg_trail *)(uintptr_t)trail;
    while (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) {
        tg_trail *parent = (tg_trail *)(uintptr_t)t->parent;
        tg_graph_unref(t->graph);
        free(t);
        t = parent;
    }
}

const tg_trail *tg_trail_at(const tg_trail *trail, int depth)
{
    while (trail->depth > depth) trail = trail->parent;
    return trail;
}
