/* SPDX-License-Identifier: GPL-3.0-or-later */
/* optimize: choose, prove, save, measure. */
#include "tui/app.h"
#include "tui/work.h"

#include "agent/agent.h"

#include <math.h>
#include <string.h>

UI_FAMILY(optimize);

enum { COURSE = 7 }; /* points of the best over time that are printed */

/* One run of the command. */
typedef struct run {
    ui_app *ui;
    const ui_args *args;
    const char *by;
    tg_graph *model;
    tg_rules *rules;
    tg_trail *best;
    tg_search_report report;
    tg_verify_report verify;
    tg_refine_report refined;
    bool measured;
    ui_progress progress;
} run;

static void show_search(void *ctx, const tg_search_progress *p)
{
    run *r = ctx;
    ui_progress_show(&r->progress, (double)p->expansions / p->budget,
                     "%d graphs, best %.4f ms predicted", p->expansions, p->best_ms);
}

static bool show_episodes(void *ctx, const ag_stats *stats)
{
    run *r = ctx;
    long all = ui_arg_int(r->args, "episodes");
    ui_progress_show(&r->progress, (double)stats->run_episodes / (double)all,
                     "episode %llu of %ld, best %.4f ms predicted",
                     (unsigned long long)stats->run_episodes, all, stats->best_ms);
    return true;
}

static tg_status choose_ppo(run *r)
{
    ag_options o = {.checkpoint = ui_arg(r->args, "policy"),
                    .seed = (uint64_t)ui_arg_int(r->args, "seed"),
                    .most_episodes = (uint64_t)ui_arg_int(r->args, "episodes")};
    int64_t start = tg_clock_ns();
    TG_TRY(ag_optimize(r->rules, r->model, &o, show_episodes, r, NULL, &r->best));
    r->report.seconds = (double)(tg_clock_ns() - start) / 1e9;
    r->report.stop = "episodes";
    r->report.expansions = (int)o.most_episodes;
    return TG_OK;
}

static tg_search_options search_options(run *r)
{
    return (tg_search_options){.alpha = ui_arg_num(r->args, "alpha"),
                               .width = (int)ui_arg_int(r->args, "width"),
                               .budget = (int)ui_arg_int(r->args, "budget"),
                               .seed = (uint64_t)ui_arg_int(r->args, "seed"),
                               .seconds = ui_arg_num(r->args, "seconds"),
                               .progress = show_search,
                               .ctx = r};
}

static tg_status choose(run *r)
{
    if (strcmp(r->by, "ppo") == 0) return choose_ppo(r);
    tg_search_options o = search_options(r);
    return tg_search_run(tg_search_find(r->by), r->rules, r->model, &o, &r->report, &r->best);
}

/* Proves every step and the whole; on failure nothing is written. */
static tg_status prove(run *r)
{
    tg_trail *good;
    tg_status status =
        tg_trail_verify(r->best, (uint64_t)ui_arg_int(r->args, "seed"), NULL, &r->verify, &good);
    if (status != TG_OK) {
        tg_log(TG_LOG_WARN, "%d of %d steps hold", good->depth, r->best->depth);
        tg_trail_unref(good);
        return status;
    }
    tg_trail_unref(r->best);
    r->best = good;
    return TG_OK;
}

/* Saves, loads what was saved and compares that with the original: the file is what counts. */
static tg_status save(run *r, const char *out)
{
    tg_graph *again;
    TG_TRY(tg_onnx_save(r->best->graph, out));
    TG_TRY(ui_work_load(r->args, out, &again));
    tg_status status =
        tg_verify(r->model, again, (uint64_t)ui_arg_int(r->args, "seed"), NULL, &r->verify);
    tg_graph_unref(again);
    return status == TG_OK ? TG_OK : tg_wrap(status, "%s: the saved model", out);
}

static void show_refine(void *ctx, int tried, int rules, const char *without)
{
    run *r = ctx;
    ui_progress_show(&r->progress, (double)tried / (rules + 4), "measuring without %s", without);
}

/* Only says what measuring finds. */
static tg_status compare(run *r, const tg_refine_options *o)
{
    tg_status status =
        tg_measure_compare(o->backend, r->model, r->best->graph, &o->measure, &r->refined.latency);
    r->measured = status == TG_OK;
    return status;
}

