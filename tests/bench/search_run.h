/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One search of one sample, in a process of its own so that its memory can be told. */
#ifndef BENCH_SEARCH_RUN_H
#define BENCH_SEARCH_RUN_H

#include "engine/engine.h"
#include "samples/samples.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct search_run {
    tg_search_report report;
    double before, after; /* analytic cost, ms */
    double seconds;       /* of the thread: other programs may run */
    double mb, heap_mb; /* at most, above what was there before; heap: while graphs are expanded */
    int steps;
} search_run;

static inline void must(tg_status status)
{
    if (status == TG_OK) return;
    fprintf(stderr, "%s\n", tg_message());
    exit(1);
}

static inline int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Memory in use, as the C library counts it. */
static inline double heap_mb(void)
{
    struct mallinfo2 m = mallinfo2();
    return (double)(m.uordblks + m.hblkhd) / 1048576;
}

/* The most that was resident, what libraries took by other ways included. */
static inline double resident_mb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

static inline void note_heap(void *ctx, const tg_search_progress *p)
{
    double *most = ctx, now = heap_mb();
    (void)p;
    if (now > *most) *most = now;
}

static inline void search_here(const tg_rules *rules, const char *model, const char *by,
                               tg_search_options o, search_run *r)
{
    tg_graph *g;
    tg_trail *best;
    must(tg_sample_build(model, 1, true, &g));
    double had = heap_mb(), most = had, resident = resident_mb();
    o.progress = note_heap;
    o.ctx = &most;
    int64_t start = cpu_ns();
    must(tg_search_run(tg_search_find(by), rules, g, &o, &r->report, &best));
    r->seconds = (double)(cpu_ns() - start) * 1e-9;
    r->heap_mb = most - had;
    r->mb = fmax(r->heap_mb, resident_mb() - resident);
    r->before = tg_graph_cost_ms(g);
    r->after = best->cost_ms;
    r->steps = best->depth;
    tg_trail_unref(best);
    tg_graph_unref(g);
}

static inline search_run search_apart(const tg_rules *rules, const char *model, const char *by,
                                      tg_search_options o)
{
    int ends[2], status;
    search_run r = {.before = NAN};
    fflush(stdout);
    if (pipe(ends) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        search_here(rules, model, by, o, &r);
        _exit(write(ends[1], &r, sizeof r) == sizeof r ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &r, sizeof r) != sizeof r) exit(1);
    close(ends[0]);
    waitpid(child, &status, 0);
    return r;
}

#endif
