/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/exec_case.h"

#include "engine/exec/fold.h"
#include "engine/exec/region.h"

/* A rewrite under way: `before` and a builder of what comes after. */
typedef struct step {
    tg_graph *before, *after;
    tg_builder *b;
} step;

static tg_value add(step *s, const char *op, const tg_value *in, int n)
{
    uint32_t id;
    tg_node_spec spec = {.op = tg_op_find("", op), .in = in, .n_in = n};
    assert_ok(tg_build_node(s->b, &spec, &id));
    return tg_value_of(id, 0);
}

static step begin(tg_graph *before)
{
    return (step){.before = before, .b = tg_builder_from(before)};
}

static void finish(step *s, tg_value from, tg_value to)
{
    assert_ok(tg_build_redirect(s->b, from, to));
    assert_ok(tg_build_done(s->b, &s->after));
}

static void done(step *s)
{
    tg_graph_unref(s->before);
    tg_graph_unref(s->after);
}

/* relu(a + b) with a, b in front of and a softmax behind a long chain. */
static tg_graph *chain(tg_value *sum, tg_value *a, tg_value *b)
{
    net m = net_new(1);
    tg_value x = net_input(&m, tg_shape_of(2, 6)), y = net_input(&m, tg_shape_of(2, 6));
    *a = net_node(&m, "Exp", "", x);
    *b = net_node(&m, "MatMul", "", y, net_weight(&m, tg_shape_of(6, 6)));
    *sum = net_node(&m, "Add", "", *a, *b);
    return net_done(&m, net_node(&m, "Softmax", "", net_node(&m, "Relu", "", *sum)));
}

static void a_sound_step_passes(void **state)
{
    (void)state;
    tg_value sum, a, b;
    step s = begin(chain(&sum, &a, &b));
    finish(&s, sum, add(&s, "Add", (tg_value[]){b, a}, 2));
    tg_verify_report r;
    assert_ok(tg_verify_step(s.before, s.after, 1, &r));
    assert_false(r.whole);
    assert_int_equal(r.compared, 1);
    assert_ok(tg_verify(s.before, s.after, 1, NULL, &r));
    assert_true(r.whole && r.max_abs_error < 1e-6);
    done(&s);
}

static void a_wrong_step_is_caught(void **state)
{
    (void)state;
    tg_value sum, a, b;
    step s = begin(chain(&sum, &a, &b));
    finish(&s, sum, add(&s, "Sub", (tg_value[]){b, a}, 2));
    tg_verify_report r;
    assert_status(tg_verify_step(s.before, s.after, 1, &r), TG_DIFFERS);
    assert_contains(tg_message(), "output a: element ");
    assert_true(r.max_abs_error > 1e-3);
    assert_int_equal(r.seed, 1);
    done(&s);
}

/* Nearly right is wrong too: a factor of 1.001. */
static void small_differences_count(void **state)
{
    (void)state;
    tg_value sum, a, b;
    step s = begin(chain(&sum, &a, &b));
    tg_value y = add(&s, "Add", (tg_value[]){a, b}, 2);
    y = add(&s, "Mul", (tg_value[]){y, tg_build_scalar(s.b, TG_F32, 1.001)}, 2);
    finish(&s, sum, y);
    assert_status(tg_verify_step(s.before, s.after, 1, NULL), TG_DIFFERS);
    done(&s);
}

/* The output itself is replaced: the sink is what changed. */
static void changed_outputs_are_compared(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        net m = net_new(2);
        tg_value x = net_input(&m, tg_shape_of(3, 4)), y = net_node(&m, "Neg", "", x);
        step s = begin(net_done(&m, net_node(&m, "Neg", "", y)));
        tg_value out = tg_graph_sink(s.before)->in[0];
        finish(&s, out, wrong ? y : x);
        assert_status(tg_verify_step(s.before, s.after, 3, NULL), wrong ? TG_DIFFERS : TG_OK);
        done(&s);
    }
}

/* The root of a square is the number itself only where it is not negative: as here. */
static void ranges_of_values_are_kept(void **state)
{
    (void)state;
    for (int positive = 0; positive < 2; positive++) {
        net m = net_new(3);
        tg_value x = net_input(&m, tg_shape_of(5, 7));
        x = net_node(&m, positive ? "Sigmoid" : "Tanh", "", x);
        tg_value y = net_node(&m, "Sqrt", "", net_node(&m, "Mul", "", x, x));
        step s = begin(net_done(&m, net_node(&m, "Exp", "", y)));
        finish(&s, y, x);
        assert_status(tg_verify_step(s.before, s.after, 4, NULL), positive ? TG_OK : TG_DIFFERS);
        done(&s);
    }
}

/* Folded weights stay expressions: the region evaluates them. */
static void weights_may_be_computed(void **state)
{
    (void)state;
    net m = net_new(4);
    tg_value x = net_input(&m, tg_shape_of(2, 6)), w = net_weight(&m, tg_shape_of(6, 5));
    tg_value y = net_node(&m, "MatMul", "", x, w);
    tg_value z = net_node(&m, "Mul", "", y, net_number(&m, 2));
    step s = begin(net_done(&m, z));
    tg_value twice = add(&s, "Add", (tg_value[]){w, w}, 2);
    finish(&s, z, add(&s, "MatMul", (tg_value[]){x, twice}, 2));
    assert_ok(tg_verify_step(s.before, s.after, 5, NULL));
    tg_weight *one, *two;
    size_t before = tg_fold_bytes();
    assert_ok(tg_fold_value(s.after, twice, &one));
    assert_ok(tg_fold_value(s.after, twice, &two));
    assert_ptr_equal(one, two); /* evaluated once */
    assert_true(tg_fold_bytes() >= before && tg_fold_bytes() > 0);
    float first;
    memcpy(&first, s.after->nodes[tg_value_node(w)]->weight->data, sizeof first);
    assert_true(*(const float *)one->data == 2 * first);
    tg_weight_unref(one);
    tg_weight_unref(two);
    tg_fold_limit(0);
    assert_int_equal(tg_fold_bytes(), 0);
    tg_fold_limit((size_t)256 << 20);
    done(&s);
}

