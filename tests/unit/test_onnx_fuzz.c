/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged models: whatever is read of them can be checked, saved and read again. */
#include "tests/unit/onnx_bytes.h"

#include "engine/base/rng.h"

enum { ROUNDS = 4000 };

/* A small model with something of everything: a subgraph, lists, names, a large tensor. */
static tg_str sample(void)
{
    static const float w[512] = {1, 2, 3};
    static const int64_t shape[] = {-1, 3};
    tg_str g = part_graph("g"), branch = part_graph("b"), cond = part_node("If", "i", "c", "y"),
           constant = part_node("Constant", "k", "-", "k"),
           soft = part_node("Softmax", "", "r", "s");
    put_part(&g, IN_INPUT, part_info("x", 1, "N,3"));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "N,3"));
    put_part(&g, IN_TENSOR, part_tensor("w", 1, "3", w, 12));
    put_part(&g, IN_TENSOR, part_tensor("big", 1, "512", w, sizeof w));
    put_part(&g, IN_TENSOR, part_tensor("shape", 7, "2", shape, sizeof shape));
    put_part(&g, IN_TENSOR, part_tensor("c", 9, "", "\1", 1));
    node_tensor(&constant, "value", part_tensor("", 1, "", w, 4));
    node_int(&soft, "axis", 1);
    put_part(&branch, IN_NODE, part_node("Add", "", "t,big0", "e"));
    put_part(&branch, IN_OUTPUT, part_info("e", 1, "N,3"));
    node_graph(&cond, "then_branch", branch);
    put_part(&g, IN_NODE, constant);
    put_part(&g, IN_NODE, part_node("Add", "", "x,w", "a"));
    put_part(&g, IN_NODE, part_node("Mul", "", "a,k", "m"));
    put_part(&g, IN_NODE, part_node("Reshape", "", "m,shape", "r"));
    put_part(&g, IN_NODE, soft);
    put_part(&g, IN_NODE, part_node("Relu", "", "s", "t"));
    put_part(&g, IN_NODE, part_node("ReduceSum", "", "big", "big0"));
    put_part(&g, IN_NODE, cond);
    return part_model(8, 12, g);
}

static void damage(tg_rng *rng, char *p, size_t *n)
{
    int times = 1 + (int)tg_rng_below(rng, 3);
    for (int i = 0; i < times; i++) {
        size_t at = tg_rng_below(rng, *n), end = at + 1 + tg_rng_below(rng, 8);
        if (end > *n) end = *n;
        switch (tg_rng_below(rng, 4)) {
        case 0: p[at] ^= (char)(1 << tg_rng_below(rng, 8)); break;
        case 1: p[at] = (char)tg_rng_below(rng, 256); break;
        case 2:
            memmove(p + at, p + end, *n - end);
            if (*n - (end - at) > 1) *n -= end - at;
            break;
        default: *n = at + 1;
        }
    }
}

static void check_what_was_read(tg_graph *g)
{
    void *bytes;
    size_t n;
    tg_graph *again;
    assert_ok(tg_check(g));
    if (tg_onnx_save_memory(g, &bytes, &n) != TG_OK) return;
    assert_ok(tg_onnx_load_memory(bytes, n, "again", NULL, &again));
    tg_graph_unref(again);
    free(bytes);
}

static void damaged_models_do_no_harm(void **state)
{
    (void)state;
    tg_rng *rng = tg_rng_new(7);
    tg_str model = sample();
    int read = 0, refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
        tg_graph *g;
        size_t n = model.n;
        char *copy = tg_memdup(model.p, n);
        if (i) damage(rng, copy, &n);
        if (tg_onnx_load_memory(copy, n, "fuzz", NULL, &g) == TG_OK) {
            read++;
            check_what_was_read(g);
            tg_graph_unref(g);
        } else {
            refused++;
            assert_contains(tg_message(), "fuzz: ");
        }
        free(copy);
    }
    /* Both ways out were taken often. */
    assert_true(read > ROUNDS / 20);
    assert_true(refused > ROUNDS / 4);
    tg_str_free(&model);
    tg_rng_free(rng);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_models_do_no_harm)};

UNIT_MAIN(tests)
