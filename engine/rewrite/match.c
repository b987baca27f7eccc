/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The matcher: backtracking over the steps of a rule's plan. What is bound is a set of bits, so
 * that going back is restoring five words.
 */
#include "match.h"

#include "engine/base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BIT(i) ((uint64_t)1 << (i))

/* A match of the each lines: their nodes and values, by their order in the rule. */
typedef struct element {
    uint32_t nodes[RULE_NODES];
    tg_value values[RULE_VALUES];
} element;

struct matcher {
    const tg_rules *rules;
    const tg_graph *g;
    tg_arena *arena;   /* of the sites */
    tg_arena *scratch; /* of one run */
    site_vec *sites;
    uint64_t skip;
    const tg_rule *rule;
    int index;
    uint32_t anchor;
    names names;
    uint32_t nodes[RULE_NODES];
    uint64_t has_node;
    uint64_t each_nodes, each_values;
    TG_VEC(element) elements;
    names kept;      /* as the newest element left them */
    size_t wanted;   /* no more elements than this one more */
    bool collecting; /* an element is being matched */
    bool beaten;     /* an earlier element leads: this match is another one's */
    uint32_t leader; /* first node of the element that the match began with */
};

/* What is bound at one time. */
typedef struct mark {
    uint64_t value, list, param, rest, node;
} mark;

/* A node being tried in a step. */
typedef struct attempt {
    const rule_plan *plan;
    int step;
    const rule_node *pattern;
    const tg_node *node;
    bool swapped;
} attempt;

static void run_step(matcher *m, const rule_plan *plan, int step);

static mark mark_now(const matcher *m)
{
    return (mark){m->names.has_value, m->names.has_list, m->names.has_param, m->names.has_rest,
                  m->has_node};
}

static void go_back(matcher *m, const mark *to)
{
    m->names.has_value = to->value;
    m->names.has_list = to->list;
    m->names.has_param = to->param;
    m->names.has_rest = to->rest;
    m->has_node = to->node;
}

static eval make_eval(matcher *m, bool in_element)
{
    return (eval){.g = m->g,
                  .rule = m->rule,
                  .arena = m->scratch,
                  .has_value = m->names.has_value,
                  .has_list = m->names.has_list,
                  .has_param = m->names.has_param,
                  .values = m->names.values,
                  .lists = m->names.lists,
                  .params = m->names.params,
                  .element = in_element};
}

/* ---- binding ------------------------------------------------------------------------------- */

static bool bind_param(matcher *m, int slot, const tg_attr *value)
{
    if (m->names.has_param & BIT(slot)) return tg_attr_equal(&m->names.params[slot], value);
    m->names.params[slot] = *value;
    m->names.has_param |= BIT(slot);
    return true;
}

static bool bind_dim(matcher *m, const rule_dim *dim, const int64_t *at, int n)
{
    tg_attr value = dim->kind == DIM_SPLICE ? TG_ATTR_OF_INTS(at, n) : TG_ATTR_OF_INT(*at);
    for (int i = 0; i < n; i++)
        if (at[i] < 0) return false;
    if (dim->kind == DIM_INT) return *at == dim->i;
    return dim->kind == DIM_ANY || bind_param(m, dim->slot, &value);
}

static bool bind_shape(matcher *m, const rule_value *v, const tg_shape *shape)
{
    int splices = 0;
    for (int i = 0; i < v->n_dims; i++) splices += v->dims[i].kind == DIM_SPLICE;
    int extra = (int)shape->rank - (v->n_dims - splices);
    if (shape->rank < 0 || extra < 0 || (!splices && extra)) return false;
    for (int i = 0, at = 0; i < v->n_dims; i++) {
        int n = v->dims[i].kind == DIM_SPLICE ? extra : 1;
        if (!bind_dim(m, &v->dims[i], shape->dim + at, n)) return false;
        at += n;
    }
    return true;
}

