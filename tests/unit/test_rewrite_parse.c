/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The language of rules: what is read, and what each mistake is told. */
#include "tests/unit/unit.h"

#include "engine/base/str.h"
#include "engine/rewrite/rule.h"

static const char *const two = "# a file\n"
                               "rule   one\n"
                               "about  First line\n"
                               "       and second.\n"
                               "given  x\n"
                               "from   y = Identity(x)\n"
                               "to     y = x\n"
                               "\n"
                               "# about the next\n"
                               "rule   two\n"
                               "given  x:[n,*s]  e:number\n"
                               "from   t = Add(x, e)\n"
                               "       y = Transpose(t; perm=[1,0,*p])\n"
                               "if     n == 3 or n > 5, rank(x) >= 2\n"
                               "pays   once(t) const(x)\n"
                               "to     y = Add(Transpose(x; perm=[1,0,*p]), e)\n";

static void paragraphs_become_rules(void **state)
{
    (void)state;
    tg_rules *rules;
    assert_ok(tg_rules_parse(two, "folder/some.rules", &rules));
    assert_int_equal(tg_rules_count(rules), 2);
    const tg_rule_info *info = tg_rules_get(rules, 0);
    assert_string_equal(info->name, "one");
    assert_string_equal(info->family, "some");
    assert_string_equal(info->about, "First line and second.");
    assert_string_equal(info->text, "rule   one\nabout  First line\n       and second.\n"
                                    "given  x\nfrom   y = Identity(x)\nto     y = x");
    assert_int_equal(info->line, 2);
    assert_int_equal(tg_rules_get(rules, 1)->line, 10);
    assert_int_equal(tg_rules_find(rules, "two"), 1);
    assert_int_equal(tg_rules_find(rules, "three"), -1);
    tg_rules_unref(rules);
}

/* A rule whose section `line` is replaced; what the message must hold. */
static const struct {
    const char *given, *from, *to, *place, *words;
} mistakes[] = {
    {"x", "y = Identiti(x)", "y = x", ":2:12", "did you mean Identity?"},
    {"x", "y = Transpose(x; prem=p)", "y = x", ":2:25", "did you mean perm?"},
    {"x", "y = Transpose(x; perm=p, perm=q)", "y = x", ":2:33", "twice"},
    {"x", "y = Add(x)", "y = x", ":2:12", "does not take 1 input"},
    {"x", "y = Add(x, z)", "y = x", ":2:19", "z is neither given nor made"},
    {"x z", "y = Identity(x)", "y = x", ":1:10", "stands in no line of from"},
    {"x x", "y = Identity(x)", "y = x", ":1:10", "given twice"},
    {"x", "y = Identity(x) y = Identity(x)", "y = x", ":2:24", "made twice"},
    {"x", "y = Identity(x)", "y = Identity(w)", ":3:21", "w is not bound"},
    {"x", "y = Identity(x)", "z = Identity(x)", ":0:1", "no name of `from`"},
    {"x", "y = Identity(x)", "y = Transpose(x; perm=q)", ":3:30", "q is not bound"},
    {"x", "y = Transpose(x; perm=inverse(p))", "y = x", ":2:30", "computed values go to if"},
    {"x:[n,*s,*t]", "y = Identity(x)", "y = x", ":1:16", "only one *"},
    {"x", "y = Identity(x", "y = x", ":3:1", "')' is missing"},
    {"x", "y = Identity(x)", "y = Reshape(x; shape=invers([1]))", ":3:29", "did you mean inverse?"},
    {"x", "y = Identity($)", "y = x", ":2:21", "no use for '$'"},
    {"*x", "y = Concat(x; axis=0)", "y = x", ":2:19", "is a list: *x"},
    {"x w", "y = Identity(x) z = Identity(w)", "y = x", ":2:12", "not connected"},
    {"x", "each *u = Identity(*x)", "*u = *x", ":2:28", "one value, not a list"},
};

static void mistakes_are_told_with_place_and_caret(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        tg_str text = {0};
        tg_rules *rules;
        char place[64];
        int line, column;
        tg_str_addf(&text, "rule   wrong\ngiven  %s\nfrom   %s\nto     %s\n", mistakes[i].given,
                    mistakes[i].from, mistakes[i].to);
        assert_status(tg_rules_parse(tg_str_text(&text), "bad.rules", &rules), TG_RULE);
        assert_int_equal(sscanf(mistakes[i].place, ":%d:%d", &line, &column), 2);
        snprintf(place, sizeof place, "bad.rules:%d:%d: ", line + 1, column);
        assert_contains(tg_message(), place);
        assert_contains(tg_message(), mistakes[i].words);
        const char *caret = strrchr(tg_message(), '\n');
        assert_non_null(caret);
        assert_int_equal(strlen(caret + 1), column);
        assert_int_equal(caret[column], '^');
        tg_str_free(&text);
    }
}

static void sections_are_needed_and_ordered(void **state)
{
    (void)state;
    tg_rules *rules;
    assert_status(tg_rules_parse("rule a\ngiven x\nto y = x\n", "f", &rules), TG_RULE);
    assert_contains(tg_message(), "the section from is missing");
    assert_status(tg_rules_parse("rule a\ngiven x\nfrom y = Identity(x)\n", "f", &rules), TG_RULE);
    assert_contains(tg_message(), "the section to is missing");
    assert_status(tg_rules_parse("given x\n", "f", &rules), TG_RULE);
    assert_contains(tg_message(), "begins with the word rule");
    assert_status(tg_rules_parse("rule Bad_Name\n", "f", &rules), TG_RULE);
    assert_contains(tg_message(), "small letters");
    tg_str text = {0};
    tg_str_addf(&text, "%s\n%s", two, two);
    assert_status(tg_rules_parse(tg_str_text(&text), "f", &rules), TG_RULE);
    assert_contains(tg_message(), "a rule of that name is on line 2");
    tg_str_free(&text);
}

static bool named_two(void *ctx, const tg_rule_info *info)
{
    (void)ctx;
    return strcmp(info->name, "two") == 0;
}

static void a_selection_outlives_its_set(void **state)
{
    (void)state;
    tg_rules *rules;
    assert_ok(tg_rules_parse(two, "some.rules", &rules));
    tg_rules *some = tg_rules_select(rules, named_two, NULL);
    tg_rules_unref(rules);
    assert_int_equal(tg_rules_count(some), 1);
    assert_string_equal(tg_rules_get(some, 0)->name, "two");
    tg_rules_unref(some);
}

static void folders_load_in_the_order_of_names(void **state)
{
    (void)state;
    tg_rules *rules;
    const char *folder = unit_source("rules");
    assert_ok(tg_rules_load(&folder, 1, &rules));
    for (int i = 1; i < tg_rules_count(rules); i++)
        assert_true(strcmp(tg_rules_get(rules, i - 1)->family, tg_rules_get(rules, i)->family) <=
                    0);
    tg_rules_unref(rules);
    folder = unit_source("no-such-folder");
    assert_status(tg_rules_load(&folder, 1, &rules), TG_IO);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(paragraphs_become_rules),
    cmocka_unit_test(mistakes_are_told_with_place_and_caret),
    cmocka_unit_test(sections_are_needed_and_ordered),
    cmocka_unit_test(a_selection_outlives_its_set),
    cmocka_unit_test(folders_load_in_the_order_of_names),
};

UNIT_MAIN(tests)
