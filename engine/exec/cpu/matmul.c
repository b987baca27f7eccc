/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of matrices, with what follows them. */
#include "tail.h"

#include "eltwise.h"

#include <stdlib.h>
#include <string.h>

/* A product [batch..., m, k] by [batch..., k, n], its operands as they lie. */
typedef struct product {
    tg_operand a, b;
    tg_shape out;
} product;

static bool floats_only(const tg_cpu_plan *p, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE && !tg_cpu_is_float(p, node->in[i])) return false;
    return node->out[0].dtype == TG_F32 && tg_shape_count(&node->out[0].shape) > 0;
}

/* Axes of size 1 are put before until the rank is reached. */
static tg_operand with_rank(tg_operand at, int64_t rank)
{
    int64_t add = rank - at.shape.rank;
    if (add <= 0) return at;
    for (int64_t i = rank - 1; i >= 0; i--) {
        at.shape.dim[i] = i < add ? 1 : at.shape.dim[i - add];
        at.layout.stride[i] = i < add ? 0 : at.layout.stride[i - add];
    }
    at.shape.rank = rank;
    return at;
}

static tg_operand column(tg_operand at)
{
    at.shape = tg_shape_of(at.shape.dim[0], 1);
    at.layout.stride[1] = 1;
    return at;
}

/* The library reads matrices of which one axis has stride 1. */
static bool is_matrix(const tg_operand *at)
{
    int64_t r = at->shape.rank, *s = (int64_t *)at->layout.stride;
    const int64_t *d = at->shape.dim;
    if (r < 2) return true;
    if (s[r - 1] == 1 || d[r - 1] == 1) return s[r - 2] >= d[r - 1] || d[r - 2] == 1;
    return (s[r - 2] == 1 || d[r - 2] == 1) && s[r - 1] >= d[r - 2];
}

static tg_status as_matrix(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    TG_TRY(tg_cpu_value(p, v, out));
    if (is_matrix(out)) return TG_OK;
    return tg_cpu_plain(p, v, out);
}

/* One matrix on the right for all on the left: one tall product. */
static tg_status join_rows(tg_cpu_plan *p, tg_value va, product *x)
{
    int64_t k = x->a.shape.dim[x->a.shape.rank - 1], rows = tg_shape_count(&x->a.shape) / k;
    int64_t n = x->b.shape.dim[x->b.shape.rank - 1];
    tg_shape flat = tg_shape_of(rows, k);
    tg_operand a = x->a;
    if (!tg_layout_reshape(&x->a.shape, &x->a.layout, &flat, &a.layout) ||
        (a.layout.stride[1] != 1 && k != 1)) {
        TG_TRY(tg_cpu_plain(p, va, &a));
        int64_t offset = a.layout.offset;
        a.layout = tg_layout_plain(&flat);
        a.layout.offset = offset;
    }
    a.shape = flat;
    x->a = a;
    int64_t r = x->b.shape.rank;
    x->b.layout.stride[0] = x->b.layout.stride[r - 2];
    x->b.layout.stride[1] = x->b.layout.stride[r - 1];
    for (int64_t i = 2; i < r; i++) x->b.layout.stride[i] = 0;
    x->b.shape = tg_shape_of(k, n);
    x->out = tg_shape_of(rows, n);
    return TG_OK;
}

static bool is_one_matrix(const tg_operand *b)
{
    for (int64_t i = 0; i + 2 < b->shape.rank; i++)
        if (b->shape.dim[i] != 1) return false;
    return b->shape.rank >= 2;
}