static bool bind_value(matcher *m, int slot, tg_value value)
{
    const rule_value *v = &m->rule->values[slot];
    if (m->names.has_value & BIT(slot)) return m->names.values[slot] == value;
    if (value == TG_NO_VALUE) {
        if (!v->optional) return false;
    } else if (v->number) {
        double x;
        if (!eval_uniform(m->g, value, m->scratch, &x)) return false;
        bool whole = tg_dtype_kind(tg_graph_type(m->g, value)->dtype) != 'f';
        tg_attr a = whole ? TG_ATTR_OF_INT((int64_t)x) : TG_ATTR_OF_FLOAT((float)x);
        if (!whole && (double)(float)x != x) return false;
        if (!bind_param(m, v->param, &a)) return false;
    } else if (v->shaped && !bind_shape(m, v, &tg_graph_type(m->g, value)->shape)) {
        return false;
    }
    m->names.values[slot] = value;
    m->names.has_value |= BIT(slot);
    return true;
}

static bool bind_list(matcher *m, int slot, const tg_value *v, int n)
{
    const rule_value *value = &m->rule->values[slot];
    if (m->names.has_list & BIT(slot)) {
        const value_list *old = &m->names.lists[slot];
        return old->n == n && (!n || memcmp(old->v, v, (size_t)n * sizeof *v) == 0);
    }
    for (int i = 0; i < n; i++) {
        if (v[i] == TG_NO_VALUE) return false;
        if (value->shaped && !bind_shape(m, value, &tg_graph_type(m->g, v[i])->shape)) return false;
    }
    m->names.lists[slot] = (value_list){v, n};
    m->names.has_list |= BIT(slot);
    return true;
}

/* ---- attributes ---------------------------------------------------------------------------- */

static bool match_expr(matcher *m, const expr *e, const tg_attr *a, int64_t rank);

static bool match_list(matcher *m, const expr *e, const tg_attr *a, int64_t rank)
{
    int splices = 0;
    for (int i = 0; i < e->n_args; i++) splices += e->args[i]->kind == EXPR_SPLICE;
    if (a->kind != TG_ATTR_INTS || splices > 1) return false;
    int extra = (int)a->n - (e->n_args - splices);
    if (extra < 0 || (!splices && extra)) return false;
    for (int i = 0, at = 0; i < e->n_args; i++) {
        bool splice = e->args[i]->kind == EXPR_SPLICE;
        int n = splice ? extra : 1;
        tg_attr part = splice ? TG_ATTR_OF_INTS(a->ints + at, n) : TG_ATTR_OF_INT(a->ints[at]);
        if (!match_expr(m, splice ? e->args[i]->args[0] : e->args[i], &part, rank)) return false;
        at += n;
    }
    return true;
}

/* `rank` makes negative axes of the pattern comparable; 0 for other attributes. */
static bool match_expr(matcher *m, const expr *e, const tg_attr *a, int64_t rank)
{
    switch (e->kind) {
    case EXPR_ANY: return true;
    case EXPR_INT:
        return (a->kind == TG_ATTR_INT && a->i == (e->i < 0 ? e->i + rank : e->i)) ||
               (a->kind == TG_ATTR_FLOAT && (double)a->f == (double)e->i);
    case EXPR_FLOAT: return a->kind == TG_ATTR_FLOAT && a->f == (float)e->f;
    case EXPR_STR: return a->kind == TG_ATTR_STR && strcmp(a->s, e->s) == 0;
    case EXPR_PARAM: return bind_param(m, e->slot, a);
    case EXPR_LIST: return match_list(m, e, a, rank);
    default: return false;
    }
}

static int64_t axis_rank(const matcher *m, const tg_node *node, const char *name)
{
    if (strncmp(name, "ax", 2) != 0 || !node->n_in) return 0;
    const char *op = tg_op_get(node->op)->name;
    if (strcmp(op, "Unsqueeze") == 0) return node->out[0].shape.rank;
    return tg_graph_type(m->g, node->in[0])->shape.rank;
}

static bool bind_rest(matcher *m, const rule_node *p, const tg_node *node)
{
    if (!(m->names.has_rest & BIT(p->rest))) {
        m->names.rests[p->rest] = node;
        m->names.rest_mask[p->rest] = p->mentioned;
        m->names.has_rest |= BIT(p->rest);
        return true;
    }
    /* Bound twice: of one operator, and equal where neither line names the attribute. */
    const tg_node *other = m->names.rests[p->rest];
    if (other->op != node->op) return false;
    if (other->attrs == node->attrs) return true;
    uint64_t named = p->mentioned | m->names.rest_mask[p->rest];
    for (uint32_t i = 0; i < node->attrs->n; i++)
        if (!(named >> i & 1) && !tg_attr_equal(&node->attrs->a[i], &other->attrs->a[i]))
            return false;
    return true;
}

