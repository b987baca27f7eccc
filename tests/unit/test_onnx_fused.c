/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activations that were fused when a graph was saved are so when it is loaded. */
#include "tests/unit/again.h"
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/maker.h"

typedef struct shape {
    const char *activation, *between; /* between: a name for the convolution's own result */
    bool apart, shown;                /* a Relu behind it; the value between is an output too */
} shape;

static tg_graph *build(const shape *s)
{
    tg_origin *origin = tg_origin_new();
    tg_opset *opset = TG_NEW(origin->arena, tg_opset);
    *opset = (tg_opset){"", 17};
    origin->opsets = opset;
    origin->n_opsets = 1;
    origin->ir_version = 8;
    maker m = {.b = tg_builder_new(origin), .rng = tg_rng_new(1)};
    tg_value x = make_input(&m, "x", DIMS(1, 2, 4, 4));
    tg_value in[] = {x, make_weight(&m, DIMS(3, 2, 1, 1), 1)};
    tg_named_attr attr = {"activation", tg_attr_str(s->activation)};
    uint32_t id;
    assert_ok(tg_build_node(m.b,
                            &(tg_node_spec){.op = TG_OP(Conv),
                                            .in = in,
                                            .n_in = 2,
                                            .attrs = &attr,
                                            .n_attrs = 1,
                                            .out_names = &s->between},
                            &id));
    tg_value t = tg_value_of(id, 0), y = s->apart ? make_unary(&m, TG_OP(Relu), t) : t;
    static const char *const names[] = {"y", "t"};
    tg_build_outputs(m.b, (tg_value[]){y, t}, names, s->shown ? 2 : 1);
    tg_graph *g;
    assert_ok(tg_build_done(m.b, &g));
    tg_rng_free(m.rng);
    tg_origin_unref(origin);
    return g;
}

static void a_saved_pair_is_one_again(void **state)
{
    (void)state;
    static const char *const activations[] = {"Relu", "Sigmoid", "Tanh"};
    for (int i = 0; i < 3; i++) {
        tg_graph *g = build(&(shape){.activation = activations[i], .between = ""});
        tg_graph *loaded = graph_again(g), *again = graph_again(loaded);
        assert_int_equal(tg_graph_op_count(loaded), 1);
        assert_true(loaded->hash == g->hash);
        assert_true(again->hash == g->hash);
        assert_ok(tg_check(loaded));
        tg_graph_unref(again);
        tg_graph_unref(loaded);
        tg_graph_unref(g);
    }
}

static void other_pairs_stay_two(void **state)
{
    (void)state;
    static const shape rows[] = {
        {"", "t", true, false},            /* a name of the model's own */
        {"", "Conv_x_plain", true, false}, /* no number */
        {"", "Relu_3_plain", true, false}, /* of another operator */
        {"", "Conv_3_plain", true, true},  /* read by something else */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_graph *g = build(&rows[i]), *loaded = graph_again(g);
        assert_int_equal(tg_graph_op_count(loaded), 2);
        assert_true(loaded->hash == g->hash);
        tg_graph_unref(loaded);
        tg_graph_unref(g);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_saved_pair_is_one_again),
    cmocka_unit_test(other_pairs_stay_two),
};
UNIT_MAIN(tests)
