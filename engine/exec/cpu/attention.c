/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attention as products and a softmax of the library: scores = scale Q K^T + mask, their softmax
 * along the keys, times V. What the operator can do besides is done in attend.c.
 */
#include "loop.h"
#include "tail.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, INPUTS };

static bool is_set(const tg_node *node, const char *name, int64_t usual)
{
    const tg_attr *a = tg_node_attr(node, name);
    return a->kind == TG_ATTR_INT && a->i != usual;
}

static bool is_plain(const tg_cpu_plan *p, const tg_node *node)
{
    if (node->n_in > INPUTS || node->n_out != 1 || tg_node_attr(node, "softcap")->f != 0)
        return false;
    if (is_set(node, "is_causal", 0) || is_set(node, "left_window_size", -1) ||
        is_set(node, "right_window_size", -1) || is_set(node, "softmax_precision", TG_F32))
        return false;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE || !tg_cpu_is_float(p, node->in[i])) return false;
        if (i < MASK && tg_cpu_type(p, node->in[i])->shape.rank != 4) return false;
    }
    const tg_shape *q = &tg_cpu_type(p, node->in[Q])->shape;
    return q->dim[1] == tg_cpu_type(p, node->in[K])->shape.dim[1] &&
           tg_shape_count(&node->out[0].shape) > 0 && q->dim[3] > 0;
}

/* As it lies if its rows do not overlap, else moved. */
static tg_status matrices_of(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    TG_TRY(tg_cpu_value(p, v, out));
    if (out->layout.stride[3] == 1 && out->layout.stride[2] >= out->shape.dim[3]) return TG_OK;
    return tg_cpu_plain(p, v, out);
}

/* A query that sees no key gets zeros, which the library's softmax does not give. */
static bool leaves_keys(const tg_cpu_plan *p, const tg_operand *mask)
{
    const float *x = tg_cpu_constant_data(p, mask);
    int64_t n = tg_shape_count(&mask->shape), keys = mask->shape.dim[mask->shape.rank - 1];
    for (int64_t i = 0; x && i < n; i += keys) {
        int64_t j = 0;
        while (j < keys && x[i + j] == -INFINITY) j++;
        if (j == keys) return false;
    }
    return x != NULL;
}

/* The mask with four axes; its last has an entry for each key. */
static tg_status mask_of(tg_cpu_plan *p, tg_value v, int64_t keys, tg_operand *out)
{
    TG_TRY(tg_cpu_plain(p, v, out));
    int64_t r = out->shape.rank;
    if (r < 1 || r > 4 || out->shape.dim[r - 1] != keys)
        return tg_fail(TG_UNSUPPORTED, "a mask that ends early");
    if (!leaves_keys(p, out)) return tg_fail(TG_UNSUPPORTED, "a mask that may leave no key");
    tg_shape s = tg_shape_of(1, 1, 1, 1);
    for (int64_t i = 0; i < r; i++) s.dim[4 - r + i] = out->shape.dim[i];
    int64_t offset = out->layout.offset;
    out->shape = s;
    out->layout = tg_layout_plain(&s);
    out->layout.offset = offset;
    return TG_OK;
}

static void exchange_last(tg_operand *at)
{
    int64_t dim = at->shape.dim[2], stride = at->layout.stride[2];
    at->shape.dim[2] = at->shape.dim[3];
    at->layout.stride[2] = at->layout.stride[3];
    at->shape.dim[3] = dim;
    at->layout.stride[3] = stride;
}

/* A result between the primitives, dense. */
static tg_operand between(tg_cpu_plan *p, const tg_shape *shape)
{
    tg_operand at = {-1, TG_F32, *shape, tg_layout_plain(shape)};
    at.buffer = tg_cpu_scratch(p, (size_t)tg_shape_count(shape) * sizeof(float));
    return at;
}

/* o->dst = o->src o->weights, with the post-operations that the record has. */
static tg_status multiply(tg_cpu_plan *p, const tg_node *node, tg_prim_spec *spec,
                          tg_prim_operands *o)
{
    spec->kind = TG_PRIM_MATMUL;
    spec->threads = p->threads;
    spec->src = tg_cpu_md_plain(&o->src);
    spec->weights = tg_cpu_md_plain(&o->weights);
    spec->dst = tg_cpu_md_plain(&o->dst);
    const tg_prim *prim = tg_prim_get(spec);
    if (!prim->usable || prim->slow) return tg_fail(TG_UNSUPPORTED, "no such product");
    return tg_cpu_prim(p, node, prim, o);
}

static tg_status plan_scores(tg_cpu_plan *p, const tg_node *node, const tg_operand *in,
                             const tg_operand *scores)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    const tg_attr *scale = tg_node_attr(node, "scale");
    o.src = in[Q];
    o.weights = in[K];
    o.dst = *scores;
    exchange_last(&o.weights);
    spec.post[0].kind = TG_POST_LINEAR;
    spec.post[0].alpha =
        scale->kind == TG_ATTR_FLOAT ? scale->f : 1 / sqrtf((float)in[Q].shape.dim[3]);
    spec.n_post = 1;
    if (node->n_in > MASK) {
        o.post[1] = in[MASK];
        spec.post[1].kind = TG_POST_ADD;
        spec.post[1].md = tg_cpu_md_plain(&in[MASK]);
        spec.n_post = 2;
    }
    return multiply(p, node, &spec, &o);
}

static tg_status plan_softmax(tg_cpu_plan *p, const tg_node *node, const tg_operand *from,
                              const tg_operand *to)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    spec.kind = TG_PRIM_SOFTMAX;
    spec.threads = p->threads;
    spec.axis = 3;
    o.src = *from;
    o.dst = *to;
    spec.src = tg_cpu_md_plain(&o.src);
    spec.dst = tg_cpu_md_plain(&o.dst);
    const tg_prim *prim = tg_prim_get(&spec);
    if (!prim->usable) return tg_fail(TG_UNSUPPORTED, "no such softmax");
    return tg_cpu_prim(p, node, prim, &o);
}

static tg_status plan_plain(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand in[INPUTS];
    tg_prim_spec spec;
    tg_prim_operands o;
    if (!is_plain(p, node)) return tg_fail(TG_UNSUPPORTED, "kind of attention");
    for (int i = 0; i < node->n_in && i < MASK; i++) TG_TRY(matrices_of(p, node->in[i], &in[i]));
    tg_shape s = in[Q].shape;
    s.dim[3] = in[K].shape.dim[2];
    if (node->n_in > MASK) TG_TRY(mask_of(p, node->in[MASK], s.dim[3], &in[MASK]));
    tg_operand scores = between(p, &s), shares = between(p, &s);
    TG_TRY(plan_scores(p, node, in, &scores));
    TG_TRY(plan_softmax(p, node, &scores, &shares));
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    tg_layout plain = tg_layout_plain(&node->out[0].shape);
    o.src = shares;
    o.weights = in[V];
    o.dst = tg_cpu_new(p, &node->out[0], &plain);
    tg_cpu_set(p, node, 0, &o.dst);
    return multiply(p, node, &spec, &o);
}

/* The plain form by primitives, others by a loop of ours. */
tg_status tg_cpu_plan_attention(tg_cpu_plan *p, const tg_node *node)
{
    tg_status status = plan_plain(p, node);
    return status == TG_UNSUPPORTED ? tg_cpu_plan_attend(p, node) : status;
}