static bool match_attrs(matcher *m, const rule_node *p, const tg_node *node)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(p->op, &n);
    for (int i = 0; i < p->n_attr; i++) {
        int at = p->attr[i].index;
        int64_t rank = axis_rank(m, node, spec[at].name);
        if (!match_expr(m, p->attr[i].e, &node->attrs->a[at], rank)) return false;
    }
    if (p->rest >= 0) return bind_rest(m, p, node);
    for (int i = 0; i < n; i++)
        if (!(p->mentioned >> i & 1) && !tg_attr_equal(&spec[i].value, &node->attrs->a[i]))
            return false;
    return true;
}

/* ---- inputs and outputs -------------------------------------------------------------------- */

static tg_value input_of(const attempt *t, int slot)
{
    if (slot >= t->node->n_in) return TG_NO_VALUE;
    return t->node->in[t->swapped && slot < 2 ? 1 - slot : slot];
}

/* A number must not widen what it meets: it may be dropped by the rule. */
static bool number_fits(const matcher *m, const attempt *t, int slot)
{
    const tg_node *node = t->node;
    if (!(tg_op_get(node->op)->flags & TG_ELTWISE) || node->n_in != 2) return true;
    tg_value other = input_of(t, 1 - slot);
    return tg_shape_equal(&tg_graph_type(m->g, other)->shape, &node->out[0].shape);
}

static bool match_number(matcher *m, const attempt *t, const term *term, int slot)
{
    double x, want;
    tg_value v = input_of(t, slot);
    if (v == TG_NO_VALUE || !eval_uniform(m->g, v, m->scratch, &x)) return false;
    want = term->e->kind == EXPR_INT ? (double)term->e->i : term->e->f;
    return (x == want || (float)x == (float)want) && number_fits(m, t, slot);
}

static bool match_term(matcher *m, const attempt *t, const term *term, int slot)
{
    if (term->kind == TERM_NUMBER) return match_number(m, t, term, slot);
    if (m->rule->values[term->slot].number && !number_fits(m, t, slot)) return false;
    return bind_value(m, term->slot, input_of(t, slot));
}

static bool match_outputs(matcher *m, const attempt *t)
{
    const rule_node *p = t->pattern;
    const tg_node *node = t->node;
    if (p->out_list) {
        tg_value *v = TG_NEW_ARRAY(m->scratch, tg_value, node->n_out);
        for (int i = 0; i < node->n_out; i++) v[i] = tg_value_of(node->id, (uint32_t)i);
        return bind_list(m, p->out[0], v, node->n_out);
    }
    for (int i = 0; i < p->n_out; i++)
        if (p->out[i] >= 0 && !bind_value(m, p->out[i], tg_value_of(node->id, (uint32_t)i)))
            return false;
    return true;
}

static void accept_node(matcher *m, const attempt *t)
{
    mark before = mark_now(m);
    int n = t->plan->steps[t->step].node;
    if (match_outputs(m, t)) {
        m->nodes[n] = t->node->id;
        m->has_node |= BIT(n);
        run_step(m, t->plan, t->step + 1);
    }
    go_back(m, &before);
}

/* Terms from number i on against the inputs from `slot` on; a list takes any number of them. */
static void match_terms(matcher *m, const attempt *t, int i, int slot)
{
    const rule_node *p = t->pattern;
    const tg_node *node = t->node;
    for (; i < p->n_in && p->in[i].kind != TERM_LIST; i++, slot++)
        if (!match_term(m, t, &p->in[i], slot)) return;
    if (i == p->n_in) {
        if (slot >= node->n_in) accept_node(m, t);
        return;
    }
    int behind = p->n_in - i - 1, most = node->n_in - slot;
    bool open = false; /* another list follows */
    for (int k = i + 1; k < p->n_in; k++) open |= p->in[k].kind == TERM_LIST;
    for (int n = open ? 0 : most - behind; n >= 0 && n <= most; n++) {
        mark before = mark_now(m);
        if (bind_list(m, p->in[i].slot, node->in + slot, n)) match_terms(m, t, i + 1, slot + n);
        go_back(m, &before);
        if (!open) break;
    }
}

