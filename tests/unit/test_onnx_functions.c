/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model-local functions: their calls become their nodes. */
#include "tests/unit/onnx_bytes.h"

#include "engine/exec/reference.h"
#include "engine/ops/ops.h"

#include <math.h>

/* Parts of a function, by their field numbers. */
enum { FN_INPUT = 4, FN_OUTPUT, FN_ATTR, FN_NODE, FN_OPSET = 9, FN_DEFAULT = 11, FN_OVERLOAD = 13 };
enum { IN_FUNCTION = 25 };
enum { FLOAT = 1, OPSET = 17 };
enum { BY_FLOAT = 1, BY_INT, BY_INTS = 7 };

static tg_str part_function(const char *name, const char *in, const char *out, int64_t opset)
{
    tg_str s = {0}, set = {0}, own = {0};
    put_text(&s, 1, name);
    put_list(&s, FN_INPUT, in);
    put_list(&s, FN_OUTPUT, out);
    put_text(&set, 1, "");
    put_int(&set, 2, opset);
    put_part(&s, FN_OPSET, set);
    put_text(&own, 1, "own");
    put_int(&own, 2, 1);
    put_part(&s, FN_OPSET, own);
    put_text(&s, 10, "own");
    return s;
}

static tg_str part_call(const char *function, const char *name, const char *in, const char *out)
{
    tg_str s = part_node(function, name, in, out);
    put_text(&s, 7, "own");
    return s;
}

/* The attribute `name` of the node is the attribute `of` of the call. */
static void node_refers(tg_str *node, const char *name, const char *of, int type)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, type);
    put_text(&a, 21, of);
    put_part(node, 5, a);
}

/* A graph from x to y, both float [2,2]. */
static tg_str graph_start(void)
{
    tg_str g = part_graph("g");
    put_part(&g, IN_INPUT, part_info("x", FLOAT, "2,2"));
    put_part(&g, IN_OUTPUT, part_info("y", FLOAT, "2,2"));
    return g;
}

static tg_str model_of(tg_str graph)
{
    tg_str m = part_model(9, OPSET, graph);
    put_opset(&m, "own", 1);
    return m;
}

/* Loads, saves, loads what was saved, and runs that on x; `lost` must not be in the saved bytes. */
static tg_graph *inlined(tg_str model, const char *lost, const float *x, float *y)
{
    tg_graph *g, *again;
    void *bytes;
    size_t n;
    assert_ok(load(model, &g));
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    if (lost && memmem(bytes, n, lost, strlen(lost))) fail_msg("the saved file has %s", lost);
    assert_ok(tg_onnx_load_memory(bytes, n, "saved.onnx", NULL, &again));
    free(bytes);
    tg_tensor in = {TG_F32, tg_shape_of(2, 2), (void *)(uintptr_t)x}, out;
    assert_ok(tg_reference_run(again, &in, &out));
    memcpy(y, out.data, 4 * sizeof *y);
    tg_tensor_free(&out);
    tg_graph_unref(again);
    return g;
}

static const float some[] = {-2, -1, 1, 3};

static void a_call_becomes_the_nodes(void **state)
{
    (void)state;
    float y[4];
    tg_str g = graph_start(), f = part_function("Twice", "p", "r", OPSET);
    put_part(&f, FN_NODE, part_node("Add", "sum", "p,p", "t"));
    put_part(&f, FN_NODE, part_node("Relu", "", "t", "r"));
    put_part(&g, IN_NODE, part_call("Twice", "one", "x", "between"));
    put_part(&g, IN_NODE, part_call("Twice", "two", "between", "y"));
    tg_str m = model_of(g);
    put_part(&m, IN_FUNCTION, f);
    tg_graph *made = inlined(m, "Twice", some, y);
    const tg_node *relu = maker(made, 0), *add = tg_graph_maker(made, relu->in[0]);
    assert_int_equal(relu->op, TG_OP(Relu));
    assert_int_equal(add->op, TG_OP(Add));
    assert_string_equal(relu->out_name[0], "y");
    assert_string_equal(add->out_name[0], "two/t");
    assert_string_equal(add->name, "two/sum");
    assert_string_equal(tg_graph_maker(made, add->in[0])->out_name[0], "between");
    assert_true(y[0] == 0 && y[1] == 0 && y[2] == 4 && y[3] == 12);
    tg_graph_unref(made);
}

