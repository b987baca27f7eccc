/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The 18 rules that TASO's program has built in, four and two strides and paddings at a time. */
#include "rule_taso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUILT_IN = 18 };

#define VAR(i)                                                                                     \
    {                                                                                              \
        ~(i), 0                                                                                    \
    }
#define OUT(i, port)                                                                               \
    {                                                                                              \
        i, port                                                                                    \
    }

static taso_op conv(taso_tensor x, taso_tensor w, int stride, int pad, int acti)
{
    return (taso_op){TASO_CONV, 2, {x, w}, stride, pad, acti, 0, 0};
}

static const taso_tensor x = VAR(0), w = VAR(1);

static taso_rule conv_relu(int stride, int pad)
{
    return (taso_rule){.from = {conv(x, w, stride, pad, TASO_NONE),
                                {.kind = TASO_RELU, .n_in = 1, .in = {OUT(0, 0)}}},
                       .to = {conv(x, w, stride, pad, TASO_ACTI_RELU)},
                       .results = {{1, 0, 0, 0}},
                       .n_from = 2,
                       .n_to = 1,
                       .n_results = 1,
                       .n_vars = 2};
}

static taso_rule conv_bn(int stride, int pad)
{
    return (taso_rule){
        .from = {conv(x, w, stride, pad, TASO_NONE),
                 {.kind = TASO_BATCHNORM,
                  .n_in = 5,
                  .in = {OUT(0, 0), VAR(2), VAR(3), VAR(4), VAR(5)}}},
        .to = {{.kind = TASO_FOLD_WEIGHT, .n_in = 3, .in = {VAR(1), VAR(2), VAR(5)}},
               conv(x, (taso_tensor)OUT(0, 0), stride, pad, TASO_NONE),
               {.kind = TASO_FOLD_BIAS, .n_in = 4, .in = {VAR(2), VAR(3), VAR(4), VAR(5)}},
               {.kind = TASO_BROADCAST_ADD, .n_in = 2, .in = {OUT(1, 0), OUT(2, 0)}}},
        .results = {{1, 0, 3, 0}},
        .n_from = 2,
        .n_to = 4,
        .n_results = 1,
        .n_vars = 6};
}

static taso_rule conv_mul(int stride, int pad)
{
    return (taso_rule){.from = {conv(x, w, stride, pad, TASO_NONE),
                                {.kind = TASO_MUL, .n_in = 2, .in = {OUT(0, 0), VAR(2)}}},
                       .to = {conv(x, w, stride, pad, TASO_NONE)},
                       .results = {{1, 0, 0, 0}},
                       .n_from = 2,
                       .n_to = 1,
                       .n_results = 1,
                       .n_vars = 3};
}

static taso_rule enlarge(int acti)
{
    const taso_tensor w2 = VAR(2);
    return (taso_rule){
        .from = {conv(x, w, 1, TASO_SAME, acti), conv(x, w2, 1, TASO_SAME, acti)},
        .to = {{.kind = TASO_ENLARGE, .n_in = 2, .in = {VAR(1), VAR(2)}},
               {.kind = TASO_CONCAT, .n_in = 2, .in = {OUT(0, 0), VAR(2)}, .axis = 0, .rank = 4},
               conv(x, (taso_tensor)OUT(1, 0), 1, TASO_SAME, acti),
               {.kind = TASO_SPLIT, .n_in = 1, .in = {OUT(2, 0)}, .axis = 1}},
        .results = {{0, 0, 3, 0}, {1, 0, 3, 1}},
        .n_from = 2,
        .n_to = 4,
        .n_results = 2,
        .n_vars = 3};
}

static taso_rule merge_groups(int stride, int acti)
{
    return (taso_rule){.from = {conv(x, w, stride, TASO_SAME, acti)},
                       .to = {{.kind = TASO_MERGE_GCONV, .n_in = 1, .in = {VAR(1)}},
                              conv(x, (taso_tensor)OUT(0, 0), stride, TASO_SAME, acti)},
                       .results = {{0, 0, 1, 0}},
                       .n_from = 1,
                       .n_to = 2,
                       .n_results = 1,
                       .n_vars = 2};
}

taso_rules taso_built_in(tg_arena *arena)
{
    taso_rules out = {TG_NEW_ARRAY(arena, taso_rule, BUILT_IN), BUILT_IN};
    for (int i = 0; i < 4; i++) {
        int stride = 1 + i / 2, pad = i % 2 ? TASO_VALID : TASO_SAME;
        out.v[3 * i] = conv_relu(stride, pad);
        out.v[3 * i + 1] = conv_bn(stride, pad);
        out.v[3 * i + 2] = conv_mul(stride, pad);
    }
    for (int i = 0; i < 2; i++) {
        int acti = i ? TASO_ACTI_RELU : TASO_NONE;
        out.v[12 + i] = enlarge(acti);
        out.v[14 + i] = merge_groups(1, acti);
        out.v[16 + i] = merge_groups(2, acti);
    }
    for (int i = 0; i < BUILT_IN; i++) snprintf(out.v[i].name, sizeof out.v[i].name, "B%d", i);
    return out;
}

