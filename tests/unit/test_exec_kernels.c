/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators one by one, of all types and in awkward shapes: the cpu plan computes what the
 * reference kernels compute, by code of its own.
 */
#include "tests/unit/exec_case.h"

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
        double x = a->low + (a->high - a->low) * tg_rng_uniform(rng);
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

static const struct CMUnitTest tests[] = {cmocka_unit_test(quantising)};
UNIT_MAIN(tests)
