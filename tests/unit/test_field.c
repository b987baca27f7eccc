/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evaluation over a prime field. Taking residues commutes with every operator there: what a kernel
 * makes of dyadic numbers, embedded, is what the field makes of the embedded numbers.
 */
#include "engine/rewrite/field.h"
#include "tests/unit/op_run.h"

enum { SEED = 5 };

/* An input of small integers, the same for the same salt. */
static op_input ints(tg_shape shape, int salt)
{
    static double pool[8][256];
    static int next;
    double *v = pool[next++ % 8];
    op_input in = {.dtype = TG_F64, .shape = shape, .v = v, .n = (size_t)tg_shape_count(&shape)};
    for (size_t i = 0; i < in.n; i++) v[i] = (double)((i * 7 + (size_t)salt * 5) % 11) - 5;
    return in;
}

static tg_status in_field(const op_result *r, uint64_t seed, tg_tensor *out)
{
    tg_tensor in[OP_RUN_MAX] = {0};
    for (int i = 0; i < r->node->n_in; i++)
        if (r->node->in[i] != TG_NO_VALUE) assert_ok(field_embed(&r->in[i], &in[i]));
    tg_status status = field_eval(r->node, seed, in, out);
    for (int i = 0; i < r->node->n_in; i++) tg_tensor_free(&in[i]);
    return status;
}

/* The kernel's results, embedded, are the field's. */
static void commutes(const char *op, const op_input *in, size_t n_in, const tg_named_attr *attrs,
                     size_t n_attrs, int n_out)
{
    op_result r;
    tg_tensor got[OP_RUN_MAX];
    op_run(&r, op, in, n_in, attrs, n_attrs, n_out);
    assert_true(field_knows(r.node->op));
    if (in_field(&r, SEED, got) != TG_OK) fail_msg("%s: %s", op, tg_message());
    for (int i = 0; i < n_out; i++) {
        tg_tensor want;
        assert_ok(field_embed(&r.out[i], &want));
        if (!tg_tensor_equal(&want, &got[i])) fail_msg("%s, output %d differs", op, i);
        tg_tensor_free(&want);
        tg_tensor_free(&got[i]);
    }
    op_done(&r);
}

static void sums_and_products_are_those_of_the_kernels(void **state)
{
    (void)state;
    op_input x = ints(SHAPE(2, 3), 1), y = ints(SHAPE(3), 2), w = ints(SHAPE(3, 4), 3);
    commutes("Add", INS(x, y), NO_ATTRS, 1);
    commutes("Sub", INS(x, y), NO_ATTRS, 1);
    commutes("Mul", INS(x, y), NO_ATTRS, 1);
    commutes("Neg", INS(x), NO_ATTRS, 1);
    commutes("Sum", INS(x, y, x), NO_ATTRS, 1);
    commutes("MatMul", INS(x, w), NO_ATTRS, 1);
    commutes("Gemm", INS(x, w, ints(SHAPE(4), 4)), ATTRS(REAL("alpha", -0.5), REAL("beta", 0.25)),
             1);
    commutes("Gemm", INS(w, x), ATTRS(INT("transA", 1), INT("transB", 1), REAL("alpha", 3)), 1);
    commutes("Einsum", INS(x, w), ATTRS(TEXT("equation", "ij,jk->ki")), 1);
    commutes("CumSum", INS(x, FIXED(TG_I64, SCALAR, 1)), ATTRS(INT("reverse", 1)), 1);
    commutes("ReduceSum", INS(x), NO_ATTRS, 1);
    commutes("ReduceSumSquare", INS(x), NO_ATTRS, 1);
    op_input image = ints(SHAPE(1, 2, 4, 4), 5), filter = ints(SHAPE(2, 2, 3, 3), 6);
    commutes("Conv", INS(image, filter, ints(SHAPE(2), 7)), ATTRS(INTS("pads", 1, 0, 1, 2)), 1);
    commutes("ConvTranspose", INS(image, filter), ATTRS(INTS("strides", 2, 2)), 1);
}

static void moved_elements_stay(void **state)
{
    (void)state;
    op_input x = ints(SHAPE(2, 3), 1);
    commutes("Transpose", INS(x), NO_ATTRS, 1);
    commutes("Concat", INS(x, ints(SHAPE(2, 1), 2)), ATTRS(INT("axis", 1)), 1);
    commutes("Split", INS(x), ATTRS(INT("axis", 1), INT("num_outputs", 3)), 3);
    commutes("Pad", INS(x, FIXED(TG_I64, SHAPE(4), 1, 0, 0, 2), FIXED(TG_F64, SCALAR, 0.5)),
             NO_ATTRS, 1);
    commutes("Gather", INS(x, INPUT(TG_I64, SHAPE(2), 2, -1)), ATTRS(INT("axis", 1)), 1);
    commutes("ScatterND", INS(x, INPUT(TG_I64, SHAPE(1, 1), 1), ints(SHAPE(1, 3), 3)),
             ATTRS(TEXT("reduction", "add")), 1);
    commutes("Dropout", INS(x), NO_ATTRS, 1);
    commutes("Add", INS(INPUT(TG_I64, SHAPE(2), 5, -9), INPUT(TG_I64, SHAPE(2), 1, 1)), NO_ATTRS,
             1);
    commutes("Cast", INS(INPUT(TG_I32, SHAPE(2), 5, -9)), ATTRS(INT("to", TG_F32)), 1);
    commutes("Where", INS(INPUT(TG_BOOL, SHAPE(3), 1, 0, 1), x, ints(SHAPE(3), 4)), NO_ATTRS, 1);
}

