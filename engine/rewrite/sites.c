/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All sites of a graph, and those of the next graph from those of the one before. */
#include "preview.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { POLLED = 64 }; /* anchors between two looks at the job */

/* The sites of one body of the graph. */
typedef struct inside {
    uint32_t node, attr;
    tg_sites *sites;
} inside;

struct tg_sites {
    atomic_int refs; /* the sites of a body are shared by those of all graphs that have it */
    tg_arena *arena;
    tg_rules *rules;
    tg_graph *g;
    site_vec list;
    TG_VEC(inside) inside;
};

static tg_sites *sites_new(const tg_rules *rules, const tg_graph *g)
{
    tg_sites *s = tg_calloc(1, sizeof *s);
    atomic_init(&s->refs, 1);
    s->arena = tg_arena_new();
    s->rules = tg_rules_ref(rules);
    s->g = tg_graph_ref(g);
    return s;
}

void tg_sites_free(tg_sites *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; i < s->inside.n; i++) tg_sites_free(s->inside.v[i].sites);
    tg_vec_free(&s->inside);
    tg_vec_free(&s->list);
    tg_arena_free(s->arena);
    tg_graph_unref(s->g);
    tg_rules_unref(s->rules);
    free(s);
}

int tg_sites_count(const tg_sites *s)
{
    return (int)s->list.n;
}

const tg_site *tg_sites_get(const tg_sites *s, int i)
{
    return &s->list.v[i];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By rule, place of the anchor, nodes, place in a body, key. */
static int compare_sites(const void *pa, const void *pb, void *graph)
{
    const tg_site *a = pa, *b = pb;
    const uint32_t *position = ((const tg_graph *)graph)->position;
    int c = compare_numbers((uint64_t)a->rule, (uint64_t)b->rule);
    if (!c) c = compare_numbers(position[a->binding->anchor], position[b->binding->anchor]);
    if (!c) c = compare_numbers((uint64_t)a->n_nodes, (uint64_t)b->n_nodes);
    for (int i = 0; !c && i < a->n_nodes; i++) c = compare_numbers(a->nodes[i], b->nodes[i]);
    const site_nest *x = a->binding->nest, *y = b->binding->nest;
    if (!c && x && y) c = compare_numbers(x->attr, y->attr);
    if (!c && x && y) c = compare_numbers((uint64_t)x->place, (uint64_t)y->place);
    return c ? c : compare_numbers(a->key, b->key);
}

/* Sorts and drops sites that are found twice. */
static void settle(tg_sites *s)
{
    if (s->list.n) qsort_r(s->list.v, s->list.n, sizeof *s->list.v, compare_sites, s->g);
    size_t n = 0;
    for (size_t i = 0; i < s->list.n; i++) {
        if (n && s->list.v[n - 1].key == s->list.v[i].key &&
            s->list.v[n - 1].rule == s->list.v[i].rule)
            continue;
        s->list.v[n++] = s->list.v[i];
    }
    s->list.n = n;
}

static tg_op anchor_op(const tg_rule *rule)
{
    return rule->from[rule->plan.steps[0].node].op;
}

/* Rules by the operator of their anchor: those of op are v[first[op]] ... v[first[op + 1] - 1]. */
typedef struct rule_index {
    int *first, *v;
} rule_index;

static rule_index index_rules(const tg_rules *rules)
{
    int n = tg_rules_count(rules);
    rule_index x = {tg_calloc((size_t)tg_op_row_count + 2, sizeof(int)),
                    tg_calloc((size_t)n + 1, sizeof(int))};
    for (int i = 0; i < n; i++) x.first[anchor_op(tg_rules_rule(rules, i)) + 2]++;
    for (int op = 2; op < tg_op_row_count + 2; op++) x.first[op] += x.first[op - 1];
    for (int i = 0; i < n; i++) x.v[x.first[anchor_op(tg_rules_rule(rules, i)) + 1]++] = i;
    return x;
}

static void index_free(rule_index *x)
{
    free(x->first);
    free(x->v);
}

static bool within(const tg_rule *rule, int distance)
{
    return distance <= rule->radius && rule->radius < RULE_ANYWHERE;
}

/* Tries the rules at the nodes; `distance` (NULL: all 0) to the change must be within reach. */
static tg_status match_at(tg_sites *s, const uint32_t *ids, uint32_t n, const int *distance,
                          const tg_job *job)
{
    matcher *m = match_new(s->rules, s->g, s->arena, &s->list);
    rule_index x = index_rules(s->rules);
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < n && status == TG_OK; i++) {
        const tg_node *node = s->g->nodes[ids[i]];
        if (i % POLLED == 0) status = tg_job_poll(job);
        for (int k = x.first[node->op]; k < x.first[node->op + 1]; k++)
            if (!distance || within(tg_rules_rule(s->rules, x.v[k]), distance[i]))
                match_run(m, x.v[k], node);
    }
    index_free(&x);
    match_free(m);
    return status;
}

