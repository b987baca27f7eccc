/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If, Loop and Scan from bytes, run and saved in all ways. */
#include "tests/unit/onnx_bytes.h"
#include "tests/unit/run_ways.h"

#include <math.h>

/* ---- If ---- */

static const float two[] = {2, -3}, ten[] = {10, 20};

/* y = c ? -relu(x) : relu(x) + w, where only the else branch reads the initialiser w. */
static tg_str choice(void)
{
    tg_str g = part_graph("g"), node = part_node("If", "choose", "c", "y");
    tg_str yes = part_graph("yes"), no = part_graph("no");
    put_part(&yes, IN_NODE, part_node("Neg", "", "r", "a"));
    put_part(&yes, IN_OUTPUT, part_info("a", 1, "2"));
    put_part(&no, IN_NODE, part_node("Add", "", "r,w", "b"));
    put_part(&no, IN_OUTPUT, part_info("b", 1, "2"));
    node_graph(&node, "then_branch", yes);
    node_graph(&node, "else_branch", no);
    put_part(&g, IN_NODE, part_node("Relu", "", "x", "r"));
    put_part(&g, IN_NODE, node);
    put_part(&g, IN_TENSOR, part_tensor("w", 1, "2", ten, sizeof ten));
    put_part(&g, IN_INPUT, part_info("x", 1, "2"));
    put_part(&g, IN_INPUT, part_info("c", 9, ""));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "2"));
    return part_model(8, 16, g);
}

static void branches(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(choice(), &g));
    const tg_node *node = maker(g, 0);
    assert_int_equal(node->op, TG_OP(If));
    assert_int_equal(node->n_in, 2); /* w is in the branch that reads it */
    const tg_graph *no = tg_node_attr(node, "else_branch")->graph;
    assert_true(tg_graph_maker(no, maker(no, 0)->in[1])->constant);
    assert_int_equal(tg_graph_op_count(g), 4);
    check_all(g, (values){{floats(two, tg_shape_of(2)), scalar(TG_BOOL, 1)}, 2},
              (values){{floats((float[]){-2, -0.f}, tg_shape_of(2))}, 1});
    check_all(g, (values){{floats(two, tg_shape_of(2)), scalar(TG_BOOL, 0)}, 2},
              (values){{floats((float[]){12, 20}, tg_shape_of(2))}, 1});
    tg_graph_unref(g);
}

static size_t count_text(const char *bytes, size_t n, const char *text)
{
    size_t found = 0, length = strlen(text);
    for (size_t i = 0; i + length <= n; i++) found += memcmp(bytes + i, text, length) == 0;
    return found;
}

/* An initialiser that only a branch reads is written once, outside, whatever became of the node. */
static void initialisers_stay_outside(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(choice(), &g));
    tg_graph *made = remade(g);
    for (int k = 0; k < 2; k++) {
        void *bytes;
        size_t n;
        assert_ok(tg_onnx_save_memory(k ? made : g, &bytes, &n));
        assert_int_equal(count_text(bytes, n, "\x42\x01w"), 1); /* the name of a tensor */
        assert_int_equal(count_text(bytes, n, "Constant"), 0);
        free(bytes);
    }
    tg_graph_unref(made);
    tg_graph_unref(g);
}

/* ---- Loop ---- */

/*
 * Starting with x, s = s + step[i], stacked; all = all ++ s. `most` and `cond` are names of the
 * inputs, "" for none; `go` is how the body makes its condition of s.
 */
