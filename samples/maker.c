/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maker.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

tg_value make_input(maker *m, const char *name, int rank, const int64_t *dims)
{
    tg_type type = {TG_F32, tg_shape_from(dims, rank)};
    return tg_build_input(m->b, name, &type);
}

static tg_value add_weight(maker *m, int rank, const int64_t *dims, float *data)
{
    char name[32];
    tg_shape shape = tg_shape_from(dims, rank);
    size_t size = (size_t)tg_shape_count(&shape) * sizeof *data;
    snprintf(name, sizeof name, "w%d", m->count);
    if (m->blank) data[0] = (float)m->count; /* different weights, different bytes */
    m->count++;
    tg_weight *w = tg_weight_wrap(data, size, (uint64_t)m->count, free, data);
    return tg_build_const(m->b, TG_F32, &shape, w, name);
}

void make_output(maker *m, tg_value v)
{
    assert(m->n_outs < MOST_OUTS);
    if (m->status == TG_OK) m->outs[m->n_outs++] = v;
}

tg_value make_weight(maker *m, int rank, const int64_t *dims, double scale)
{
    tg_shape shape = tg_shape_from(dims, rank);
    int64_t n = tg_shape_count(&shape);
    float *data = tg_calloc((size_t)n, sizeof *data);
    for (int64_t i = 0; i < n && !m->blank; i++) data[i] = (float)(scale * tg_rng_normal(m->rng));
    return add_weight(m, rank, dims, data);
}

tg_value make_vector(maker *m, int64_t n, double mean, double spread)
{
    float *data = tg_calloc((size_t)n, sizeof *data);
    for (int64_t i = 0; i < n && !m->blank; i++) {
        double x = mean + spread * tg_rng_normal(m->rng);
        data[i] = (float)(mean > 0 && x < mean / 2 ? mean / 2 : x);
    }
    return add_weight(m, 1, &n, data);
}

uint32_t make_node(maker *m, tg_op op, const tg_value *in, int n_in, int n_out,
                   const tg_named_attr *attrs, int n_attrs)
{
    uint32_t id = 0;
    char name[64];
    if (m->status != TG_OK) return 0;
    snprintf(name, sizeof name, "%s_%d", tg_op_get(op)->name, m->count++);
    tg_node_spec spec = {.op = op,
                         .in = in,
                         .n_in = n_in,
                         .n_out = n_out,
                         .attrs = attrs,
                         .n_attrs = n_attrs,
                         .name = name};
    m->status = tg_build_node(m->b, &spec, &id);
    return id;
}

tg_value make_op(maker *m, tg_op op, const tg_value *in, int n_in, const tg_named_attr *attrs,
                 int n_attrs)
{
    return tg_value_of(make_node(m, op, in, n_in, 1, attrs, n_attrs), 0);
}

int64_t make_dim(const maker *m, tg_value x, int axis)
{
    if (m->status != TG_OK) return 1;
    const tg_shape *s = &tg_build_type(m->b, x)->shape;
    return s->dim[axis < 0 ? s->rank + axis : axis];
}

tg_value make_conv(maker *m, tg_value x, conv_spec spec)
{
    int64_t stride[] = {spec.stride ? spec.stride : 1, spec.stride ? spec.stride : 1};
    int64_t group = spec.group ? spec.group : 1, channels = make_dim(m, x, 1) / group;
    double scale = sqrt(2.0 / (double)(channels * spec.kh * spec.kw));
    tg_value in[3] = {x, make_weight(m, DIMS(spec.out, channels, spec.kh, spec.kw), scale),
                      TG_NO_VALUE};
    if (spec.bias) in[2] = make_vector(m, spec.out, 0, 0.1);
    tg_named_attr attrs[] = {
        {"strides", TG_ATTR_OF_INTS(stride, 2)},
        {"group", TG_ATTR_OF_INT(group)},
        {"auto_pad", tg_attr_str(spec.pad == SAME ? "SAME_UPPER" : "VALID")},
        {"activation", tg_attr_str(spec.relu ? "Relu" : "")},
    };
    return make_op(m, TG_OP(Conv), in, spec.bias ? 3 : 2, attrs, 4);
}

tg_value make_pool(maker *m, bool max, tg_value x, int64_t k, int64_t stride, enum pad pad)
{
    int64_t kernel[] = {k, k}, step[] = {stride, stride};
    tg_named_attr attrs[] = {
        {"kernel_shape", TG_ATTR_OF_INTS(kernel, 2)},
        {"strides", TG_ATTR_OF_INTS(step, 2)},
        {"auto_pad", tg_attr_str(pad == SAME ? "SAME_UPPER" : "VALID")},
    };
    return make_op(m, max ? TG_OP(MaxPool) : TG_OP(AveragePool), &x, 1, attrs, 3);
}

tg_value make_batch_norm(maker *m, tg_value x)
{
    int64_t n = make_dim(m, x, 1);
    tg_value in[] = {x, make_vector(m, n, 1, 0.1), make_vector(m, n, 0, 0.1),
                     make_vector(m, n, 0, 0.1), make_vector(m, n, 1, 0.1)};
    return make_op(m, TG_OP(BatchNormalization), in, 5, NULL, 0);
}

tg_value make_matmul(maker *m, tg_value x, int64_t out)
{
    int64_t k = make_dim(m, x, -1);
    tg_value in[] = {x, make_weight(m, DIMS(k, out), 1 / sqrt((double)k))};
    return make_op(m, TG_OP(MatMul), in, 2, NULL, 0);
}

tg_value make_unary(maker *m, tg_op op, tg_value x)
{
    return make_op(m, op, &x, 1, NULL, 0);
}

tg_value make_binary(maker *m, tg_op op, tg_value a, tg_value b)
{
    return make_op(m, op, (tg_value[]){a, b}, 2, NULL, 0);
}

tg_value make_concat(maker *m, const tg_value *parts, int n, int64_t axis)
{
    tg_named_attr attr = {"axis", TG_ATTR_OF_INT(axis)};
    return make_op(m, TG_OP(Concat), parts, n, &attr, 1);
}

tg_value make_reshape(maker *m, tg_value x, int rank, const int64_t *dims)
{
    return make_binary(m, TG_OP(Reshape), x, tg_build_ints(m->b, dims, rank));
}

tg_value make_transpose(maker *m, tg_value x, int rank, const int64_t *perm)
{
    tg_named_attr attr = {"perm", TG_ATTR_OF_INTS(perm, rank)};
    return make_op(m, TG_OP(Transpose), &x, 1, &attr, 1);
}
