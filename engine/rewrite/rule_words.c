/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "func.h"
#include "sites.h"

static void add_facts(const expr *e, uint64_t *told, tg_str *out)
{
    for (int i = 0; i < e->n_args; i++) add_facts(e->args[i], told, out);
    if (e->kind != EXPR_FACT || *told >> e->fn & 1) return;
    *told |= (uint64_t)1 << e->fn;
    tg_str_addf(out, "- `%s`: %s\n", fact_rows[e->fn].name, fact_rows[e->fn].doc);
}

void tg_rule_conditions_text(const tg_rules *rules, int i, tg_str *out)
{
    const tg_rule *rule = tg_rules_rule(rules, i);
    uint64_t told = 0;
    for (int k = 0; k < rule->n_facts; k++) add_facts(rule->facts[k].e, &told, out);
}
