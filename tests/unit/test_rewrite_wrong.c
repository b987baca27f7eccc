/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A proof that cannot fail proves nothing: wrong rules are found out. */
#include "tests/unit/unit.h"

#include "engine/base/str.h"
#include "engine/rewrite/prove.h"

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
    cmocka_unit_test(a_proof_repeats),
};

UNIT_MAIN(tests)
