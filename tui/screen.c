/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing: windows, mode lines, the echo area and what is laid over them, into the grid. */
#include "app.h"
#include "isearch.h"
#include "minibuf.h"

#include "engine/base/clock.h"

#include <string.h>

enum { LEAST_ROWS = 6, LEAST_COLS = 20 };

void ui_touch(ui_app *ui)
{
    ui->dirty = true;
    ui->late = false;
}

void ui_touch_late(ui_app *ui)
{
    if (!ui->dirty) ui->late = true;
    ui->dirty = true;
}

void ui_window_follow(ui_app *ui, ui_window *w)
{
    size_t rows = ui_buffer_rows(ui, w->buffer), body = (size_t)ui_window_body(ui, w);
    if (!rows) {
        w->point = (ui_point){0};
        w->top = 0;
        return;
    }
    if (w->point.row >= rows) w->point = (ui_point){rows - 1, w->point.col};
    if (w->top >= rows) w->top = rows - 1;
    size_t row = w->point.row;
    if (row >= w->top && row < w->top + body) return;
    /* a step over the edge scrolls by what is needed, a jump puts point in the middle */
    if (row < w->top && w->top - row <= 2) w->top = row;
    else if (row >= w->top + body && row - (w->top + body) < 2) w->top = row - body + 1;
    else w->top = row > body / 2 ? row - body / 2 : 0;
}

/* Puts a line's text from column `left` on. */
static void put_line(ui_app *ui, const ui_line *line, int y, int x, int end, int left)
{
    const char *text = tg_str_text(&line->text);
    size_t n = line->text.n, from = left ? ui_text_at_column(text, n, left) : 0;
    for (size_t s = 0; s <= line->spans.n && x < end; s++) {
        size_t start = s ? line->spans.v[s - 1].at : 0;
        size_t stop = s < line->spans.n ? line->spans.v[s].at : n;
        ui_face face = s ? line->spans.v[s - 1].face : UI_FACE_plain;
        if (start < from) start = from;
        if (stop > start) x = ui_grid_put(&ui->grid, y, x, end, text + start, stop - start, face);
    }
}

static bool in_region(const ui_window *w, size_t row)
{
    const ui_buffer *b = w->buffer;
    if (!b->mark_active) return false;
    size_t lo = b->mark.row < w->point.row ? b->mark.row : w->point.row;
    size_t hi = b->mark.row < w->point.row ? w->point.row : b->mark.row;
    return row >= lo && row <= hi && lo != hi;
}

/* Lays the faces of a search over the columns of its matches. */
static void light_matches(ui_app *ui, const ui_window *w, const ui_line *line, size_t row, int y)
{
    size_t spans[64][2];
    const char *text = tg_str_text(&line->text);
    int n = ui_search_spans(ui->search, text, line->text.n, spans, 64);
    for (int i = 0; i < n; i++) {
        int from = ui_text_width(text, spans[i][0]) - w->left;
        int to = ui_text_width(text, spans[i][1]) - w->left;
        bool here = ui_search_is_at(ui->search, w, row, spans[i][0]);
        if (from < 0) from = 0;
        if (to > w->cols) to = w->cols;
        ui_grid_over(&ui->grid, y, w->x + from, w->x + to,
                     here ? UI_FACE_match : UI_FACE_lazy_match);
    }
}

/* The column of point, with the window scrolled sideways so that it is in view. */
static int cursor_column(ui_window *w, const ui_line *line)
{
    size_t col = w->point.col < line->text.n ? w->point.col : line->text.n;
    int x = ui_text_width(tg_str_text(&line->text), col);
    if (x < w->left) w->left = x > w->cols / 2 ? x - w->cols / 2 : 0;
    if (x >= w->left + w->cols) w->left = x - w->cols / 2;
    return x - w->left;
}

static void draw_row(ui_app *ui, const ui_window *w, size_t row, int y, ui_line *line)
{
    bool lit = w->buffer->mode->hl_line && row == w->point.row;
    ui_face over = line->over          ? line->over
                   : in_region(w, row) ? UI_FACE_region
                   : lit               ? UI_FACE_cursor_row
                                       : UI_FACE_plain;
    put_line(ui, line, y, w->x, w->x + w->cols, w->left);
    if (ui_line_width(line) - w->left > w->cols) {
        ui_grid_put(&ui->grid, y, w->x + w->cols - 1, w->x + w->cols, "$", 1, UI_FACE_escape);
    }
    if (over) ui_grid_over(&ui->grid, y, w->x, w->x + w->cols, over);
    if (ui->search) light_matches(ui, w, line, row, y);
}

