/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands on model files: check, bench, run, export, sample, candidates. */
#include "tui/app.h"
#include "tui/taso.h"
#include "tui/work.h"

#include "agent/agent.h"

#include "samples/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

UI_FAMILY(models);

static tg_status load_two(const ui_args *args, tg_graph **a, tg_graph **b)
{
    TG_TRY(ui_work_load(args, ui_arg(args, "a"), a));
    tg_status status = ui_work_load(args, ui_arg(args, "b"), b);
    if (status != TG_OK) tg_graph_unref(*a);
    return status;
}

/* Both models must have the same interface for a comparison to mean anything. */
static tg_status check_interfaces(const tg_graph *a, const tg_graph *b)
{
    char sa[TG_SHAPE_TEXT], sb[TG_SHAPE_TEXT];
    if (a->n_inputs != b->n_inputs)
        return tg_fail(TG_DIFFERS, "the models have %u and %u inputs", a->n_inputs, b->n_inputs);
    if (tg_graph_sink(a)->n_in != tg_graph_sink(b)->n_in)
        return tg_fail(TG_DIFFERS, "the models have %u and %u outputs", tg_graph_sink(a)->n_in,
                       tg_graph_sink(b)->n_in);
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        const tg_type *ta = &a->nodes[a->inputs[i]]->out[0], *tb = &b->nodes[b->inputs[i]]->out[0];
        if (!tg_type_equal(ta, tb))
            return tg_fail(TG_DIFFERS, "input %u is %s %s in one and %s %s in the other", i,
                           tg_dtype_name(ta->dtype), tg_shape_text(sa, &ta->shape),
                           tg_dtype_name(tb->dtype), tg_shape_text(sb, &tb->shape));
    }
    return TG_OK;
}

DEFCMD(
    check, "check",
    "batch; a:file First model; b:file Second model" OPT_DIM OPT_SEED OPT_JSON OPT_QUIET,
    "Say whether two models compute the same.\n\n"
    "Both are run on the same random inputs and all outputs are compared. Exit status 0: equal;\n"
    "3: they differ.")
{
    tg_graph *a, *b;
    tg_verify_report report = {0};
    TG_TRY(load_two(args, &a, &b));
    tg_status status = check_interfaces(a, b);
    if (status == TG_OK)
        status = tg_verify(a, b, (uint64_t)ui_arg_int(args, "seed"), NULL, &report);
    const char *worst =
        report.worst_output < tg_graph_sink(a)->n_in ? a->output_names[report.worst_output] : "";
    if (ui_arg_flag(args, "json") && (status == TG_OK || status == TG_DIFFERS))
        ui_print_json(ui,
                      json_pack("{s:b, s:o, s:o, s:I}", "equal", status == TG_OK, "max_abs_error",
                                ui_json_number(report.max_abs_error), "worst_output",
                                ui_json_text(worst), "seed", (json_int_t)report.seed));
    else if (status == TG_OK)
        ui_printf(ui, "equal: largest difference %.3g, in output %s\n", report.max_abs_error,
                  worst);
    tg_graph_unref(a);
    tg_graph_unref(b);
    return status;
}

static void print_latency(ui_app *ui, const ui_args *args, const tg_backend *backend,
                          const tg_latency *l)
{
    if (ui_arg_flag(args, "json"))
        ui_print_json(ui, json_pack("{s:s, s:f, s:f, s:f, s:i, s:i, s:o}", "backend",
                                    tg_backend_name(backend), "median_ms", l->median_ms, "low_ms",
                                    l->low_ms, "high_ms", l->high_ms, "n", l->n, "outliers",
                                    l->outliers, "sum_of_operators_ms",
                                    ui_json_number(l->sum_of_operators_ms)));
    else {
        char sum[64] = "";
        if (!isnan(l->sum_of_operators_ms))
            snprintf(sum, sizeof sum, "; operators alone sum to %.4g ms", l->sum_of_operators_ms);
        ui_printf(ui, "%.4g ms [%.4g, %.4g] on %s (n=%d, %d outliers)%s\n", l->median_ms, l->low_ms,
                  l->high_ms, tg_backend_name(backend), l->n, l->outliers, sum);
    }
}

