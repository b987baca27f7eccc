/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every rule that is installed is proved: one TAP line a rule. RULES=NAME proves one. */
#include "engine/rewrite/prove.h"
#include "tests/unit/unit.h"

enum { SAMPLES = 150 };

static tg_rules *rules;

static void proves(void **state)
{
    tg_rule_report report;
    const char *samples = getenv("PROVE_SAMPLES");
    int index = *(int *)*state;
    assert_ok(tg_rule_prove(rules, index, 20, samples ? atoi(samples) : SAMPLES, &report));
    assert_int_equal(report.earned, report.conditions);
    assert_true(report.samples > 0);
    if (getenv("PROVE_REPORT"))
        printf("# %s: %d samples, %d sites, %s, worst %.2g, %d conditions\n",
               tg_rules_get(rules, index)->name, report.samples, report.sites,
               report.exact ? "exact" : "rounded", report.worst, report.conditions);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    char *folder = tg_strdup(unit_source("rules"));
    const char *paths[] = {folder, unit_source("rules/generated.rules")}, *only = getenv("RULES");
    tg_status status = tg_rules_load(paths, 2, &rules);
    free(folder);
    if (status != TG_OK) {
        printf("Bail out! %s\n", tg_message());
        return 1;
    }
    int n = tg_rules_count(rules), kept = 0;
    struct CMUnitTest *tests = calloc((size_t)n, sizeof *tests);
    int *index = calloc((size_t)n, sizeof *index);
    for (int i = 0; i < n; i++) {
        const char *name = tg_rules_get(rules, i)->name;
        if (only && !strstr(name, only)) continue;
        index[kept] = i;
        tests[kept] = (struct CMUnitTest){name, proves, NULL, NULL, &index[kept]};
        kept++;
    }
    int failed = _cmocka_run_group_tests("rules", tests, (size_t)kept, NULL, NULL);
    free(tests);
    free(index);
    tg_rules_unref(rules);
    return unit_end(failed);
}
