/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "library.h"

#include "follow.h"

enum { MOST_GROWTH = 1 };

static const follow_limits soon = {100, 4, 3, 400, 1};
static const follow_limits at_length = {100, 10, 6, 4000, 3};

void library_done(library *lib)
{
    tg_rules_unref(lib->rules);
    tg_rules_unref(lib->steps);
    tg_str_free(&lib->text);
    tg_str_free(&lib->steps_text);
    tg_vec_free(&lib->is_step);
}

static void append(tg_str *text, tg_rules **rules, const char *paragraph)
{
    if (text->n) tg_str_addc(text, '\n');
    tg_str_add(text, paragraph);
    tg_rules_unref(*rules);
    if (tg_rules_parse(tg_str_text(text), "generated.rules", rules) != TG_OK)
        *rules = NULL; /* cannot be: each was parsed */
}

void library_add(library *lib, const char *paragraph, int growth)
{
    bool is_step = growth <= MOST_GROWTH;
    append(&lib->text, &lib->rules, paragraph);
    if (is_step) append(&lib->steps_text, &lib->steps, paragraph);
    tg_vec_push(&lib->is_step, is_step);
    lib->n++;
}

bool library_derives(const library *lib, const tg_rules *rule, uint64_t seed)
{
    return lib->steps && follow_steps(lib->steps, rule, 0, seed, &soon) >= 0;
}

typedef struct without {
    const library *lib;
    const bool *gone; /* by index */
    int but;
} without;

static bool is_other_step(void *ctx, const tg_rule_info *info)
{
    const without *w = ctx;
    int i = tg_rules_find(w->lib->rules, info->name);
    return i != w->but && !w->gone[i] && w->lib->is_step.v[i];
}

bool library_can_spare(const library *lib, const bool *gone, int i)
{
    without w = {lib, gone, i};
    tg_rules *others = tg_rules_select(lib->rules, is_other_step, &w);
    int steps = follow_steps(others, lib->rules, i, (uint64_t)i, &at_length);
    tg_rules_unref(others);
    return steps >= 0;
}

void library_write(const library *lib, const bool *gone, tg_str *out)
{
    for (int i = 0; i < lib->n; i++) {
        if (gone[i]) continue;
        if (out->n) tg_str_addc(out, '\n');
        tg_str_addf(out, "%s\n", tg_rules_get(lib->rules, i)->text);
    }
}