static json_t *comparison_json(const tg_backend *backend, const tg_comparison *c)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:s, s:i}", "backend",
                     tg_backend_name(backend), "before_ms", c->before_ms, "after_ms", c->after_ms,
                     "ratio", c->ratio, "ratio_low", c->ratio_low, "ratio_high", c->ratio_high,
                     "verdict", tg_verdict_name(c->verdict), "n", c->n);
}

static void print_comparison(ui_app *ui, const ui_args *args, const tg_backend *backend,
                             const tg_comparison *c)
{
    if (ui_arg_flag(args, "json")) ui_print_json(ui, comparison_json(backend, c));
    else
        ui_printf(
            ui, "%.4g ms -> %.4g ms on %s: %+.1f%% [%+.1f, %+.1f], %s (n=%d a side, interleaved)\n",
            c->before_ms, c->after_ms, tg_backend_name(backend), 100 * (c->ratio - 1),
            100 * (c->ratio_low - 1), 100 * (c->ratio_high - 1), tg_verdict_name(c->verdict), c->n);
}

DEFCMD(
    bench, "bench",
    "batch; a:file Model; [b]:file Second model; --budget:num=2000 Milliseconds to spend; "
    "--no-operators:flag Leave "
    "the sum over operators out" OPT_BACKEND OPT_THREADS OPT_DIM OPT_SEED OPT_JSON OPT_QUIET,
    "Measure the latency of a model, or compare two.\n\n"
    "One model: the median of end-to-end runs with its interval, and the sum of its operators run\n"
    "alone. Two: interleaved runs, their ratio with its interval, and a verdict: faster or slower\n"
    "by 1 % at least, same within 2 %, or unsure.\n\n"
    "--command 'PROGRAM ARGUMENT...' measures with a program of your own. It is run without a\n"
    "shell, with the path of an ONNX file behind its arguments; what it prints are the samples.")
{
    tg_graph *a = NULL, *b = NULL;
    const tg_backend *backend = ui_work_backend(args);
    tg_measure_options options = ui_work_measure(args, ui_arg_num(args, "budget"));
    if (!ui_arg(args, "b")) {
        tg_latency latency;
        TG_TRY(ui_work_load(args, ui_arg(args, "a"), &a));
        tg_status status =
            tg_measure_graph(backend, a, !ui_arg_flag(args, "no-operators"), &options, &latency);
        if (status == TG_OK) print_latency(ui, args, backend, &latency);
        tg_graph_unref(a);
        return status;
    }
    tg_comparison comparison;
    TG_TRY(load_two(args, &a, &b));
    tg_status status = check_interfaces(a, b);
    if (status == TG_OK) status = tg_measure_compare(backend, a, b, &options, &comparison);
    if (status == TG_OK) print_comparison(ui, args, backend, &comparison);
    tg_graph_unref(a);
    tg_graph_unref(b);
    return status;
}

/* What `candidates` prints: the sites with their scores, and what measuring found of each. */
typedef struct listing {
    ui_app *ui;
    const ui_args *args;
    const tg_candidates *c;
    const ag_scores *scores;
    tg_comparison *measured; /* NULL: not asked for */
    double ms;               /* that finding them took */
} listing;

static json_t *site_json(const listing *l, int i)
{
    const tg_candidates *c = l->c;
    const tg_candidate *candidate = tg_candidates_get(c, i);
    json_t *nodes = json_array();
    char label[256];
    for (int k = 0; k < candidate->site->n_nodes; k++)
        json_array_append_new(
            nodes, ui_json_text(tg_graph_label(tg_candidates_graph(c), candidate->site->nodes[k],
                                               label, sizeof label)));
    json_t *site = json_pack("{s:s, s:o, s:f, s:f}", "rule",
                             tg_rules_get(tg_candidates_rules(c), candidate->site->rule)->name,
                             "nodes", nodes, "cost_delta_ms", candidate->preview.cost_delta_ms,
                             "score", (double)l->scores->p[i]);
    if (l->measured)
        json_object_set_new(site, "latency",
                            comparison_json(ui_work_backend(l->args), &l->measured[i]));
    return site;
}