static bool fits(const matcher *m, const rule_node *p, const tg_node *node)
{
    if (node->op != p->op || node->constant) return false;
    int8_t most = tg_op_get(p->op)->max_out;
    if (!p->out_list && (most < 0 ? node->n_out != p->n_out : node->n_out < p->n_out)) return false;
    for (uint64_t b = m->has_node; b; b &= b - 1)
        if (m->nodes[__builtin_ctzll(b)] == node->id) return false;
    return true;
}

static void try_node(matcher *m, const rule_plan *plan, int step, const tg_node *node)
{
    attempt t = {plan, step, &m->rule->from[plan->steps[step].node], node, false};
    if (!fits(m, t.pattern, node)) return;
    mark before = mark_now(m);
    if (match_attrs(m, t.pattern, node)) {
        mark attrs = mark_now(m);
        bool both = tg_op_get(node->op)->flags & TG_COMMUTES && node->n_in == 2 &&
                    node->in[0] != node->in[1];
        match_terms(m, &t, 0, 0);
        go_back(m, &attrs);
        t.swapped = true;
        if (both) match_terms(m, &t, 0, 0);
    }
    go_back(m, &before);
}

/* ---- elements of each lines ---------------------------------------------------------------- */

static bool facts_hold(matcher *m, bool of_elements)
{
    eval ev = make_eval(m, of_elements);
    for (int i = 0; i < m->rule->n_facts; i++) {
        const rule_fact *fact = &m->rule->facts[i];
        if (fact->each != of_elements || m->skip >> i & 1) continue;
        if (!eval_fact(&ev, fact->e)) return false;
    }
    return true;
}

static int first_each(const matcher *m)
{
    return m->rule->element.steps[0].node;
}

static void take_element(matcher *m)
{
    if (m->beaten || m->elements.n > m->wanted || !facts_hold(m, true)) return;
    if (m->rule->each == EACH_SHARED && m->nodes[first_each(m)] < m->leader) {
        m->beaten = true;
        return;
    }
    element e = {{0}, {0}};
    for (uint64_t b = m->each_nodes; b; b &= b - 1)
        e.nodes[__builtin_ctzll(b)] = m->nodes[__builtin_ctzll(b)];
    for (uint64_t b = m->each_values; b; b &= b - 1)
        e.values[__builtin_ctzll(b)] = m->names.values[__builtin_ctzll(b)];
    /* Elements share no node; the first match of one stands. */
    for (size_t i = 0; i < m->elements.n; i++)
        for (uint64_t b = m->each_nodes, c; b; b &= b - 1)
            for (c = m->each_nodes; c; c &= c - 1)
                if (m->elements.v[i].nodes[__builtin_ctzll(b)] == e.nodes[__builtin_ctzll(c)])
                    return;
    tg_vec_push(&m->elements, e);
    if (m->rule->each == EACH_LIST) m->kept = m->names;
}

static void forget_element(matcher *m)
{
    m->names.has_value &= ~m->each_values;
    m->has_node &= ~m->each_nodes;
}

/* What one element has bound of the names that all share holds for the next. */
static void keep_shared(matcher *m)
{
    uint64_t each = m->each_values;
    for (uint64_t b = m->kept.has_value & ~m->names.has_value & ~each; b; b &= b - 1)
        m->names.values[__builtin_ctzll(b)] = m->kept.values[__builtin_ctzll(b)];
    for (uint64_t b = m->kept.has_param & ~m->names.has_param; b; b &= b - 1)
        m->names.params[__builtin_ctzll(b)] = m->kept.params[__builtin_ctzll(b)];
    memcpy(m->names.rests, m->kept.rests, sizeof m->names.rests);
    memcpy(m->names.rest_mask, m->kept.rest_mask, sizeof m->names.rest_mask);
    m->names.has_value |= m->kept.has_value & ~each;
    m->names.has_param |= m->kept.has_param;
    m->names.has_rest |= m->kept.has_rest;
}

