/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every implementation of the cpu backend agrees with the reference kernel, on awkward shapes too;
 * it is that implementation that ran, not the reference. */
#include "tests/unit/exec_case.h"

/* One node: "x" inputs are drawn, "w" constant, "p" constant and positive. */
typedef struct one {
    const char *op, *attrs, *kinds;
    tg_shape shape[5];
    int reference; /* nodes that the reference kernel is left to run */
    int slow;      /* primitives for which the library has scalar code only */
} one;

#define S(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define D(rank, ...)                                                                               \
    {                                                                                              \
        rank,                                                                                      \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static void run_ones(const one *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const one *c = &cases[i];
        char what[128];
        net m = net_new(i + 1);
        tg_value in[5];
        int count = 0;
        for (; c->kinds[count]; count++)
            in[count] = c->kinds[count] == 'x'
                            ? net_input(&m, c->shape[count])
                            : net_weight_of(&m, c->shape[count], c->kinds[count] == 'p');
        tg_value y = net_node_of(&m, c->op, in, count, 1, c->attrs);
        snprintf(what, sizeof what, "case %zu (%s %s)", i, c->op, c->attrs ? c->attrs : "");
        tg_plan_stats stats = net_agrees(net_done(&m, y), what);
        if (stats.reference != c->reference || stats.slow != c->slow)
            fail_msg("%s: %d nodes by reference, %d primitives slow", what, stats.reference,
                     stats.slow);
    }
}

#define RUN(cases) run_ones(cases, sizeof(cases) / sizeof *(cases))

static void convolutions(void **state)
{
    (void)state;
    static const one cases[] = {
        {"Conv", "", "xw", {D(4, 1, 3, 8, 8), D(4, 5, 3, 3, 3)}, 0, 0},
        {"Conv", "pads=1,1,1,1", "xww", {D(4, 2, 7, 9, 5), D(4, 4, 7, 3, 3), D(1, 4)}, 0, 0},
        {"Conv", "strides=2,3 pads=0,1,2,0", "xw", {D(4, 1, 4, 11, 13), D(4, 6, 4, 5, 2)}, 0, 0},
        {"Conv", "dilations=2,3", "xww", {D(4, 1, 4, 12, 12), D(4, 6, 4, 3, 3), D(1, 6)}, 0, 0},
        {"Conv", "group=4 pads=1,1,1,1", "xw", {D(4, 1, 8, 6, 6), D(4, 12, 2, 3, 3)}, 0, 0},
        {"Conv", "group=8", "xww", {D(4, 3, 8, 6, 6), D(4, 8, 1, 3, 3), D(1, 8)}, 0, 0},
        {"Conv", "group=3", "xw", {D(4, 1, 3, 6, 6), D(4, 6, 1, 3, 3)}, 0, 0},
        {"Conv", "activation=Relu", "xww", {D(4, 1, 3, 8, 8), D(4, 5, 3, 1, 1), D(1, 5)}, 0, 0},
        {"Conv", "activation=Tanh", "xw", {D(4, 1, 3, 8, 8), D(4, 5, 3, 1, 1)}, 0, 0},
        {"Conv", "pads=1,1", "xww", {D(3, 2, 5, 17), D(3, 4, 5, 3), D(1, 4)}, 0, 0},
        {"Conv", "", "xw", {D(5, 1, 3, 5, 6, 7), D(5, 4, 3, 2, 3, 3)}, 0, 0},
        {"Conv", "", "xw", {D(4, 1, 1, 1, 1), D(4, 1, 1, 1, 1)}, 0, 0},
        {"Conv", "", "xx", {D(4, 1, 3, 8, 8), D(4, 5, 3, 3, 3)}, 0, 0},
        {"ConvTranspose", "", "xw", {D(4, 1, 3, 5, 5), D(4, 3, 4, 3, 3)}, 0, 0},
        {"ConvTranspose",
         "strides=2,2 pads=1,1,1,1 output_padding=1,1",
         "xww",
         {D(4, 1, 3, 5, 4), D(4, 3, 4, 3, 3), D(1, 4)},
         0,
         0},
        {"ConvTranspose",
         "group=2 strides=2,1 dilations=1,2",
         "xw",
         {D(4, 2, 4, 5, 4), D(4, 4, 3, 2, 2)},
         0,
         0},
    };
    RUN(cases);
}