static void print_site(const listing *l, int i)
{
    const tg_candidate *candidate = tg_candidates_get(l->c, i);
    char measured[96] = "";
    if (l->measured) {
        const tg_comparison *m = &l->measured[i];
        snprintf(measured, sizeof measured, "%+6.1f%% [%+.1f, %+.1f] %-6s  ", 100 * (m->ratio - 1),
                 100 * (m->ratio_low - 1), 100 * (m->ratio_high - 1), tg_verdict_name(m->verdict));
    }
    ui_printf(l->ui, "%4d  %-36s %+9.5f ms  %4.2f  %s%s\n", i + 1,
              tg_rules_get(tg_candidates_rules(l->c), candidate->site->rule)->name,
              candidate->preview.cost_delta_ms, (double)l->scores->p[i], measured,
              tg_site_words(tg_candidates_graph(l->c), candidate->site));
}

static void print_candidates(const listing *l)
{
    const tg_graph *g = tg_candidates_graph(l->c);
    int n = tg_candidates_count(l->c), sites, refused, merged;
    tg_candidates_tally(l->c, &sites, &refused, &merged);
    if (ui_arg_flag(l->args, "json")) {
        json_t *list = json_array();
        for (int i = 0; i < n; i++) json_array_append_new(list, site_json(l, i));
        ui_print_json(l->ui, json_pack("{s:i, s:i, s:o, s:i, s:i, s:f}", "nodes", (int)g->n_nodes,
                                       "operators", (int)tg_graph_op_count(g), "sites", list,
                                       "refused", refused, "merged", merged, "elapsed_ms", l->ms));
        return;
    }
    ui_printf(
        l->ui,
        "%u nodes, %u operators, %d candidates (%d sites, %d refused, %d merged) in %.2f ms\n",
        g->n_nodes, tg_graph_op_count(g), n, sites, refused, merged, l->ms);
    for (int i = 0; i < n; i++) print_site(l, i);
}

/* Each candidate's graph against the model. */
static tg_status measure_candidates(listing *l)
{
    int n = tg_candidates_count(l->c);
    double budget = ui_arg_num(l->args, "measure");
    if (budget <= 0) return TG_OK;
    ui_progress progress = {.what = "measuring",
                            .quiet = ui_arg_flag(l->args, "quiet") || ui_arg_flag(l->args, "json")};
    tg_measure_options options = ui_work_measure(l->args, budget);
    tg_trail *root = tg_trail_root(tg_candidates_graph(l->c));
    tg_status status = TG_OK;
    l->measured = tg_calloc((size_t)n + 1, sizeof *l->measured);
    for (int i = 0; i < n && status == TG_OK; i++) {
        tg_trail *next;
        ui_progress_show(&progress, (double)i / n, "candidate %d of %d", i + 1, n);
        status = tg_trail_step(root, l->c, i, &next);
        if (status != TG_OK) break;
        status = tg_measure_compare(ui_work_backend(l->args), root->graph, next->graph, &options,
                                    &l->measured[i]);
        tg_trail_unref(next);
    }
    ui_progress_end(&progress);
    tg_trail_unref(root);
    return status;
}

/* Scores are the probabilities of a policy: a checkpoint's, or a new one that only knows the costs.
 */
static tg_status score_and_print(ui_app *ui, const ui_args *args, const tg_candidates *c, double ms)
{
    ag_agent *agent;
    ag_scores scores;
    const char *policy = ui_arg(args, "policy");
    ag_options options = {.checkpoint = policy, .read_only = policy != NULL};
    TG_TRY(ag_agent_new(tg_candidates_rules(c), &options, &agent));
    ag_policy *pin = ag_agent_policy(agent);
    tg_status status = ag_agent_score(agent, pin, c, 0, 0, NULL, 0, &scores);
    if (status == TG_OK) {
        listing l = {.ui = ui, .args = args, .c = c, .scores = &scores, .ms = ms};
        status = measure_candidates(&l);
        if (status == TG_OK) print_candidates(&l);
        free(l.measured);
        ag_scores_done(&scores);
    }
    ag_policy_unref(pin);
    ag_agent_free(agent);
    return status;
}

