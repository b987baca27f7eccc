/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Older forms of operators: what they become, and that the file keeps them. */
#include "tests/unit/onnx_bytes.h"

#include "engine/ops/ops.h"

/* One node from x (of these dimensions) to y. */
static tg_str one(tg_str node, const char *dims)
{
    tg_str g = part_graph("g");
    put_part(&g, IN_INPUT, part_info("x", 1, dims));
    put_part(&g, IN_OUTPUT, part_info("y", 1, NULL));
    put_part(&g, IN_NODE, node);
    return g;
}

static tg_str softmax(int axis)
{
    tg_str node = part_node("Softmax", "s", "x", "y");
    if (axis >= 0) node_int(&node, "axis", axis);
    return node;
}

/* The graph is unchanged by saving and loading. */
static void same_again(const tg_graph *g)
{
    void *bytes;
    size_t n;
    tg_graph *again;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    assert_ok(tg_onnx_load_memory(bytes, n, "again", NULL, &again));
    assert_true(again->hash == g->hash);
    assert_int_equal(tg_origin_opset(again->origin), tg_origin_opset(g->origin));
    tg_graph_unref(again);
    free(bytes);
}

static void old_softmax_is_over_one_axis(void **state)
{
    static const struct {
        const char *dims;
        int axis, want;
    } cases[] = {{"2,3", -1, 1}, {"2,3,1,1", -1, 1}, {"2,1,1,5", 1, 3}, {"1,4", 0, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_graph *g;
        assert_ok(load(part_model(8, 9, one(softmax(cases[i].axis), cases[i].dims)), &g));
        assert_int_equal(maker(g, 0)->op, TG_OP(Softmax));
        assert_int_equal(tg_node_attr(maker(g, 0), "axis")->i, cases[i].want);
        same_again(g);
        tg_graph_unref(g);
    }
}

static void old_softmax_over_many_axes_goes_by_rows(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(part_model(8, 9, one(softmax(1), "2,3,4")), &g));
    const tg_node *y = maker(g, 0), *s = tg_graph_maker(g, y->in[0]);
    assert_int_equal(y->op, TG_OP(Reshape));
    assert_string_equal(y->out_name[0], "y");
    assert_int_equal(s->op, TG_OP(Softmax));
    tg_shape matrix = tg_shape_of(2, 12), whole = tg_shape_of(2, 3, 4);
    assert_true(tg_shape_equal(&s->out[0].shape, &matrix));
    assert_true(tg_shape_equal(&y->out[0].shape, &whole));
    same_again(g);
    tg_graph_unref(g);
    assert_ok(load(part_model(8, 13, one(softmax(1), "2,3,4")), &g));
    assert_int_equal(tg_node_attr(maker(g, 0), "axis")->i, 1);
    tg_graph_unref(g);
}

static void check_resize(tg_str graph, int opset)
{
    tg_graph *g;
    assert_ok(load(part_model(8, opset, graph), &g));
    const tg_node *y = maker(g, 0);
    assert_int_equal(y->op, TG_OP(Resize));
    assert_string_equal(tg_node_attr(y, "coordinate_transformation_mode")->s, "asymmetric");
    assert_string_equal(tg_node_attr(y, "nearest_mode")->s, "floor");
    tg_shape want = tg_shape_of(1, 1, 4, 6);
    assert_true(tg_shape_equal(&y->out[0].shape, &want));
    same_again(g);
    tg_graph_unref(g);
}

static void upsample_is_a_resize(void **state)
{
    static const float scales[] = {1, 1, 2, 2};
    (void)state;
    tg_str node = part_node("Upsample", "", "x", "y");
    node_text(&node, "mode", "nearest");
    node_floats(&node, "scales", scales, 4);
    check_resize(one(node, "1,1,2,3"), 7);
    for (int opset = 9; opset <= 10; opset++) {
        node = part_node(opset == 9 ? "Upsample" : "Resize", "", "x,s", "y");
        tg_str graph = one(node, "1,1,2,3");
        put_part(&graph, IN_TENSOR, part_tensor("s", 1, "4", scales, sizeof scales));
        check_resize(graph, opset);
    }
}

