/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "absorb.h"

#include "eltwise.h"
#include "quant.h"
#include "engine/exec/fold.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Nodes of an element-wise loop at most; the registers are what limits it. */
enum { LOOP_NODES = 12, TAIL_NODES = 16 };

bool tg_absorb_scalar(const tg_graph *g, tg_value v, float *x)
{
    tg_weight *weight;
    if (v == TG_NO_VALUE) return false;
    const tg_type *t = tg_graph_type(g, v);
    if (!tg_graph_maker(g, v)->constant || t->dtype != TG_F32 || !tg_type_complete(t)) return false;
    if (tg_shape_count(&t->shape) != 1 || tg_fold_value(g, v, &weight) != TG_OK) return false;
    memcpy(x, weight->data, sizeof *x);
    tg_weight_unref(weight);
    return true;
}

/* ---- tails ---- */

static bool op_is(const tg_node *node, const char *name)
{
    return node && strcmp(tg_op_get(node->op)->name, name) == 0;
}

/* Only broadcasts that the library's inner loops know: one number a channel, or all elements. */
static bool other_fits(const tg_graph *g, tg_value other, const tg_shape *shape, int64_t axis)
{
    const tg_shape *o = &tg_graph_type(g, other)->shape;
    if (tg_shape_equal(o, shape)) return true;
    int64_t skip = shape->rank - o->rank;
    if (skip < 0) return false;
    for (int64_t i = 0; i < shape->rank; i++) {
        int64_t dim = i < skip ? 1 : o->dim[i - skip];
        if (i == axis ? dim != shape->dim[i] : dim != 1) return false;
    }
    return true;
}

static bool linear(tg_tail_op *op, float alpha, float beta)
{
    *op = (tg_tail_op){TG_POST_LINEAR, alpha, beta, TG_NO_VALUE, NULL};
    return isfinite(alpha) && isfinite(beta);
}

static bool with_number(const tg_eltwise *row, float k, int slot, tg_tail_op *op)
{
    switch (row->code) {
    case TG_V_ADD: return linear(op, 1, k);
    case TG_V_SUB: return slot == 0 ? linear(op, 1, -k) : linear(op, -1, k);
    case TG_V_MUL: return linear(op, k, 0);
    case TG_V_DIV: return slot == 0 && linear(op, 1 / k, 0);
    case TG_V_MIN: *op = (tg_tail_op){TG_POST_CLIP, -FLT_MAX, k, TG_NO_VALUE, NULL}; break;
    case TG_V_MAX: *op = (tg_tail_op){TG_POST_CLIP, k, FLT_MAX, TG_NO_VALUE, NULL}; break;
    default: return false;
    }
    return isfinite(k);
}

static bool binary_op_of(const tg_graph *g, const tg_node *node, const tg_eltwise *row, int slot,
                         int64_t axis, tg_tail_op *op)
{
    float k;
    if (node->n_in != 2 || slot > 1) return false;
    tg_value other = node->in[1 - slot];
    if (other == node->in[slot]) return false;
    if (tg_absorb_scalar(g, other, &k)) return with_number(row, k, slot, op);
    if (row->post == TG_POST_KINDS || !other_fits(g, other, &node->out[0].shape, axis))
        return false;
    if (slot == 1 && (row->code == TG_V_SUB || row->code == TG_V_DIV)) return false;
    *op = (tg_tail_op){(tg_post_kind)row->post, 0, 0, other, NULL};
    return true;
}

