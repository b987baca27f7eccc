/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements of candidates, and writing the graph of HEAD. */
#include "session_jobs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BUDGET_MS = 2000 };

typedef struct measuring {
    ui_session *s;
    size_t index; /* in s->measurements */
    tg_graph *before;
    tg_rules *rules;
    const tg_backend *backend;
    const char *rule; /* NULL: the graph itself, end to end */
    uint64_t key;
    tg_measure_options options;
    char *command; /* the option may change meanwhile */
    tg_comparison result;
    tg_latency latency;
} measuring;

/* The candidate's graph is built here, so that the view may change meanwhile. */
static tg_status measure_run(tg_job *job, void *ctx)
{
    measuring *w = ctx;
    w->options.job = job;
    if (!w->rule) return tg_measure_graph(w->backend, w->before, false, &w->options, &w->latency);
    tg_trail *root = tg_trail_root(w->before), *next = NULL;
    tg_status status = tg_step_replay(root, w->rules, w->rule, w->key, job, &next);
    if (status == TG_OK)
        status = tg_measure_compare(w->backend, w->before, next->graph, &w->options, &w->result);
    tg_trail_unref(next);
    tg_trail_unref(root);
    return status;
}

static void say_result(const measuring *w, const ui_measurement *m)
{
    const tg_comparison *c = &m->result;
    const tg_latency *l = &w->latency;
    ui_app *ui = w->s->ui;
    if (!w->rule)
        ui_message(ui, "Measured %s: %.4g ms [%.4g, %.4g] on %s (n=%d, %d outliers)", m->words,
                   l->median_ms, l->low_ms, l->high_ms, tg_backend_name(w->backend), l->n,
                   l->outliers);
    else if (w->backend->exact)
        ui_message(ui, "Estimated %s: %.4g → %.4g ms, %+.1f%% by %s", m->words, c->before_ms,
                   c->after_ms, 100 * (c->ratio - 1), tg_backend_name(w->backend));
    else
        ui_message(
            ui, "Measured %s: %.4g → %.4g ms, %+.1f%% [%+.1f, %+.1f] %s (n=%d+%d, A/B interleaved)",
            m->words, c->before_ms, c->after_ms, 100 * (c->ratio - 1), 100 * (c->ratio_low - 1),
            100 * (c->ratio_high - 1), tg_verdict_name(c->verdict), c->n, c->n);
}

static void keep_latency(const measuring *w)
{
    tg_state *state = tg_history_get(w->s->history, w->s->measurements.v[w->index].state);
    state->timed = true;
    state->latency = w->latency;
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
    if (status == TG_OK) {
        if (!w->rule) keep_latency(w);
        say_result(w, m);
    } else {
        m->why = tg_strdup(status == TG_CANCELLED ? "cancelled" : message);
        ui_message(s->ui, "Measuring %s failed: %s", m->words, m->why);
    }
    tg_graph_unref(w->before);
    tg_rules_unref(w->rules);
    free(w->command);
    free(w);
    ui_touch_late(s->ui);
    if (s->ui->model == s) ui_session_measure_next(s);
}

static void start(ui_session *s, size_t index)
{
    ui_measurement *m = &s->measurements.v[index];
    measuring *w = tg_calloc(1, sizeof *w);
    *w = (measuring){.s = s,
                     .index = index,
                     .before = tg_graph_ref(tg_history_get(s->history, m->state)->trail->graph),
                     .rules = tg_rules_ref(s->rules),
                     .backend = s->backend,
                     .rule = m->rule,
                     .key = m->key,
                     .command = tg_strdup(ui_opt_text(UI_OPT_command)),
                     .options = {.budget_ms = BUDGET_MS,
                                 .seed = s->seed,
                                 .confidence = ui_opt_real(UI_OPT_confidence) / 100,
                                 .smallest_effect = ui_opt_real(UI_OPT_smallest_effect) / 100}};
    w->options.command = (tg_command){
        .line = w->command, .timeout_s = ui_opt_real(UI_OPT_command_timeout), .save = tg_onnx_save};
    m->at = UI_MEASURE_RUNNING;
    m->job = tg_jobs_start(s->ui->jobs, measure_run, measure_done, w);
}

/* One at a time: the device is that measurement's alone, and a worker stays free for the view. */
void ui_session_measure_next(ui_session *s)
{
    size_t next = s->measurements.n;
    for (size_t i = s->measurements.n; i-- > 0;) {
        if (s->measurements.v[i].at == UI_MEASURE_RUNNING) return;
        if (s->measurements.v[i].at == UI_MEASURE_QUEUED) next = i;
    }
    if (next < s->measurements.n) start(s, next);
    ui_touch(s->ui);
}

