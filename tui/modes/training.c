/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *training*: what the trainer does beside, in numbers and small curves. */
#include "tui/char.h"
#include "tui/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

UI_FAMILY(training);

enum { WIDTH = 80, LABEL = 14, FIGURE = 12, CHUNK = 256 };

typedef struct training_view {
    uint64_t shown;
    const ag_agent *of; /* whose points these are */
    TG_VEC(ag_point) points;
} training_view;

static void training_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    buffer->data = tg_calloc(1, sizeof(training_view));
    buffer->read_only = true;
}

static void training_close(ui_app *ui, ui_buffer *buffer)
{
    training_view *v = buffer->data;
    (void)ui;
    tg_vec_free(&v->points);
    free(v);
}

/* Points that came since. */
static void fetch(training_view *v, const ui_session *s)
{
    bool another = v->points.n && s->stats.version < tg_vec_last(&v->points).version;
    if (v->of != s->agent || another) tg_vec_clear(&v->points);
    v->of = s->agent;
    for (size_t n = CHUNK; n == CHUNK;) {
        tg_vec_reserve(&v->points, v->points.n + CHUNK);
        n = ag_agent_points(s->agent, v->points.n, CHUNK, v->points.v + v->points.n);
        v->points.n += n;
    }
}

/* ---- curves */

typedef enum series { REWARD, BEST, ENTROPY, VARIANCE } series;

static double value_of(const ag_point *p, series which)
{
    const double values[] = {p->mean_reward, p->best_percent, p->entropy, p->explained_variance};
    return values[which];
}

/* Averages over groups of points, so that all of training fits; returns how many. */
static int squeeze(const training_view *v, series which, int room, double *out)
{
    int n = (int)v->points.n, cells = n < room ? n : room;
    for (int c = 0; c < cells; c++) {
        size_t from = (size_t)c * v->points.n / (size_t)cells;
        size_t to = (size_t)(c + 1) * v->points.n / (size_t)cells;
        double sum = 0;
        for (size_t i = from; i < to; i++) sum += value_of(&v->points.v[i], which);
        out[c] = sum / (double)(to - from);
    }
    return cells;
}

static void add_curve(ui_text *out, const training_view *v, const char *label, series which,
                      int width)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int room = width - LABEL - FIGURE - 12;
    if (room < 8 || !v->points.n) return;
    double *y = tg_calloc((size_t)room, sizeof *y), low = INFINITY, high = -INFINITY;
    int n = squeeze(v, which, room, y);
    for (int i = 0; i < n; i++) {
        if (!isfinite(y[i])) continue;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    ui_line *line = &tg_vec_last(&out->lines);
    ui_line_fit(line, UI_FACE_header, label, LABEL - 1);
    ui_line_pad(line, LABEL);
    ui_line_addf(line, UI_FACE_plain, "%8.4g ", isfinite(low) ? low : 0);
    for (int i = 0; i < n; i++) {
        double t = high > low ? (y[i] - low) / (high - low) : 0;
        ui_line_add(line, UI_FACE_measured, isfinite(y[i]) ? blocks[(int)(t * 7.999)] : "×");
    }
    ui_line_pad(line, LABEL + 9 + n);
    ui_line_addf(line, UI_FACE_plain, " %.4g", isfinite(high) ? high : 0);
    ui_text_add(out, UI_FACE_plain, "\n");
    free(y);
}

/* A mark below the cell that holds the policy which the screen shows. */
static void add_pin(ui_text *out, const training_view *v, const ui_session *s, int width)
{
    int room = width - LABEL - FIGURE - 12, n = (int)v->points.n;
    int cells = n < room ? n : room;
    if (!s->pin || cells < 1) return;
    for (int i = 0; i < n; i++) {
        if (v->points.v[i].version != s->pin->version) continue;
        ui_line *line = &tg_vec_last(&out->lines);
        ui_line_pad(line, LABEL + 9 + (int)((int64_t)i * cells / n));
        ui_line_addf(line, UI_FACE_marked, "↑ pinned v%llu", (unsigned long long)s->pin->version);
        ui_text_add(out, UI_FACE_plain, "\n");
        return;
    }
}

/* ---- figures */

static ui_line *start_line(ui_text *out, const char *label)
{
    ui_line *line = &tg_vec_last(&out->lines);
    ui_line_add(line, UI_FACE_header, label);
    ui_line_pad(line, LABEL);
    return line;
}

static void add_state(ui_text *out, const ui_session *s)
{
    const ag_stats *t = &s->stats;
    ui_line *line = start_line(out, "state");
    bool bad = t->phase == AG_DIVERGED || t->phase == AG_FAILED;
    ui_line_add(line, bad ? UI_FACE_error : UI_FACE_measured, ag_phase_name(t->phase));
    ui_line_addf(line, UI_FACE_plain, "   newest v%llu   pinned v%llu",
                 (unsigned long long)t->version, s->pin ? (unsigned long long)s->pin->version : 0);
    ui_text_add(out, UI_FACE_plain, "\n");
    if (t->message[0]) ui_diff_fact(out, "message", t->message, WIDTH);
    ui_line_addf(start_line(out, "episodes"), UI_FACE_plain, "%llu   %.0f a minute   %llu steps",
                 (unsigned long long)t->episodes, t->episodes_per_minute,
                 (unsigned long long)t->steps);
    ui_text_add(out, UI_FACE_plain, "\n");
}