/* "Top", "Bot", "All" or a percentage of the rows above. */
static void add_position(ui_app *ui, const ui_window *w, tg_str *out)
{
    size_t rows = ui_buffer_rows(ui, w->buffer), body = (size_t)ui_window_body(ui, w);
    if (w->top == 0) tg_str_add(out, rows <= body ? "All" : "Top");
    else if (w->top + body >= rows) tg_str_add(out, "Bot");
    else tg_str_addf(out, "%2zu%%", w->top * 100 / rows);
}

static void draw_mode_line(ui_app *ui, const ui_window *w)
{
    const ui_buffer *b = w->buffer;
    bool chosen = w == ui->selected || (ui->minibuf && w == ui->minibuf->from);
    ui_face face = chosen ? UI_FACE_mode_line : UI_FACE_mode_line_inactive;
    void (*minor)(ui_app *, ui_buffer *, tg_str *), (*status)(ui_app *, ui_buffer *, tg_str *);
    tg_str s = {0};
    int y = w->y + w->rows - 1;
    UI_MODE_CALL(minor, b->mode, minor);
    UI_MODE_CALL(status, b->mode, status);
    tg_str_addf(&s, "-%c:%s-  ", ui->term->utf8 ? 'U' : 'A',
                b->read_only  ? (b->modified ? "%*" : "%%")
                : b->modified ? "**"
                              : "--");
    tg_str_addf(&s, "%-12s  ", b->name);
    add_position(ui, w, &s);
    tg_str_addf(&s, " L%-6zu%s(%s", w->point.row + 1, ui->depth > 1 && !ui->minibuf ? "[" : "",
                b->mode->label);
    if (minor) minor(ui, (ui_buffer *)b, &s);
    tg_str_addf(&s, ")%s", ui->depth > 1 && !ui->minibuf ? "]" : "");
    if (status) {
        tg_str_addc(&s, ' ');
        status(ui, (ui_buffer *)b, &s);
    }
    if (chosen) tg_str_addc(&s, ' ');
    int x = ui_grid_put(&ui->grid, y, w->x, w->x + w->cols, tg_str_text(&s), s.n, face);
    ui_grid_fill(&ui->grid, y, x, w->x + w->cols, chosen ? '-' : ' ', face);
    tg_str_free(&s);
}

static void draw_window(ui_app *ui, ui_window *w, int *cy, int *cx)
{
    bool (*header)(ui_app *, ui_buffer *, int, ui_line *);
    ui_line line = {0};
    int y = w->y, end = w->y + w->rows - 1;
    UI_MODE_CALL(header, w->buffer->mode, header);
    ui_window_follow(ui, w);
    if (header && header(ui, w->buffer, w->cols, &line)) {
        put_line(ui, &line, y++, w->x, w->x + w->cols, 0);
    }
    size_t rows = ui_buffer_rows(ui, w->buffer);
    if (w == ui->selected && w->point.row < rows) {
        ui_buffer_draw(ui, w->buffer, w->point.row, w->cols, &line);
        *cx = w->x + cursor_column(w, &line);
        *cy = y + (int)(w->point.row - w->top);
    } else if (w == ui->selected) {
        *cx = w->x;
        *cy = y;
    }
    for (size_t row = w->top; row < rows && y < end; row++, y++) {
        ui_buffer_draw(ui, w->buffer, row, w->cols, &line);
        draw_row(ui, w, row, y, &line);
    }
    ui_line_done(&line);
    draw_mode_line(ui, w);
}

static void draw_borders(ui_app *ui, const ui_window *node)
{
    for (size_t i = 0; i < node->kids.n; i++) {
        const ui_window *kid = node->kids.v[i];
        draw_borders(ui, kid);
        if (!node->across || i + 1 == node->kids.n) continue;
        for (int y = kid->y; y < kid->y + kid->rows; y++) {
            ui_grid_fill(&ui->grid, y, kid->x + kid->cols, kid->x + kid->cols + 1, 0x2502,
                         UI_FACE_border);
        }
    }
}

