/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graphs that TASO (Jia et al., SOSP 2019) and its successors are measured on, as their example
 * programs build them: no biases, fused activations where they have them.
 */
#include "maker.h"

#include <stdio.h>

static tg_value conv(maker *m, tg_value x, int64_t out, int64_t k, int64_t stride, enum pad pad,
                     bool relu)
{
    return make_conv(
        m, x,
        (conv_spec){.out = out, .kh = k, .kw = k, .stride = stride, .pad = pad, .relu = relu});
}

static tg_value relu(maker *m, tg_value x)
{
    return make_unary(m, TG_OP(Relu), x);
}

static tg_value add(maker *m, tg_value a, tg_value b)
{
    return make_binary(m, TG_OP(Add), a, b);
}

static tg_value bert_layer(maker *m, tg_value t)
{
    int64_t by_head[] = {1, 0, 2}, keys[] = {1, 2, 0};
    tg_value q = make_matmul(m, t, 1024), k = make_matmul(m, t, 1024), v = make_matmul(m, t, 1024);
    q = make_transpose(m, make_reshape(m, q, DIMS(64, 16, 64)), 3, by_head);
    k = make_transpose(m, make_reshape(m, k, DIMS(64, 16, 64)), 3, keys);
    v = make_transpose(m, make_reshape(m, v, DIMS(64, 16, 64)), 3, by_head);
    tg_value o = make_binary(m, TG_OP(MatMul), make_binary(m, TG_OP(MatMul), q, k), v);
    o = make_reshape(m, make_transpose(m, o, 3, by_head), DIMS(64, 1024));
    return make_matmul(m, o, 1024);
}

tg_value sample_taso_bert(maker *m)
{
    tg_value t = relu(m, make_input(m, "x", DIMS(64, 1024)));
    for (int i = 0; i < (m->layers ? m->layers : 8); i++) t = bert_layer(m, t);
    return t;
}

tg_value sample_taso_squeezenet(maker *m)
{
    static const int64_t width[] = {16, 16, 32, 32, 48, 48, 64, 64};
    tg_value x = make_input(m, "x", DIMS(1, 3, 224, 224));
    x = make_pool(m, true, relu(m, conv(m, x, 64, 3, 2, VALID, false)), 3, 2, VALID);
    for (int i = 0; i < 8; i++) {
        tg_value z = relu(m, conv(m, x, width[i], 1, 1, SAME, false));
        tg_value a = relu(m, conv(m, z, 4 * width[i], 1, 1, SAME, false));
        tg_value b = relu(m, conv(m, z, 4 * width[i], 3, 1, SAME, false));
        x = make_concat(m, (tg_value[]){a, b}, 2, 1);
        if (i == 1 || i == 3) x = make_pool(m, true, x, 3, 2, VALID);
    }
    x = relu(m, conv(m, x, 1000, 1, 1, SAME, false));
    return make_pool(m, false, x, 13, 1, VALID);
}

tg_value sample_taso_resnet18bn(maker *m)
{
    tg_value x = make_input(m, "x", DIMS(1, 64, 56, 56));
    for (int i = 0; i < 8; i++) {
        int64_t c = 64 << i / 2, s = i >= 2 && i % 2 == 0 ? 2 : 1;
        tg_value t = relu(m, make_batch_norm(m, conv(m, x, c, 3, s, SAME, false)));
        t = make_batch_norm(m, conv(m, t, c, 3, 1, SAME, false));
        tg_value y = s == 2 ? make_batch_norm(m, conv(m, x, c, 1, 2, SAME, false)) : x;
        x = relu(m, add(m, y, t));
    }
    return x;
}

/* A bottleneck block: width c, `wide` times as many channels out, the 3x3 in `groups`. */
static tg_value bottleneck(maker *m, tg_value x, int64_t c, int64_t wide, int64_t s, int64_t groups)
{
    tg_value t = conv(m, x, c, 1, 1, SAME, true);
    t = make_conv(
        m, t,
        (conv_spec){
            .out = c, .kh = 3, .kw = 3, .stride = s, .group = groups, .pad = SAME, .relu = true});
    t = conv(m, t, wide * c, 1, 1, SAME, false);
    tg_value y = x;
    if (s == 2 || make_dim(m, x, 1) != wide * c) y = conv(m, x, wide * c, 1, s, SAME, true);
    return relu(m, add(m, y, t));
}

static tg_value bottlenecks(maker *m, tg_value x, int64_t c, int64_t wide, int64_t groups)
{
    static const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++)
            x = bottleneck(m, x, c << stage, wide, stage && !i ? 2 : 1, groups);
    return x;
}

tg_value sample_taso_resnet50(maker *m)
{
    return bottlenecks(m, make_input(m, "x", DIMS(1, 64, 56, 56)), 64, 4, 1);
}

tg_value sample_taso_resnext50(maker *m)
{
    tg_value x = conv(m, make_input(m, "x", DIMS(1, 3, 224, 224)), 64, 7, 2, SAME, true);
    return bottlenecks(m, make_pool(m, true, x, 3, 2, SAME), 128, 2, 32);
}

static tg_value rnn_step(maker *m, tg_value x, tg_value h)
{
    const tg_op sigmoid = TG_OP(Sigmoid), tanh = TG_OP(Tanh), mul = TG_OP(Mul);
    tg_value u[8];
    for (int i = 0; i < 8; i++) u[i] = add(m, make_matmul(m, x, 512), make_matmul(m, h, 512));
    tg_value m0 = add(m, relu(m, u[0]), make_unary(m, sigmoid, u[3]));
    tg_value m1 = add(m, make_unary(m, sigmoid, u[1]), make_unary(m, tanh, u[2]));
    tg_value m2 = make_binary(m, mul, make_unary(m, sigmoid, u[4]), make_unary(m, tanh, u[5]));
    tg_value m3 = make_binary(m, mul, make_unary(m, sigmoid, u[6]), relu(m, u[7]));
    tg_value m4 = add(m, make_unary(m, sigmoid, m1), make_unary(m, tanh, m2));
    tg_value m5 = make_binary(m, mul, make_unary(m, tanh, m0), make_unary(m, tanh, m3));
    tg_value m6 = make_binary(m, mul, make_unary(m, tanh, m4), make_unary(m, tanh, m5));
    return make_unary(m, tanh, m6);
}

tg_value sample_taso_nasrnn(maker *m)
{
    int steps = m->layers ? m->layers : 5;
    tg_value x[64];
    char name[16];
    for (int i = 0; i < steps && i < 64; i++) {
        snprintf(name, sizeof name, "x%d", i + 1);
        x[i] = make_input(m, name, DIMS(1, 512));
    }
    tg_value h =
        make_input(m, "h0", DIMS(1, 512)); /* a weight in TASO, where weight-only work costs */
    for (int i = 0; i < steps && i < 64; i++) h = rnn_step(m, x[i], h);
    return h;
}
