/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators one by one, of all types and in awkward shapes: the cpu plan computes what the
 * reference kernels compute, by code of its own.
 */
#include "tests/unit/exec_case.h"

#include "engine/exec/cpu/prim.h"
#include "samples/samples.h"

/* An operand: drawn from [low, high]; integers whole. dtype none: absent. */
typedef struct arg {
    tg_dtype dtype;
    tg_shape shape;
    double low, high;
    bool constant;
} arg;

#define S(...) tg_shape_of(__VA_ARGS__)
#define SCALAR_ ((tg_shape){.rank = 0})
#define F32(...) ((arg){TG_F32, S(__VA_ARGS__), -2, 2, false})
#define W32(...) ((arg){TG_F32, S(__VA_ARGS__), -1, 1, true})
#define POS(...) ((arg){TG_F32, S(__VA_ARGS__), 0.05, 0.5, true})
#define ANY(type, low, high, ...) ((arg){TG_##type, S(__VA_ARGS__), low, high, false})
#define FIX(type, low, high, ...) ((arg){TG_##type, S(__VA_ARGS__), low, high, true})
#define ONE(type, x) ((arg){TG_##type, SCALAR_, x, x, true})
#define LESS ((arg){.dtype = TG_DTYPE_NONE})
#define ARGS(...)                                                                                  \
    (const arg[]){__VA_ARGS__}, (int)(sizeof((const arg[]){__VA_ARGS__}) / sizeof(arg))

static tg_tensor draw(const arg *a, tg_rng *rng)
{
    tg_tensor t = {a->dtype, a->shape, NULL};
    t.data = tg_calloc(1, tg_tensor_bytes(&t) + 1);
    for (int64_t i = 0; i < tg_tensor_count(&t); i++) {
        double x = a->low == a->high ? a->low : a->low + (a->high - a->low) * tg_rng_uniform(rng);
        if (tg_dtype_kind(a->dtype) == 'f') tg_tensor_set_f64(&t, i, x);
        else tg_tensor_set_i64(&t, i, (int64_t)floor(x + 0.5));
    }
    return t;
}

enum { MOST = 9 };

typedef struct trial {
    tg_graph *g;
    tg_tensor in[MOST];
    int n_in;
} trial;

static void trial_build(trial *t, const char *op, const char *attrs, int outs, const arg *args,
                        int n)
{
    net m = net_new(7);
    tg_value v[MOST], out[4];
    *t = (trial){0};
    for (int i = 0; i < n; i++) {
        tg_type type = {args[i].dtype, args[i].shape};
        v[i] = TG_NO_VALUE;
        if (!args[i].dtype) continue;
        tg_tensor x = draw(&args[i], m.rng);
        if (args[i].constant) {
            v[i] = tg_build_const(m.b, type.dtype, &type.shape,
                                  tg_weight_own(x.data, tg_tensor_bytes(&x)), NULL);
        } else {
            v[i] = tg_build_input(m.b, "x", &type);
            t->in[t->n_in++] = x;
        }
    }
    tg_value first = net_node_of(&m, op, v, n, outs, attrs);
    for (int i = 0; i < outs; i++) out[i] = tg_value_of(tg_value_node(first), (uint32_t)i);
    t->g = net_done_of(&m, out, outs);
}

/* Whole numbers may differ by `quanta`, which says how ties may fall. */
static void agree(const tg_tensor *want, const tg_tensor *got, int quanta, const char *what)
{
    double max_abs, relative;
    if (!quanta || tg_dtype_kind(want->dtype) == 'f') {
        if (tg_tensor_compare(want, got, 256, &max_abs, &relative) != TG_OK)
            fail_msg("%s: %s", what, tg_message());
        return;
    }
    assert_int_equal(want->dtype, got->dtype);
    assert_true(tg_shape_equal(&want->shape, &got->shape));
    for (int64_t i = 0; i < tg_tensor_count(want); i++)
        if (llabs(tg_tensor_i64(want, i) - tg_tensor_i64(got, i)) > quanta)
            fail_msg("%s: element %d is %d, not %d", what, (int)i, (int)tg_tensor_i64(got, i),
                     (int)tg_tensor_i64(want, i));
}

static void check(const char *op, const char *attrs, int outs, int quanta, const arg *args, int n)
{
    trial t;
    tg_plan *plan;
    tg_tensor want[4], got[4];
    trial_build(&t, op, attrs, outs, args, n);
    assert_ok(tg_reference_run(t.g, t.in, want));
    assert_ok(tg_plan_new(tg_backend_find("cpu"), t.g, NULL, &plan));
    if (tg_plan_stats_of(plan)->reference)
        fail_msg("%s %s runs by its reference kernel", op, attrs);
    for (int round = 0; round < 2; round++) {
        assert_ok(tg_plan_run(plan, t.in, got));
        for (int i = 0; i < outs; i++) {
            agree(&want[i], &got[i], quanta, op);
            tg_tensor_free(&got[i]);
        }
    }
    for (int i = 0; i < outs; i++) tg_tensor_free(&want[i]);
    for (int i = 0; i < t.n_in; i++) free(t.in[i].data);
    tg_plan_free(plan);
    tg_graph_unref(t.g);
}

