/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving point, scrolling, the mark. */
#include "tui/app.h"
#include "tui/motion.h"

#include <ctype.h>
#include <string.h>

UI_FAMILY(motion);

size_t ui_row_length(ui_app *ui, ui_window *w, size_t row)
{
    ui_line line = {0};
    ui_buffer_draw(ui, w->buffer, row, w->cols, &line);
    size_t n = line.text.n;
    ui_line_done(&line);
    return n;
}

tg_status ui_move_char(ui_app *ui, ui_window *w, int n)
{
    ui_line line = {0};
    size_t rows = ui_buffer_rows(ui, w->buffer);
    ui_point *p = &w->point;
    tg_status status = TG_OK;
    if (rows) ui_buffer_draw(ui, w->buffer, p->row, w->cols, &line);
    if (p->col > line.text.n) p->col = line.text.n;
    for (; n && status == TG_OK; n += n > 0 ? -1 : 1) {
        if (n > 0 && p->col < line.text.n) {
            p->col += ui_cluster_read(line.text.p + p->col, line.text.n - p->col).bytes;
        } else if (n < 0 && p->col > 0) {
            p->col = ui_cluster_before(line.text.p, p->col);
        } else if (n > 0 ? p->row + 1 < rows : p->row > 0) {
            p->row += n > 0 ? 1 : (size_t)-1;
            ui_buffer_draw(ui, w->buffer, p->row, w->cols, &line);
            p->col = n > 0 ? 0 : line.text.n;
        } else {
            status = tg_fail(TG_LIMIT, n > 0 ? "End of buffer" : "Beginning of buffer");
        }
    }
    ui_line_done(&line);
    return status;
}

static bool is_word(const char *s)
{
    return isalnum((unsigned char)*s) || (unsigned char)*s >= 0x80;
}

tg_status ui_move_word(ui_app *ui, ui_window *w, int n)
{
    tg_status status = TG_OK;
    for (; n && status == TG_OK; n += n > 0 ? -1 : 1) {
        bool inside = false;
        for (;;) {
            ui_point before = w->point;
            ui_line line = {0};
            status = ui_move_char(ui, w, n > 0 ? 1 : -1);
            if (status != TG_OK) break;
            ui_point at = n > 0 ? before : w->point;
            ui_buffer_draw(ui, w->buffer, at.row, w->cols, &line);
            bool word = at.col < line.text.n && is_word(line.text.p + at.col);
            ui_line_done(&line);
            if (inside && !word) {
                w->point = before;
                break;
            }
            inside = inside || word;
        }
        if (inside && status != TG_OK) status = TG_OK;
    }
    return status;
}

static bool is_vertical(const ui_command *c)
{
    return c && (strcmp(c->name, "next-line") == 0 || strcmp(c->name, "previous-line") == 0 ||
                 strncmp(c->name, "scroll-", 7) == 0);
}

/* Point goes to the column that vertical motion started from. */
static void keep_column(ui_app *ui, ui_window *w, size_t row)
{
    ui_line line = {0};
    if (!is_vertical(ui->last_command) || ui->goal < 0) {
        ui_buffer_draw(ui, w->buffer, w->point.row, w->cols, &line);
        size_t col = w->point.col < line.text.n ? w->point.col : line.text.n;
        ui->goal = ui_text_width(tg_str_text(&line.text), col);
    }
    ui_buffer_draw(ui, w->buffer, row, w->cols, &line);
    w->point.row = row;
    w->point.col = ui_text_at_column(tg_str_text(&line.text), line.text.n, ui->goal);
    ui_line_done(&line);
}

tg_status ui_move_line(ui_app *ui, ui_window *w, int n)
{
    size_t rows = ui_buffer_rows(ui, w->buffer), row = w->point.row;
    if (!rows) return tg_fail(TG_LIMIT, n > 0 ? "End of buffer" : "Beginning of buffer");
    if (n < 0 ? row < (size_t)-n : (size_t)n > rows - 1 - row) {
        size_t edge = n < 0 ? 0 : rows - 1;
        if (edge != row) keep_column(ui, w, edge);
        return tg_fail(TG_LIMIT, n < 0 ? "Beginning of buffer" : "End of buffer");
    }
    keep_column(ui, w, n < 0 ? row - (size_t)-n : row + (size_t)n);
    return TG_OK;
}

