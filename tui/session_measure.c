/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements of candidates, and writing the graph of HEAD. */
#include "session_jobs.h"

#include <stdlib.h>
#include <string.h>

enum { BUDGET_MS = 2000 };

typedef struct measuring {
    ui_session *s;
    size_t index; /* in s->measurements */
    tg_graph *before;
    tg_rules *rules;
    const char *rule;
    uint64_t key;
    tg_measure_options options;
    tg_comparison result;
} measuring;

static void set_state(void *owner, void *event)
{
    ui_session *s = ui_session_get(owner);
    size_t index = (size_t)(uintptr_t)event;
    if (s && index < s->measurements.n && s->measurements.v[index].at == UI_MEASURE_QUEUED) {
        s->measurements.v[index].at = UI_MEASURE_RUNNING;
        ui_touch_late(s->ui);
    }
}

/* The candidate's graph is built here, so that the view may change meanwhile. */
static tg_status measure_run(tg_job *job, void *ctx)
{
    measuring *w = ctx;
    tg_trail *root = tg_trail_root(w->before), *next = NULL;
    tg_status status = tg_step_replay(root, w->rules, w->rule, w->key, job, &next);
    if (status == TG_OK) status = tg_measure_turn_acquire(job);
    if (status == TG_OK) {
        tg_jobs_post(w->s->ui->jobs, set_state, w->s->ui, (void *)(uintptr_t)w->index);
        w->options.job = job;
        status = tg_measure_compare(w->s->backend, w->before, next->graph, &w->options, &w->result);
        tg_measure_turn_release();
    }
    tg_trail_unref(next);
    tg_trail_unref(root);
    return status;
}

static void say_result(const ui_session *s, const ui_measurement *m)
{
    const tg_comparison *c = &m->result;
    ui_message(s->ui,
               "Measured %s: %.4g → %.4g ms, %+.1f%% [%+.1f, %+.1f] %s (n=%d+%d, A/B interleaved)",
               m->words, c->before_ms, c->after_ms, 100 * (c->ratio - 1), 100 * (c->ratio_low - 1),
               100 * (c->ratio_high - 1), tg_verdict_name(c->verdict), c->n, c->n);
}

static void measure_done(void *ctx, tg_status status, const char *message)
{
    measuring *w = ctx;
    ui_session *s = w->s;
    ui_measurement *m = &s->measurements.v[w->index];
    tg_job_unref(m->job);
    m->job = NULL;
    m->at = status == TG_OK ? UI_MEASURE_DONE : UI_MEASURE_FAILED;
    m->result = w->result;
    if (status == TG_OK) say_result(s, m);
    else {
        m->why = tg_strdup(status == TG_CANCELLED ? "cancelled" : message);
        ui_message(s->ui, "Measuring %s failed: %s", m->words, m->why);
    }
    tg_graph_unref(w->before);
    tg_rules_unref(w->rules);
    free(w);
    ui_touch_late(s->ui);
}

tg_status ui_session_measure(ui_session *s, int row)
{
    const tg_candidate *c = ui_session_candidate(s, row);
    if (!c || s->viewing)
        return tg_fail(TG_USAGE,
                       c ? "The candidates of this state are not there yet" : "STOP is no rewrite");
    tg_state *state = tg_history_get(s->history, s->view->state);
    const ui_measurement *old = ui_session_measured(s, state->id, c->site->key);
    if (old && old->at <= UI_MEASURE_RUNNING) return tg_fail(TG_USAGE, "It is being measured");
    const char *rule = tg_rules_get(s->rules, c->site->rule)->name;
    tg_str words = {0};
    tg_str_addf(&words, "%s at %s", rule, tg_site_words(state->trail->graph, c->site));
    measuring *w = tg_calloc(1, sizeof *w);
    *w = (measuring){.s = s,
                     .index = s->measurements.n,
                     .before = tg_graph_ref(state->trail->graph),
                     .rules = tg_rules_ref(s->rules),
                     .rule = tg_intern(rule),
                     .key = c->site->key,
                     .options = {.budget_ms = BUDGET_MS,
                                 .seed = s->seed,
                                 .confidence = ui_opt_real(UI_OPT_confidence) / 100,
                                 .smallest_effect = ui_opt_real(UI_OPT_smallest_effect) / 100}};
    ui_measurement m = {
        .state = state->id, .key = c->site->key, .words = tg_intern(tg_str_text(&words))};
    m.job = tg_jobs_start(s->ui->jobs, measure_run, measure_done, w);
    tg_vec_push(&s->measurements, m);
    tg_str_free(&words);
    ui_touch(s->ui);
    return TG_OK;
}

/* ---- writing */

typedef struct writing {
    ui_session *s;
    tg_graph *graph;
    char *path;
    tg_draw_options draw;
    uint64_t *flipped;
    tg_picture_report report;
} writing;

static tg_status write_run(tg_job *job, void *ctx)
{
    writing *w = ctx;
    if (tg_ends_with(w->path, ".onnx")) return tg_onnx_save(w->graph, w->path);
    tg_picture_options options = {.view = w->draw, .job = job};
    return tg_picture_write(w->graph, w->path, &options, &w->report);
}

static void write_done(void *ctx, tg_status status, const char *message)
{
    writing *w = ctx;
    ui_app *ui = w->s->ui;
    tg_job_unref(w->s->job);
    w->s->job = NULL;
    if (status != TG_OK) {
        (void)tg_fail(status, "%s", message);
        ui_complain(ui, status);
    } else if (w->report.layout)
        ui_message(ui, "Wrote %s: %u operators in %u rows, %u of them folded, layout by %s",
                   w->path, w->report.ops, w->report.rows, w->report.folded, w->report.layout);
    else ui_message(ui, "Wrote %s", w->path);
    tg_graph_unref(w->graph);
    free(w->flipped);
    free(w->path);
    free(w);
}

tg_status ui_session_write(ui_session *s, const char *path)
{
    if (s->job) return tg_fail(TG_USAGE, "Busy: %s", s->doing);
    writing *w = tg_calloc(1, sizeof *w);
    w->s = s;
    w->graph = tg_graph_ref(tg_history_head(s->history)->trail->graph);
    w->path = tg_strdup(path);
    w->flipped = tg_memdup(s->flipped.v, s->flipped.n * sizeof *w->flipped);
    w->draw = s->draw;
    w->draw.flipped = w->flipped;
    w->draw.n_flipped = s->flipped.n;
    s->doing = "Writing";
    ui_message(s->ui, "Writing %s...", path);
    s->job = tg_jobs_start(s->ui->jobs, write_run, write_done, w);
    return TG_OK;
}
