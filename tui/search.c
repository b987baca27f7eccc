/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding matches: in one row, and in the rows of a buffer from a place on. */
#include "search.h"

#include <ctype.h>
#include <string.h>

enum { ROW_MATCHES = 256 };

bool ui_search_folds(const ui_search *s)
{
    if (s->case_fixed) return s->fold;
    for (const char *c = tg_str_text(&s->pattern); *c; c++) {
        if (isupper((unsigned char)*c)) return false;
    }
    return true;
}

void ui_search_prepare(ui_search *s)
{
    if (s->compiled) regfree(&s->re);
    s->compiled = false;
    s->broken = false;
    if (!s->regexp || !s->pattern.n) return;
    int flags = REG_EXTENDED | (ui_search_folds(s) ? REG_ICASE : 0);
    s->compiled = regcomp(&s->re, s->pattern.p, flags) == 0;
    s->broken = !s->compiled;
}

static bool matches_at(const char *text, const char *pattern, size_t n, bool fold)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char a = (unsigned char)text[i], b = (unsigned char)pattern[i];
        if (a != b && !(fold && tolower(a) == tolower(b))) return false;
    }
    return true;
}

static int plain_spans(const ui_search *s, const char *text, size_t n, size_t (*spans)[2], int cap)
{
    size_t len = s->pattern.n;
    bool fold = ui_search_folds(s);
    int count = 0;
    for (size_t i = 0; len && i + len <= n && count < cap;) {
        if (matches_at(text + i, s->pattern.p, len, fold)) {
            spans[count][0] = i;
            spans[count++][1] = i + len;
            i += len;
        } else {
            i++;
        }
    }
    return count;
}

static int regexp_spans(const ui_search *s, const char *text, size_t n, size_t (*spans)[2], int cap)
{
    int count = 0;
    for (size_t at = 0; s->compiled && at <= n && count < cap;) {
        regmatch_t m;
        if (regexec(&s->re, text + at, 1, &m, at ? REG_NOTBOL : 0) != 0) break;
        if (m.rm_eo > m.rm_so) {
            spans[count][0] = at + (size_t)m.rm_so;
            spans[count++][1] = at + (size_t)m.rm_eo;
            at += (size_t)m.rm_eo;
        } else {
            at += (size_t)m.rm_eo + 1;
        }
    }
    return count;
}

int ui_search_spans(const ui_search *s, const char *text, size_t n, size_t (*spans)[2], int cap)
{
    return s->regexp ? regexp_spans(s, text, n, spans, cap) : plain_spans(s, text, n, spans, cap);
}

bool ui_search_is_at(const ui_search *s, const ui_window *w, size_t row, size_t from)
{
    return s->found && s->window == w && s->at.row == row && s->at.from == from;
}

static int row_spans(ui_app *ui, const ui_search *s, size_t row, size_t (*spans)[2])
{
    ui_line line = {0};
    ui_buffer_draw(ui, s->window->buffer, row, s->window->cols, &line);
    int n = ui_search_spans(s, tg_str_text(&line.text), line.text.n, spans, ROW_MATCHES);
    ui_line_done(&line);
    return n;
}

static bool find_forward(ui_app *ui, const ui_search *s, ui_point from, ui_match *match)
{
    size_t rows = ui_buffer_rows(ui, s->window->buffer), spans[ROW_MATCHES][2];
    for (size_t row = from.row; row < rows; row++) {
        int n = row_spans(ui, s, row, spans);
        for (int i = 0; i < n; i++) {
            if (row == from.row && spans[i][0] < from.col) continue;
            *match = (ui_match){row, spans[i][0], spans[i][1]};
            return true;
        }
    }
    return false;
}

static bool find_backward(ui_app *ui, const ui_search *s, ui_point from, ui_match *match)
{
    size_t rows = ui_buffer_rows(ui, s->window->buffer), spans[ROW_MATCHES][2];
    for (size_t row = from.row < rows ? from.row + 1 : rows; row-- > 0;) {
        int n = row_spans(ui, s, row, spans);
        for (int i = n - 1; i >= 0; i--) {
            if (row == from.row && spans[i][0] > from.col) continue;
            *match = (ui_match){row, spans[i][0], spans[i][1]};
            return true;
        }
    }
    return false;
}

bool ui_search_find(ui_app *ui, const ui_search *s, ui_point from, bool forward, ui_match *match)
{
    if (!s->pattern.n || s->broken) return false;
    return forward ? find_forward(ui, s, from, match) : find_backward(ui, s, from, match);
}

void ui_search_count(ui_app *ui, const ui_search *s, int *index, int *total)
{
    size_t rows = ui_buffer_rows(ui, s->window->buffer), spans[ROW_MATCHES][2];
    *index = *total = 0;
    for (size_t row = 0; row < rows; row++) {
        int n = row_spans(ui, s, row, spans);
        for (int i = 0; i < n; i++) {
            ++*total;
            if (s->found && row == s->at.row && spans[i][0] == s->at.from) *index = *total;
        }
    }
}
