/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analytic cost against the worked figures of TASO's analytic model. */
#include "tests/unit/unit.h"

#include "engine/ir/build.h"
#include "engine/ops/cost.h"
#include "engine/ops/ops.h"

#include <math.h>

typedef struct model {
    tg_builder *b;
    tg_graph *g;
} model;

static model model_new(void)
{
    tg_origin *origin = tg_origin_new();
    model m = {tg_builder_new(origin), NULL};
    tg_origin_unref(origin);
    return m;
}

static tg_value input(model *m, tg_shape shape)
{
    return tg_build_input(m->b, "x", &(tg_type){TG_F32, shape});
}

static tg_value node_of(model *m, tg_op op, const tg_value *in, int n_in,
                        const tg_named_attr *attrs, int n_attrs, const char *rule)
{
    uint32_t id;
    tg_node_spec spec = {
        .op = op, .in = in, .n_in = n_in, .attrs = attrs, .n_attrs = n_attrs, .rule = rule};
    assert_ok(tg_build_node(m->b, &spec, &id));
    return tg_value_of(id, 0);
}

#define NODE(m, op, ...)                                                                           \
    node_of(m, TG_OP(op), (const tg_value[]){__VA_ARGS__},                                         \
            (int)(sizeof((const tg_value[]){__VA_ARGS__}) / sizeof(tg_value)), NULL, 0, NULL)

#define NODE_WITH(m, op, attrs, rule, ...)                                                         \
    node_of(m, TG_OP(op), (const tg_value[]){__VA_ARGS__},                                         \
            (int)(sizeof((const tg_value[]){__VA_ARGS__}) / sizeof(tg_value)), attrs,              \
            (int)(sizeof attrs / sizeof *attrs), rule)

static double cost_and_free(model *m, tg_value y)
{
    const char *name = "y";
    tg_build_outputs(m->b, &y, &name, 1);
    assert_ok(tg_build_done(m->b, &m->g));
    double ms = tg_graph_cost_ms(m->g);
    assert_true(ms == (double)(float)ms);
    tg_graph_unref(m->g);
    return ms;
}

static void expect_ms(double got, double want)
{
    if (fabs(got - want) > 5e-7) fail_msg("%.9g ms, not %.6f", got, want);
}

static void matmul_costs(void **state)
{
    (void)state;
    model m = model_new();
    tg_value x = input(&m, tg_shape_of(64, 1024)), w = input(&m, tg_shape_of(1024, 1024));
    expect_ms(cost_and_free(&m, NODE(&m, MatMul, x, w)), 0.021777);
    m = model_new();
    x = input(&m, tg_shape_of(16, 64, 64));
    expect_ms(cost_and_free(&m, NODE(&m, MatMul, x, x)), 0.007621);
}

static void relu_costs(void **state)
{
    (void)state;
    model m = model_new();
    expect_ms(cost_and_free(&m, NODE(&m, Relu, input(&m, tg_shape_of(64, 1024)))), 0.006748);
}

static const int64_t two[] = {2, 2}, three[] = {3, 3};

static void conv_and_pool_cost(void **state)
{
    (void)state;
    model m = model_new();
    tg_named_attr strides[] = {{"strides", TG_ATTR_OF_INTS(two, 2)}};
    tg_named_attr window[] = {{"kernel_shape", TG_ATTR_OF_INTS(three, 2)},
                              {"strides", TG_ATTR_OF_INTS(two, 2)}};
    tg_value x = input(&m, tg_shape_of(1, 3, 224, 224)), w = input(&m, tg_shape_of(64, 3, 3, 3));
    expect_ms(cost_and_free(&m, NODE_WITH(&m, Conv, strides, NULL, x, w)), 0.017544);
    m = model_new();
    x = input(&m, tg_shape_of(1, 64, 111, 111));
    expect_ms(cost_and_free(&m, NODE_WITH(&m, MaxPool, window, NULL, x)), 0.018095);
}