static void products(void **state)
{
    (void)state;
    static const one cases[] = {
        {"MatMul", "", "xw", {D(2, 5, 7), D(2, 7, 3)}, 0, 0},
        {"MatMul", "", "xx", {D(2, 5, 7), D(2, 7, 3)}, 0, 0},
        {"MatMul", "", "xw", {D(3, 2, 5, 7), D(2, 7, 3)}, 0, 0},
        {"MatMul", "", "xx", {D(4, 2, 3, 5, 7), D(4, 2, 3, 7, 4)}, 0, 0},
        {"MatMul", "", "xw", {D(4, 2, 3, 5, 7), D(4, 2, 3, 7, 4)}, 0, 0},
        {"MatMul", "", "xw", {D(1, 7), D(2, 7, 3)}, 0, 0},
        {"MatMul", "", "xw", {D(2, 3, 7), D(1, 7)}, 0, 0},
        {"MatMul", "", "xx", {D(1, 7), D(1, 7)}, 0, 0},
        {"MatMul", "", "xx", {D(3, 1, 5, 7), D(3, 4, 7, 3)}, 0, 0},
        {"MatMul", "", "wx", {D(2, 5, 7), D(3, 4, 7, 3)}, 0, 0},
        {"Gemm", "", "xww", {D(2, 5, 7), D(2, 7, 3), D(1, 3)}, 0, 0},
        {"Gemm", "transB=1", "xww", {D(2, 5, 7), D(2, 3, 7), D(2, 1, 3)}, 0, 0},
        {"Gemm", "transA=1", "xw", {D(2, 7, 5), D(2, 7, 3)}, 0, 0},
        {"Gemm", "transA=1 transB=1", "xxx", {D(2, 7, 5), D(2, 3, 7), D(1, 3)}, 0, 0},
        {"Gemm", "alpha=0.5 beta=2", "xww", {D(2, 5, 7), D(2, 7, 3), D(1, 3)}, 0, 0},
        {"Gemm", "alpha=0.25", "xww", {D(2, 5, 7), D(2, 7, 3), D(2, 5, 3)}, 0, 0},
        {"Gemm", "beta=0", "xwx", {D(2, 5, 7), D(2, 7, 3), D(2, 5, 3)}, 0, 0},
        {"Gemm", "", "xwx", {D(2, 5, 7), D(2, 7, 3), D(2, 5, 1)}, 1, 0},
    };
    RUN(cases);
}

static void pools(void **state)
{
    (void)state;
    static const one cases[] = {
        {"MaxPool", "kernel_shape=3,3 strides=2,2", "x", {D(4, 1, 20, 9, 9)}, 0, 0},
        {"MaxPool", "kernel_shape=2,3 pads=1,0,1,2 dilations=2,1", "x", {D(4, 2, 3, 9, 8)}, 0, 1},
        {"MaxPool", "kernel_shape=3,3 strides=2,2 ceil_mode=1", "x", {D(4, 1, 4, 10, 8)}, 0, 0},
        {"MaxPool", "kernel_shape=3", "x", {D(3, 1, 4, 10)}, 0, 0},
        {"AveragePool", "kernel_shape=3,3 pads=1,1,1,1", "x", {D(4, 1, 17, 7, 7)}, 0, 0},
        {"AveragePool",
         "kernel_shape=3,3 pads=1,1,1,1 count_include_pad=1",
         "x",
         {D(4, 1, 4, 7, 7)},
         0,
         0},
        {"AveragePool", "kernel_shape=3,3 strides=2,2 ceil_mode=1", "x", {D(4, 1, 4, 8, 8)}, 0, 0},
        {"AveragePool", "kernel_shape=2,2,2", "x", {D(5, 1, 4, 4, 5, 6)}, 0, 0},
        {"GlobalAveragePool", "", "x", {D(4, 2, 21, 5, 7)}, 0, 0},
        {"GlobalAveragePool", "", "x", {D(3, 1, 5, 33)}, 0, 0},
        {"GlobalMaxPool", "", "x", {D(4, 2, 3, 5, 7)}, 0, 0},
    };
    RUN(cases);
}

static void norms(void **state)
{
    (void)state;
    static const one cases[] = {
        {"BatchNormalization",
         "",
         "xwwwp",
         {D(4, 2, 5, 3, 4), D(1, 5), D(1, 5), D(1, 5), D(1, 5)},
         0,
         0},
        {"BatchNormalization",
         "epsilon=0.1",
         "xwwwp",
         {D(2, 3, 5), D(1, 5), D(1, 5), D(1, 5), D(1, 5)},
         0,
         0},
        {"LayerNormalization", "", "xww", {D(3, 2, 3, 37), D(1, 37), D(1, 37)}, 0, 0},
        {"LayerNormalization", "axis=1", "xww", {D(3, 2, 3, 7), D(2, 3, 7), D(2, 3, 7)}, 0, 0},
        {"LayerNormalization", "epsilon=0.01", "xw", {D(2, 6, 64), D(1, 64)}, 0, 0},
        {"Softmax", "", "x", {D(3, 2, 3, 19)}, 0, 0},
        {"Softmax", "axis=1", "x", {D(4, 2, 5, 3, 4)}, 0, 0},
        {"Softmax", "axis=0", "x", {D(2, 5, 3)}, 0, 0},
        {"Softmax", "", "x", {D(1, 1)}, 0, 0},
        {"LogSoftmax", "axis=1", "x", {D(2, 5, 30)}, 0, 0},
    };
    RUN(cases);
}

