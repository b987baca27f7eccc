/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read from models, and what is refused. */
#include "tests/unit/onnx_bytes.h"

#include "engine/base/log.h"
#include "engine/base/vec.h"
#include "engine/ops/ops.h"

static tg_str words; /* what was logged during a test */

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

static void refuses(tg_str model, tg_status want, const char *needle)
{
    tg_graph *g = NULL;
    assert_status(load(model, &g), want);
    assert_null(g);
    assert_contains(tg_message(), "m.onnx: ");
    assert_contains(tg_message(), needle);
    assert_null(strchr(tg_message(), '\n'));
}

/* A graph with inputs x and output y, float [2,3]. */
static tg_str body(void)
{
    tg_str g = part_graph("g");
    put_part(&g, IN_INPUT, part_info("x", 1, "2,3"));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "2,3"));
    return g;
}

static tg_str with_node(const char *op, const char *in, const char *out)
{
    tg_str g = body();
    put_part(&g, IN_NODE, part_node(op, "n", in, out));
    return g;
}

static void put_w(tg_str *g, const char *dims, size_t bytes)
{
    static const float w[24] = {1, 2, 3, 4, 5, 6};
    put_part(g, IN_TENSOR, part_tensor("w", 1, dims, w, bytes));
}

static void reads_a_model(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = with_node("Add", "x,w", "y");
    put_w(&graph, "3", 12);
    assert_ok(load(part_model(8, 13, graph), &g));
    const tg_node *add = maker(g, 0), *w = tg_graph_maker(g, add->in[1]);
    assert_int_equal(add->op, TG_OP(Add));
    assert_string_equal(add->name, "n");
    assert_string_equal(add->out_name[0], "y");
    assert_string_equal(g->output_names[0], "y");
    assert_int_equal(w->op, TG_OP_CONST);
    assert_true(tg_tensor_f64(&(tg_tensor){TG_F32, w->out[0].shape, (void *)w->weight->data}, 2) ==
                3);
    assert_int_equal(g->n_inputs, 1);
    assert_string_equal(g->origin->graph_name, "g");
    assert_int_equal(tg_origin_opset(g->origin), 13);
    assert_true(g->origin->hash == g->hash);
    tg_graph_unref(g);
}

static void initialiser_that_is_an_input_is_constant(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = with_node("Add", "x,w", "y");
    put_part(&graph, IN_INPUT, part_info("w", 1, "3"));
    put_w(&graph, "3", 12);
    assert_ok(load(part_model(3, 8, graph), &g));
    assert_int_equal(g->n_inputs, 1);
    assert_int_equal(tg_graph_maker(g, maker(g, 0)->in[1])->op, TG_OP_CONST);
    tg_graph_unref(g);
}

static void sorts_nodes(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = with_node("Relu", "b", "y");
    put_part(&graph, IN_NODE, part_node("Neg", "", "a", "b"));
    put_part(&graph, IN_NODE, part_node("Abs", "", "x", "a"));
    assert_ok(load(part_model(8, 13, graph), &g));
    assert_int_equal(tg_graph_op_count(g), 3);
    assert_contains(tg_str_text(&words), "not sorted");
    tg_graph_unref(g);
}