static void quantising(void **state)
{
    (void)state;
    check("QuantizeLinear", "", 1, 0, ARGS(F32(3, 5, 7), ONE(F32, 0.013), ONE(U8, 117)));
    check("QuantizeLinear", "", 1, 0, ARGS(F32(300), ONE(F32, 0.017), ONE(I8, -3)));
    check("QuantizeLinear", "", 1, 0, ARGS(F32(2, 9), ONE(F32, 0.0001), ONE(I16, 5)));
    check("QuantizeLinear", "", 1, 0, ARGS(F32(2, 9), ONE(F32, 0.0001), ONE(U16, 30000)));
    check("QuantizeLinear", "", 1, 0, ARGS(F32(1), ONE(F32, 0.1)));
    check("QuantizeLinear", "axis=1", 1, 0, ARGS(F32(2, 3, 33), POS(3), FIX(U8, 0, 255, 3)));
    check("QuantizeLinear", "axis=-1", 1, 0, ARGS(F32(4, 6), POS(6), FIX(I8, -128, 127, 6)));
    check("QuantizeLinear", "axis=1 block_size=2", 1, 0, ARGS(F32(2, 4, 3), POS(2, 2, 3)));
    check("QuantizeLinear", "", 1, 0, ARGS(F32(400), ANY(F32, 0.1, 0.2, 1)));
    check("DequantizeLinear", "", 1, 0, ARGS(ANY(U8, 0, 255, 5, 70), ONE(F32, 0.03), ONE(U8, 99)));
    check("DequantizeLinear", "", 1, 0, ARGS(ANY(I8, -128, 127, 5, 70), ONE(F32, 0.03)));
    check("DequantizeLinear", "", 1, 0, ARGS(ANY(I32, -9999, 9999, 17), ONE(F32, 0.003)));
    check("DequantizeLinear", "axis=0", 1, 0,
          ARGS(ANY(I16, -999, 999, 3, 41), POS(3), FIX(I16, -9, 9, 3)));
    check("DequantizeLinear", "axis=1 block_size=3", 1, 0,
          ARGS(ANY(U8, 0, 255, 2, 5, 2), POS(2, 2, 2), FIX(U8, 0, 255, 2, 2, 2)));
    check("DynamicQuantizeLinear", "", 3, 0, ARGS(F32(7, 59)));
    check("DynamicQuantizeLinear", "", 3, 0, ARGS(ANY(F32, 0, 0, 5)));
    check("DynamicQuantizeLinear", "", 3, 0, ARGS(ANY(F32, 1, 5, 5)));
}

#define U8(...) ANY(U8, 0, 255, __VA_ARGS__)
#define I8(...) ANY(I8, -128, 127, __VA_ARGS__)

static void products_of_bytes(void **state)
{
    (void)state;
    const char *op = "MatMulInteger";
    check(op, "", 1, 0, ARGS(U8(5, 7), FIX(I8, -128, 127, 7, 9), ONE(U8, 100), ONE(I8, 0)));
    check(op, "", 1, 0, ARGS(I8(33, 70), FIX(I8, -128, 127, 70, 40), ONE(I8, -7)));
    check(op, "", 1, 0, ARGS(U8(2, 3, 17), FIX(U8, 0, 255, 17, 19), ONE(U8, 3), ONE(U8, 140)));
    check(op, "", 1, 0,
          ARGS(U8(4, 8), FIX(I8, -128, 127, 8, 5), FIX(U8, 0, 255, 4), FIX(I8, -9, 9, 5)));
    check(op, "", 1, 0, ARGS(U8(2, 4, 8), U8(2, 8, 5), ANY(U8, 7, 7, 1), ANY(U8, 9, 200, 5)));
    check(op, "", 1, 0, ARGS(U8(8), I8(8, 3)));
    check(op, "", 1, 0, ARGS(U8(3, 8), I8(8)));
    check(op, "", 1, 0, ARGS(U8(2, 1, 3, 8), I8(4, 8, 20)));
    op = "QLinearMatMul";
    check(op, "", 1, 1,
          ARGS(U8(5, 64), ONE(F32, 0.02), ONE(U8, 120), FIX(I8, -128, 127, 64, 33), POS(33),
               FIX(I8, 0, 0, 33), ONE(F32, 0.3), ONE(U8, 128)));
    check(op, "", 1, 1,
          ARGS(I8(2, 5, 16), ONE(F32, 0.02), ONE(I8, 12), I8(2, 16, 3), ONE(F32, 0.01), ONE(I8, -5),
               ONE(F32, 0.05), ONE(I8, 10)));
}

