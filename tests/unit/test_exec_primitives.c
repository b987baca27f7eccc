/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each kind of primitive of the vendor's library, and what may be absorbed into it, against the
 * reference kernels. The library's versions differ most in what is tested here.
 */
#include "tests/unit/unit.h"

#include "engine/exec/backend.h"
#include "engine/exec/reference.h"
#include "engine/exec/verify.h"
#include "engine/ir/eval.h"
#include "samples/maker.h"

#define OP(id, x) make_unary(m, TG_OP(id), x)

static tg_value node(maker *m, tg_op op, tg_value x, int rank, const int64_t *dims, bool bias,
                     const tg_named_attr *attrs, int n)
{
    tg_value in[3] = {x, make_weight(m, rank, dims, 0.3)};
    if (bias) in[2] = make_weight(m, DIMS(dims[op == TG_OP(ConvTranspose) ? 1 : 0]), 0.3);
    return make_op(m, op, in, bias ? 3 : 2, attrs, n);
}

static tg_value conv(maker *m)
{
    int64_t pads[] = {1, 0, 2, 1}, strides[] = {2, 1}, dilations[] = {1, 2};
    tg_named_attr attrs[] = {{"pads", TG_ATTR_OF_INTS(pads, 4)},
                             {"strides", TG_ATTR_OF_INTS(strides, 2)},
                             {"dilations", TG_ATTR_OF_INTS(dilations, 2)}};
    tg_value x = make_input(m, "x", DIMS(2, 5, 11, 13));
    return node(m, TG_OP(Conv), x, DIMS(7, 5, 3, 3), true, attrs, 3);
}

static tg_value grouped(maker *m)
{
    tg_named_attr group = {"group", TG_ATTR_OF_INT(4)};
    tg_value x = make_input(m, "x", DIMS(1, 8, 9, 9));
    return node(m, TG_OP(Conv), x, DIMS(12, 2, 3, 3), false, &group, 1);
}

static tg_value depthwise(maker *m)
{
    tg_named_attr group = {"group", TG_ATTR_OF_INT(16)};
    tg_value x = make_input(m, "x", DIMS(1, 16, 9, 9));
    return node(m, TG_OP(Conv), x, DIMS(16, 1, 3, 3), true, &group, 1);
}

static tg_value conv_one_dimension(maker *m)
{
    tg_value x = make_input(m, "x", DIMS(1, 4, 20));
    return node(m, TG_OP(Conv), x, DIMS(6, 4, 5), true, NULL, 0);
}

static tg_value deconv(maker *m)
{
    int64_t strides[] = {2, 2}, pads[] = {1, 1, 0, 0};
    tg_named_attr attrs[] = {{"strides", TG_ATTR_OF_INTS(strides, 2)},
                             {"pads", TG_ATTR_OF_INTS(pads, 4)}};
    tg_value x = make_input(m, "x", DIMS(1, 6, 7, 5));
    return node(m, TG_OP(ConvTranspose), x, DIMS(6, 4, 3, 3), true, attrs, 2);
}

static tg_value matmul(maker *m)
{
    return make_matmul(m, make_input(m, "x", DIMS(3, 17, 24)), 31);
}

static tg_value gemm(maker *m)
{
    tg_named_attr transposed = {"transB", TG_ATTR_OF_INT(1)};
    tg_value x = make_input(m, "x", DIMS(5, 12));
    return node(m, TG_OP(Gemm), x, DIMS(9, 12), true, &transposed, 1);
}

static tg_value pool(maker *m, tg_op op, int64_t count_pads)
{
    int64_t kernel[] = {3, 2}, strides[] = {2, 1}, pads[] = {1, 0, 1, 1};
    tg_named_attr attrs[] = {{"kernel_shape", TG_ATTR_OF_INTS(kernel, 2)},
                             {"strides", TG_ATTR_OF_INTS(strides, 2)},
                             {"pads", TG_ATTR_OF_INTS(pads, 4)},
                             {"count_include_pad", TG_ATTR_OF_INT(count_pads)}};
    tg_value x = make_input(m, "x", DIMS(1, 5, 11, 8));
    return make_op(m, op, &x, 1, attrs, op == TG_OP(MaxPool) ? 3 : 4);
}

static tg_value pool_max(maker *m)
{
    return pool(m, TG_OP(MaxPool), 0);
}

static tg_value pool_average(maker *m)
{
    return pool(m, TG_OP(AveragePool), 0);
}

static tg_value pool_average_pads(maker *m)
{
    return pool(m, TG_OP(AveragePool), 1);
}