/* Given by the call, left to the default, and left out where there is none. */
static void attributes_come_from_the_call(void **state)
{
    (void)state;
    float y[4];
    tg_str g = graph_start(), f = part_function("Leak", "p", "r", OPSET), a = {0};
    tg_str leaky = part_node("LeakyRelu", "", "p", "t"), elu = part_node("Elu", "", "t", "r");
    node_refers(&leaky, "alpha", "slope", BY_FLOAT);
    node_refers(&elu, "alpha", "other", BY_FLOAT);
    put_part(&f, FN_NODE, leaky);
    put_part(&f, FN_NODE, elu);
    put_text(&f, FN_ATTR, "other");
    put_text(&a, 1, "slope");
    put_int(&a, 20, BY_FLOAT);
    put_varint(&a, 2 << 3 | 5);
    tg_str_addn(&a, (const char *)&(float){0.5f}, 4);
    put_part(&f, FN_DEFAULT, a);
    tg_str call = part_call("Leak", "c", "x", "k");
    node_float(&call, "slope", 0.25f);
    put_part(&g, IN_NODE, call);
    put_part(&g, IN_NODE, part_call("Leak", "d", "k", "y"));
    tg_str m = model_of(g);
    put_part(&m, IN_FUNCTION, f);
    tg_graph *made = inlined(m, "slope", some, y);
    const tg_node *last = maker(made, 0), *leak = tg_graph_maker(made, last->in[0]);
    const tg_node *first = tg_graph_maker(made, tg_graph_maker(made, leak->in[0])->in[0]);
    assert_true(tg_node_attr(last, "alpha")->f == 1);
    assert_true(tg_node_attr(leak, "alpha")->f == 0.5f);
    assert_true(tg_node_attr(first, "alpha")->f == 0.25f);
    assert_true(y[2] == 1 && y[3] == 3 && y[1] < -0.08 && y[1] > -0.12);
    tg_graph_unref(made);
}

/* An attribute passes through two calls; an input that the call leaves out is left out inside. */
static void calls_nest(void **state)
{
    (void)state;
    float y[4];
    tg_str g = graph_start(), outer = part_function("Outer", "p", "r", OPSET);
    tg_str inner = part_function("Inner", "p,least,most", "r", OPSET);
    tg_str call = part_call("Inner", "i", "p,low", "r"),
           low = part_node("Constant", "", "-", "low");
    node_refers(&low, "value_float", "bound", BY_FLOAT);
    put_part(&outer, FN_NODE, low);
    put_text(&outer, FN_ATTR, "bound");
    put_part(&outer, FN_NODE, call);
    put_part(&inner, FN_NODE, part_node("Clip", "clip", "p,least,most", "r"));
    tg_str node = part_call("Outer", "o", "x", "y");
    node_float(&node, "bound", -1.5f);
    put_part(&g, IN_NODE, node);
    tg_str m = model_of(g);
    put_part(&m, IN_FUNCTION, outer);
    put_part(&m, IN_FUNCTION, inner);
    tg_graph *made = inlined(m, "Outer", some, y);
    assert_int_equal(maker(made, 0)->op, TG_OP(Clip));
    assert_string_equal(maker(made, 0)->name, "o/i/clip");
    assert_true(y[0] == -1.5f && y[1] == -1 && y[3] == 3);
    tg_graph_unref(made);
}