/* By measurement: rules that do not pay on this machine are left out. */
static tg_status refine(run *r)
{
    double budget = ui_arg_num(r->args, "measure");
    tg_refine_options o = {.search = tg_search_find(r->by),
                           .search_options = search_options(r),
                           .backend = ui_work_backend(r->args),
                           .measure = ui_work_measure(r->args, budget / 2),
                           .progress = show_refine,
                           .ctx = r};
    if (budget <= 0 || !r->best->depth) return TG_OK;
    if (ui_arg_flag(r->args, "as-predicted")) return compare(r, &o);
    o.search_options.progress = NULL;
    tg_status status = tg_refine(r->rules, r->model, &o, &r->best, &r->refined);
    if (status == TG_UNSUPPORTED) {
        tg_log(TG_LOG_WARN, "not measured: %s", tg_message());
        return TG_OK;
    }
    r->measured = status == TG_OK;
    return status;
}

static json_t *step_json(const run *r, int depth)
{
    const tg_taken *t = &tg_trail_at(r->best, depth)->taken;
    return json_pack("{s:s, s:o, s:s, s:f, s:o}", "rule", t->rule, "site", ui_json_text(t->site),
                     "by", r->by, "predicted_ms", t->predicted_ms, "graph_hash",
                     json_sprintf("%016llx", (unsigned long long)t->hash));
}

static json_t *latency_json(const run *r)
{
    const tg_comparison *c = &r->refined.latency;
    if (!r->measured) return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:s}", "before_ms", c->before_ms, "after_ms",
                     c->after_ms, "ratio", c->ratio, "ratio_low", c->ratio_low, "ratio_high",
                     c->ratio_high, "verdict", tg_verdict_name(c->verdict));
}

static json_t *course_json(const tg_search_report *report)
{
    json_t *all = json_array();
    for (int i = 0; i < report->n_course; i++) {
        const tg_search_point *p = &report->course[i];
        json_array_append_new(all, json_pack("{s:f, s:i, s:f}", "elapsed_s", p->seconds,
                                             "expansions", p->expansions, "cost_ms", p->cost_ms));
    }
    return all;
}

static void print_json(const run *r, const char *out)
{
    json_t *steps = json_array();
    const tg_trail *root = tg_trail_at(r->best, 0);
    for (int depth = 1; depth <= r->best->depth; depth++)
        json_array_append_new(steps, step_json(r, depth));
    json_t *all = json_pack(
        "{s:o, s:o, s:s, s:o, s:i, s:i, s:f, s:f, s:o, s:o, s:b}", "model",
        ui_json_text(ui_arg(r->args, "model")), "out", out ? ui_json_text(out) : json_null(), "by",
        r->by, "steps", steps, "nodes_before", (int)tg_graph_op_count(root->graph), "nodes_after",
        (int)tg_graph_op_count(r->best->graph), "cost_before_ms", root->cost_ms, "cost_after_ms",
        r->best->cost_ms, "latency", latency_json(r), "max_abs_error",
        ui_json_number(r->verify.max_abs_error), "verified", 1);
    json_t *without = json_array();
    for (int i = 0; i < r->refined.n_without; i++)
        json_array_append_new(without, json_string(r->refined.without[i]));
    json_object_set_new(all, "without", without);
    json_object_set_new(all, "stop", json_string(r->report.stop));
    json_object_set_new(all, "expansions", json_integer(r->report.expansions));
    json_object_set_new(all, "sites", json_integer(r->report.sites));
    json_object_set_new(all, "duplicates", json_integer(r->report.duplicates));
    json_object_set_new(all, "best_at", json_integer(r->report.best_at));
    json_object_set_new(all, "best_over_time", course_json(&r->report));
    if (r->report.equal_nodes) {
        json_object_set_new(all, "egraph_operators", json_integer(r->report.equal_nodes));
        json_object_set_new(all, "cheapest_proved", json_boolean(r->report.proved));
    }
    json_object_set_new(all, "elapsed_s", json_real(r->report.seconds));
    ui_print_json(r->ui, all);
}

/* Where the best came from, in no more columns than a screen has. */
static void print_course(const run *r)
{
    const tg_search_report *report = &r->report;
    int n = report->n_course < COURSE ? report->n_course : COURSE;
    if (n < 2) return;
    ui_printf(r->ui, "best ms   ");
    for (int i = 0; i < n; i++)
        ui_printf(r->ui, " %8.4f", report->course[i * (report->n_course - 1) / (n - 1)].cost_ms);
    ui_printf(r->ui, "\nat graph  ");
    for (int i = 0; i < n; i++)
        ui_printf(r->ui, " %8d", report->course[i * (report->n_course - 1) / (n - 1)].expansions);
    ui_printf(r->ui, "\nafter s   ");
    for (int i = 0; i < n; i++)
        ui_printf(r->ui, " %8.3f", report->course[i * (report->n_course - 1) / (n - 1)].seconds);
    ui_printf(r->ui, "\n");
}

