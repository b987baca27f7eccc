/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of matrices, with what follows them. */
#include "tail.h"

#include "eltwise.h"
#include "quant.h"

#include <stdlib.h>
#include <string.h>

/* A product [batch..., m, k] by [batch..., k, n], its operands as they lie. */
typedef struct product {
    tg_operand a, b;
    tg_operand third; /* added; buffer -1: none */
    bool third_is_bias;
    float alpha;
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

/* alpha and the third operand, before what follows the node. */
static void place_own(const product *x, tg_prim_spec *spec, tg_prim_operands *o)
{
    if (x->third.buffer >= 0 && x->third_is_bias) {
        o->bias = x->third;
        spec->bias = tg_cpu_md_plain(&o->bias);
    }
    if (x->alpha != 1) {
        spec->post[spec->n_post].kind = TG_POST_LINEAR;
        spec->post[spec->n_post++].alpha = x->alpha;
    }
    if (x->third.buffer >= 0 && !x->third_is_bias) {
        o->post[spec->n_post] = x->third;
        spec->post[spec->n_post].kind = TG_POST_ADD;
        spec->post[spec->n_post++].md = tg_cpu_md_plain(&x->third);
    }
}

static tg_status finish(tg_cpu_plan *p, const tg_node *node, const product *x)
{
    tg_prim_spec record, *spec = &record;
    memset(spec, 0, sizeof *spec);
    const tg_group *group = p->groups[node->id];
    const tg_node *last = group ? group->nodes[group->n - 1] : node;
    tg_prim_operands o;
    tg_operand_none(&o);
    tg_layout layout = tg_layout_plain(&x->out);
    spec->kind = TG_PRIM_MATMUL;
    spec->threads = p->threads;
    tg_tail_in in = {.p = p, .node = node, .group = group, .layout = &layout};
    in.bias = TG_NO_VALUE;
    in.shape = x->out;
    in.axis = (int)x->out.rank - 1;
    place_own(x, spec, &o);
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

static bool ends_quantised(const tg_cpu_plan *p, const tg_node *node)
{
    return p->groups[node->id] && p->groups[node->id]->quantize;
}

tg_status tg_cpu_plan_matmul(tg_cpu_plan *p, const tg_node *node)
{
    product x = {.alpha = 1, .third = {.buffer = -1}};
    if (!floats_only(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    if (tg_quant_anchor(p->g, node)) {
        tg_status status = tg_quant_matmul(p, node);
        if (status != TG_UNSUPPORTED || ends_quantised(p, node)) return status;
    }
    TG_TRY(as_matrix(p, node->in[0], &x.a));
    TG_TRY(as_matrix(p, node->in[1], &x.b));
    if (x.a.shape.rank == 1) x.a = with_rank(x.a, 2);
    if (x.b.shape.rank == 1) x.b = column(x.b);
    if (is_one_matrix(&x.b)) {
        TG_TRY(join_rows(p, node->in[0], &x));
        return finish(p, node, &x);
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
    return finish(p, node, &x);
}

static void exchange(tg_operand *at)
{
    int64_t dim = at->shape.dim[0], stride = at->layout.stride[0];
    at->shape.dim[0] = at->shape.dim[1];
    at->layout.stride[0] = at->layout.stride[1];
    at->shape.dim[1] = dim;
    at->layout.stride[1] = stride;
}

/* A constant third operand times `factor`, as a vector along n if it is one, else of full size. */
static tg_status scale_constant(tg_cpu_plan *p, tg_value v, const tg_shape *out, float factor,
                                tg_operand *to)
{
    tg_operand at;
    TG_TRY(tg_cpu_plain(p, v, &at));
    const float *x = tg_cpu_constant_data(p, &at);
    int64_t m = out->dim[0], n = out->dim[1], r = at.shape.rank;
    int64_t columns = r ? at.shape.dim[r - 1] : 1, rows = r > 1 ? at.shape.dim[r - 2] : 1;
    if (rows == 1) m = 1;
    float *y = tg_calloc((size_t)(m * n), sizeof *y);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[i * n + j] = factor * x[i * columns + (columns == 1 ? 0 : j)];
    tg_shape shape = tg_shape_of(m, n);
    *to = tg_cpu_constant(p, TG_F32, &shape, y);
    free(y);
    return TG_OK;
}

/* alpha (A B + beta / alpha C) if C is a constant vector, else alpha A B + C. */
static tg_status place_third(tg_cpu_plan *p, const tg_node *node, product *x)
{
    tg_value c = node->n_in > 2 ? node->in[2] : TG_NO_VALUE;
    float beta = tg_attr_or(node, "beta", 1);
    x->alpha = tg_attr_or(node, "alpha", 1);
    x->third.buffer = -1;
    if (x->alpha == 0) return tg_fail(TG_UNSUPPORTED, "nothing to multiply");
    if (c == TG_NO_VALUE || beta == 0) return TG_OK;
    const tg_shape *s = &tg_cpu_type(p, c)->shape;
    int64_t rows = s->rank > 1 ? s->dim[s->rank - 2] : 1;
    if (tg_graph_maker(p->g, c)->constant) {
        x->third_is_bias = rows == 1;
        return scale_constant(p, c, &x->out, rows == 1 ? beta / x->alpha : beta, &x->third);
    }
    bool vector = tg_shape_count(s) == x->out.dim[1] && rows == 1;
    if (beta != 1 || (!vector && !tg_shape_equal(s, &x->out)))
        return tg_fail(TG_UNSUPPORTED, "the third operand repeats");
    x->third_is_bias = vector && x->alpha == 1;
    TG_TRY(tg_cpu_plain(p, c, &x->third));
    x->third = with_rank(x->third, 2);
    return TG_OK;
}

tg_status tg_cpu_plan_gemm(tg_cpu_plan *p, const tg_node *node)
{
    product x = {.alpha = 1};
    if (!floats_only(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    if (tg_quant_anchor(p->g, node)) {
        tg_status status = tg_quant_matmul(p, node);
        if (status != TG_UNSUPPORTED || ends_quantised(p, node)) return status;
    }
    x.out = node->out[0].shape;
    TG_TRY(place_third(p, node, &x));
    TG_TRY(as_matrix(p, node->in[0], &x.a));
    TG_TRY(as_matrix(p, node->in[1], &x.b));
    if (tg_node_attr(node, "transA")->i) exchange(&x.a);
    if (tg_node_attr(node, "transB")->i) exchange(&x.b);
    return finish(p, node, &x);
}