bool tg_tail_op_of(const tg_graph *g, const tg_node *node, int slot, int64_t axis, tg_tail_op *op)
{
    const tg_eltwise *row = tg_eltwise_of(node->op);
    if (!row || !tg_eltwise_fits(g, node)) return false;
    if (row->arity == 2) return binary_op_of(g, node, row, slot, axis, op);
    *op = (tg_tail_op){.kind = (tg_post_kind)row->post, .other = TG_NO_VALUE};
    if (row->arity == 1) {
        op->alpha = *row->k0 ? tg_attr_or(node, row->k0, 0) : 0;
        return row->post != TG_POST_KINDS;
    }
    if (op_is(node, "Clip")) {
        op->kind = TG_POST_CLIP;
        op->alpha = tg_attr_or(node, "min", -FLT_MAX);
        op->beta = tg_attr_or(node, "max", FLT_MAX);
        return true;
    }
    if (op_is(node, "BatchNormalization")) {
        op->norm = node;
        return slot == 0 && axis == 1;
    }
    if (op_is(node, "HardSwish")) op->kind = TG_POST_HARDSWISH;
    else if (op_is(node, "Swish")) op->kind = TG_POST_SWISH;
    else if (op_is(node, "Gelu")) op->kind = TG_POST_GELU_ERF;
    else return false;
    op->alpha = tg_attr_or(node, "alpha", 1);
    if (op_is(node, "Gelu") && strcmp(tg_node_attr(node, "approximate")->s, "tanh") == 0)
        op->kind = TG_POST_GELU_TANH;
    return true;
}

/* The only user of a value, or NULL; *slot is where it reads it. */
static const tg_node *only_user(const tg_graph *g, tg_value v, int *slot)
{
    uint32_t n;
    const tg_use *uses = tg_graph_uses(g, tg_value_node(v), &n);
    const tg_use *found = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (uses[i].port != tg_value_port(v)) continue;
        if (found) return NULL;
        found = &uses[i];
    }
    if (!found || found->node == 0) return NULL;
    *slot = found->slot;
    return g->nodes[found->node];
}

/* A pattern in which a value is used twice: x * f(x). */
typedef struct diamond {
    const tg_node *nodes[8];
    int n;
} diamond;

/* Follows the value to its only user, which must be `name` with a constant number near `want`. */
static bool follow(const tg_graph *g, diamond *d, tg_value *v, const char *name, float want)
{
    int slot;
    float k;
    const tg_node *user = only_user(g, *v, &slot);
    if (!op_is(user, name) || d->n == 8) return false;
    if (!isnan(want)) {
        if (user->n_in != 2 || !tg_absorb_scalar(g, user->in[1 - slot], &k)) return false;
        if (slot == 1 && strcmp(name, "Div") == 0) return false;
        if (fabsf(k - want) > 1e-5f * fabsf(want)) return false;
    }
    d->nodes[d->n++] = user;
    *v = tg_value_of(user->id, 0);
    return true;
}

/* The two users of x other than each other's: `first` begins the way round, the other is `mul`. */
static bool split_users(const tg_graph *g, tg_value x, const tg_node **first, const tg_node **mul)
{
    uint32_t n;
    const tg_use *uses = tg_graph_uses(g, tg_value_node(x), &n);
    if (n != 2 || uses[0].node == uses[1].node || !uses[0].node || !uses[1].node) return false;
    const tg_node *a = g->nodes[uses[0].node], *b = g->nodes[uses[1].node];
    *first = g->position[a->id] < g->position[b->id] ? a : b;
    *mul = *first == a ? b : a;
    return op_is(*mul, "Mul");
}

static bool reaches_mul(const tg_graph *g, tg_value v, const tg_node *mul, diamond *d,
                        tg_value *out)
{
    int slot;
    if (only_user(g, v, &slot) != mul || d->n == 8) return false;
    d->nodes[d->n++] = mul;
    *out = tg_value_of(mul->id, 0);
    return true;
}

