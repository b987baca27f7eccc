/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sides.h"

#include <string.h>

bool sides_is(const side_node *node, const char *name)
{
    return node && strcmp(node->form->name, name) == 0;
}

const side_node *sides_maker(const side *s, ref r)
{
    return r.node < 0 ? NULL : &s->node[r.node];
}

bool sides_have(const sides *x, const char *name)
{
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < x->s[s].n; k++)
            if (sides_is(&x->s[s].node[k], name)) return true;
    return false;
}

bool sides_shapeless(const sides *x)
{
    return x->way->any_axis ||
           (!sides_have(x, "MatMul") && !sides_have(x, "Conv") && !sides_have(x, "Concat") &&
            !sides_have(x, "Split") && !sides_have(x, "Transpose"));
}

/* ---- lists of operators --------------------------------------------------------------------- */

static ref add_formula(sides *x, side *s, const formula *f)
{
    const bank *b = x->b;
    int number;
    uint32_t arg[2];
    int port = f->term == NO_TERM ? f->port : b->terms.v[f->term].port;
    if (formula_is_variable(b, f)) return (ref){~port, 0};
    formula_open(b, f, &number, arg);
    const form *m = &b->world->forms[number];
    for (int i = 0; i < s->n; i++)
        if (s->node[i].form == m && s->node[i].term_arg[0] == arg[0] &&
            (m->n_in == 1 || s->node[i].term_arg[1] == arg[1]))
            return (ref){i, port};
    side_node node = {.form = m, .term_arg = {arg[0], arg[1]}};
    for (int i = 0; i < m->n_in; i++) {
        formula part = formula_of(arg[i]);
        node.in[i] = add_formula(x, s, &part);
        node.in_shape[i] = b->terms.v[arg[i]].shape;
    }
    s->node[s->n] = node;
    return (ref){s->n++, port};
}

/* ---- classes of dimensions ------------------------------------------------------------------ */

static int dim_number(int side, ref r, int i)
{
    int value = r.node < 0 ? ~r.node : MOST_VARS + 2 * (side * SIDE_NODES + r.node) + r.port;
    return value * RANK + i;
}

int sides_root(const sides *x, int dim)
{
    while (x->same[dim] != dim) dim = x->same[dim];
    return dim;
}

int sides_dim(const sides *x, int side, ref r, int i)
{
    return sides_root(x, dim_number(side, r, i));
}

static void unite(sides *x, int a, int b)
{
    a = sides_root(x, a);
    b = sides_root(x, b);
    if (a == b) return;
    if (a < b) { /* those of variables have the lowest numbers: they are the roots */
        int t = a;
        a = b;
        b = t;
    }
    x->same[a] = b;
    if (x->part[b][0] < 0) memcpy(x->part[b], x->part[a], sizeof x->part[b]);
}

static void unite_all(sides *x, int side_a, ref a, int side_b, ref b, int but)
{
    for (int i = 0; i < x->b->world->rank; i++)
        if (i != but) unite(x, dim_number(side_a, a, i), dim_number(side_b, b, i));
}

static void unite_sum(sides *x, int whole, int a, int b)
{
    int root = sides_root(x, whole);
    if (x->part[root][0] >= 0) {
        unite(x, x->part[root][0], a);
        unite(x, x->part[root][1], b);
    } else {
        x->part[root][0] = a;
        x->part[root][1] = b;
    }
}

static bool grouped(const sides *x)
{
    return x->way->group != GROUP_ONE;
}

static bool is_ref(ref a, ref b)
{
    return a.node == b.node && a.port == b.port;
}

/* Variables that must have one shape are declared so. */
static bool agrees(const sides *x, ref a, ref b)
{
    if (sides_shapeless(x) || a.node >= 0 || b.node >= 0) return false;
    for (int i = 0; i < x->n_operands; i++) {
        const ref *o = x->operand[i];
        if (x->way->same >> i & 1 && o[0].node == a.node && o[1].node == b.node) return true;
    }
    return false;
}