static void print_words(const run *r, const char *out)
{
    const tg_trail *root = tg_trail_at(r->best, 0);
    const tg_comparison *c = &r->refined.latency;
    for (int depth = 1; depth <= r->best->depth; depth++) {
        const tg_taken *t = &tg_trail_at(r->best, depth)->taken;
        ui_printf(r->ui, "%4d  %-36s %9.4f ms  %s\n", depth, t->rule, t->predicted_ms, t->site);
    }
    ui_printf(r->ui, "%d steps by %s (%s, %d %s, %.2f s)\n", r->best->depth, r->by, r->report.stop,
              r->report.expansions, strcmp(r->by, "ppo") == 0 ? "episodes" : "graphs looked at",
              r->report.seconds);
    if (r->report.sites)
        ui_printf(r->ui, "searched   %ld sites, %d graphs built, %d duplicates, best at graph %d\n",
                  r->report.sites, r->report.graphs, r->report.duplicates, r->report.best_at);
    print_course(r);
    if (r->report.equal_nodes)
        ui_printf(r->ui, "e-graph    %d operators, %s\n", r->report.equal_nodes,
                  r->report.proved ? "none of its graphs is cheaper"
                                   : "not proved that none of its graphs is cheaper");
    for (int i = 0; i < r->refined.n_without; i++)
        ui_printf(r->ui, "left out   %s: faster without it here\n", r->refined.without[i]);
    if (r->refined.given_up)
        ui_printf(r->ui, "given up   no rewriting was measured faster than the model itself\n");
    ui_printf(r->ui, "operators  %u -> %u\n", tg_graph_op_count(root->graph),
              tg_graph_op_count(r->best->graph));
    ui_printf(r->ui, "predicted  %.4f -> %.4f ms (%+.1f%%)\n", root->cost_ms, r->best->cost_ms,
              root->cost_ms > 0 ? 100 * (r->best->cost_ms / root->cost_ms - 1) : 0.0);
    if (r->measured)
        ui_printf(r->ui,
                  "measured   %.4g -> %.4g ms on %s (%+.1f%% [%+.1f, %+.1f], %s, n=%d a side)\n",
                  c->before_ms, c->after_ms, tg_backend_name(ui_work_backend(r->args)),
                  100 * (c->ratio - 1), 100 * (c->ratio_low - 1), 100 * (c->ratio_high - 1),
                  tg_verdict_name(c->verdict), c->n);
    ui_printf(r->ui, "verified   largest difference %.3g%s%s\n", r->verify.max_abs_error,
              out ? ", saved as " : "", out ? out : "");
}

static tg_status optimize(run *r, const char *out)
{
    TG_TRY(ui_work_load(r->args, ui_arg(r->args, "model"), &r->model));
    TG_TRY(ui_work_rules(r->args, &r->rules));
    tg_status status = choose(r);
    if (status == TG_OK) status = refine(r);
    ui_progress_end(&r->progress);
    TG_TRY(status);
    TG_TRY(prove(r));
    if (out) TG_TRY(save(r, out));
    if (ui_arg_flag(r->args, "json")) print_json(r, out);
    else print_words(r, out);
    return TG_OK;
}

DEFCMD(
    optimize, "optimize",
    "batch; model:file Model; -o --out:path Model file to write; "
    "--by:choice(greedy|taso|beam|saturate|random|exhaustive|ppo)=taso Who chooses; "
    "--budget:count=0 "
    "Graphs to "
    "look at; --seconds:num=0 Seconds for choosing, then the best so far is kept (0: no limit); "
    "--alpha:num=1.05 How much dearer than the best a graph may be (taso); --width:count=8 Graphs "
    "that each level keeps (beam); --episodes:count=200 "
    "Episodes of "
    "training (ppo); --policy:path Checkpoint to start from (ppo); --measure:num=2000 "
    "Milliseconds for measuring "
    "before and after (0: do not); --as-predicted:flag Keep what the analytic cost prefers even "
    "where measuring disagrees" OPT_RULES OPT_BACKEND OPT_THREADS OPT_DIM OPT_SEED OPT_JSON
        OPT_QUIET,
    "Rewrite a model so that it runs faster and computes the same.\n\n"
    "Each step and the saved file are checked on random inputs against the model; what differs "
    "is not\n"
    "written. The choice goes by the analytic cost; then rules are left out while measuring says\n"
    "that the graph without them is faster, and what is slower than the model is not kept.")
{
    run r = {.ui = ui, .args = args, .by = ui_arg(args, "by")};
    r.progress = (ui_progress){.what = "optimizing",
                               .quiet = ui_arg_flag(args, "quiet") || ui_arg_flag(args, "json")};
    tg_status status = optimize(&r, ui_arg(args, "out"));
    tg_arena_free(r.refined.arena);
    tg_trail_unref(r.best);
    tg_rules_unref(r.rules);
    tg_graph_unref(r.model);
    return status;
}
