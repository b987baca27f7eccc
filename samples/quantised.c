/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network of integers as quantising exporters write it: floats only between two operators. */
#include "maker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tg_value scalar(maker *m, tg_dtype dtype, double x)
{
    return tg_build_scalar(m->b, dtype, x);
}

/* QuantizeLinear to uint8 around 128 that covers [-reach, reach], and back. */
static tg_value through_bytes(maker *m, tg_value x, double reach)
{
    tg_value scale = scalar(m, TG_F32, reach / 127.5), zero = scalar(m, TG_U8, 128);
    tg_value q = make_op(m, TG_OP(QuantizeLinear), (tg_value[]){x, scale, zero}, 3, NULL, 0);
    return make_op(m, TG_OP(DequantizeLinear), (tg_value[]){q, scale, zero}, 3, NULL, 0);
}

/* A weight of int8 with a scale for each index of axis 0. */
static tg_value byte_weight(maker *m, int rank, const int64_t *dims, double spread)
{
    char name[32];
    tg_shape shape = tg_shape_from(dims, rank);
    size_t n = (size_t)tg_shape_count(&shape);
    int8_t *data = tg_calloc(n + 8, 1);
    for (size_t i = 0; i < n && !m->blank; i++) {
        double x = 40 * tg_rng_normal(m->rng);
        data[i] = (int8_t)(x < -127 ? -127 : x > 127 ? 127 : x);
    }
    snprintf(name, sizeof name, "w%d", m->count++);
    if (m->blank) data[0] = (int8_t)m->count;
    tg_weight *w = tg_weight_wrap(data, n, (uint64_t)m->count, free, data);
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(0)};
    tg_value in[] = {tg_build_const(m->b, TG_I8, &shape, w, name),
                     make_vector(m, dims[0], spread / 40, spread / 400)};
    return make_op(m, TG_OP(DequantizeLinear), in, 2, &axis, 1);
}

static tg_value conv(maker *m, tg_value x, int64_t out, int64_t k, int64_t group, bool relu)
{
    int64_t channels = make_dim(m, x, 1) / group, pads[] = {k / 2, k / 2, k / 2, k / 2};
    tg_value in[] = {
        x, byte_weight(m, DIMS(out, channels, k, k), sqrt(1.0 / (double)(channels * k * k))),
        make_vector(m, out, 0, 0.1)};
    tg_named_attr attrs[] = {{"group", TG_ATTR_OF_INT(group)}, {"pads", TG_ATTR_OF_INTS(pads, 4)}};
    tg_value y = make_op(m, TG_OP(Conv), in, 3, attrs, 2);
    return relu ? make_unary(m, TG_OP(Relu), y) : y;
}

tg_value sample_qdq(maker *m)
{
    enum { WIDTH = 32, CLASSES = 10 };
    tg_value x = through_bytes(m, make_input(m, "x", DIMS(1, 3, 32, 32)), 4);
    x = through_bytes(m, conv(m, x, WIDTH, 3, 1, true), 4);
    x = through_bytes(m, make_pool(m, true, x, 2, 2, VALID), 4);
    tg_value y = through_bytes(m, conv(m, x, WIDTH, 3, WIDTH, true), 4);
    y = through_bytes(m, conv(m, y, WIDTH, 1, 1, false), 4);
    x = through_bytes(m, make_unary(m, TG_OP(Relu), make_binary(m, TG_OP(Add), x, y)), 6);
    x = through_bytes(m, make_unary(m, TG_OP(GlobalAveragePool), x), 3);
    x = through_bytes(m, make_reshape(m, x, DIMS(1, WIDTH)), 3);
    tg_named_attr transposed = {"transB", TG_ATTR_OF_INT(1)};
    tg_value in[] = {x, byte_weight(m, DIMS(CLASSES, WIDTH), 1 / sqrt(WIDTH)),
                     make_vector(m, CLASSES, 0, 0.1)};
    return through_bytes(m, make_op(m, TG_OP(Gemm), in, 3, &transposed, 1), 4);
}
