/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the builders of samples share: operators in one call each, failure kept until the end. */
#ifndef SAMPLES_MAKER_H
#define SAMPLES_MAKER_H

#include "engine/base/rng.h"
#include "engine/ir/build.h"
#include "engine/ops/ops.h"

enum { MOST_OUTS = 16 };

typedef struct maker {
    tg_builder *b;
    tg_rng *rng;
    bool blank;
    int layers;               /* the N of NAMExN; 0: the usual number */
    int count;                /* weights so far */
    tg_value outs[MOST_OUTS]; /* besides the one that the builder returns */
    int n_outs;
    tg_status status; /* the first failure; everything after it is skipped */
} maker;

tg_value make_input(maker *m, const char *name, int rank, const int64_t *dims);
/* One more output of the graph, behind the one that the builder returns. */
void make_output(maker *m, tg_value v);
/* A weight with entries drawn from a normal distribution of standard deviation `scale`. */
tg_value make_weight(maker *m, int rank, const int64_t *dims, double scale);
/* A vector of n entries around `mean`, never below `mean` / 2. */
tg_value make_vector(maker *m, int64_t n, double mean, double spread);
tg_value make_op(maker *m, tg_op op, const tg_value *in, int n_in, const tg_named_attr *attrs,
                 int n_attrs);
/* The id of a node with several outputs. */
uint32_t make_node(maker *m, tg_op op, const tg_value *in, int n_in, int n_out,
                   const tg_named_attr *attrs, int n_attrs);

enum pad { VALID, SAME };

typedef struct conv_spec {
    int64_t out, kh, kw, stride, group;
    enum pad pad;
    bool relu; /* fused */
    bool bias;
} conv_spec;

tg_value make_conv(maker *m, tg_value x, conv_spec spec);
tg_value make_pool(maker *m, bool max, tg_value x, int64_t k, int64_t stride, enum pad pad);
tg_value make_batch_norm(maker *m, tg_value x);
tg_value make_matmul(maker *m, tg_value x, int64_t out); /* x [.., k] by a weight [k, out] */
tg_value make_unary(maker *m, tg_op op, tg_value x);
tg_value make_binary(maker *m, tg_op op, tg_value a, tg_value b);
tg_value make_concat(maker *m, const tg_value *parts, int n, int64_t axis);
tg_value make_reshape(maker *m, tg_value x, int rank, const int64_t *dims);
tg_value make_transpose(maker *m, tg_value x, int rank, const int64_t *perm);
int64_t make_dim(const maker *m, tg_value x, int axis);

#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* The builders; each returns its output. */
tg_value sample_squeezenet(maker *m);
tg_value sample_resnet18(maker *m);
tg_value sample_attention(maker *m);
tg_value sample_branches(maker *m);
tg_value sample_conv_bn(maker *m);
tg_value sample_layernorm(maker *m);
tg_value sample_qdq(maker *m);
tg_value sample_taso_bert(maker *m);
tg_value sample_taso_squeezenet(maker *m);
tg_value sample_taso_resnet18bn(maker *m);
tg_value sample_taso_resnet50(maker *m);
tg_value sample_taso_resnext50(maker *m);
tg_value sample_taso_inceptionv3(maker *m);
tg_value sample_taso_nasrnn(maker *m);
tg_value sample_taso_nasnet_a(maker *m);
tg_value sample_xrlflow_bert(maker *m);
tg_value sample_xrlflow_vit(maker *m);
tg_value sample_xrlflow_dalle(maker *m);
tg_value sample_xrlflow_transducer(maker *m);

#endif