/* x * clip(x + 3, 0, 6) / 6, also times 1/6. */
static bool match_hardswish(const tg_graph *g, const tg_node *first, const tg_node *mul, diamond *d,
                            tg_value *v)
{
    float k;
    if (op_is(first, "HardSigmoid")) {
        if (fabsf(tg_attr_or(first, "alpha", 0) - 1.0f / 6) > 1e-6f ||
            tg_attr_or(first, "beta", 0) != 0.5f)
            return false;
        return reaches_mul(g, tg_value_of(first->id, 0), mul, d, v);
    }
    if (!op_is(first, "Add")) return false;
    if (!tg_absorb_scalar(g, first->in[0], &k) && !tg_absorb_scalar(g, first->in[1], &k))
        return false;
    tg_value at = tg_value_of(first->id, 0);
    if (k != 3 || !follow(g, d, &at, "Clip", NAN)) return false;
    const tg_node *clip = d->nodes[d->n - 1];
    if (clip->n_in != 1 || tg_attr_or(clip, "min", 1) != 0 || tg_attr_or(clip, "max", 0) != 6)
        return false;
    if (!reaches_mul(g, at, mul, d, v)) return false;
    return follow(g, d, v, "Div", 6) || follow(g, d, v, "Mul", 1.0f / 6);
}

/* x * (1 + erf(x / root 2)) * 1/2. */
static bool match_gelu(const tg_graph *g, const tg_node *first, const tg_node *mul, diamond *d,
                       tg_value *v)
{
    float k;
    tg_value at = tg_value_of(first->id, 0);
    if (!op_is(first, "Div") && !op_is(first, "Mul")) return false;
    if (!tg_absorb_scalar(g, first->in[1], &k)) return false;
    if (fabsf((op_is(first, "Div") ? 1 / k : k) - 0.70710678f) > 1e-5f) return false;
    if (!follow(g, d, &at, "Erf", NAN) || !follow(g, d, &at, "Add", 1)) return false;
    if (!reaches_mul(g, at, mul, d, v)) return false;
    return follow(g, d, v, "Mul", 0.5f) || follow(g, d, v, "Div", 2);
}

/* A diamond that starts at *v: its nodes, its operation, and *v moves behind it. */
static bool match_diamond(const tg_graph *g, tg_value *v, diamond *d, tg_tail_op *op)
{
    const tg_node *first, *mul;
    if (!split_users(g, *v, &first, &mul) || !tg_eltwise_fits(g, first)) return false;
    tg_value at = *v;
    *op = (tg_tail_op){.alpha = 1, .other = TG_NO_VALUE};
    *d = (diamond){{first}, 1};
    op->kind = TG_POST_SWISH;
    bool found = op_is(first, "Sigmoid") && reaches_mul(g, tg_value_of(first->id, 0), mul, d, &at);
    if (!found) {
        *d = (diamond){{first}, 1};
        op->kind = TG_POST_HARDSWISH;
        found = match_hardswish(g, first, mul, d, &at);
    }
    if (!found) {
        *d = (diamond){{first}, 1};
        op->kind = TG_POST_GELU_ERF;
        found = match_gelu(g, first, mul, d, &at);
    }
    if (found) *v = at;
    return found;
}

static bool is_anchor(const tg_node *node)
{
    return (op_is(node, "Conv") || op_is(node, "MatMul") || op_is(node, "Gemm")) &&
           node->n_out == 1;
}

typedef struct tail {
    const tg_node *nodes[TAIL_NODES + 1]; /* and what makes integers of it */
    int n;
    tg_tail_op ops[TG_MAX_POSTS];
    int n_ops;
} tail;

/*
 * The library gives all eltwise operations of one kind the numbers of the first (oneDNN 2.6).
 * Linear ones can be written otherwise (tail.c).
 */
static bool clashes(const tail *t, const tg_tail_op *op)
{
    if (op->kind >= TG_POST_ADD || op->kind == TG_POST_LINEAR || op->norm) return false;
    for (int i = 0; i < t->n_ops; i++)
        if (t->ops[i].kind == op->kind && !t->ops[i].norm &&
            (t->ops[i].alpha != op->alpha || t->ops[i].beta != op->beta))
            return true;
    return false;
}