static void convolutions_of_bytes(void **state)
{
    (void)state;
    const char *op = "ConvInteger", *pads = "pads=1,1,1,1";
    check(op, pads, 1, 0, ARGS(U8(1, 3, 9, 8), FIX(I8, -128, 127, 5, 3, 3, 3), ONE(U8, 77)));
    check(op, "group=2 pads=1,1,1,1", 1, 0,
          ARGS(U8(2, 4, 7, 7), FIX(U8, 0, 255, 6, 2, 3, 3), ONE(U8, 77), ONE(U8, 131)));
    check(op, "group=2 strides=2", 1, 0, ARGS(I8(1, 4, 17), FIX(U8, 0, 255, 6, 2, 3)));
    check(op, "group=2 pads=1,0,2,1 dilations=2,1", 1, 0,
          ARGS(I8(1, 4, 8, 9), FIX(I8, -128, 127, 6, 2, 3, 2), ANY(I8, -8, -8, 1),
               FIX(I8, -128, 127, 6)));
    check(op, pads, 1, 0, ARGS(U8(1, 2, 5, 5), FIX(I8, -128, 127, 3, 2, 3, 3), ANY(U8, 9, 9, 1)));
    op = "QLinearConv";
    check(op, pads, 1, 1,
          ARGS(U8(1, 16, 10, 9), ONE(F32, 0.02), ONE(U8, 120), FIX(I8, -128, 127, 24, 16, 3, 3),
               POS(24), FIX(I8, 0, 0, 24), ONE(F32, 0.9), ONE(U8, 128),
               FIX(I32, -30000, 30000, 24)));
    check(op, "group=8", 1, 1,
          ARGS(I8(1, 8, 6, 6), ONE(F32, 0.02), ONE(I8, -20), FIX(I8, -128, 127, 8, 1, 3, 3),
               ONE(F32, 0.01), ONE(I8, 0), ONE(F32, 0.03), ONE(I8, 5)));
    check(op, "", 1, 1,
          ARGS(U8(2, 3, 4, 4, 4), ONE(F32, 0.02), ONE(U8, 0), FIX(U8, 0, 255, 4, 3, 2, 2, 2),
               ONE(F32, 0.01), ONE(U8, 128), ONE(F32, 0.05), ONE(U8, 128)));
    check(op, "strides=2,2", 1, 1,
          ARGS(U8(1, 3, 9, 9), ONE(F32, 0.02), ONE(U8, 1), FIX(U8, 0, 255, 4, 3, 2, 2), POS(4),
               FIX(U8, 100, 140, 4), ONE(F32, 0.2), ONE(U8, 128), FIX(I32, -300, 300, 4)));
}

/* Rows of two, as a detector's boxes have, of bytes that are read with gaps. */
static void short_rows_of_bytes(void **state)
{
    (void)state;
    net m = net_new(3);
    tg_value x = net_input(&m, tg_shape_of(1, 50, 4)), scale = net_number(&m, 0.02);
    tg_value zero = tg_build_scalar(m.b, TG_I8, 3);
    tg_value q = net_node(&m, "QuantizeLinear", "", x, scale, zero);
    tg_value d = net_node(&m, "DequantizeLinear", "", q, scale, zero);
    tg_value a = net_node(&m, "Slice", "starts=0 ends=2 axes=2", q);
    tg_value b = net_node(&m, "Slice", "starts=2 ends=4 axes=2", q);
    a = net_node(&m, "DequantizeLinear", "", a, scale, zero);
    b = net_node(&m, "DequantizeLinear", "", b, scale, zero);
    tg_value y = net_node(&m, "Add", "", a, net_node(&m, "Exp", "", b));
    y = net_node(&m, "QuantizeLinear", "", y, net_number(&m, 0.05), zero);
    y = net_node(&m, "DequantizeLinear", "", y, net_number(&m, 0.05), zero);
    tg_plan_stats stats = net_agrees(net_done(&m, y, d), "boxes");
    assert_int_equal(stats.reference, 0);
}

/* Parts of other scales are joined without floats between. */
static void parts_of_bytes_are_joined(void **state)
{
    (void)state;
    net m = net_new(3);
    tg_value x = net_input(&m, tg_shape_of(1, 6, 5, 4)), part[3];
    for (int i = 0; i < 3; i++) {
        tg_value scale = net_number(&m, 0.01 * (i + 1)), zero = tg_build_scalar(m.b, TG_U8, 90 + i);
        part[i] = net_node(&m, "MaxPool", "kernel_shape=1,1", x);
        part[i] = net_node(&m, "QuantizeLinear", "", part[i], scale, zero);
        part[i] = net_node(&m, "DequantizeLinear", "", part[i], scale, zero);
    }
    tg_value y = net_node(&m, "Concat", "axis=1", part[0], part[1], part[2]);
    tg_value scale = net_number(&m, 0.025), zero = tg_build_scalar(m.b, TG_U8, 100);
    y = net_node(&m, "QuantizeLinear", "", y, scale, zero);
    tg_plan_stats stats = net_agrees(net_done(&m, y), "joined bytes");
    assert_int_equal(stats.reference, 0);
    assert_int_equal(stats.absorbed, 1);
}

/* Everything between the first QuantizeLinear and the last DequantizeLinear runs on bytes. */
static void quantised_networks_run_on_bytes(void **state)
{
    (void)state;
    tg_graph *g;
    tg_tensor *in, want, got;
    tg_plan *plan;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        assert_ok(tg_sample_build("qdq", seed, false, &g));
        assert_ok(tg_inputs_draw(g, seed, &in));
        assert_ok(tg_reference_run(g, in, &want));
        assert_ok(tg_plan_new(tg_backend_find("cpu"), g, NULL, &plan));
        assert_int_equal(tg_plan_stats_of(plan)->reference, 0);
        assert_int_equal(tg_plan_stats_of(plan)->slow, 0);
        /* Where bytes are not summed exactly, convolutions go by way of floats. */
        assert_true(tg_plan_stats_of(plan)->steps <= (tg_prim_bytes_exact() ? 13 : 25));
        assert_ok(tg_plan_run(plan, in, &got));
        /* A quantum of the output is 4 / 127.5; ties fall both ways in a few of the layers. */
        for (int i = 0; i < 10; i++)
            if (fabs(tg_tensor_f64(&want, i) - tg_tensor_f64(&got, i)) > 1.01 * 4 / 127.5)
                fail_msg("seed %d, class %d: %g, not %g", (int)seed, i, tg_tensor_f64(&got, i),
                         tg_tensor_f64(&want, i));
        tg_tensor_free(&want);
        tg_tensor_free(&got);
        tg_plan_free(plan);
        tg_inputs_free(in, g->n_inputs);
        tg_graph_unref(g);
    }
}

