/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a saved model keeps, and what a rewrite makes of it. */
#include "tests/unit/onnx_bytes.h"

#include "engine/base/log.h"
#include "engine/ir/build.h"
#include "engine/onnx/export.h"
#include "engine/ops/ops.h"

static tg_str words;

static void note(void *ctx, tg_log_level level, const char *text)
{
    (void)ctx, (void)level;
    tg_str_addf(&words, "%s\n", text);
}

static int start(void **state)
{
    (void)state;
    tg_str_clear(&words);
    tg_log_to(note, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    tg_log_to(NULL, NULL);
    tg_str_free(&words);
    return 0;
}

static bool holds(const void *bytes, size_t n, const char *text)
{
    return memmem(bytes, n, text, strlen(text)) != NULL;
}

/* Saves, checks that the file holds each of the texts, loads again. */
static tg_graph *again(const tg_graph *g, const char *const *texts)
{
    void *bytes;
    size_t n;
    tg_graph *made;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    for (; texts && *texts; texts++)
        if (!holds(bytes, n, *texts)) fail_msg("the file lacks %s", *texts);
    assert_ok(tg_onnx_load_memory(bytes, n, "again", NULL, &made));
    assert_ok(tg_check(made));
    free(bytes);
    return made;
}

static void same_again(const tg_graph *g, const char *const *texts)
{
    tg_graph *made = again(g, texts);
    assert_true(made->hash == g->hash);
    tg_graph_unref(made);
}

/* x [2,3] and a named size, y; w [3]. */
static tg_str body(const char *dims)
{
    static const float w[] = {1, 2, 3};
    tg_str g = part_graph("g");
    put_part(&g, IN_INPUT, part_info("x", 1, dims));
    put_part(&g, IN_OUTPUT, part_info("y", 1, dims));
    put_part(&g, IN_TENSOR, part_tensor("w", 1, "3", w, sizeof w));
    return g;
}

static tg_graph *loaded(tg_str graph, int64_t opset)
{
    tg_graph *g;
    assert_ok(load(part_model(8, opset, graph), &g));
    return g;
}

static void keeps_what_it_does_not_know(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = body("N,3"), node = part_node("Add", "adder", "x,w", "mid"), entry = {0};
    put_text(&node, 6, "about the node");
    put_part(&graph, IN_NODE, node);
    put_part(&graph, IN_NODE, part_node("Relu", "", "mid", "y"));
    put_part(&graph, IN_TYPE, part_info("mid", 1, "N,3"));
    put_text(&graph, 10, "about the graph");
    tg_str model = part_model(8, 13, graph);
    put_text(&model, 2, "the producer");
    put_text(&model, 6, "about the model");
    put_text(&entry, 1, "the key");
    put_text(&entry, 2, "the value");
    put_part(&model, 14, entry);
    put_text(&model, 99, "an unknown field");
    assert_ok(load(model, &g));
    static const char *const texts[] = {
        "about the node", "about the graph", "about the model",  "the producer", "the key",
        "the value",      "adder",           "an unknown field", "mid",          NULL};
    same_again(g, texts);
    tg_graph *made = again(g, NULL);
    assert_int_equal(made->origin->n_dim_names, 2);
    tg_graph_unref(made);
    tg_graph_unref(g);
}

static void outputs_keep_their_names(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_OUTPUT, part_info("x2", 1, "2,3"));
    put_part(&graph, IN_NODE, part_node("Relu", "", "x", "y"));
    put_part(&graph, IN_NODE, part_node("Neg", "", "x", "x2"));
    tg_graph *g = loaded(graph, 13), *changed;
    const tg_node *sink = tg_graph_sink(g);
    /* Outputs: y twice over, the input itself, a constant. */
    tg_builder *b = tg_builder_from(g);
    static const char *const names[] = {"y", "x2", "same", "constant"};
    tg_value values[] = {sink->in[0], tg_value_of(g->inputs[0], 0), sink->in[0],
                         tg_build_scalar(b, TG_F32, 3)};
    tg_build_outputs(b, values, names, 4);
    assert_ok(tg_build_done(b, &changed));
    tg_graph *made = again(changed, NULL);
    assert_int_equal(tg_graph_sink(made)->n_in, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(made->output_names[i], names[i]);
    assert_int_equal(maker(made, 0)->op, TG_OP(Relu));
    assert_int_equal(maker(made, 1)->op, TG_OP(Identity));
    assert_int_equal(maker(made, 2)->op, TG_OP(Identity));
    tg_graph_unref(made);
    tg_graph_unref(changed);
    tg_graph_unref(g);
}

static void constants_that_grow_stay_unfolded(void **state)
{
    static const int64_t shape[] = {1000, 3};
    (void)state;
    tg_str graph = body("1000,3");
    put_part(&graph, IN_TENSOR, part_tensor("s", 7, "2", shape, sizeof shape));
    put_part(&graph, IN_NODE, part_node("Expand", "", "w,s", "wide"));
    put_part(&graph, IN_NODE, part_node("Add", "", "x,wide", "y"));
    tg_graph *g = loaded(graph, 13), *made = again(g, NULL);
    assert_int_equal(tg_graph_maker(made, maker(made, 0)->in[1])->op, TG_OP(Expand));
    assert_contains(tg_str_text(&words), "unfolded");
    tg_graph_unref(made);
    tg_graph_unref(g);
}

static void constants_are_folded(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_NODE, part_node("Neg", "", "w", "minus"));
    put_part(&graph, IN_NODE, part_node("Add", "", "x,minus", "y"));
    tg_graph *g = loaded(graph, 13), *made = again(g, NULL);
    const tg_node *minus = tg_graph_maker(made, maker(made, 0)->in[1]);
    assert_int_equal(minus->op, TG_OP_CONST);
    tg_tensor t = tg_node_tensor(minus);
    assert_true(tg_tensor_f64(&t, 2) == -3);
    same_again(made, NULL);
    tg_graph_unref(made);
    tg_graph_unref(g);
}