DEFCMD(candidates_of, "candidates",
       "batch; model:file Model; --policy:path Checkpoint of the policy that scores; "
       "--measure:num=0 Milliseconds for measuring each against the model (0: do not); "
       "--taso-exact:flag Count what TASO would match and make, right or wrong" OPT_RULES
           OPT_BACKEND OPT_THREADS OPT_DIM OPT_SEED OPT_JSON OPT_QUIET,
       "List the rewrites that may be applied to a model.\n\n"
       "Each with its rule, the nodes it matches, the change of predicted latency and the "
       "probability\n"
       "that the policy gives it; measured ones with the ratio to the model, its interval and the\n"
       "verdict.")
{
    tg_graph *g;
    tg_rules *rules;
    tg_candidates *c;
    TG_TRY(ui_work_load(args, ui_arg(args, "model"), &g));
    bool exact = ui_arg_flag(args, "taso-exact");
    tg_status status = exact ? ui_taso_print(ui, args, g) : ui_work_rules(args, &rules);
    if (status == TG_OK && !exact) {
        int64_t start = tg_clock_ns();
        status = tg_candidates_find(rules, g, NULL, &c);
        if (status == TG_OK) {
            status = score_and_print(ui, args, c, (double)(tg_clock_ns() - start) / 1e6);
            tg_candidates_free(c);
        }
        tg_rules_unref(rules);
    }
    tg_graph_unref(g);
    return status;
}

DEFCMD(export_model, "export",
       "batch; model:file Model; -o --out:path File to write: .svg .dot .json .txt .onnx; "
       "--level:int=0 Fold level 1 to 4; "
       "--theme:choice(light|dark|print)=light Colours of an SVG" OPT_DIM OPT_QUIET,
       "Draw a model into a file.\n\n"
       "The format follows the extension. Level 1 folds stages, 2 blocks, 3 shows operators, 4 "
       "constants\n"
       "too; 0 chooses by size.")
{
    tg_graph *g;
    tg_picture_report report;
    const char *out = ui_arg(args, "out");
    if (!out) return tg_fail(TG_USAGE, "export needs -o FILE");
    TG_TRY(ui_work_load(args, ui_arg(args, "model"), &g));
    tg_picture_options options = {.view = {.level = (int)ui_arg_int(args, "level")},
                                  .theme = ui_arg(args, "theme")};
    tg_status status;
    if (tg_ends_with(out, ".onnx")) {
        status = tg_onnx_save(g, out);
    } else {
        status = tg_picture_write(g, out, &options, &report);
        if (status == TG_OK)
            tg_log(
                TG_LOG_NOTE,
                "%s: the whole graph, %u operators in %u rows, %u of them in folds, layout by %s",
                out, report.ops, report.rows, report.folded, report.layout);
    }
    tg_graph_unref(g);
    return status;
}

DEFCMD(sample, "sample",
       "batch; [name]:text Name of the sample; -o --out:path Model file to write" OPT_SEED OPT_JSON
           OPT_QUIET,
       "Write a sample model, or list the samples.")
{
    tg_graph *g;
    const char *name = ui_arg(args, "name"), *out = ui_arg(args, "out");
    if (!name) {
        for (int i = 0; i < tg_sample_count(); i++)
            ui_printf(ui, "%-18s %s\n", tg_sample_get(i)->name, tg_sample_get(i)->about);
        return TG_OK;
    }
    if (!out) return tg_fail(TG_USAGE, "sample %s needs -o FILE", name);
    TG_TRY(tg_sample_build(name, (uint64_t)ui_arg_int(args, "seed"), false, &g));
    tg_status status = tg_onnx_save(g, out);
    if (status == TG_OK && ui_arg_flag(args, "json"))
        ui_print_json(ui, json_pack("{s:s, s:s, s:i, s:i, s:f}", "name", name, "out", out, "nodes",
                                    (int)g->n_nodes, "operators", (int)tg_graph_op_count(g),
                                    "cost_ms", tg_graph_cost_ms(g)));
    tg_graph_unref(g);
    return status;
}