/* Names made for a call do not meet those that the graph has; outputs may be inputs. */
static void names_stay_apart(void **state)
{
    (void)state;
    float y[4];
    tg_str g = graph_start(), f = part_function("Both", "p", "p,q", OPSET);
    put_part(&f, FN_NODE, part_node("Neg", "", "p", "t"));
    put_part(&f, FN_NODE, part_node("Exp", "", "t", "q"));
    put_part(&g, IN_NODE, part_node("Abs", "", "x", "c/t"));
    put_part(&g, IN_NODE, part_call("Both", "c", "c/t", "same,exp"));
    put_part(&g, IN_NODE, part_call("Both", "c", "exp", ",more"));
    put_part(&g, IN_NODE, part_node("Sum", "", "same,exp,more", "y"));
    tg_str m = model_of(g);
    put_part(&m, IN_FUNCTION, f);
    tg_graph *made = inlined(m, "Both", some, y);
    for (int i = 0; i < 4; i++) {
        float a = some[i] < 0 ? -some[i] : some[i], e = expf(-a);
        assert_float_equal(y[i], a + e + expf(-e), 1e-6f);
    }
    tg_graph_unref(made);
}

/* If(c): one branch calls the function, the other is the input. */
static tg_str branches(void)
{
    tg_str g = graph_start(), node = part_node("If", "if", "c", "y");
    tg_str then = part_graph("t"), other = part_graph("e");
    put_part(&then, IN_OUTPUT, part_info("o", FLOAT, "2,2"));
    put_part(&then, IN_NODE, part_call("Inside", "call", "x", "o"));
    put_part(&other, IN_OUTPUT, part_info("k", FLOAT, "2,2"));
    put_part(&other, IN_NODE, part_node("Identity", "", "x", "k"));
    node_graph(&node, "then_branch", then);
    node_graph(&node, "else_branch", other);
    put_part(&g, IN_INPUT, part_info("c", 9, ""));
    put_part(&g, IN_NODE, node);
    return g;
}

static void calls_in_subgraphs_are_inlined(void **state)
{
    (void)state;
    tg_graph *g;
    void *bytes;
    size_t n;
    tg_str m = model_of(branches()), f = part_function("Inside", "p", "r", OPSET);
    put_part(&f, FN_NODE, part_node("Neg", "", "p", "t"));
    put_part(&f, FN_NODE, part_node("Softsign", "", "t", "r"));
    put_part(&m, IN_FUNCTION, f);
    assert_ok(load(m, &g));
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    assert_null(memmem(bytes, n, "Inside", 6));
    assert_non_null(memmem(bytes, n, "Softsign", 8));
    assert_non_null(memmem(bytes, n, "call/t", 6));
    free(bytes);
    tg_graph_unref(g);
}

/* A body with a subgraph that reads the function's values, called twice. */
static void subgraphs_of_functions_are_renamed(void **state)
{
    (void)state;
    tg_graph *g;
    void *bytes;
    size_t n;
    tg_str graph = graph_start(), f = part_function("Choice", "p,c", "r", OPSET);
    tg_str node = part_node("If", "", "c", "r"), then = part_graph("t"), other = part_graph("e");
    put_part(&then, IN_OUTPUT, part_info("o", FLOAT, NULL));
    put_part(&then, IN_NODE, part_node("Neg", "", "m", "o"));
    put_part(&other, IN_OUTPUT, part_info("o", FLOAT, NULL));
    put_part(&other, IN_NODE, part_node("Sub", "", "m,p", "o"));
    node_graph(&node, "then_branch", then);
    node_graph(&node, "else_branch", other);
    put_part(&f, FN_NODE, part_node("Abs", "", "p", "m"));
    put_part(&f, FN_NODE, node);
    put_part(&graph, IN_INPUT, part_info("c", 9, ""));
    put_part(&graph, IN_NODE, part_call("Choice", "a", "x,c", "k"));
    put_part(&graph, IN_NODE, part_call("Choice", "b", "k,c", "y"));
    tg_str m = model_of(graph);
    put_part(&m, IN_FUNCTION, f);
    assert_ok(load(m, &g));
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    assert_non_null(memmem(bytes, n, "a/m", 3));
    assert_non_null(memmem(bytes, n, "b/m", 3));
    tg_graph *again;
    assert_ok(tg_onnx_load_memory(bytes, n, "saved.onnx", NULL, &again));
    free(bytes);
    tg_graph_unref(again);
    tg_graph_unref(g);
}