static void refuses_bad_graphs(void **state)
{
    (void)state;
    tg_str graph = with_node("Add", "x,b", "a");
    put_part(&graph, IN_NODE, part_node("Add", "", "x,a", "b"));
    put_part(&graph, IN_NODE, part_node("Relu", "", "a", "y"));
    refuses(part_model(8, 13, graph), TG_INVALID, "cycle through the values b, a");
    refuses(part_model(8, 13, with_node("Add", "x,nobody", "y")), TG_INVALID,
            "node n (Add) reads the value nobody");
    refuses(part_model(8, 13, with_node("Relu", "x", "z")), TG_INVALID, "output y");
    refuses(part_model(8, 13, with_node("NoSuchOp", "x", "y")), TG_INVALID, "NoSuchOp");
    refuses(part_model(8, 13, with_node("Relu", "x", "x")), TG_INVALID, "value x");
    graph = with_node("Relu", "x", "y");
    put_part(&graph, IN_NODE, part_node("Neg", "m", "x", "y"));
    refuses(part_model(8, 13, graph), TG_INVALID, "value y");
    graph = with_node("Relu", "x", "y");
    put_part(&graph, IN_INPUT, part_info("x", 1, "2,3"));
    refuses(part_model(8, 13, graph), TG_INVALID, "graph input x is listed twice");
    refuses(part_model(8, 13, with_node("Add", "x,two\nlines", "y")), TG_INVALID, "two?lines");
    graph = with_node("MatMul", "x,w", "y");
    put_w(&graph, "2,3", 24);
    refuses(part_model(8, 13, graph), TG_SHAPE, "node n (MatMul)");
}

static void refuses_versions(void **state)
{
    (void)state;
    refuses(part_model(8, 999, with_node("Relu", "x", "y")), TG_UNSUPPORTED, "999");
    refuses(part_model(8, 0, with_node("Relu", "x", "y")), TG_UNSUPPORTED, "opset 0");
    refuses(part_model(99, 13, with_node("Relu", "x", "y")), TG_UNSUPPORTED, "IR version 99");
    tg_str m = {0};
    put_int(&m, 1, 8);
    put_part(&m, 7, with_node("Relu", "x", "y"));
    refuses(m, TG_INVALID, "opset_import");
    tg_str none = {0};
    put_int(&none, 1, 8);
    refuses(none, TG_FORMAT, "no graph");
}

