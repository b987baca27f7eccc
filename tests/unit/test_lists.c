/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sequences and optionals: their operators, files of them, models that have them as inputs. */
#include "tests/unit/again.h"
#include "tests/unit/op_run.h"

#include "engine/base/vec.h"
#include "engine/exec/backend.h"
#include "engine/exec/reference.h"
#include "engine/exec/verify.h"
#include "engine/ir/list.h"
#include "tests/unit/onnx_bytes.h"

/* Values of a test are freed together. */
static TG_VEC(tg_tensor) made;

static tg_tensor keep(tg_tensor t)
{
    tg_vec_push(&made, t);
    return t;
}

static int free_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < made.n; i++) tg_tensor_free(&made.v[i]);
    tg_vec_free(&made);
    return 0;
}

static tg_tensor numbers(tg_dtype dtype, tg_shape shape, const double *v, size_t n)
{
    op_input in = {dtype, shape, v, n, false, NULL};
    return keep(op_tensor(&in));
}

/* A list of copies. */
static tg_tensor list_of(tg_dtype dtype, const tg_tensor *items, size_t n)
{
    tg_list *list = tg_list_new((int64_t)n);
    for (size_t i = 0; i < n; i++) tg_list_set(list, (int64_t)i, &items[i]);
    return keep(tg_list_value(dtype, list));
}

#define TENSORS(...)                                                                               \
    (const tg_tensor[]){__VA_ARGS__}, sizeof((const tg_tensor[]){__VA_ARGS__}) / sizeof(tg_tensor)
#define FLOATS(shape, ...) numbers(TG_F32, shape, VALUES(__VA_ARGS__))
#define LONGS(shape, ...) numbers(TG_I64, shape, VALUES(__VA_ARGS__))
#define LONG(x) LONGS(SCALAR, x)
#define SEQ_OF(type, ...) list_of(tg_dtype_seq(type), TENSORS(__VA_ARGS__))
#define EMPTY_SEQ(type) list_of(tg_dtype_seq(type), NULL, 0)
#define OPT_OF(type, x) list_of(tg_dtype_opt(type), TENSORS(x))
#define EMPTY_OPT(type) list_of(tg_dtype_opt(type), NULL, 0)

/* A model of one node with these inputs; on failure none. */
static tg_status model_of(const char *op, const tg_tensor *in, size_t n, const tg_named_attr *attrs,
                          size_t n_attrs, tg_graph **g)
{
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_value v[8];
    char name[8];
    uint32_t id;
    for (size_t i = 0; i < n; i++) {
        tg_type type = {in[i].dtype, in[i].shape};
        snprintf(name, sizeof name, "x%zu", i);
        v[i] = tg_build_input(b, name, &type);
    }
    tg_node_spec spec = {
        .op = tg_op_find("", op), .in = v, .n_in = (int)n, .attrs = attrs, .n_attrs = (int)n_attrs};
    assert_int_not_equal(spec.op, TG_OP_OPAQUE);
    tg_status status = tg_build_node(b, &spec, &id);
    tg_origin_unref(origin);
    if (status != TG_OK) {
        tg_builder_free(b);
        return status;
    }
    tg_value y = tg_value_of(id, 0);
    tg_build_outputs(b, &y, (const char *const[]){"y"}, 1);
    assert_ok(tg_build_done(b, g));
    assert_ok(tg_check(*g));
    return TG_OK;
}

static tg_status run_by(const char *backend, const tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    tg_plan *plan;
    TG_TRY(tg_plan_new(tg_backend_find(backend), g, NULL, &plan));
    tg_status status = tg_plan_run(plan, in, out);
    tg_plan_free(plan);
    return status;
}

/* The model through bytes and back computes what it computed; and so do the backends. */
static tg_status run_all_ways(tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    tg_tensor again;
    double most, relative;
    tg_status status = tg_reference_run(g, in, out);
    tg_graph *back = graph_again(g);
    /* What is constant is saved as the tensor that it comes to; bodies get the shapes known. */
    const tg_node *maker = tg_graph_maker(g, tg_graph_sink(g)->in[0]);
    if (!maker->constant && !maker->attrs->graphs) assert_true(back->hash == g->hash);
    assert_status(run_by("cpu", back, in, &again), status);
    if (status == TG_OK) {
        assert_ok(tg_tensor_compare(out, &again, 1, &most, &relative));
        tg_tensor_free(&again);
        assert_ok(run_by("model", g, in, &again));
        assert_true(tg_tensor_equal(out, &again));
        tg_tensor_free(&again);
    }
    tg_graph_unref(back);
    return status;
}