/* One element for every member of the list; false if a member has none. */
static bool elements_of_list(matcher *m)
{
    const value_list list = m->names.lists[m->rule->each_via];
    for (int i = 0; i < list.n; i++) {
        mark before = mark_now(m);
        forget_element(m);
        size_t had = m->elements.n;
        m->wanted = had;
        if (bind_value(m, m->rule->each_via, list.v[i])) run_step(m, &m->rule->element, 0);
        go_back(m, &before);
        if (m->elements.n == had) return false;
        keep_shared(m);
        m->elements.n = had + 1;
    }
    return list.n > 0;
}

/* All users of the shared value that match like the one at hand, if that is the first of them. */
static bool elements_of_users(matcher *m)
{
    m->leader = m->nodes[first_each(m)];
    m->beaten = false;
    m->wanted = SIZE_MAX - 1;
    mark before = mark_now(m);
    forget_element(m);
    run_step(m, &m->rule->element, 0);
    go_back(m, &before);
    int at = first_each(m);
    for (size_t i = 1; i < m->elements.n; i++) {
        element e = m->elements.v[i];
        size_t k = i;
        for (; k && m->elements.v[k - 1].nodes[at] > e.nodes[at]; k--)
            m->elements.v[k] = m->elements.v[k - 1];
        m->elements.v[k] = e;
    }
    bool leads = !m->beaten && m->elements.n >= 2 && m->elements.v[0].nodes[at] == m->leader;
    m->beaten = false;
    return leads;
}

static void list_elements(matcher *m)
{
    int n = (int)m->elements.n;
    for (uint64_t b = m->each_values; b; b &= b - 1) {
        int slot = __builtin_ctzll(b);
        tg_value *v = TG_NEW_ARRAY(m->scratch, tg_value, n);
        for (int i = 0; i < n; i++) v[i] = m->elements.v[i].values[slot];
        m->names.lists[slot] = (value_list){v, n};
        m->names.has_list |= BIT(slot);
    }
}

/* ---- sites --------------------------------------------------------------------------------- */

static tg_site_binding *pack(matcher *m)
{
    const names *n = &m->names;
    const tg_rule *r = m->rule;
    tg_site_binding *b = TG_NEW(m->arena, tg_site_binding);
    *b = (tg_site_binding){.rule = r,
                           .anchor = m->anchor,
                           .has_value = n->has_value,
                           .has_list = n->has_list,
                           .has_param = n->has_param,
                           .has_rest = n->has_rest};
    value_list *lists = NULL;
    if (n->has_list) lists = tg_arena_dup(m->arena, n->lists, sizeof *lists * (size_t)r->n_values);
    for (uint64_t bits = n->has_list; bits; bits &= bits - 1) {
        value_list *l = &lists[__builtin_ctzll(bits)];
        l->v = tg_arena_dup(m->arena, l->v, sizeof *l->v * (size_t)l->n);
    }
    b->lists = lists;
    b->values = tg_arena_dup(m->arena, n->values, sizeof *n->values * (size_t)r->n_values);
    tg_attr *params = tg_arena_dup(m->arena, n->params, sizeof *n->params * (size_t)r->n_params);
    b->params = params;
    b->rests = tg_arena_dup(m->arena, n->rests, sizeof *n->rests * (size_t)r->n_rests);
    b->rest_mask = tg_arena_dup(m->arena, n->rest_mask, sizeof *n->rest_mask * (size_t)r->n_rests);
    return b;
}

static const uint32_t *list_nodes(matcher *m, int *count)
{
    const tg_rule *r = m->rule;
    uint32_t *nodes = TG_NEW_ARRAY(m->arena, uint32_t, (size_t)r->n_from * (m->elements.n + 1));
    *count = 0;
    for (int i = 0; i < r->n_from; i++)
        if (!r->from[i].each) nodes[(*count)++] = m->nodes[i];
    for (size_t k = 0; k < m->elements.n; k++)
        for (int i = 0; i < r->n_from; i++)
            if (r->from[i].each) nodes[(*count)++] = m->elements.v[k].nodes[i];
    return nodes;
}

