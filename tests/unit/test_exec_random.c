/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random networks of [1, c, 6, 5] values: whatever is absorbed, viewed and merged, the cpu plan
 * computes what the reference kernels compute. */
#include "tests/unit/exec_case.h"

enum { NETS = 150, NODES = 14, SIZES = 3 };

typedef struct pool {
    tg_value v[NODES + 2];
    int channels[NODES + 2];
    int n;
} pool;

static const int sizes[SIZES] = {1, 4, 12};

static int pick(net *m, int n)
{
    return (int)tg_rng_below(m->rng, (uint64_t)n);
}

static void put(pool *p, tg_value v, int channels)
{
    p->channels[p->n] = channels;
    p->v[p->n++] = v;
}

static tg_value small(net *m, int c)
{
    switch (pick(m, 3)) {
    case 0: return net_number(m, 0.5 + pick(m, 3));
    case 1: return net_weight(m, tg_shape_of(c, 1, 1));
    default: return net_weight(m, tg_shape_of(1, 6, 5));
    }
}

static tg_value unary(net *m, tg_value x)
{
    static const char *const names[] = {"Relu", "Sigmoid",   "Tanh",      "Abs",
                                        "Neg",  "HardSwish", "LeakyRelu", "Clip"};
    int k = pick(m, 8);
    return net_node(m, names[k], k == 7 ? "min=-0.5 max=1" : "", x);
}

static tg_value convolve(net *m, tg_value x, int in, int out)
{
    if (in == out && pick(m, 3) == 0) {
        char attrs[64];
        snprintf(attrs, sizeof attrs, "group=%d pads=1,1,1,1", in);
        return net_node(m, "Conv", attrs, x, net_weight(m, tg_shape_of(in, 1, 3, 3)));
    }
    return net_node(m, "Conv", "pads=1,1,1,1", x, net_weight(m, tg_shape_of(out, in, 3, 3)));
}

static tg_value moved(net *m, tg_value x, int c)
{
    switch (pick(m, 3)) {
    case 0:
        x = net_node(m, "Transpose", "perm=0,2,3,1", x);
        x = net_node(m, "Softmax", "axis=3", x);
        return net_node(m, "Transpose", "perm=0,3,1,2", x);
    case 1:
        if (c % 4) return net_node(m, "MaxPool", "kernel_shape=3,3 pads=1,1,1,1", x);
        x = net_node(m, "Reshape", c == 4 ? "shape=1,2,2,6,5" : "shape=1,4,3,6,5", x);
        x = net_node(m, "Transpose", "perm=0,2,1,3,4", x);
        return net_node(m, "Reshape", c == 4 ? "shape=1,4,6,5" : "shape=1,12,6,5", x);
    default: return net_node(m, "ReduceMean", pick(m, 2) ? "axes=2,3" : "axes=1", x);
    }
}

static tg_value widened(net *m, tg_value x)
{
    tg_value y = net_node(m, "Slice", "starts=1 ends=3 axes=1", x);
    return net_node(m, "Concat", "axis=1", y, x, net_node(m, "Slice", "starts=0 ends=2 axes=1", x));
}

static void grow(net *m, pool *p)
{
    int at = pick(m, p->n), c = p->channels[at], other = pick(m, p->n), out = sizes[pick(m, SIZES)];
    tg_value x = p->v[at];
    static const char *const binary[] = {"Add", "Sub", "Mul", "Max", "Min"};
    const char *op = binary[pick(m, 5)];
    switch (pick(m, 6)) {
    case 0: put(p, convolve(m, x, c, out), out); break;
    case 1: put(p, unary(m, x), c); break;
    case 2: put(p, net_node(m, op, "", x, small(m, c)), c); break;
    case 3:
        if (p->channels[other] == c) put(p, net_node(m, op, "", x, p->v[other]), c);
        else put(p, unary(m, x), c);
        break;
    case 4: {
        tg_value y = moved(m, x, c);
        put(p, net_node(m, op, "", y, x), c);
        break;
    }
    default:
        if (c == 4) put(p, net_node(m, "Relu", "", convolve(m, widened(m, x), 8, 4)), 4);
        else put(p, convolve(m, x, c, out), out);
    }
}

static void random_networks(void **state)
{
    (void)state;
    for (int seed = 0; seed < NETS; seed++) {
        net m = net_new((uint64_t)seed + 100);
        pool p = {.n = 0};
        char what[32];
        put(&p, net_input(&m, tg_shape_of(1, 4, 6, 5)), 4);
        while (p.n < NODES) grow(&m, &p);
        int second = pick(&m, p.n);
        snprintf(what, sizeof what, "network %d", seed);
        net_agrees(net_done(&m, p.v[p.n - 1], p.v[second]), what);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(random_networks)};
UNIT_MAIN(tests)