static void elementwise(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "Relu", "Sigmoid",   "Tanh",  "Abs",  "Exp",       "Neg",         "Erf",
        "Sin",  "Cos",       "Floor", "Ceil", "Round",     "Sign",        "Softplus",
        "Mish", "HardSwish", "Gelu",  "Elu",  "LeakyRelu", "HardSigmoid", "Swish"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const one cases[] = {{plain[i], "", "x", {D(2, 3, 171)}, 0, 0},
                             {plain[i], "", "x", {D(1, 1)}, 0, 0}};
        RUN(cases);
    }
    static const one cases[] = {
        {"LeakyRelu", "alpha=-0.5", "x", {D(1, 33)}, 0, 0},
        {"Elu", "alpha=2", "x", {D(1, 33)}, 0, 0},
        {"Clip", "min=-0.5 max=0.25", "x", {D(1, 300)}, 0, 0},
        {"Clip", "max=0.25", "x", {D(1, 300)}, 0, 0},
        {"Clip", "", "x", {D(1, 300)}, 0, 0},
        {"Clip", "min=0.5 max=0.25", "x", {D(1, 300)}, 0, 0},
        {"Gelu", "approximate=tanh", "x", {D(2, 4, 129)}, 0, 0},
        {"HardSigmoid", "alpha=0.3 beta=0.1", "x", {D(1, 40)}, 0, 0},
    };
    RUN(cases);
}

static void broadcasts(void **state)
{
    (void)state;
    static const one cases[] = {
        {"Add", "", "xx", {D(4, 2, 3, 4, 5), D(4, 2, 3, 4, 5)}, 0, 0},
        {"Sub", "", "xx", {D(4, 2, 3, 4, 5), D(4, 1, 3, 1, 1)}, 0, 0},
        {"Sub", "", "xx", {D(2, 1, 5), D(2, 4, 1)}, 0, 0},
        {"Mul", "", "xw", {D(4, 2, 300, 2, 2), D(3, 300, 1, 1)}, 0, 0},
        {"Div", "", "xp", {D(3, 7, 1, 3), D(3, 1, 5, 3)}, 0, 0},
        {"Div", "", "px", {D(0), D(1, 5)}, 0, 0},
        {"Add", "", "xw", {D(1, 5), D(3, 1, 1, 1)}, 0, 0},
        {"Add", "", "xx", {D(0), D(0)}, 0, 0},
        {"Mul", "", "xx", {D(3, 600, 1, 1), D(3, 1, 3, 2)}, 0, 0},
        {"Max", "", "xxx", {D(2, 4, 5), D(1, 5), D(2, 4, 1)}, 0, 0},
        {"Min", "", "xw", {D(2, 4, 5), D(0)}, 0, 0},
        {"Sum", "", "xxx", {D(2, 4, 5), D(1, 5), D(2, 4, 1)}, 0, 0},
        {"Sum", "", "x", {D(2, 4, 5)}, 0, 0},
        {"Pow", "", "pw", {D(2, 4, 5), D(0)}, 0, 0},
        {"PRelu", "", "xw", {D(4, 1, 3, 4, 4), D(3, 3, 1, 1)}, 0, 0},
        {"Add", "", "xx", {D(5, 2, 1, 3, 1, 7), D(5, 1, 4, 3, 5, 1)}, 0, 0},
    };
    RUN(cases);
}

static void reductions(void **state)
{
    (void)state;
    static const one cases[] = {
        {"ReduceMean", "axes=-1", "x", {D(3, 2, 3, 70)}, 0, 0},
        {"ReduceMean", "axes=2,3 keepdims=0", "x", {D(4, 2, 21, 5, 7)}, 0, 0},
        {"ReduceSum", "axes=0,2", "x", {D(4, 3, 4, 5, 6)}, 0, 0},
        {"ReduceSum", "", "x", {D(2, 3, 4)}, 0, 0},
        {"ReduceSum", "keepdims=0", "x", {D(2, 33, 4)}, 0, 0},
        {"ReduceMax", "axes=1", "x", {D(3, 3, 4, 5)}, 0, 0},
        {"ReduceMin", "axes=1 keepdims=0", "x", {D(3, 3, 4, 5)}, 0, 0},
        {"ReduceProd", "axes=1", "x", {D(2, 3, 4)}, 0, 0},
        {"ReduceL1", "axes=1", "x", {D(2, 3, 40)}, 0, 0},
        {"ReduceL2", "axes=0", "x", {D(2, 3, 40)}, 0, 0},
        {"ReduceSumSquare", "axes=0", "x", {D(2, 3, 40)}, 0, 0},
        {"ReduceMean", "axes=0", "x", {D(1, 1)}, 0, 0},
    };
    RUN(cases);
}