static uint64_t site_key(const matcher *m, const tg_site *site)
{
    uint64_t h = tg_hash_str(11, m->rule->info.name);
    for (int i = 0; i < site->n_nodes; i++) h = tg_hash_add(h, site->nodes[i]);
    for (int i = 0; i < m->rule->n_values; i++) {
        if (m->names.has_value & BIT(i)) h = tg_hash_add(h, m->names.values[i]);
        if (!(m->names.has_list & BIT(i))) continue;
        for (int k = 0; k < m->names.lists[i].n; k++) h = tg_hash_add(h, m->names.lists[i].v[k]);
    }
    return h;
}

static void emit(matcher *m)
{
    tg_site site = {.rule = m->index};
    site.nodes = list_nodes(m, &site.n_nodes);
    site.key = site_key(m, &site);
    site.binding = pack(m);
    tg_vec_push(m->sites, site);
}

static void matched(matcher *m)
{
    mark before = mark_now(m);
    m->elements.n = 0;
    bool ok = true;
    if (m->rule->each != EACH_NONE) {
        m->collecting = true;
        ok = m->rule->each == EACH_LIST ? elements_of_list(m) : elements_of_users(m);
        m->collecting = false;
        if (ok) list_elements(m);
    }
    if (ok && facts_hold(m, false)) emit(m);
    go_back(m, &before);
}

static void run_users(matcher *m, const rule_plan *plan, int step, tg_value via)
{
    if (via == TG_NO_VALUE || tg_graph_maker(m->g, via)->constant) return;
    uint32_t n, last = UINT32_MAX;
    const tg_use *use = tg_graph_uses(m->g, tg_value_node(via), &n);
    for (uint32_t i = 0; i < n && !m->beaten; i++) {
        if (use[i].port != tg_value_port(via) || use[i].node == last) continue;
        last = use[i].node;
        try_node(m, plan, step, m->g->nodes[last]);
    }
}

static void run_anywhere(matcher *m, const rule_plan *plan, int step)
{
    tg_op op = m->rule->from[plan->steps[step].node].op;
    for (uint32_t i = 0; i < m->g->n_nodes; i++) {
        const tg_node *node = m->g->nodes[m->g->order[i]];
        if (node->op == op) try_node(m, plan, step, node);
    }
}

static void run_step(matcher *m, const rule_plan *plan, int step)
{
    if (step == plan->n) {
        if (m->collecting) take_element(m);
        else matched(m);
        return;
    }
    const rule_step *s = &plan->steps[step];
    tg_value via = TG_NO_VALUE;
    if (s->kind == STEP_ANCHOR) {
        try_node(m, plan, step, m->g->nodes[m->anchor]);
        return;
    }
    if (s->kind == STEP_ANYWHERE) {
        run_anywhere(m, plan, step);
        return;
    }
    if (m->names.has_value & BIT(s->via)) via = m->names.values[s->via];
    else if (m->names.has_list & BIT(s->via) && m->names.lists[s->via].n)
        via = m->names.lists[s->via].v[0];
    if (via == TG_NO_VALUE) return;
    if (s->kind == STEP_PRODUCER) try_node(m, plan, step, tg_graph_maker(m->g, via));
    else run_users(m, plan, step, via);
}

matcher *match_new(const tg_rules *rules, const tg_graph *g, tg_arena *arena, site_vec *sites)
{
    matcher *m = tg_calloc(1, sizeof *m);
    m->rules = rules;
    m->g = g;
    m->arena = arena;
    m->sites = sites;
    m->scratch = tg_arena_new();
    return m;
}

void match_skip_facts(matcher *m, uint64_t skip)
{
    m->skip = skip;
}

void match_free(matcher *m)
{
    tg_arena_free(m->scratch);
    tg_vec_free(&m->elements);
    free(m);
}

void match_run(matcher *m, int r, const tg_node *node)
{
    const tg_rule *rule = tg_rules_rule(m->rules, r);
    if (node->op != rule->from[rule->plan.steps[0].node].op || node->constant) return;
    m->index = r;
    m->anchor = node->id;
    if (m->rule != rule) {
        m->rule = rule;
        m->each_nodes = m->each_values = 0;
        for (int i = 0; i < rule->n_from; i++)
            if (rule->from[i].each) m->each_nodes |= BIT(i);
        for (int i = 0; i < rule->n_values; i++)
            if (rule->values[i].each) m->each_values |= BIT(i);
    }
    go_back(m, &(mark){0});
    run_step(m, &rule->plan, 0);
}
