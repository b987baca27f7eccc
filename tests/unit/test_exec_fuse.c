/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs as one step computes what the single nodes compute; and it does run as one step. */
#include "tests/unit/exec_case.h"

#define SHAPE(...) tg_shape_of(__VA_ARGS__)

static tg_value conv(net *m, tg_value x, int in, int out, const char *attrs)
{
    tg_value w = net_weight(m, SHAPE(out, in, 1, 1));
    return net_node(m, "Conv", attrs, x, w);
}

static void expect(tg_graph *g, const char *what, int steps, int absorbed)
{
    tg_plan_stats s = net_agrees(g, what);
    if (s.steps - s.reorders != steps || s.absorbed != absorbed || s.reference || s.slow)
        fail_msg("%s: %d steps, %d of them reorders, %d nodes absorbed, %d by reference, %d slow",
                 what, s.steps, s.reorders, s.absorbed, s.reference, s.slow);
}

static void tails_of_convolutions(void **state)
{
    (void)state;
    net m = net_new(1);
    tg_value x = net_input(&m, SHAPE(1, 8, 5, 5));
    tg_value y = net_node(&m, "Relu", "", conv(&m, x, 8, 16, ""));
    expect(net_done(&m, y), "conv, relu", 1, 1);

    m = net_new(2);
    x = net_input(&m, SHAPE(1, 8, 5, 5));
    y = net_node(&m, "Add", "", conv(&m, x, 8, 16, ""), net_weight(&m, SHAPE(1, 16, 1, 1)));
    y = net_node(&m, "Sigmoid", "", y);
    expect(net_done(&m, y), "conv, bias, sigmoid", 1, 2);

    m = net_new(3);
    x = net_input(&m, SHAPE(2, 8, 5, 5));
    y = net_node(&m, "Add", "", conv(&m, x, 8, 8, ""), x);
    y = net_node(&m, "Relu", "", y);
    expect(net_done(&m, y), "conv, residual, relu", 1, 2);

    m = net_new(4);
    x = net_input(&m, SHAPE(1, 8, 5, 5));
    tg_value a = conv(&m, x, 8, 8, ""), b = conv(&m, x, 8, 8, "");
    y = net_node(&m, "Relu", "", net_node(&m, "Add", "", a, b));
    expect(net_done(&m, y), "two convs added", 2, 2);
}

static void norms_follow_convolutions(void **state)
{
    (void)state;
    net m = net_new(5);
    tg_value x = net_input(&m, SHAPE(1, 4, 5, 5)), y = conv(&m, x, 4, 6, "activation=Tanh");
    tg_value scale = net_weight(&m, SHAPE(6)), shift = net_weight(&m, SHAPE(6));
    tg_value mean = net_weight(&m, SHAPE(6)), var = net_weight_of(&m, SHAPE(6), true);
    y = net_node(&m, "BatchNormalization", "", y, scale, shift, mean, var);
    y = net_node(&m, "Relu", "", y);
    expect(net_done(&m, y), "conv, batch norm, relu", 1, 2);
}

/* oneDNN 2.6 gives operations of one kind the numbers of the first. */
static void operations_of_one_kind(void **state)
{
    (void)state;
    for (int depthwise = 0; depthwise < 2; depthwise++) {
        net m = net_new(6);
        tg_value x = net_input(&m, SHAPE(1, 16, 7, 7)), y;
        if (depthwise) y = net_node(&m, "Conv", "group=16", x, net_weight(&m, SHAPE(16, 1, 3, 3)));
        else y = conv(&m, x, 16, 16, "");
        y = net_node(&m, "Mul", "", y, net_number(&m, 1.5));
        y = net_node(&m, "Add", "", y, net_number(&m, 0.25));
        y = net_node(&m, "Relu", "", y);
        y = net_node(&m, "Mul", "", y, net_number(&m, -3));
        y = net_node(&m, "Sub", "", net_number(&m, 0.5), y);
        expect(net_done(&m, y), "two linear operations", 1, 5);

        m = net_new(7);
        x = net_input(&m, SHAPE(1, 16, 7, 7));
        if (depthwise) y = net_node(&m, "Conv", "group=16", x, net_weight(&m, SHAPE(16, 1, 3, 3)));
        else y = conv(&m, x, 16, 16, "");
        y = net_node(&m, "LeakyRelu", "alpha=0.5", y);
        y = net_node(&m, "LeakyRelu", "alpha=-0.25", y);
        y = net_node(&m, "Clip", "min=0 max=1", y);
        y = net_node(&m, "Clip", "min=0.25 max=0.5", y);
        net_agrees(net_done(&m, y), "slopes and bounds");
    }
}