static void check(const char *op, const tg_tensor *in, size_t n, const tg_named_attr *attrs,
                  size_t n_attrs, tg_tensor want)
{
    tg_graph *g;
    tg_tensor out;
    double most, relative;
    assert_ok(model_of(op, in, n, attrs, n_attrs, &g));
    assert_ok(run_all_ways(g, in, &out));
    assert_ok(tg_tensor_compare(&want, &out, 1, &most, &relative));
    assert_true(tg_tensor_equal(&want, &out));
    tg_tensor_free(&out);
    tg_graph_unref(g);
}

/* Refused when it is built, or when it runs. */
static void refused(const char *op, const tg_tensor *in, size_t n, const tg_named_attr *attrs,
                    size_t n_attrs, tg_status want, const char *words)
{
    tg_graph *g;
    tg_tensor out;
    tg_status status = model_of(op, in, n, attrs, n_attrs, &g);
    if (status == TG_OK) {
        status = run_all_ways(g, in, &out);
        tg_graph_unref(g);
    }
    assert_status(status, want);
    assert_contains(tg_message(), words);
}

static void sequences_are_made(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), b = FLOATS(SCALAR, 3), i = LONG(1);
    (void)state;
    check("SequenceConstruct", TENSORS(a, b), NO_ATTRS, SEQ_OF(TG_F32, a, b));
    check("SequenceEmpty", NULL, 0, NO_ATTRS, EMPTY_SEQ(TG_F32));
    check("SequenceEmpty", NULL, 0, ATTRS(INT("dtype", TG_STR)), EMPTY_SEQ(TG_STR));
    check("Identity", TENSORS(SEQ_OF(TG_F32, a, b)), NO_ATTRS, SEQ_OF(TG_F32, a, b));
    refused("SequenceConstruct", TENSORS(a, i), NO_ATTRS, TG_TYPE, "float and int64");
    refused("SequenceEmpty", NULL, 0, ATTRS(INT("dtype", 99)), TG_UNSUPPORTED, "number 99");
}

static void sequences_are_taken_from(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), b = FLOATS(SCALAR, 3), c = FLOATS(SHAPE(1), 4);
    tg_tensor s = SEQ_OF(TG_F32, a, b, c), none = EMPTY_SEQ(TG_F32);
    (void)state;
    check("SequenceAt", TENSORS(s, LONG(1)), NO_ATTRS, b);
    check("SequenceAt", TENSORS(s, numbers(TG_I32, SCALAR, VALUES(-3))), NO_ATTRS, a);
    check("SequenceLength", TENSORS(s), NO_ATTRS, LONG(3));
    check("SequenceLength", TENSORS(none), NO_ATTRS, LONG(0));
    check("SequenceErase", TENSORS(s, LONG(0)), NO_ATTRS, SEQ_OF(TG_F32, b, c));
    check("SequenceErase", TENSORS(s, LONG(-2)), NO_ATTRS, SEQ_OF(TG_F32, a, c));
    check("SequenceErase", TENSORS(s), NO_ATTRS, SEQ_OF(TG_F32, a, b));
    refused("SequenceAt", TENSORS(s, LONG(3)), NO_ATTRS, TG_INVALID, "position 3");
    refused("SequenceAt", TENSORS(s, LONG(-4)), NO_ATTRS, TG_INVALID, "position -4");
    refused("SequenceAt", TENSORS(none, LONG(0)), NO_ATTRS, TG_INVALID, "sequence of 0");
    refused("SequenceAt", TENSORS(s, LONGS(SHAPE(2), 0, 1)), NO_ATTRS, TG_SHAPE, "one number");
    refused("SequenceAt", TENSORS(s, b), NO_ATTRS, TG_TYPE, "not an integer");
    refused("SequenceAt", TENSORS(a, LONG(0)), NO_ATTRS, TG_TYPE, "not a sequence");
    refused("SequenceErase", TENSORS(none), NO_ATTRS, TG_INVALID, "nothing to erase");
    refused("SequenceLength", TENSORS(OPT_OF(TG_F32, a)), NO_ATTRS, TG_TYPE, "optional(float)");
}

