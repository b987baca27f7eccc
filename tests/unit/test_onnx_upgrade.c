/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Older forms of operators: what they become, and that the file keeps them. */
#include "tests/unit/again.h"
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
    tg_graph *again = graph_again(g);
    assert_true(again->hash == g->hash);
    assert_int_equal(tg_origin_opset(again->origin), tg_origin_opset(g->origin));
    tg_graph_unref(again);
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

static void a_mode_that_is_no_word_is_carried(void **state)
{
    static const float scales[] = {1, 1, 2, 2};
    (void)state;
    tg_graph *g;
    tg_str node = part_node("Upsample", "", "x", "y");
    node_int(&node, "mode", 1);
    node_floats(&node, "scales", scales, 4);
    assert_ok(load(part_model(8, 7, one(node, "1,1,2,3")), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP_OPAQUE);
    tg_graph_unref(g);
}

/* ---- opsets before 7 ---- */

/* What is read from opset `opset` is saved in 7, and is the same graph there. */
static tg_graph *load_oldest(int opset, tg_str graph)
{
    tg_graph *g;
    assert_ok(load(part_model(3, opset, graph), &g));
    assert_int_not_equal(maker(g, 0)->op, TG_OP_OPAQUE);
    tg_graph *again = graph_again(g);
    assert_true(again->hash == g->hash);
    assert_int_equal(tg_origin_opset(again->origin), TG_ONNX_OPSET_WRITTEN);
    tg_graph_unref(again);
    return g;
}

/* Two inputs of these dimensions, x and z. */
static tg_str two(tg_str node, const char *x, const char *z)
{
    tg_str graph = one(node, x);
    put_part(&graph, IN_INPUT, part_info("z", 1, z));
    return graph;
}

static void second_is(const tg_graph *g, tg_shape want)
{
    tg_shape shape = tg_graph_type(g, maker(g, 0)->in[1])->shape;
    assert_true(tg_shape_equal(&shape, &want));
}

static void broadcasting_from_an_axis(void **state)
{
    static const struct {
        const char *op, *z;
        int axis;
        tg_shape want;
    } cases[] = {{"Add", "3", 1, {3, {3, 1, 1}}},    {"Sub", "3,4", 1, {3, {3, 4, 1}}},
                 {"Mul", "4,5", 2, {2, {4, 5}}},     {"Div", "5", -1, {1, {5}}},
                 {"Pow", "2", 0, {4, {2, 1, 1, 1}}}, {"Less", "3", 1, {3, {3, 1, 1}}},
                 {"Add", "1", 1, {1, {1}}},          {"Equal", "3,4,5", 1, {3, {3, 4, 5}}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_str node = part_node(cases[i].op, "", "x,z", "y");
        node_int(&node, "broadcast", 1);
        node_int(&node, "axis", cases[i].axis);
        tg_graph *g = load_oldest(6, two(node, "2,3,4,5", cases[i].z));
        second_is(g, cases[i].want);
        assert_int_equal(maker(g, 0)->out[0].shape.rank, 4);
        tg_graph_unref(g);
    }
}

static void broadcasting_from_the_last_axis(void **state)
{
    static const int64_t none[] = {0, 0};
    (void)state;
    tg_str node = part_node("Add", "", "x,z", "y");
    node_int(&node, "broadcast", 1);
    node_ints(&node, "consumed_inputs", none, 2);
    tg_graph *g = load_oldest(1, two(node, "2,3,4", "4"));
    second_is(g, tg_shape_of(4));
    tg_graph_unref(g);
    node = part_node("Add", "", "x,z", "y");
    node_int(&node, "broadcast", 1);
    node_int(&node, "axis", 2);
    assert_int_equal(load(part_model(3, 6, two(node, "2,3,4", "3,4")), &g), TG_SHAPE);
    node = part_node("Add", "", "x,z", "y");
    node_int(&node, "broadcast", 1);
    node_int(&node, "axis", 7);
    assert_int_not_equal(load(part_model(3, 6, two(node, "2,3,4", "3")), &g), TG_OK);
}

static void slopes_are_of_channels(void **state)
{
    (void)state;
    tg_graph *g = load_oldest(6, two(part_node("PRelu", "", "x,z", "y"), "2,3,4,5", "3"));
    second_is(g, tg_shape_of(3, 1, 1));
    tg_graph_unref(g);
    g = load_oldest(6, two(part_node("PRelu", "", "x,z", "y"), "2,3", "3"));
    second_is(g, tg_shape_of(3));
    tg_graph_unref(g);
    assert_ok(load(part_model(8, 9, two(part_node("PRelu", "", "x,z", "y"), "2,3,4", "4")), &g));
    second_is(g, tg_shape_of(4));
    tg_graph_unref(g);
}

static void batch_norm_says_whether_it_is_a_test(void **state)
{
    static const float ones[] = {1, 1, 1};
    (void)state;
    for (int test = 0; test <= 1; test++) {
        tg_str node = part_node("BatchNormalization", "", "x,o,o,o,o", "y");
        node_int(&node, "is_test", test);
        tg_str graph = one(node, "2,3,4,4");
        put_part(&graph, IN_TENSOR, part_tensor("o", 1, "3", ones, sizeof ones));
        tg_graph *g = load_oldest(6, graph);
        assert_int_equal(tg_node_attr(maker(g, 0), "training_mode")->i, 0);
        tg_graph_unref(g);
    }
    tg_str node = part_node("Dropout", "", "x", "y");
    node_int(&node, "is_test", 1);
    tg_graph_unref(load_oldest(6, one(node, "2,3")));
}

static void words_and_names_of_opset_1(void **state)
{
    static const int64_t pads[] = {0, 1, 0, 2}, shape[] = {3, 2};
    (void)state;
    tg_str node = part_node("Cast", "", "x", "y");
    node_text(&node, "to", "INT64");
    tg_graph *g = load_oldest(1, one(node, "2,3"));
    assert_int_equal(maker(g, 0)->out[0].dtype, TG_I64);
    tg_graph_unref(g);
    node = part_node("Pad", "", "x", "y");
    node_ints(&node, "paddings", pads, 4);
    g = load_oldest(1, one(node, "2,3"));
    assert_int_equal(maker(g, 0)->out[0].shape.dim[1], 6);
    tg_graph_unref(g);
    node = part_node("Reshape", "", "x", "y");
    node_ints(&node, "shape", shape, 2);
    g = load_oldest(1, one(node, "2,3"));
    assert_int_equal(maker(g, 0)->out[0].shape.dim[0], 3);
    tg_graph_unref(g);
    g = load_oldest(1, two(part_node("Concat", "", "x,z", "y"), "2,3", "2,4"));
    assert_int_equal(maker(g, 0)->out[0].shape.dim[1], 7);
    tg_graph_unref(g);
}

static void tile_of_one_axis(void **state)
{
    static const float three = 3, one_ = 1;
    (void)state;
    tg_str graph = one(part_node("Tile", "", "x,n,a", "y"), "2,3");
    put_part(&graph, IN_TENSOR, part_tensor("n", 1, "", &three, 4));
    put_part(&graph, IN_TENSOR, part_tensor("a", 1, "", &one_, 4));
    tg_graph *g = load_oldest(1, graph);
    tg_shape want = tg_shape_of(2, 9);
    assert_true(tg_shape_equal(&maker(g, 0)->out[0].shape, &want));
    tg_graph_unref(g);
}

static void upsample_by_height_and_width(void **state)
{
    (void)state;
    tg_str node = part_node("Upsample", "", "x", "y");
    node_float(&node, "height_scale", 2);
    node_float(&node, "width_scale", 3);
    node_text(&node, "mode", "bilinear");
    tg_graph *g = load_oldest(1, one(node, "1,1,2,3"));
    tg_shape want = tg_shape_of(1, 1, 4, 9);
    assert_true(tg_shape_equal(&maker(g, 0)->out[0].shape, &want));
    assert_string_equal(tg_node_attr(maker(g, 0), "mode")->s, "linear");
    tg_graph_unref(g);
}

/* What means the same in 7 is written as it was, what does not makes saving fail. */
static void carried_nodes_of_old_opsets(void **state)
{
    void *bytes;
    size_t n;
    tg_graph *g;
    (void)state;
    tg_str node = part_node("MaxRoiPool", "", "x,z", "y");
    static const int64_t size[] = {2, 2};
    node_ints(&node, "pooled_shape", size, 2);
    assert_ok(load(part_model(3, 6, two(node, "1,1,4,4", "1,5")), &g));
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    free(bytes);
    tg_graph_unref(g);
    node = part_node("Split", "", "x,z", "y");
    assert_ok(load(part_model(3, 1, two(node, "2,3", "1")), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP_OPAQUE);
    assert_int_equal(tg_onnx_save_memory(g, &bytes, &n), TG_UNSUPPORTED);
    assert_non_null(strstr(tg_message(), "oldest that is written is opset 7"));
    tg_graph_unref(g);
}

static void old_regions_have_no_shift(void **state)
{
    (void)state;
    for (int opset = 10; opset <= 16; opset += 6) {
        tg_graph *g;
        tg_str graph = one(part_node("RoiAlign", "", "x,r,b", "y"), "1,1,4,4");
        put_part(&graph, IN_INPUT, part_info("r", 1, "2,4"));
        put_part(&graph, IN_INPUT, part_info("b", 7, "2"));
        assert_ok(load(part_model(8, opset, graph), &g));
        assert_int_equal(maker(g, 0)->op, TG_OP(RoiAlign));
        assert_string_equal(tg_node_attr(maker(g, 0), "coordinate_transformation_mode")->s,
                            opset < 16 ? "output_half_pixel" : "half_pixel");
        same_again(g);
        tg_graph_unref(g);
    }
}

static void old_transforms_are_along_axis_1(void **state)
{
    (void)state;
    for (int opset = 17; opset <= 20; opset += 3) {
        tg_graph *g;
        assert_ok(load(part_model(8, opset, one(part_node("DFT", "", "x", "y"), "1,4,6,1")), &g));
        assert_int_equal(tg_node_attr(maker(g, 0), "axis")->i, opset < 20 ? 1 : 2);
        same_again(g);
        tg_graph_unref(g);
    }
}

/* Up to 20 scale and shift were of groups; now they are of channels. */
static void old_group_norms_spread_their_scales(void **state)
{
    (void)state;
    for (int opset = 18; opset <= 21; opset += 3) {
        tg_graph *g;
        tg_str node = part_node("GroupNormalization", "n", "x,s,b", "y");
        node_int(&node, "num_groups", 2);
        tg_str graph = one(node, "1,6,2");
        put_part(&graph, IN_INPUT, part_info("s", 1, opset < 21 ? "2" : "6"));
        put_part(&graph, IN_INPUT, part_info("b", 1, opset < 21 ? "2" : "6"));
        assert_ok(load(part_model(8, opset, graph), &g));
        const tg_node *y = maker(g, 0);
        tg_shape each = tg_shape_of(6);
        assert_int_equal(y->op, TG_OP(GroupNormalization));
        for (int i = 1; i < 3; i++)
            assert_true(tg_shape_equal(&tg_graph_type(g, y->in[i])->shape, &each));
        tg_graph *again = graph_again(g);
        assert_true(again->hash == g->hash);
        assert_int_equal(tg_origin_opset(again->origin), 21);
        tg_graph_unref(again);
        tg_graph_unref(g);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(old_group_norms_spread_their_scales),
                                          cmocka_unit_test(old_regions_have_no_shift),
                                          cmocka_unit_test(old_transforms_are_along_axis_1),
                                          cmocka_unit_test(old_softmax_is_over_one_axis),
                                          cmocka_unit_test(old_softmax_over_many_axes_goes_by_rows),
                                          cmocka_unit_test(upsample_is_a_resize),
                                          cmocka_unit_test(empty_scales_count_as_absent),
                                          cmocka_unit_test(results_nobody_reads_are_left_out),
                                          cmocka_unit_test(old_batch_norm),
                                          cmocka_unit_test(older_attributes_mean_the_newer_inputs),
                                          cmocka_unit_test(a_mode_that_is_no_word_is_carried),
                                          cmocka_unit_test(broadcasting_from_an_axis),
                                          cmocka_unit_test(broadcasting_from_the_last_axis),
                                          cmocka_unit_test(slopes_are_of_channels),
                                          cmocka_unit_test(batch_norm_says_whether_it_is_a_test),
                                          cmocka_unit_test(words_and_names_of_opset_1),
                                          cmocka_unit_test(tile_of_one_axis),
                                          cmocka_unit_test(upsample_by_height_and_width),
                                          cmocka_unit_test(carried_nodes_of_old_opsets)};

UNIT_MAIN(tests)
