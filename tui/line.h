/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of text with spans of faces: what a mode draws for one row. */
#ifndef TUI_LINE_H
#define TUI_LINE_H

#include "face.h"

#include "engine/base/str.h"
#include "engine/base/vec.h"

/* From byte `at` to the next span the text has this face. */
typedef struct ui_span {
    uint32_t at;
    ui_face face;
} ui_span;

/* Zero-initialise; free with ui_line_done. Invariant: spans ascend by `at`. */
typedef struct ui_line {
    tg_str text;
    TG_VEC(ui_span) spans;
    ui_face over; /* laid over the whole row, or plain */
} ui_line;

void ui_line_done(ui_line *line);
void ui_line_clear(ui_line *line);
void ui_line_copy(ui_line *to, const ui_line *from);

void ui_line_add(ui_line *line, ui_face face, const char *text);
void ui_line_addn(ui_line *line, ui_face face, const char *text, size_t n);
void ui_line_addf(ui_line *line, ui_face face, const char *fmt, ...) TG_PRINTF(3, 4);
/* Adds at most `cols` columns of text; if it is longer it ends in an ellipsis. */
void ui_line_fit(ui_line *line, ui_face face, const char *text, int cols);
/* The same, but what is too long loses its beginning: the ends of long names tell them apart. */
void ui_line_fit_end(ui_line *line, ui_face face, const char *text, int cols);
/* Adds blanks up to column `col`. */
void ui_line_pad(ui_line *line, int col);
int ui_line_width(const ui_line *line);
/* The face of byte `at`. */
ui_face ui_line_face(const ui_line *line, size_t at);

#endif
