/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "preview.h"

#include "engine/ops/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void preview_init(previewer *p, const tg_rules *rules, const tg_graph *g)
{
    uint32_t n = g->n_ids;
    *p = (previewer){.rules = rules, .g = g};
    p->count_stamp = tg_calloc(n, sizeof *p->count_stamp);
    p->from_stamp = tg_calloc(n, sizeof *p->from_stamp);
    p->count = tg_malloc(n * sizeof *p->count);
    p->cost = tg_malloc(n * sizeof *p->cost);
    for (uint32_t i = 0; i < n; i++) p->cost[i] = NAN;
}

void preview_done(previewer *p)
{
    free(p->count_stamp);
    free(p->from_stamp);
    free(p->count);
    free(p->cost);
}

/* One site's preview on its way. */
typedef struct work {
    previewer *p;
    draft d;
    tg_preview_redirect *redirects;
    int n;
    uint32_t *come_count;  /* uses of new nodes */
    TG_VEC(uint32_t) dead; /* ids, new ones too, whose inputs are still to be let go */
    TG_VEC(uint32_t) gone; /* ids of the graph */
    bool unfit;
} work;

/* ---- what goes ----------------------------------------------------------------------------- */

static void add_uses(work *w, tg_value v, uint32_t n)
{
    previewer *p = w->p;
    uint32_t id = tg_value_node(v);
    if (id >= p->g->n_ids) w->come_count[id - p->g->n_ids] += n;
    else p->count[id] += n;
}

/* Starts the count of a node of the graph at its uses that are not redirected. */
static void start_count(work *w, uint32_t id)
{
    previewer *p = w->p;
    uint32_t n;
    if (p->count_stamp[id] == p->now) return;
    p->count_stamp[id] = p->now;
    const tg_use *use = tg_graph_uses(p->g, id, &n);
    p->count[id] = n;
    if (p->from_stamp[id] != p->now) return;
    for (uint32_t i = 0; i < n; i++) {
        tg_value v = tg_value_of(id, use[i].port);
        p->count[id] -= resolve(p, w->redirects, w->n, v) != v;
    }
}

static void start_value(work *w, tg_value v)
{
    if (v != TG_NO_VALUE && tg_value_node(v) < w->p->g->n_ids) start_count(w, tg_value_node(v));
}

static void count_uses(work *w)
{
    for (int i = 0; i < w->n; i++) {
        start_value(w, w->redirects[i].from);
        start_value(w, w->redirects[i].to);
    }
    for (size_t i = 0; i < w->d.come.n; i++)
        for (int k = 0; k < w->d.come.v[i].n_in; k++) start_value(w, w->d.come.v[i].in[k]);
    for (int i = 0; i < w->n; i++)
        add_uses(w, w->redirects[i].to, tg_graph_use_count(w->p->g, w->redirects[i].from));
    for (size_t i = 0; i < w->d.come.n; i++)
        for (int k = 0; k < w->d.come.v[i].n_in; k++)
            if (w->d.come.v[i].in[k] != TG_NO_VALUE) add_uses(w, w->d.come.v[i].in[k], 1);
}

static void let_go(work *w, tg_value v)
{
    previewer *p = w->p;
    uint32_t id = tg_value_node(v);
    if (v == TG_NO_VALUE) return;
    start_value(w, v);
    uint32_t *count = id >= p->g->n_ids ? &w->come_count[id - p->g->n_ids] : &p->count[id];
    if (--*count == 0) tg_vec_push(&w->dead, id);
}

/* Nodes without uses go, and then those that only they used. */
static void find_dead(work *w)
{
    const tg_graph *g = w->p->g;
    for (int i = 0; i < w->n; i++) {
        uint32_t id = tg_value_node(w->redirects[i].from);
        bool again = false;
        for (int k = 0; k < i; k++) again |= tg_value_node(w->redirects[k].from) == id;
        if (!again && !w->p->count[id]) tg_vec_push(&w->dead, id);
    }
    for (size_t i = 0; i < w->d.come.n; i++)
        if (!w->come_count[i]) tg_vec_push(&w->dead, g->n_ids + (uint32_t)i);
    while (w->dead.n) {
        uint32_t id = tg_vec_pop(&w->dead);
        if (id >= g->n_ids) {
            const tg_preview_node *node = &w->d.come.v[id - g->n_ids];
            for (int k = 0; k < node->n_in; k++) let_go(w, node->in[k]);
            continue;
        }
        const tg_node *node = g->nodes[id];
        if (node->op == TG_OP_INPUT) continue;
        tg_vec_push(&w->gone, id);
        for (int k = 0; k < node->n_in; k++)
            let_go(w, resolve(w->p, w->redirects, w->n, node->in[k]));
    }
}

/* ---- what comes ---------------------------------------------------------------------------- */

static void renumber(const work *w, const uint32_t *to, tg_value *v)
{
    uint32_t n_ids = w->p->g->n_ids;
    if (*v == TG_NO_VALUE || tg_value_node(*v) < n_ids) return;
    *v = tg_value_of(n_ids + to[tg_value_node(*v) - n_ids], tg_value_port(*v));
}

