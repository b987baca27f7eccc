/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every operator is tried on its example, and the manual says what came of it. */
#include "tests/unit/unit.h"

#include "engine/ir/build.h"
#include "engine/operators.h"
#include "engine/ops/ops.h"

#define BIT(t) ((uint64_t)1 << (t))

/* What holds graphs is run by those, and has no example of a line. */
static bool has_example(const tg_op_row *row)
{
    return row->kernel && !strstr(row->attrs, ":graph");
}

static void every_operator_runs_on_its_example(void **state)
{
    (void)state;
    for (int op = TG_OP_FIRST_REAL; op < tg_op_row_count; op++) {
        tg_operator_trial found = tg_operator_try((tg_op)op);
        if (has_example(tg_op_get((tg_op)op)) && !found.types)
            fail_msg("%s ran with no type: give it a row in ops/example.def",
                     tg_op_get((tg_op)op)->name);
    }
}

static void trials_tell_types_apart(void **state)
{
    (void)state;
    tg_operator_trial sum = tg_operator_try(TG_OP(Add)), and = tg_operator_try(TG_OP(And));
    tg_operator_trial moved = tg_operator_try(TG_OP(Transpose));
    assert_true(sum.types & BIT(TG_F32) && sum.types & BIT(TG_U64) && !(sum.types & BIT(TG_BOOL)));
    assert_true(and.types == BIT(TG_BOOL));
    assert_true(moved.types & BIT(TG_STR) && moved.types & BIT(TG_I4));
    assert_true(tg_operator_try(TG_OP(Conv)).types ==
                (BIT(TG_F32) | BIT(TG_F64) | BIT(TG_F16) | BIT(TG_BF16)));
}

static void trials_say_what_the_cpu_runs(void **state)
{
    (void)state;
    assert_string_equal(tg_operator_try(TG_OP(Conv)).cpu, "primitive");
    assert_string_equal(tg_operator_try(TG_OP(Relu)).cpu, "loop");
    assert_string_equal(tg_operator_try(TG_OP(Reshape)).cpu, "view");
    assert_string_equal(tg_operator_try(TG_OP(Det)).cpu, "none");
}

static void the_manual_has_a_row_for_each(void **state)
{
    (void)state;
    tg_str text = {0};
    char want[128];
    tg_operators_manual(&text);
    for (int op = TG_OP_FIRST_REAL; op < tg_op_row_count; op++) {
        const tg_op_row *row = tg_op_get((tg_op)op);
        snprintf(want, sizeof want, "\n| %s%s%s | ", row->domain, row->domain[0] ? "." : "",
                 row->name);
        assert_contains(text.p, want);
    }
    assert_contains(text.p, "| Softmax | 1–28 (13) |");
    assert_contains(text.p, "| GroupNormalization | 18–28 (21) |");
    tg_str_free(&text);
}

static tg_value add_node(tg_builder *b, tg_op op, const tg_value *in, int n_in)
{
    uint32_t id;
    tg_node_spec spec = {.op = op, .in = in, .n_in = n_in, .n_out = 1};
    assert_ok(tg_build_node(b, &spec, &id));
    return tg_value_of(id, 0);
}

/* The indices of what is not 0 have a shape that only a run tells; what is made of them has types.
 */
static void types_are_known_where_shapes_are_not(void **state)
{
    (void)state;
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type whole = {TG_F32, tg_shape_of(2, 3)}, one = {TG_I64, {0}};
    tg_value x = tg_build_input(b, "x", &whole), k = tg_build_input(b, "k", &one);
    tg_value at = add_node(b, TG_OP(NonZero), &x, 1);
    tg_value equal = add_node(b, TG_OP(Equal), (tg_value[]){at, k}, 2);
    tg_value where = add_node(b, TG_OP(Where), (tg_value[]){equal, at, k}, 3);
    tg_value like = add_node(b, TG_OP(CastLike), (tg_value[]){where, x}, 2);
    assert_false(tg_type_complete(tg_build_type(b, at)));
    assert_int_equal(tg_build_type(b, equal)->dtype, TG_BOOL);
    assert_int_equal(tg_build_type(b, where)->dtype, TG_I64);
    assert_int_equal(tg_build_type(b, like)->dtype, TG_F32);
    tg_builder_free(b);
    tg_origin_unref(origin);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_operator_runs_on_its_example), cmocka_unit_test(trials_tell_types_apart),
    cmocka_unit_test(trials_say_what_the_cpu_runs), cmocka_unit_test(the_manual_has_a_row_for_each),
    cmocka_unit_test(types_are_known_where_shapes_are_not)};
UNIT_MAIN(tests)