/* The graph with `op` put behind its first output by a rule. */
static tg_graph *behind(const tg_graph *g, tg_op op, const tg_named_attr *attrs, int n)
{
    tg_graph *made;
    tg_builder *b = tg_builder_from(g);
    tg_value v = tg_graph_sink(g)->in[0];
    tg_node_spec spec = {.op = op, .in = &v, .n_in = 1, .attrs = attrs, .n_attrs = n, .rule = "r"};
    uint32_t id;
    assert_ok(tg_build_node(b, &spec, &id));
    v = tg_value_of(id, 0);
    tg_build_outputs(b, &v, g->output_names, 1);
    assert_ok(tg_build_done(b, &made));
    return made;
}

static void opset_is_raised_when_needed(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_NODE, part_node("Softmax", "", "x", "y"));
    tg_graph *g = loaded(graph, 9), *gelu = behind(g, TG_OP(Gelu), NULL, 0);
    tg_graph *made = again(gelu, NULL);
    assert_true(made->hash == gelu->hash);
    assert_int_equal(tg_origin_opset(made->origin), 20);
    assert_contains(tg_str_text(&words), "opset raised from 9 to 20 for Gelu");
    tg_graph_unref(made);
    tg_graph_unref(gelu);
    /* A softmax over the last axis has an older form. */
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(-1)};
    tg_graph *twice = behind(g, TG_OP(Softmax), &axis, 1);
    made = again(twice, NULL);
    assert_true(made->hash == twice->hash);
    assert_int_equal(tg_origin_opset(made->origin), 9);
    tg_graph_unref(made);
    tg_graph_unref(twice);
    tg_graph_unref(g);
}

