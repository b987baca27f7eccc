/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay: a journal applied again without a screen. */
#include "tui/app.h"
#include "tui/replay.h"
#include "tui/work.h"

#include <math.h>

UI_FAMILY(replay);

static void show_step(void *ctx, const tg_state *state, int steps, int all)
{
    (void)state;
    ui_progress_show(ctx, (double)steps / all, "step %d of %d", steps, all);
}

static json_t *state_json(tg_state *s)
{
    const tg_taken *t = &s->trail->taken;
    return json_pack("{s:i, s:i, s:s, s:o, s:s, s:f, s:o, s:o}", "state", s->id, "parent",
                     s->parent, "rule", t->rule, "site", ui_json_text(t->site), "by",
                     tg_who_name(s->info.who), "predicted_ms", t->predicted_ms,
                     "graph_hash", json_sprintf("%016llx", (unsigned long long)t->hash),
                     "max_abs_error", ui_json_number(s->max_abs_error));
}

static void print_history(ui_app *ui, const ui_args *args, tg_history *h,
                          const ui_replay_report *report)
{
    tg_state *head = tg_history_head(h);
    if (ui_arg_flag(args, "json")) {
        json_t *states = json_array();
        for (size_t i = 1; i < h->states.n; i++)
            json_array_append_new(states, state_json(&h->states.v[i]));
        ui_print_json(ui,
                      json_pack("{s:o, s:i, s:i, s:b, s:I, s:f}", "states", states, "head", h->head,
                                "steps", report->steps, "crashed", report->crashed, "lost_bytes",
                                (json_int_t)report->lost, "cost_ms", head->trail->cost_ms));
        return;
    }
    for (size_t i = 1; i < h->states.n; i++) {
        const tg_state *s = &h->states.v[i];
        ui_printf(ui, "%4d <- %-4d %-6s %-36s %9.4f ms  %s%s%s\n", s->id, s->parent,
                  tg_who_name(s->info.who), s->trail->taken.rule,
                  s->trail->cost_ms, s->trail->taken.site, s->tag ? "  #" : "",
                  s->tag ? s->tag : "");
    }
    ui_printf(ui, "%d steps applied again, HEAD at state %d, predicted %.4f -> %.4f ms\n",
              report->steps, h->head, tg_history_get(h, 0)->trail->cost_ms, head->trail->cost_ms);
}

static tg_status replay_log(ui_app *ui, const ui_args *args, const ui_journal_log *log)
{
    tg_graph *root;
    tg_rules *rules;
    tg_history *h;
    ui_replay_report report;
    ui_progress progress = {.what = "replaying", .quiet = ui_arg_flag(args, "quiet")};
    const char *to = ui_arg(args, "to"), *out = ui_arg(args, "out");
    ui_replay_options options = {.to = to ? (int)ui_arg_int(args, "to") : -1,
                                 .check = ui_arg_flag(args, "check"),
                                 .seed = (uint64_t)ui_arg_int(args, "seed"),
                                 .step = show_step,
                                 .ctx = &progress};
    TG_TRY(ui_replay_model(log, ui_arg(args, "model"), &root));
    tg_status status = ui_work_rules(args, &rules);
    if (status == TG_OK) {
        status = ui_replay(log, root, rules, &options, &h, &report);
        ui_progress_end(&progress);
        tg_rules_unref(rules);
    }
    tg_graph_unref(root);
    TG_TRY(status);
    if (report.lost)
        tg_log(TG_LOG_NOTE, "the last %zu bytes were cut off in the middle of a record",
               report.lost);
    print_history(ui, args, h, &report);
    if (out) status = tg_onnx_save(tg_history_head(h)->trail->graph, out);
    tg_history_free(h);
    return status;
}

DEFCMD(
    replay, "replay",
    "batch; journal:file Journal; --model:path Model in place of the one that the journal names; "
    "--to:int Stop at this state; --check:flag Run every step on random inputs; -o --out:path Save "
    "the "
    "model that HEAD is at" OPT_RULES OPT_SEED OPT_JSON OPT_QUIET,
    "Apply the steps of a journal again.\n\n"
    "Each step must give the graph that it gave; a journal that was cut off is read up to its "
    "last\n"
    "whole record. Exit status 3 if a step differs.")
{
    ui_journal_log log;
    TG_TRY(ui_journal_read(ui_arg(args, "journal"), &log));
    tg_status status = replay_log(ui, args, &log);
    ui_journal_log_done(&log);
    return status == TG_OK ? TG_OK : tg_wrap_file(status, ui_arg(args, "journal"));
}