static void sequences_grow(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), b = FLOATS(SCALAR, 3), c = FLOATS(SHAPE(1), 4);
    tg_tensor s = SEQ_OF(TG_F32, a, b), none = EMPTY_SEQ(TG_F32);
    (void)state;
    check("SequenceInsert", TENSORS(s, c), NO_ATTRS, SEQ_OF(TG_F32, a, b, c));
    check("SequenceInsert", TENSORS(s, c, LONG(0)), NO_ATTRS, SEQ_OF(TG_F32, c, a, b));
    check("SequenceInsert", TENSORS(s, c, LONG(-1)), NO_ATTRS, SEQ_OF(TG_F32, a, c, b));
    check("SequenceInsert", TENSORS(s, c, LONG(2)), NO_ATTRS, SEQ_OF(TG_F32, a, b, c));
    check("SequenceInsert", TENSORS(none, c, LONG(0)), NO_ATTRS, SEQ_OF(TG_F32, c));
    refused("SequenceInsert", TENSORS(s, c, LONG(3)), NO_ATTRS, TG_INVALID, "position 3");
    refused("SequenceInsert", TENSORS(s, LONG(1)), NO_ATTRS, TG_TYPE, "int64 for a seq(float)");
    refused("SequenceInsert", TENSORS(s, s), NO_ATTRS, TG_TYPE, "not a tensor");
}