/* ---- bodies -------------------------------------------------------------------------------- */

static void add_inner(tg_sites *s, const tg_node *node, uint32_t attr, const tg_sites *inner)
{
    for (size_t i = 0; i < inner->list.n; i++) {
        const tg_site *site = &inner->list.v[i];
        site_nest nest = {attr, (int)i, site};
        tg_site_binding binding = {.rule = site->binding->rule,
                                   .anchor = node->id,
                                   .nest = tg_arena_dup(s->arena, &nest, sizeof nest)};
        tg_vec_push(&s->list,
                    (tg_site){.rule = site->rule,
                              .n_nodes = 1,
                              .nodes = tg_arena_dup(s->arena, &node->id, sizeof node->id),
                              .key = nested_key(node, attr, site->key),
                              .binding = tg_arena_dup(s->arena, &binding, sizeof binding)});
    }
}

/* Those of a body that the graph before had too. */
static tg_sites *known_inside(const tg_sites *old, const tg_graph *body)
{
    for (size_t i = 0; old && i < old->inside.n; i++) {
        tg_sites *inner = old->inside.v[i].sites;
        if (inner->g != body) continue;
        atomic_fetch_add_explicit(&inner->refs, 1, memory_order_relaxed);
        return inner;
    }
    return NULL;
}

static tg_status find_inside(tg_sites *s, const tg_sites *old, const tg_job *job)
{
    for (uint32_t i = 0; i < s->g->n_nodes; i++) {
        const tg_node *node = s->g->nodes[s->g->order[i]];
        for (uint32_t k = 0; node->attrs->graphs && k < node->attrs->n; k++) {
            if (node->attrs->a[k].kind != TG_ATTR_GRAPH) continue;
            tg_sites *inner = known_inside(old, node->attrs->a[k].graph);
            if (!inner) TG_TRY(tg_sites_find(s->rules, node->attrs->a[k].graph, job, &inner));
            tg_vec_push(&s->inside, (inside){node->id, k, inner});
            add_inner(s, node, k, inner);
        }
    }
    return TG_OK;
}

tg_status tg_sites_find(const tg_rules *rules, const tg_graph *g, const tg_job *job, tg_sites **out)
{
    tg_sites *s = sites_new(rules, g);
    tg_status status = match_at(s, g->order, g->n_nodes, NULL, job);
    if (status == TG_OK) status = find_inside(s, NULL, job);
    settle(s);
    if (status == TG_OK) *out = s;
    else tg_sites_free(s);
    return status;
}

/* ---- a site again --------------------------------------------------------------------------- */

tg_site_mark tg_site_mark_of(const tg_site *site)
{
    return (tg_site_mark){site->rule, site->binding->anchor, site->key};
}

static bool pick(const site_vec *list, tg_site_mark mark, tg_site *out)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i].key != mark.key || list->v[i].rule != mark.rule) continue;
        *out = list->v[i];
        return true;
    }
    return false;
}

static void release_sites(void *sites)
{
    tg_sites_free(sites);
}

