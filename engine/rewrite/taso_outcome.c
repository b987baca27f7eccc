/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph that a match leads to, without building it: the new operators, and a topological walk
 * over them and all that lies behind the match, which finds cycles and hashes on its way.
 */
#include "taso_outcome.h"

#include <stdlib.h>
#include <string.h>

void taso_maker_init(taso_maker *m, const taso_view *view, tg_arena *arena)
{
    *m = (taso_maker){.view = view, .arena = arena};
    m->matched = TG_NEW_ARRAY(arena, int, view->n);
    m->below = TG_NEW_ARRAY(arena, int, view->n);
    m->waits = TG_NEW_ARRAY(arena, int, view->n);
    m->hash = TG_NEW_ARRAY(arena, uint64_t, view->n);
    m->list = TG_NEW_ARRAY(arena, int, view->n + TASO_OPS);
}

/* ---- new operators -------------------------------------------------------------------------- */

typedef struct news {
    const taso_match *match;
    taso_shape out[TASO_OPS][2];
    uint64_t object[TASO_OPS], hash[TASO_OPS];
    int waits[TASO_OPS];
} news;

static bool infer_all(taso_maker *m, news *w)
{
    const taso_rule *rule = w->match->rule;
    for (int i = 0; i < rule->n_to; i++) {
        const taso_op *op = &rule->to[i];
        const taso_shape *in[TASO_INPUTS];
        for (int k = 0; k < op->n_in; k++) {
            taso_tensor t = op->in[k];
            if (t.op >= 0) {
                in[k] = &w->out[t.op][t.port];
            } else {
                taso_value v = w->match->var[~t.op];
                in[k] = &m->view->nodes[v.node].out[v.port];
            }
        }
        if (!taso_infer(m->arena, op, in, w->out[i])) return false;
        w->object[i] = taso_object(op, in, op->n_in, true);
    }
    return true;
}

static const taso_result *result_of(const taso_rule *rule, int source, int port)
{
    for (int i = 0; i < rule->n_results; i++)
        if (rule->results[i].source == source && rule->results[i].source_port == port)
            return &rule->results[i];
    return NULL;
}

/* A value that the rule does not map is used by a node that it does not match. */
static bool used_outside(const taso_maker *m, const taso_match *match)
{
    for (int i = 0; i < match->rule->n_from; i++) {
        const taso_node *node = &m->view->nodes[match->node[i]];
        for (int k = 0; k < node->n_uses; k++)
            if (m->matched[node->uses[k].node] != m->now &&
                !result_of(match->rule, i, node->uses[k].port))
                return true;
    }
    return false;
}

