/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A preview of the graph before, taken over for a site that is still there. What a preview says
 * depends on the matched nodes and on who uses the values that it lets go or reads; where all of
 * these are as they were, only ids of new nodes, the cycle test and the hash are new.
 */
#include "reuse.h"

#include <stdlib.h>
#include <string.h>

enum { SAME, OTHER_USERS, OTHER_NODE };

struct reuser {
    const tg_graph *was, *now;
    unsigned char *state; /* by id of both */
};

static bool same_users(const tg_graph *a, const tg_graph *b, uint32_t id)
{
    uint32_t n, m;
    const tg_use *x = tg_graph_uses(a, id, &n), *y = tg_graph_uses(b, id, &m);
    if (n != m) return false;
    for (uint32_t i = 0; i < n; i++)
        if (x[i].node != y[i].node || x[i].slot != y[i].slot || x[i].port != y[i].port)
            return false;
    return true;
}

reuser *reuse_new(const tg_graph *was, const tg_graph *now)
{
    reuser *r = tg_calloc(1, sizeof *r);
    r->was = was;
    r->now = now;
    r->state = tg_malloc(was->n_ids + 1);
    for (uint32_t id = 0; id < was->n_ids; id++) {
        bool node = id < now->n_ids && was->nodes[id] && was->nodes[id] == now->nodes[id];
        r->state[id] = !node ? OTHER_NODE : same_users(was, now, id) ? SAME : OTHER_USERS;
    }
    return r;
}

void reuse_free(reuser *r)
{
    if (!r) return;
    free(r->state);
    free(r);
}

static bool is_same(const reuser *r, tg_value v, int worst)
{
    uint32_t id = tg_value_node(v);
    return v == TG_NO_VALUE || id >= r->was->n_ids || r->state[id] <= worst;
}

static bool same_binding(const reuser *r, const tg_site *site)
{
    const tg_site_binding *b = site->binding;
    for (int i = 0; i < site->n_nodes; i++)
        if (site->nodes[i] >= r->was->n_ids || r->state[site->nodes[i]] != SAME) return false;
    for (int i = 0; i < b->rule->n_values; i++) {
        if (b->has_value >> i & 1 && !is_same(r, b->values[i], OTHER_USERS)) return false;
        for (int k = 0; b->has_list >> i & 1 && k < b->lists[i].n; k++)
            if (!is_same(r, b->lists[i].v[k], OTHER_USERS)) return false;
    }
    return true;
}

/* What the preview lets go and reads is used by whom it was. */
static bool same_reach(const reuser *r, const tg_preview *p)
{
    for (int i = 0; i < p->n_gone; i++) {
        if (r->state[p->gone[i]] != SAME) return false;
        const tg_node *node = r->was->nodes[p->gone[i]];
        for (int k = 0; k < node->n_in; k++)
            if (!is_same(r, node->in[k], SAME)) return false;
    }
    for (int i = 0; i < p->n_come; i++)
        for (int k = 0; k < p->come[i].n_in; k++)
            if (!is_same(r, p->come[i].in[k], SAME)) return false;
    for (int i = 0; i < p->n_redirects; i++)
        if (!is_same(r, p->redirects[i].from, SAME) || !is_same(r, p->redirects[i].to, SAME))
            return false;
    return true;
}

/* Numbers and texts are copied; other attributes are not taken over. */
static bool copy_attr(tg_arena *arena, tg_attr *a)
{
    switch (a->kind) {
    case TG_ATTR_NONE:
    case TG_ATTR_INT:
    case TG_ATTR_FLOAT: return true;
    case TG_ATTR_STR: a->s = tg_arena_strndup(arena, a->s, a->n); return true;
    case TG_ATTR_INTS: a->ints = tg_arena_dup(arena, a->ints, a->n * sizeof *a->ints); return true;
    default: return false;
    }
}

static void release_weight(void *w)
{
    tg_weight_unref(w);
}

static tg_value moved(const reuser *r, tg_value v)
{
    uint32_t id = tg_value_node(v);
    if (v == TG_NO_VALUE || id < r->was->n_ids) return v;
    return tg_value_of(id - r->was->n_ids + r->now->n_ids, tg_value_port(v));
}

static bool copy_node(const reuser *r, tg_arena *arena, tg_preview_node *node)
{
    tg_attr *attr = tg_arena_dup(arena, node->attr, (size_t)node->n_attr * sizeof *attr);
    tg_value *in = tg_arena_dup(arena, node->in, node->n_in * sizeof *in);
    for (int i = 0; i < node->n_attr; i++)
        if (!copy_attr(arena, &attr[i])) return false;
    for (int i = 0; i < node->n_in; i++) in[i] = moved(r, in[i]);
    node->attr = attr;
    node->in = in;
    node->out = tg_arena_dup(arena, node->out, node->n_out * sizeof *node->out);
    if (node->weight) tg_arena_hold(arena, release_weight, tg_weight_ref(node->weight));
    return true;
}

static bool copy(const reuser *r, const tg_preview *from, tg_arena *arena, tg_preview *out)
{
    tg_preview_node *come = tg_arena_dup(arena, from->come, (size_t)from->n_come * sizeof *come);
    size_t n = (size_t)from->n_redirects;
    tg_preview_redirect *redirects = tg_arena_dup(arena, from->redirects, n * sizeof *redirects);
    for (int i = 0; i < from->n_come; i++)
        if (!copy_node(r, arena, &come[i])) return false;
    for (size_t i = 0; i < n; i++) redirects[i].to = moved(r, redirects[i].to);
    *out = *from;
    out->come = come;
    out->redirects = redirects;
    out->gone = tg_arena_dup(arena, from->gone, (size_t)from->n_gone * sizeof *from->gone);
    return true;
}

bool reuse_preview(const reuser *r, const tg_site *site, const tg_preview *from, tg_arena *arena,
                   tg_preview *out)
{
    bool nothing;
    tg_preview p;
    if (!from->ok || !same_binding(r, site) || !same_reach(r, from)) return false;
    if (!copy(r, from, arena, &p) || !rehash_acyclic(r->now, &p)) return false;
    p.change = rehash_change(r->now, &p, arena, &nothing);
    if (nothing) return false;
    *out = p;
    return true;
}