/* A mean whose axes are an attribute, as up to opset 17, in a model of opset 18, where they are
 * not. */
static void a_function_of_an_older_opset_is_brought_to_the_models(void **state)
{
    (void)state;
    float y[4];
    tg_str g = graph_start(), f = part_function("Mean1", "p", "r", 17);
    tg_str mean = part_node("ReduceMean", "", "p", "t");
    node_ints(&mean, "axes", (const int64_t[]){1}, 1);
    put_part(&f, FN_NODE, mean);
    put_part(&f, FN_NODE, part_node("Sub", "", "p,t", "r"));
    put_part(&g, IN_NODE, part_call("Mean1", "", "x", "y"));
    tg_str m = part_model(9, 18, g);
    put_opset(&m, "own", 1);
    put_part(&m, IN_FUNCTION, f);
    tg_graph *made = inlined(m, "Mean1\n", some, y);
    assert_int_equal(tg_graph_maker(made, maker(made, 0)->in[1])->op, TG_OP(ReduceMean));
    assert_true(y[0] == -0.5f && y[1] == 0.5f && y[2] == -1 && y[3] == 1);
    tg_graph_unref(made);
}

/* The opset of this function has an operator that the model's lacks and the table too. */
static void a_function_that_cannot_be_brought_there_is_kept(void **state)
{
    (void)state;
    tg_graph *g;
    void *bytes;
    size_t n;
    tg_str graph = graph_start(), f = part_function("Newer", "p", "r", 99);
    put_part(&f, FN_NODE, part_node("OperatorToCome", "", "p", "r"));
    put_part(&graph, IN_NODE, part_call("Newer", "c", "x", "y"));
    tg_str m = model_of(graph);
    put_part(&m, IN_FUNCTION, f);
    assert_ok(load(m, &g));
    assert_int_equal(maker(g, 0)->op, TG_OP_OPAQUE);
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    assert_non_null(memmem(bytes, n, "OperatorToCome", 14));
    free(bytes);
    tg_graph_unref(g);
}

/* It would be inlined in an opset that a saved model may have. */
static void a_kept_function_gives_its_outputs(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str graph = graph_start(), f = part_function("Newer", "p", "r", 99);
    put_part(&f, FN_NODE, part_node("OperatorToCome", "", "p", "another"));
    put_part(&graph, IN_NODE, part_call("Newer", "c", "x", "y"));
    tg_str m = model_of(graph);
    put_part(&m, IN_FUNCTION, f);
    assert_status(load(m, &g), TG_INVALID);
    assert_contains(tg_message(), "nothing produces the output r of the function Newer");
}