/* A variable stands for a value of a node that goes: TASO is left with a dangling edge. */
static bool dangles(const taso_maker *m, const taso_match *match)
{
    const taso_rule *rule = match->rule;
    for (int i = 0; i < rule->n_to; i++)
        for (int k = 0; k < rule->to[i].n_in; k++) {
            int op = rule->to[i].in[k].op;
            if (op < 0 && m->matched[match->var[~op].node] == m->now) return true;
        }
    return false;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static void reach(taso_maker *m, int node)
{
    const taso_node *from = &m->view->nodes[node];
    for (int k = 0; k < from->n_uses; k++) {
        int user = from->uses[k].node;
        if (m->matched[user] == m->now) continue;
        if (m->below[user] != m->now) {
            m->below[user] = m->now;
            m->waits[user] = 0;
            m->list[m->n_list++] = user;
        }
        m->waits[user]++;
    }
}

/* Marks all nodes behind the match and counts for what they wait. */
static void find_below(taso_maker *m, news *w)
{
    const taso_rule *rule = w->match->rule;
    m->n_list = 0;
    for (int i = 0; i < rule->n_from; i++) reach(m, w->match->node[i]);
    for (int i = 0; i < m->n_list; i++) reach(m, m->list[i]);
    for (int i = 0; i < rule->n_to; i++) {
        w->waits[i] = 0;
        for (int k = 0; k < rule->to[i].n_in; k++) {
            int op = rule->to[i].in[k].op;
            w->waits[i] += op >= 0 || m->below[w->match->var[~op].node] == m->now;
        }
    }
}

/* Ready nodes: new operators as ~number, nodes of the graph as themselves. */
typedef struct ready {
    int *v;
    int n;
} ready;

static void let_go(int *waits, int what, ready *r)
{
    if (--*waits == 0) r->v[r->n++] = what;
}

static int source_of(const taso_match *match, int node)
{
    int i = 0;
    while (match->node[i] != node) i++;
    return i;
}

static void finish_new(taso_maker *m, news *w, int i, ready *r)
{
    const taso_rule *rule = w->match->rule;
    const taso_op *op = &rule->to[i];
    w->hash[i] = w->object[i];
    for (int k = 0; k < op->n_in; k++) {
        taso_tensor t = op->in[k];
        taso_value v = t.op < 0 ? w->match->var[~t.op] : (taso_value){0, t.port};
        uint64_t h = t.op >= 0                    ? w->hash[t.op]
                     : m->below[v.node] == m->now ? m->hash[v.node]
                                                  : m->view->nodes[v.node].hash;
        w->hash[i] = taso_node_hash(w->hash[i], h, v.port);
    }
    for (int k = i + 1; k < rule->n_to; k++)
        for (int s = 0; s < rule->to[k].n_in; s++)
            if (rule->to[k].in[s].op == i) let_go(&w->waits[k], ~k, r);
    for (int k = 0; k < rule->n_results; k++) {
        if (rule->results[k].op != i) continue;
        const taso_node *old = &m->view->nodes[w->match->node[rule->results[k].source]];
        for (int u = 0; u < old->n_uses; u++)
            if (old->uses[u].port == rule->results[k].source_port &&
                m->matched[old->uses[u].node] != m->now)
                let_go(&m->waits[old->uses[u].node], old->uses[u].node, r);
    }
}

static void finish_old(taso_maker *m, news *w, int node, ready *r)
{
    const taso_node *old = &m->view->nodes[node];
    const taso_rule *rule = w->match->rule;
    uint64_t h = old->object;
    for (int k = 0; k < old->n_in; k++) {
        taso_value in = old->in[k];
        if (m->matched[in.node] == m->now) {
            const taso_result *to = result_of(rule, source_of(w->match, in.node), in.port);
            h = taso_node_hash(h, w->hash[to->op], to->port);
        } else {
            bool changed = m->below[in.node] == m->now;
            h = taso_node_hash(h, changed ? m->hash[in.node] : m->view->nodes[in.node].hash,
                               in.port);
        }
    }
    m->hash[node] = h;
    for (int k = 0; k < old->n_uses; k++)
        if (m->matched[old->uses[k].node] != m->now)
            let_go(&m->waits[old->uses[k].node], old->uses[k].node, r);
    for (int i = 0; i < rule->n_to; i++)
        for (int k = 0; k < rule->to[i].n_in; k++) {
            int op = rule->to[i].in[k].op;
            if (op < 0 && w->match->var[~op].node == node) let_go(&w->waits[i], ~i, r);
        }
}

static bool walk(taso_maker *m, news *w)
{
    const taso_rule *rule = w->match->rule;
    int all = m->n_list + rule->n_to, done = 0;
    ready r = {tg_malloc((size_t)all * sizeof(int)), 0};
    for (int i = 0; i < rule->n_to; i++)
        if (!w->waits[i]) r.v[r.n++] = ~i;
    m->sum = m->view->sum;
    while (r.n) {
        int at = r.v[--r.n];
        done++;
        if (at < 0) {
            finish_new(m, w, ~at, &r);
            m->sum += w->hash[~at];
        } else {
            finish_old(m, w, at, &r);
            m->sum += m->hash[at] - m->view->nodes[at].hash;
        }
    }
    for (int i = 0; i < rule->n_from; i++) m->sum -= m->view->nodes[w->match->node[i]].hash;
    free(r.v);
    return done == all;
}

taso_outcome taso_make(taso_maker *m, const taso_match *match)
{
    news w = {.match = match};
    m->now++;
    for (int i = 0; i < match->rule->n_from; i++) m->matched[match->node[i]] = m->now;
    if (!infer_all(m, &w)) return TASO_BAD_SHAPE;
    if (used_outside(m, match)) return TASO_EXTERNAL;
    if (dangles(m, match)) return TASO_LOOP;
    find_below(m, &w);
    return walk(m, &w) ? TASO_GRAPH : TASO_LOOP;
}
