/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planning a graph that is one rewrite away from a planned one, against planning the first graph in
 * a fresh process. Times are of the thread, in ms.
 *
 *     bench_plan [FOLDER]     FOLDER holds the models, as ../shared/models does
 */
#include "tests/bench/models.h"

#include "engine/base/clock.h"
#include "engine/exec/cpu/prim.h"
#include "engine/measure/stats.h"
#include "engine/rewrite/sites.h"
#include "samples/samples.h"

#include <sys/wait.h>

enum { NEIGHBOURS = 40 };

typedef struct timing {
    double ms;
    unsigned made; /* primitives that were not there yet */
} timing;

static tg_status plan_timed(const tg_graph *g, tg_plan **plan, timing *t)
{
    int64_t start = tg_clock_thread_ns();
    unsigned made = tg_prim_made();
    TG_TRY(tg_plan_new(tg_backend_find("cpu"), g, NULL, plan));
    *t = (timing){(double)(tg_clock_thread_ns() - start) * 1e-6, tg_prim_made() - made};
    return TG_OK;
}

/* Candidates spread over all there are. */
static tg_status plan_neighbours(const tg_graph *g, double *ms, double *made, int *n)
{
    tg_rules *rules;
    tg_candidates *all;
    tg_status status = TG_OK;
    TG_TRY(tg_rules_load(NULL, 0, &rules));
    TG_TRY(tg_candidates_find(rules, g, NULL, &all));
    int count = tg_candidates_count(all), most = count < NEIGHBOURS ? count : NEIGHBOURS;
    for (*n = 0; *n < most && status == TG_OK; ++*n) {
        tg_graph *next;
        tg_plan *plan;
        timing t;
        status = tg_candidates_apply(all, *n * count / most, &next);
        if (status != TG_OK) break;
        status = plan_timed(next, &plan, &t);
        if (status == TG_OK) tg_plan_free(plan);
        ms[*n] = t.ms;
        made[*n] = t.made;
        tg_graph_unref(next);
    }
    tg_candidates_free(all);
    tg_rules_unref(rules);
    return status;
}

static tg_status bench_graph(const char *name, const tg_graph *g)
{
    tg_plan *plan;
    timing first;
    double ms[NEIGHBOURS], made[NEIGHBOURS];
    int n = 0;
    TG_TRY(plan_timed(g, &plan, &first));
    tg_status status = plan_neighbours(g, ms, made, &n);
    tg_plan_free(plan);
    if (status != TG_OK || !n) return status;
    double median = tg_stats_median(ms, n), most = tg_stats_quantile(ms, n, 1);
    printf("%-20s %8.2f %5u %5d %8.2f %8.2f %7.1f %7.1f %5.1f\n", name, first.ms, first.made, n,
           median, most, 100 * median / first.ms, 100 * most / first.ms, tg_stats_median(made, n));
    return status;
}

static tg_status bench_named(const char *folder, const char *name)
{
    char path[2048];
    model_case m = {.g = NULL};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) == 0) TG_TRY(model_load(path, &m));
    else TG_TRY(tg_sample_build(name, 1, false, &m.g));
    tg_status status = bench_graph(name, m.g);
    model_done(&m);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"squeezenet_rand", "squeezenet", "resnet18",
                                        "bertlike_mlm_vespa", "shufflenet_rand"};
    const char *shared = getenv("REGRAFT_SHARED");
    char folder[2000];
    snprintf(folder, sizeof folder, "%s/models", shared ? shared : "../shared");
    if (argc > 1) snprintf(folder, sizeof folder, "%s", argv[1]);
    printf("planning a graph, then graphs one rewrite away; made: primitives new to the process\n");
    printf("%-20s %8s %5s %5s %8s %8s %7s %7s %5s\n", "model", "first", "made", "next", "median",
           "most", "median%", "most%", "made");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (bench_named(folder, names[i]) != TG_OK)
                printf("%-20s %s\n", names[i], tg_message());
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
