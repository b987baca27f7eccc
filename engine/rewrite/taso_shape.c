/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shapes in TASO's rules: ranks, dimensions that must be equal for the rule to make sense, and what
 * TASO takes for granted and ONNX does not (groups, broadcasts).
 */
#include "taso_text.h"

static bool is_sum(const taso_op *op)
{
    return op && (op->kind == TASO_ADD || op->kind == TASO_MUL);
}

int taso_must_agree(const writer *w, int i)
{
    if (!is_sum(&w->rule->from[i])) return -1;
    for (int k = i + 1; k < w->rule->n_from; k++) {
        const taso_op *op = &w->rule->from[k];
        if (op->kind != TASO_CONCAT && op->kind != TASO_CONV) continue;
        for (int s = 0; s < op->n_in; s++)
            if (op->in[s].op == i) return op->kind == TASO_CONCAT ? op->axis : s ? 0 : 2;
    }
    return -1;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static bool put_rank(writer *w, int tensor, int rank)
{
    if (!rank || w->rank[tensor]) return false;
    w->rank[tensor] = rank;
    return true;
}

static bool spread_rank(writer *w, bool to, int i)
{
    int n, rank = 0;
    const taso_op *op = &side(w, to, &n)[i];
    if (is_sum(op) && (to || taso_must_agree(w, i) < 0)) return false;
    bool changed = false;
    for (int k = -2; k < op->n_in && !rank; k++)
        rank = w->rank[tensor_number(to, k < 0 ? (taso_tensor){i, k + 2} : op->in[k])];
    if (op->kind == TASO_CONCAT) rank = op->rank;
    if (op->kind == TASO_CONV) rank = 4;
    for (int k = 0; k < op->n_in; k++) changed |= put_rank(w, tensor_number(to, op->in[k]), rank);
    for (int k = 0; k < taso_out_count(op); k++)
        changed |= put_rank(w, tensor_number(to, (taso_tensor){i, k}), rank);
    return changed;
}

static void find_ranks(writer *w)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int to = 0; to < 2; to++) {
            int n;
            side(w, to, &n);
            for (int i = 0; i < n; i++) changed |= spread_rank(w, to, i);
        }
        for (int i = 0; i < w->rule->n_results; i++) {
            const taso_result *r = &w->rule->results[i];
            int a = tensor_number(false, (taso_tensor){r->source, r->source_port});
            int b = tensor_number(true, (taso_tensor){r->op, r->port});
            changed |= put_rank(w, a, w->rank[b]);
            changed |= put_rank(w, b, w->rank[a]);
        }
    }
}

/* ---- equal dimensions ----------------------------------------------------------------------- */

int taso_dim_root(const writer *w, int dim)
{
    while (w->same[dim] != dim) dim = w->same[dim];
    return dim;
}

static void equal(writer *w, int a, int dim_a, int b, int dim_b)
{
    w->same[taso_dim_root(w, a * DIMS + dim_a)] = taso_dim_root(w, b * DIMS + dim_b);
}

/* Dimension number -1 or -2; of a tensor without known rank it has a place of its own. */
static int from_end(const writer *w, int tensor, int dim)
{
    return (w->rank[tensor] ? w->rank[tensor] : DIMS) + dim;
}

static void equal_all(writer *w, int a, int b, int but)
{
    for (int i = 0; i < RANKS; i++)
        if (i != but) equal(w, a, i, b, i);
}

static void equal_conv(writer *w, const taso_op *op, const int *in, int out, bool grouped)
{
    equal(w, out, 0, in[0], 0);
    equal(w, out, 1, in[1], 0);
    for (int i = 2; i < 4 && op->stride == 1 && op->pad == TASO_SAME; i++)
        equal(w, out, i, in[0], i);
    if (!grouped) equal(w, in[0], 1, in[1], 1);
}

static void equal_matmul(writer *w, const int *in, int out)
{
    equal(w, in[0], from_end(w, in[0], -1), in[1], from_end(w, in[1], -2));
    equal(w, out, from_end(w, out, -2), in[0], from_end(w, in[0], -2));
    equal(w, out, from_end(w, out, -1), in[1], from_end(w, in[1], -1));
}