/* A new node that goes at once takes the place of a value that only new nodes read. */
static void drop_redirects(work *w)
{
    uint32_t n_ids = w->p->g->n_ids;
    int kept = 0;
    for (int i = 0; i < w->n; i++) {
        uint32_t to = tg_value_node(w->redirects[i].to);
        if (to >= n_ids && !w->come_count[to - n_ids]) continue;
        w->redirects[kept++] = w->redirects[i];
    }
    w->n = kept;
}

/* Drops new nodes that nothing uses and gives the others their final ids. */
static void prune(work *w)
{
    size_t n = 0;
    uint32_t *to = TG_NEW_ARRAY(w->d.arena, uint32_t, w->d.come.n);
    for (size_t i = 0; i < w->d.come.n; i++) {
        to[i] = (uint32_t)n;
        if (!w->come_count[i]) continue;
        w->d.come.v[n] = w->d.come.v[i];
        n++;
    }
    if (n == w->d.come.n) return;
    w->d.come.n = n;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < w->d.come.v[i].n_in; k++)
            renumber(w, to, (tg_value *)(uintptr_t)&w->d.come.v[i].in[k]);
    drop_redirects(w);
    for (int i = 0; i < w->n; i++) renumber(w, to, &w->redirects[i].to);
}

/* ---- the result ---------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double node_cost(previewer *p, uint32_t id)
{
    if (isnan(p->cost[id])) p->cost[id] = tg_node_cost_ms(p->g, p->g->nodes[id]);
    return p->cost[id];
}

static void sum_up(work *w, tg_preview *out)
{
    previewer *p = w->p;
    if (w->gone.n) qsort(w->gone.v, w->gone.n, sizeof *w->gone.v, ascending);
    out->gone = tg_arena_dup(w->d.arena, w->gone.v, w->gone.n * sizeof *w->gone.v);
    out->n_gone = (int)w->gone.n;
    out->come = tg_arena_dup(w->d.arena, w->d.come.v, w->d.come.n * sizeof *w->d.come.v);
    out->n_come = (int)w->d.come.n;
    out->redirects = w->redirects;
    out->n_redirects = w->n;
    for (int i = 0; i < out->n_gone; i++) {
        if (p->g->nodes[out->gone[i]]->constant) continue;
        const tg_attrs *attrs = p->g->nodes[out->gone[i]]->attrs;
        out->nodes_gone += 1 + (int)tg_attrs_op_count(attrs->a, attrs->graphs ? attrs->n : 0);
        out->cost_delta_ms -= node_cost(p, out->gone[i]);
    }
    for (int i = 0; i < out->n_come; i++) {
        if (out->come[i].constant) continue;
        out->nodes_come++;
        out->nodes_come += (int)tg_attrs_op_count(out->come[i].attr, (size_t)out->come[i].n_attr);
        out->cost_delta_ms += out->come[i].cost_ms;
    }
}

static const char *run(work *w, const tg_site *site, tg_preview *out)
{
    tg_preview inner = {0};
    bool nested = site->binding->nest;
    tg_status status =
        nested ? nested_instantiate(&w->d, w->p->rules, site, &inner, &w->redirects, &w->n)
               : instantiate(&w->d, site, &w->redirects, &w->n);
    w->unfit = status != TG_OK;
    if (w->unfit) return tg_arena_strdup(w->d.arena, tg_message());
    for (int i = 0; i < w->n; i++)
        w->p->from_stamp[tg_value_node(w->redirects[i].from)] = w->p->now;
    w->come_count = TG_NEW_ARRAY(w->d.arena, uint32_t, w->d.come.n);
    count_uses(w);
    find_dead(w);
    prune(w);
    sum_up(w, out);
    if (nested) {
        out->nodes_gone = inner.nodes_gone;
        out->nodes_come = inner.nodes_come;
    }
    if (site->binding->rule->never_grows && out->nodes_come > out->nodes_gone)
        return "the graph would have more nodes";
    if (!rehash_acyclic(w->p->g, out)) return "the graph would have a cycle";
    bool nothing;
    out->change = rehash_change(w->p->g, out, w->d.arena, &nothing);
    return nothing ? "the graph would stay as it is" : NULL;
}

void preview_run(previewer *p, const tg_site *site, tg_arena *arena, tg_preview *out)
{
    work w = {.p = p, .d = {.g = p->g, .arena = arena}};
    *out = (tg_preview){0};
    p->now++;
    const char *why_not = run(&w, site, out);
    if (why_not) *out = (tg_preview){.why_not = why_not, .unfit = w.unfit};
    else out->ok = true;
    tg_vec_free(&w.d.come);
    tg_vec_free(&w.dead);
    tg_vec_free(&w.gone);
}

tg_status tg_site_preview(const tg_rules *rules, const tg_graph *g, const tg_site *site,
                          tg_arena *arena, tg_preview *out)
{
    previewer p;
    preview_init(&p, rules, g);
    preview_run(&p, site, arena, out);
    preview_done(&p);
    return TG_OK;
}