static void one_input(void **state)
{
    (void)state;
    static const char *const wide[] = {
        "Tan",      "Atan",   "Sinh",     "Cosh", "Asinh", "Selu", "Celu", "ThresholdedRelu",
        "Softsign", "Shrink", "Softplus", "Sin",  "Cos",   "Sqrt", "Log",  "IsNaN",
        "IsInf"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        check(wide[i], "", 1, 0, ARGS(F32(3, 7, 11)));
        check(wide[i], "", 1, 0, ARGS(ANY(F32, -90, 90, 1, 257)));
        check(wide[i], "", 1, 0, ARGS(ANY(F32, 0, 0, 1)));
    }
    check("Asin", "", 1, 0, ARGS(ANY(F32, -1, 1, 50)));
    check("Acos", "", 1, 0, ARGS(ANY(F32, -1, 1, 50)));
    check("Atanh", "", 1, 0, ARGS(ANY(F32, -0.99, 0.99, 50)));
    check("Acosh", "", 1, 0, ARGS(ANY(F32, 1, 30, 50)));
    check("Log", "", 1, 0, ARGS(ANY(F32, 1e-37, 1e-30, 40)));
    check("Log", "", 1, 0, ARGS(ANY(F32, 1e-41, 1e-39, 40)));
    check("Log", "", 1, 0, ARGS(ANY(F32, 1e30, 3e38, 40)));
    check("Sin", "", 1, 0, ARGS(ANY(F32, -9e5, 9e5, 40)));
    check("Cos", "", 1, 0, ARGS(ANY(F32, -8000, 8000, 400)));
    check("Celu", "alpha=0.25", 1, 0, ARGS(F32(40)));
    check("Shrink", "bias=0.25 lambd=1", 1, 0, ARGS(F32(40)));
    check("Mean", "", 1, 0, ARGS(F32(4, 1, 5), F32(3, 1), F32(4, 3, 5)));
    check("Not", "", 1, 0, ARGS(ANY(BOOL, 0, 1, 9)));
    check("BitwiseNot", "", 1, 0, ARGS(ANY(I32, -99, 99, 9)));
    check("Cast", "to=7", 1, 0, ARGS(ANY(F32, -9, 9, 2, 3)));
    check("Cast", "to=10", 1, 0, ARGS(ANY(F32, -9, 9, 700)));
    check("Cast", "to=9", 1, 0, ARGS(ANY(I64, 0, 1, 7)));
}

static void halves(void **state)
{
    (void)state;
    static const char *const one[] = {"Relu", "Sigmoid", "Tanh", "Exp", "Neg", "HardSwish", "Sqrt"};
    static const char *const two[] = {"Add", "Sub", "Mul", "Div", "Max"};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        check(one[i], "", 1, 0, ARGS(ANY(F16, 0.1, 4, 3, 7, 11)));
        check(one[i], "", 1, 0, ARGS(ANY(BF16, 0.1, 4, 300)));
    }
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        check(two[i], "", 1, 0, ARGS(ANY(F16, -4, 4, 4, 5, 6), ANY(F16, 1, 2, 5, 1)));
        check(two[i], "", 1, 0, ARGS(ANY(BF16, -4, 4, 40), FIX(BF16, 1, 2, 1)));
        check(two[i], "", 1, 0, ARGS(ANY(I64, -9, 9, 3, 4), ANY(I64, 1, 5, 4)));
        check(two[i], "", 1, 0, ARGS(ANY(I32, -9, 9, 3, 1), FIX(I32, 1, 5, 1, 2)));
    }
    check("Abs", "", 1, 0, ARGS(ANY(I64, -9, 9, 3, 4)));
    check("Add", "", 1, 0, ARGS(ANY(F16, 1e-7, 6e-5, 40), ANY(F16, 0, 0, 40)));
    check("Mul", "", 1, 0, ARGS(ANY(F16, 200, 300, 40), ANY(F16, 200, 300, 40)));
}