static void tensors_are_cut(void **state)
{
    tg_tensor x = FLOATS(SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    tg_tensor left = FLOATS(SHAPE(2, 2), 1, 2, 4, 5), right = FLOATS(SHAPE(2, 1), 3, 6);
    (void)state;
    check("SplitToSequence", TENSORS(x), NO_ATTRS,
          SEQ_OF(TG_F32, FLOATS(SHAPE(1, 3), 1, 2, 3), FLOATS(SHAPE(1, 3), 4, 5, 6)));
    check("SplitToSequence", TENSORS(x), ATTRS(INT("keepdims", 0)),
          SEQ_OF(TG_F32, FLOATS(SHAPE(3), 1, 2, 3), FLOATS(SHAPE(3), 4, 5, 6)));
    check("SplitToSequence", TENSORS(x, LONG(2)), ATTRS(INT("axis", -1), INT("keepdims", 0)),
          SEQ_OF(TG_F32, left, right));
    check("SplitToSequence", TENSORS(x, LONGS(SHAPE(2), 2, 1)), ATTRS(INT("axis", 1)),
          SEQ_OF(TG_F32, left, right));
    check("SplitToSequence", TENSORS(FLOATS(SHAPE(1, 1), 7), LONG(9)), NO_ATTRS,
          SEQ_OF(TG_F32, FLOATS(SHAPE(1, 1), 7)));
    refused("SplitToSequence", TENSORS(x, LONG(0)), NO_ATTRS, TG_INVALID, "pieces of 0");
    refused("SplitToSequence", TENSORS(x, LONGS(SHAPE(2), 2, 2)), ATTRS(INT("axis", 1)), TG_INVALID,
            "1 are left");
    refused("SplitToSequence", TENSORS(x, LONGS(SHAPE(1), 2)), ATTRS(INT("axis", 1)), TG_SHAPE,
            "sum to 2, not 3");
    refused("SplitToSequence", TENSORS(x), ATTRS(INT("axis", 2)), TG_INVALID, "axis 2");
    refused("SplitToSequence", TENSORS(x, x), NO_ATTRS, TG_TYPE, "not integers");
}

static void sequences_are_joined(void **state)
{
    tg_tensor a = FLOATS(SHAPE(1, 2), 1, 2), b = FLOATS(SHAPE(2, 2), 3, 4, 5, 6);
    tg_tensor s = SEQ_OF(TG_F32, a, b), same = SEQ_OF(TG_F32, a, a);
    (void)state;
    check("ConcatFromSequence", TENSORS(s), ATTRS(INT("axis", 0)),
          FLOATS(SHAPE(3, 2), 1, 2, 3, 4, 5, 6));
    check("ConcatFromSequence", TENSORS(same), ATTRS(INT("axis", 1)),
          FLOATS(SHAPE(1, 4), 1, 2, 1, 2));
    check("ConcatFromSequence", TENSORS(same), ATTRS(INT("axis", -1), INT("new_axis", 1)),
          FLOATS(SHAPE(1, 2, 2), 1, 1, 2, 2));
    refused("ConcatFromSequence", TENSORS(s), ATTRS(INT("axis", 1)), TG_SHAPE, "cannot be joined");
    refused("ConcatFromSequence", TENSORS(s), ATTRS(INT("axis", 0), INT("new_axis", 1)), TG_SHAPE,
            "1x2 and 2x2");
    refused("ConcatFromSequence", TENSORS(same), ATTRS(INT("axis", 2)), TG_INVALID, "axis 2");
    refused("ConcatFromSequence", TENSORS(EMPTY_SEQ(TG_F32)), ATTRS(INT("axis", 0)), TG_INVALID,
            "nothing to join");
}

#define TYPE(dtype)                                                                                \
    {                                                                                              \
        "type",                                                                                    \
        {                                                                                          \
            .kind = TG_ATTR_TYPE, .i = (int64_t)(dtype)                                            \
        }                                                                                          \
    }

static void optionals_hold_or_do_not(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), s = SEQ_OF(TG_F32, a, a);
    tg_tensor yes = numbers(TG_BOOL, SCALAR, VALUES(1)), no = numbers(TG_BOOL, SCALAR, VALUES(0));
    tg_dtype seq = tg_dtype_seq(TG_F32);
    (void)state;
    check("Optional", TENSORS(a), NO_ATTRS, OPT_OF(TG_F32, a));
    check("Optional", TENSORS(s), NO_ATTRS, OPT_OF(seq, s));
    check("Optional", NULL, 0, ATTRS(TYPE(TG_F32)), EMPTY_OPT(TG_F32));
    check("Optional", NULL, 0, ATTRS(TYPE(seq)), EMPTY_OPT(seq));
    check("OptionalHasElement", TENSORS(OPT_OF(TG_F32, a)), NO_ATTRS, yes);
    check("OptionalHasElement", TENSORS(EMPTY_OPT(seq)), NO_ATTRS, no);
    check("OptionalHasElement", TENSORS(a), NO_ATTRS, yes);
    check("OptionalHasElement", NULL, 0, NO_ATTRS, no);
    check("OptionalGetElement", TENSORS(OPT_OF(TG_F32, a)), NO_ATTRS, a);
    check("OptionalGetElement", TENSORS(OPT_OF(seq, s)), NO_ATTRS, s);
    check("OptionalGetElement", TENSORS(s), NO_ATTRS, s);
    check("OptionalGetElement", TENSORS(a), NO_ATTRS, a);
    check("Identity", TENSORS(OPT_OF(seq, s)), NO_ATTRS, OPT_OF(seq, s));
    refused("OptionalGetElement", TENSORS(EMPTY_OPT(TG_F32)), NO_ATTRS, TG_INVALID,
            "holds nothing");
    refused("Optional", NULL, 0, NO_ATTRS, TG_INVALID, "neither");
    refused("Optional", TENSORS(a), ATTRS(TYPE(TG_I64)), TG_TYPE, "float, not int64");
    refused("Optional", TENSORS(OPT_OF(TG_F32, a)), NO_ATTRS, TG_TYPE, "optional of optional");
}

static void strings_in_sequences(void **state)
{
    op_input in = TEXTS(SHAPE(2), "a", "b"), first = TEXTS(SHAPE(1), "a"),
             last = TEXTS(SHAPE(1), "b");
    tg_tensor x = keep(op_tensor(&in)), a = keep(op_tensor(&first)), b = keep(op_tensor(&last));
    (void)state;
    check("SplitToSequence", TENSORS(x), NO_ATTRS, SEQ_OF(TG_STR, a, b));
    check("ConcatFromSequence", TENSORS(SEQ_OF(TG_STR, a, b)), ATTRS(INT("axis", 0)), x);
}

static void other_operators_refuse_lists(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), s = SEQ_OF(TG_F32, a, a);
    (void)state;
    refused("Relu", TENSORS(s), NO_ATTRS, TG_TYPE, "Relu takes no seq(float)");
    refused("Add", TENSORS(a, OPT_OF(TG_F32, a)), NO_ATTRS, TG_TYPE, "optional(float) as input 1");
    refused("Shape", TENSORS(s), NO_ATTRS, TG_TYPE, "takes no seq(float)");
    refused("Cast", TENSORS(s), ATTRS(INT("to", TG_I64)), TG_TYPE, "takes no seq(float)");
}