static void add_update(ui_text *out, const ag_stats *t)
{
    char p[24], q[24], ms[24], first[24];
    const ag_ppo_report *r = &t->report;
    ui_line_addf(start_line(out, "best"), UI_FACE_plain, "%s ms   %s%% of %s ms at the start",
                 ui_ms(ms, t->best_ms), ui_signed(p, -t->best_percent, 1),
                 ui_ms(first, t->first_ms));
    ui_text_add(out, UI_FACE_plain, "\n");
    ui_line_addf(start_line(out, "last batch"), UI_FACE_plain,
                 "mean reward %s%% in %.1f steps, predicted by the analytic model",
                 ui_signed(p, t->mean_reward, 2), t->mean_steps);
    ui_text_add(out, UI_FACE_plain, "\n");
    ui_line_addf(start_line(out, "policy"), UI_FACE_plain,
                 "entropy %.2f nats   KL %.4f   clipped %.0f%%   gradient %.3g", r->entropy, r->kl,
                 100 * r->clip_share, r->grad_norm);
    ui_text_add(out, UI_FACE_plain, "\n");
    ui_line_addf(start_line(out, "value"), UI_FACE_plain, "explained variance %s   loss %.3g",
                 ui_signed(q, r->explained_variance, 2), r->value_loss);
    ui_text_add(out, UI_FACE_plain, "\n");
}

static void add_costs(ui_text *out, const ui_session *s)
{
    int overrides = 0, threads = ui_opt_int(UI_OPT_train_threads);
    for (size_t i = 0; i < s->history->states.n; i++)
        overrides += s->history->states.v[i].info.override;
    ui_line_addf(start_line(out, "overrides"), UI_FACE_plain,
                 "%d in the history, %d demonstration%s in use", overrides, s->stats.demos,
                 s->stats.demos == 1 ? "" : "s");
    ui_text_add(out, UI_FACE_plain, "\n");
    if (threads)
        ui_line_addf(start_line(out, "cost"), UI_FACE_plain,
                     "%d thread%s at lower priority; rests while something is measured", threads,
                     threads == 1 ? "" : "s");
    else
        ui_line_add(start_line(out, "cost"), UI_FACE_plain,
                    "nothing: the option train-threads is 0");
    ui_text_add(out, UI_FACE_plain, "\n");
}

static void write_all(ui_text *out, const training_view *v, const ui_session *s, int width)
{
    add_state(out, s);
    if (s->stats.version || v->points.n) add_update(out, &s->stats);
    add_costs(out, s);
    if (!v->points.n) return;
    ui_text_add(out, UI_FACE_plain, "\n");
    add_curve(out, v, "mean reward %", REWARD, width);
    add_curve(out, v, "best %", BEST, width);
    add_curve(out, v, "entropy", ENTROPY, width);
    add_curve(out, v, "explained var", VARIANCE, width);
    add_pin(out, v, s, width);
}

static void sync(ui_app *ui, ui_buffer *buffer)
{
    training_view *v = buffer->data;
    const ui_session *s = ui_session_get(ui);
    const ui_window *w = ui_window_showing(ui, buffer);
    int width = w ? w->cols : WIDTH;
    uint64_t now = tg_hash_add((uint64_t)width, s ? s->stats.episodes + 2 : 1);
    if (s) {
        now = tg_hash_add(tg_hash_add(now, s->stats.version), (uint64_t)s->stats.phase);
        now = tg_hash_add(tg_hash_add(now, s->pin ? s->pin->version : 0), s->history->states.n);
    }
    if (now == v->shown) return;
    v->shown = now;
    ui_text *t = &buffer->text;
    ui_text_clear(t);
    if (s) fetch(v, s);
    if (s) write_all(t, v, s, width);
    else ui_text_add(t, UI_FACE_plain, "No model loaded");
    while (t->lines.n > 1 && !tg_vec_last(&t->lines).text.n) {
        ui_line_done(&tg_vec_last(&t->lines));
        t->lines.n--;
    }
}

static size_t training_rows(ui_app *ui, ui_buffer *buffer)
{
    sync(ui, buffer);
    return buffer->text.lines.n;
}

static void training_minor(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    const ui_session *s = ui_session_get(ui);
    (void)buffer;
    if (s && s->training) tg_str_addf(out, " %.0f ep/min", s->stats.episodes_per_minute);
}

DEFCMD(training, "training", "", "Show how training is going.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_display(ui, ui_buffer_get(ui, "*training*", &ui_mode_training));
    return TG_OK;
}

const ui_mode ui_mode_training = {
    .name = "training-mode",
    .label = "Train",
    .doc = "Training beside: episodes, the best it found, figures of the last update, and curves "
           "over all updates. An arrow marks the policy that the screen is pinned to; t pauses "
           "training or goes on.",
    .parent = &ui_mode_special,
    .keys =
        (const ui_key_row[]){
            {"t", "toggle-training"},
            {"w", "copy-row"},
            {NULL, NULL},
        },
    .open = training_open,
    .close = training_close,
    .rows = training_rows,
    .minor = training_minor,
};
