/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TASO's matches, found from tensors that are already bound instead of by trying every node. */
#include "taso.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "taso_outcome.h"

#include <stdio.h>

enum { LARGEST_FILE = 16 << 20, POLLED = 256 };

/* How the node of a source operator is found once those before it are. */
typedef struct step {
    enum { BY_KIND, BY_USER, BY_MAKER } how;
    int op;
    taso_tensor via; /* BY_USER: a bound tensor that it reads; BY_MAKER: its output */
} step;

typedef struct search {
    const taso_view *view;
    taso_maker maker;
    tg_map seen; /* sums of graphs */
    taso_match match;
    bool has_node[TASO_OPS], has_var[TASO_VARS];
    step steps[TASO_OPS];
    tg_taso_count count;
    const tg_job *job;
    int polled;
    bool cancelled;
} search;

/* ---- the order of a rule's operators -------------------------------------------------------- */

static bool reads(const taso_op *op, taso_tensor t)
{
    for (int i = 0; i < op->n_in; i++)
        if (op->in[i].op == t.op && op->in[i].port == t.port) return true;
    return false;
}

/* The step that finds operator i by an edge to the operators found so far, if there is one. */
static bool find_step(const taso_rule *rule, int i, unsigned done, step *out)
{
    const taso_op *op = &rule->from[i];
    for (int k = 0; k < rule->n_from; k++) {
        if (!(done >> k & 1)) continue;
        for (int s = 0; s < rule->from[k].n_in; s++) {
            taso_tensor t = rule->from[k].in[s];
            *out = (step){t.op == i ? BY_MAKER : BY_USER, i, t};
            if (t.op == i || (t.op < 0 && reads(op, t))) return true;
        }
        for (int s = 0; s < op->n_in; s++)
            if (op->in[s].op == k) {
                *out = (step){BY_USER, i, op->in[s]};
                return true;
            }
    }
    return false;
}

static void order_ops(search *x, const taso_rule *rule)
{
    unsigned done = 0, all = (1u << rule->n_from) - 1;
    for (int n = 0; done != all; n++) {
        step s = {BY_KIND, 0, {0, 0}};
        bool found = false;
        for (int i = 0; i < rule->n_from && !found; i++)
            if (!(done >> i & 1)) found = find_step(rule, i, done, &s);
        /* The last operator has the most behind it. */
        for (int i = 0; i < rule->n_from && !found; i++)
            if (!(done >> i & 1)) s = (step){BY_KIND, i, {0, 0}};
        x->steps[n] = s;
        done |= 1u << s.op;
    }
}

/* ---- matching ------------------------------------------------------------------------------- */

static bool params_fit(const taso_op *want, const taso_node *node)
{
    const taso_op *op = &node->op;
    if (op->kind != want->kind || node->n_in != want->n_in) return false;
    switch (want->kind) {
    case TASO_CONV:
        return op->stride == want->stride && op->pad == want->pad && op->acti == want->acti;
    case TASO_MATMUL: return op->acti == want->acti;
    case TASO_CONCAT: return op->axis == want->axis;
    default: return true;
    }
}

/* The tests of shapes that TASO makes on source operators too. */
static bool shapes_fit(const taso_view *view, const taso_op *want, const taso_node *node)
{
    const taso_shape *in[TASO_INPUTS];
    for (int i = 0; i < want->n_in; i++)
        in[i] = &view->nodes[node->in[i].node].out[node->in[i].port];
    if (want->kind == TASO_MATMUL)
        return in[0]->rank >= 2 && in[1]->rank >= 1 && in[1]->dim[0] == in[0]->dim[1];
    return want->kind != TASO_CONCAT || in[0]->rank == want->rank;
}

static bool same_value(taso_value a, taso_value b)
{
    return a.node == b.node && a.port == b.port;
}

/* Edges between node and the nodes matched so far are those of the rule. Bits of new variables. */
static bool bind(search *x, int i, int node, unsigned *bound)
{
    const taso_rule *rule = x->match.rule;
    const taso_op *op = &rule->from[i];
    const taso_value *in = x->view->nodes[node].in;
    for (int s = 0; s < op->n_in; s++) {
        taso_tensor t = op->in[s];
        if (t.op >= 0) {
            if (x->has_node[t.op] && !same_value(in[s], (taso_value){x->match.node[t.op], t.port}))
                return false;
        } else if (x->has_var[~t.op]) {
            if (!same_value(in[s], x->match.var[~t.op])) return false;
        } else {
            x->match.var[~t.op] = in[s];
            x->has_var[~t.op] = true;
            *bound |= 1u << ~t.op;
        }
    }
    for (int k = 0; k < rule->n_from; k++)
        for (int s = 0; x->has_node[k] && s < rule->from[k].n_in; s++) {
            taso_tensor t = rule->from[k].in[s];
            if (t.op == i &&
                !same_value(x->view->nodes[x->match.node[k]].in[s], (taso_value){node, t.port}))
                return false;
        }
    return true;
}