static void quotients_and_means_are_exact(void **state)
{
    (void)state;
    op_input x = ints(SHAPE(2, 4), 1);
    commutes("Div", INS(x, INPUT(TG_F64, SHAPE(4), 2, -4, 0.125, 1)), NO_ATTRS, 1);
    commutes("Reciprocal", INS(INPUT(TG_F64, SHAPE(2), 8, -0.5)), NO_ATTRS, 1);
    commutes("Pow", INS(x, INPUT(TG_F64, SCALAR, 3)), NO_ATTRS, 1);
    commutes("Pow", INS(INPUT(TG_F64, SHAPE(2), 4, -0.5), INPUT(TG_F64, SCALAR, -2)), NO_ATTRS, 1);
    commutes("Mean", INS(x, ints(SHAPE(4), 2)), NO_ATTRS, 1);
    commutes("ReduceMean", INS(x), NO_ATTRS, 1);
    op_input image = ints(SHAPE(1, 2, 4, 4), 5);
    commutes("GlobalAveragePool", INS(image), NO_ATTRS, 1);
    commutes("AveragePool", INS(image), ATTRS(INTS("kernel_shape", 2, 2), INTS("strides", 1, 2)),
             1);
    commutes("AveragePool", INS(image), ATTRS(INTS("kernel_shape", 2, 2), INTS("pads", 1, 1, 1, 1)),
             1);
    commutes(
        "AveragePool", INS(image),
        ATTRS(INTS("kernel_shape", 2, 2), INTS("pads", 1, 1, 1, 1), INT("count_include_pad", 1)),
        1);
}

/* A third of a sum is none of the dyadic numbers: three of it are the sum. */
static void thirds_are_inverses(void **state)
{
    (void)state;
    op_result r;
    tg_tensor got;
    op_run(&r, "ReduceMean", INS(INPUT(TG_F64, SHAPE(3), 1, 2, 4)), NO_ATTRS, 1);
    assert_ok(in_field(&r, SEED, &got));
    assert_int_equal(field_mul((uint64_t)tg_tensor_f64(&got, 0), 3), 7);
    tg_tensor_free(&got);
    op_done(&r);
    uint64_t third;
    for (uint64_t x = 1; x < 50; x++) assert_int_equal(field_mul(x, field_inverse(x)), 1);
    assert_ok(field_residue(-0.375, &third));
    assert_int_equal((field_mul(third, 8) + 3) % FIELD_PRIME, 0);
    assert_status(field_residue(INFINITY, &third), TG_UNSUPPORTED);
}

/* Large residues: the exact product is known from 64-bit arithmetic. */
static void products_of_large_residues_are_exact(void **state)
{
    (void)state;
    enum { N = 500 };
    op_result r;
    tg_tensor in[2], got;
    static double zeros[N];
    op_input a = {.dtype = TG_F32, .shape = SHAPE(1, N), .v = zeros, .n = N}, b = a;
    b.shape = SHAPE(N, 1);
    op_run(&r, "MatMul", INS(a, b), NO_ATTRS, 1);
    tg_rng *rng = tg_rng_new(3);
    uint64_t want = 0;
    field_draw(rng, &a.shape, &in[0]);
    field_draw(rng, &b.shape, &in[1]);
    for (int64_t i = 0; i < N; i++) {
        uint64_t x = (uint64_t)tg_tensor_f64(&in[0], i), y = (uint64_t)tg_tensor_f64(&in[1], i);
        assert_true(x < FIELD_PRIME && y < FIELD_PRIME);
        want = (want + field_mul(x, y)) % FIELD_PRIME;
    }
    assert_ok(field_eval(r.node, SEED, in, &got));
    assert_int_equal(got.dtype, TG_F64);
    assert_int_equal(tg_tensor_f64(&got, 0), want);
    for (int i = 0; i < 2; i++) tg_tensor_free(&in[i]);
    tg_tensor_free(&got);
    tg_rng_free(rng);
    op_done(&r);
}