static tg_value hardswish(net *m, tg_value x)
{
    tg_value y = net_node(m, "Add", "", x, net_number(m, 3));
    y = net_node(m, "Clip", "min=0 max=6", y);
    y = net_node(m, "Mul", "", x, y);
    return net_node(m, "Div", "", y, net_number(m, 6));
}

static tg_value gelu(net *m, tg_value x)
{
    tg_value y = net_node(m, "Div", "", x, net_number(m, 1.41421356));
    y = net_node(m, "Add", "", net_node(m, "Erf", "", y), net_number(m, 1));
    return net_node(m, "Mul", "", net_node(m, "Mul", "", x, y), net_number(m, 0.5));
}

static void diamonds(void **state)
{
    (void)state;
    net m = net_new(8);
    tg_value x = net_input(&m, SHAPE(1, 8, 6, 5));
    expect(net_done(&m, hardswish(&m, conv(&m, x, 8, 16, ""))), "hard swish", 1, 4);

    m = net_new(9);
    x = net_input(&m, SHAPE(1, 8, 6, 5));
    tg_value y = conv(&m, x, 8, 16, "");
    y = net_node(&m, "Mul", "", net_node(&m, "Sigmoid", "", y), y);
    expect(net_done(&m, y), "swish", 1, 2);

    m = net_new(10);
    x = net_input(&m, SHAPE(2, 5, 32));
    y = net_node(&m, "MatMul", "", x, net_weight(&m, SHAPE(32, 24)));
    y = net_node(&m, "Add", "", net_weight(&m, SHAPE(24)), y);
    expect(net_done(&m, gelu(&m, y)), "product, bias, gelu", 1, 6);

    m = net_new(11); /* the inner value leaves: no diamond */
    x = net_input(&m, SHAPE(1, 8, 6, 5));
    y = conv(&m, x, 8, 16, "");
    tg_value z = hardswish(&m, y);
    expect(net_done(&m, z, y), "hard swish whose start is an output", 2, 3);

    m = net_new(12); /* another number: not a hard swish */
    x = net_input(&m, SHAPE(1, 8, 6, 5));
    y = conv(&m, x, 8, 16, "");
    z = net_node(&m, "Add", "", y, net_number(&m, 2.5));
    z = net_node(&m, "Mul", "", y, net_node(&m, "Clip", "min=0 max=6", z));
    z = net_node(&m, "Div", "", z, net_number(&m, 6));
    expect(net_done(&m, z), "nearly a hard swish", 2, 3);
}

static void tails_of_products(void **state)
{
    (void)state;
    net m = net_new(13);
    tg_value x = net_input(&m, SHAPE(4, 6, 16)), z = net_input(&m, SHAPE(4, 6, 8));
    tg_value y = net_node(&m, "MatMul", "", x, net_weight(&m, SHAPE(16, 8)));
    y = net_node(&m, "Add", "", z, y);
    y = net_node(&m, "Relu", "", y);
    expect(net_done(&m, y), "product, sum, relu", 1, 2);

    m = net_new(14);
    x = net_input(&m, SHAPE(2, 3, 6, 16)), z = net_input(&m, SHAPE(2, 3, 16, 5));
    y = net_node(&m, "MatMul", "", x, z);
    y = net_node(&m, "Div", "", y, net_number(&m, 4));
    expect(net_done(&m, y), "many products, scaled", 1, 1);

    m = net_new(15);
    x = net_input(&m, SHAPE(6, 16));
    y = net_node(&m, "Gemm", "alpha=0.5 transB=1", x, net_weight(&m, SHAPE(8, 16)),
                 net_weight(&m, SHAPE(8)));
    y = net_node(&m, "Mul", "", y, net_number(&m, 3));
    y = net_node(&m, "Tanh", "", y);
    net_agrees(net_done(&m, y), "gemm, number, tanh");

    m = net_new(16); /* a vector along the rows is no bias of columns */
    x = net_input(&m, SHAPE(3, 6, 16));
    y = net_node(&m, "MatMul", "", x, net_weight(&m, SHAPE(16, 6)));
    y = net_node(&m, "Add", "", y, net_weight(&m, SHAPE(6, 1)));
    net_agrees(net_done(&m, y), "product, rows");
}