tg_status tg_site_recall(const tg_rules *rules, const tg_graph *g, tg_site_mark mark,
                         tg_arena *arena, tg_site *out)
{
    const tg_node *node = tg_graph_node(g, mark.anchor);
    site_vec list = {0};
    bool found = false;
    if (!node) return tg_fail(TG_NOTFOUND, "the graph has no node %u", mark.anchor);
    if (!node->attrs->graphs) {
        matcher *m = match_new(rules, g, arena, &list);
        match_run(m, mark.rule, node);
        match_free(m);
        found = pick(&list, mark, out);
        tg_vec_free(&list);
    }
    if (!found && node->attrs->graphs) {
        tg_sites *all;
        TG_TRY(tg_sites_find(rules, g, NULL, &all));
        tg_arena_hold(arena, release_sites, all);
        found = pick(&all->list, mark, out);
    }
    return found ? TG_OK : tg_fail(TG_NOTFOUND, "the graph does not have that site");
}

/* ---- after a step -------------------------------------------------------------------------- */

/* Nodes of the next graph near the change, and how far they are from it. */
typedef struct region {
    const tg_graph *g;
    int *distance; /* by id; -1: not reached */
    TG_VEC(uint32_t) ids;
} region;

static void touch(region *r, uint32_t id, int distance)
{
    if (id == 0 || id >= r->g->n_ids || !r->g->nodes[id] || r->distance[id] >= 0) return;
    r->distance[id] = distance;
    tg_vec_push(&r->ids, id);
}

static void touch_inputs(region *r, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE) touch(r, tg_value_node(node->in[i]), 0);
}

/* What changed itself: new nodes, nodes with other inputs, and nodes with other users. */
static void touch_changes(region *r, const tg_graph *was)
{
    const tg_graph *g = r->g;
    for (uint32_t i = 0; i < g->n_come; i++) {
        touch(r, g->come[i], 0);
        touch_inputs(r, g->nodes[g->come[i]]);
        const tg_node *old = tg_graph_node(was, g->come[i]);
        if (old) touch_inputs(r, old);
    }
    for (uint32_t i = 0; i < g->n_gone; i++) touch_inputs(r, was->nodes[g->gone[i]]);
    const tg_node *a = tg_graph_sink(was), *b = tg_graph_sink(g);
    for (int i = 0; i < b->n_in; i++) {
        if (i < a->n_in && a->in[i] == b->in[i]) continue;
        touch(r, tg_value_node(b->in[i]), 0);
        if (i < a->n_in) touch(r, tg_value_node(a->in[i]), 0);
    }
}

/* Neighbours up to `most` edges away; rules do not look through constants. */
static void spread(region *r, int most)
{
    for (size_t i = 0; i < r->ids.n; i++) {
        const tg_node *node = r->g->nodes[r->ids.v[i]];
        int next = r->distance[node->id] + 1;
        uint32_t n;
        if (next > most || (node->constant && next > 1)) continue;
        const tg_use *use = tg_graph_uses(r->g, node->id, &n);
        for (uint32_t k = 0; k < n; k++) touch(r, use[k].node, next);
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE) touch(r, tg_value_node(node->in[k]), next);
    }
}

static int widest(const tg_rules *rules)
{
    int most = 0;
    for (int i = 0; i < tg_rules_count(rules); i++)
        if (tg_rules_rule(rules, i)->radius > most &&
            tg_rules_rule(rules, i)->radius < RULE_ANYWHERE)
            most = tg_rules_rule(rules, i)->radius;
    return most;
}

static bool changed(const region *r, const tg_graph *was, uint32_t id)
{
    if (id == tg_value_node(TG_NO_VALUE)) return false;
    return id >= r->g->n_ids || r->g->nodes[id] != was->nodes[id] || r->distance[id] == 0;
}

