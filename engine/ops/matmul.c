/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMul and Gemm. */
#include "matmul.h"

#include "product.h"

static tg_status inner_differ(const tg_shape *a, const tg_shape *b)
{
    char ta[TG_SHAPE_TEXT], tb[TG_SHAPE_TEXT];
    return tg_fail(TG_SHAPE, "inner dimensions of %s and %s differ", tg_shape_text(ta, a),
                   tg_shape_text(tb, b));
}

/* A vector stands as a row on the left and as a column on the right. */
static void as_matrices(tg_shape *a, tg_shape *b)
{
    if (a->rank == 1) *a = tg_shape_of(1, a->dim[0]);
    if (b->rank == 1) *b = tg_shape_of(b->dim[0], 1);
}

static tg_shape batch_of(const tg_shape *s)
{
    return tg_shape_from(s->dim, (int)s->rank - 2);
}

tg_status tg_matmul_shape(const tg_shape *a, const tg_shape *b, tg_shape *out)
{
    if (a->rank < 1 || b->rank < 1)
        return tg_fail(TG_SHAPE, "a scalar is no operand of a matrix product");
    tg_shape x = *a, y = *b, xb, yb, batch;
    as_matrices(&x, &y);
    if (x.dim[x.rank - 1] != y.dim[y.rank - 2]) return inner_differ(a, b);
    xb = batch_of(&x);
    yb = batch_of(&y);
    TG_TRY(tg_shape_broadcast(&xb, &yb, &batch));
    if (a->rank > 1) batch.dim[batch.rank++] = x.dim[x.rank - 2];
    if (b->rank > 1) batch.dim[batch.rank++] = y.dim[y.rank - 1];
    *out = batch;
    return TG_OK;
}

tg_matmul tg_matmul_of(const tg_shape *a, const tg_shape *b)
{
    tg_matmul p = {.a = *a, .b = *b};
    as_matrices(&p.a, &p.b);
    tg_shape xb = batch_of(&p.a), yb = batch_of(&p.b);
    /* Inference has checked the shapes. */
    if (tg_shape_broadcast(&xb, &yb, &p.out) != TG_OK) p.out = (tg_shape){.rank = 0};
    p.batch = tg_shape_count(&p.out);
    p.m = p.a.dim[p.a.rank - 2];
    p.k = p.a.dim[p.a.rank - 1];
    p.n = p.b.dim[p.b.rank - 1];
    return p;
}

/* Element at which the matrix of batch i begins in an operand that may broadcast. */
static int64_t matrix_at(const tg_shape *s, const tg_shape *batch, int64_t i)
{
    int64_t at = 0, stride = s->dim[s->rank - 1] * s->dim[s->rank - 2];
    for (int64_t k = 1; k <= batch->rank && k <= s->rank - 2; k++) {
        int64_t size = batch->dim[batch->rank - k], own = s->dim[s->rank - 2 - k];
        if (own != 1) at += i % size * stride;
        i /= size;
        stride *= own;
    }
    return at;
}

int64_t tg_matmul_a_at(const tg_matmul *p, int64_t i)
{
    return matrix_at(&p->a, &p->out, i);
}

int64_t tg_matmul_b_at(const tg_matmul *p, int64_t i)
{
    return matrix_at(&p->b, &p->out, i);
}

void tg_matmul_run(const tg_matmul *p, const double *a, const double *b, double *y)
{
    for (int64_t i = 0; i < p->batch; i++) {
        const double *left = a + tg_matmul_a_at(p, i), *right = b + tg_matmul_b_at(p, i);
        tg_product_add(p->m, p->n, p->k, left, right, y + i * p->m * p->n);
    }
}

static tg_status need_number(const tg_infer *infer, int slot)
{
    char kind = tg_dtype_kind(infer->in[slot].dtype);
    if (kind == 'f' || kind == 'i' || kind == 'u') return TG_OK;
    return tg_fail(TG_TYPE, "element type %s has no product", tg_dtype_name(infer->in[slot].dtype));
}

tg_status infer_matmul(tg_infer *infer)
{
    TG_TRY(need_number(infer, 0));
    TG_TRY(tg_need_same(infer, 1, 0, "the right operand"));
    infer->out[0].dtype = infer->in[0].dtype;
    return tg_matmul_shape(&infer->in[0].shape, &infer->in[1].shape, &infer->out[0].shape);
}