/* What has code for floats runs on floats that halves are made into. */
static void products_of_halves(void **state)
{
    (void)state;
    check("MatMul", "", 1, 0, ARGS(ANY(F16, -1, 1, 3, 40), FIX(F16, -1, 1, 40, 7)));
    check("MatMul", "", 1, 0, ARGS(ANY(BF16, -1, 1, 2, 3, 40), ANY(BF16, -1, 1, 2, 40, 1)));
    check("Gemm", "transB=1 alpha=0.5", 1, 0,
          ARGS(ANY(F16, -1, 1, 5, 8), FIX(F16, -1, 1, 6, 8), FIX(F16, -1, 1, 6)));
    check("Conv", "pads=1,1,1,1", 1, 0,
          ARGS(ANY(F16, -1, 1, 1, 3, 9, 7), FIX(F16, -1, 1, 4, 3, 3, 3), FIX(F16, -1, 1, 4)));
    check("Conv", "", 1, 0, ARGS(ANY(BF16, -1, 1, 2, 3, 5, 5), ANY(BF16, -1, 1, 4, 3, 3, 3)));
    check("Softmax", "", 1, 0, ARGS(ANY(F16, -3, 3, 4, 1100)));
    check("LayerNormalization", "", 1, 0,
          ARGS(ANY(F16, -3, 3, 4, 33), FIX(F16, 0, 1, 33), FIX(F16, 0, 1, 33)));
    check("MaxPool", "kernel_shape=2,2", 1, 0, ARGS(ANY(F16, -3, 3, 1, 2, 6, 5)));
    check("ReduceMean", "axes=1", 1, 0, ARGS(ANY(BF16, -3, 3, 4, 33)));
    check("Attention", "is_causal=1", 1, 0,
          ARGS(ANY(F16, -1, 1, 1, 2, 9, 8), ANY(F16, -1, 1, 1, 2, 9, 8),
               ANY(F16, -1, 1, 1, 2, 9, 8)));
}

static void two_and_more_inputs(void **state)
{
    (void)state;
    static const char *const ints[] = {"Mod",       "Equal",       "Greater",    "GreaterOrEqual",
                                       "Less",      "LessOrEqual", "BitwiseAnd", "BitwiseOr",
                                       "BitwiseXor"};
    static const char *const bools[] = {"And", "Or", "Xor", "Equal"};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        check(ints[i], "", 1, 0, ARGS(ANY(I64, -9, 9, 2, 3, 5), ANY(I64, 1, 9, 3, 1)));
        check(ints[i], "", 1, 0, ARGS(ANY(I32, -9, 9, 7), ANY(I32, 2, 2, 1)));
        check(ints[i], "", 1, 0, ARGS(ANY(U8, 0, 9, 1), ANY(U8, 1, 9, 7)));
    }
    for (size_t i = 0; i < sizeof bools / sizeof *bools; i++)
        check(bools[i], "", 1, 0, ARGS(ANY(BOOL, 0, 1, 4, 5), ANY(BOOL, 0, 1, 5)));
    check("Less", "", 1, 0, ARGS(F32(3, 4, 1, 5), F32(4, 2, 1)));
    check("BitShift", "direction=LEFT", 1, 0, ARGS(ANY(U32, 0, 99, 9), ANY(U32, 0, 9, 9)));
    check("Where", "", 1, 0, ARGS(ANY(BOOL, 0, 1, 4, 1, 6), F32(4, 5, 6), F32(1)));
    check("Where", "", 1, 0, ARGS(ANY(BOOL, 0, 1, 6), ANY(I64, -9, 9, 5, 1), ANY(I64, -9, 9, 6)));
    check("Where", "", 1, 0, ARGS(ANY(BOOL, 0, 1, 1), ANY(BOOL, 0, 1, 5), ANY(BOOL, 0, 1, 5)));
}

static void forms_of_attention(void **state)
{
    (void)state;
    check("Attention", "", 1, 0, ARGS(F32(2, 3, 70, 5), F32(2, 3, 9, 5), F32(2, 3, 9, 7)));
    check("Attention", "is_causal=1", 1, 0,
          ARGS(F32(1, 4, 130, 6), F32(1, 2, 130, 6), F32(1, 2, 130, 4)));
    check("Attention", "is_causal=1", 1, 0,
          ARGS(F32(1, 1, 9, 4), F32(1, 1, 4, 4), F32(1, 1, 4, 3)));
    check("Attention", "q_num_heads=4 kv_num_heads=2 scale=0.3 softcap=1.5", 1, 0,
          ARGS(F32(2, 5, 24), F32(2, 8, 12), F32(2, 8, 10)));
    check("Attention", "left_window_size=2 right_window_size=1", 1, 0,
          ARGS(F32(1, 2, 80, 4), F32(1, 2, 80, 4), F32(1, 2, 80, 4)));
    check("Attention", "left_window_size=0", 1, 0,
          ARGS(F32(1, 2, 90, 4), F32(1, 2, 6, 4), F32(1, 2, 6, 4)));
    check("Attention", "q_num_heads=2 kv_num_heads=2", 3, 0,
          ARGS(F32(1, 3, 8), F32(1, 4, 8), F32(1, 4, 12)));
    /* masks, some of which let no key through */
    check("Attention", "", 1, 0,
          ARGS(F32(1, 2, 2, 4), F32(1, 2, 3, 4), F32(1, 2, 3, 4),
               FIX(F32, -INFINITY, -INFINITY, 1, 3)));
    check("Attention", "", 1, 0,
          ARGS(F32(1, 2, 2, 4), F32(1, 2, 3, 4), F32(1, 2, 3, 4), FIX(F32, -1, 1, 2, 3)));
    check("Attention", "", 1, 0,
          ARGS(F32(2, 3, 7, 5), F32(2, 3, 9, 5), F32(2, 3, 9, 5), F32(2, 1, 7, 9)));
    check("Attention", "", 1, 0,
          ARGS(F32(2, 3, 7, 5), F32(2, 3, 4, 5), F32(2, 3, 4, 5), ANY(BOOL, 0, 1, 7, 4)));
    check("Attention", "is_causal=1", 1, 0,
          ARGS(F32(2, 3, 7, 5), F32(2, 3, 4, 5), F32(2, 3, 4, 5), ANY(BOOL, 0, 1, 3, 7, 2)));
    /* keys from before */
    check("Attention", "is_causal=1", 3, 0,
          ARGS(F32(2, 4, 3, 5), F32(2, 2, 3, 5), F32(2, 2, 3, 6), F32(3, 8), F32(2, 2, 5, 5),
               F32(2, 2, 5, 6)));
    check("Attention", "", 1, 0,
          ARGS(F32(1, 2, 1, 5), F32(1, 2, 1, 5), F32(1, 2, 1, 5), ANY(BOOL, 1, 1, 1, 4),
               F32(1, 2, 3, 5), F32(1, 2, 3, 5)));
}

