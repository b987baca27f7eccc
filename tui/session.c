/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening and closing a session, and what it knows. */
#include "session_jobs.h"

#include "replay.h"
#include "signals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

ui_session *ui_session_get(ui_app *ui)
{
    ui_session *s = ui->model;
    return s && s->history ? s : NULL;
}

tg_status ui_session_need(ui_app *ui, ui_session **s)
{
    *s = ui_session_get(ui);
    return *s ? TG_OK : tg_fail(TG_NOTFOUND, "No model loaded");
}

tg_state *ui_session_head(ui_session *s)
{
    return tg_history_head(s->history);
}

const tg_candidate *ui_session_candidate(const ui_session *s, int row)
{
    if (!s->view || row < 0 || row >= s->view->n_rows || s->view->order[row] < 0) return NULL;
    return tg_candidates_get(s->view->candidates, s->view->order[row]);
}

int ui_session_row(const ui_session *s, uint64_t key)
{
    for (int row = 0; s->view && row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        if (c && c->site->key == key) return row;
    }
    return -1;
}

static const char *rule_name(const ui_session *s, const tg_candidate *c)
{
    return tg_rules_get(s->rules, c->site->rule)->name;
}

int ui_session_choice(const ui_session *s)
{
    for (int row = 0; s->view && row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        int n = s->view->scores.n;
        if (!c && n && s->view->scores.best == n) return row;
        if (c && !ui_session_vetoed(s, rule_name(s, c), c->site->key) &&
            (!n || s->view->order[row] == s->view->scores.best))
            return row;
    }
    return s->view ? s->view->n_rows - 1 : -1;
}

bool ui_session_vetoed(const ui_session *s, const char *rule, uint64_t key)
{
    for (size_t i = 0; i < s->vetoes.n; i++)
        if (strcmp(s->vetoes.v[i].rule, rule) == 0 &&
            (!s->vetoes.v[i].site || s->vetoes.v[i].site == key))
            return true;
    return false;
}

const ui_measurement *ui_session_measured(const ui_session *s, int state, uint64_t key)
{
    for (size_t i = s->measurements.n; i-- > 0;)
        if (s->measurements.v[i].state == state && s->measurements.v[i].key == key)
            return &s->measurements.v[i];
    return NULL;
}

static const char *agent_words(const ui_session *s)
{
    static const char *const words[] = {"pause", "step", "run", "wait", "spec"};
    return words[s->agent_state];
}

void ui_session_status(const ui_session *s, tg_str *out)
{
    tg_state *head = tg_history_head(s->history);
    tg_str_addf(out, "%s@%d ", s->name, tg_history_depth(s->history, s->history->head));
    if (head->timed) tg_str_addf(out, "%.3gms", head->latency.median_ms);
    else tg_str_addf(out, "○%.3gms", head->trail->cost_ms);
    tg_str_addf(out, " PPO:%s v%llu", agent_words(s),
                s->pin ? (unsigned long long)s->pin->version : 0);
    if (s->training)
        tg_str_addf(out, " %s %llu ep", ag_phase_name(s->stats.phase),
                    (unsigned long long)s->stats.episodes);
    ui_session_search_status(s, out);
    int waiting = 0;
    for (size_t i = 0; i < s->measurements.n; i++)
        waiting += s->measurements.v[i].at <= UI_MEASURE_RUNNING;
    if (waiting) tg_str_addf(out, " meas:%d", waiting);
    if (s->stats.demos) tg_str_addf(out, " demo %d", s->stats.demos);
}

/* ---- opening */

typedef struct opening {
    ui_app *ui;
    ui_session *present; /* gives way to the one made */
    char *path;
    uint64_t seed;
    int threads;
    bool bare;
    ui_session *made; /* filled by the job */
    tg_str note;
} opening;

static char *name_of(const char *path)
{
    const char *base = strrchr(path, '/');
    char *name = tg_strdup(base ? base + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = '\0';
    return name;
}

static bool is_journal(const char *path)
{
    char head[16] = {0};
    struct stat st;
    bool file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    FILE *f = file ? fopen(path, "rb") : NULL;
    size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f) fclose(f);
    return n == sizeof head - 1 && tg_starts_with(head, "regraft journal");
}

/* $XDG_STATE_HOME/regraft, made if it is not there; false if it cannot be. */
static bool state_folder(tg_str *path)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state) tg_str_addf(path, "%s/regraft", state);
    else if (home && *home) tg_str_addf(path, "%s/.local/state/regraft", home);
    else return false;
    for (char *p = path->p + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            (void)!mkdir(path->p, 0700);
            *p = '/';
        }
    return mkdir(path->p, 0700) == 0 || errno == EEXIST;
}