static void moves(void **state)
{
    (void)state;
    static const one cases[] = {
        {"Reshape", "shape=6,4", "x", {D(3, 2, 3, 4)}, 0, 0},
        {"Flatten", "axis=1", "x", {D(4, 2, 3, 4, 5)}, 0, 0},
        {"Squeeze", "axes=1", "x", {D(3, 2, 1, 4)}, 0, 0},
        {"Unsqueeze", "axes=0,2", "x", {D(2, 2, 4)}, 0, 0},
        {"Identity", "", "x", {D(2, 2, 4)}, 0, 0},
        {"Dropout", "", "x", {D(2, 2, 4)}, 0, 0},
        {"Transpose", "perm=1,0", "x", {D(2, 40, 50)}, 0, 0},
        {"Transpose", "perm=0,2,3,1", "x", {D(4, 2, 33, 9, 7)}, 0, 0},
        {"Transpose", "perm=3,1,0,2", "x", {D(4, 2, 3, 4, 5)}, 0, 0},
        {"Concat", "axis=1", "xxx", {D(3, 2, 3, 4), D(3, 2, 1, 4), D(3, 2, 5, 4)}, 0, 0},
        {"Concat", "axis=2", "xw", {D(3, 2, 3, 4), D(3, 2, 3, 1)}, 0, 0},
        {"Concat", "axis=0", "x", {D(1, 3)}, 0, 0},
        {"Slice", "starts=1 ends=3 axes=1", "x", {D(3, 2, 4, 3)}, 0, 0},
        {"Slice", "starts=-3,0 ends=100,5 axes=0,2 steps=1,2", "x", {D(3, 4, 4, 6)}, 0, 0},
        {"Slice", "starts=-1 ends=-100 axes=1 steps=-1", "x", {D(3, 2, 4, 3)}, 0, 0},
        {"DepthToSpace", "blocksize=2", "x", {D(4, 2, 12, 3, 5)}, 0, 0},
        {"DepthToSpace", "blocksize=3 mode=CRD", "x", {D(4, 1, 18, 3, 5)}, 0, 0},
        {"SpaceToDepth", "blocksize=2", "x", {D(4, 2, 3, 4, 6)}, 0, 0},
        {"Expand", "shape=2,3,4", "x", {D(2, 3, 1)}, 0, 0},
        {"Expand", "shape=3,1", "x", {D(2, 3, 4)}, 0, 0},
        {"Pad", "pads=0,1,2,1,0,3", "x", {D(3, 2, 3, 4)}, 0, 0},
        {"Pad", "pads=1,2 value=1.5", "x", {D(1, 4)}, 0, 0},
        {"Pad", "pads=-1,0,2,-1", "x", {D(2, 4, 5)}, 0, 0},
        {"Pad", "pads=1,1 mode=reflect", "x", {D(1, 4)}, 0, 0},
        {"Tile", "repeats=2,3", "x", {D(2, 4, 5)}, 0, 0},
    };
    RUN(cases);
}

/* Parts of rows, as a detector's boxes have them: several rows go through a program together. */
static void short_rows(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 17; n++) {
        char low[64], high[64], what[32];
        net m = net_new((uint64_t)n);
        tg_value x = net_input(&m, tg_shape_of(2, 151, 2 * n));
        snprintf(low, sizeof low, "starts=0 ends=%d axes=2", (int)n);
        snprintf(high, sizeof high, "starts=%d ends=%d axes=2", (int)n, (int)(2 * n));
        snprintf(what, sizeof what, "rows of %d", (int)n);
        tg_value a = net_node(&m, "Slice", low, x), b = net_node(&m, "Slice", high, x);
        tg_value each = net_weight(&m, tg_shape_of(151, n)), row = net_weight(&m, tg_shape_of(n));
        tg_value y = net_node(&m, "Add", "", net_node(&m, "Mul", "", a, each), b);
        tg_value z = net_node(&m, "Exp", "", net_node(&m, "Mul", "", b, row));
        tg_value both = net_node(&m, "Sub", "", z, net_weight(&m, tg_shape_of(2, 151, 1)));
        tg_graph *g = net_done(&m, y, both, net_node(&m, "Concat", "axis=2", y, both));
        if (net_agrees(g, what).reference) fail_msg("%s: by reference", what);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(convolutions), cmocka_unit_test(products),    cmocka_unit_test(pools),
    cmocka_unit_test(norms),        cmocka_unit_test(elementwise), cmocka_unit_test(broadcasts),
    cmocka_unit_test(reductions),   cmocka_unit_test(moves),       cmocka_unit_test(short_rows),
};
UNIT_MAIN(tests)