/* True if everything that the site was found by is as it was. */
static bool still_holds(const region *r, const tg_graph *was, const tg_site *site)
{
    const tg_site_binding *b = site->binding;
    uint32_t anchor = b->anchor;
    if (b->rule->radius >= RULE_ANYWHERE) return false; /* found afresh */
    for (int i = 0; i < site->n_nodes; i++)
        if (changed(r, was, site->nodes[i])) return false;
    if (r->distance[anchor] >= 0 && r->distance[anchor] <= b->rule->radius) return false;
    for (int i = 0; i < b->rule->n_values; i++) {
        if (b->has_value >> i & 1 && changed(r, was, tg_value_node(b->values[i]))) return false;
        if (!(b->has_list >> i & 1)) continue;
        for (int k = 0; k < b->lists[i].n; k++)
            if (changed(r, was, tg_value_node(b->lists[i].v[k]))) return false;
    }
    return true;
}

static void *copy(tg_arena *arena, const void *p, size_t n, size_t size)
{
    return p ? tg_arena_dup(arena, p, n * size) : NULL;
}

static void keep_site(tg_sites *s, const tg_site *site)
{
    const tg_site_binding *b = site->binding;
    const tg_rule *rule = b->rule;
    tg_site kept = *site;
    tg_site_binding *mine = tg_arena_dup(s->arena, b, sizeof *b);
    size_t values = (size_t)rule->n_values, rests = (size_t)rule->n_rests;
    kept.nodes = copy(s->arena, site->nodes, (size_t)site->n_nodes, sizeof *site->nodes);
    mine->values = copy(s->arena, b->values, values, sizeof *b->values);
    mine->params = copy(s->arena, b->params, (size_t)rule->n_params, sizeof *b->params);
    mine->rests = copy(s->arena, b->rests, rests, sizeof *b->rests);
    mine->rest_mask = copy(s->arena, b->rest_mask, rests, sizeof *b->rest_mask);
    value_list *lists = copy(s->arena, b->lists, values, sizeof *b->lists);
    for (int i = 0; lists && i < rule->n_values; i++)
        if (b->has_list >> i & 1)
            lists[i].v = copy(s->arena, lists[i].v, (size_t)lists[i].n, sizeof *lists[i].v);
    mine->lists = lists;
    kept.binding = mine;
    tg_vec_push(&s->list, kept);
}

/* Rules whose lines are not connected may pair what changed with any node. */
static tg_status match_anywhere(tg_sites *s, const tg_job *job)
{
    int n = tg_rules_count(s->rules);
    matcher *m = match_new(s->rules, s->g, s->arena, &s->list);
    tg_status status = TG_OK;
    for (int r = 0; r < n && status == TG_OK; r++) {
        if (tg_rules_rule(s->rules, r)->radius < RULE_ANYWHERE) continue;
        status = tg_job_poll(job);
        for (uint32_t i = 0; i < s->g->n_nodes; i++) match_run(m, r, s->g->nodes[s->g->order[i]]);
    }
    match_free(m);
    return status;
}

/* Maps positions back: the ids and distances that match_at takes. */
static tg_status match_region(tg_sites *s, const region *r, const tg_job *job)
{
    int *distance = tg_malloc((r->ids.n + 1) * sizeof *distance);
    for (size_t i = 0; i < r->ids.n; i++) distance[i] = r->distance[r->ids.v[i]];
    tg_status status = match_at(s, r->ids.v, (uint32_t)r->ids.n, distance, job);
    free(distance);
    return status;
}

tg_status tg_sites_update(const tg_sites *old, const tg_graph *next, const tg_job *job,
                          tg_sites **out)
{
    tg_sites *s = sites_new(old->rules, next);
    region r = {.g = next, .distance = tg_malloc(next->n_ids * sizeof(int))};
    memset(r.distance, 0xff, next->n_ids * sizeof(int));
    touch_changes(&r, old->g);
    spread(&r, widest(s->rules));
    for (size_t i = 0; i < old->list.n; i++)
        if (!old->list.v[i].binding->nest && still_holds(&r, old->g, &old->list.v[i]))
            keep_site(s, &old->list.v[i]);
    tg_status status = match_region(s, &r, job);
    if (status == TG_OK) status = find_inside(s, old, job);
    if (status == TG_OK) status = match_anywhere(s, job);
    settle(s);
    free(r.distance);
    tg_vec_free(&r.ids);
    if (status == TG_OK) *out = s;
    else tg_sites_free(s);
    return status;
}