static tg_str repeat(const char *most, const char *cond, bool bounded)
{
    static const float limit = 9;
    tg_str g = part_graph("g"), body = part_graph("body");
    char inputs[64];
    snprintf(inputs, sizeof inputs, "%s,%s,x,x", most, cond);
    tg_str node = part_node("Loop", "repeat", inputs, "last,all,each");
    put_part(&body, IN_INPUT, part_info("i", 7, ""));
    put_part(&body, IN_INPUT, part_info("go", 9, ""));
    put_part(&body, IN_INPUT, part_info("s", 1, NULL));
    put_part(&body, IN_INPUT, part_info("so_far", 1, NULL));
    tg_str join = part_node("Concat", "", "so_far,t", "more");
    node_int(&join, "axis", 0);
    put_part(&body, IN_NODE, part_node("Add", "", "s,step", "t"));
    put_part(&body, IN_NODE, join);
    if (bounded) {
        tg_str sum = part_node("ReduceSum", "", "t", "sum");
        node_int(&sum, "keepdims", 0);
        put_part(&body, IN_TENSOR, part_tensor("limit", 1, "", &limit, 4));
        put_part(&body, IN_NODE, sum);
        put_part(&body, IN_NODE, part_node("Less", "", "sum,limit", "go_on"));
    } else put_part(&body, IN_NODE, part_node("Identity", "", "go", "go_on"));
    put_part(&body, IN_NODE, part_node("Neg", "", "t", "minus"));
    put_part(&body, IN_OUTPUT, part_info("go_on", 9, ""));
    put_part(&body, IN_OUTPUT, part_info("t", 1, NULL));
    put_part(&body, IN_OUTPUT, part_info("more", 1, NULL));
    put_part(&body, IN_OUTPUT, part_info("minus", 1, NULL));
    node_graph(&node, "body", body);
    put_part(&g, IN_NODE, node);
    put_part(&g, IN_INPUT, part_info("x", 1, "1"));
    put_part(&g, IN_INPUT, part_info("step", 1, "1"));
    if (most[0]) put_part(&g, IN_INPUT, part_info(most, 7, ""));
    if (cond[0]) put_part(&g, IN_INPUT, part_info(cond, 9, ""));
    put_part(&g, IN_OUTPUT, part_info("last", 1, "1"));
    put_part(&g, IN_OUTPUT, part_info("all", 1, "n"));
    put_part(&g, IN_OUTPUT, part_info("each", 1, "n,1"));
    return part_model(8, 16, g);
}

static const float one[] = {1};

static values start(void)
{
    return (values){{floats(one, tg_shape_of(1)), floats(two, tg_shape_of(1))}, 2};
}

static void loops(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(repeat("m", "c", false), &g));
    const tg_node *node = maker(g, 0);
    assert_int_equal(node->op, TG_OP(Loop));
    assert_int_equal(node->n_in, 5); /* m, c, x, x and the captured step */
    assert_int_equal(node->out[0].shape.dim[0], 1);
    assert_int_equal(node->out[1].shape.rank, -1); /* it grows */
    assert_int_equal(node->out[2].shape.rank, 2);
    values in = start();
    in.t[in.n++] = scalar(TG_I64, 3);
    in.t[in.n++] = scalar(TG_BOOL, 1);
    check_all(g, in,
              (values){{floats((float[]){7}, tg_shape_of(1)),
                        floats((float[]){1, 3, 5, 7}, tg_shape_of(4)),
                        floats((float[]){-3, -5, -7}, tg_shape_of(3, 1))},
                       3});
    for (int k = 0; k < 2; k++) { /* no round at all, for either reason */
        in = start();
        in.t[in.n++] = scalar(TG_I64, k ? 5 : 0);
        in.t[in.n++] = scalar(TG_BOOL, !k);
        check_all(g, in,
                  (values){{floats(one, tg_shape_of(1)), floats(one, tg_shape_of(1)),
                            floats(one, tg_shape_of(0, 1))},
                           3});
    }
    tg_graph_unref(g);
}

static void loops_while(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        tg_graph *g;
        values in = start();
        assert_ok(load(repeat(k ? "m" : "", "", true), &g));
        if (k) in.t[in.n++] = scalar(TG_I64, 100);
        check_all(g, in,
                  (values){{floats((float[]){9}, tg_shape_of(1)),
                            floats((float[]){1, 3, 5, 7, 9}, tg_shape_of(5)),
                            floats((float[]){-3, -5, -7, -9}, tg_shape_of(4, 1))},
                           3});
        tg_graph_unref(g);
    }
}

/* ---- Scan ---- */

