/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding rewrites with TASO's rules, and searching with them, beside what TASO needs: its figures
 * are of one core of a shared server (Jia et al., SOSP 2019, program f11782c).
 *
 *     bench_sites [PART]...     sites, growth, search: all if none is named
 */
#include "engine/engine.h"
#include "samples/samples.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15 };

static tg_rules *rules;

static void must(tg_status status)
{
    if (status == TG_OK) return;
    fprintf(stderr, "%s\n", tg_message());
    exit(1);
}

/* Of this thread: other programs may run. */
static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

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

/* ---- searches, each in a process of its own -------------------------------------------------- */

typedef struct result {
    tg_search_report report;
    double before, after, seconds, mb;
} result;

/* Memory in use, as the C library counts it. */
static double heap_mb(void)
{
    struct mallinfo2 m = mallinfo2();
    return (double)(m.uordblks + m.hblkhd) / 1048576;
}

static void note_heap(void *ctx, const tg_search_progress *p)
{
    double *most = ctx, now = heap_mb();
    (void)p;
    if (now > *most) *most = now;
}

static void search_here(const char *model, const char *by, int budget, double alpha, result *r)
{
    tg_graph *g = sample(model);
    tg_trail *best;
    double had = heap_mb(), most = had;
    tg_search_options o = {.alpha = alpha, .budget = budget, .progress = note_heap, .ctx = &most};
    int64_t start = cpu_ns();
    must(tg_search_run(tg_search_find(by), rules, g, &o, &r->report, &best));
    r->seconds = ms_since(start) / 1000;
    r->mb = most - had;
    r->before = tg_graph_cost_ms(g);
    r->after = best->cost_ms;
    tg_trail_unref(best);
    tg_graph_unref(g);
}

static result search(const char *model, const char *by, int budget, double alpha)
{
    int ends[2], status;
    result r = {.before = NAN};
    fflush(stdout);
    if (pipe(ends) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        search_here(model, by, budget, alpha, &r);
        _exit(write(ends[1], &r, sizeof r) == sizeof r ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &r, sizeof r) != sizeof r) exit(1);
    close(ends[0]);
    waitpid(child, &status, 0);
    return r;
}

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
        result r = search(name, "taso", 101, 1.05);
        double each = 1000 * r.seconds / r.report.expansions;
        printf("%-10s %6.3f %9.3f %9.4g %9.1f %7d %12.0f %14.4f\n", name + 5, r.seconds, each,
               peer[i], r.mb, r.report.queued, r.mb * 1048576 / (r.report.queued + 1), r.after);
        x[i] = log(layers[i]);
        y[i] = log(each);
        mx += x[i] / 6;
        my += y[i] / 6;
    }
    for (int i = 0; i < 6; i++) xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx);
    printf("time of an expansion grows as layers^%.2f; goals: 1.15, x32 below 1 s and 50 MB\n",
           xy / xx);
}

static void bench_search(void)
{
    static const struct {
        const char *name;
        int budget;
        double goal;
    } rows[] = {
        {"taso-squeezenet", 101, 0.2941}, {"taso-resnet18bn", 101, 0.7256},
        {"taso-resnet50", 1001, 1.8103},  {"taso-bert", 101, 0.7456},
        {"taso-resnext50", 101, 1.9398},  {"taso-inceptionv3", 31, 2.2903},
        {"taso-nasrnn", 101, 1.0072},     {"taso-nasnet_a", 101, 7.3709},
    };
    printf("\n%-18s %6s %9s %9s %9s %6s %5s %8s %7s\n", "taso, alpha 1.05", "budget", "before ms",
           "after ms", "goal ms", "", "at", "seconds", "MB");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        result r = search(rows[i].name, "taso", rows[i].budget, 1.05);
        printf("%-18s %6d %9.4f %9.4f %9.4f %6s %5d %8.3f %7.1f\n", rows[i].name,
               r.report.expansions, r.before, r.after, rows[i].goal,
               r.after < rows[i].goal + 0.00005 ? "met" : "missed", r.report.best_at, r.seconds,
               r.mb);
    }
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
    if (wanted(argc, argv, "search")) bench_search();
    tg_rules_unref(rules);
    return 0;
}
