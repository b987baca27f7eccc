/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All choosers that need no learning on the eight models that TASO and X-RLflow are measured on, by
 * the analytic cost: with TASO's sound rules where its file is there, and with the rules of
 * regraft.
 *
 *     bench_search [MODEL]...     the eight models if none is named
 */
#include "search_run.h"

#include <string.h>

/* What backtracking with exact hashes and sound rules reaches elsewhere, in ms (alpha 1.05). */
static const struct {
    const char *name;
    double peer;
} models[] = {
    {"taso-bert", 0.7456},     {"taso-squeezenet", 0.2941}, {"taso-resnet18bn", 0.7256},
    {"taso-resnet50", 1.8103}, {"taso-resnext50", 1.9398},  {"taso-inceptionv3", 2.2903},
    {"taso-nasrnn", 1.0072},   {"taso-nasnet_a", 7.3709},
};

enum { MODELS = sizeof models / sizeof *models };

static bool wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0 || strcmp(argv[i], name + 5) == 0) return true;
    return argc < 2;
}

static void table(const char *title, const tg_rules *rules, int argc, char **argv)
{
    static const char *const choosers[] = {"greedy", "taso", "beam", "saturate"};
    printf("\n%-17s %-9s %9s %9s %9s %6s %9s %8s %7s\n", title, "chooser", "before ms", "after ms",
           "peer ms", "steps", "graphs", "seconds", "MB");
    for (size_t i = 0; i < MODELS; i++) {
        for (size_t k = 0; k < sizeof choosers / sizeof *choosers; k++) {
            if (!wanted(argc, argv, models[i].name)) continue;
            tg_search_options o = {.alpha = 1.05};
            search_run r = search_apart(rules, models[i].name, choosers[k], o);
            printf("%-17s %-9s %9.4f %9.4f %9.4f %6d %9d %8.3f %7.1f%s\n", models[i].name,
                   choosers[k], r.before, r.after, models[i].peer, r.steps, r.report.expansions,
                   r.seconds, r.mb, r.report.proved ? "  proved cheapest" : "");
        }
    }
}

int main(int argc, char **argv)
{
    const char *shared = getenv("REGRAFT_SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/rules/graph_subst.pb", shared ? shared : "../shared");
    const char *paths[] = {path};
    tg_rules *rules;
    if (access(path, R_OK) != 0) printf("no rule file of TASO's at %s\n", path);
    else {
        must(tg_rules_load(paths, 1, &rules));
        table("TASO's rules", rules, argc, argv);
        tg_rules_unref(rules);
    }
    must(tg_rules_load(NULL, 0, &rules));
    table("regraft's rules", rules, argc, argv);
    tg_rules_unref(rules);
    return 0;
}
