/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scan of opset 8: a batch of sequences, of lengths of their own where the file gives them. */
#include "tests/unit/onnx_bytes.h"
#include "tests/unit/run_ways.h"

/* Running sums of x, times k, beside x times y; three sequences of three steps. */
static tg_str scanned(const char *in, bool back)
{
    static const int64_t directions[] = {1, 0};
    static const float k[] = {2};
    tg_str g = part_graph("g"), body = part_graph("body");
    tg_str node = part_node("Scan", "scan", in, "last,sums,products");
    put_part(&body, IN_INPUT, part_info("s", 1, "1"));
    put_part(&body, IN_INPUT, part_info("p", 1, "1"));
    put_part(&body, IN_INPUT, part_info("q", 1, "1"));
    put_part(&body, IN_NODE, part_node("Add", "", "s,p", "t"));
    put_part(&body, IN_NODE, part_node("Mul", "", "t,k", "u"));
    put_part(&body, IN_NODE, part_node("Mul", "", "p,q", "o"));
    put_part(&body, IN_OUTPUT, part_info("t", 1, "1"));
    put_part(&body, IN_OUTPUT, part_info("u", 1, "1"));
    put_part(&body, IN_OUTPUT, part_info("o", 1, "1"));
    node_graph(&node, "body", body);
    node_int(&node, "num_scan_inputs", 2);
    if (back) node_ints(&node, "directions", directions, 2);
    put_part(&g, IN_NODE, node);
    put_part(&g, IN_TENSOR, part_tensor("k", 1, "1", k, sizeof k));
    if (strstr(in, "lengths")) put_part(&g, IN_INPUT, part_info("lengths", 7, "3"));
    put_part(&g, IN_INPUT, part_info("start", 1, "3,1"));
    put_part(&g, IN_INPUT, part_info("x", 1, "3,3,1"));
    put_part(&g, IN_INPUT, part_info("y", 1, "3,3,1"));
    put_part(&g, IN_OUTPUT, part_info("last", 1, "3,1"));
    put_part(&g, IN_OUTPUT, part_info("sums", 1, "3,3,1"));
    put_part(&g, IN_OUTPUT, part_info("products", 1, "3,3,1"));
    return part_model(4, 8, g);
}

static tg_tensor lengths(int64_t a, int64_t b, int64_t c)
{
    tg_tensor t = {TG_I64, tg_shape_of(3), NULL};
    int64_t v[] = {a, b, c};
    t.data = tg_memdup(v, sizeof v);
    return t;
}

static const tg_shape column = {.rank = 2, .dim = {3, 1}}, cube = {.rank = 3, .dim = {3, 3, 1}};
static const float start[] = {0, 10, 20}, x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                   y[] = {1, 1, 1, 2, 2, 2, 3, 3, 3};

#define STATES                                                                                     \
    {                                                                                              \
        floats(start, column), floats(x, cube), floats(y, cube)                                    \
    }

static values wanted(const float *last, const float *sums, const float *products)
{
    return (values){{floats(last, column), floats(sums, cube), floats(products, cube)}, 3};
}

static tg_graph *loaded(tg_str model, int64_t opset)
{
    tg_graph *g;
    assert_ok(load(model, &g));
    for (int i = 0; i < 3; i++) assert_int_not_equal(maker(g, i)->op, TG_OP_OPAQUE);
    tg_graph *again = graph_again(g);
    assert_int_equal(tg_origin_opset(again->origin), opset);
    tg_graph_unref(again);
    return g;
}

static void whole_sequences(void **state)
{
    static const float last[] = {6, 25, 44}, sums[] = {2, 6, 12, 28, 38, 50, 54, 70, 88};
    static const float products[] = {1, 2, 3, 8, 10, 12, 21, 24, 27};
    (void)state;
    tg_graph *g = loaded(scanned(",start,x,y", false), 9);
    check_all(g, (values){STATES, 3}, wanted(last, sums, products));
    tg_graph_unref(g);
}

static void from_the_end(void **state)
{
    static const float last[] = {6, 25, 44}, sums[] = {6, 10, 12, 32, 42, 50, 58, 74, 88};
    static const float products[] = {3, 2, 1, 12, 10, 8, 27, 24, 21};
    (void)state;
    tg_graph *g = loaded(scanned(",start,x,y", true), 9);
    check_all(g, (values){STATES, 3}, wanted(last, sums, products));
    tg_graph_unref(g);
}

/* Behind the steps that count are zeros, and what is read from its end begins with the last one. */
static void sequences_of_lengths_of_their_own(void **state)
{
    static const float last[] = {3, 25, 20};
    static const float sums[] = {2, 6, 0, 28, 38, 50, 0, 0, 0},
                       products[] = {1, 2, 0, 8, 10, 12, 0, 0, 0};
    static const float back[] = {4, 6, 0, 32, 42, 50, 0, 0, 0},
                       turned[] = {2, 1, 0, 12, 10, 8, 0, 0, 0};
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        tg_graph *g = loaded(scanned("lengths,start,x,y", turn), turn ? 10 : 9);
        values in = {{lengths(2, 3, 0), floats(start, column), floats(x, cube), floats(y, cube)},
                     4};
        check_all(g, in, turn ? wanted(last, back, turned) : wanted(last, sums, products));
        tg_graph_unref(g);
    }
}

/* What does not fit is refused or carried, and never run. */
static void broken_ones(void **state)
{
    static const char *const inputs[] = {"start,lengths,x,y", "lengths,start,x", "lengths", "x,,,"};
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        tg_graph *g;
        if (load(scanned(inputs[i], false), &g) != TG_OK) continue;
        assert_int_equal(maker(g, 0)->op, TG_OP_OPAQUE);
        tg_graph_unref(g);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(whole_sequences), cmocka_unit_test(from_the_end),
    cmocka_unit_test(sequences_of_lengths_of_their_own), cmocka_unit_test(broken_ones)};

UNIT_MAIN(tests)
