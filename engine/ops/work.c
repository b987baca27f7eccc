/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of the operators that do more, or less, than one operation an output element. */
#include "rows.h"

static double count(const tg_type *t)
{
    return tg_type_complete(t) ? (double)tg_shape_count(&t->shape) : 0;
}

static double bytes(const tg_type *t, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (tg_type_complete(&t[i])) sum += (double)tg_type_bytes(&t[i]);
    return sum;
}

/* All inputs read and all outputs written once, in one kernel. */
static tg_work once(double flops, const tg_type *in, int n_in, const tg_type *out, int n_out)
{
    return (tg_work){flops, bytes(in, n_in) + bytes(out, n_out), 1, 0};
}

#define WORK(name)                                                                                 \
    void work_##name(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out,         \
                     int n_out, tg_work *work)

/* Multiplications that one weight filter takes for one output element. */
static double filter(const tg_type *w)
{
    double n = 1;
    for (int i = 1; i < w->shape.rank; i++) n *= (double)w->shape.dim[i];
    return n;
}

/* The bias is read on the way and costs nothing. */
WORK(conv)
{
    (void)attr, (void)n_in;
    *work = once(2 * count(out) * filter(&in[1]), in, 2, out, n_out);
}

WORK(conv_transpose)
{
    (void)attr, (void)n_in;
    *work = once(2 * count(in) * filter(&in[1]), in, 2, out, n_out);
}

WORK(qlinear_conv)
{
    (void)attr;
    *work = once(2 * count(out) * filter(&in[3]), in, n_in, out, n_out);
}

WORK(matmul)
{
    (void)attr;
    const tg_shape *a = &in[0].shape;
    double k = a->rank > 0 ? (double)a->dim[a->rank - 1] : 0;
    *work = once(2 * count(out) * k, in, n_in, out, n_out);
}

WORK(gemm)
{
    (void)attr;
    const tg_shape *y = &out[0].shape;
    double k = y->rank > 0 && y->dim[0] > 0 ? count(&in[0]) / (double)y->dim[0] : 0;
    *work = once(2 * count(out) * k, in, n_in, out, n_out);
}

static void pool(tg_op op, const tg_attr *attr, const tg_type *in, const tg_type *out, int n_out,
                 tg_work *work)
{
    const tg_attr *kernel = tg_row_attr(tg_op_get(op), attr, "kernel_shape");
    double window = 1;
    for (uint32_t i = 0; i < kernel->n; i++) window *= (double)kernel->ints[i];
    *work = once(window * count(out), in, 1, out, n_out);
}

WORK(max_pool)
{
    (void)n_in;
    pool(TG_OP(MaxPool), attr, in, out, n_out, work);
}

WORK(average_pool)
{
    (void)n_in;
    pool(TG_OP(AveragePool), attr, in, out, n_out, work);
}

WORK(lp_pool)
{
    (void)n_in;
    pool(TG_OP(LpPool), attr, in, out, n_out, work);
}

/* An operation an input element: global pooling, sums and the like. */
WORK(reduce)
{
    (void)attr;
    *work = once(count(in), in, n_in, out, n_out);
}

/* Maximum, difference, exponential, sum, quotient. */
WORK(softmax)
{
    (void)attr;
    *work = once(5 * count(out), in, n_in, out, n_out);
}

/* Mean, difference, square, sum, quotient, scale, shift. */
WORK(layer_norm)
{
    (void)attr;
    *work = once(7 * count(out), in, n_in, out, n_out);
}

/* Bytes only. */
WORK(move)
{
    (void)attr;
    *work = once(0, in, n_in, out, n_out);
}

/* A copy for each piece. */
WORK(concat)
{
    (void)attr;
    *work = once(0, in, n_in, out, n_out);
    work->kernels = n_in;
}

/* Reads only what it picks. */
WORK(pick)
{
    (void)attr, (void)in, (void)n_in;
    *work = (tg_work){0, 2 * bytes(out, n_out), 1, 0};
}

/* A weighted sum of neighbours along each axis that changes. */
WORK(resize)
{
    (void)attr;
    *work = once(4 * count(out), in, n_in, out, n_out);
}

/* Steps follow each other: every step reads W and R (slots 1 and 2) and launches anew. */
WORK(recurrent)
{
    (void)attr;
    const tg_shape *x = &in[0].shape;
    double steps = x->rank == 3 ? (double)x->dim[0] : 1, batch = x->rank == 3 ? x->dim[1] : 1;
    double weights = count(&in[1]) + count(&in[2]);
    *work = once(2 * steps * batch * weights, in, n_in, out, n_out);
    work->kernels = (int)(steps < 1 ? 1 : steps > 1e6 ? 1e6 : steps);
}

/* Two products and a softmax: every query meets every key. */
WORK(attention)
{
    const tg_shape *q = &in[0].shape, *k = &in[1].shape;
    const tg_shape *past = n_in > 4 && in[4].shape.rank == 4 ? &in[4].shape : NULL;
    double keys = (double)k->dim[k->rank == 4 ? 2 : 1] + (past ? (double)past->dim[2] : 0);
    double size = q->rank > 0 ? (double)q->dim[q->rank - 1] : 0;
    double heads =
        q->rank == 4 ? 1 : (double)tg_row_int(tg_op_get(TG_OP(Attention)), attr, "q_num_heads");
    double rows = size > 0 ? count(&in[0]) / size * heads : 0; /* of scores */
    double scores = rows * keys;
    double v_size = rows > 0 ? count(&out[0]) / rows : 0;
    *work = once(2 * scores * (size / heads + v_size) + 5 * scores, in, n_in, out, n_out);
}

/* Every token updates a state of key size by value size for each head, and reads it. */
WORK(linear_attention)
{
    const tg_op_row *row = tg_op_get(TG_OP(LinearAttention));
    double heads = (double)tg_row_int(row, attr, "q_num_heads");
    double kv_heads = (double)tg_row_int(row, attr, "kv_num_heads");
    double rows = count(&in[0]); /* of states, one for each query head */
    double v_size = rows > 0 ? (double)in[2].shape.dim[2] / kv_heads : 0;
    *work = once(rows * v_size * (2 + 5 * kv_heads / heads), in, n_in, out, n_out);
}