/* A fused activation and a bias are free. */
static void conv_costs_the_same_with_activation(void **state)
{
    (void)state;
    model m = model_new();
    tg_named_attr attrs[] = {{"strides", TG_ATTR_OF_INTS(two, 2)},
                             {"activation", tg_attr_str("Relu")}};
    tg_value x = input(&m, tg_shape_of(1, 3, 224, 224)), w = input(&m, tg_shape_of(64, 3, 3, 3)),
             b = input(&m, tg_shape_of(64));
    expect_ms(cost_and_free(&m, NODE_WITH(&m, Conv, attrs, NULL, x, w, b)), 0.017544);
}

static void concat_costs_unless_a_rule_made_it(void **state)
{
    (void)state;
    tg_named_attr axis[] = {{"axis", TG_ATTR_OF_INT(1)}};
    model m = model_new();
    tg_value x = input(&m, tg_shape_of(1, 64, 55, 55));
    expect_ms(cost_and_free(&m, NODE_WITH(&m, Concat, axis, NULL, x, x)), 0.020325);
    m = model_new();
    x = input(&m, tg_shape_of(1, 64, 55, 55));
    expect_ms(cost_and_free(&m, NODE_WITH(&m, Concat, axis, "some-rule", x, x)), 0);
}

static void views_and_constants_are_free(void **state)
{
    (void)state;
    model m = model_new();
    static const int64_t back[] = {1, 0};
    tg_named_attr perm[] = {{"perm", TG_ATTR_OF_INTS(back, 2)}};
    tg_value x = input(&m, tg_shape_of(4, 4)), c = tg_build_scalar(m.b, TG_F32, 3);
    expect_ms(cost_and_free(&m, NODE_WITH(&m, Transpose, perm, NULL, x)), 0);
    m = model_new();
    x = input(&m, tg_shape_of(4, 4));
    c = tg_build_scalar(m.b, TG_F32, 3);
    double with = cost_and_free(&m, NODE(&m, Add, x, NODE(&m, Relu, c)));
    m = model_new();
    x = input(&m, tg_shape_of(4, 4));
    c = tg_build_scalar(m.b, TG_F32, 3);
    assert_true(with == cost_and_free(&m, NODE(&m, Add, x, c)));
}

/* A relu and eight layers of attention without softmax, as TASO builds it. */
static void bert_costs(void **state)
{
    (void)state;
    static const int64_t heads[] = {64, 16, 64}, flat[] = {64, 1024}, front[] = {1, 0, 2},
                         last[] = {1, 2, 0};
    tg_named_attr to_heads[] = {{"shape", TG_ATTR_OF_INTS(heads, 3)}};
    tg_named_attr to_flat[] = {{"shape", TG_ATTR_OF_INTS(flat, 2)}};
    tg_named_attr batch[] = {{"perm", TG_ATTR_OF_INTS(front, 3)}};
    tg_named_attr turned[] = {{"perm", TG_ATTR_OF_INTS(last, 3)}};
    model m = model_new();
    tg_value t = NODE(&m, Relu, input(&m, tg_shape_of(64, 1024)));
    for (int layer = 0; layer < 8; layer++) {
        tg_value p[3];
        for (int i = 0; i < 3; i++) {
            p[i] = NODE(&m, MatMul, t, input(&m, tg_shape_of(1024, 1024)));
            p[i] = NODE_WITH(&m, Reshape, to_heads, NULL, p[i]);
            if (i == 1) p[i] = NODE_WITH(&m, Transpose, turned, NULL, p[i]);
            else p[i] = NODE_WITH(&m, Transpose, batch, NULL, p[i]);
        }
        tg_value o = NODE(&m, MatMul, NODE(&m, MatMul, p[0], p[1]), p[2]);
        o = NODE_WITH(&m, Transpose, batch, NULL, o);
        o = NODE_WITH(&m, Reshape, to_flat, NULL, o);
        t = NODE(&m, MatMul, o, input(&m, tg_shape_of(1024, 1024)));
    }
    expect_ms(cost_and_free(&m, t), 0.825562);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(matmul_costs),
    cmocka_unit_test(relu_costs),
    cmocka_unit_test(conv_and_pool_cost),
    cmocka_unit_test(conv_costs_the_same_with_activation),
    cmocka_unit_test(concat_costs_unless_a_rule_made_it),
    cmocka_unit_test(views_and_constants_are_free),
    cmocka_unit_test(bert_costs),
};
UNIT_MAIN(tests)
