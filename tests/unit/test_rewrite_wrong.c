/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A proof that cannot fail proves nothing: wrong rules are found out. */
#include "tests/unit/unit.h"

#include "engine/base/str.h"
#include "engine/rewrite/prove.h"

#include <math.h>

static const struct {
    const char *body, *words;
} wrong[] = {
    {"given x y\nfrom z = Sub(x, y)\nto z = Sub(y, x)", "differs"},
    {"given x\nfrom t = Transpose(x; perm=p)\n y = Transpose(t; perm=q)\n"
     "to y = Transpose(x; perm=compose(q, p))",
     "differs"},
    {"given x:[*p,_,_] y:[*q,_,_]\nfrom t = MatMul(x, y)\nto t = MatMul(y, x)", "differs"},
    {"given x\nfrom t = Cast(x; to=_, ..a)\n y = Cast(t; to=b, ..c)\nif b == type(x)\nto y = x",
     "differs"},
    {"given x k:[m,_,*r] b:[m]?0 scale,shift,mean,var:[m]\n"
     "from t = Conv(x, k, b; activation=\"\", ..a)\n"
     " y = BatchNormalization(t, scale, shift, mean, var; epsilon=e, training_mode=0, momentum=_)\n"
     "if above(var, 0)\n"
     "to gain = Div(scale, Sqrt(Add(var, e)))\n"
     " k' = Mul(k, Reshape(gain; shape=[m, 1, *fill(len(r), 1)]))\n"
     " b' = Add(Mul(Add(b, mean), gain), shift)\n"
     " y = Conv(x, k', b'; activation=\"\", ..a)",
     "differs"},
    {"given x y\nfrom z = Add(x, y)\nif floating(x)\nto z = Sub(x, Neg(y))", "never mattered"},
    {"given x\nfrom y = Relu(x)\nto y = x", "differs"},
    {"given x:[n] y:[n,n,n,n,n,n]\nfrom z = MatMul(y, y) w = Add(z, x)\nif n == 9\n"
     "to w = Add(x, z)",
     "no graph"},
    {"given x,z k\nfrom u = Conv(x, k; activation=\"\", ..a) v = Conv(z, k; activation=\"\", ..a)\n"
     " y = Add(u, v)\nto y = Conv(Add(x, z), k; activation=\"\", ..a)",
     "differs"},
};

static void wrong_rules_are_found_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tg_str text = {0};
        tg_rules *rules;
        tg_rule_report report;
        tg_str_addf(&text, "rule wrong\n%s\n", wrong[i].body);
        assert_ok(tg_rules_parse(tg_str_text(&text), "algebra.rules", &rules));
        tg_status status = tg_rule_prove(rules, 0, 3, 60, &report);
        if (status != TG_OK && !strstr(tg_message(), wrong[i].words))
            fail_msg("rule %zu: %s", i, tg_message());
        if (status == TG_OK) fail_msg("rule %zu was not found out", i);
        tg_rules_unref(rules);
        tg_str_free(&text);
    }
}

/* A paragraph that a person adds, wrong in its sign. */
static const char *const mine = "# sums of products\n"
                                "\n"
                                "rule   mine\n"
                                "about  Two products of one matrix are one of a difference.\n"
                                "given  x,y:[m,k] w:[k,n]\n"
                                "from   u = MatMul(x, w)\n"
                                "       v = MatMul(y, w)\n"
                                "       z = Sub(u, v)\n"
                                "to     d = Sub(y, x)\n"
                                "       z = MatMul(d, w)\n";

static void a_wrong_rule_says_where(void **state)
{
    (void)state;
    tg_rules *rules;
    tg_rule_report report;
    assert_ok(tg_rules_parse(mine, "mine.rules", &rules));
    assert_status(tg_rule_prove(rules, 0, 1, 20, &report), TG_DIFFERS);
    assert_contains(tg_message(), "mine.rules:3: rule mine: sample 0: result ");
    assert_contains(tg_message(), "z of line 8, replaced by line 10: element [");
    double before = 0, after = 0;
    const char *at = strstr(tg_message(), "] is ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "] is %lf before and %lf after", &before, &after), 2);
    assert_true(before != 0 && fabs(before + after) < 1e-3 * fabs(before));
    assert_contains(report.detail, "sample 0, before:\n");
    assert_contains(report.detail, "after:\n");
    assert_contains(report.detail, "on:\n");
    assert_contains(report.detail, "  w: float[");
    tg_rules_unref(rules);
}

