/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running one operator on literal tensors:
 *
 *     op_result r;
 *     op_run(&r, "Relu", INS(F(SHAPE(2), -1, 3)), NO_ATTRS, 1);
 *     op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(0, 3));
 *     op_done(&r);
 *
 * The node is built, checked, and run by its reference kernel.
 */
#ifndef TESTS_UNIT_OP_RUN_H
#define TESTS_UNIT_OP_RUN_H

#include "tests/unit/unit.h"

#include "engine/ir/build.h"
#include "engine/ir/eval.h"

#include <math.h>

typedef struct op_input {
    tg_dtype dtype; /* TG_DTYPE_NONE: absent */
    tg_shape shape;
    const double *v; /* NULL for strings */
    size_t n;
    bool constant;
    const char *const *words;
} op_input;

#define SCALAR ((tg_shape){.rank = 0})
#define SHAPE(...) tg_shape_of(__VA_ARGS__)
#define VALUES(...)                                                                                \
    (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)
#define INPUT(type, shape, ...) ((op_input){type, shape, VALUES(__VA_ARGS__), false, NULL})
#define FIXED(type, shape, ...) ((op_input){type, shape, VALUES(__VA_ARGS__), true, NULL})
#define WORDS(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
#define TEXTS_OF(shape, list, n, fixed) ((op_input){TG_STR, shape, NULL, n, fixed, list})
#define TEXTS(shape, ...)                                                                          \
    TEXTS_OF(shape, ((const char *const[]){__VA_ARGS__}),                                          \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), false)
#define FIXED_TEXTS(shape, ...)                                                                    \
    TEXTS_OF(shape, ((const char *const[]){__VA_ARGS__}),                                          \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), true)
#define F(shape, ...) INPUT(TG_F32, shape, __VA_ARGS__)
#define EMPTY_CONST(type) ((op_input){type, SHAPE(0), NULL, 0, true, NULL})
#define ABSENT ((op_input){.dtype = TG_DTYPE_NONE})
#define INS(...)                                                                                   \
    (const op_input[]){__VA_ARGS__}, sizeof((const op_input[]){__VA_ARGS__}) / sizeof(op_input)

#define NO_ATTRS NULL, 0
#define ATTRS(...)                                                                                 \
    (const tg_named_attr[]){__VA_ARGS__},                                                          \
        sizeof((const tg_named_attr[]){__VA_ARGS__}) / sizeof(tg_named_attr)
#define INT(name, x)                                                                               \
    {                                                                                              \
        name, TG_ATTR_OF_INT(x)                                                                    \
    }
#define REAL(name, x)                                                                              \
    {                                                                                              \
        name, TG_ATTR_OF_FLOAT(x)                                                                  \
    }
#define TEXT(name, x)                                                                              \
    {                                                                                              \
        name, tg_attr_str(x)                                                                       \
    }
#define INTS(name, ...)                                                                            \
    {                                                                                              \
        name, TG_ATTR_OF_INTS(((const int64_t[]){__VA_ARGS__}),                                    \
                              sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))            \
    }

enum { OP_RUN_MAX = 16 };

typedef struct op_result {
    tg_graph *graph;
    const tg_node *node;
    int n_in, n_out;
    tg_tensor in[OP_RUN_MAX], out[OP_RUN_MAX];
} op_result;

UNIT_MAYBE tg_tensor op_tensor(const op_input *in)
{
    tg_tensor t = {in->dtype, in->shape, NULL};
    if (!in->dtype) return t;
    t.data = tg_calloc(1, tg_tensor_bytes(&t) + 1);
    assert_int_equal(tg_tensor_count(&t), in->n);
    for (size_t i = 0; i < in->n; i++) {
        if (in->words) ((tg_string *)t.data)[i] = tg_string_of(in->words[i], strlen(in->words[i]));
        else tg_tensor_set_f64(&t, (int64_t)i, in->v[i]);
    }
    return t;
}

UNIT_MAYBE tg_value op_add_input(tg_builder *b, const op_input *in, const tg_tensor *t)
{
    tg_type type = {t->dtype, t->shape};
    if (!in->dtype) return TG_NO_VALUE;
    if (!in->constant) return tg_build_input(b, "x", &type);
    return tg_build_const(b, t->dtype, &t->shape, tg_tensor_weight(t), "");
}

UNIT_MAYBE void op_done(op_result *r)
{
    for (int i = 0; i < r->n_in; i++) free(r->in[i].data);
    for (int i = 0; i < r->n_out; i++) tg_tensor_free(&r->out[i]);
    tg_graph_unref(r->graph);
    *r = (op_result){0};
}