static tg_status finish(tg_cpu_plan *p, const tg_node *node, const product *x, tg_value bias,
                        tg_prim_spec *spec)
{
    const tg_group *group = p->groups[node->id];
    const tg_node *last = group ? group->nodes[group->n - 1] : node;
    tg_prim_operands o;
    tg_operand_none(&o);
    tg_layout layout = tg_layout_plain(&x->out);
    spec->kind = TG_PRIM_MATMUL;
    spec->threads = p->threads;
    tg_tail_in in = {.p = p, .node = node, .group = group, .layout = &layout, .bias = bias};
    in.shape = x->out;
    in.axis = (int)x->out.rank - 1;
    TG_TRY(tg_tail_place(&in, spec, &o));
    o.src = x->a;
    o.weights = x->b;
    spec->src = tg_cpu_md_plain(&o.src);
    bool packs = tg_cpu_constant_data(p, &o.weights) && x->out.rank == 2;
    spec->weights = packs ? tg_cpu_md_any(&o.weights) : tg_cpu_md_plain(&o.weights);
    o.dst = (tg_operand){-1, TG_F32, x->out, layout};
    spec->dst = tg_cpu_md_plain(&o.dst);
    const tg_prim *prim = tg_prim_get(spec);
    if (!prim->usable || (prim->slow && group)) return tg_fail(TG_UNSUPPORTED, "no such product");
    tg_layout plain = tg_layout_plain(&node->out[0].shape);
    tg_operand dst = tg_cpu_new(p, &node->out[0], &plain);
    o.dst.buffer = dst.buffer;
    tg_cpu_set(p, last, 0, &dst);
    if (group) p->stats->absorbed += group->n - 1;
    return tg_cpu_prim(p, node, prim, &o);
}

tg_status tg_cpu_plan_matmul(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    product x;
    memset(&spec, 0, sizeof spec);
    if (!floats_only(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    TG_TRY(as_matrix(p, node->in[0], &x.a));
    TG_TRY(as_matrix(p, node->in[1], &x.b));
    if (x.a.shape.rank == 1) x.a = with_rank(x.a, 2);
    if (x.b.shape.rank == 1) x.b = column(x.b);
    if (is_one_matrix(&x.b)) {
        TG_TRY(join_rows(p, node->in[0], &x));
        return finish(p, node, &x, TG_NO_VALUE, &spec);
    }
    int64_t rank = x.a.shape.rank > x.b.shape.rank ? x.a.shape.rank : x.b.shape.rank;
    x.a = with_rank(x.a, rank);
    x.b = with_rank(x.b, rank);
    x.out = x.a.shape;
    x.out.dim[rank - 1] = x.b.shape.dim[rank - 1];
    for (int64_t i = 0; i + 2 < rank; i++)
        if (x.out.dim[i] == 1) x.out.dim[i] = x.b.shape.dim[i];
    if (!tg_shape_equal(&x.out, &node->out[0].shape) && p->groups[node->id])
        return tg_fail(TG_UNSUPPORTED, "a tail needs the node's own shape");
    return finish(p, node, &x, TG_NO_VALUE, &spec);
}

static void exchange(tg_operand *at)
{
    int64_t dim = at->shape.dim[0], stride = at->layout.stride[0];
    at->shape.dim[0] = at->shape.dim[1];
    at->layout.stride[0] = at->layout.stride[1];
    at->shape.dim[1] = dim;
    at->layout.stride[1] = stride;
}

/* C is a bias if it runs along n and nothing scales. */
tg_status tg_cpu_plan_gemm(tg_cpu_plan *p, const tg_node *node)
{
    tg_prim_spec spec;
    product x;
    memset(&spec, 0, sizeof spec);
    if (!floats_only(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    float alpha = tg_attr_or(node, "alpha", 1), beta = tg_attr_or(node, "beta", 1);
    tg_value bias = node->n_in > 2 && beta != 0 ? node->in[2] : TG_NO_VALUE;
    if (alpha != 1 || (bias != TG_NO_VALUE && beta != 1))
        return tg_fail(TG_UNSUPPORTED, "scaled product");
    if (bias != TG_NO_VALUE) {
        const tg_shape *s = &tg_cpu_type(p, bias)->shape;
        int64_t n = node->out[0].shape.dim[1];
        if (tg_shape_count(s) != n || s->dim[s->rank - 1] != n)
            return tg_fail(TG_UNSUPPORTED, "the third operand is no bias");
    }
    TG_TRY(as_matrix(p, node->in[0], &x.a));
    TG_TRY(as_matrix(p, node->in[1], &x.b));
    if (tg_node_attr(node, "transA")->i) exchange(&x.a);
    if (tg_node_attr(node, "transB")->i) exchange(&x.b);
    x.out = node->out[0].shape;
    return finish(p, node, &x, bias, &spec);
}
