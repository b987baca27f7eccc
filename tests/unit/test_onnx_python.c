/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved models under the checker of the onnx package, where Python has one. */
#include "tests/unit/onnx_bytes.h"

#include "engine/ir/build.h"
#include "engine/ops/ops.h"

/* $REGRAFT_PYTHON, or python3. */
static int python(const char *code, const char *path)
{
    char command[9000];
    const char *program = getenv("REGRAFT_PYTHON");
    snprintf(command, sizeof command, "'%s' -c '%s' '%s' >/dev/null 2>&1",
             program && *program ? program : "python3", code, path);
    return system(command);
}

static void checks(const tg_graph *g)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("checked.onnx"));
    assert_ok(tg_onnx_save(g, path));
    assert_int_equal(python("import onnx,sys; onnx.checker.check_model(sys.argv[1], True)", path),
                     0);
}

static tg_graph *add_behind(const tg_graph *g, tg_op op, const tg_named_attr *attrs, int n)
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

static void saved_models_pass_the_checker(void **state)
{
    static const float w[] = {1, 2, 3};
    static const int64_t flat[] = {2, 3};
    static const int64_t opsets[] = {8, 9, 11, 13, 18};
    (void)state;
    for (size_t i = 0; i < sizeof opsets / sizeof *opsets; i++) {
        tg_str graph = part_graph("g");
        put_part(&graph, IN_INPUT, part_info("x", 1, "2,3"));
        put_part(&graph, IN_OUTPUT, part_info("y", 1, "2,3"));
        put_part(&graph, IN_TENSOR, part_tensor("w", 1, "3", w, sizeof w));
        put_part(&graph, IN_NODE, part_node("Add", "", "x,w", "y"));
        tg_graph *g;
        assert_ok(load(part_model(8, opsets[i], graph), &g));
        checks(g);
        tg_named_attr shape = {"shape", TG_ATTR_OF_INTS(flat, 2)},
                      axis = {"axis", TG_ATTR_OF_INT(1)}, most = {"max", TG_ATTR_OF_FLOAT(6)};
        tg_graph *made[] = {
            add_behind(g, TG_OP(Reshape), &shape, 1), add_behind(g, TG_OP(Softmax), &axis, 1),
            add_behind(g, TG_OP(Clip), &most, 1), add_behind(g, TG_OP(Gelu), NULL, 0)};
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
            checks(made[k]);
            tg_graph_unref(made[k]);
        }
        tg_graph_unref(g);
    }
}

static const char *why_not(void)
{
    return python("import onnx.checker", "") == 0 ? NULL : "python3 has no onnx package";
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(saved_models_pass_the_checker)};

UNIT_MAIN_IF(tests, why_not())