/* Builds the node into r; on failure r holds nothing. */
UNIT_MAYBE tg_status op_build(op_result *r, const char *op, const op_input *in, size_t n_in,
                              const tg_named_attr *attrs, size_t n_attrs, int n_out)
{
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_value v[OP_RUN_MAX], outs[OP_RUN_MAX];
    const char *names[OP_RUN_MAX];
    uint32_t id;
    *r = (op_result){.n_in = (int)n_in};
    for (size_t i = 0; i < n_in; i++) {
        r->in[i] = op_tensor(&in[i]);
        v[i] = op_add_input(b, &in[i], &r->in[i]);
    }
    tg_node_spec spec = {.op = tg_op_find("", op),
                         .in = v,
                         .n_in = (int)n_in,
                         .n_out = n_out,
                         .attrs = attrs,
                         .n_attrs = (int)n_attrs};
    assert_int_not_equal(spec.op, TG_OP_OPAQUE);
    tg_status status = tg_build_node(b, &spec, &id);
    for (int i = 0; i < n_out; i++) outs[i] = tg_value_of(id, (uint32_t)i), names[i] = "y";
    if (status == TG_OK) {
        tg_build_outputs(b, outs, names, n_out);
        assert_ok(tg_build_done(b, &r->graph));
        assert_ok(tg_check(r->graph));
        r->node = tg_graph_node(r->graph, id);
    } else {
        tg_builder_free(b);
        op_done(r);
    }
    tg_origin_unref(origin);
    return status;
}

/* The tensors of the inputs that the node still has. */
UNIT_MAYBE tg_status op_eval(op_result *r)
{
    tg_tensor in[OP_RUN_MAX] = {0};
    for (int i = 0; i < r->node->n_in; i++)
        if (r->node->in[i] != TG_NO_VALUE) in[i] = r->in[i];
    tg_status status = tg_node_eval(r->node, in, r->out);
    if (status == TG_OK) r->n_out = r->node->n_out;
    return status;
}

UNIT_MAYBE void op_run(op_result *r, const char *op, const op_input *in, size_t n_in,
                       const tg_named_attr *attrs, size_t n_attrs, int n_out)
{
    assert_ok(op_build(r, op, in, n_in, attrs, n_attrs, n_out));
    assert_ok(op_eval(r));
}

/* Element by element within 1e-5 + 1e-5 |want|. */
UNIT_MAYBE void op_expect(const op_result *r, int i, tg_dtype dtype, tg_shape shape,
                          const double *want, size_t n)
{
    char got_text[TG_SHAPE_TEXT], want_text[TG_SHAPE_TEXT];
    const tg_tensor *t = &r->out[i];
    assert_string_equal(tg_dtype_name(t->dtype), tg_dtype_name(dtype));
    assert_string_equal(tg_shape_text(got_text, &t->shape), tg_shape_text(want_text, &shape));
    assert_int_equal(tg_tensor_count(t), n);
    for (size_t k = 0; k < n; k++) {
        double got = tg_tensor_f64(t, (int64_t)k);
        if (got == want[k] || (isnan(got) && isnan(want[k]))) continue;
        if (!(fabs(got - want[k]) <= 1e-5 + 1e-5 * fabs(want[k])))
            fail_msg("output %d, element %zu: %.9g, not %.9g", i, k, got, want[k]);
    }
}

/* Output i holds these words. */
UNIT_MAYBE void op_expect_words(const op_result *r, int i, tg_shape shape, const char *const *want,
                                size_t n)
{
    char got_text[TG_SHAPE_TEXT], want_text[TG_SHAPE_TEXT];
    const tg_tensor *t = &r->out[i];
    assert_int_equal(t->dtype, TG_STR);
    assert_string_equal(tg_shape_text(got_text, &t->shape), tg_shape_text(want_text, &shape));
    assert_int_equal(tg_tensor_count(t), n);
    for (size_t k = 0; k < n; k++) {
        const tg_string *s = (const tg_string *)t->data + k;
        assert_string_equal(s->n ? s->p : "", want[k]);
        assert_int_equal(s->n, strlen(want[k]));
    }
}

/* Building fails with this status and these words. */
UNIT_MAYBE void op_refused(const char *op, const op_input *in, size_t n_in,
                           const tg_named_attr *attrs, size_t n_attrs, tg_status status,
                           const char *words)
{
    op_result r;
    assert_status(op_build(&r, op, in, n_in, attrs, n_attrs, 1), status);
    assert_contains(tg_message(), words);
}

/* One output, run and compared. */
#define CHECK1(op, ins, attrs, shape, ...)                                                         \
    do {                                                                                           \
        op_result r_;                                                                              \
        op_run(&r_, op, ins, attrs, 1);                                                            \
        op_expect(&r_, 0, r_.in[0].dtype, shape, VALUES(__VA_ARGS__));                             \
        op_done(&r_);                                                                              \
    } while (0)

UNIT_MAYBE void op_expect_ints(const op_result *r, const char *name, const int64_t *v, size_t n)
{
    const tg_attr *a = tg_node_attr(r->node, name);
    assert_int_equal(a->kind, TG_ATTR_INTS);
    assert_int_equal(a->n, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(a->ints[i], v[i]);
}
#define ATTR_IS(r, name, ...)                                                                      \
    op_expect_ints(r, name, (const int64_t[]){__VA_ARGS__},                                        \
                   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* One output of this type, run and compared. */
#define CHECK_AS(type, op, ins, attrs, shape, ...)                                                 \
    do {                                                                                           \
        op_result r_;                                                                              \
        op_run(&r_, op, ins, attrs, 1);                                                            \
        op_expect(&r_, 0, type, shape, VALUES(__VA_ARGS__));                                       \
        op_done(&r_);                                                                              \
    } while (0)

#endif