/* ---- in the rule language ------------------------------------------------------------------- */

static const char batch_norm[] =
    "given  x  k:[m,_,_,_]  scale,shift,mean,var:[m]\n"
    "from   t = Conv(x, k; strides=[%d,%d], dilations=[1,1], %sactivation=\"\", ..r)\n"
    "       y = BatchNormalization(t, scale, shift, mean, var; epsilon=e, training_mode=0, "
    "momentum=_)\n"
    "if     above(var, 0 - e)\n"
    "pays   once(t)\n"
    "       const(k, scale, shift, mean, var)\n"
    "%s"
    "to     gain = Div(scale, Sqrt(Add(var, e)))\n"
    "       k'   = Mul(k, Reshape(gain; shape=[m, 1, 1, 1]))\n"
    "       b'   = Sub(shift, Mul(mean, gain))\n"
    "       y    = Conv(x, k', b'; strides=[%d,%d], dilations=[1,1], %sactivation=\"\", ..r)\n";

static const char enlarged[] =
    "given  x:[_,c,_,_]  k:[m,c,r,s]  l:[n,c,e,f]\n"
    "from   u = Conv(x, k; group=1, strides=[1,1], dilations=[1,1], kernel_shape=_, "
    "pads=[p,q,p2,q2], activation=\"%s\")\n"
    "       v = Conv(x, l; group=1, strides=[1,1], dilations=[1,1], kernel_shape=_, "
    "pads=[g,h,g2,h2], activation=\"%s\")\n"
    "if     g >= p, h >= q, g2 >= p2, h2 >= q2\n"
    "       g + g2 - p - p2 == e - r\n"
    "       h + h2 - q - q2 == f - s\n"
    "pays   p + p2 == r - 1, q + q2 == s - 1\n"
    "to     k' = Pad(k; pads=[0, 0, g - p, h - q, 0, 0, g2 - p2, h2 - q2])\n"
    "       kl = Concat(k', l; axis=0)\n"
    "       t  = Conv(x, kl; group=1, strides=[1,1], dilations=[1,1], pads=[g,h,g2,h2], "
    "activation=\"%s\")\n"
    "       u, v = Split(t; axis=1, split=[m,n])\n";

/* The first half of each pair of groups reads the first half of the channels, then zeros. */
static const char merged[] =
    "given  x  k:[m,q,r,s]\n"
    "from   y = Conv(x, k; group=g, strides=[%d,%d], dilations=[1,1], activation=\"%s\", ..r)\n"
    "if     g %% 2 == 0\n"
    "%s"
    "to     k5   = Reshape(k; shape=[g / 2, 2, m / g, q, r * s])\n"
    "       a, b = Split(k5; axis=1, split=[1,1])\n"
    "       a'   = Pad(a; pads=[0,0,0,0,0, 0,0,0,q,0])\n"
    "       b'   = Pad(b; pads=[0,0,0,q,0, 0,0,0,0,0])\n"
    "       k'   = Reshape(Concat(a', b'; axis=1); shape=[m, 2 * q, r, s])\n"
    "       y    = Conv(x, k'; group=g / 2, strides=[%d,%d], dilations=[1,1], activation=\"%s\", "
    "..r)\n";

static const char *padding_of(const taso_op *op, const char *out, tg_str *text)
{
    if (op->pad == TASO_VALID) {
        tg_str_add(text, "       dim(k, 2) * dim(k, 3) > 1\n");
        return "pads=[0,0,0,0], ";
    }
    const char *left = op->stride == 2 ? "(" : "", *right = op->stride == 2 ? " + 1) / 2" : "";
    for (int axis = 2; axis < 4; axis++)
        tg_str_addf(text, "       dim(%s, %d) == %sdim(x, %d)%s\n", out, axis, left, axis, right);
    return "";
}

static void add_batch_norm(const taso_op *op, tg_str *out)
{
    tg_str pays = {0};
    const char *pads = padding_of(op, "t", &pays);
    int s = op->stride;
    tg_str_addf(out, batch_norm, s, s, pads, pays.p, s, s, pads);
    tg_str_free(&pays);
}

static void add_merged(const taso_op *op, tg_str *out)
{
    tg_str pays = {0};
    const char *acti = op->acti ? "Relu" : "";
    int s = op->stride;
    padding_of(op, "y", &pays);
    memcpy(pays.p, "pays", 4);
    tg_str_addf(out, merged, s, s, acti, pays.p, s, s, acti);
    tg_str_free(&pays);
}

bool taso_built_in_text(const taso_rule *rule, tg_str *out, bool *sound)
{
    int n = rule->name[0] == 'B' ? atoi(rule->name + 1) : 0;
    const taso_op *op = &rule->from[0];
    const char *acti = op->acti ? "Relu" : "";
    *sound = true;
    if (rule->name[0] != 'B' || (n < 12 && n % 3 == 0)) return false;
    if (n >= 14) add_merged(op, out);
    else if (n >= 12) tg_str_addf(out, enlarged, acti, acti, acti);
    else if (n % 3 == 1) add_batch_norm(op, out);
    else *sound = false; /* a factor is lost */
    return true;
}