static void embeddings(void **state)
{
    (void)state;
    check("RotaryEmbedding", "", 1, 0, ARGS(F32(2, 3, 4, 6), F32(2, 4, 3), F32(2, 4, 3)));
    check("RotaryEmbedding", "interleaved=1 rotary_embedding_dim=4", 1, 0,
          ARGS(F32(2, 3, 4, 6), F32(2, 4, 2), F32(2, 4, 2)));
    check("RotaryEmbedding", "num_heads=3", 1, 0,
          ARGS(F32(2, 4, 24), F32(9, 4), F32(9, 4), ANY(I64, 0, 8, 2, 4)));
}

static void transforms(void **state)
{
    (void)state;
    check("DFT", "axis=1", 1, 0, ARGS(F32(3, 20, 1)));
    check("DFT", "axis=1 onesided=1", 1, 0, ARGS(F32(3, 15, 1)));
    check("DFT", "axis=2 inverse=1", 1, 0, ARGS(F32(2, 3, 12, 2)));
    check("DFT", "axis=1 dft_length=24", 1, 0, ARGS(F32(3, 20, 2)));
    check("DFT", "axis=1 dft_length=7", 1, 0, ARGS(F32(3, 20, 1)));
    check("STFT", "frame_step=3 frame_length=8 onesided=1", 1, 0,
          ARGS(F32(2, 40, 1), LESS, W32(8)));
    check("STFT", "frame_step=9 frame_length=8 onesided=0", 1, 0,
          ARGS(F32(1, 50, 2), LESS, W32(8)));
    check("STFT", "frame_step=8 frame_length=8", 1, 0, ARGS(F32(1, 64, 1)));
}

static void regions(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "output_height=3 output_width=2",
        "output_height=2 output_width=2 sampling_ratio=2 mode=max",
        "spatial_scale=0.5 coordinate_transformation_mode=output_half_pixel sampling_ratio=1"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        check("RoiAlign", forms[i], 1, 0,
              ARGS(F32(2, 7, 9, 8), ANY(F32, -2, 11, 5, 4), ANY(I64, 0, 1, 5)));
        check("RoiAlign", forms[i], 1, 0,
              ARGS(F32(1, 4, 5, 5), ANY(F32, 0, 5, 3, 4), FIX(I64, 0, 0, 3)));
    }
}

static void norms(void **state)
{
    (void)state;
    check("InstanceNormalization", "", 1, 0, ARGS(F32(2, 3, 5, 7), W32(3), W32(3)));
    check("InstanceNormalization", "epsilon=0.1", 1, 0, ARGS(F32(1, 17, 40), W32(17), W32(17)));
    check("GroupNormalization", "num_groups=2", 1, 0, ARGS(F32(2, 6, 5, 3), W32(6), W32(6)));
    check("GroupNormalization", "num_groups=1", 1, 0, ARGS(F32(1, 4, 1), W32(4), W32(4)));
    check("RMSNormalization", "", 1, 0, ARGS(F32(3, 5, 33), W32(33)));
    check("RMSNormalization", "axis=1", 1, 0, ARGS(F32(3, 5, 4), W32(5, 4)));
    check("RMSNormalization", "axis=0", 1, 0, ARGS(F32(3, 5), W32(1)));
    check("LayerNormalization", "axis=1", 3, 0, ARGS(F32(3, 5, 9), W32(5, 9), W32(5, 9)));
    check("LayerNormalization", "", 1, 0, ARGS(F32(4, 20), W32(1), W32(1)));
    check("LRN", "size=5", 1, 0, ARGS(F32(2, 9, 4, 3)));
    check("LRN", "size=4 alpha=0.5 beta=0.6 bias=2", 1, 0, ARGS(F32(1, 3, 5)));
    check("LRN", "size=3 alpha=1 beta=0.5", 1, 0, ARGS(F32(2, 7)));
    check("MeanVarianceNormalization", "", 1, 0, ARGS(F32(2, 3, 5, 4)));
    check("MeanVarianceNormalization", "axes=1", 1, 0, ARGS(F32(4, 6)));
    check("LpNormalization", "", 1, 0, ARGS(F32(4, 37)));
    check("LpNormalization", "axis=1 p=1", 1, 0, ARGS(F32(2, 5, 4, 3)));
    check("LpNormalization", "axis=0", 1, 0, ARGS(ANY(F32, 0, 0, 3, 2)));
    check("Hardmax", "axis=1", 1, 0, ARGS(F32(2, 5, 4)));
    check("Hardmax", "", 1, 0, ARGS(F32(2, 1)));
}