static void oldest_opsets_are_raised(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_NODE, part_node("Softmax", "", "x", "y"));
    tg_graph *g = loaded(graph, 6), *made = again(g, NULL);
    assert_true(made->hash == g->hash);
    assert_int_equal(tg_origin_opset(made->origin), 7);
    assert_contains(tg_str_text(&words), "raised from 6 to 7, the oldest that is written");
    tg_graph_unref(made);
    tg_graph_unref(g);
}

static void carried_nodes_hold_the_opset(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    tg_str node = part_node("Softmax", "", "x", "s"), branch = part_graph("b"),
           cond = part_node("If", "branchy", "c", "y");
    put_part(&branch, IN_NODE, node);
    put_part(&branch, IN_OUTPUT, part_info("s", 1, "2,3"));
    node_graph(&cond, "then_branch", branch);
    put_part(&graph, IN_TENSOR, part_tensor("c", 9, "", "\1", 1));
    put_part(&graph, IN_NODE, cond);
    tg_graph *g = loaded(graph, 9), *gelu = behind(g, TG_OP(Gelu), NULL, 0);
    void *bytes;
    size_t n;
    assert_status(tg_onnx_save_memory(gelu, &bytes, &n), TG_UNSUPPORTED);
    assert_contains(tg_message(), "branchy");
    same_again(g, NULL);
    tg_graph_unref(gelu);
    tg_graph_unref(g);
}

static void captured_values_may_be_renamed(void **state)
{
    (void)state;
    tg_str graph = body("2,3"), branch = part_graph("b"), cond = part_node("If", "", "c", "y");
    put_part(&branch, IN_NODE, part_node("Neg", "", "mid", "s"));
    put_part(&branch, IN_OUTPUT, part_info("s", 1, "2,3"));
    node_graph(&cond, "then_branch", branch);
    put_part(&graph, IN_TENSOR, part_tensor("c", 9, "", "\1", 1));
    put_part(&graph, IN_NODE, part_node("Relu", "", "x", "mid"));
    put_part(&graph, IN_NODE, cond);
    tg_graph *g = loaded(graph, 13), *changed;
    const tg_node *node = maker(g, 0);
    /* What the branch reads becomes an output of another name. */
    tg_builder *b = tg_builder_from(g);
    static const char *const names[] = {"y", "also"};
    tg_value values[] = {tg_graph_sink(g)->in[0], node->in[1]};
    tg_build_outputs(b, values, names, 2);
    assert_ok(tg_build_done(b, &changed));
    tg_graph *made = again(changed, NULL);
    assert_int_equal(maker(made, 1)->op, TG_OP(Relu));
    assert_true(maker(made, 0)->in[1] == tg_graph_sink(made)->in[1]);
    tg_graph_unref(made);
    tg_graph_unref(changed);
    tg_graph_unref(g);
}

static void rewrites_may_cost_symbolic_dimensions(void **state)
{
    static const int64_t flat[] = {3};
    (void)state;
    tg_str graph = body("N,3");
    put_part(&graph, IN_NODE, part_node("Add", "", "x,w", "y"));
    tg_graph *g = loaded(graph, 13), *relu = behind(g, TG_OP(Relu), NULL, 0);
    tg_graph *made = again(relu, NULL);
    assert_int_equal(made->origin->n_dim_names, 2);
    tg_graph_unref(made);
    tg_named_attr shape = {"shape", TG_ATTR_OF_INTS(flat, 1)};
    tg_graph *reshaped = behind(g, TG_OP(Reshape), &shape, 1);
    made = again(reshaped, NULL);
    assert_int_equal(made->origin->n_dim_names, 0);
    assert_true(made->hash == reshaped->hash);
    assert_contains(tg_str_text(&words), "symbolic dimensions are saved with the sizes");
    tg_graph_unref(made);
    tg_graph_unref(reshaped);
    tg_graph_unref(relu);
    tg_graph_unref(g);
}

