/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prove_run.h"

#include "engine/ops/ops.h"
#include "field.h"

#include <stdlib.h>
#include <string.h>

/*
 * What holds for every element of a value: degrees of numerator and denominator, oracles asked on
 * the way to it, and the largest degree of what they were asked.
 */
typedef struct bound {
    double above, below, asked, question;
} bound;

typedef struct bounds {
    const tg_graph *g;
    const bool *fixed;
    bound *of; /* by node id: its outputs share one */
} bounds;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool is_real(const tg_type *t)
{
    return tg_dtype_kind(t->dtype) == 'f';
}

/* All inputs together: degrees of a product of one element each, and of a sum of them. */
typedef struct inputs {
    const tg_node *node;
    unsigned flags;
    bound product, sum;
    double most; /* elements of the largest */
} inputs;

static inputs inputs_of(const bounds *b, const tg_node *node)
{
    inputs in = {.node = node, .flags = tg_op_get(node->op)->flags, .most = 1};
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        const tg_type *type = tg_graph_type(b->g, node->in[i]);
        if (!is_real(type)) continue;
        const bound *x = &b->of[tg_value_node(node->in[i])];
        in.most = larger(in.most, (double)tg_shape_count(&type->shape));
        in.sum.above = larger(in.sum.above + x->below, x->above + in.sum.below);
        in.sum.below += x->below;
        in.product.above += x->above;
        in.product.below += x->below;
        in.product.asked += x->asked;
        in.product.question = larger(in.product.question, x->question);
    }
    in.sum.asked = in.product.asked;
    in.sum.question = in.product.question;
    return in;
}

/* A sum of `terms` terms with a denominator each. */
static bound add_up(bound term, double terms)
{
    term.above += (terms - 1) * term.below;
    term.below *= terms;
    term.asked *= terms;
    return term;
}

/*
 * Of what is linear in each input a term is a product; of what sums and is not, a square. What
 * moves elements or works element by element adds one term of each input, anything else at most as
 * many as the largest input has elements.
 */
static bound bound_ring(const inputs *in)
{
    bound term = in->flags & TG_LINEAR ? in->product : in->sum;
    if (in->flags & TG_ACCUMULATES && !(in->flags & TG_LINEAR)) {
        term.above *= 2;
        term.below *= 2;
    }
    return add_up(term, in->flags & (TG_ELTWISE | TG_VIEW) ? 1 : in->most);
}

/* One question about all inputs. */
static bound bound_oracle(const inputs *in)
{
    double question = in->product.above + in->product.below;
    return (bound){1, 0, in->product.asked + 1, larger(in->product.question, question)};
}

/* A product, or the answer to a question that is one. */
static bound bound_activated(const inputs *in)
{
    bound x = bound_ring(in);
    if (!tg_node_attr(in->node, "activation")->n) return x;
    x.asked++;
    return (bound){1, 0, x.asked, larger(x.question, x.above + x.below)};
}

/* Any of the degrees may stand above or below. */
static bound bound_quotient(const inputs *in)
{
    double all = in->product.above + in->product.below;
    return (bound){all, all, in->product.asked, in->product.question};
}

/* A quotient and a root, which is an oracle. */
static bound bound_root(const inputs *in)
{
    bound x = bound_quotient(in);
    return (bound){x.above + 1, x.below + 1, x.asked + 1, larger(x.question, x.above)};
}

/* The largest power that is one (field_special.c), or a root. */
static bound bound_power(const inputs *in)
{
    enum { LARGEST = 16 };
    bound x = bound_root(in);
    x.above *= LARGEST;
    x.below *= LARGEST;
    return x;
}

static const struct {
    tg_op op;
    bound (*bound)(const inputs *in);
} specials[] = {
#define FIELD(op, function, bound) {TG_OP(op), bound_##bound},
#include "field.def"
#undef FIELD
};

static bound node_bound(const bounds *b, const tg_node *node)
{
    if (node->op == TG_OP_INPUT || node->op == TG_OP_CONST) {
        bool drawn = is_real(&node->out[0]) && (node->op == TG_OP_INPUT || !b->fixed[node->id]);
        return (bound){.above = drawn};
    }
    inputs in = inputs_of(b, node);
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].op == node->op) return specials[i].bound(&in);
    return field_is_oracle(node->op) ? bound_oracle(&in) : bound_ring(&in);
}

static bounds bounds_of(const tg_graph *g, const bool *fixed)
{
    bounds b = {g, fixed, tg_calloc(g->n_ids, sizeof *b.of)};
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op != TG_OP_SINK) b.of[node->id] = node_bound(&b, node);
    }
    return b;
}

/* Points at which something divides by zero are left out: at most half of them, so twice as likely.
 */
static double slip_of(const bound *x, const bound *y, double degree)
{
    double calls = x->asked + y->asked, question = larger(x->question, y->question);
    double bad = degree + calls * (calls - 1) / 2 * 2 * question;
    return (x->below || y->below ? 2 : 1) * bad / FIELD_PRIME;
}

prove_bound prove_bound_of(const tg_graph *before, const tg_graph *after, const bool *fixed)
{
    bounds a = bounds_of(before, fixed), b = bounds_of(after, fixed);
    const tg_node *s = tg_graph_sink(before), *t = tg_graph_sink(after);
    prove_bound most = {0, 0};
    for (int i = 0; i < s->n_in; i++) {
        const bound *x = &a.of[tg_value_node(s->in[i])], *y = &b.of[tg_value_node(t->in[i])];
        double degree = larger(x->above + y->below, y->above + x->below);
        most.degree = larger(most.degree, degree);
        most.slip = larger(most.slip, slip_of(x, y, degree));
    }
    if (most.slip > 1) most.slip = 1;
    free(a.of);
    free(b.of);
    return most;
}
