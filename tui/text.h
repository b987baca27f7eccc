/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of many lines with faces and links, for *Messages*, *Help*, the minibuffer and the like. */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include "line.h"

/* A stretch of one row that leads somewhere: "command:step", "variable:glyphs", "buffer:*graph*"
 * ... */
typedef struct ui_link {
    size_t row, from, to;
    char *target;
} ui_link;

/* A state that undo can return to. */
typedef struct ui_text_undo {
    char *content;
    size_t row, col;
} ui_text_undo;

/* Invariant: there is always at least one line. Links ascend by row and column. */
typedef struct ui_text {
    TG_VEC(ui_line) lines;
    TG_VEC(ui_link) links;
    TG_VEC(ui_text_undo) undo;
} ui_text;

void ui_text_init(ui_text *text);
void ui_text_done(ui_text *text);
void ui_text_clear(ui_text *text); /* keeps what undo needs */
void ui_text_set(ui_text *text, const char *content);
/* The whole text, rows joined by line ends. Freed by the caller. */
char *ui_text_get(const ui_text *text);
const char *ui_text_row(const ui_text *text, size_t row, size_t *n);

/* Adds at the end; line ends in `s` begin new rows. */
void ui_text_add(ui_text *text, ui_face face, const char *s);
void ui_text_addf(ui_text *text, ui_face face, const char *fmt, ...) TG_PRINTF(3, 4);
void ui_text_add_link(ui_text *text, const char *s, const char *target);
/* Drops rows from the start until at most `rows` are left. */
void ui_text_drop(ui_text *text, size_t rows);
const ui_link *ui_text_link_at(const ui_text *text, size_t row, size_t col);

/* Editing moves *row and *col to the end of what was inserted. Faces of the rows are lost. */
void ui_text_insert(ui_text *text, size_t *row, size_t *col, const char *s, size_t n);
/* Removes from (row, col) up to (to_row, to_col); adds it to `removed` if that is not NULL. */
void ui_text_delete(ui_text *text, size_t row, size_t col, size_t to_row, size_t to_col,
                    tg_str *removed);
/* Remembers the present state; undo returns to the last one remembered, false if there is none. */
void ui_text_remember(ui_text *text, size_t row, size_t col);
bool ui_text_undo_last(ui_text *text, size_t *row, size_t *col);

#endif
