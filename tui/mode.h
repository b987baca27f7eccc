/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A major mode is a record; each has a row in mode.def and its definition in a file of tui/modes:
 *
 *     const ui_mode ui_mode_graph = {.name = "graph-mode", .label = "Graph", .doc = "...",
 *                                    .parent = &ui_mode_special, .keys = keys, .rows = ..., ...};
 *
 * A function left out is taken from the parent; without one the buffer's text is shown.
 */
#ifndef TUI_MODE_H
#define TUI_MODE_H

#include "buffer.h"
#include "keymap.h"

typedef struct ui_window ui_window;

struct ui_mode {
    const char *name;  /* "graph-mode"; its keymap is graph-mode-map */
    const char *label; /* in the mode line */
    const char *doc;
    const ui_mode *parent;
    const ui_key_row *keys;
    bool hl_line; /* the row at point is lit */

    void (*open)(ui_app *ui, ui_buffer *buffer);  /* the buffer was given this mode */
    void (*close)(ui_app *ui, ui_buffer *buffer); /* it goes; frees data */
    size_t (*rows)(ui_app *ui, ui_buffer *buffer);
    /* Fills a cleared line with the row; `width` columns are there, what is longer is cut. */
    void (*draw)(ui_app *ui, ui_buffer *buffer, size_t row, int width, ui_line *line);
    /* The header line, above the rows; false for none. */
    bool (*header)(ui_app *ui, ui_buffer *buffer, int width, ui_line *line);
    tg_status (*refresh)(ui_app *ui, ui_buffer *buffer); /* g */
    /* Point came to another row in the selected window (previews). */
    void (*moved)(ui_app *ui, ui_window *window);
    void (*status)(ui_app *ui, ui_buffer *buffer, tg_str *out); /* the mode line after the modes */
    void (*minor)(ui_app *ui, ui_buffer *buffer, tg_str *out);  /* " Lat" after the mode's label */
    bool (*writable)(ui_app *ui, ui_buffer *buffer);            /* for the flags; default: text */
};

/* All modes; NULL past the end. */
const ui_mode *ui_mode_at(int i);
const ui_mode *ui_mode_find(const char *name);
bool ui_mode_derives(const ui_mode *mode, const ui_mode *ancestor);
/* The mode's keymap, with those of its parents behind it. Built when first asked for. */
const ui_keymap *ui_mode_keymap(ui_app *ui, const ui_mode *mode);
void ui_modes_done(ui_app *ui);

#define MODE(id) extern const ui_mode ui_mode_##id;
#include "mode.def"
#undef MODE

/* The function `member` of a mode or of the nearest parent that has one. */
#define UI_MODE_CALL(result, mode_, member)                                                        \
    do {                                                                                           \
        const ui_mode *m_ = (mode_);                                                               \
        while (m_ && !m_->member) m_ = m_->parent;                                                 \
        (result) = m_ ? m_->member : NULL;                                                         \
    } while (0)

#endif
