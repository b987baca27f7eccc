/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_UNDO = 200 };

void ui_text_init(ui_text *text)
{
    *text = (ui_text){0};
    tg_vec_push(&text->lines, (ui_line){0});
}

static void free_content(ui_text *text)
{
    for (size_t i = 0; i < text->lines.n; i++) ui_line_done(&text->lines.v[i]);
    for (size_t i = 0; i < text->links.n; i++) free(text->links.v[i].target);
    tg_vec_clear(&text->lines);
    tg_vec_clear(&text->links);
}

void ui_text_done(ui_text *text)
{
    free_content(text);
    for (size_t i = 0; i < text->undo.n; i++) free(text->undo.v[i].content);
    tg_vec_free(&text->lines);
    tg_vec_free(&text->links);
    tg_vec_free(&text->undo);
}

void ui_text_clear(ui_text *text)
{
    free_content(text);
    tg_vec_push(&text->lines, (ui_line){0});
}

void ui_text_set(ui_text *text, const char *content)
{
    ui_text_clear(text);
    ui_text_add(text, UI_FACE_plain, content);
}

char *ui_text_get(const ui_text *text)
{
    tg_str s = {0};
    for (size_t i = 0; i < text->lines.n; i++) {
        if (i) tg_str_addc(&s, '\n');
        tg_str_add(&s, tg_str_text(&text->lines.v[i].text));
    }
    return s.p ? s.p : tg_strdup("");
}

const char *ui_text_row(const ui_text *text, size_t row, size_t *n)
{
    *n = text->lines.v[row].text.n;
    return tg_str_text(&text->lines.v[row].text);
}

void ui_text_add(ui_text *text, ui_face face, const char *s)
{
    for (;;) {
        size_t n = strcspn(s, "\n");
        ui_line_addn(&tg_vec_last(&text->lines), face, s, n);
        if (!s[n]) return;
        s += n + 1;
        tg_vec_push(&text->lines, (ui_line){0});
    }
}

void ui_text_addf(ui_text *text, ui_face face, const char *fmt, ...)
{
    tg_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&s, fmt, ap);
    va_end(ap);
    ui_text_add(text, face, tg_str_text(&s));
    tg_str_free(&s);
}

void ui_text_add_link(ui_text *text, const char *s, const char *target)
{
    ui_line *line = &tg_vec_last(&text->lines);
    ui_link link = {text->lines.n - 1, line->text.n, line->text.n + strlen(s), tg_strdup(target)};
    ui_line_add(line, UI_FACE_link, s);
    tg_vec_push(&text->links, link);
}

void ui_text_drop(ui_text *text, size_t rows)
{
    if (text->lines.n <= rows) return;
    size_t gone = text->lines.n - rows, kept = 0;
    for (size_t i = 0; i < gone; i++) ui_line_done(&text->lines.v[i]);
    memmove(text->lines.v, text->lines.v + gone, rows * sizeof *text->lines.v);
    text->lines.n = rows;
    for (size_t i = 0; i < text->links.n; i++) {
        ui_link link = text->links.v[i];
        if (link.row < gone) {
            free(link.target);
            continue;
        }
        link.row -= gone;
        text->links.v[kept++] = link;
    }
    text->links.n = kept;
}

const ui_link *ui_text_link_at(const ui_text *text, size_t row, size_t col)
{
    for (size_t i = 0; i < text->links.n; i++) {
        const ui_link *l = &text->links.v[i];
        if (l->row == row && col >= l->from && col < l->to) return l;
    }
    return NULL;
}

void ui_text_insert(ui_text *text, size_t *row, size_t *col, const char *s, size_t n)
{
    ui_line *line = &text->lines.v[*row];
    char *tail = tg_strdup(tg_str_text(&line->text) + *col);
    if (line->text.p) line->text.p[line->text.n = *col] = '\0';
    tg_vec_clear(&line->spans);
    for (const char *end = s + n; s < end;) {
        const char *cut = memchr(s, '\n', (size_t)(end - s));
        size_t len = (size_t)((cut ? cut : end) - s);
        tg_str_addn(&text->lines.v[*row].text, s, len);
        s += len;
        if (!cut) break;
        s++;
        tg_vec_push(&text->lines, (ui_line){0});
        ++*row;
        memmove(text->lines.v + *row + 1, text->lines.v + *row,
                (text->lines.n - 1 - *row) * sizeof *text->lines.v);
        text->lines.v[*row] = (ui_line){0};
    }
    *col = text->lines.v[*row].text.n;
    tg_str_add(&text->lines.v[*row].text, tail);
    free(tail);
}

void ui_text_delete(ui_text *text, size_t row, size_t col, size_t to_row, size_t to_col,
                    tg_str *removed)
{
    for (size_t r = row; removed && r <= to_row; r++) {
        const tg_str *s = &text->lines.v[r].text;
        size_t from = r == row ? col : 0, to = r == to_row ? to_col : s->n;
        tg_str_addn(removed, tg_str_text(s) + from, to - from);
        if (r < to_row) tg_str_addc(removed, '\n');
    }
    char *tail = tg_strdup(tg_str_text(&text->lines.v[to_row].text) + to_col);
    ui_line *line = &text->lines.v[row];
    if (line->text.p) line->text.p[line->text.n = col] = '\0';
    tg_vec_clear(&line->spans);
    tg_str_add(&line->text, tail);
    free(tail);
    for (size_t r = row + 1; r <= to_row; r++) ui_line_done(&text->lines.v[r]);
    memmove(text->lines.v + row + 1, text->lines.v + to_row + 1,
            (text->lines.n - 1 - to_row) * sizeof *text->lines.v);
    text->lines.n -= to_row - row;
}

void ui_text_remember(ui_text *text, size_t row, size_t col)
{
    if (text->undo.n == MAX_UNDO) {
        free(text->undo.v[0].content);
        tg_vec_remove(&text->undo, 0);
    }
    ui_text_undo state = {ui_text_get(text), row, col};
    tg_vec_push(&text->undo, state);
}

bool ui_text_undo_last(ui_text *text, size_t *row, size_t *col)
{
    if (!text->undo.n) return false;
    ui_text_undo state = tg_vec_pop(&text->undo);
    ui_text_set(text, state.content);
    free(state.content);
    *row = state.row;
    *col = state.col;
    return true;
}
