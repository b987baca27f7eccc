/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "app.h"

#include <stdlib.h>
#include <string.h>

ui_buffer *ui_buffer_find(ui_app *ui, const char *name)
{
    for (size_t i = 0; i < ui->buffers.n; i++) {
        if (strcmp(ui->buffers.v[i]->name, name) == 0) return ui->buffers.v[i];
    }
    return NULL;
}

static void close_mode(ui_app *ui, ui_buffer *buffer)
{
    void (*close)(ui_app *, ui_buffer *);
    UI_MODE_CALL(close, buffer->mode, close);
    if (close) close(ui, buffer);
    buffer->data = NULL;
}

void ui_buffer_set_mode(ui_app *ui, ui_buffer *buffer, const ui_mode *mode)
{
    void (*open)(ui_app *, ui_buffer *);
    if (buffer->mode) close_mode(ui, buffer);
    buffer->mode = mode;
    buffer->read_only = ui_mode_derives(mode, &ui_mode_special);
    UI_MODE_CALL(open, mode, open);
    if (open) open(ui, buffer);
}

ui_buffer *ui_buffer_get(ui_app *ui, const char *name, const ui_mode *mode)
{
    ui_buffer *b = ui_buffer_find(ui, name);
    if (b) return b;
    b = tg_calloc(1, sizeof *b);
    b->name = tg_strdup(name);
    ui_text_init(&b->text);
    tg_vec_push(&ui->buffers, b);
    ui_buffer_set_mode(ui, b, mode);
    return b;
}

static void buffer_free(ui_app *ui, ui_buffer *b)
{
    close_mode(ui, b);
    ui_text_done(&b->text);
    free(b->name);
    free(b);
}

ui_buffer *ui_buffer_other(ui_app *ui, const ui_buffer *except)
{
    ui_buffer *best = NULL, *shown = NULL;
    for (size_t i = 0; i < ui->buffers.n; i++) {
        ui_buffer *b = ui->buffers.v[i];
        if (b == except || b->name[0] == ' ') continue;
        ui_buffer **slot = ui_window_showing(ui, b) ? &shown : &best;
        if (!*slot || b->used > (*slot)->used) *slot = b;
    }
    if (best || shown) return best ? best : shown;
    return ui_buffer_get(ui, "*scratch*", &ui_mode_interaction);
}

void ui_buffer_kill(ui_app *ui, ui_buffer *buffer)
{
    for (size_t i = 0; i < ui->buffers.n; i++) {
        if (ui->buffers.v[i] == buffer) tg_vec_remove(&ui->buffers, i);
    }
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->quit_buffer == buffer) {
            w->quit_buffer = NULL;
            if (w->quit == UI_QUIT_RESTORE) w->quit = UI_QUIT_BURY;
        }
        if (w->buffer == buffer) ui_window_show(ui, w, ui_buffer_other(ui, buffer));
    }
    buffer_free(ui, buffer);
}

void ui_buffers_done(ui_app *ui)
{
    for (size_t i = 0; i < ui->buffers.n; i++) buffer_free(ui, ui->buffers.v[i]);
    tg_vec_free(&ui->buffers);
}

size_t ui_buffer_rows(ui_app *ui, ui_buffer *buffer)
{
    size_t (*rows)(ui_app *, ui_buffer *);
    UI_MODE_CALL(rows, buffer->mode, rows);
    return rows ? rows(ui, buffer) : buffer->text.lines.n;
}

void ui_buffer_draw(ui_app *ui, ui_buffer *buffer, size_t row, int width, ui_line *line)
{
    void (*draw)(ui_app *, ui_buffer *, size_t, int, ui_line *);
    UI_MODE_CALL(draw, buffer->mode, draw);
    ui_line_clear(line);
    /* rows may have gone since the caller looked */
    if (row >= ui_buffer_rows(ui, buffer)) return;
    if (draw) draw(ui, buffer, row, width, line);
    else ui_line_copy(line, &buffer->text.lines.v[row]);
}