static void a_rule_that_fits_nothing_says_why(void **state)
{
    (void)state;
    tg_rules *rules;
    tg_rule_report report;
    assert_ok(tg_rules_parse("rule mine\ngiven x:[a,b] y:[a,b]\nfrom z = MatMul(x, y)\n"
                             "if a > b\nto z = MatMul(x, y)",
                             "mine.rules", &rules));
    assert_status(tg_rule_prove(rules, 0, 1, 1, &report), TG_RULE);
    assert_contains(tg_message(), "mine.rules:1: rule mine: no graph was drawn");
    assert_contains(tg_message(), "could not be built (the first: ");
    assert_contains(tg_message(), "did not match, most likely for a condition");
    tg_rules_unref(rules);
    assert_ok(tg_rules_parse("rule mine\ngiven x,y\nfrom z = Add(x, y)\nif floating(x)\n"
                             "to z = Sub(x, Neg(y))",
                             "mine.rules", &rules));
    assert_status(tg_rule_prove(rules, 0, 1, 1, &report), TG_DIFFERS);
    assert_contains(tg_message(), "mine.rules:4:4: rule mine: this condition never mattered");
    tg_rules_unref(rules);
}

static void prove(const char *text, tg_rule_report *report)
{
    tg_rules *rules;
    assert_ok(tg_rules_parse(text, "mine.rules", &rules));
    assert_ok(tg_rule_prove(rules, 0, 1, 20, report));
    tg_rules_unref(rules);
}

/* Degrees come from the graphs; what is outside the field is left to samples. */
static void a_right_rule_says_how_it_was_proved(void **state)
{
    (void)state;
    tg_rule_report r;
    tg_str words = {0};
    prove("rule mine\ngiven x,y:[m,k] w:[k,n]\nfrom u = MatMul(x, w)\n v = MatMul(y, w)\n"
          " z = Sub(u, v)\nto z = MatMul(Sub(x, y), w)",
          &r);
    assert_true(tg_rule_proved_exactly(&r));
    assert_in_range(r.field, 15, 40);
    assert_int_equal(r.agreed, r.field);
    assert_true(r.degree == 2);
    assert_true(r.slip > 0 && r.slip < 1e-16);
    tg_rule_report_text(&r, &words);
    assert_contains(tg_str_text(&words), "exact over a prime field (");
    assert_contains(tg_str_text(&words), "degree 2, a false site passes with probability below");
    tg_str_clear(&words);
    prove("rule mine\ngiven x\nfrom y = Relu(x)\n z = Relu(y)\nto z = Relu(x)", &r);
    assert_false(tg_rule_proved_exactly(&r));
    tg_rule_report_text(&r, &words);
    assert_contains(tg_str_text(&words), "by sampling: 20 samples");
    tg_str_free(&words);
    prove("rule mine\ngiven x y:[] c\nfrom z = Div(x, y)\n w = Mul(z, c)\n"
          "if floating(x)\n"
          "to w = Div(Mul(x, c), y)",
          &r);
    assert_true(tg_rule_proved_exactly(&r));
    assert_true(r.degree >= 3);
}

static void a_proof_repeats(void **state)
{
    (void)state;
    tg_rules *rules;
    tg_rule_report a, b;
    const char *folder = unit_source("rules");
    assert_ok(tg_rules_load(&folder, 1, &rules));
    int i = tg_rules_find(rules, "fold-batchnorm-into-conv");
    assert_ok(tg_rule_prove(rules, i, 11, 10, &a));
    assert_ok(tg_rule_prove(rules, i, 11, 10, &b));
    assert_int_equal(a.samples, 10);
    assert_int_equal(a.sites, b.sites);
    assert_true(a.worst == b.worst);
    assert_int_equal(a.conditions, 1);
    assert_int_equal(a.earned, 1);
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wrong_rules_are_found_out),
    cmocka_unit_test(a_wrong_rule_says_where),
    cmocka_unit_test(a_rule_that_fits_nothing_says_why),
    cmocka_unit_test(a_right_rule_says_how_it_was_proved),
    cmocka_unit_test(a_proof_repeats),
};

UNIT_MAIN(tests)
