/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Didactic graphs: each shows one family of rewrites. */
#include "maker.h"

#include <math.h>

tg_value sample_conv_bn(maker *m)
{
    tg_value x = make_input(m, "x", DIMS(1, 8, 16, 16));
    for (int i = 0; i < 2; i++) {
        x = make_conv(m, x, (conv_spec){.out = 16, .kh = 3, .kw = 3, .pad = SAME});
        x = make_unary(m, TG_OP(Relu), make_batch_norm(m, x));
    }
    return x;
}

tg_value sample_branches(maker *m)
{
    tg_value x = make_input(m, "x", DIMS(1, 16, 14, 14));
    tg_value part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = make_conv(
            m, x,
            (conv_spec){
                .out = 8, .kh = i == 2 ? 3 : 1, .kw = i == 2 ? 3 : 1, .pad = SAME, .bias = true});
        part[i] = make_unary(m, TG_OP(Relu), part[i]);
    }
    x = make_concat(m, part, 3, 1);
    return make_pool(m, false, x, 2, 2, VALID);
}

static tg_value heads(maker *m, tg_value x, int64_t s, int64_t n, int64_t d, bool key)
{
    int64_t by_head[] = {1, 0, 2}, transposed[] = {1, 2, 0};
    return make_transpose(m, make_reshape(m, x, DIMS(s, n, d)), 3, key ? transposed : by_head);
}

/* One block of self-attention with its scale spelled out, as exporters write it. */
tg_value sample_attention(maker *m)
{
    enum { S = 32, N = 4, D = 16 };
    tg_value x = make_input(m, "x", DIMS(S, N * D));
    tg_value q = heads(m, make_matmul(m, x, N * D), S, N, D, false);
    tg_value k = heads(m, make_matmul(m, x, N * D), S, N, D, true);
    tg_value v = heads(m, make_matmul(m, x, N * D), S, N, D, false);
    tg_value scores = make_binary(m, TG_OP(Div), make_binary(m, TG_OP(MatMul), q, k),
                                  tg_build_scalar(m->b, TG_F32, sqrt((double)D)));
    tg_named_attr last = {"axis", TG_ATTR_OF_INT(-1)};
    tg_value p = make_op(m, TG_OP(Softmax), &scores, 1, &last, 1);
    int64_t back[] = {1, 0, 2};
    tg_value y = make_transpose(m, make_binary(m, TG_OP(MatMul), p, v), 3, back);
    y = make_matmul(m, make_reshape(m, y, DIMS(S, N * D)), N * D);
    return make_binary(m, TG_OP(Add), y, x);
}

static tg_value mean(maker *m, tg_value x)
{
    int64_t axis = -1;
    tg_named_attr attr = {"axes", TG_ATTR_OF_INTS(&axis, 1)};
    return make_op(m, TG_OP(ReduceMean), &x, 1, &attr, 1);
}

/* Layer normalisation and Gelu in the expanded forms that exporters of old opsets write. */
tg_value sample_layernorm(maker *m)
{
    enum { S = 16, D = 64 };
    tg_value x = make_input(m, "x", DIMS(S, D));
    tg_value c = make_binary(m, TG_OP(Sub), x, mean(m, x));
    tg_value square = make_binary(m, TG_OP(Pow), c, tg_build_scalar(m->b, TG_F32, 2));
    tg_value var = make_binary(m, TG_OP(Add), mean(m, square), tg_build_scalar(m->b, TG_F32, 1e-5));
    tg_value y = make_binary(m, TG_OP(Div), c, make_unary(m, TG_OP(Sqrt), var));
    y = make_binary(m, TG_OP(Mul), y, make_vector(m, D, 1, 0.1));
    y = make_binary(m, TG_OP(Add), y, make_vector(m, D, 0, 0.1));
    y = make_matmul(m, y, 4 * D);
    tg_value e = make_binary(m, TG_OP(Div), y, tg_build_scalar(m->b, TG_F32, sqrt(2)));
    e = make_binary(m, TG_OP(Add), make_unary(m, TG_OP(Erf), e), tg_build_scalar(m->b, TG_F32, 1));
    y = make_binary(m, TG_OP(Mul), make_binary(m, TG_OP(Mul), y, e),
                    tg_build_scalar(m->b, TG_F32, 0.5));
    return make_matmul(m, y, D);
}
