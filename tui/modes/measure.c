/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *measure*: what was asked to be measured, what runs, and what came of it. */
#include "tui/diff.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(measure_list);

static size_t measure_rows(ui_app *ui, ui_buffer *buffer)
{
    const ui_session *s = ui_session_get(ui);
    (void)buffer;
    return s && s->measurements.n ? s->measurements.n : 1;
}

static void draw_result(const ui_session *s, const ui_measurement *m, ui_line *line)
{
    const tg_state *state = &s->history->states.v[m->state];
    char p[24], low[24], high[24];
    const tg_comparison *c = &m->result;
    if (m->at == UI_MEASURE_FAILED) {
        bool cancelled = m->why && strcmp(m->why, "cancelled") == 0;
        ui_line_add(line, cancelled ? UI_FACE_stale : UI_FACE_error, m->why ? m->why : "failed");
    } else if (m->at == UI_MEASURE_DONE && !m->rule) {
        ui_line_addf(line, UI_FACE_measured, "● %s ms [%s, %s]", ui_ms(p, state->latency.median_ms),
                     ui_ms(low, state->latency.low_ms), ui_ms(high, state->latency.high_ms));
    } else if (m->at == UI_MEASURE_DONE) {
        ui_line_addf(line, UI_FACE_measured, "● %s%% [%s, %s] ",
                     ui_signed(p, 100 * (c->ratio - 1), 1),
                     ui_signed(low, 100 * (c->ratio_low - 1), 1),
                     ui_signed(high, 100 * (c->ratio_high - 1), 1));
        ui_line_addf(line, ui_verdict_face(c->verdict), "%s", tg_verdict_name(c->verdict));
        ui_line_addf(line, UI_FACE_plain, " n=%d+%d", c->n, c->n);
    }
}

static void measure_draw(ui_app *ui, ui_buffer *buffer, size_t row, int width, ui_line *line)
{
    static const char *const states[] = {"queued", "running", "done", "failed"};
    static const ui_face faces[] = {UI_FACE_stale, UI_FACE_marked, UI_FACE_plain, UI_FACE_error};
    const ui_session *s = ui_session_get(ui);
    (void)buffer;
    if (!s || row >= s->measurements.n) {
        ui_line_add(line, UI_FACE_stale,
                    "Nothing was measured yet; = measures the candidate at point");
        return;
    }
    const ui_measurement *m = &s->measurements.v[row];
    int words = width - 60 > 24 ? width - 60 : 24;
    ui_line_addf(line, UI_FACE_plain, "%4d  ", s->history->states.v[m->state].trail->depth);
    ui_line_fit(line, UI_FACE_plain, m->words, words);
    ui_line_pad(line, 6 + words + 1);
    ui_line_add(line, faces[m->at], states[m->at]);
    ui_line_pad(line, 6 + words + 9);
    draw_result(s, m, line);
}

static bool measure_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    const ui_session *s = ui_session_get(ui);
    int words = width - 60 > 24 ? width - 60 : 24;
    (void)buffer;
    ui_line_add(line, UI_FACE_header, "step  candidate");
    ui_line_pad(line, 6 + words + 1);
    ui_line_add(line, UI_FACE_header, "state   change");
    if (s) ui_line_addf(line, UI_FACE_header, " by the backend %s", s->backend->name);
    return true;
}

static void measure_status(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    const ui_session *s = ui_session_get(ui);
    int left = 0;
    (void)buffer;
    for (size_t i = 0; s && i < s->measurements.n; i++)
        left += s->measurements.v[i].at <= UI_MEASURE_RUNNING;
    if (left) tg_str_addf(out, "%d to go", left);
}

DEFCMD(queue, "measure-queue", "", "Show the measurements that wait, run and are done.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_display(ui, ui_buffer_get(ui, "*measure*", &ui_mode_measure));
    return TG_OK;
}

DEFCMD(kill_job, "kill-job", "", "Cancel the measurement at point in *measure*.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_buffer *b = ui_buffer_get(ui, "*measure*", &ui_mode_measure);
    size_t row = ui_buffer_point(ui, b).row;
    ui_measurement *m = row < s->measurements.n ? &s->measurements.v[row] : NULL;
    if (!m || m->at > UI_MEASURE_RUNNING)
        return tg_fail(TG_NOTFOUND, "Nothing to cancel on this line");
    if (m->job) tg_job_cancel(m->job);
    else {
        m->at = UI_MEASURE_FAILED;
        m->why = tg_strdup("cancelled");
    }
    ui_message(ui, "Cancelling %s", m->words);
    return TG_OK;
}

const ui_mode ui_mode_measure = {
    .name = "measure-mode",
    .label = "Measure",
    .doc = "Measurements in the order in which they were asked for, with the state that each "
           "starts from. k cancels the one at point, K all.",
    .parent = &ui_mode_special,
    .hl_line = true,
    .keys =
        (const ui_key_row[]){
            {"k", "kill-job"},
            {"K", "cancel-job"},
            {"w", "copy-row"},
            {NULL, NULL},
        },
    .rows = measure_rows,
    .draw = measure_draw,
    .header = measure_header,
    .status = measure_status,
};