/* Running sums along axis 1 of x from the back; the states are stacked along axis 1. */
static tg_str scanned(void)
{
    static const int64_t at_one[] = {1}, back[] = {1};
    tg_str g = part_graph("g"), body = part_graph("body");
    tg_str node = part_node("Scan", "scan", "start,x", "last,sums");
    put_part(&body, IN_INPUT, part_info("s", 1, "2"));
    put_part(&body, IN_INPUT, part_info("part", 1, "2"));
    put_part(&body, IN_NODE, part_node("Add", "", "s,part", "t"));
    put_part(&body, IN_NODE, part_node("Mul", "", "t,k", "scaled"));
    put_part(&body, IN_OUTPUT, part_info("t", 1, "2"));
    put_part(&body, IN_OUTPUT, part_info("scaled", 1, "2"));
    node_graph(&node, "body", body);
    node_int(&node, "num_scan_inputs", 1);
    node_ints(&node, "scan_input_axes", at_one, 1);
    node_ints(&node, "scan_input_directions", back, 1);
    node_ints(&node, "scan_output_axes", at_one, 1);
    node_ints(&node, "scan_output_directions", back, 1);
    put_part(&g, IN_NODE, node);
    put_part(&g, IN_TENSOR, part_tensor("k", 1, "2", ten, sizeof ten));
    put_part(&g, IN_INPUT, part_info("start", 1, "2"));
    put_part(&g, IN_INPUT, part_info("x", 1, "2,3"));
    put_part(&g, IN_OUTPUT, part_info("last", 1, "2"));
    put_part(&g, IN_OUTPUT, part_info("sums", 1, "2,3"));
    return part_model(8, 16, g);
}

static void scans(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(scanned(), &g));
    const tg_shape want = tg_shape_of(2, 3);
    assert_int_equal(maker(g, 0)->op, TG_OP(Scan));
    assert_true(tg_shape_equal(&maker(g, 1)->out[1].shape, &want));
    check_all(g,
              (values){{floats((float[]){100, 200}, tg_shape_of(2)),
                        floats((float[]){1, 2, 3, 4, 5, 6}, want)},
                       2},
              (values){{floats((float[]){106, 215}, tg_shape_of(2)),
                        floats((float[]){1060, 1050, 1030, 4300, 4220, 4120}, want)},
                       2});
    tg_graph_unref(g);
}

/* ---- one in another ---- */

/* A Loop whose body has an If that reads a value of the body, one of the graph, and a constant. */
static tg_str nested(void)
{
    tg_str g = part_graph("g"), body = part_graph("body");
    tg_str yes = part_graph("yes"), no = part_graph("no");
    tg_str loop = part_node("Loop", "loop", "m,,x", "y"), node = part_node("If", "if", "odd", "t");
    put_part(&yes, IN_NODE, part_node("Add", "", "s,w", "a"));
    put_part(&yes, IN_NODE, part_node("Mul", "", "a,x", "a2"));
    put_part(&yes, IN_OUTPUT, part_info("a2", 1, "2"));
    put_part(&no, IN_NODE, part_node("Neg", "", "s", "b"));
    put_part(&no, IN_OUTPUT, part_info("b", 1, "2"));
    node_graph(&node, "then_branch", yes);
    node_graph(&node, "else_branch", no);
    tg_str cast = part_node("Cast", "", "bit", "odd");
    node_int(&cast, "to", 9);
    put_part(&body, IN_INPUT, part_info("i", 7, ""));
    put_part(&body, IN_INPUT, part_info("go", 9, ""));
    put_part(&body, IN_INPUT, part_info("s", 1, "2"));
    put_part(&body, IN_NODE, part_node("Mod", "", "i,deux", "bit"));
    put_part(&body, IN_NODE, cast);
    put_part(&body, IN_NODE, node);
    put_part(&body, IN_OUTPUT, part_info("go", 9, ""));
    put_part(&body, IN_OUTPUT, part_info("t", 1, "2"));
    node_graph(&loop, "body", body);
    put_part(&g, IN_NODE, loop);
    put_part(&g, IN_TENSOR, part_tensor("w", 1, "2", ten, sizeof ten));
    put_part(&g, IN_TENSOR, part_tensor("deux", 7, "", &(int64_t){2}, 8));
    put_part(&g, IN_INPUT, part_info("x", 1, "2"));
    put_part(&g, IN_INPUT, part_info("m", 7, ""));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "2"));
    return part_model(8, 16, g);
}