/* Integers wrap, as in the type itself. */
static void run_ints(tg_call *call, const tg_matmul *p)
{
    for (int64_t i = 0; i < p->batch; i++) {
        int64_t left = tg_matmul_a_at(p, i), right = tg_matmul_b_at(p, i);
        for (int64_t r = 0; r < p->m; r++)
            for (int64_t c = 0; c < p->n; c++) {
                uint64_t sum = 0;
                for (int64_t k = 0; k < p->k; k++)
                    sum += (uint64_t)tg_tensor_i64(&call->in[0], left + r * p->k + k) *
                           (uint64_t)tg_tensor_i64(&call->in[1], right + k * p->n + c);
                tg_tensor_set_i64(&call->out[0], (i * p->m + r) * p->n + c, (int64_t)sum);
            }
    }
}

tg_status kernel_matmul(tg_call *call)
{
    tg_matmul p = tg_matmul_of(&call->in[0].shape, &call->in[1].shape);
    if (tg_dtype_kind(call->in[0].dtype) != 'f') {
        run_ints(call, &p);
        return TG_OK;
    }
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    tg_matmul_run(&p, tg_call_doubles(call, 0), tg_call_doubles(call, 1), y);
    tg_call_store(call, 0, y);
    return TG_OK;
}

static tg_status check_addend(const tg_infer *infer, const tg_shape *out)
{
    tg_shape both;
    if (!has_type(infer, 2)) return TG_OK;
    if (tg_shape_broadcast(&infer->in[2].shape, out, &both) == TG_OK && tg_shape_equal(&both, out))
        return TG_OK;
    char tc[TG_SHAPE_TEXT], ty[TG_SHAPE_TEXT];
    return tg_fail(TG_SHAPE, "the addend's shape %s does not broadcast to %s",
                   tg_shape_text(tc, &infer->in[2].shape), tg_shape_text(ty, out));
}

tg_status infer_gemm(tg_infer *infer)
{
    TG_TRY(need_number(infer, 0));
    TG_TRY(tg_need_same(infer, 1, 0, "the right operand"));
    TG_TRY(tg_need_same(infer, 2, 0, "the addend"));
    TG_TRY(tg_need_rank(infer, 0, "the left operand", 2, 2));
    TG_TRY(tg_need_rank(infer, 1, "the right operand", 2, 2));
    tg_attr *ta = tg_infer_attr(infer, "transA"), *tb = tg_infer_attr(infer, "transB");
    ta->i = ta->i != 0;
    tb->i = tb->i != 0;
    const tg_shape *a = &infer->in[0].shape, *b = &infer->in[1].shape;
    if (a->dim[!ta->i] != b->dim[tb->i]) return inner_differ(a, b);
    tg_shape out = tg_shape_of(a->dim[ta->i], b->dim[!tb->i]);
    TG_TRY(check_addend(infer, &out));
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

/* A copy of the m x n matrix x, its axes exchanged. */
static const double *transposed(tg_call *call, const double *x, int64_t m, int64_t n)
{
    double *y = tg_call_scratch(call, m * n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < n; k++) y[k * m + i] = x[i * n + k];
    return y;
}

tg_status kernel_gemm(tg_call *call)
{
    const tg_shape *a = &call->in[0].shape, *b = &call->in[1].shape, *out = &call->out[0].shape;
    const double *x = tg_call_doubles(call, 0), *w = tg_call_doubles(call, 1);
    if (call_int(call, "transA")) x = transposed(call, x, a->dim[0], a->dim[1]);
    if (call_int(call, "transB")) w = transposed(call, w, b->dim[0], b->dim[1]);
    int64_t m = out->dim[0], n = out->dim[1], k = a->dim[!call_int(call, "transA")];
    tg_shape left = tg_shape_of(m, k), right = tg_shape_of(k, n);
    tg_matmul p = tg_matmul_of(&left, &right);
    double *y = tg_call_scratch(call, m * n), alpha = call_float(call, "alpha"),
           beta = call_float(call, "beta");
    tg_matmul_run(&p, x, w, y);
    const double *c = tg_call_doubles(call, 2);
    const tg_shape *s = c ? &call->in[2].shape : NULL;
    int64_t columns = s && s->rank > 0 ? s->dim[s->rank - 1] : 1;
    int64_t rows = s && s->rank > 1 ? s->dim[0] : 1;
    for (int64_t i = 0; i < m * n; i++) {
        y[i] *= alpha;
        if (c) y[i] += beta * c[(rows == 1 ? 0 : i / n * columns) + (columns == 1 ? 0 : i % n)];
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
