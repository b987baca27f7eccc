/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published convolutional networks as an exporter writes them, with drawn weights. */
#include "maker.h"

static tg_value conv_relu(maker *m, tg_value x, int64_t out, int64_t k, int64_t stride,
                          enum pad pad)
{
    conv_spec spec = {.out = out, .kh = k, .kw = k, .stride = stride, .pad = pad, .bias = true};
    return make_unary(m, TG_OP(Relu), make_conv(m, x, spec));
}

static tg_value fire(maker *m, tg_value x, int64_t squeeze, int64_t expand)
{
    tg_value s = conv_relu(m, x, squeeze, 1, 1, SAME);
    tg_value parts[] = {conv_relu(m, s, expand, 1, 1, SAME), conv_relu(m, s, expand, 3, 1, SAME)};
    return make_concat(m, parts, 2, 1);
}

/* SqueezeNet 1.1 (Iandola et al. 2016). */
tg_value sample_squeezenet(maker *m)
{
    static const int64_t width[] = {16, 16, 32, 32, 48, 48, 64, 64};
    tg_value x = make_input(m, "data", DIMS(1, 3, 224, 224));
    x = make_pool(m, true, conv_relu(m, x, 64, 3, 2, VALID), 3, 2, VALID);
    for (int i = 0; i < 8; i++) {
        x = fire(m, x, width[i], 4 * width[i]);
        if (i == 1 || i == 3) x = make_pool(m, true, x, 3, 2, VALID);
    }
    x = make_unary(m, TG_OP(Dropout), x);
    x = conv_relu(m, x, 1000, 1, 1, SAME);
    x = make_unary(m, TG_OP(GlobalAveragePool), x);
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(1)};
    return make_op(m, TG_OP(Softmax), &x, 1, &axis, 1);
}

static tg_value conv_bn(maker *m, tg_value x, int64_t out, int64_t k, int64_t stride)
{
    conv_spec spec = {.out = out, .kh = k, .kw = k, .stride = stride, .pad = SAME};
    return make_batch_norm(m, make_conv(m, x, spec));
}

static tg_value basic_block(maker *m, tg_value x, int64_t out, int64_t stride)
{
    tg_value t = make_unary(m, TG_OP(Relu), conv_bn(m, x, out, 3, stride));
    t = conv_bn(m, t, out, 3, 1);
    if (stride != 1 || make_dim(m, x, 1) != out) x = conv_bn(m, x, out, 1, stride);
    return make_unary(m, TG_OP(Relu), make_binary(m, TG_OP(Add), x, t));
}

/* ResNet-18 (He et al. 2016), batch norms apart. */
tg_value sample_resnet18(maker *m)
{
    tg_value x = make_input(m, "data", DIMS(1, 3, 224, 224));
    x = make_unary(m, TG_OP(Relu), conv_bn(m, x, 64, 7, 2));
    x = make_pool(m, true, x, 3, 2, SAME);
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < 2; block++)
            x = basic_block(m, x, 64 << stage, stage && !block ? 2 : 1);
    x = make_unary(m, TG_OP(GlobalAveragePool), x);
    x = make_reshape(m, x, DIMS(1, 512));
    return make_matmul(m, x, 1000);
}