/* a (b x + c) + d is one linear operation. */
static bool merge_linear(tail *t, const tg_tail_op *op)
{
    tg_tail_op *last = t->n_ops ? &t->ops[t->n_ops - 1] : NULL;
    if (!last || last->kind != TG_POST_LINEAR || op->kind != TG_POST_LINEAR) return false;
    last->beta = op->alpha * last->beta + op->beta;
    last->alpha *= op->alpha;
    return true;
}

static bool tail_add(tail *t, const tg_node *const *nodes, int n, const tg_tail_op *op)
{
    if (t->n + n > TAIL_NODES) return false;
    bool merged = merge_linear(t, op);
    if (!merged && (t->n_ops == TG_MAX_POSTS || clashes(t, op))) return false;
    for (int i = 0; i < n; i++) t->nodes[t->n++] = nodes[i];
    if (!merged) t->ops[t->n_ops++] = *op;
    return true;
}

/* The axis along which the library takes a vector of terms. */
static int64_t channel_axis(const tg_node *anchor)
{
    return op_is(anchor, "Conv") ? 1 : anchor->out[0].shape.rank - 1;
}

/* One step of a tail behind *v. */
static bool tail_grow(const tg_cpu_plan *p, tg_group **groups, tail *t, tg_value *v)
{
    int slot;
    tg_tail_op op;
    diamond d;
    const tg_node *user = only_user(p->g, *v, &slot);
    if (user) {
        if (groups[user->id] || !tg_tail_op_of(p->g, user, slot, channel_axis(t->nodes[0]), &op))
            return false;
        if (!tg_shape_equal(&user->out[0].shape, &tg_graph_type(p->g, *v)->shape)) return false;
        if (!tail_add(t, &user, 1, &op)) return false;
        *v = tg_value_of(user->id, 0);
        return true;
    }
    tg_value after = *v;
    if (!match_diamond(p->g, &after, &d, &op)) return false;
    for (int i = 0; i < d.n; i++)
        if (groups[d.nodes[i]->id]) return false;
    if (!tail_add(t, d.nodes, d.n, &op)) return false;
    *v = after;
    return true;
}

/* The node that makes integers of *v, if the anchor can make them itself. */
static const tg_node *quantised_end(const tg_cpu_plan *p, tg_group **groups, const tg_node *anchor,
                                    tg_value v)
{
    int slot;
    tg_code code;
    const tg_node *user = only_user(p->g, v, &slot);
    bool fits = user && slot == 0 && !groups[user->id] && op_is(user, "QuantizeLinear") &&
                tg_quant_code(p->g, user, &code) && tg_quant_is_byte(code.dtype);
    return fits && tg_quant_anchor(p->g, anchor) ? user : NULL;
}

static void absorb_tail(const tg_cpu_plan *p, tg_group **groups, const tg_node *anchor)
{
    tail t = {.nodes = {anchor}, .n = 1};
    tg_value v = tg_value_of(anchor->id, 0);
    const tg_type *type = &anchor->out[0];
    if (type->dtype != TG_F32 || !tg_type_complete(type) || anchor->constant) return;
    while (tail_grow(p, groups, &t, &v)) {}
    const tg_node *quantize = quantised_end(p, groups, anchor, v);
    if (quantize) t.nodes[t.n++] = quantize;
    if (t.n == 1) return;
    tg_group *group = TG_NEW(p->memory, tg_group);
    group->quantize = quantize;
    group->nodes = tg_arena_dup(p->memory, t.nodes, sizeof *t.nodes * (size_t)t.n);
    group->n = t.n;
    memcpy(group->ops, t.ops, sizeof t.ops);
    group->n_ops = t.n_ops;
    for (int i = 0; i < t.n; i++) groups[t.nodes[i]->id] = group;
}

/* ---- loops ---- */