static void a_region_is_small(void **state)
{
    (void)state;
    tg_value sum, a, b;
    step s = begin(chain(&sum, &a, &b));
    finish(&s, sum, add(&s, "Sum", (tg_value[]){a, b}, 2));
    tg_region r;
    assert_ok(tg_region_cut(s.before, s.after, &r));
    assert_int_equal(tg_graph_op_count(r.before), 1);
    assert_int_equal(tg_graph_op_count(r.after), 1);
    assert_int_equal(r.n_inputs, 2);
    assert_int_equal(r.n_outputs, 1);
    assert_int_equal(r.outputs[0], sum);
    assert_ok(tg_check(r.before));
    assert_ok(tg_check(r.after));
    tg_region_done(&r);
    done(&s);
}

static void inputs_suit_their_types(void **state)
{
    (void)state;
    net m = net_new(5);
    tg_type floats = {TG_F32, tg_shape_of(1000)}, indices = {TG_I64, tg_shape_of(1000)};
    tg_value x = tg_build_input(m.b, "x", &floats), i = tg_build_input(m.b, "i", &indices);
    tg_graph *g = net_done(&m, net_node(&m, "Gather", "", x, i));
    tg_tensor *in, *again;
    assert_ok(tg_inputs_draw(g, 9, &in));
    assert_ok(tg_inputs_draw(g, 9, &again));
    double sum = 0, squares = 0;
    int ones = 0;
    for (int k = 0; k < 1000; k++) {
        double v = tg_tensor_f64(&in[0], k);
        sum += v, squares += v * v;
        assert_in_range(tg_tensor_i64(&in[1], k), 0, 1);
        ones += (int)tg_tensor_i64(&in[1], k);
    }
    assert_true(fabs(sum / 1000) < 0.15 && fabs(squares / 1000 - 1) < 0.2);
    assert_in_range(ones, 400, 600);
    assert_memory_equal(in[0].data, again[0].data, 4000);
    tg_inputs_free(in, 2);
    tg_inputs_free(again, 2);
    tg_graph_unref(g);
}

static void compare(float want, float got, tg_status status)
{
    tg_tensor a = {TG_F32, {.rank = 0}, &want}, b = {TG_F32, {.rank = 0}, &got};
    double x, y;
    assert_status(tg_tensor_compare(&a, &b, 1, &x, &y), status);
}

static void special_numbers_are_compared(void **state)
{
    (void)state;
    compare(NAN, NAN, TG_OK);
    compare(INFINITY, INFINITY, TG_OK);
    compare(INFINITY, -INFINITY, TG_DIFFERS);
    compare(1, NAN, TG_DIFFERS);
    compare(NAN, 1, TG_DIFFERS);
    compare(1, INFINITY, TG_DIFFERS);
    compare(0, 1e-8f, TG_OK);
    compare(0, 1e-3f, TG_DIFFERS);
    compare(1e6f, 1e6f + 1, TG_OK);
    compare(1, 1.0001f, TG_DIFFERS);
    int64_t one = 1, two = 2;
    tg_tensor a = {TG_I64, {.rank = 0}, &one}, b = {TG_I64, {.rank = 0}, &two};
    double x, y;
    assert_status(tg_tensor_compare(&a, &b, 1, &x, &y), TG_DIFFERS);
    assert_contains(tg_message(), "element 0 is 2, not 1");
    b.shape = tg_shape_of(1);
    assert_status(tg_tensor_compare(&a, &b, 1, &x, &y), TG_DIFFERS);
    assert_contains(tg_message(), "shape");
}

static void wrong_inputs_are_refused(void **state)
{
    (void)state;
    tg_value sum, a, b;
    tg_graph *g = chain(&sum, &a, &b);
    tg_tensor *in, out;
    assert_ok(tg_inputs_draw(g, 1, &in));
    in[1].shape = tg_shape_of(2, 7);
    assert_status(tg_reference_run(g, in, &out), TG_SHAPE);
    assert_contains(tg_message(), "2x7, not 2x6");
    in[1].shape = tg_shape_of(2, 6);
    in[0].dtype = TG_I32;
    assert_status(tg_reference_run(g, in, &out), TG_TYPE);
    in[0].dtype = TG_F32;
    tg_inputs_free(in, g->n_inputs);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_sound_step_passes),
    cmocka_unit_test(a_wrong_step_is_caught),
    cmocka_unit_test(small_differences_count),
    cmocka_unit_test(changed_outputs_are_compared),
    cmocka_unit_test(ranges_of_values_are_kept),
    cmocka_unit_test(weights_may_be_computed),
    cmocka_unit_test(a_region_is_small),
    cmocka_unit_test(inputs_suit_their_types),
    cmocka_unit_test(special_numbers_are_compared),
    cmocka_unit_test(wrong_inputs_are_refused),
};
UNIT_MAIN(tests)