static void bodies_in_bodies(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(nested(), &g));
    /* -x; (-x + w) * x; -that */
    check_all(g, (values){{floats(two, tg_shape_of(2)), scalar(TG_I64, 3)}, 2},
              (values){{floats((float[]){-16, 69}, tg_shape_of(2))}, 1});
    tg_graph_unref(g);
}

/* ---- types ---- */

static void wrong_types(void **state)
{
    (void)state;
    tg_graph *g;
    assert_ok(load(choice(), &g));
    const tg_node *node = maker(g, 0);
    tg_builder *b = tg_builder_from(g);
    tg_type type = {TG_F32, tg_shape_of(3)};
    tg_value in[] = {node->in[0], tg_build_input(b, "z", &type)};
    uint32_t id;
    assert_status(tg_build_copy(b, node->op, node->attrs->a, in, 2, 1, NULL, &id), TG_SHAPE);
    assert_contains(tg_message(), "input 0 of the body has shape 2, not 3");
    assert_status(tg_build_copy(b, node->op, node->attrs->a, in, 1, 1, NULL, &id), TG_INVALID);
    in[1] = node->in[1];
    assert_status(tg_build_copy(b, node->op, node->attrs->a, in, 2, 2, NULL, &id), TG_INVALID);
    in[0] = node->in[1];
    assert_status(tg_build_copy(b, node->op, node->attrs->a, in, 2, 1, NULL, &id), TG_TYPE);
    tg_builder_free(b);
    tg_graph_unref(g);
}

/* ---- rewriting ---- */

/* y = c ? -(-(-x)) : relu(x) + 0, each with something to gain. */
static tg_str wasteful(void)
{
    static const float zero[] = {0, 0};
    tg_str g = part_graph("g"), node = part_node("If", "choose", "c", "y");
    tg_str yes = part_graph("yes"), no = part_graph("no");
    put_part(&yes, IN_NODE, part_node("Neg", "n1", "x", "a"));
    put_part(&yes, IN_NODE, part_node("Neg", "n2", "a", "b"));
    put_part(&yes, IN_NODE, part_node("Neg", "n3", "b", "d"));
    put_part(&yes, IN_OUTPUT, part_info("d", 1, "2"));
    put_part(&no, IN_NODE, part_node("Relu", "r1", "x", "e"));
    put_part(&no, IN_NODE, part_node("Add", "plus", "e,zero", "f"));
    put_part(&no, IN_OUTPUT, part_info("f", 1, "2"));
    node_graph(&node, "then_branch", yes);
    node_graph(&node, "else_branch", no);
    put_part(&g, IN_NODE, node);
    put_part(&g, IN_TENSOR, part_tensor("zero", 1, "2", zero, sizeof zero));
    put_part(&g, IN_INPUT, part_info("x", 1, "2"));
    put_part(&g, IN_INPUT, part_info("c", 9, ""));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "2"));
    return part_model(8, 16, g);
}

static void run_wasteful(const tg_graph *g)
{
    for (int c = 0; c < 2; c++) {
        values in = {{floats(two, tg_shape_of(2)), scalar(TG_BOOL, c)}, 2};
        const float want[2][2] = {{2, 0}, {-2, 3}};
        check_all(g, in, (values){{floats(want[c], tg_shape_of(2))}, 1});
    }
}

static void same_candidates(const tg_candidates *a, const tg_candidates *b)
{
    assert_int_equal(tg_candidates_count(a), tg_candidates_count(b));
    for (int i = 0; i < tg_candidates_count(a); i++)
        assert_true(tg_candidates_get(a, i)->site->key == tg_candidates_get(b, i)->site->key);
}

static tg_rules *all_rules(void)
{
    tg_rules *rules;
    const char *dir = unit_source("rules");
    assert_ok(tg_rules_load(&dir, 1, &rules));
    return rules;
}