static tg_status load_calling(tg_str f, const char *in, const char *out, tg_graph **g)
{
    tg_str graph = graph_start();
    put_part(&graph, IN_NODE, part_call("F", "call", in, out));
    tg_str m = model_of(graph);
    put_part(&m, IN_FUNCTION, f);
    return load(m, g);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    tg_graph *g;
    tg_str self = part_function("F", "p", "r", OPSET), f = part_function("F", "p", "r", OPSET);
    put_part(&self, FN_NODE, part_call("F", "", "p", "r"));
    assert_status(load_calling(self, "x", "y", &g), TG_INVALID);
    assert_contains(tg_message(), "the function F calls itself");
    put_part(&f, FN_NODE, part_node("Neg", "", "p", "r"));
    tg_str again = {0}, third = {0};
    tg_str_addn(&again, f.p, f.n);
    tg_str_addn(&third, f.p, f.n);
    assert_status(load_calling(f, "x,x", "y", &g), TG_INVALID);
    assert_contains(tg_message(), "takes 1 inputs, not 2");
    assert_status(load_calling(again, "x", "y,z", &g), TG_INVALID);
    assert_contains(tg_message(), "has 1 outputs, not 2");
    tg_str graph = graph_start();
    put_part(&graph, IN_NODE, part_call("F", "call", "x", "y"));
    tg_str m = model_of(graph);
    put_bytes(&m, IN_FUNCTION, third.p, third.n);
    put_part(&m, IN_FUNCTION, third);
    assert_status(load(m, &g), TG_INVALID);
    assert_contains(tg_message(), "the function F is there twice");
}

/* A model of functions F0, F1, ..., each of which calls the next `times`. */
static tg_str chain(int length, int times)
{
    char name[16], next[16];
    tg_str graph = graph_start();
    put_part(&graph, IN_NODE, part_call("F0", "call", "x", "y"));
    tg_str m = model_of(graph);
    for (int i = 0; i < length; i++) {
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        tg_str f = part_function(name, "p", "r", OPSET);
        for (int k = 0; k + 1 < times; k++) put_part(&f, FN_NODE, part_call(next, "", "p", ""));
        put_part(&f, FN_NODE,
                 i + 1 < length ? part_call(next, "", "p", "r") : part_node("Neg", "", "p", "r"));
        put_part(&m, IN_FUNCTION, f);
    }
    return m;
}

static void what_they_make_is_bounded(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(chain(150, 1), &g));
    assert_int_equal(maker(g, 0)->op, TG_OP(Neg));
    tg_graph_unref(g);
    assert_status(load(chain(300, 1), &g), TG_LIMIT);
    assert_contains(tg_message(), "more than 200 deep");
    assert_status(load(chain(40, 3), &g), TG_LIMIT);
    assert_contains(tg_message(), "MB of memory");
}

/* Two functions of one name that differ in the overload alone. */
static void overloads_are_told_apart(void **state)
{
    (void)state;
    float y[4];
    tg_str g = graph_start(), f = part_function("Some", "p", "r", OPSET);
    tg_str other = part_function("Some", "p", "r", OPSET), call = part_call("Some", "c", "x", "y");
    put_part(&f, FN_NODE, part_node("Neg", "", "p", "r"));
    put_text(&f, FN_OVERLOAD, "float");
    put_part(&other, FN_NODE, part_node("Abs", "", "p", "r"));
    put_text(&other, FN_OVERLOAD, "other");
    put_text(&call, 8, "other");
    put_part(&g, IN_NODE, call);
    tg_str m = part_model(10, OPSET, g);
    put_opset(&m, "own", 1);
    put_part(&m, IN_FUNCTION, f);
    put_part(&m, IN_FUNCTION, other);
    tg_graph *made = inlined(m, "Some", some, y);
    assert_int_equal(maker(made, 0)->op, TG_OP(Abs));
    tg_graph_unref(made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_call_becomes_the_nodes),
    cmocka_unit_test(attributes_come_from_the_call),
    cmocka_unit_test(calls_nest),
    cmocka_unit_test(names_stay_apart),
    cmocka_unit_test(calls_in_subgraphs_are_inlined),
    cmocka_unit_test(subgraphs_of_functions_are_renamed),
    cmocka_unit_test(a_function_of_an_older_opset_is_brought_to_the_models),
    cmocka_unit_test(a_function_that_cannot_be_brought_there_is_kept),
    cmocka_unit_test(a_kept_function_gives_its_outputs),
    cmocka_unit_test(wrong_calls_are_refused),
    cmocka_unit_test(what_they_make_is_bounded),
    cmocka_unit_test(overloads_are_told_apart)};
UNIT_MAIN(tests)