/* The first place outside the group, in running order, where one of its values is read. */
static uint32_t first_outside(const tg_graph *g, const tg_group *group)
{
    uint32_t first = UINT32_MAX;
    for (int i = 0; i < group->n; i++) {
        uint32_t n;
        const tg_use *uses = tg_graph_uses(g, group->nodes[i]->id, &n);
        for (uint32_t k = 0; k < n; k++) {
            bool inside = false;
            for (int j = 0; j < group->n; j++) inside |= group->nodes[j]->id == uses[k].node;
            uint32_t at = uses[k].node ? g->position[uses[k].node] : UINT32_MAX;
            if (!inside && at < first) first = at;
        }
    }
    return first;
}

static int outside_inputs(const tg_graph *g, const tg_group *group)
{
    int count = 0;
    for (int i = 0; i < group->n; i++) {
        const tg_node *node = group->nodes[i];
        for (int k = 0; k < node->n_in; k++) {
            float x;
            bool inside = tg_absorb_scalar(g, node->in[k], &x);
            for (int j = 0; j < group->n; j++)
                inside |= group->nodes[j]->id == tg_value_node(node->in[k]);
            count += !inside;
        }
    }
    return count;
}

/*
 * A node joins the loop of one of its inputs if nobody needs that loop's values before the node's
 * own turn: then the loop can run in the node's place.
 */
static bool join(const tg_cpu_plan *p, tg_group *group, const tg_node *node)
{
    if (!group->loop || group->n == LOOP_NODES) return false;
    if (!tg_shape_equal(&group->nodes[0]->out[0].shape, &node->out[0].shape)) return false;
    group->nodes[group->n++] = node;
    if (first_outside(p->g, group) > p->g->position[node->id] && outside_inputs(p->g, group) <= 7)
        return true;
    group->n--;
    return false;
}

static void absorb_loop(const tg_cpu_plan *p, tg_group **groups, const tg_node *node)
{
    tg_group *best = NULL;
    for (int i = 0; i < node->n_in; i++) {
        tg_group *group = groups[tg_value_node(node->in[i])];
        if (group && group->loop && group != best && (!best || group->n > best->n) &&
            tg_value_node(node->in[i]) != node->id)
            best = group;
    }
    if (best && join(p, best, node)) {
        groups[node->id] = best;
        return;
    }
    tg_group *group = TG_NEW(p->memory, tg_group);
    group->nodes = TG_NEW_ARRAY(p->memory, const tg_node *, LOOP_NODES);
    group->nodes[0] = node;
    group->n = 1;
    group->loop = true;
    groups[node->id] = group;
}

static void absorb_pass(const tg_cpu_plan *p, tg_group **groups, const tg_node *node)
{
    int slot;
    const tg_node *user =
        node->n_out == 1 ? only_user(p->g, tg_value_of(node->id, 0), &slot) : NULL;
    if (groups[node->id] || !op_is(user, "QuantizeLinear") || slot != 0 || groups[user->id]) return;
    if (!tg_quant_passes(p->g, node, user)) return;
    tg_group *group = TG_NEW(p->memory, tg_group);
    group->nodes = TG_NEW_ARRAY(p->memory, const tg_node *, 2);
    group->nodes[0] = node;
    group->nodes[1] = group->quantize = user;
    group->n = 2;
    group->passes = true;
    groups[node->id] = groups[user->id] = group;
}

tg_group **tg_absorb(const tg_cpu_plan *p)
{
    const tg_graph *g = p->g;
    tg_group **groups = TG_NEW_ARRAY(p->memory, tg_group *, g->n_ids);
    for (uint32_t i = g->n_nodes; i--;) {
        const tg_node *node = g->nodes[g->order[i]];
        if (is_anchor(node)) absorb_tail(p, groups, node);
        else absorb_pass(p, groups, node);
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (!groups[node->id] && tg_eltwise_fits(g, node)) absorb_loop(p, groups, node);
    }
    return groups;
}
