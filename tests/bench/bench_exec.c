/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the cpu backend does with real models: planning, running, memory, and how far that is from
 * the machine's floor, which is the model's arithmetic at the speed of a large matrix product.
 *
 *     bench_exec [FOLDER [NAME]...]     FOLDER holds the models, as ../shared/models does
 */
#include "tests/bench/models.h"

#include "engine/base/clock.h"
#include "engine/ir/build.h"
#include "engine/measure/stats.h"
#include "engine/ops/cost.h"
#include "engine/ops/ops.h"

enum { SAMPLES = 400 };

static double ms_since(int64_t start)
{
    return (double)(tg_clock_ns() - start) * 1e-6;
}

static double flops_of(const tg_graph *g)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        tg_type in[TG_MAX_PORTS];
        if (node->constant || node->n_in > TG_MAX_PORTS) continue;
        for (int k = 0; k < node->n_in; k++)
            in[k] = node->in[k] == TG_NO_VALUE ? (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN}
                                               : *tg_graph_type(g, node->in[k]);
        sum += tg_op_work(node->op, node->attrs->a, in, node->n_in, node->out, node->n_out).flops;
    }
    return sum;
}

/* Samples of thread-CPU time in ms for about `budget` ms; how many. */
static int time_plan(tg_plan *plan, double budget, double *ms)
{
    int n = 0;
    int64_t start = tg_clock_ns();
    while (n < SAMPLES && (n < 5 || ms_since(start) < budget)) {
        tg_sample s;
        if (tg_plan_time(plan, &s) != TG_OK) return 0;
        ms[n++] = (double)s.cpu_ns * 1e-6;
    }
    return n;
}

/* The speed of a product of two 1024 x 1024 matrices, in flops a ms. */
static double peak_speed(void)
{
    enum { N = 1024 };
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_shape shape = tg_shape_of(N, N);
    tg_type type = {TG_F32, shape};
    float *w = tg_calloc((size_t)N * N, sizeof *w), *x = tg_calloc((size_t)N * N, sizeof *x);
    for (int i = 0; i < N * N; i++) w[i] = x[i] = (float)(i % 7);
    tg_weight *weight = tg_weight_own(w, sizeof *w * N * N);
    tg_value in[] = {tg_build_input(b, "x", &type), tg_build_const(b, TG_F32, &shape, weight, "")};
    tg_node_spec spec = {.op = TG_OP(MatMul), .in = in, .n_in = 2};
    uint32_t id;
    tg_graph *g;
    tg_plan *plan;
    double ms[SAMPLES], speed = 0;
    tg_tensor t = {TG_F32, shape, x};
    if (tg_build_node(b, &spec, &id) != TG_OK) abort();
    tg_value out = tg_value_of(id, 0);
    tg_build_outputs(b, &out, (const char *[]){"y"}, 1);
    if (tg_build_done(b, &g) != TG_OK) abort();
    if (tg_plan_new(tg_backend_find("cpu"), g, NULL, &plan) == TG_OK) {
        int n = tg_plan_load(plan, &t) == TG_OK ? time_plan(plan, 600, ms) : 0;
        if (n) speed = 2.0 * N * N * N / tg_stats_quantile(ms, n, 0.05);
        tg_plan_free(plan);
    }
    tg_graph_unref(g);
    tg_origin_unref(origin);
    free(x);
    return speed;
}

static void bench_model(const char *folder, const char *name, double peak)
{
    char path[2048];
    model_case m;
    tg_plan *plan, *again;
    double ms[SAMPLES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (model_load(path, &m) != TG_OK) {
        printf("%-32s %s\n", name, tg_message());
        return;
    }
    int64_t start = tg_clock_ns();
    if (tg_plan_new(tg_backend_find("cpu"), m.g, NULL, &plan) != TG_OK) {
        printf("%-32s %s\n", name, tg_message());
        model_done(&m);
        return;
    }
    double first = ms_since(start);
    start = tg_clock_ns();
    if (tg_plan_new(tg_backend_find("cpu"), m.g, NULL, &again) == TG_OK) tg_plan_free(again);
    double second = ms_since(start);
    const tg_plan_stats *s = tg_plan_stats_of(plan);
    int n = tg_plan_load(plan, m.in) == TG_OK ? time_plan(plan, 1500, ms) : 0;
    double flops = flops_of(m.g), median = n ? tg_stats_median(ms, n) : 0;
    printf("%-32s %6.1f %6.2f %8.3f %8.3f %7.1f %8.3f %6.1f %7.2f %7.2f %5d %4d %4d %4d  %s\n",
           name, first, second, n ? tg_stats_quantile(ms, n, 0.25) : 0, median, flops * 1e-6,
           flops / peak, median * peak / flops, (double)s->peak_bytes / 1e6,
           (double)s->weight_bytes / 1e6, s->steps, s->reorders, s->reference, s->slow,
           s->slow_names);
    tg_plan_free(plan);
    model_done(&m);
}

int main(int argc, char **argv)
{
    const char *shared = getenv("REGRAFT_SHARED");
    char folder[2000];
    char identity[128];
    snprintf(folder, sizeof folder, "%s/models", shared ? shared : "../shared");
    if (argc > 1) snprintf(folder, sizeof folder, "%s", argv[1]);
    double peak = peak_speed();
    printf("%s, one thread; a product of 1024 x 1024 matrices runs at %.0f GFLOP/s\n",
           tg_backend_find("cpu")->identity(identity, sizeof identity), peak * 1e-6);
    printf("times in ms of thread-CPU time, memory in MB; floor: arithmetic at that speed\n");
    printf("ref, slow: operators by reference kernels, primitives of scalar code; their names\n");
    printf("%-32s %6s %6s %8s %8s %7s %8s %6s %7s %7s %5s %4s %4s %4s\n", "model", "plan", "again",
           "run p25", "median", "MFLOP", "floor", "times", "peak", "weights", "steps", "reo", "ref",
           "slow");
    char **names = argc > 2 ? NULL : model_names(folder);
    for (int i = 2; i < argc; i++) bench_model(folder, argv[i], peak);
    for (int i = 0; names && names[i]; i++) {
        bench_model(folder, names[i], peak);
        free(names[i]);
    }
    free(names);
    return 0;
}
