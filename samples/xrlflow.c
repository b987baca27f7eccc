/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transformers that X-RLflow (He et al., MLSys 2023) is evaluated on, as its program builds
 * them: attention without softmax, scales or biases.
 */
#include "maker.h"

#include <stdio.h>

typedef struct attention {
    int64_t sequence, width, heads;
    bool keys_as_queries; /* the keys are not transposed: sequence = width / heads */
    bool mask;            /* a weight is added to the scores */
} attention;

static tg_value relu(maker *m, tg_value x)
{
    return make_unary(m, TG_OP(Relu), x);
}

static tg_value add(maker *m, tg_value a, tg_value b)
{
    return make_binary(m, TG_OP(Add), a, b);
}

static tg_value head(maker *m, tg_value x, const attention *a, const int64_t *perm)
{
    x = make_reshape(m, x, DIMS(a->sequence, a->heads, a->width / a->heads));
    return make_transpose(m, x, 3, perm);
}

/* All but the product with the last weight. */
static tg_value attend(maker *m, tg_value t, const attention *a)
{
    static const int64_t by_head[] = {1, 0, 2}, across[] = {1, 2, 0};
    tg_value q = make_matmul(m, t, a->width), k = make_matmul(m, t, a->width);
    tg_value v = make_matmul(m, t, a->width);
    q = head(m, q, a, by_head);
    k = head(m, k, a, a->keys_as_queries ? by_head : across);
    v = head(m, v, a, by_head);
    tg_value l = make_binary(m, TG_OP(MatMul), q, k);
    if (a->mask) l = add(m, l, make_weight(m, DIMS(a->heads, a->sequence, a->sequence), 0.1));
    tg_value o = make_transpose(m, make_binary(m, TG_OP(MatMul), l, v), 3, by_head);
    return make_reshape(m, o, DIMS(a->sequence, a->width));
}

/* Its program feeds the layer's input to the last product, so that attention leads nowhere. */
tg_value sample_xrlflow_bert(maker *m)
{
    const attention a = {.sequence = 64, .width = 1024, .heads = 16, .keys_as_queries = true};
    tg_value t = relu(m, make_input(m, "x", DIMS(64, 1024)));
    for (int i = 0; i < 8; i++) {
        make_output(m, attend(m, t, &a));
        t = make_matmul(m, t, a.width);
    }
    return t;
}

tg_value sample_xrlflow_vit(maker *m)
{
    const attention a = {.sequence = 64, .width = 768, .heads = 12, .keys_as_queries = true};
    tg_value t = relu(m, make_input(m, "x", DIMS(64, 768)));
    for (int i = 0; i < 12; i++) {
        tg_value r = add(m, t, make_matmul(m, attend(m, t, &a), a.width));
        t = add(m, r, make_matmul(m, make_matmul(m, r, 3072), 768));
    }
    return t;
}

tg_value sample_xrlflow_dalle(maker *m)
{
    const attention a = {.sequence = 16, .width = 768, .heads = 12, .mask = true};
    tg_value t = relu(m, make_input(m, "x", DIMS(16, 768)));
    for (int i = 0; i < 8; i++) { /* nothing reads them */
        char name[16];
        snprintf(name, sizeof name, "mask%d", i);
        make_input(m, name, DIMS(12, 16, 16));
    }
    for (int i = 0; i < 8; i++) {
        tg_value r = add(m, t, make_matmul(m, attend(m, t, &a), a.width));
        tg_value gate = relu(m, make_matmul(m, r, 2048)), value = make_matmul(m, r, 2048);
        t = add(m, r, make_matmul(m, make_binary(m, TG_OP(Mul), gate, value), 768));
    }
    return t;
}

static tg_value transducer_layer(maker *m, tg_value t)
{
    const attention a = {.sequence = 80, .width = 512, .heads = 8};
    tg_value r = add(m, t, make_matmul(m, attend(m, t, &a), a.width));
    return add(m, r, make_matmul(m, relu(m, make_matmul(m, r, 2048)), 512));
}

tg_value sample_xrlflow_transducer(maker *m)
{
    tg_value label = make_input(m, "x", DIMS(80, 512));
    tg_value audio = make_matmul(m, make_matmul(m, label, 16), 512);
    for (int i = 0; i < 12; i++) audio = transducer_layer(m, audio);
    for (int i = 0; i < 2; i++) label = transducer_layer(m, label);
    tg_value both = make_concat(m, (tg_value[]){audio, label}, 2, 1);
    return make_matmul(m, relu(m, make_matmul(m, both, 512)), 10);
}