static void along_axes(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        char attrs[64];
        snprintf(attrs, sizeof attrs, "axis=%d", axis);
        check("ArgMax", attrs, 1, 0, ARGS(F32(3, 4, 5)));
        check("ArgMin", attrs, 1, 0, ARGS(ANY(I32, -2, 2, 3, 4, 5)));
        check("CumSum", attrs, 1, 0, ARGS(F32(3, 4, 5)));
        check("GatherElements", attrs, 1, 0, ARGS(F32(3, 3, 3), ANY(I64, -3, 2, 2, 3, 1)));
        check("ScatterElements", attrs, 1, 0,
              ARGS(F32(3, 3, 3), ANY(I32, -3, 2, 1, 1, 1), F32(1, 1, 1)));
        snprintf(attrs, sizeof attrs, "axis=%d k=2 largest=%d", axis, axis % 2);
        check("TopK", attrs, 2, 0, ARGS(F32(3, 4, 5)));
        check("TopK", attrs, 2, 0, ARGS(ANY(F32, 0, 3, 5, 6, 3)));
    }
    check("ArgMin", "keepdims=0 select_last_index=1 axis=1", 1, 0, ARGS(ANY(F32, 0, 2, 40, 9)));
    check("ArgMax", "select_last_index=1 axis=0", 1, 0, ARGS(ANY(F32, 0, 0, 4, 9)));
    check("CumSum", "axis=0 exclusive=1 reverse=1", 1, 0, ARGS(F32(7, 2)));
    check("CumSum", "axis=0 exclusive=1", 1, 0, ARGS(ANY(I64, -9, 9, 7)));
    check("TopK", "k=64", 2, 0, ARGS(F32(3, 64)));
    check("TopK", "k=17", 2, 0, ARGS(F32(2, 1000)));
    check("TopK", "k=3", 2, 0, ARGS(ANY(I64, 0, 9, 20)));
    check("GatherElements", "axis=1", 1, 0, ARGS(ANY(U8, 0, 9, 4, 9), ANY(I32, 0, 8, 4, 20)));
    check("ScatterElements", "axis=0 reduction=add", 1, 0,
          ARGS(F32(5, 2), ANY(I64, 0, 4, 9, 2), F32(9, 2)));
    check("GatherND", "", 1, 0, ARGS(F32(4, 3, 2), ANY(I64, 0, 2, 5, 2)));
    check("ScatterND", "", 1, 0, ARGS(F32(4, 3, 2), FIX(I64, 1, 1, 1, 1), F32(1, 3, 2)));
}

static void pixels(void **state)
{
    (void)state;
    static const char *const modes[] = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                        "asymmetric", "half_pixel_symmetric"};
    char attrs[200];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int kind = 0; kind < 6; kind++) {
            snprintf(attrs, sizeof attrs,
                     "mode=%s antialias=%d sizes=1,3,%s coordinate_transformation_mode=%s",
                     kind % 2 ? "cubic" : "linear", kind == 4, kind / 2 == 1 ? "4,11" : "9,2",
                     modes[i]);
            check("Resize", attrs, 1, 0, ARGS(F32(1, 3, 5, 7)));
        }
    check("Resize", "mode=linear sizes=2,9", 1, 0, ARGS(F32(2, 4)));
    check("Resize", "mode=linear sizes=2,3,4,5,6", 1, 0, ARGS(F32(2, 3, 3, 2, 7)));
    check("Resize", "mode=nearest sizes=2,3,8", 1, 0, ARGS(F32(2, 3, 5)));
    check("Resize", "mode=cubic sizes=4,3,5 exclude_outside=1", 1, 0, ARGS(F32(2, 3, 5)));
    static const char *const repeats[] = {"reflect", "edge", "wrap", "constant"};
    for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++) {
        snprintf(attrs, sizeof attrs, "mode=%s pads=0,0,2,1,0,0,1,3", repeats[i]);
        check("Pad", attrs, 1, 0, ARGS(F32(1, 2, 4, 5)));
        snprintf(attrs, sizeof attrs, "mode=%s pads=-1,2,1,-2", repeats[i]);
        check("Pad", attrs, 1, 0, ARGS(F32(3, 4)));
        check("Pad", attrs, 1, 0, ARGS(ANY(U8, 0, 9, 3, 4)));
    }
    check("Slice", "starts=-1 ends=-100 axes=2 steps=-2", 1, 0, ARGS(F32(2, 3, 9)));
    check("Slice", "starts=5,1 ends=0,3 axes=0,1 steps=-1,1", 1, 0, ARGS(ANY(I64, 0, 9, 6, 4)));
    check("Slice", "starts=100,-1 ends=-100,-100 axes=0,1 steps=-1,-3", 1, 0, ARGS(F32(4, 8)));
}

