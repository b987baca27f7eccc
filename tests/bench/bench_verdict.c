/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far verdicts can be trusted on this machine: identical graphs should be called the same 95
 * times in 100, and a graph with 3 % more work slower 80 times in 100, within 10 s of measuring
 * each. The work that is added is one more product of matrices, beside a chain of convolutions; how
 * many rows it has is found by measuring, and so is what it then really takes.
 *
 *     VERDICTS=100 SECONDS=10 make bench
 */
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/vec.h"
#include "engine/ir/build.h"
#include "engine/measure/bench.h"
#include "engine/ops/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 12, CHANNELS = 64, SIDE = 28, WIDTH = 256, TRIAL_ROWS = 640 };
#define SHARE 0.03

typedef struct net {
    tg_builder *b;
    tg_rng *rng;
} net;

static tg_value weight(net *n, tg_shape shape, double scale)
{
    tg_tensor t = {TG_F32, shape, NULL};
    float *x = tg_calloc(1, tg_tensor_bytes(&t));
    for (int64_t i = 0; i < tg_tensor_count(&t); i++) x[i] = (float)(scale * tg_rng_normal(n->rng));
    return tg_build_const(n->b, TG_F32, &shape, tg_weight_own(x, tg_tensor_bytes(&t)), NULL);
}

static tg_value node(net *n, const tg_node_spec *spec)
{
    uint32_t id;
    if (tg_build_node(n->b, spec, &id) != TG_OK) {
        fprintf(stderr, "%s\n", tg_message());
        exit(1);
    }
    return tg_value_of(id, 0);
}

static tg_value convolution(net *n, tg_value x)
{
    static const int64_t pads[] = {1, 1, 1, 1};
    tg_named_attr attrs[] = {{"pads", TG_ATTR_OF_INTS((int64_t *)(uintptr_t)pads, 4)}};
    tg_value in[] = {x, weight(n, tg_shape_of(CHANNELS, CHANNELS, 3, 3), 0.05)};
    tg_value y = node(
        n, &(tg_node_spec){.op = TG_OP(Conv), .in = in, .n_in = 2, .attrs = attrs, .n_attrs = 1});
    return node(n, &(tg_node_spec){.op = TG_OP(Relu), .in = &y, .n_in = 1});
}

/* The chain, and beside it a product of `rows` rows; 0: none. */
static tg_graph *chain(int rows)
{
    static const char *const names[] = {"y", "more"};
    tg_origin *origin = tg_origin_new();
    net n = {tg_builder_new(origin), tg_rng_new(1)};
    tg_type type = {TG_F32, tg_shape_of(1, CHANNELS, SIDE, SIDE)};
    tg_value out[2] = {tg_build_input(n.b, "x", &type), 0};
    for (int i = 0; i < LAYERS; i++) out[0] = convolution(&n, out[0]);
    if (rows) {
        tg_type more = {TG_F32, tg_shape_of(rows, WIDTH)};
        tg_value in[] = {tg_build_input(n.b, "z", &more),
                         weight(&n, tg_shape_of(WIDTH, WIDTH), 0.05)};
        out[1] = node(&n, &(tg_node_spec){.op = TG_OP(MatMul), .in = in, .n_in = 2});
    }
    tg_build_outputs(n.b, out, names, rows ? 2 : 1);
    tg_graph *g;
    if (tg_build_done(n.b, &g) != TG_OK) exit(1);
    tg_rng_free(n.rng);
    tg_origin_unref(origin);
    return g;
}

/* The arithmetic of the product, as a share of that of the chain. */
static double arithmetic(int rows)
{
    return 2.0 * rows * WIDTH * WIDTH / (2.0 * LAYERS * CHANNELS * CHANNELS * 9 * (SIDE * SIDE));
}

static tg_comparison compare(const tg_graph *a, const tg_graph *b, double seconds, uint64_t seed,
                             bool whole)
{
    tg_comparison c;
    tg_measure_options o = {.budget_ms = seconds * 1000, .seed = seed, .whole_budget = whole};
    if (tg_measure_compare(tg_backend_find("cpu"), a, b, &o, &c) != TG_OK) {
        fprintf(stderr, "%s\n", tg_message());
        exit(1);
    }
    return c;
}