static void equal_dims(writer *w, bool to, int i)
{
    int n, in[TASO_INPUTS];
    const taso_op *op = &side(w, to, &n)[i];
    int out = tensor_number(to, (taso_tensor){i, 0});
    for (int k = 0; k < op->n_in; k++) in[k] = tensor_number(to, op->in[k]);
    bool grouped = to || !w->group[i] || strcmp(w->group[i], "1") != 0;
    switch (op->kind) {
    case TASO_CONV: equal_conv(w, op, in, out, grouped); break;
    case TASO_MATMUL: equal_matmul(w, in, out); break;
    case TASO_SPLIT: equal_all(w, out, out + 1, op->axis); /* fall through */
    case TASO_CONCAT:
        for (int k = 0; k < op->n_in; k++) equal_all(w, in[k], out, op->axis);
        break;
    case TASO_ADD:
    case TASO_MUL:
        if (to || taso_must_agree(w, i) < 0) break;
        equal_all(w, in[0], out, taso_must_agree(w, i));
        equal_all(w, in[1], out, taso_must_agree(w, i));
        break;
    case TASO_RELU: equal_all(w, in[0], out, -1); break;
    default: break;
    }
}

static void find_dims(writer *w)
{
    for (int to = 0; to < 2; to++) {
        int n;
        side(w, to, &n);
        for (int i = 0; i < n; i++) equal_dims(w, to, i);
    }
    for (int i = 0; i < w->rule->n_results; i++) {
        const taso_result *r = &w->rule->results[i];
        equal_all(w, tensor_number(false, (taso_tensor){r->source, r->source_port}),
                  tensor_number(true, (taso_tensor){r->op, r->port}), -1);
    }
}

/* ---- convolutions --------------------------------------------------------------------------- */

/* Bits of the variables that a tensor is made of. */
static unsigned variables(const writer *w, bool to, taso_tensor t)
{
    const taso_op *op = maker(w, to, t);
    unsigned bits = 0;
    if (!op) return 1u << ~t.op;
    for (int i = 0; i < op->n_in; i++) bits |= variables(w, to, op->in[i]);
    return bits;
}

/* The convolution of `from` that has the filter, or a part of the filter, of one of `to`; or -1. */
static int conv_like(const writer *w, unsigned filter, int from)
{
    for (int i = from; i < w->rule->n_from; i++)
        if (w->rule->from[i].kind == TASO_CONV &&
            filter & variables(w, false, w->rule->from[i].in[1]))
            return i;
    return -1;
}

static bool is_concat(const taso_op *op, int axis)
{
    return op && op->kind == TASO_CONCAT && op->axis == axis;
}

/* Filters that are joined: of one group each, or of as many outputs for each group. */
static void find_group(writer *w, const taso_op *op)
{
    const taso_op *data = maker(w, true, op->in[0]), *filter = maker(w, true, op->in[1]);
    unsigned all = variables(w, true, op->in[1]);
    int first = conv_like(w, all, 0);
    for (int i = first; i >= 0; i = conv_like(w, all, i + 1)) {
        w->group_of[i] = w->group_of[first];
        if (!filter || filter->kind != TASO_CONCAT) continue;
        bool both = is_concat(data, 1) && is_concat(filter, 0);
        if (!both) w->group[i] = "1";
        else
            w->group[i] =
                variables(w, true, filter->in[0]) & variables(w, false, w->rule->from[i].in[1])
                    ? "g"
                    : "h";
    }
}

static bool find_groups(writer *w)
{
    for (int i = 0; i < TASO_OPS; i++) w->group_of[i] = i;
    for (int i = 0; i < w->rule->n_to; i++) {
        const taso_op *op = &w->rule->to[i];
        if (op->kind != TASO_CONV) continue;
        if (conv_like(w, variables(w, true, op->in[1]), 0) < 0) return false;
        find_group(w, op);
    }
    return true;
}

int taso_conv_like(const writer *w, const taso_op *to)
{
    return conv_like(w, variables(w, true, to->in[1]), 0);
}

bool taso_find_shapes(writer *w)
{
    for (int i = 0; i < TENSORS * DIMS; i++) w->same[i] = i;
    if (!find_groups(w)) return false;
    find_ranks(w);
    find_dims(w);
    return true;
}