static void symbolic_reshape_survives(void **state)
{
    static const int64_t shape[] = {-1, 3};
    (void)state;
    tg_str graph = body("N,3");
    put_part(&graph, IN_TENSOR, part_tensor("s", 7, "2", shape, sizeof shape));
    put_part(&graph, IN_NODE, part_node("Reshape", "", "x,s", "y"));
    tg_graph *g = loaded(graph, 13), *made;
    void *bytes;
    size_t n;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    tg_load_options opt = {.other_dims = 8};
    assert_ok(tg_onnx_load_memory(bytes, n, "again", &opt, &made));
    tg_shape want = tg_shape_of(8, 3);
    assert_true(tg_shape_equal(&maker(made, 0)->out[0].shape, &want));
    tg_graph_unref(made);
    tg_graph_unref(g);
    free(bytes);
}

static void part_of_a_model_is_a_model(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_NODE, part_node("Relu", "", "x", "mid"));
    put_part(&graph, IN_NODE, part_node("Add", "", "mid,w", "y"));
    tg_graph *g = loaded(graph, 13), *piece;
    /* The Add alone, of an input of another name and shape. */
    tg_builder *b = tg_builder_new(g->origin);
    tg_type type = {TG_F32, tg_shape_of(5, 3)};
    tg_value in[] = {tg_build_input(b, "other", &type), tg_build_scalar(b, TG_F32, 1)};
    tg_node_spec spec = {.op = TG_OP(Add), .in = in, .n_in = 2};
    uint32_t id;
    assert_ok(tg_build_node(b, &spec, &id));
    tg_build_outputs(b, (tg_value[]){tg_value_of(id, 0)}, (const char *const[]){"y"}, 1);
    assert_ok(tg_build_done(b, &piece));
    same_again(piece, NULL);
    tg_graph_unref(piece);
    tg_graph_unref(g);
}

static bool has_text(const char *bytes, size_t n, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(bytes + i, text, length) == 0) return true;
    return false;
}

static void fused_activation_becomes_a_node(void **state)
{
    (void)state;
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type x = {TG_F32, tg_shape_of(1, 1, 4, 4)};
    tg_shape k = tg_shape_of(1, 1, 3, 3);
    tg_value in[] = {tg_build_input(b, "x", &x),
                     tg_build_const(b, TG_F32, &k, tg_weight_own(tg_calloc(9, 4), 36), "k")};
    tg_named_attr a = {"activation", tg_attr_str("Relu")};
    tg_node_spec spec = {.op = TG_OP(Conv), .in = in, .n_in = 2, .attrs = &a, .n_attrs = 1};
    uint32_t id;
    tg_graph *g;
    assert_ok(tg_build_node(b, &spec, &id));
    tg_build_outputs(b, (tg_value[]){tg_value_of(id, 0)}, (const char *const[]){"y"}, 1);
    assert_ok(tg_build_done(b, &g));
    tg_origin_unref(origin);
    void *bytes;
    size_t n;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    assert_true(has_text(bytes, n, "Relu"));
    assert_false(has_text(bytes, n, "activation"));
    free(bytes);
    /* Loaded, the two are one again. */
    tg_graph *made = again(g, NULL);
    assert_int_equal(maker(made, 0)->op, TG_OP(Conv));
    assert_string_equal(tg_node_attr(maker(made, 0), "activation")->s, "Relu");
    tg_graph_unref(made);
    tg_graph_unref(g);
}

