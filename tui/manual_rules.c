/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doc/rules.md: each rule with a picture of it and how it is proved. */
#include "tui/manual.h"

#include "engine/engine.h"

#include <string.h>

enum { DRAWS = 8, SAMPLES = 12, TRIES = 40000 };

static bool is_named(void *ctx, const tg_rule_info *info)
{
    return strcmp(info->name, ctx) == 0;
}

/* The graph after the first site that can be taken; NULL if there is none. */
static tg_graph *taken(const tg_rules *one, const tg_graph *g)
{
    tg_sites *sites;
    tg_graph *after = NULL;
    if (tg_sites_find(one, g, NULL, &sites) != TG_OK) return NULL;
    for (int i = 0; i < tg_sites_count(sites) && !after; i++)
        if (tg_site_apply(one, g, tg_sites_get(sites, i), &after) != TG_OK) after = NULL;
    tg_sites_free(sites);
    return after;
}

/* The smallest of a few drawn graphs that the rule rewrites, and what becomes of it. */
static void find_example(const tg_rules *one, tg_graph **before, tg_graph **after)
{
    *before = *after = NULL;
    for (uint64_t seed = 1, found = 0; seed < 25 * DRAWS && found < DRAWS; seed++) {
        tg_graph *g;
        if (tg_rule_draw(one, 0, seed, &g) != TG_OK) continue;
        tg_graph *next = taken(one, g);
        found += next != NULL;
        bool better = next && (!*before || g->n_nodes < (*before)->n_nodes);
        tg_graph_unref(better ? *before : g);
        tg_graph_unref(better ? *after : next);
        if (better) *before = g, *after = next;
    }
}

static void add_picture(const char *title, const tg_graph *g, tg_str *out)
{
    const tg_picture_options options = {.view = {.level = 4}};
    tg_picture_report report;
    tg_str text = {0};
    if (tg_picture_text(g, &options, &text, &report) == TG_OK)
        tg_str_addf(out, "%s\n\n```\n%s```\n\n", title, tg_str_text(&text));
    tg_str_free(&text);
}

/* What does not depend on rounding: the field, or that samples were run. */
static void add_proof(const tg_rules *one, tg_str *out)
{
    const tg_rule_effort effort = {SAMPLES, TRIES, false};
    tg_rule_report r;
    if (tg_rule_prove_with(one, 0, 1, &effort, &r) == TG_OK && tg_rule_proved_exactly(&r))
        tg_str_addf(out,
                    "Proved exactly over a prime field: formulas of degree %.0f, and a false "
                    "one passes at a drawn graph with probability below %.0e.\n",
                    r.degree, r.slip);
    else tg_str_add(out, "Proved on drawn graphs and numbers.\n");
}

static void add_rule(const tg_rules *rules, int i, tg_str *out)
{
    const tg_rule_info *r = tg_rules_get(rules, i);
    tg_rules *one = tg_rules_select(rules, is_named, (void *)(uintptr_t)r->name);
    tg_graph *before, *after;
    tg_str facts = {0};
    tg_str_addf(out, "\n### %s\n\n%s\n\n```\n%s\n```\n\n", r->name, r->about, r->text);
    find_example(one, &before, &after);
    if (before) {
        add_picture("Before:", before, out);
        add_picture("After:", after, out);
    }
    tg_rule_conditions_text(one, 0, &facts);
    if (facts.n) tg_str_addf(out, "%s\n", tg_str_text(&facts));
    add_proof(one, out);
    tg_graph_unref(before);
    tg_graph_unref(after);
    tg_str_free(&facts);
    tg_rules_unref(one);
}

void ui_manual_rules(const tg_rules *rules, tg_str *out)
{
    const char *family = "";
    for (int i = 0; i < tg_rules_count(rules); i++) {
        const tg_rule_info *r = tg_rules_get(rules, i);
        if (strcmp(family, r->family) != 0) tg_str_addf(out, "\n## %s\n", r->family);
        family = r->family;
        add_rule(rules, i, out);
    }
}