static tg_status enqueue(ui_session *s, int state, uint64_t key, const char *rule,
                         const char *words)
{
    const ui_measurement *old = ui_session_measured(s, state, key);
    if (old && old->at <= UI_MEASURE_RUNNING) return tg_fail(TG_USAGE, "It is being measured");
    ui_measurement m = {.state = state,
                        .key = key,
                        .rule = rule ? tg_intern(rule) : NULL,
                        .words = tg_intern(words)};
    tg_vec_push(&s->measurements, m);
    ui_session_measure_next(s);
    return TG_OK;
}

tg_status ui_session_measure(ui_session *s, int row)
{
    const tg_candidate *c = ui_session_candidate(s, row);
    if (!c) return tg_fail(TG_USAGE, "STOP is no rewrite");
    const char *rule = tg_rules_get(s->rules, c->site->rule)->name;
    const tg_graph *g = tg_history_get(s->history, s->view->state)->trail->graph;
    tg_str words = {0};
    tg_str_addf(&words, "%s at %s", rule, tg_site_words(g, c->site));
    tg_status status = enqueue(s, s->view->state, c->site->key, rule, tg_str_text(&words));
    tg_str_free(&words);
    return status;
}

tg_status ui_session_time(ui_session *s)
{
    tg_str words = {0};
    tg_str_addf(&words, "%s@%d", s->name, tg_history_depth(s->history, s->history->head));
    tg_status status = enqueue(s, s->history->head, 0, NULL, tg_str_text(&words));
    tg_str_free(&words);
    return status;
}

int ui_session_measure_cancel(ui_session *s)
{
    int n = 0;
    for (size_t i = 0; i < s->measurements.n; i++) {
        ui_measurement *m = &s->measurements.v[i];
        n += m->at <= UI_MEASURE_RUNNING;
        if (m->at == UI_MEASURE_QUEUED) {
            m->at = UI_MEASURE_FAILED;
            m->why = tg_strdup("cancelled");
        } else if (m->job) {
            tg_job_cancel(m->job);
        }
    }
    ui_touch(s->ui);
    return n;
}

bool ui_session_measuring(const ui_session *s)
{
    for (size_t i = 0; i < s->measurements.n; i++)
        if (s->measurements.v[i].at <= UI_MEASURE_RUNNING) return true;
    return false;
}

/* ---- writing */

typedef struct writing {
    ui_session *s;
    tg_graph *graph;
    char *path, *model;
    bool overwrite;
    tg_draw_options draw;
    uint64_t *flipped;
    tg_picture_report report;
} writing;

/* By another name or through a link too. */
static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static tg_status write_run(tg_job *job, void *ctx)
{
    writing *w = ctx;
    if (!w->overwrite && same_file(w->path, w->model))
        return tg_fail(TG_USAGE, "%s is the model that was read", w->path);
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
    free(w->model);
    free(w);
}

tg_status ui_session_write(ui_session *s, const char *path, bool overwrite)
{
    if (s->job) return tg_fail(TG_USAGE, "Busy: %s", s->doing);
    writing *w = tg_calloc(1, sizeof *w);
    w->s = s;
    w->graph = tg_graph_ref(tg_history_head(s->history)->trail->graph);
    w->path = tg_strdup(path);
    w->model = tg_strdup(s->path);
    w->overwrite = overwrite;
    w->flipped = tg_memdup(s->flipped.v, s->flipped.n * sizeof *w->flipped);
    w->draw = s->draw;
    w->draw.flipped = w->flipped;
    w->draw.n_flipped = s->flipped.n;
    s->doing = "Writing";
    ui_message(s->ui, "Writing %s...", path);
    s->job = tg_jobs_start(s->ui->jobs, write_run, write_done, w);
    return TG_OK;
}

/* ---- the journal */

static tg_status save_run(tg_job *job, void *ctx)
{
    ui_session *s = ctx;
    (void)job;
    return ui_journal_flush(s->journal);
}

static void save_done(void *ctx, tg_status status, const char *message)
{
    ui_session *s = ctx;
    tg_job_unref(s->job);
    s->job = NULL;
    if (status == TG_OK) {
        ui_message(s->ui, "Wrote %s", ui_journal_path(s->journal));
        return;
    }
    (void)tg_fail(status, "%s", message);
    ui_complain(s->ui, status);
}

tg_status ui_session_save(ui_session *s)
{
    if (!s->journal) return tg_fail(TG_NOTFOUND, "No journal is kept");
    if (s->job) return tg_fail(TG_USAGE, "Busy: %s", s->doing);
    s->doing = "Writing the journal";
    s->job = tg_jobs_start(s->ui->jobs, save_run, save_done, s);
    return TG_OK;
}