/* ---- bodies ---- */

/* The graph of floats of any shape whose outputs are the sum of its inputs and its first input. */
static tg_graph *adding_body(int n_in)
{
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type any = {TG_F32, TG_SHAPE_UNKNOWN};
    tg_value v[4];
    uint32_t id;
    tg_graph *g;
    for (int i = 0; i < n_in; i++) v[i] = tg_build_input(b, i ? "z" : "x", &any);
    if (n_in == 1) v[1] = v[0];
    assert_ok(
        tg_build_node(b, &(tg_node_spec){.op = tg_op_find("", "Add"), .in = v, .n_in = 2}, &id));
    tg_build_outputs(b, (tg_value[]){tg_value_of(id, 0)}, (const char *const[]){"sum"}, 1);
    assert_ok(tg_build_done(b, &g));
    tg_origin_unref(origin);
    return g;
}

#define BODY(g)                                                                                    \
    {                                                                                              \
        "body", TG_ATTR_OF_GRAPH(g)                                                                \
    }

static void graphs_are_mapped_over_sequences(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), b = FLOATS(SCALAR, 3), s = SEQ_OF(TG_F32, a, b);
    tg_graph *one = adding_body(1), *two = adding_body(2);
    (void)state;
    check("SequenceMap", TENSORS(s), ATTRS(BODY(one)),
          SEQ_OF(TG_F32, FLOATS(SHAPE(2), 2, 4), FLOATS(SCALAR, 6)));
    check("SequenceMap", TENSORS(s, FLOATS(SHAPE(2), 10, 20)), ATTRS(BODY(two)),
          SEQ_OF(TG_F32, FLOATS(SHAPE(2), 11, 22), FLOATS(SHAPE(2), 13, 23)));
    check("SequenceMap", TENSORS(s, SEQ_OF(TG_F32, b, a)), ATTRS(BODY(two)),
          SEQ_OF(TG_F32, FLOATS(SHAPE(2), 4, 5), FLOATS(SHAPE(2), 4, 5)));
    check("SequenceMap", TENSORS(EMPTY_SEQ(TG_F32)), ATTRS(BODY(one)), EMPTY_SEQ(TG_F32));
    refused("SequenceMap", TENSORS(s, SEQ_OF(TG_F32, a)), ATTRS(BODY(two)), TG_INVALID,
            "sequences of 2 and 1 items");
    refused("SequenceMap", TENSORS(a), ATTRS(BODY(one)), TG_TYPE, "not a sequence");
    refused("SequenceMap", TENSORS(s), ATTRS(BODY(two)), TG_INVALID, "has 2 inputs, not 1");
    refused("SequenceMap", TENSORS(SEQ_OF(TG_I64, LONG(1))), ATTRS(BODY(one)), TG_TYPE,
            "float, not int64 as an item");
    refused("SequenceMap", TENSORS(SEQ_OF(TG_F32, FLOATS(SHAPE(3), 1, 2, 3)), a), ATTRS(BODY(two)),
            TG_SHAPE, "do not broadcast");
    tg_graph_unref(one);
    tg_graph_unref(two);
}

/* A body that takes the sequence out of an optional and makes it longer by [7]. */
static tg_graph *growing_body(void)
{
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type number = {TG_I64, {.rank = 0}}, truth = {TG_BOOL, {.rank = 0}};
    tg_type held = {tg_dtype_opt(tg_dtype_seq(TG_F32)), TG_SHAPE_UNKNOWN};
    tg_shape one = SHAPE(1);
    float seven = 7;
    uint32_t get, insert;
    tg_graph *g;
    tg_build_input(b, "i", &number);
    tg_value go_on = tg_build_input(b, "go_on", &truth), v[2];
    v[0] = tg_build_input(b, "held", &held);
    v[1] = tg_build_const(b, TG_F32, &one, tg_weight_copy(&seven, sizeof seven), "seven");
    assert_ok(tg_build_node(
        b, &(tg_node_spec){.op = tg_op_find("", "OptionalGetElement"), .in = v, .n_in = 1}, &get));
    v[0] = tg_value_of(get, 0);
    assert_ok(tg_build_node(
        b, &(tg_node_spec){.op = tg_op_find("", "SequenceInsert"), .in = v, .n_in = 2}, &insert));
    tg_build_outputs(b, (tg_value[]){go_on, tg_value_of(insert, 0)},
                     (const char *const[]){"again", "longer"}, 2);
    assert_ok(tg_build_done(b, &g));
    tg_origin_unref(origin);
    return g;
}