/* Each site in a body: previewed, taken, verified, run, saved; those of the next graph updated. */
static void sites_in_bodies(void **state)
{
    (void)state;
    tg_graph *g;
    tg_candidates *all;
    tg_rules *rules = all_rules();
    assert_ok(load(wasteful(), &g));
    assert_ok(tg_candidates_find(rules, g, NULL, &all));
    int gains = 0;
    assert_true(tg_candidates_count(all) >= 2);
    for (int i = 0; i < tg_candidates_count(all); i++) {
        const tg_candidate *c = tg_candidates_get(all, i);
        tg_graph *next;
        tg_candidates *after, *anew;
        const tg_graph *body;
        tg_verify_report report;
        assert_non_null(tg_site_inner(g, c->site, &body));
        assert_int_equal(c->site->n_nodes, 1);
        assert_int_equal(c->site->nodes[0], maker(g, 0)->id);
        assert_contains(tg_site_words(g, c->site), "choose: ");
        assert_ok(tg_candidates_apply(all, i, &next));
        assert_ok(tg_check(next));
        assert_true(next->hash == tg_preview_hash(g, &c->preview));
        assert_int_equal((int)tg_graph_op_count(next) - (int)tg_graph_op_count(g),
                         c->preview.nodes_come - c->preview.nodes_gone);
        assert_true(fabs(tg_graph_cost_ms(next) - tg_graph_cost_ms(g) - c->preview.cost_delta_ms) <
                    1e-6);
        assert_string_equal(maker(next, 0)->name, "choose");
        assert_ok(tg_verify_step(g, next, 3, &report));
        assert_false(report.whole);
        run_wasteful(next);
        assert_ok(tg_candidates_update(all, next, NULL, &after));
        assert_ok(tg_candidates_find(rules, next, NULL, &anew));
        same_candidates(after, anew);
        tg_candidates_free(after);
        tg_candidates_free(anew);
        gains += c->preview.cost_delta_ms < 0;
        tg_graph_unref(next);
    }
    assert_true(gains >= 2);
    tg_candidates_free(all);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

/* A search goes into bodies; what it finds costs less and computes the same. */
static void searches_in_bodies(void **state)
{
    (void)state;
    tg_graph *g;
    tg_trail *best;
    tg_search_report report;
    tg_search_options options = {.budget = 60, .max_steps = 12, .seed = 5};
    tg_rules *rules = all_rules();
    assert_ok(load(wasteful(), &g));
    assert_ok(tg_search_run(tg_search_find("greedy"), rules, g, &options, &report, &best));
    assert_int_equal(tg_graph_op_count(best->graph), 3); /* the If, a Neg and a Relu */
    assert_true(best->cost_ms < tg_graph_cost_ms(g));
    run_wasteful(best->graph);
    tg_trail_unref(best);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

/* A body that computes something else is told, whichever branch it is. */
static void a_wrong_body_differs(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        tg_graph *g, *wrong;
        assert_ok(load(wasteful(), &g));
        const tg_node *node = maker(g, 0);
        tg_attr a[2] = {node->attrs->a[0], node->attrs->a[1]};
        a[k] = a[!k];
        tg_builder *b = tg_builder_from(g);
        uint32_t id;
        assert_ok(tg_build_copy(b, node->op, a, node->in, node->n_in, 1, NULL, &id));
        assert_ok(tg_build_redirect(b, tg_value_of(node->id, 0), tg_value_of(id, 0)));
        assert_ok(tg_build_done(b, &wrong));
        assert_status(tg_verify_step(g, wrong, 1, NULL), TG_DIFFERS);
        assert_status(tg_verify(g, wrong, 1, NULL, NULL), TG_DIFFERS);
        tg_graph_unref(wrong);
        tg_graph_unref(g);
    }
}

/* A drawing tells what bodies hold. */
static void drawings_count_bodies(void **state)
{
    (void)state;
    tg_graph *g;
    tg_drawing *d;
    tg_draw_options options = {.level = 3};
    assert_ok(load(wasteful(), &g));
    assert_ok(tg_draw_rails(g, &options, NULL, &d));
    assert_string_equal(d->rows[d->row_of[maker(g, 0)->id]].op, "If then 3 else 2");
    tg_drawing_free(d);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(branches),
    cmocka_unit_test(initialisers_stay_outside),
    cmocka_unit_test(loops),
    cmocka_unit_test(loops_while),
    cmocka_unit_test(scans),
    cmocka_unit_test(bodies_in_bodies),
    cmocka_unit_test(wrong_types),
    cmocka_unit_test(sites_in_bodies),
    cmocka_unit_test(searches_in_bodies),
    cmocka_unit_test(a_wrong_body_differs),
    cmocka_unit_test(drawings_count_bodies),
};
UNIT_MAIN(tests)
