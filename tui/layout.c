/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of a session: made once when a model was loaded, and again by restore-layout. */
#include "command.h"
#include "session_jobs.h"

#include <string.h>

UI_FAMILY(layout);

enum { TOP_ROWS = 12, WIDE_COLS = 140, WIDE_ROWS = 30, TALL_ROWS = 40 };

/* Buffers whose modes show a session. */
static const char *const shows[][2] = {
    {"*graph*", "graph-mode"},
    {"*candidates*", "candidates-mode"},
    {"*diff*", "diff-mode"},
    {"*history*", "history-mode"},
};

static ui_buffer *buffer_of(ui_app *ui, size_t i)
{
    const ui_mode *mode = ui_mode_find(shows[i][1]);
    return mode ? ui_buffer_get(ui, shows[i][0], mode) : NULL;
}

/* Splits a window and shows a buffer in the new one; NULL where there is no room for it. */
static ui_window *below(ui_app *ui, ui_window *w, bool across, int size, ui_buffer *buffer)
{
    ui_window *made = NULL;
    if (!w || !buffer || ui_window_split(ui, w, across, size, &made) != TG_OK) return NULL;
    ui_window_show(ui, made, buffer);
    return made;
}

/* The plan of 160x50: graph and history at the left, candidates and diff at the right. */
static ui_window *lay_wide(ui_app *ui, ui_window *graph)
{
    ui_window *candidates = below(ui, graph, true, 0, buffer_of(ui, 1));
    ui_buffer *diff = buffer_of(ui, 2), *history = buffer_of(ui, 3);
    if (ui->rows >= TALL_ROWS) below(ui, graph, false, graph->rows * 2 / 3, history);
    if (candidates) below(ui, candidates, false, candidates->rows / 2, diff);
    return candidates;
}

/* Graph above, candidates below. */
static ui_window *lay_narrow(ui_app *ui, ui_window *graph)
{
    int top = ui->rows <= 2 * TOP_ROWS ? graph->rows - (ui->rows - TOP_ROWS - 1) + 1 : 0;
    return below(ui, graph, false, top, buffer_of(ui, 1));
}

static void lay_out(ui_app *ui)
{
    ui_window *first = ui_window_ordinary(ui);
    ui_window_delete_others(ui, first);
    ui_buffer *graph = buffer_of(ui, 0);
    if (!graph) return;
    ui_window_show(ui, first, graph);
    bool wide = ui->cols >= WIDE_COLS && ui->rows >= WIDE_ROWS;
    ui_window *candidates = wide ? lay_wide(ui, first) : lay_narrow(ui, first);
    if (ui->selected != ui->mini) ui_window_select(ui, candidates ? candidates : first);
}

void ui_session_loaded(ui_session *s)
{
    if (s->ui->term && s->ui->root) lay_out(s->ui);
}

void ui_session_shown(ui_session *s)
{
    ui_touch(s->ui);
}

DEFCMD(restore_layout, "restore-layout", "",
       "Lay the windows out as they were when the model was loaded.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    lay_out(ui);
    return TG_OK;
}