/* Draws a line at the foot of the screen, on as many rows as it needs up to a quarter. */
static void draw_foot(ui_app *ui, const ui_line *line, size_t cursor, int *cy, int *cx)
{
    const char *text = tg_str_text(&line->text);
    int cols = ui->cols, most = ui->rows / 4 > 1 ? ui->rows / 4 : 1;
    int at = ui_text_width(text, cursor), rows = (ui_line_width(line) + cols) / cols;
    int skip = 0;
    if (rows > most) {
        skip = at / cols >= most ? at / cols - most + 1 : 0;
        rows = most;
    }
    for (int i = 0; i < rows; i++) {
        int y = ui->rows - rows + i;
        ui_grid_fill(&ui->grid, y, 0, cols, ' ', UI_FACE_plain);
        ui_grid_over(&ui->grid, y, 0, cols, UI_FACE_plain);
        put_line(ui, line, y, 0, cols, (skip + i) * cols);
    }
    *cy = ui->rows - rows + at / cols - skip;
    *cx = at % cols;
}

static void draw_echo(ui_app *ui, int *cy, int *cx)
{
    ui_line line = {0};
    int y, x;
    if (ui->minibuf) {
        size_t cursor = ui_minibuf_draw(ui, &line);
        draw_foot(ui, &line, cursor, &y, &x);
        if (ui->selected == ui->mini) {
            *cy = y;
            *cx = x;
        }
    } else {
        ui_line_add(&line, UI_FACE_plain, tg_str_text(&ui->echo));
        if (ui->keys_shown.n) {
            if (ui->echo.n) ui_line_add(&line, UI_FACE_plain, "  ");
            ui_line_add(&line, UI_FACE_plain, tg_str_text(&ui->keys_shown));
        }
        draw_foot(ui, &line, 0, &y, &x);
    }
    ui_line_done(&line);
}

static void draw_overlay(ui_app *ui)
{
    int n = (int)ui->overlay.n, most = ui->rows / 2;
    if (n > most) n = most;
    for (int i = 0; i < n; i++) {
        int y = ui->rows - 1 - n + i;
        ui_grid_fill(&ui->grid, y, 0, ui->cols, ' ', UI_FACE_plain);
        ui_grid_over(&ui->grid, y, 0, ui->cols, UI_FACE_plain);
        put_line(ui, &ui->overlay.v[i], y, 0, ui->cols, 0);
    }
}

static void draw_too_small(ui_app *ui)
{
    tg_str s = {0};
    tg_str_addf(&s, "Terminal too small (%dx%d); C-x C-c exits", ui->cols, ui->rows);
    for (size_t at = 0, y = 0; at < s.n && (int)y < ui->rows; at += (size_t)ui->cols, y++) {
        ui_grid_put(&ui->grid, (int)y, 0, ui->cols, s.p + at, s.n - at, UI_FACE_plain);
    }
    tg_str_free(&s);
}

void ui_paint(ui_app *ui)
{
    int y = ui->rows - 1, x = 0;
    ui->dirty = ui->late = false;
    ui->painted_ns = tg_clock_ns();
    if (ui->grid.rows != ui->rows || ui->grid.cols != ui->cols) {
        ui_grid_resize(&ui->grid, ui->rows, ui->cols);
    }
    ui->grid.ascii = !ui->term->utf8 || ui_opt_is(UI_OPT_glyphs, "ascii");
    ui_grid_clear(&ui->grid);
    if (ui->rows < LEAST_ROWS || ui->cols < LEAST_COLS) {
        draw_too_small(ui);
        ui->term->put(ui->term, &ui->grid, 0, 0);
        return;
    }
    if (ui->solo) {
        draw_window(ui, ui_window_ordinary(ui), &y, &x);
    } else {
        for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
            draw_window(ui, w, &y, &x);
        }
        draw_borders(ui, ui->root);
    }
    draw_overlay(ui);
    draw_echo(ui, &y, &x);
    ui->term->put(ui->term, &ui->grid, y < ui->rows ? y : ui->rows - 1,
                  x < ui->cols ? x : ui->cols - 1);
}
