/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A few bytes that would become gigabytes or never end: each model is loaded, checked, looked
 * through for rewrites, saved and run in a process of its own that may take little memory and time.
 * Whether it is accepted or refused, it ends in an orderly way.
 */
#include "tests/unit/onnx_bytes.h"

#include "engine/base/alloc.h"
#include "engine/engine.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* The time is for machines that are busy and builds that are slow; it ends what would never. */
enum { MEMORY = 1 << 30, SECONDS = 400, ACCEPTED = 10, REFUSED = 11 };

/* As long as it goes well, everything that is done with a model. */
static tg_status use(void *ctx)
{
    const tg_str *m = ctx;
    tg_graph *g;
    tg_rules *rules;
    tg_candidates *c;
    tg_tensor *in, out[TG_MAX_PORTS];
    void *bytes;
    size_t n;
    TG_TRY(tg_onnx_load_memory(m->p, m->n, "model", NULL, &g));
    TG_TRY(tg_check(g));
    TG_TRY(tg_rules_load(NULL, 0, &rules));
    TG_TRY(tg_candidates_find(rules, g, NULL, &c));
    TG_TRY(tg_onnx_save_memory(g, &bytes, &n));
    TG_TRY(tg_inputs_draw(g, 1, &in));
    return tg_reference_run(g, in, out);
}

static void child(tg_str *m)
{
    struct rusage used;
    alarm(SECONDS);
    if (tg_memory_limit_set(MEMORY) != TG_OK) _exit(1);
    tg_status status = tg_protect(use, m);
    getrusage(RUSAGE_SELF, &used);
    if (used.ru_maxrss > (MEMORY >> 10) + (MEMORY >> 11)) _exit(2);
    if (status != TG_OK && !tg_message()[0]) _exit(3);
    _exit(status == TG_OK ? ACCEPTED : REFUSED);
}

/* Takes over the graph. `want` 0: either will do. */
static void survives(const char *what, tg_str graph, int want)
{
    int status = 0;
    tg_str m = part_model(8, 17, graph);
    fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) child(&m);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) fail_msg("%s: signal %d", what, WTERMSIG(status));
    int got = WEXITSTATUS(status);
    if (got < ACCEPTED || (want && got != want)) fail_msg("%s: ended with %d", what, got);
    tg_str_free(&m);
}

static tg_str graph_of(const char *op, tg_str node)
{
    tg_str g = part_graph(op);
    put_part(&g, IN_INPUT, part_info("x", 1, "2"));
    put_part(&g, IN_NODE, node);
    return g;
}

/* y = OP(one, sizes), then a node that reads y; one is a constant. */
static tg_str grows(const char *op, int64_t to, const char *reader)
{
    static const float one[] = {1};
    const int64_t sizes[] = {to, to, 4};
    tg_str g = graph_of(
        op, part_node(op, "", strcmp(op, "ConstantOfShape") ? "one,sizes" : "sizes", "big"));
    put_part(&g, IN_TENSOR, part_tensor("one", 1, "1,1,1", one, sizeof one));
    put_part(&g, IN_TENSOR, part_tensor("sizes", 7, "3", sizes, sizeof sizes));
    put_part(&g, IN_NODE, part_node(reader, "", "big", "y"));
    put_part(&g, IN_OUTPUT, part_info("y", strcmp(reader, "Shape") ? 1 : 7, NULL));
    return g;
}

static void constants_that_grow(void **state)
{
    static const char *const ops[] = {"Expand", "Tile", "ConstantOfShape"};
    static const int64_t sizes[] = {6000, 60000, 1 << 20, 1LL << 31, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            survives(ops[i], grows(ops[i], sizes[k], "Relu"), k ? REFUSED : 0);
            survives(ops[i], grows(ops[i], sizes[k], "Shape"), 0);
        }
    }
}

/* Each node doubles its input. */
static void a_chain_of_doublings(void **state)
{
    static const float w[4] = {1};
    (void)state;
    tg_str g = graph_of("doublings", part_node("Relu", "", "x", "r"));
    put_part(&g, IN_TENSOR, part_tensor("v0", 1, "4", w, sizeof w));
    for (int i = 0; i < 60; i++) {
        char in[40], out[20];
        tg_str node;
        snprintf(in, sizeof in, "v%d,v%d", i, i);
        snprintf(out, sizeof out, "v%d", i + 1);
        node = part_node("Concat", "", in, out);
        node_int(&node, "axis", 0);
        put_part(&g, IN_NODE, node);
    }
    put_part(&g, IN_OUTPUT, part_info("v60", 1, NULL));
    survives("doublings", g, REFUSED);
}