/* A session without a journal goes on; the person is told. */
static void start_journal(opening *o, ui_session *s)
{
    tg_str path = {0};
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    if (o->bare) return;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    bool there = state_folder(&path);
    tg_str_addf(&path, "/%s-%s-%d.rgj", s->name, stamp, (int)getpid());
    char *model = realpath(o->path, NULL);
    tg_status status = there ? ui_journal_create(path.p, model ? model : o->path,
                                                 tg_history_head(s->history)->trail->graph->hash,
                                                 o->seed, NULL, 0, &s->journal)
                             : tg_fail(TG_IO, "no folder for it");
    if (status != TG_OK) tg_str_addf(&o->note, "No journal is kept: %s", tg_message());
    free(model);
    tg_str_free(&path);
}

static tg_status open_model(tg_job *job, opening *o, ui_session *s)
{
    tg_graph *g;
    TG_TRY(tg_onnx_load(o->path, NULL, &g));
    tg_status status = tg_job_poll(job);
    if (status == TG_OK) {
        s->history = tg_history_new(g);
        start_journal(o, s);
    }
    tg_graph_unref(g);
    return status;
}

/* Those that were not lifted later. */
static void take_vetoes(ui_session *s, const ui_journal_log *log)
{
    for (size_t i = 0; i < log->entries.n; i++) {
        const ui_journal_entry *e = &log->entries.v[i];
        if (e->kind != UI_J_VETO) continue;
        ui_veto veto = {tg_intern(e->text), e->has_site ? e->site : 0};
        for (size_t k = s->vetoes.n; k-- > 0;)
            if (s->vetoes.v[k].rule == veto.rule && s->vetoes.v[k].site == veto.site)
                tg_vec_remove(&s->vetoes, k);
        if (!e->lifted) tg_vec_push(&s->vetoes, veto);
    }
}

static tg_status replay_log(tg_job *job, opening *o, ui_session *s, const ui_journal_log *log)
{
    tg_graph *root;
    ui_replay_report report;
    ui_replay_options options = {.to = -1, .job = job};
    TG_TRY(ui_replay_model(log, NULL, &root));
    tg_status status = ui_replay(log, root, s->rules, &options, &s->history, &report);
    tg_graph_unref(root);
    TG_TRY(status);
    take_vetoes(s, log);
    TG_TRY(ui_journal_append(o->path, log->good_size, &s->journal));
    tg_str_addf(&o->note, "%d steps applied again", report.steps);
    if (report.lost) tg_str_addf(&o->note, "; the last record was cut off and is dropped");
    return TG_OK;
}

static tg_status open_journal(tg_job *job, opening *o, ui_session *s)
{
    ui_journal_log log;
    TG_TRY(ui_journal_read(o->path, &log));
    free(s->path);
    s->path = tg_strdup(log.entries.v[0].text);
    free(s->name);
    s->name = name_of(s->path);
    tg_status status = replay_log(job, o, s, &log);
    ui_journal_log_done(&log);
    return status;
}

static void destroy(ui_session *s)
{
    if (!s) return;
    ui_view_free(s->view);
    ag_policy_unref(s->pin);
    ag_agent_free(s->agent);
    for (size_t i = 0; i < s->retired.n; i++) ag_agent_free(s->retired.v[i]);
    tg_vec_free(&s->retired);
    ui_journal_close(s->journal);
    tg_history_free(s->history);
    tg_rules_unref(s->rules);
    for (size_t i = 0; i < s->measurements.n; i++) {
        tg_job_unref(s->measurements.v[i].job);
        free(s->measurements.v[i].why);
    }
    tg_vec_free(&s->measurements);
    tg_vec_free(&s->vetoes);
    tg_vec_free(&s->marks);
    tg_vec_free(&s->flags);
    tg_vec_free(&s->demos);
    tg_vec_free(&s->plan);
    tg_vec_free(&s->was);
    tg_vec_free(&s->flipped);
    free(s->path);
    free(s->name);
    free(s);
}

static tg_status open_run(tg_job *job, void *ctx)
{
    opening *o = ctx;
    ui_session *s = o->made;
    ag_options options = {.threads = o->threads, .seed = o->seed};
    TG_TRY(tg_rules_load(NULL, 0, &s->rules));
    TG_TRY(is_journal(o->path) ? open_journal(job, o, s) : open_model(job, o, s));
    TG_TRY(tg_job_poll(job));
    TG_TRY(ag_agent_new(s->rules, &options, &s->agent));
    s->pin = ag_agent_policy(s->agent);
    return TG_OK;
}