/* What a round makes is put into the optional that the next one takes. */
static void optionals_are_carried_by_loops(void **state)
{
    tg_dtype seq = tg_dtype_seq(TG_F32);
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), seven = FLOATS(SHAPE(1), 7), s = SEQ_OF(TG_F32, a);
    tg_tensor yes = numbers(TG_BOOL, SCALAR, VALUES(1));
    tg_graph *body = growing_body();
    (void)state;
    check("Loop", TENSORS(LONG(2), yes, OPT_OF(seq, s)), ATTRS(BODY(body)),
          SEQ_OF(TG_F32, a, seven, seven));
    check("Loop", TENSORS(LONG(0), yes, OPT_OF(seq, s)), ATTRS(BODY(body)), s);
    refused("Loop", TENSORS(LONG(0), yes, EMPTY_OPT(seq)), ATTRS(BODY(body)), TG_INVALID,
            "holds nothing");
    refused("Loop", TENSORS(LONG(1), yes, EMPTY_OPT(seq)), ATTRS(BODY(body)), TG_INVALID,
            "the optional holds nothing");
    refused("Loop", TENSORS(LONG(1), yes, a), ATTRS(BODY(body)), TG_TYPE, "not float");
    tg_graph_unref(body);
}

/* A value whose type is known only when it runs must not pass for what it is not. */
static void types_that_show_when_it_runs(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), s = SEQ_OF(TG_F32, a, a), out;
    const char *const of_sequences[] = {"SequenceLength", "SequenceErase", "SequenceInsert"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        tg_graph *g;
        tg_tensor unknown[] = {{TG_DTYPE_NONE, TG_SHAPE_UNKNOWN, NULL}, a};
        assert_ok(model_of(of_sequences[i], unknown, i == 2 ? 2 : 1, NO_ATTRS, &g));
        assert_status(tg_reference_run(g, (tg_tensor[]){a, a}, &out), TG_TYPE);
        assert_contains(tg_message(), "not a sequence");
        assert_ok(tg_reference_run(g, (tg_tensor[]){s, a}, &out));
        tg_tensor_free(&out);
        tg_graph_unref(g);
    }
    tg_graph *g;
    tg_tensor unknown = {TG_DTYPE_NONE, TG_SHAPE_UNKNOWN, NULL};
    assert_ok(model_of("Size", &unknown, 1, NO_ATTRS, &g));
    assert_status(tg_reference_run(g, &s, &out), TG_TYPE);
    tg_graph_unref(g);
}

static void lists_are_shared_and_compared(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), b = FLOATS(SHAPE(2), 1, 3), s = SEQ_OF(TG_F32, a, b);
    tg_tensor copy = tg_tensor_copy(&s), other = SEQ_OF(TG_F32, a, a), same = SEQ_OF(TG_F32, a, b);
    double most, relative;
    (void)state;
    assert_ptr_equal(copy.data, s.data);
    tg_tensor_free(&copy);
    assert_true(tg_tensor_equal(&s, &same) && !tg_tensor_equal(&s, &other));
    assert_true(tg_tensor_hash(1, &s) == tg_tensor_hash(1, &same));
    assert_true(tg_tensor_hash(1, &s) != tg_tensor_hash(1, &other));
    assert_status(tg_tensor_compare(&s, &other, 1, &most, &relative), TG_DIFFERS);
    assert_contains(tg_message(), "item 1: element 1");
    assert_true(most == 1);
    assert_status(tg_tensor_compare(&s, &(tg_tensor){s.dtype, s.shape, EMPTY_SEQ(TG_F32).data}, 1,
                                    &most, &relative),
                  TG_DIFFERS);
    assert_contains(tg_message(), "items are 0, not 2");
    assert_int_equal(tg_tensor_bytes(&s), 0);
}

/* ---- files ---- */