/* As many rows as take SHARE of the chain's time; time goes with the rows. */
static int rows_wanted(const tg_graph *base, double seconds)
{
    tg_graph *trial = chain(TRIAL_ROWS);
    tg_comparison c = compare(base, trial, seconds, 1, true);
    tg_graph_unref(trial);
    int rows = (int)lround(TRIAL_ROWS * SHARE / fmax(c.ratio - 1, 0.001));
    return rows < 1 ? 1 : rows;
}

typedef struct tally {
    int verdicts[4];
    double seconds;
    TG_VEC(double) widths;
    TG_VEC(double) ratios;
} tally;

static void count(tally *t, const tg_graph *a, const tg_graph *b, double seconds, uint64_t seed)
{
    int64_t start = tg_clock_ns();
    tg_comparison c = compare(a, b, seconds, seed, false);
    t->seconds += (double)(tg_clock_ns() - start) * 1e-9;
    t->verdicts[c.verdict]++;
    tg_vec_push(&t->widths, c.ratio_high - c.ratio_low);
    tg_vec_push(&t->ratios, c.ratio);
}

static void print_tally(const char *what, tally *t, tg_verdict wanted, int least)
{
    int n = (int)t->widths.n;
    printf("%-10s", what);
    for (int v = 0; v < 4; v++) printf("  %s %d", tg_verdict_name((tg_verdict)v), t->verdicts[v]);
    printf(
        "  of %d; ratio %.4f (5 to 95 %%: %.4f to %.4f), interval %.2f %% wide (medians), %.1f s "
        "each\n",
        n, tg_stats_median(t->ratios.v, n), tg_stats_quantile(t->ratios.v, n, 0.05),
        tg_stats_quantile(t->ratios.v, n, 0.95), 100 * tg_stats_median(t->widths.v, n),
        t->seconds / n);
    printf("%-10s  wanted: %s %d in 100; found %.0f\n", "", tg_verdict_name(wanted), least,
           100.0 * t->verdicts[wanted] / n);
    tg_vec_free(&t->widths);
    tg_vec_free(&t->ratios);
}

static void print_load(void)
{
    double load[3] = {0};
    (void)!getloadavg(load, 3);
    printf("load average %.2f %.2f %.2f\n", load[0], load[1], load[2]);
}

static double setting(const char *name, double usual)
{
    const char *text = getenv(name);
    double x = text ? atof(text) : 0;
    return x > 0 ? x : usual;
}

int main(void)
{
    int n = (int)setting("VERDICTS", 100);
    double seconds = setting("SECONDS", 10);
    char identity[128];
    tally same = {.seconds = 0}, more = {.seconds = 0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s, one thread\n", tg_backend_find("cpu")->identity(identity, sizeof identity));
    print_load();
    tg_graph *base = chain(0);
    int rows = rows_wanted(base, 2 * seconds);
    tg_graph *other = chain(rows);
    tg_comparison c = compare(base, other, 4 * seconds, 2, true);
    printf("%d convolutions of %d channels, %.2f ms; more: a product [%d,%d][%d,%d], %.2f %% of "
           "the arithmetic, by long measuring %.2f %% [%.2f, %.2f] of the time\n",
           LAYERS, CHANNELS, c.before_ms, rows, WIDTH, WIDTH, WIDTH, 100 * arithmetic(rows),
           100 * (c.ratio - 1), 100 * (c.ratio_low - 1), 100 * (c.ratio_high - 1));
    for (int i = 0; i < n; i++) {
        count(&same, base, base, seconds, (uint64_t)i + 10);
        count(&more, base, other, seconds, (uint64_t)i + 10);
    }
    print_tally("identical", &same, TG_SAME, 95);
    print_tally("3 % more", &more, TG_SLOWER, 80);
    print_load();
    tg_graph_unref(base);
    tg_graph_unref(other);
    return 0;
}