static void unite_node(sides *x, int side, int k)
{
    const side_node *n = &x->s[side].node[k];
    ref out = {k, 0}, out1 = {k, 1};
    int axis = n->form->axis;
    if (sides_is(n, "MatMul")) {
        unite(x, dim_number(side, n->in[0], 1), dim_number(side, n->in[1], 0));
        unite(x, dim_number(side, out, 0), dim_number(side, n->in[0], 0));
        unite(x, dim_number(side, out, 1), dim_number(side, n->in[1], 1));
    } else if (sides_is(n, "Transpose")) {
        unite(x, dim_number(side, out, 0), dim_number(side, n->in[0], 1));
        unite(x, dim_number(side, out, 1), dim_number(side, n->in[0], 0));
    } else if (sides_is(n, "Conv")) {
        unite(x, dim_number(side, out, 0), dim_number(side, n->in[0], 0));
        unite(x, dim_number(side, out, 1), dim_number(side, n->in[1], 0));
        if (!grouped(x)) unite(x, dim_number(side, n->in[0], 1), dim_number(side, n->in[1], 1));
    } else if (sides_is(n, "Concat")) {
        unite_all(x, side, n->in[0], side, out, axis);
        unite_all(x, side, n->in[1], side, out, axis);
        unite_sum(x, dim_number(side, out, axis), dim_number(side, n->in[0], axis),
                  dim_number(side, n->in[1], axis));
    } else if (sides_is(n, "Split")) {
        unite_all(x, side, n->in[0], side, out, axis);
        unite_all(x, side, n->in[0], side, out1, axis);
        unite_sum(x, dim_number(side, n->in[0], axis), dim_number(side, out, axis),
                  dim_number(side, out1, axis));
    } else if (n->form->n_in == 1 || is_ref(n->in[0], n->in[1])) {
        unite_all(x, side, n->in[0], side, out, -1);
    } else if (!side && agrees(x, n->in[0], n->in[1])) {
        unite_all(x, side, n->in[0], side, out, -1);
        unite_all(x, side, n->in[1], side, out, -1);
    }
}

static void find_classes(sides *x)
{
    for (int i = 0; i < DIMS; i++) {
        x->same[i] = i;
        x->part[i][0] = x->part[i][1] = -1;
    }
    for (int round = 0; round < 3; round++) { /* parts of sums meet late */
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < x->s[side].n; k++) unite_node(x, side, k);
        for (int i = 0; i < x->pair->n; i++)
            unite_all(x, 0, x->s[0].result[i], 1, x->s[1].result[i], -1);
    }
}

/* ---- operands that may have to have one shape ----------------------------------------------- */

static void add_operands(sides *x, ref a, ref b)
{
    if (a.node == b.node || x->n_operands == 8) return;
    for (int i = 0; i < x->n_operands; i++) {
        const ref *o = x->operand[i];
        if ((o[0].node == a.node && o[1].node == b.node) ||
            (o[0].node == b.node && o[1].node == a.node))
            return;
    }
    x->operand[x->n_operands][0] = a;
    x->operand[x->n_operands++][1] = b;
}

/* Of sums and products of `from`; of those of `to`, where variables meet. */
static void find_operands(sides *x)
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < x->s[side].n; k++) {
            const side_node *n = &x->s[side].node[k];
            if (!n->form->pointwise || n->form->n_in != 2) continue;
            if (side && (n->in[0].node >= 0 || n->in[1].node >= 0)) continue;
            add_operands(x, n->in[0], n->in[1]);
        }
}

/* ---- convolutions --------------------------------------------------------------------------- */

static unsigned variables(const side *s, ref r)
{
    const side_node *n = sides_maker(s, r);
    if (!n) return 1u << ~r.node;
    unsigned bits = variables(s, n->in[0]);
    return n->form->n_in > 1 ? bits | variables(s, n->in[1]) : bits;
}

static int conv_with(const sides *x, unsigned filter, int first)
{
    for (int i = first; i < x->s[0].n; i++)
        if (sides_is(&x->s[0].node[i], "Conv") &&
            filter & variables(&x->s[0], x->s[0].node[i].in[1]))
            return i;
    return -1;
}

int sides_conv_like(const sides *x, const side_node *to)
{
    return conv_with(x, variables(&x->s[1], to->in[1]), 0);
}

static void find_conv_classes(sides *x)
{
    for (int i = 0; i < SIDE_NODES; i++) x->conv_class[i] = i;
    for (int k = 0; k < x->s[1].n; k++) {
        const side_node *n = &x->s[1].node[k];
        if (!sides_is(n, "Conv")) continue;
        unsigned filter = variables(&x->s[1], n->in[1]);
        int first = conv_with(x, filter, 0);
        for (int i = first; i >= 0; i = conv_with(x, filter, i + 1))
            x->conv_class[i] = x->conv_class[first];
    }
}

void sides_make(sides *x, const bank *b, const pair *p, const way *w)
{
    memset(x, 0, sizeof *x);
    x->b = b;
    x->pair = p;
    x->way = w;
    for (int i = 0; i < p->n; i++) {
        x->s[0].result[i] = add_formula(x, &x->s[0], &p->from[i]);
        x->s[1].result[i] = add_formula(x, &x->s[1], &p->to[i]);
    }
    find_operands(x);
    find_classes(x);
    find_conv_classes(x);
}