static void go_round(tg_tensor t)
{
    char path[4096], *name;
    tg_tensor back;
    snprintf(path, sizeof path, "%s", unit_temporary("value.pb"));
    assert_ok(tg_onnx_write_value(path, "a name", &t));
    assert_ok(tg_onnx_read_value(path, t.dtype, &back, &name));
    assert_string_equal(name, "a name");
    assert_true(tg_tensor_equal(&t, &back));
    free(name);
    tg_tensor_free(&back);
}

static void values_go_round(void **state)
{
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), b = numbers(TG_F32, SHAPE(0), NULL, 0), s;
    (void)state;
    s = SEQ_OF(TG_F32, a, b);
    go_round(a);
    go_round(s);
    go_round(EMPTY_SEQ(TG_I64));
    go_round(OPT_OF(TG_F32, a));
    go_round(EMPTY_OPT(TG_F32));
    go_round(OPT_OF(tg_dtype_seq(TG_F32), s));
    go_round(EMPTY_OPT(tg_dtype_seq(TG_F32)));
}

static void bad_file(tg_str bytes, tg_dtype dtype, tg_status status, const char *words)
{
    tg_tensor t;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("bad.pb"));
    assert_ok(tg_write_file(path, tg_str_text(&bytes), bytes.n));
    tg_str_free(&bytes);
    assert_status(tg_onnx_read_value(path, dtype, &t, NULL), status);
    assert_contains(tg_message(), words);
    assert_contains(tg_message(), "bad.pb");
}

static tg_str sequence_bytes(int kind, int items, int dtype)
{
    tg_str s = {0};
    put_int(&s, 2, kind);
    for (int i = 0; i < items; i++) put_part(&s, 3, part_tensor("", dtype, "1", (float[]){1}, 4));
    return s;
}

static void bad_values_are_refused(void **state)
{
    tg_dtype seq = tg_dtype_seq(TG_F32);
    tg_str cut = sequence_bytes(1, 2, TG_F32), nested = {0}, held = {0}, maps = {0};
    (void)state;
    cut.n -= 3;
    bad_file(cut, seq, TG_FORMAT, "ends early");
    bad_file(sequence_bytes(1, 2, TG_I32), seq, TG_TYPE, "item 0 is int32, not float");
    bad_file(sequence_bytes(4, 0, 1), seq, TG_UNSUPPORTED, "a sequence of kind 4");
    put_int(&nested, 2, 3);
    put_part(&nested, 5, sequence_bytes(1, 1, TG_F32));
    bad_file(nested, seq, TG_UNSUPPORTED, "a sequence of kind 3");
    put_int(&held, 2, 1);
    put_part(&held, 3, part_tensor("", TG_F32, "1", (float[]){1}, 4));
    bad_file(held, tg_dtype_opt(seq), TG_TYPE, "something else than seq(float)");
    put_int(&maps, 2, 4);
    bad_file(maps, tg_dtype_opt(TG_F32), TG_UNSUPPORTED, "an optional of kind 4");
    tg_str short_item = {0};
    put_int(&short_item, 2, 1);
    put_part(&short_item, 3, part_tensor("", TG_F32, "3", (float[]){1}, 4));
    bad_file(short_item, seq, TG_INVALID, "needs 12 bytes");
}

/* Every cut and many changed bytes of files of lists are read or refused. */
static void damaged_values_are_safe(void **state)
{
    char path[4096], *data;
    size_t n;
    tg_tensor a = FLOATS(SHAPE(2), 1, 2);
    tg_dtype dtype = tg_dtype_opt(tg_dtype_seq(TG_F32));
    (void)state;
    snprintf(path, sizeof path, "%s", unit_temporary("damaged.pb"));
    tg_tensor held = OPT_OF(tg_dtype_seq(TG_F32), SEQ_OF(TG_F32, a, a));
    assert_ok(tg_onnx_write_value(path, "x", &held));
    assert_ok(tg_read_file(path, 1 << 20, &data, &n));
    for (size_t i = 0; i < n * 9; i++) {
        char *copy = tg_memdup(data, n);
        tg_tensor t;
        size_t size = i < n ? i : n;
        if (i >= n) copy[i % n] = (char)(copy[i % n] ^ (1 << (i / n - 1)));
        assert_ok(tg_write_file(path, copy, size));
        free(copy);
        if (tg_onnx_read_value(path, dtype, &t, NULL) == TG_OK) tg_tensor_free(&t);
        else assert_true(tg_message()[0] != '\0');
    }
    free(data);
}

/* ---- models ---- */