static void a_range_without_end(void **state)
{
    static const int64_t ends[] = {0, INT64_MAX - 1, 1};
    (void)state;
    tg_str g = graph_of("range", part_node("Range", "", "from,to,by", "y"));
    put_part(&g, IN_TENSOR, part_tensor("from", 7, "", &ends[0], 8));
    put_part(&g, IN_TENSOR, part_tensor("to", 7, "", &ends[1], 8));
    put_part(&g, IN_TENSOR, part_tensor("by", 7, "", &ends[2], 8));
    put_part(&g, IN_OUTPUT, part_info("y", 7, NULL));
    survives("range", g, REFUSED);
}

static void weights_that_are_not_there(void **state)
{
    static const float w[2] = {1, 2};
    static const char *const dims[] = {"1099511627776", "3037000500,3037000500", "2147483647,2,2",
                                       "9223372036854775807"};
    (void)state;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        tg_str g = graph_of("weights", part_node("Add", "", "x,w", "y"));
        put_part(&g, IN_TENSOR, part_tensor("w", 1, dims[i], w, sizeof w));
        put_part(&g, IN_OUTPUT, part_info("y", 1, NULL));
        survives(dims[i], g, REFUSED);
    }
}

static void many_empty_nodes(void **state)
{
    static const char empty[] = {1 << 3 | 2, 0};
    (void)state;
    tg_str g = graph_of("empty", part_node("Relu", "", "x", "y"));
    for (int i = 0; i < 5 << 20; i++) tg_str_addn(&g, empty, sizeof empty);
    put_part(&g, IN_OUTPUT, part_info("y", 1, NULL));
    survives("ten megabytes of empty nodes", g, REFUSED);
}

static void many_empty_tensors(void **state)
{
    static const char empty[] = {5 << 3 | 2, 0};
    (void)state;
    tg_str g = graph_of("empty", part_node("Relu", "", "x", "y"));
    for (int i = 0; i < 5 << 20; i++) tg_str_addn(&g, empty, sizeof empty);
    put_part(&g, IN_OUTPUT, part_info("y", 1, NULL));
    survives("ten megabytes of empty tensors", g, REFUSED);
}

/* An If in a branch of an If in a branch ... */
static tg_str nested(int levels)
{
    tg_str inner = part_graph("deepest");
    put_part(&inner, IN_NODE, part_node("Identity", "", "x", "o"));
    put_part(&inner, IN_OUTPUT, part_info("o", 1, "2"));
    for (int i = 0; i < levels; i++) {
        char out[20];
        snprintf(out, sizeof out, "o%d", i);
        tg_str outer = part_graph("level"), node = part_node("If", "", "c", out);
        node_graph(&node, "then_branch", inner);
        tg_str last = part_graph("else");
        put_part(&last, IN_NODE, part_node("Identity", "", "x", "e"));
        put_part(&last, IN_OUTPUT, part_info("e", 1, "2"));
        node_graph(&node, "else_branch", last);
        put_part(&outer, IN_NODE, node);
        put_part(&outer, IN_OUTPUT, part_info(out, 1, "2"));
        inner = outer;
    }
    put_part(&inner, IN_INPUT, part_info("x", 1, "2"));
    put_part(&inner, IN_INPUT, part_info("c", 9, ""));
    return inner;
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    static const int levels[] = {3, 190, 210, 5000};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        tg_graph *g;
        tg_str m = part_model(8, 17, nested(levels[i]));
        tg_status status = tg_onnx_load_memory(m.p, m.n, "model", NULL, &g);
        if (levels[i] < 200) {
            assert_ok(status);
            tg_graph_unref(g);
        } else {
            assert_status(status, TG_LIMIT);
            assert_contains(tg_message(), "levels of nested subgraphs");
        }
        tg_str_free(&m);
        survives("nested", nested(levels[i]), levels[i] < 200 ? 0 : REFUSED);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(constants_that_grow), cmocka_unit_test(a_chain_of_doublings),
    cmocka_unit_test(a_range_without_end), cmocka_unit_test(weights_that_are_not_there),
    cmocka_unit_test(many_empty_nodes),    cmocka_unit_test(many_empty_tensors),
    cmocka_unit_test(nesting_has_a_limit),
};
UNIT_MAIN(tests)