static void old_ir_lists_tensors_among_inputs(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = body("2,3");
    put_part(&graph, IN_INPUT, part_info("w", 1, "3"));
    put_part(&graph, IN_NODE, part_node("Neg", "", "w", "v"));
    put_part(&graph, IN_NODE, part_node("Add", "", "x,v", "a"));
    put_part(&graph, IN_NODE, part_node("Mul", "", "a,w", "y"));
    assert_ok(load(part_model(3, 8, graph), &g));
    void *bytes;
    size_t n;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    /* ValueInfo messages of w and of the folded v: field 11, then the name. */
    int listed = 0;
    for (size_t i = 0; i + 5 < n; i++) {
        const unsigned char *p = (const unsigned char *)bytes + i;
        listed += p[0] == 0x5a && p[2] == 0x0a && p[3] == 1 && (p[4] == 'w' || p[4] == 'v');
    }
    assert_int_equal(listed, 2);
    free(bytes);
    tg_graph_unref(g);
}

static void node_names_become_unique(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_NODE, part_node("Relu", "n", "x", "a"));
    put_part(&graph, IN_NODE, part_node("Neg", "n", "a", "y"));
    tg_graph *g = loaded(graph, 13);
    assert_contains(tg_str_text(&words), "several nodes have the name n");
    tg_str_clear(&words);
    same_again(g, (const char *const[]){"n_1", NULL});
    assert_null(strstr(tg_str_text(&words), "several"));
    tg_graph_unref(g);
}

static void a_file_is_replaced_whole_or_not(void **state)
{
    (void)state;
    tg_str graph = body("2,3");
    put_part(&graph, IN_NODE, part_node("Add", "", "x,w", "y"));
    tg_graph *g = loaded(graph, 13), *made;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("kept.onnx"));
    assert_ok(tg_onnx_save(g, path));
    assert_ok(tg_onnx_load(path, NULL, &made));
    assert_ok(tg_onnx_save(made, path)); /* over the file that is mapped */
    assert_true(made->hash == g->hash);
    tg_graph_unref(made);
    assert_status(tg_onnx_save(g, unit_temporary("no/such/folder.onnx")), TG_IO);
    assert_contains(tg_message(), "folder.onnx");
    tg_graph_unref(g);
}

static void large_models_get_a_second_file(void **state)
{
    (void)state;
    float *big = tg_calloc(1000, sizeof *big);
    big[999] = 7;
    tg_str graph = part_graph("g");
    put_part(&graph, IN_INPUT, part_info("x", 1, "1000"));
    put_part(&graph, IN_OUTPUT, part_info("y", 1, "1000"));
    put_part(&graph, IN_TENSOR, part_tensor("big", 1, "1000", big, 4000));
    put_part(&graph, IN_NODE, part_node("Add", "", "x,big", "y"));
    free(big);
    tg_graph *g = loaded(graph, 13), *made;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("split.onnx"));
    assert_ok(tg_onnx_save_split(g, path, 1000));
    assert_int_equal(access(unit_temporary("split.onnx.data"), R_OK), 0);
    assert_ok(tg_onnx_load(path, NULL, &made));
    assert_true(made->hash == g->hash);
    tg_tensor t = tg_node_tensor(tg_graph_maker(made, maker(made, 0)->in[1]));
    assert_true(tg_tensor_f64(&t, 999) == 7);
    tg_graph_unref(made);
    tg_graph_unref(g);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

static const struct CMUnitTest tests[] = {CASE(keeps_what_it_does_not_know),
                                          CASE(outputs_keep_their_names),
                                          CASE(constants_that_grow_stay_unfolded),
                                          CASE(constants_are_folded),
                                          CASE(opset_is_raised_when_needed),
                                          CASE(oldest_opsets_are_raised),
                                          CASE(carried_nodes_hold_the_opset),
                                          CASE(captured_values_may_be_renamed),
                                          CASE(rewrites_may_cost_symbolic_dimensions),
                                          CASE(symbolic_reshape_survives),
                                          CASE(part_of_a_model_is_a_model),
                                          CASE(fused_activation_becomes_a_node),
                                          CASE(old_ir_lists_tensors_among_inputs),
                                          CASE(node_names_become_unique),
                                          CASE(a_file_is_replaced_whole_or_not),
                                          CASE(large_models_get_a_second_file)};

UNIT_MAIN(tests)
