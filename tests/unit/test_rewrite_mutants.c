/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mistakes seeded into every rule that is installed: the proof must find at least 98 of 100.
 *
 * A mutant is caught by the reader (it is no rule any more), by the drawing (no graph fits it) or
 * by the proof, whose samples are those of `regraft rules check`. What is not caught is looked at
 * longer, and does not count where it is no mistake:
 *
 *   does the same   on 100 drawn graphs that it rewrites it makes a graph that the rule makes, too
 *   fits less       six times as many samples and its conditions hold; elsewhere the shapes or
 *                   types would change, so that the engine does not take its sites
 *   is right        the same, without such sites: another way to write the rule, or another rule
 *
 * A dropped condition is never excused by the first. All others survive.
 *
 * RULES=NAME takes the rules whose names have that in them; MUTANTS_EVERY=N each N-th mutant
 * (default 10; 1 is all of them: `make mutants`); MUTANTS_REPORT=1 prints what was not caught.
 */
#include "engine/base/clock.h"
#include "engine/rewrite/prove.h"
#include "engine/rewrite/sites.h"
#include "tests/unit/rule_mutants.h"

enum { SAMPLES = 150, LONG = 600, TRIES = 3000, EVERY = 10, GRAPHS = 100, SITES = 4 };

typedef struct tally {
    int all, reader, drawing, proof, same, narrow, right, survived;
} tally;

static tg_rules *rules;

static bool is_named(void *ctx, const tg_rule_info *info)
{
    return strcmp(info->name, ctx) == 0;
}

/* Does some site of the rule give this graph, too? */
static bool rule_gives(const tg_rules *one, const tg_graph *g, uint64_t hash)
{
    tg_sites *sites;
    bool found = false;
    assert_ok(tg_sites_find(one, g, NULL, &sites));
    for (int i = 0; i < tg_sites_count(sites) && !found; i++) {
        tg_graph *after;
        if (tg_site_apply(one, g, tg_sites_get(sites, i), &after) != TG_OK) continue;
        found = after->hash == hash;
        tg_graph_unref(after);
    }
    tg_sites_free(sites);
    return found;
}

/* *taken: sites of the mutant that could be taken. */
static bool same_on(const tg_rules *one, const tg_rules *changed, const tg_graph *g, int *taken)
{
    tg_sites *sites;
    bool same = true;
    assert_ok(tg_sites_find(changed, g, NULL, &sites));
    for (int i = 0; i < tg_sites_count(sites) && i < SITES && same; i++) {
        tg_graph *after;
        if (tg_site_apply(changed, g, tg_sites_get(sites, i), &after) != TG_OK) continue;
        (*taken)++;
        same = rule_gives(one, g, after->hash);
        tg_graph_unref(after);
    }
    tg_sites_free(sites);
    return same;
}

/* On GRAPHS drawn graphs that the mutant rewrites it makes what the rule makes. */
static bool does_the_same(const char *name, const tg_rules *changed)
{
    tg_rules *one = tg_rules_select(rules, is_named, (void *)(uintptr_t)name);
    bool same = true;
    int graphs = 0;
    for (uint64_t seed = 1; seed < 40 * GRAPHS && graphs < GRAPHS && same; seed++) {
        tg_graph *g;
        int taken = 0;
        if (tg_rule_draw(changed, 0, seed, &g) != TG_OK) continue;
        same = same_on(one, changed, g, &taken);
        graphs += taken > 0;
        tg_graph_unref(g);
    }
    tg_rules_unref(one);
    return same && graphs == GRAPHS;
}

static void tell(const char *what, const tg_rule *rule, const mutant *m)
{
    if (!getenv("MUTANTS_REPORT")) return;
    const char *line = m->text;
    for (int i = 1; i < m->line; i++) line = strchr(line, '\n') + 1;
    printf("# %s %s: %s: %.*s   (was: %s)\n", m->kind, what, rule->info.name,
           (int)strcspn(line, "\n"), line, m->gone);
    if (strcmp(what, "survives") == 0) printf("#   %.300s\n", tg_message());
}

static void look_longer(const tg_rule *rule, const mutant *m, const tg_rules *changed, tally *t)
{
    const tg_rule_effort effort = {LONG, TRIES, true};
    tg_rule_report report;
    tg_status status = tg_rule_prove_with(changed, 0, 77, &effort, &report);
    const char *what = "is right";
    if (status == TG_DIFFERS && strstr(tg_message(), "never mattered")) {
        t->proof++;
        return;
    }
    if (status == TG_DIFFERS) t->survived++, what = "survives";
    else if (status != TG_OK || report.refused) t->narrow++, what = "fits less";
    else t->right++;
    tell(what, rule, m);
}

static void try_mutant(const tg_rule *rule, const mutant *m, tally *t)
{
    const tg_rule_effort quick = {SAMPLES, TRIES, false};
    char file[80];
    tg_rules *changed;
    tg_rule_report report;
    t->all++;
    snprintf(file, sizeof file, "%s.rules", rule->info.family);
    if (tg_rules_parse(m->text, file, &changed) != TG_OK) {
        t->reader++;
        return;
    }
    tg_status status = tg_rule_prove_with(changed, 0, 5, &quick, &report);
    bool dropped = strcmp(m->kind, "condition") == 0;
    if (status == TG_DIFFERS) t->proof++;
    else if (status != TG_OK) t->drawing++;
    else if (!dropped && does_the_same(rule->info.name, changed)) t->same++;
    else look_longer(rule, m, changed, t);
    tg_rules_unref(changed);
}

static int every(void)
{
    const char *n = getenv("MUTANTS_EVERY");
    return n && atoi(n) > 0 ? atoi(n) : EVERY;
}

static void mistakes_are_caught(void **state)
{
    (void)state;
    const char *only = getenv("RULES");
    tally t = {0};
    int number = 0, step = every();
    for (int i = 0; i < tg_rules_count(rules); i++) {
        const tg_rule *rule = tg_rules_rule(rules, i);
        if (only && !strstr(rule->info.name, only)) continue;
        int64_t start = tg_clock_ns();
        mutant_vec all = mutants_of(rule);
        for (size_t k = 0; k < all.n; k++)
            if (number++ % step == 0) try_mutant(rule, &all.v[k], &t);
        mutants_free(&all);
        double seconds = (double)(tg_clock_ns() - start) / 1e9;
        if (getenv("MUTANTS_REPORT") && seconds > 2)
            printf("# %s took %.1f s\n", rule->info.name, seconds);
    }
    int caught = t.reader + t.drawing + t.proof, real = t.all - t.same - t.narrow - t.right;
    printf(
        "# %d mutants of %d rules: caught %d of %d = %.2f %% (%d by the reader, %d by the "
        "drawing, %d by the proof), %d do the same, %d fit fewer sites, %d are right, %d survive\n",
        t.all, tg_rules_count(rules), caught, real, 100.0 * caught / real, t.reader, t.drawing,
        t.proof, t.same, t.narrow, t.right, t.survived);
    assert_true(t.all > 0);
    assert_true(caught >= 0.98 * real);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes_are_caught)};

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *folder = unit_source("rules");
    if (tg_rules_load(&folder, 1, &rules) != TG_OK) {
        printf("Bail out! %s\n", tg_message());
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tg_rules_unref(rules);
    return unit_end(failed);
}