DEFCMD(next_line, "next-line", "N",
       "Move point to the next row.\n\nWith a prefix argument, move that many rows; a negative "
       "one moves back.")
{
    return ui_move_line(ui, ui->selected, args->prefix.n);
}

DEFCMD(previous_line, "previous-line", "N",
       "Move point to the previous row.\n\nWith a prefix argument, move that many rows; a "
       "negative one moves on.")
{
    return ui_move_line(ui, ui->selected, -args->prefix.n);
}

DEFCMD(forward_char, "forward-char", "N",
       "Move point one character to the right.\n\nWith a prefix argument, that many.")
{
    return ui_move_char(ui, ui->selected, args->prefix.n);
}

DEFCMD(backward_char, "backward-char", "N",
       "Move point one character to the left.\n\nWith a prefix argument, that many.")
{
    return ui_move_char(ui, ui->selected, -args->prefix.n);
}

DEFCMD(forward_word, "forward-word", "N",
       "Move point to the end of the word.\n\nWith a prefix argument, over that many words.")
{
    return ui_move_word(ui, ui->selected, args->prefix.n);
}

DEFCMD(backward_word, "backward-word", "N",
       "Move point to the beginning of the word.\n\nWith a prefix argument, over that many words.")
{
    return ui_move_word(ui, ui->selected, -args->prefix.n);
}

DEFCMD(beginning_of_line, "move-beginning-of-line", "",
       "Move point to the first column of its row.")
{
    ui->selected->point.col = 0;
    return TG_OK;
}

DEFCMD(end_of_line, "move-end-of-line", "", "Move point behind the last character of its row.")
{
    ui_window *w = ui->selected;
    w->point.col = ui_buffer_rows(ui, w->buffer) ? ui_row_length(ui, w, w->point.row) : 0;
    return TG_OK;
}

DEFCMD(back_to_indentation, "back-to-indentation", "",
       "Move point to the first character of its row that is not blank.")
{
    ui_window *w = ui->selected;
    ui_line line = {0};
    if (ui_buffer_rows(ui, w->buffer)) {
        ui_buffer_draw(ui, w->buffer, w->point.row, w->cols, &line);
        w->point.col = strspn(tg_str_text(&line.text), " \t");
    }
    ui_line_done(&line);
    return TG_OK;
}

static void push_mark(ui_app *ui, ui_window *w)
{
    (void)ui;
    w->buffer->mark = w->point;
    w->buffer->mark_set = true;
    w->buffer->mark_active = false;
}

DEFCMD(beginning_of_buffer, "beginning-of-buffer", "N",
       "Move point to the first row and leave the mark where it was.\n\nWith a prefix argument N, "
       "move N tenths of the way down.")
{
    ui_window *w = ui->selected;
    size_t rows = ui_buffer_rows(ui, w->buffer);
    push_mark(ui, w);
    w->point = (ui_point){0};
    if (args->prefix.given && !args->prefix.bare && args->prefix.n > 0 && rows) {
        size_t row = rows * (size_t)args->prefix.n / 10;
        w->point.row = row < rows ? row : rows - 1;
    }
    ui_message(ui, "Mark set");
    return TG_OK;
}

DEFCMD(end_of_buffer, "end-of-buffer", "",
       "Move point to the end of the last row and leave the mark where it was.")
{
    ui_window *w = ui->selected;
    size_t rows = ui_buffer_rows(ui, w->buffer);
    push_mark(ui, w);
    if (rows) w->point = (ui_point){rows - 1, ui_row_length(ui, w, rows - 1)};
    ui_message(ui, "Mark set");
    return TG_OK;
}

DEFCMD(goto_line, "goto-line", "line:int Goto line",
       "Move point to the beginning of row LINE, counted from 1.")
{
    ui_window *w = ui->selected;
    size_t rows = ui_buffer_rows(ui, w->buffer);
    long line = ui_arg_int(args, "line");
    push_mark(ui, w);
    size_t row = line > 1 ? (size_t)line - 1 : 0;
    w->point = (ui_point){row < rows ? row : rows ? rows - 1 : 0, 0};
    return TG_OK;
}

