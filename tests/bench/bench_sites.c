/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding rewrites with TASO's rules, and how that grows, beside what TASO needs: its figures
 * are of one core of a shared server (Jia et al., SOSP 2019, program f11782c).
 *
 *     bench_sites [PART]...     sites, growth: both if none is named
 */
#include "search_run.h"

#include <string.h>

enum { ROUNDS = 15 };

static tg_rules *rules;

static double ms_since(int64_t start)
{
    return (double)(cpu_ns() - start) * 1e-6;
}

static tg_graph *sample(const char *name)
{
    tg_graph *g;
    must(tg_sample_build(name, 1, true, &g));
    return g;
}

/* ---- sites and previews of one graph -------------------------------------------------------- */

static double time_find(const tg_graph *g, tg_candidates **keep)
{
    double ms[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = cpu_ns();
        must(tg_candidates_find(rules, g, NULL, keep));
        ms[i] = ms_since(start);
        if (i + 1 < ROUNDS) tg_candidates_free(*keep);
    }
    return tg_stats_quantile(ms, ROUNDS, 0.25);
}

/* After the candidate in the middle is taken. */
static double time_update(const tg_candidates *c, int *after)
{
    double ms[ROUNDS];
    tg_graph *next;
    must(tg_candidates_apply(c, tg_candidates_count(c) / 2, &next));
    for (int i = 0; i < ROUNDS; i++) {
        tg_candidates *updated;
        int64_t start = cpu_ns();
        must(tg_candidates_update(c, next, NULL, &updated));
        ms[i] = ms_since(start);
        *after = tg_candidates_count(updated);
        tg_candidates_free(updated);
    }
    tg_graph_unref(next);
    return tg_stats_quantile(ms, ROUNDS, 0.25);
}

static void bench_sites(void)
{
    static const struct {
        const char *name;
        double peer_ms, goal_ms;
    } rows[] = {
        {"taso-bert", 17, 1},         {"taso-squeezenet", 26, NAN}, {"taso-resnet18bn", 16, NAN},
        {"taso-resnet50", 14.5, NAN}, {"taso-resnext50", 19, NAN},  {"taso-inceptionv3", 53, NAN},
        {"taso-nasrnn", 500, 10},     {"taso-nasnet_a", 1750, 20},
    };
    printf("%-18s %10s %9s %9s %9s %11s %7s\n", "sites + previews", "candidates", "first ms",
           "goal ms", "TASO ms", "update ms", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_graph *g = sample(rows[i].name);
        tg_candidates *c;
        int after = 0;
        double first = time_find(g, &c), update = time_update(c, &after);
        printf("%-18s %10d %9.2f %9.4g %9.4g %11.3f %7.3f\n", rows[i].name, tg_candidates_count(c),
               first, rows[i].goal_ms, rows[i].peer_ms, update, update / first);
        tg_candidates_free(c);
        tg_graph_unref(g);
    }
}

/* ---- growth with the graph ------------------------------------------------------------------- */

static void bench_growth(void)
{
    static const int layers[] = {1, 2, 4, 8, 16, 32};
    static const double peer[] = {0.15, 0.44, 1.38, 6.24, 37.76, 313.48};
    double x[6], y[6], mx = 0, my = 0, xy = 0, xx = 0;
    printf("\n%-10s %6s %9s %9s %9s %7s %12s %14s\n", "taso, 1.05", "seconds", "ms each", "TASO ms",
           "MB", "queued", "bytes each", "best ms");
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "taso-bertx%d", layers[i]);
        tg_search_options o = {.alpha = 1.05, .budget = 101};
        search_run r = search_apart(rules, name, "taso", o);
        double each = 1000 * r.seconds / r.report.expansions;
        printf("%-10s %6.3f %9.3f %9.4g %9.1f %7d %12.0f %14.4f\n", name + 5, r.seconds, each,
               peer[i], r.heap_mb, r.report.queued, r.heap_mb * 1048576 / (r.report.queued + 1),
               r.after);
        x[i] = log(layers[i]);
        y[i] = log(each);
        mx += x[i] / 6;
        my += y[i] / 6;
    }
    for (int i = 0; i < 6; i++) xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx);
    printf("time of an expansion grows as layers^%.2f; goals: 1.15, x32 below 1 s and 50 MB\n",
           xy / xx);
}

static bool wanted(int argc, char **argv, const char *part)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], part) == 0) return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    const char *shared = getenv("REGRAFT_SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/rules/graph_subst.pb", shared ? shared : "../shared");
    const char *paths[] = {path};
    if (access(path, R_OK) != 0) {
        printf("no rule file of TASO's at %s\n", path);
        return 0;
    }
    must(tg_rules_load(paths, 1, &rules));
    if (wanted(argc, argv, "sites")) bench_sites();
    if (wanted(argc, argv, "growth")) bench_growth();
    tg_rules_unref(rules);
    return 0;
}