static void refuses_tensors(void **state)
{
    static const struct {
        const char *dims;
        size_t bytes;
        tg_status status;
        const char *needle;
    } cases[] = {{"-4", 16, TG_INVALID, "-4"},
                 {"1099511627776,1099511627776", 16, TG_INVALID, "1099511627776x1099511627776"},
                 {"8", 16, TG_INVALID, "needs 32 bytes, 16 are there"},
                 {"1,1,1,1,1,1,1,1,1", 4, TG_LIMIT, "rank"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_str graph = with_node("Add", "x,w", "y");
        put_w(&graph, cases[i].dims, cases[i].bytes);
        refuses(part_model(8, 13, graph), cases[i].status, cases[i].needle);
        assert_contains(tg_message(), "tensor w");
    }
}

static void symbolic_dimensions_get_sizes(void **state)
{
    (void)state;
    tg_graph *g;
    tg_dim_fix fix = {"N", 7};
    tg_load_options opt = {.dims = &fix, .n_dims = 1, .other_dims = 4};
    tg_str graph = part_graph("g");
    put_part(&graph, IN_INPUT, part_info("x", 1, "N,3,L,?"));
    put_part(&graph, IN_OUTPUT, part_info("y", 1, "N,3,L,?"));
    put_part(&graph, IN_NODE, part_node("Relu", "", "x", "y"));
    assert_ok(load_with(part_model(8, 13, graph), &opt, &g));
    tg_shape want = tg_shape_of(7, 3, 4, 4);
    assert_true(tg_shape_equal(&maker(g, 0)->out[0].shape, &want));
    assert_int_equal(g->origin->n_dim_names, 4);
    assert_false(g->origin->fixed_dims);
    assert_contains(tg_str_text(&words), "N=7, L=4, x axis 3=4");
    tg_graph_unref(g);
    fix.size = -1;
    graph = with_node("Relu", "x", "y");
    assert_status(load_with(part_model(8, 13, graph), &opt, &g), TG_USAGE);
}

static void reading_a_shape_fixes_dimensions(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = part_graph("g");
    put_part(&graph, IN_INPUT, part_info("x", 1, "N,3"));
    put_part(&graph, IN_OUTPUT, part_info("y", 7, "2"));
    put_part(&graph, IN_NODE, part_node("Shape", "", "x", "y"));
    assert_ok(load(part_model(8, 13, graph), &g));
    assert_true(g->origin->fixed_dims);
    tg_graph_unref(g);
}

static void carries_unknown_operators(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = body(), node = part_node("Magic", "m", "x,,w", "y");
    put_text(&node, 7, "com.acme");
    node_int(&node, "level", 11);
    put_part(&graph, IN_NODE, node);
    put_w(&graph, "3", 12);
    tg_str model = part_model(8, 13, graph);
    put_opset(&model, "com.acme", 1);
    assert_ok(load(model, &g));
    const tg_node *magic = maker(g, 0);
    assert_int_equal(magic->op, TG_OP_OPAQUE);
    assert_string_equal(tg_node_attr(magic, "op_type")->s, "Magic");
    assert_string_equal(tg_node_attr(magic, "domain")->s, "com.acme");
    assert_int_equal(magic->n_in, 3);
    assert_true(magic->in[1] == TG_NO_VALUE);
    tg_shape want = tg_shape_of(2, 3);
    assert_true(tg_shape_equal(&magic->out[0].shape, &want));
    assert_contains(tg_str_text(&words), "1 com.acme.Magic");
    tg_graph_unref(g);
}

/* A branch without inputs whose one node makes `out` from `in`. */
static tg_str branch(const char *in, const char *out)
{
    tg_str g = part_graph("branch");
    put_part(&g, IN_NODE, part_node("Neg", "", in, out));
    put_part(&g, IN_OUTPUT, part_info(out, 1, "2,3"));
    return g;
}

static tg_str conditional(const char *in, const char *out)
{
    static const unsigned char yes = 1;
    tg_str g = body(), node = part_node("If", "i", "c", "y");
    node_graph(&node, "then_branch", branch(in, out));
    node_graph(&node, "else_branch", branch("x", "e"));
    put_part(&g, IN_TENSOR, part_tensor("c", 9, "", &yes, 1));
    put_part(&g, IN_NODE, part_node("Relu", "", "x", "r"));
    put_part(&g, IN_NODE, node);
    return part_model(8, 13, g);
}

static void subgraphs_capture(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(conditional("r", "t"), &g));
    const tg_node *node = maker(g, 0);
    assert_int_equal(node->op, TG_OP(If));
    assert_int_equal(tg_node_attr(node, "then_branch")->graph->n_inputs, 2);
    assert_int_equal(node->n_in, 3);
    assert_int_equal(tg_graph_maker(g, node->in[1])->op, TG_OP(Relu));
    assert_int_equal(tg_graph_maker(g, node->in[2])->op, TG_OP_INPUT);
    tg_graph_unref(g);
    refuses(conditional("x", "r"), TG_INVALID, "the name r");
    refuses(conditional("nobody", "t"), TG_INVALID, "nobody");
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    for (int depth = 100; depth <= 1000; depth += 900) {
        tg_graph *g;
        tg_str inner = branch("x", "t0");
        for (int i = 1; i < depth; i++) {
            char out[16];
            snprintf(out, sizeof out, "t%d", i);
            tg_str node = part_node("If", "", "c", out);
            node_graph(&node, "then_branch", inner);
            inner = part_graph("b");
            put_part(&inner, IN_NODE, node);
            put_part(&inner, IN_OUTPUT, part_info(out, 1, "2,3"));
        }
        tg_str graph = body(), node = part_node("If", "i", "c", "y");
        node_graph(&node, "then_branch", inner);
        put_part(&graph, IN_TENSOR, part_tensor("c", 9, "", "\1", 1));
        put_part(&graph, IN_NODE, node);
        if (depth > 100) {
            refuses(part_model(8, 13, graph), TG_LIMIT, "nested");
            continue;
        }
        assert_ok(load(part_model(8, 13, graph), &g));
        tg_graph_unref(g);
    }
}