/* Moves the window over the rows by n; point stays in it. */
tg_status ui_scroll(ui_app *ui, ui_window *w, long n)
{
    size_t rows = ui_buffer_rows(ui, w->buffer), body = (size_t)ui_window_body(ui, w);
    ui_window_follow(ui, w);
    if (n > 0 && w->top + body >= rows) return tg_fail(TG_LIMIT, "End of buffer");
    if (n < 0 && w->top == 0) return tg_fail(TG_LIMIT, "Beginning of buffer");
    if (n < 0) w->top = w->top > (size_t)-n ? w->top - (size_t)-n : 0;
    else w->top = w->top + (size_t)n < rows ? w->top + (size_t)n : rows - 1;
    size_t last = w->top + body - 1 < rows ? w->top + body - 1 : rows - 1;
    if (w->point.row < w->top) keep_column(ui, w, w->top);
    else if (w->point.row > last) keep_column(ui, w, last);
    return TG_OK;
}

static long page(ui_app *ui, const ui_window *w)
{
    int n = ui_window_body(ui, w) - ui_opt_int(UI_OPT_context_lines);
    return n > 1 ? n : 1;
}

/* Pages without an argument, rows with one, a page back with a lone minus. */
static long scroll_amount(ui_app *ui, const ui_window *w, const ui_prefix *p)
{
    if (!p->given) return page(ui, w);
    if (p->minus) return -page(ui, w);
    return p->n;
}

DEFCMD(scroll_up, "scroll-up-command", "N",
       "Scroll to later rows by a page; two rows of context stay.\n\nWith a prefix argument, "
       "scroll by that many rows.")
{
    return ui_scroll(ui, ui->selected, scroll_amount(ui, ui->selected, &args->prefix));
}

DEFCMD(scroll_down, "scroll-down-command", "N",
       "Scroll to earlier rows by a page; two rows of context stay.\n\nWith a prefix argument, "
       "scroll by that many rows.")
{
    return ui_scroll(ui, ui->selected, -scroll_amount(ui, ui->selected, &args->prefix));
}

DEFCMD(scroll_other, "scroll-other-window", "N",
       "Scroll the next window by a page.\n\nWith a prefix argument, scroll by that many rows; a "
       "negative one scrolls back.")
{
    ui_window *w = ui_window_cycle(ui, ui_window_ordinary(ui), 1);
    if (w == ui->mini) w = ui_window_first(ui);
    if (w == ui->selected) return tg_fail(TG_LIMIT, "There is no other window");
    return ui_scroll(ui, w, scroll_amount(ui, w, &args->prefix));
}

DEFCMD(recenter, "recenter-top-bottom", "N",
       "Put the row at point in the middle of the window, then at its top, then at its bottom, "
       "and repaint the screen.\n\nWith a prefix argument N, put it on row N of the window.")
{
    static int turn;
    ui_window *w = ui->selected;
    size_t body = (size_t)ui_window_body(ui, w), row = w->point.row;
    size_t above[] = {body / 2, 0, body - 1};
    turn = ui->last_command == ui->this_command ? (turn + 1) % 3 : 0;
    size_t up = above[turn];
    if (args->prefix.given && !args->prefix.bare && args->prefix.n >= 0) {
        up = (size_t)args->prefix.n < body ? (size_t)args->prefix.n : body - 1;
    }
    w->top = row > up ? row - up : 0;
    if (ui->term) ui->term->redraw(ui->term);
    return TG_OK;
}

DEFCMD(set_mark, "set-mark-command", "N",
       "Set the mark at point and start the region.\n\nTwice in a row ends the region. With C-u, "
       "move point to the mark.")
{
    ui_buffer *b = ui->selected->buffer;
    if (args->prefix.bare) {
        if (!b->mark_set) return tg_fail(TG_NOTFOUND, "No mark set in this buffer");
        ui->selected->point = b->mark;
        return TG_OK;
    }
    if (ui->last_command == ui->this_command && b->mark_active) {
        b->mark_active = false;
        ui_message(ui, "Mark deactivated");
        return TG_OK;
    }
    b->mark = ui->selected->point;
    b->mark_set = b->mark_active = true;
    ui_message(ui, "Mark activated");
    return TG_OK;
}

DEFCMD(exchange, "exchange-point-and-mark", "",
       "Put point where the mark is and the mark where point is; the region becomes active.")
{
    ui_buffer *b = ui->selected->buffer;
    ui_point point = ui->selected->point;
    if (!b->mark_set) return tg_fail(TG_NOTFOUND, "No mark set in this buffer");
    ui->selected->point = b->mark;
    b->mark = point;
    b->mark_active = true;
    return TG_OK;
}
