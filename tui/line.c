/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line.h"

#include "char.h"

#include <stdlib.h>
#include <string.h>

void ui_line_done(ui_line *line)
{
    tg_str_free(&line->text);
    tg_vec_free(&line->spans);
    line->over = UI_FACE_plain;
}

void ui_line_clear(ui_line *line)
{
    tg_str_clear(&line->text);
    tg_vec_clear(&line->spans);
    line->over = UI_FACE_plain;
}

void ui_line_copy(ui_line *to, const ui_line *from)
{
    ui_line_clear(to);
    tg_str_addn(&to->text, tg_str_text(&from->text), from->text.n);
    for (size_t i = 0; i < from->spans.n; i++) tg_vec_push(&to->spans, from->spans.v[i]);
    to->over = from->over;
}

void ui_line_addn(ui_line *line, ui_face face, const char *text, size_t n)
{
    ui_face last = line->spans.n ? tg_vec_last(&line->spans).face : UI_FACE_plain;
    if (n && face != last) {
        tg_vec_push(&line->spans, (ui_span){(uint32_t)line->text.n, face});
    }
    tg_str_addn(&line->text, text, n);
}

void ui_line_add(ui_line *line, ui_face face, const char *text)
{
    ui_line_addn(line, face, text, strlen(text));
}

void ui_line_addf(ui_line *line, ui_face face, const char *fmt, ...)
{
    tg_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&s, fmt, ap);
    va_end(ap);
    ui_line_addn(line, face, tg_str_text(&s), s.n);
    tg_str_free(&s);
}

void ui_line_fit(ui_line *line, ui_face face, const char *text, int cols)
{
    size_t n = strlen(text);
    if (cols <= 0) return;
    if (ui_text_width(text, n) <= cols) {
        ui_line_addn(line, face, text, n);
        return;
    }
    ui_line_addn(line, face, text, ui_text_at_column(text, n, cols - 1));
    ui_line_add(line, face, "…");
}

void ui_line_fit_end(ui_line *line, ui_face face, const char *text, int cols)
{
    size_t n = strlen(text);
    int width = ui_text_width(text, n);
    if (cols <= 0) return;
    if (width <= cols) {
        ui_line_addn(line, face, text, n);
        return;
    }
    size_t from = ui_text_at_column(text, n, width - cols + 1);
    ui_line_add(line, face, "…");
    ui_line_addn(line, face, text + from, n - from);
}

void ui_line_pad(ui_line *line, int col)
{
    for (int at = ui_line_width(line); at < col; at++) ui_line_add(line, UI_FACE_plain, " ");
}

int ui_line_width(const ui_line *line)
{
    return ui_text_width(tg_str_text(&line->text), line->text.n);
}

ui_face ui_line_face(const ui_line *line, size_t at)
{
    ui_face face = UI_FACE_plain;
    for (size_t i = 0; i < line->spans.n && line->spans.v[i].at <= at; i++) {
        face = line->spans.v[i].face;
    }
    return face;
}