static void loops(void **state)
{
    (void)state;
    net m = net_new(17);
    tg_value x = net_input(&m, SHAPE(2, 9, 4, 3)), w = net_weight(&m, SHAPE(9, 1, 1));
    tg_value a = net_node(&m, "Mul", "", x, w), b = net_node(&m, "Exp", "", a);
    tg_value y = net_node(&m, "Add", "", net_node(&m, "Tanh", "", b), a);
    expect(net_done(&m, y, b), "a loop with two outputs", 1, 3);

    /* The reduced value stands between: the sum cannot join the product's loop. */
    m = net_new(18);
    x = net_input(&m, SHAPE(2, 70));
    a = net_node(&m, "Mul", "", x, net_number(&m, 2));
    tg_value mean = net_node(&m, "ReduceMean", "axes=-1", a);
    y = net_node(&m, "Sub", "", a, mean);
    y = net_node(&m, "Mul", "", y, y);
    expect(net_done(&m, y), "a loop, a mean, a loop", 3, 1);

    m = net_new(19);
    x = net_input(&m, SHAPE(1, 5));
    y = x;
    for (int i = 0; i < 40; i++) y = net_node(&m, "Add", "", net_node(&m, "Abs", "", y), x);
    net_agrees(net_done(&m, y), "a loop of many nodes");
}

static void layouts(void **state)
{
    (void)state;
    net m = net_new(20); /* channel shuffle between convolutions */
    tg_value x = net_input(&m, SHAPE(1, 8, 6, 5));
    tg_value y = conv(&m, x, 8, 12, "");
    y = net_node(&m, "Reshape", "shape=1,3,4,6,5", y);
    y = net_node(&m, "Transpose", "perm=0,2,1,3,4", y);
    y = net_node(&m, "Reshape", "shape=1,12,6,5", y);
    y = conv(&m, y, 12, 8, "");
    tg_plan_stats s = net_agrees(net_done(&m, y), "shuffle");
    assert_int_equal(s.reorders, 3); /* in, the shuffle, out */

    m = net_new(21); /* squeeze and excite */
    x = net_input(&m, SHAPE(2, 8, 6, 5));
    y = conv(&m, x, 8, 20, "");
    tg_value z = net_node(&m, "GlobalAveragePool", "", y);
    z = net_node(&m, "Sigmoid", "", conv(&m, z, 20, 20, ""));
    y = net_node(&m, "Mul", "", y, z);
    s = net_agrees(net_done(&m, conv(&m, y, 20, 4, "")), "squeeze and excite");
    assert_int_equal(s.reorders, 2);

    m = net_new(22); /* heads that end in rows of scores */
    x = net_input(&m, SHAPE(1, 8, 6, 5));
    y = net_node(&m, "Transpose", "perm=0,2,3,1", conv(&m, x, 8, 6, ""));
    y = net_node(&m, "Reshape", "shape=1,-1,2", y);
    y = net_node(&m, "Softmax", "axis=2", y);
    s = net_agrees(net_done(&m, y), "head");
    assert_int_equal(s.reorders, 1);
}

static void attention(void **state)
{
    (void)state;
    net m = net_new(23);
    tg_value x = net_input(&m, SHAPE(2, 7, 24)), part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = net_node(&m, "MatMul", "", x, net_weight(&m, SHAPE(24, 24)));
        part[i] = net_node(&m, "Reshape", "shape=2,7,3,8", part[i]);
        part[i] = net_node(&m, "Transpose", i == 1 ? "perm=0,2,3,1" : "perm=0,2,1,3", part[i]);
    }
    tg_value y = net_node(&m, "MatMul", "", part[0], part[1]);
    y = net_node(&m, "Softmax", "", net_node(&m, "Div", "", y, net_number(&m, 2.83)));
    y = net_node(&m, "Transpose", "perm=0,2,1,3", net_node(&m, "MatMul", "", y, part[2]));
    y = net_node(&m, "Reshape", "shape=2,7,24", y);
    y = net_node(&m, "MatMul", "", y, net_weight(&m, SHAPE(24, 24)));
    tg_plan_stats s = net_agrees(net_done(&m, y), "attention");
    assert_int_equal(s.reference + s.slow, 0);
    assert_in_range(s.reorders, 0, 1);
}

static void inputs_that_are_outputs(void **state)
{
    (void)state;
    net m = net_new(24);
    tg_value x = net_input(&m, SHAPE(2, 3)), w = net_weight(&m, SHAPE(4));
    tg_value y = net_node(&m, "Transpose", "perm=1,0", x);
    net_agrees(net_done(&m, x, w, y, y), "input, constant, view and the view again");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tails_of_convolutions),
    cmocka_unit_test(norms_follow_convolutions),
    cmocka_unit_test(operations_of_one_kind),
    cmocka_unit_test(diamonds),
    cmocka_unit_test(tails_of_products),
    cmocka_unit_test(loops),
    cmocka_unit_test(layouts),
    cmocka_unit_test(attention),
    cmocka_unit_test(inputs_that_are_outputs),
};
UNIT_MAIN(tests)
