/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Buffers. What a buffer shows comes row by row from its mode (mode.h), so a list of any length
 * costs what is on the screen. Buffers of text keep it in `text`, and text_row draws it.
 */
#ifndef TUI_BUFFER_H
#define TUI_BUFFER_H

#include "text.h"

typedef struct ui_app ui_app;
typedef struct ui_mode ui_mode;

/* Point is on a row, before the byte `col` of the row's text. */
typedef struct ui_point {
    size_t row, col;
} ui_point;

/* Invariant: `point` is that of the window that showed the buffer last. */
typedef struct ui_buffer {
    char *name;
    const ui_mode *mode;
    void *data; /* the mode's own */
    ui_text text;
    bool read_only, modified;
    ui_point point, mark;
    bool mark_active, mark_set;
    size_t top;
    uint64_t used; /* when it was last selected, a counter */
} ui_buffer;

/* The buffer of that name, or NULL. */
ui_buffer *ui_buffer_find(ui_app *ui, const char *name);
/* The buffer of that name, made with this mode if there was none. */
ui_buffer *ui_buffer_get(ui_app *ui, const char *name, const ui_mode *mode);
/* Closes a buffer; windows that show it show another. */
void ui_buffer_kill(ui_app *ui, ui_buffer *buffer);
/* The buffer used most recently, other than `except` and those that a window shows if possible. */
ui_buffer *ui_buffer_other(ui_app *ui, const ui_buffer *except);
/* Frees all. */
void ui_buffers_done(ui_app *ui);
void ui_buffer_set_mode(ui_app *ui, ui_buffer *buffer, const ui_mode *mode);

/* Moves point in every window that shows the buffer. */
void ui_buffer_set_point(ui_app *ui, ui_buffer *buffer, size_t row, size_t col);
/* Point in the selected window if that shows the buffer, else in one that does, else as it was. */
ui_point ui_buffer_point(ui_app *ui, const ui_buffer *buffer);

size_t ui_buffer_rows(ui_app *ui, ui_buffer *buffer);
/* Draws a row for a window `width` columns wide; `line` is cleared first. No such row: empty. */
void ui_buffer_draw(ui_app *ui, ui_buffer *buffer, size_t row, int width, ui_line *line);

#endif