static void empty_scales_count_as_absent(void **state)
{
    static const int64_t sizes[] = {1, 1, 4, 6};
    (void)state;
    tg_graph *g;
    tg_str graph = one(part_node("Resize", "", "x,,none,s", "y"), "1,1,2,3");
    put_part(&graph, IN_TENSOR, part_tensor("none", 1, "0", "", 0));
    put_part(&graph, IN_TENSOR, part_tensor("s", 7, "4", sizes, sizeof sizes));
    assert_ok(load(part_model(8, 13, graph), &g));
    tg_shape want = tg_shape_of(1, 1, 4, 6);
    assert_true(tg_shape_equal(&maker(g, 0)->out[0].shape, &want));
    same_again(g);
    tg_graph_unref(g);
}

static void results_nobody_reads_are_left_out(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(part_model(8, 9, one(part_node("Dropout", "", "x", "y,mask"), "2,3")), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP(Dropout));
    assert_int_equal(maker(g, 0)->n_out, 1);
    tg_graph_unref(g);
    tg_str graph = one(part_node("Dropout", "", "x", "y,mask"), "2,3");
    put_part(&graph, IN_OUTPUT, part_info("mask", 1, "2,3"));
    assert_ok(load(part_model(8, 9, graph), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP_OPAQUE);
    same_again(g);
    tg_graph_unref(g);
}

static tg_str batch_norm(const char *out, int spatial)
{
    static const float ones[] = {1, 1, 1};
    tg_str node = part_node("BatchNormalization", "", "x,o,o,o,o", out);
    node_int(&node, "spatial", spatial);
    tg_str graph = one(node, "2,3,4,4");
    put_part(&graph, IN_TENSOR, part_tensor("o", 1, "3", ones, sizeof ones));
    return graph;
}

static void old_batch_norm(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(part_model(8, 7, batch_norm("y,m,v", 1)), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP(BatchNormalization));
    same_again(g);
    tg_graph_unref(g);
    assert_ok(load(part_model(8, 7, batch_norm("y", 0)), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP_OPAQUE);
    tg_graph_unref(g);
}

static void older_attributes_mean_the_newer_inputs(void **state)
{
    static const int64_t starts[] = {1}, ends[] = {3}, axes[] = {1};
    (void)state;
    tg_graph *old, *new;
    tg_str node = part_node("Slice", "", "x", "y");
    node_ints(&node, "starts", starts, 1);
    node_ints(&node, "ends", ends, 1);
    node_ints(&node, "axes", axes, 1);
    assert_ok(load(part_model(8, 9, one(node, "2,3")), &old));
    tg_str graph = one(part_node("Slice", "", "x,s,e,a", "y"), "2,3");
    put_part(&graph, IN_TENSOR, part_tensor("s", 7, "1", starts, 8));
    put_part(&graph, IN_TENSOR, part_tensor("e", 7, "1", ends, 8));
    put_part(&graph, IN_TENSOR, part_tensor("a", 7, "1", axes, 8));
    assert_ok(load(part_model(8, 13, graph), &new));
    assert_true(old->hash == new->hash);
    same_again(old);
    same_again(new);
    tg_graph_unref(old);
    tg_graph_unref(new);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(old_softmax_is_over_one_axis),
                                          cmocka_unit_test(old_softmax_over_many_axes_goes_by_rows),
                                          cmocka_unit_test(upsample_is_a_resize),
                                          cmocka_unit_test(empty_scales_count_as_absent),
                                          cmocka_unit_test(results_nobody_reads_are_left_out),
                                          cmocka_unit_test(old_batch_norm),
                                          cmocka_unit_test(older_attributes_mean_the_newer_inputs)};

UNIT_MAIN(tests)