static double asked(const char *op, const tg_named_attr *attrs, size_t n, uint64_t seed, double x)
{
    op_result r;
    tg_tensor got;
    op_run(&r, op, INS(INPUT(TG_F64, SHAPE(1), x)), attrs, n, 1);
    assert_true(field_is_oracle(r.node->op));
    assert_ok(in_field(&r, seed, &got));
    double y = tg_tensor_f64(&got, 0);
    assert_true(y >= 0 && y < FIELD_PRIME);
    tg_tensor_free(&got);
    op_done(&r);
    return y;
}

static void other_functions_are_oracles(void **state)
{
    (void)state;
    double y = asked("Exp", NO_ATTRS, 1, 2);
    assert_true(y == asked("Exp", NO_ATTRS, 1, 2));
    assert_true(y != asked("Exp", NO_ATTRS, 1, 3));
    assert_true(y != asked("Exp", NO_ATTRS, 2, 2));
    assert_true(y != asked("Tanh", NO_ATTRS, 1, 2));
    double leaky = asked("LeakyRelu", ATTRS(REAL("alpha", 0.5)), 1, 2);
    assert_true(leaky != asked("LeakyRelu", ATTRS(REAL("alpha", 0.25)), 1, 2));
    op_result a, b;
    tg_tensor x, z;
    op_run(&a, "Max", INS(ints(SHAPE(3), 1), ints(SHAPE(2, 1), 2)), NO_ATTRS, 1);
    op_run(&b, "Max", INS(ints(SHAPE(2, 1), 2), ints(SHAPE(3), 1)), NO_ATTRS, 1);
    assert_ok(in_field(&a, SEED, &x));
    assert_ok(in_field(&b, SEED, &z));
    assert_true(tg_tensor_equal(&x, &z));
    tg_tensor_free(&x);
    tg_tensor_free(&z);
    op_done(&a);
    op_done(&b);
}

/* A fused activation answers as the operator does. */
static void fused_activations_are_the_same_oracle(void **state)
{
    (void)state;
    op_result fused, plain;
    tg_tensor x, y;
    op_input image = ints(SHAPE(1, 1, 2, 2), 5), filter = ints(SHAPE(1, 1, 1, 1), 6);
    op_run(&fused, "Conv", INS(image, filter), ATTRS(TEXT("activation", "Relu")), 1);
    op_run(&plain, "Conv", INS(image, filter), NO_ATTRS, 1);
    assert_ok(in_field(&fused, SEED, &x));
    for (int i = 0; i < 4; i++)
        assert_true(tg_tensor_f64(&x, i) ==
                    asked("Relu", NO_ATTRS, SEED, tg_tensor_f64(&plain.out[0], i)));
    assert_ok(in_field(&plain, SEED, &y));
    assert_false(tg_tensor_equal(&x, &y));
    tg_tensor_free(&x);
    tg_tensor_free(&y);
    op_done(&fused);
    op_done(&plain);
}

static void outside(tg_status want, const char *op, const op_input *in, size_t n_in,
                    const tg_named_attr *attrs, size_t n_attrs)
{
    op_result r;
    tg_tensor got[OP_RUN_MAX];
    op_run(&r, op, in, n_in, attrs, n_attrs, 1);
    tg_status status = in_field(&r, SEED, got);
    if (status != want) fail_msg("%s: %s", op, tg_status_name(status));
    op_done(&r);
}

static void what_is_outside_is_refused(void **state)
{
    (void)state;
    op_input x = ints(SHAPE(2, 2), 1);
    outside(TG_UNSUPPORTED, "Softmax", INS(x), NO_ATTRS);
    outside(TG_UNSUPPORTED, "Greater", INS(x, x), NO_ATTRS);
    outside(TG_UNSUPPORTED, "ScatterND",
            INS(x, INPUT(TG_I64, SHAPE(1, 1), 1), ints(SHAPE(1, 2), 3)),
            ATTRS(TEXT("reduction", "max")));
    outside(TG_INVALID, "Div", INS(x, INPUT(TG_F64, SHAPE(2), 1, 0)), NO_ATTRS);
    /* Three factors of 2^20 do not fit a double. */
    op_input wide = INPUT(TG_F64, SHAPE(2), -1, -2);
    outside(TG_LIMIT, "Einsum", INS(wide, wide, wide), ATTRS(TEXT("equation", "i,i,i->i")));
    assert_false(field_knows(tg_op_find("", "Softmax")));
    assert_false(field_knows(tg_op_find("", "RandomNormal")));
    assert_false(field_knows(TG_OP_INPUT));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_and_products_are_those_of_the_kernels),
    cmocka_unit_test(moved_elements_stay),
    cmocka_unit_test(quotients_and_means_are_exact),
    cmocka_unit_test(thirds_are_inverses),
    cmocka_unit_test(products_of_large_residues_are_exact),
    cmocka_unit_test(other_functions_are_oracles),
    cmocka_unit_test(fused_activations_are_the_same_oracle),
    cmocka_unit_test(what_is_outside_is_refused),
};

UNIT_MAIN(tests)