/* The interface of a model keeps its types, whatever rewrites made of the middle. */
static void types_of_models_go_round(void **state)
{
    static const char *const names[] = {"seq(float)", "optional(seq(int64))", "optional(string)"};
    tg_dtype types[] = {tg_dtype_seq(TG_F32), tg_dtype_opt(tg_dtype_seq(TG_I64)),
                        tg_dtype_opt(TG_STR)};
    (void)state;
    for (int i = 0; i < 3; i++) {
        tg_graph *g;
        tg_tensor x = {types[i], TG_SHAPE_UNKNOWN, NULL};
        assert_string_equal(tg_dtype_name(types[i]), names[i]);
        assert_ok(model_of("Identity", &x, 1, NO_ATTRS, &g));
        tg_graph *back = graph_again(g);
        assert_int_equal(back->nodes[back->inputs[0]]->out[0].dtype, types[i]);
        assert_int_equal(tg_graph_type(back, tg_graph_sink(back)->in[0])->dtype, types[i]);
        tg_graph_unref(back);
        tg_graph_unref(g);
    }
}

/* Lists are drawn, so that rewrites of such models can be checked. */
static void models_of_lists_are_verified(void **state)
{
    tg_dtype types[] = {tg_dtype_seq(TG_F32), tg_dtype_opt(tg_dtype_seq(TG_STR)),
                        tg_dtype_opt(TG_I64)};
    (void)state;
    for (int i = 0; i < 3; i++) {
        tg_graph *g;
        tg_verify_report report;
        tg_tensor x = {types[i], TG_SHAPE_UNKNOWN, NULL};
        assert_ok(model_of("Identity", &x, 1, NO_ATTRS, &g));
        assert_ok(tg_verify(g, g, 1, NULL, &report));
        assert_int_equal(report.compared, 1);
        tg_graph_unref(g);
    }
    tg_graph *all, *shorter;
    tg_tensor x = {types[0], TG_SHAPE_UNKNOWN, NULL};
    assert_ok(model_of("Identity", &x, 1, NO_ATTRS, &all));
    assert_ok(model_of("SequenceErase", &x, 1, NO_ATTRS, &shorter));
    assert_status(tg_verify(all, shorter, 1, NULL, NULL), TG_DIFFERS);
    assert_contains(tg_message(), "items are 2, not 3");
    tg_graph_unref(all);
    tg_graph_unref(shorter);
}

static void inputs_of_another_type_are_refused(void **state)
{
    tg_graph *g;
    tg_tensor a = FLOATS(SHAPE(2), 1, 2), s = SEQ_OF(TG_F32, a), out;
    (void)state;
    assert_ok(model_of("Identity", &s, 1, NO_ATTRS, &g));
    assert_status(tg_reference_run(g, &a, &out), TG_TYPE);
    assert_contains(tg_message(), "is float, not seq(float)");
    assert_status(run_by("cpu", g, &a, &out), TG_TYPE);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_teardown(sequences_are_made, free_made),
    cmocka_unit_test_teardown(sequences_are_taken_from, free_made),
    cmocka_unit_test_teardown(sequences_grow, free_made),
    cmocka_unit_test_teardown(tensors_are_cut, free_made),
    cmocka_unit_test_teardown(sequences_are_joined, free_made),
    cmocka_unit_test_teardown(optionals_hold_or_do_not, free_made),
    cmocka_unit_test_teardown(strings_in_sequences, free_made),
    cmocka_unit_test_teardown(other_operators_refuse_lists, free_made),
    cmocka_unit_test_teardown(graphs_are_mapped_over_sequences, free_made),
    cmocka_unit_test_teardown(optionals_are_carried_by_loops, free_made),
    cmocka_unit_test_teardown(types_that_show_when_it_runs, free_made),
    cmocka_unit_test_teardown(lists_are_shared_and_compared, free_made),
    cmocka_unit_test_teardown(values_go_round, free_made),
    cmocka_unit_test_teardown(bad_values_are_refused, free_made),
    cmocka_unit_test_teardown(damaged_values_are_safe, free_made),
    cmocka_unit_test_teardown(types_of_models_go_round, free_made),
    cmocka_unit_test_teardown(models_of_lists_are_verified, free_made),
    cmocka_unit_test_teardown(inputs_of_another_type_are_refused, free_made),
};
UNIT_MAIN(tests)