static void complete(search *x)
{
    tg_taso_count *c = &x->count;
    bool fresh = false;
    c->full++;
    if (++x->polled % POLLED == 0 && tg_job_poll(x->job) != TG_OK) x->cancelled = true;
    switch (taso_make(&x->maker, &x->match)) {
    case TASO_BAD_SHAPE: c->bad_shape++; return;
    case TASO_EXTERNAL: c->external++; return;
    case TASO_LOOP: c->loops++; break;
    case TASO_GRAPH: tg_map_put(&x->seen, x->maker.sum, &fresh); break;
    }
    c->graphs++;
    c->distinct += fresh;
}

static void run(search *x, int n);

static void try_node(search *x, int n, int node)
{
    const taso_rule *rule = x->match.rule;
    int i = x->steps[n].op;
    const taso_node *at = &x->view->nodes[node];
    if (x->cancelled || !params_fit(&rule->from[i], at)) return;
    for (int k = 0; k < rule->n_from; k++)
        if (x->has_node[k] && x->match.node[k] == node) return;
    if (!shapes_fit(x->view, &rule->from[i], at)) return;
    unsigned bound = 0;
    if (bind(x, i, node, &bound)) {
        x->match.node[i] = node;
        x->has_node[i] = true;
        run(x, n + 1);
        x->has_node[i] = false;
    }
    for (int v = 0; v < TASO_VARS; v++)
        if (bound >> v & 1) x->has_var[v] = false;
}

static taso_value bound_to(const search *x, taso_tensor t)
{
    return t.op < 0 ? x->match.var[~t.op] : (taso_value){x->match.node[t.op], t.port};
}

/* The maker is what the tensor's user reads. */
static int maker_of(const search *x, taso_tensor t)
{
    const taso_rule *rule = x->match.rule;
    for (int k = 0; k < rule->n_from; k++)
        for (int s = 0; x->has_node[k] && s < rule->from[k].n_in; s++)
            if (rule->from[k].in[s].op == t.op && rule->from[k].in[s].port == t.port)
                return x->view->nodes[x->match.node[k]].in[s].node;
    return 0;
}

static void run(search *x, int n)
{
    if (n == x->match.rule->n_from) {
        complete(x);
        return;
    }
    const step *s = &x->steps[n];
    taso_kind kind = x->match.rule->from[s->op].kind;
    if (s->how == BY_MAKER) {
        try_node(x, n, maker_of(x, s->via));
    } else if (s->how == BY_KIND) {
        for (int i = 0; i < x->view->n_kind[kind]; i++) try_node(x, n, x->view->by_kind[kind][i]);
    } else {
        taso_value v = bound_to(x, s->via);
        const taso_node *from = &x->view->nodes[v.node];
        for (int i = 0, last = -1; i < from->n_uses; i++) {
            if (from->uses[i].port != v.port || from->uses[i].node == last) continue;
            last = from->uses[i].node;
            try_node(x, n, last);
        }
    }
}

/* ---- the report ----------------------------------------------------------------------------- */

typedef TG_VEC(tg_taso_count) count_list;

static void run_rules(search *x, const taso_rules *rules, count_list *list, tg_taso_report *r)
{
    for (int i = 0; i < rules->n && !x->cancelled; i++) {
        x->match.rule = &rules->v[i];
        x->count = (tg_taso_count){.full = 0};
        snprintf(x->count.rule, sizeof x->count.rule, "%s", rules->v[i].name);
        order_ops(x, x->match.rule);
        run(x, 0);
        if (!x->count.full) continue;
        tg_vec_push(list, x->count);
        r->graphs += x->count.graphs;
        r->loops += x->count.loops;
        r->distinct += x->count.distinct;
    }
}

static tg_status run_all(const taso_rules *built_in, const taso_rules *rules, const tg_graph *g,
                         const tg_job *job, tg_arena *arena, tg_taso_report *out)
{
    taso_view view;
    count_list list = {0};
    int64_t start = tg_clock_ns();
    *out = (tg_taso_report){0};
    taso_view_make(g, arena, &view);
    search *x = tg_calloc(1, sizeof *x);
    x->view = &view;
    x->job = job;
    taso_maker_init(&x->maker, &view, arena);
    tg_map_put(&x->seen, view.sum, NULL);
    run_rules(x, built_in, &list, out);
    run_rules(x, rules, &list, out);
    out->ms = (double)(tg_clock_ns() - start) / 1e6;
    out->nodes = view.n + view.n_pools;
    out->ops = view.n - view.n_kind[TASO_SOURCE];
    out->rules = list.v;
    out->n_rules = (int)list.n;
    tg_status status = x->cancelled ? tg_fail(TG_CANCELLED, "cancelled") : TG_OK;
    if (status != TG_OK) tg_vec_free(&list);
    tg_map_free(&x->seen);
    free(x);
    return status;
}

tg_status tg_taso_exact(const char *path, const tg_graph *g, const tg_job *job, tg_taso_report *out)
{
    char *data;
    size_t size;
    TG_TRY(tg_read_file(path, LARGEST_FILE, &data, &size));
    tg_arena *arena = tg_arena_new();
    taso_rules built_in = taso_built_in(arena), rules;
    tg_status status = taso_decode(data, size, path, arena, &rules);
    if (status == TG_OK) status = run_all(&built_in, &rules, g, job, arena, out);
    tg_arena_free(arena);
    free(data);
    return status;
}

void tg_taso_report_done(tg_taso_report *report)
{
    free(report->rules);
    *report = (tg_taso_report){0};
}
