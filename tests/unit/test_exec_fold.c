/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constant expressions as bytes: the product behind them, and what is kept of their parts. */
#include "tests/unit/exec_case.h"

#include "engine/exec/fold.h"
#include "engine/ops/product.h"

/* volatile: one rounding a product and one a sum, whatever the compiler may join. */
static double plain_sum(const double *a, const double *b, int64_t n, int64_t k, double start)
{
    volatile double sum = start;
    for (int64_t i = 0; i < k; i++) {
        volatile double term = a[i] * b[i * n];
        sum = sum + term;
    }
    return sum;
}

static void products_have_the_bits_of_plain_sums(void **state)
{
    (void)state;
    enum { M = 21, N = 37, K = 530 };
    static double a[M * K], b[K * N], y[M * N];
    tg_rng *rng = tg_rng_new(4);
    for (int i = 0; i < M * K; i++) a[i] = tg_rng_normal(rng);
    for (int i = 0; i < K * N; i++) b[i] = tg_rng_normal(rng);
    tg_rng_free(rng);
    const int64_t ms[] = {1, 3, 4, 5, 9, M}, ns[] = {1, 3, 4, 8, 15, 16, 17, N},
                  ks[] = {1, 6, 255, K};
    for (size_t i = 0; i < sizeof ms / sizeof *ms * 8 * 4; i++) {
        int64_t m = ms[i / 32], n = ns[i / 4 % 8], k = ks[i % 4];
        for (int64_t j = 0; j < m * n; j++) y[j] = (double)j;
        tg_product_add(m, n, k, a, b, y);
        for (int64_t j = 0; j < m * n; j++)
            if (y[j] != plain_sum(a + j / n * k, b + j % n, n, k, (double)j))
                fail_msg("%d x %d x %d: element %d", (int)m, (int)n, (int)k, (int)j);
    }
}

/* The same bytes as evaluating the whole at once. */
static void folds_like_evaluation(const tg_graph *g, tg_value v)
{
    tg_weight *whole, *folded;
    assert_ok(tg_const_eval(g, v, &whole));
    assert_ok(tg_fold_value(g, v, &folded));
    assert_int_equal(whole->size, folded->size);
    assert_memory_equal(whole->data, folded->data, whole->size);
    tg_weight_unref(whole);
    tg_weight_unref(folded);
}

static void parts_of_expressions_are_kept(void **state)
{
    (void)state;
    net m = net_new(7);
    tg_value a = net_weight(&m, tg_shape_of(12, 9)), b = net_weight(&m, tg_shape_of(9, 20));
    tg_value product = net_node(&m, "MatMul", "", a, b);
    tg_value halves = net_node_of(&m, "Split", &product, 1, 2, "axis=1 split=8,12");
    tg_value other = tg_value_of(tg_value_node(halves), 1);
    tg_value turned = net_node(&m, "Transpose", "perm=1,0", other);
    tg_value joined = net_node(&m, "MatMul", "", turned, halves);
    tg_value y = net_node(&m, "Concat", "axis=1", joined, turned);
    tg_value x = net_node(&m, "Add", "", net_input(&m, tg_shape_of(1, 20)), y);
    tg_graph *g = net_done(&m, x);
    size_t before = tg_fold_bytes();
    folds_like_evaluation(g, y);
    size_t kept = tg_fold_bytes();
    /* the product, both halves, one of them turned, the second product, the result */
    assert_int_equal(kept - before, sizeof(float) * (240 + 96 + 144 + 144 + 96 + 240));
    folds_like_evaluation(g, product);
    folds_like_evaluation(g, other);
    folds_like_evaluation(g, joined);
    assert_int_equal(tg_fold_bytes(), kept);
    tg_graph_unref(g);
}

static void what_varies_is_refused(void **state)
{
    (void)state;
    net m = net_new(9);
    tg_value x = net_input(&m, tg_shape_of(2, 2)), y = net_node(&m, "Relu", "", x);
    tg_graph *g = net_done(&m, y);
    tg_weight *weight = NULL;
    assert_status(tg_fold_value(g, y, &weight), TG_INVALID);
    assert_null(weight);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(products_have_the_bits_of_plain_sums),
    cmocka_unit_test(parts_of_expressions_are_kept),
    cmocka_unit_test(what_varies_is_refused),
};
UNIT_MAIN(tests)