static void constants_have_many_forms(void **state)
{
    static const float floats[] = {1.5f, 2.5f};
    static const int64_t ints[] = {3, 4, 5};
    (void)state;
    tg_graph *g;
    tg_str graph = part_graph("g");
    tg_str a = part_node("Constant", "", "-", "a"), b = part_node("Constant", "", "-", "b"),
           c = part_node("Constant", "", "-", "c"), d = part_node("Constant", "", "-", "d");
    node_tensor(&a, "value", part_tensor("", 1, "2", floats, sizeof floats));
    node_floats(&b, "value_floats", floats, 2);
    node_ints(&c, "value_ints", ints, 3);
    node_int(&d, "value_int", 9);
    tg_str nodes[] = {a, b, c, d};
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        put_part(&graph, IN_NODE, nodes[i]);
        put_part(&graph, IN_OUTPUT, part_info(names[i], i < 2 ? 1 : 7, NULL));
    }
    assert_ok(load(part_model(8, 13, graph), &g));
    tg_tensor t[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(maker(g, i)->op, TG_OP_CONST);
        t[i] = tg_node_tensor(maker(g, i));
    }
    assert_true(tg_tensor_f64(&t[0], 1) == 2.5 && tg_tensor_f64(&t[1], 0) == 1.5);
    assert_int_equal(tg_tensor_count(&t[2]), 3);
    assert_int_equal(tg_tensor_i64(&t[2], 2), 5);
    assert_int_equal(t[3].shape.rank, 0);
    assert_int_equal(tg_tensor_i64(&t[3], 0), 9);
    tg_graph_unref(g);
}

static void elements_may_be_lists(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = body(), t = {0};
    put_int(&t, 1, 3);
    put_int(&t, 2, 10); /* float16 in int32_data: 1, 2, -2 */
    put_int(&t, 5, 0x3c00), put_int(&t, 5, 0x4000), put_int(&t, 5, 0xc000);
    put_text(&t, 8, "h");
    put_part(&graph, IN_TENSOR, t);
    put_part(&graph, IN_OUTPUT, part_info("h", 10, "3"));
    put_part(&graph, IN_NODE, part_node("Relu", "", "x", "y"));
    assert_ok(load(part_model(8, 13, graph), &g));
    tg_tensor h = tg_node_tensor(maker(g, 1));
    assert_int_equal(h.dtype, TG_F16);
    assert_true(tg_tensor_f64(&h, 0) == 1 && tg_tensor_f64(&h, 2) == -2);
    tg_graph_unref(g);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    tg_str graph = {0};
    for (int i = 0; i < 4000000; i++) tg_str_addn(&graph, "\x0a\0", 2); /* an empty node */
    tg_graph *g;
    assert_status(load(part_model(8, 13, graph), &g), TG_LIMIT);
    assert_contains(tg_message(), "memory");
}

static void names_what_is_no_model(void **state)
{
    static const struct {
        const char *bytes, *needle;
    } cases[] = {{"", "empty"},
                 {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS"},
                 {"  <!DOCTYPE html><html></html>", "HTML"},
                 {"once upon a time there was a model", "text"},
                 {"\x0f", "wire type 7 at byte 0"},
                 {"\x3a\xff\xff\xff\xff\x7f", "34359738367"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_str s = {0};
        tg_str_add(&s, cases[i].bytes);
        refuses(s, TG_FORMAT, cases[i].needle);
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

static const struct CMUnitTest tests[] = {CASE(reads_a_model),
                                          CASE(initialiser_that_is_an_input_is_constant),
                                          CASE(sorts_nodes),
                                          CASE(refuses_bad_graphs),
                                          CASE(refuses_versions),
                                          CASE(refuses_tensors),
                                          CASE(symbolic_dimensions_get_sizes),
                                          CASE(reading_a_shape_fixes_dimensions),
                                          CASE(carries_unknown_operators),
                                          CASE(subgraphs_capture),
                                          CASE(deep_nesting_is_refused),
                                          CASE(constants_have_many_forms),
                                          CASE(elements_may_be_lists),
                                          CASE(memory_is_bounded),
                                          CASE(names_what_is_no_model)};

UNIT_MAIN(tests)
