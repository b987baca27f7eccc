/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which window shows which buffer: selecting, pop-ups, and putting windows back as they were. */
#include "app.h"

void ui_window_select(ui_app *ui, ui_window *window)
{
    if (!window) return;
    ui->selected = window;
    window->used = ++ui->clock;
    if (window->buffer) window->buffer->used = ui->clock;
    if (ui->solo) ui_windows_layout(ui);
    ui_touch(ui);
}

static void leave_buffer(ui_window *window)
{
    if (!window->buffer) return;
    window->buffer->point = window->point;
    window->buffer->top = window->top;
}

void ui_window_show(ui_app *ui, ui_window *window, ui_buffer *buffer)
{
    if (window->buffer != buffer) {
        leave_buffer(window);
        window->buffer = buffer;
        window->point = buffer->point;
        window->top = buffer->top;
        window->left = 0;
    }
    if (window == ui->selected) buffer->used = ++ui->clock;
    ui_touch(ui);
}

void ui_buffer_set_point(ui_app *ui, ui_buffer *buffer, size_t row, size_t col)
{
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->buffer == buffer) w->point = (ui_point){row, col};
    }
    buffer->point = (ui_point){row, col};
    ui_touch(ui);
}

ui_point ui_buffer_point(ui_app *ui, const ui_buffer *buffer)
{
    const ui_window *w =
        ui->selected->buffer == buffer ? ui->selected : ui_window_showing(ui, buffer);
    return w ? w->point : buffer->point;
}

static ui_window *largest(ui_app *ui)
{
    ui_window *best = ui_window_first(ui);
    for (ui_window *w = best; w; w = ui_window_after(ui, w)) {
        if (w->rows * w->cols > best->rows * best->cols) best = w;
    }
    return best;
}

static ui_window *oldest_other(ui_app *ui)
{
    ui_window *best = NULL;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w != ui->selected && (!best || w->used < best->used)) best = w;
    }
    return best ? best : ui_window_first(ui);
}

/* Splits the largest window if the thresholds allow it, or if it is the only one. */
static ui_window *pop_by_split(ui_app *ui)
{
    ui_window *w = largest(ui), *made = NULL;
    bool only = ui_window_count(ui) == 1;
    if (w->cols >= ui_opt_int(UI_OPT_split_width) &&
        ui_window_split(ui, w, true, 0, &made) == TG_OK) {
        return made;
    }
    if ((only || w->rows >= ui_opt_int(UI_OPT_split_height)) &&
        ui_window_split(ui, w, false, 0, &made) == TG_OK) {
        return made;
    }
    return NULL;
}

ui_window *ui_display(ui_app *ui, ui_buffer *buffer)
{
    ui_window *w = ui_window_showing(ui, buffer);
    if (w) {
        ui_touch(ui);
        return w;
    }
    w = pop_by_split(ui);
    if (w) {
        w->quit = UI_QUIT_DELETE;
    } else {
        w = oldest_other(ui);
        if (w->quit == UI_QUIT_BURY) {
            w->quit = UI_QUIT_RESTORE;
            w->quit_buffer = w->buffer;
            w->quit_point = w->point;
            w->quit_top = w->top;
        }
    }
    w->quit_select = ui->selected == ui->mini ? NULL : ui->selected;
    ui_window_show(ui, w, buffer);
    return w;
}

void ui_window_quit(ui_app *ui, ui_window *w)
{
    ui_window *back = w->quit_select;
    ui_quit_how how = w->quit;
    bool was_selected = w == ui->selected;
    w->quit = UI_QUIT_BURY;
    w->quit_select = NULL;
    if (how == UI_QUIT_DELETE && w->parent) {
        if (ui_window_delete(ui, w) != TG_OK) return;
    } else if (how == UI_QUIT_RESTORE && w->quit_buffer) {
        ui_point point = w->quit_point;
        size_t top = w->quit_top;
        ui_window_show(ui, w, w->quit_buffer);
        w->point = point;
        w->top = top;
    } else {
        ui_buffer *gone = w->buffer;
        ui_window_show(ui, w, ui_buffer_other(ui, gone));
        gone->used = 0;
    }
    if (was_selected && back && ui_window_live(ui, back)) ui_window_select(ui, back);
    ui_touch(ui);
}

static ui_window *any_popup(ui_app *ui)
{
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->quit == UI_QUIT_DELETE && w->parent) return w;
    }
    return NULL;
}

void ui_windows_drop_popups(ui_app *ui)
{
    /* one at a time: deleting lays out again, which comes back here if it still does not fit */
    ui_window *w = any_popup(ui);
    if (w) ui_window_quit(ui, w);
}