static void reductions(void **state)
{
    (void)state;
    static const char *const names[] = {"ReduceMax",  "ReduceMin",       "ReduceSum",
                                        "ReduceMean", "ReduceL1",        "ReduceL2",
                                        "ReduceProd", "ReduceSumSquare", "ReduceLogSumExp"};
    static const char *const axes[] = {"axes=0", "axes=1 keepdims=0", "axes=-1", "axes=0,2",
                                       "keepdims=0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
            check(names[i], axes[k], 1, 0, ARGS(F32(2, 3, 37)));
            check(names[i], axes[k], 1, 0, ARGS(F32(3, 1, 1)));
        }
    check("ReduceLogSum", "axes=1", 1, 0, ARGS(ANY(F32, 0.1, 2, 2, 40)));
    check("ReduceLogSumExp", "axes=1", 1, 0, ARGS(ANY(F32, 90, 99, 2, 400)));
    check("ReduceSum", "axes=1", 1, 0, ARGS(ANY(I64, -9, 9, 2, 40)));
    check("ReduceMax", "axes=0 keepdims=0", 1, 0, ARGS(ANY(I32, -9, 9, 5)));
    check("GlobalLpPool", "p=2", 1, 0, ARGS(F32(2, 3, 5, 4)));
    check("GlobalLpPool", "p=1", 1, 0, ARGS(F32(2, 3, 5)));
}

static void recurrent_cells(void **state)
{
    (void)state;
    static const char *const names[] = {"LSTM", "GRU", "RNN"};
    static const int gates[] = {4, 3, 1};
    char attrs[128];
    for (int i = 0; i < 3; i++)
        for (int hidden = 5; hidden <= 32; hidden += 9)
            for (int kind = 0; kind < 6; kind++) {
                int dirs = kind == 2 ? 2 : 1, rows = gates[i] * hidden, outs = i == 0 ? 3 : 2;
                int batch = kind == 4 ? 5 : 2;
                snprintf(attrs, sizeof attrs, "hidden_size=%d direction=%s layout=%d%s", hidden,
                         kind == 2   ? "bidirectional"
                         : kind == 1 ? "reverse"
                                     : "forward",
                         kind == 3, i == 1 && kind % 2 ? " linear_before_reset=1" : "");
                arg all[] = {kind == 3 ? F32(batch, 4, 7) : F32(4, batch, 7),
                             W32(dirs, rows, 7),
                             W32(dirs, rows, hidden),
                             kind == 5 ? LESS : W32(dirs, 2 * rows),
                             kind == 1 ? ANY(I32, 1, 4, batch) : LESS,
                             kind == 3 ? F32(batch, dirs, hidden) : F32(dirs, batch, hidden)};
                check(names[i], attrs, outs, 0, all, kind == 0 ? 4 : 6);
            }
    check("LSTM", "hidden_size=3", 3, 0,
          ARGS(F32(2, 1, 2), W32(1, 12, 2), W32(1, 12, 3), LESS, LESS, F32(1, 1, 3), F32(1, 1, 3)));
}

static void sums_of_products(void **state)
{
    (void)state;
    check("Einsum", "equation=ij,jk->ik", 1, 0, ARGS(F32(3, 5), F32(5, 4)));
    check("Einsum", "equation=ij,kj->ki", 1, 0, ARGS(F32(3, 5), W32(4, 5)));
    check("Einsum", "equation=bhid,bhjd->bhij", 1, 0, ARGS(F32(2, 3, 4, 5), F32(2, 3, 6, 5)));
    check("Einsum", "equation=bijc,bcjk->bijk", 1, 0, ARGS(F32(2, 3, 4, 5), F32(2, 5, 4, 6)));
    check("Einsum", "equation=i,j->ij", 1, 0, ARGS(F32(3), F32(4)));
    check("Einsum", "equation=abc,abc->", 1, 0, ARGS(F32(2, 3, 4), F32(2, 3, 4)));
    check("Einsum", "equation=bnm,bm->bn", 1, 0, ARGS(F32(2, 3, 4), F32(2, 4)));
}

static void attentions(void **state)
{
    (void)state;
    const char *scaled = "scale=0.25";
    check("Attention", "", 1, 0, ARGS(F32(2, 3, 4, 8), F32(2, 3, 6, 8), F32(2, 3, 6, 5)));
    check("Attention", scaled, 1, 0, ARGS(F32(1, 2, 7, 4), F32(1, 2, 5, 4), F32(1, 2, 5, 4)));
    check("Attention", scaled, 1, 0,
          ARGS(F32(2, 3, 4, 8), F32(2, 3, 6, 8), F32(2, 3, 6, 5), F32(2, 1, 4, 6)));
    check("Attention", scaled, 1, 0,
          ARGS(F32(1, 3, 4, 8), F32(1, 3, 6, 8), F32(1, 3, 6, 5), F32(4, 6)));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reductions),
    cmocka_unit_test(recurrent_cells),
    cmocka_unit_test(sums_of_products),
    cmocka_unit_test(attentions),
    cmocka_unit_test(forms_of_attention),
    cmocka_unit_test(regions),
    cmocka_unit_test(transforms),
    cmocka_unit_test(embeddings),
    cmocka_unit_test(norms),
    cmocka_unit_test(along_axes),
    cmocka_unit_test(pixels),
    cmocka_unit_test(one_input),
    cmocka_unit_test(halves),
    cmocka_unit_test(products_of_halves),
    cmocka_unit_test(two_and_more_inputs),
    cmocka_unit_test(short_rows_of_bytes),
    cmocka_unit_test(parts_of_bytes_are_joined),
    cmocka_unit_test(quantised_networks_run_on_bytes),
    cmocka_unit_test(quantising),
    cmocka_unit_test(products_of_bytes),
    cmocka_unit_test(convolutions_of_bytes),
};
UNIT_MAIN(tests)
