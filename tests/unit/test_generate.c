/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that are found: what comes of a few operators, on any number of threads, in one go or two.
 */
#include "tests/unit/unit.h"

#include "engine/engine.h"

static const char *const algebra[] = {"Add", "Mul", "MatMul", "Relu"};
static const char *const joins[] = {"Relu", "Concat", "Split", "Add"};

static tg_generate_options options_of(const char *const *operators, int n, int max_nodes)
{
    return (tg_generate_options){.operators = operators,
                                 .n_operators = n,
                                 .max_nodes = max_nodes,
                                 .variables = 3,
                                 .threads = 1,
                                 .seed = 1};
}

static char *generate(const tg_generate_options *o, tg_generate_progress *last)
{
    tg_str text = {0};
    tg_generate_progress ignored;
    assert_ok(tg_generate(o, &text, last ? last : &ignored));
    return text.p ? text.p : tg_strdup("");
}

static tg_rules *rules_of(const char *text)
{
    tg_rules *rules;
    assert_ok(tg_rules_parse(text, "generated.rules", &rules));
    return rules;
}

static bool says(const tg_rules *rules, const char *about)
{
    for (int i = 0; i < tg_rules_count(rules); i++)
        if (strcmp(tg_rules_get(rules, i)->about, about) == 0) return true;
    return false;
}

static void laws_of_algebra_are_found(void **state)
{
    (void)state;
    tg_generate_options o = options_of(algebra, 4, 3);
    char *text = generate(&o, NULL);
    tg_rules *rules = rules_of(text);
    assert_true(says(rules, "MatMul(z, MatMul(x, y)) = MatMul(MatMul(z, x), y)"));
    assert_true(says(rules, "MatMul(MatMul(z, x), y) = MatMul(z, MatMul(x, y))"));
    assert_true(says(rules, "Add(MatMul(x, y), MatMul(x, z)) = MatMul(x, Add(y, z))"));
    assert_true(says(rules, "Mul(x, Add(y, z)) = Add(Mul(x, y), Mul(x, z))"));
    for (int i = 0; i < tg_rules_count(rules); i++) {
        tg_rule_report report;
        assert_ok(tg_rule_prove(rules, i, 99, 8, &report));
    }
    tg_rules_unref(rules);
    free(text);
}

/* No rule is another with its variables renamed, or two of the others in a row. */
static void what_follows_is_left_out(void **state)
{
    (void)state;
    tg_generate_options o = options_of(algebra, 4, 3);
    tg_generate_progress last;
    char *text = generate(&o, &last);
    tg_rules *rules = rules_of(text);
    assert_int_equal(tg_rules_count(rules), last.kept);
    assert_true(last.followed > 2 * last.kept);
    assert_false(says(rules, "MatMul(MatMul(x, x), x) = MatMul(x, MatMul(x, x))"));
    tg_rules_unref(rules);
    free(text);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    tg_generate_options o = options_of(joins, 4, 3);
    char *one = generate(&o, NULL);
    o.threads = 5;
    char *five = generate(&o, NULL);
    assert_string_equal(one, five);
    free(one);
    free(five);
}

/* Relu over what is joined, along any axis, and two that lie apart. */
static void joins_are_found(void **state)
{
    (void)state;
    tg_generate_options o = options_of(joins, 4, 3);
    char *text = generate(&o, NULL);
    tg_rules *rules = rules_of(text);
    assert_non_null(strstr(text, "axis=i"));
    assert_non_null(strstr(text, "apart "));
    tg_rules *cover;
    assert_ok(tg_rules_parse("rule   joined-before\nabout  x\ngiven  x:[a,_]  y:[a,_]\n"
                             "from   s = Relu(x)\n       t = Relu(y)\n"
                             "       u = Concat(s, t; axis=1)\n"
                             "to     c = Concat(x, y; axis=1)\n       u = Relu(c)\n\n"
                             "rule   twice\nabout  x\ngiven  x\n"
                             "from   s = Sigmoid(x)\n       u = Relu(s)\nto     u = Sigmoid(x)\n",
                             "test.rules", &cover));
    int steps[2];
    assert_ok(tg_rules_cover(rules, cover, 3, NULL, steps));
    assert_int_equal(steps[0], 1);
    assert_int_equal(steps[1], -1);
    tg_rules_unref(cover);
    tg_rules_unref(rules);
    free(text);
}

/* What a run that was cut off has decided is not decided again. */
static void a_run_goes_on(void **state)
{
    (void)state;
    char path[] = "/tmp/generate-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    tg_generate_options o = options_of(algebra, 4, 3);
    o.state = path;
    char *whole = generate(&o, NULL), *known;
    size_t size;
    assert_ok(tg_read_file(path, 1 << 20, &known, &size));
    assert_int_equal(truncate(path, (off_t)(size * 2 / 3)), 0);
    char *rest = generate(&o, NULL), *again;
    assert_string_equal(whole, rest);
    size_t size_again;
    assert_ok(tg_read_file(path, 1 << 20, &again, &size_again));
    assert_int_equal(size, size_again);
    assert_string_equal(known, again);
    free(known);
    free(again);
    free(whole);
    free(rest);
    remove(path);
}

static void what_cannot_be_asked_for_is_said(void **state)
{
    (void)state;
    static const char *const unknown[] = {"Add", "Softmax"};
    tg_generate_options o = options_of(unknown, 2, 2);
    tg_generate_progress last;
    tg_str text = {0};
    assert_int_equal(tg_generate(&o, &text, &last), TG_USAGE);
    assert_non_null(strstr(tg_message(), "no rules are generated for Softmax"));
    o = options_of(algebra, 4, 5);
    assert_int_equal(tg_generate(&o, &text, &last), TG_USAGE);
    assert_non_null(strstr(tg_message(), "1 to 4 operators"));
    o = options_of(algebra, 0, 2);
    assert_int_equal(tg_generate(&o, &text, &last), TG_USAGE);
    o = options_of(algebra, 4, 3);
    tg_job *job = tg_job_new();
    tg_job_cancel(job);
    o.job = job;
    assert_int_equal(tg_generate(&o, &text, &last), TG_CANCELLED);
    tg_job_unref(job);
    tg_str_free(&text);
}

static void a_folder_leaves_generated_rules_out(void **state)
{
    (void)state;
    const char *folder = unit_source("rules");
    tg_rules *all;
    assert_ok(tg_rules_load(&folder, 1, &all));
    for (int i = 0; i < tg_rules_count(all); i++)
        assert_string_not_equal(tg_rules_get(all, i)->family, "generated");
    tg_rules_unref(all);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(laws_of_algebra_are_found),
    cmocka_unit_test(what_follows_is_left_out),
    cmocka_unit_test(threads_do_not_matter),
    cmocka_unit_test(joins_are_found),
    cmocka_unit_test(a_run_goes_on),
    cmocka_unit_test(what_cannot_be_asked_for_is_said),
    cmocka_unit_test(a_folder_leaves_generated_rules_out),
};

UNIT_MAIN(tests)