/* A crash marks the journal and says how to go on. */
static void watch_journal(const ui_session *s)
{
    size_t size;
    const void *mark = ui_journal_crash_mark(&size);
    if (s->journal)
        ui_signals_journal(ui_journal_fd(s->journal), mark, size, ui_journal_path(s->journal));
    else ui_signals_journal(-1, NULL, 0, "");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void adopt(opening *o)
{
    ui_app *ui = o->ui;
    ui_session *s = o->made;
    o->made = NULL;
    ui_session_close(ui);
    ui->model = s;
    s->views = ++ui->clock << 24; /* no serial is one of a session before */
    watch_journal(s);
    ui_session_loaded(s);
    ui_session_refresh(s);
    if (o->threads > 0) ui_session_train(s, true);
    ui_message(ui, "Loading %s...done%s%s", base_name(o->path), o->note.n ? "; " : "",
               tg_str_text(&o->note));
}

static void open_done(void *ctx, tg_status status, const char *message)
{
    opening *o = ctx;
    bool open = o->ui->model == o->present; /* else the program ends */
    tg_job_unref(o->present->job);
    o->present->job = NULL;
    if (open && status == TG_OK) {
        adopt(o);
    } else if (open) {
        if (!o->present->history) o->ui->model = NULL;
        if (!o->present->history) free(o->present);
        (void)tg_fail(status, "%s", message);
        ui_complain(o->ui, status);
    }
    destroy(o->made);
    free(o->path);
    tg_str_free(&o->note);
    free(o);
}

tg_status ui_session_open(ui_app *ui, const char *path)
{
    ui_session *present = ui->model;
    if (present && present->job) return tg_fail(TG_USAGE, "Busy: %s", present->doing);
    opening *o = tg_calloc(1, sizeof *o);
    o->ui = ui;
    o->path = tg_strdup(path);
    o->seed = (uint64_t)ui_opt_int(UI_OPT_seed);
    o->threads = ui_opt_int(UI_OPT_train_threads);
    o->bare = ui->bare;
    o->made = tg_calloc(1, sizeof *o->made);
    o->made->ui = ui;
    o->made->path = tg_strdup(path);
    o->made->name = name_of(path);
    o->made->seed = o->seed;
    o->made->backend = tg_backend_find(ui_opt_text(UI_OPT_backend));
    o->made->draw.level = ui_opt_int(UI_OPT_fold_level);
    o->made->draw.lane_columns = ui_opt_int(UI_OPT_lane_columns);
    if (!present) {
        present = tg_calloc(1, sizeof *present);
        present->ui = ui;
        ui->model = present;
    }
    o->present = present;
    present->doing = "Loading";
    ui_message(ui, "Loading %s...", base_name(path));
    present->job = tg_jobs_start(ui->jobs, open_run, open_done, o);
    return TG_OK;
}

bool ui_session_working(const ui_session *s)
{
    for (size_t i = 0; i < s->measurements.n; i++)
        if (s->measurements.v[i].job) return true;
    return s->job || s->view_job || s->choosing;
}

void ui_session_close(ui_app *ui)
{
    ui_session *s = ui->model;
    ui->model = NULL;
    if (!s) return;
    ui_signals_journal(-1, NULL, 0, "");
    ui_session_stop_ticker(s);
    tg_job *running[] = {s->job, s->view_job};
    for (size_t i = 0; i < sizeof running / sizeof *running; i++)
        if (running[i]) tg_job_cancel(running[i]);
    for (size_t i = 0; i < s->measurements.n; i++)
        if (s->measurements.v[i].job) tg_job_cancel(s->measurements.v[i].job);
    ui_session_search_end(s, true);
    /* Jobs hold pointers into the session: it goes when the last of them is over. */
    while (ui_session_working(s)) {
        tg_jobs_dispatch(ui->jobs);
        usleep(1000);
    }
    destroy(s);
}

void ui_session_journal_check(ui_session *s, tg_status status)
{
    if (status == TG_OK || s->journal_failed) return;
    s->journal_failed = true;
    ui_message(s->ui, "The journal cannot be written: %s", tg_message());
}

bool ui_session_cancel(ui_session *s)
{
    bool running = s->steps_left > 0 || s->plan.n > 0;
    s->steps_left = 0;
    tg_vec_clear(&s->plan);
    if (running) ui_message(s->ui, "The agent pauses after this rewrite");
    else if (s->job) tg_job_cancel(s->job);
    else return ui_session_search_end(s, false);
    return true;
}