static tg_value softmax(maker *m)
{
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(1)};
    tg_value x = make_input(m, "x", DIMS(2, 9, 5));
    return make_op(m, TG_OP(Softmax), &x, 1, &axis, 1);
}

static tg_value softmax_log(maker *m)
{
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(-1)};
    tg_value x = make_input(m, "x", DIMS(4, 11));
    return make_op(m, TG_OP(LogSoftmax), &x, 1, &axis, 1);
}

static tg_value layernorm(maker *m)
{
    tg_value x = make_input(m, "x", DIMS(6, 40));
    return node(m, TG_OP(LayerNormalization), x, DIMS(40), true, NULL, 0);
}

static tg_value with_hardswish(maker *m)
{
    return OP(HardSwish, conv(m));
}

static tg_value with_clip(maker *m)
{
    tg_value in[] = {conv(m), tg_build_scalar(m->b, TG_F32, -0.25),
                     tg_build_scalar(m->b, TG_F32, 0.5)};
    return make_op(m, TG_OP(Clip), in, 3, NULL, 0);
}

static tg_value with_leaky_relu(maker *m)
{
    tg_named_attr alpha = {"alpha", TG_ATTR_OF_FLOAT(0.2f)};
    tg_value x = matmul(m);
    return make_op(m, TG_OP(LeakyRelu), &x, 1, &alpha, 1);
}

static tg_value with_swish(maker *m)
{
    tg_value x = conv(m);
    return make_binary(m, TG_OP(Mul), x, OP(Sigmoid, x));
}

static tg_value with_addend(maker *m)
{
    tg_value x = conv(m);
    return OP(Relu, make_binary(m, TG_OP(Add), x, OP(Tanh, x)));
}

static tg_value with_scale(maker *m)
{
    tg_value x = conv(m);
    return make_binary(m, TG_OP(Mul), x, make_weight(m, DIMS(1, 7, 1, 1), 1));
}

typedef struct example {
    tg_value (*build)(maker *m);
    const char *name;
} example;

/* Builds, runs by the cpu backend and by the reference kernels, compares. */
static void agrees(const example *e)
{
    tg_origin *origin = tg_origin_new();
    maker m = {.b = tg_builder_new(origin), .rng = tg_rng_new(1)};
    tg_value out = e->build(&m);
    assert_ok(m.status);
    tg_build_outputs(m.b, &out, &(const char *){"out"}, 1);
    tg_graph *graph;
    assert_ok(tg_build_done(m.b, &graph));
    tg_plan *plan;
    assert_ok(tg_plan_new(tg_backend_find("cpu"), graph, NULL, &plan));
    if (!tg_plan_stats_of(plan)->primitives) fail_msg("%s: no primitive", e->name);
    tg_tensor *in, want, got;
    assert_ok(tg_inputs_draw(graph, 3, &in));
    assert_ok(tg_reference_run(graph, in, &want));
    for (int run = 0; run < 2; run++) { /* the second finds the arena as the first left it */
        double max_abs, relative;
        assert_ok(tg_plan_run(plan, in, &got));
        tg_status status = tg_tensor_compare(&want, &got, 500, &max_abs, &relative);
        if (status != TG_OK) fail_msg("%s: %s", e->name, tg_message());
        tg_tensor_free(&got);
    }
    tg_tensor_free(&want);
    tg_inputs_free(in, 1);
    tg_plan_free(plan);
    tg_graph_unref(graph);
    tg_rng_free(m.rng);
    tg_origin_unref(origin);
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        name, #name                                                                                \
    }

static void primitives_agree_with_the_reference(void **state)
{
    (void)state;
    static const example examples[] = {
        ROW(conv),         ROW(grouped),
        ROW(depthwise),    ROW(conv_one_dimension),
        ROW(deconv),       ROW(matmul),
        ROW(gemm),         ROW(pool_max),
        ROW(pool_average), ROW(pool_average_pads),
        ROW(softmax),      ROW(softmax_log),
        ROW(layernorm),
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) agrees(&examples[i]);
}

static void what_is_absorbed_agrees_too(void **state)
{
    (void)state;
    static const example examples[] = {
        ROW(with_hardswish), ROW(with_clip),   ROW(with_leaky_relu),
        ROW(with_swish),     ROW(with_addend), ROW(with_scale),
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) agrees(&examples[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(primitives_agree_with_the_reference),
    cmocka_unit_test(what_is_absorbed_agrees_too),
};
UNIT_MAIN(tests)
