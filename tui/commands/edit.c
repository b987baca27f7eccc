/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Editing text: the minibuffer and buffers that are not read-only. Copying works everywhere. */
#include "tui/app.h"
#include "tui/motion.h"
#include "tui/session.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(edit);

enum { MAX_KILLS = 60 };

static tg_status check_writable(const ui_app *ui)
{
    const ui_buffer *b = ui->selected->buffer;
    if (!b->read_only) return TG_OK;
    return tg_fail(TG_USAGE, "Buffer is read-only: #<buffer %s>", b->name);
}

/* Runs of these are one step for undo. */
static bool runs_together(const ui_command *c)
{
    return strcmp(c->name, "self-insert-command") == 0 || strstr(c->name, "delete-");
}

/* Before a change: what undo returns to. */
static void begin_edit(ui_app *ui)
{
    ui_window *w = ui->selected;
    size_t n = w->buffer->text.lines.v[w->point.row].text.n;
    if (w->point.col > n) w->point.col = n;
    if (ui->last_command != ui->this_command || !runs_together(ui->this_command)) {
        ui_text_remember(&w->buffer->text, w->point.row, w->point.col);
    }
    w->buffer->modified = w != ui->mini;
    w->buffer->mark_active = false;
}

static void insert(ui_app *ui, const char *s, size_t n)
{
    ui_point *p = &ui->selected->point;
    ui_text_insert(&ui->selected->buffer->text, &p->row, &p->col, s, n);
}

static void push_kill(ui_app *ui, tg_str *s)
{
    if (ui->kills.n == MAX_KILLS) {
        free(ui->kills.v[0]);
        tg_vec_remove(&ui->kills, 0);
    }
    tg_vec_push(&ui->kills, tg_strdup(tg_str_text(s)));
    tg_str_free(s);
}

/* Consecutive kills become one. */
static void append_kill(ui_app *ui, tg_str *s, bool before)
{
    bool chain = ui->last_command && ui->kills.n && strstr(ui->last_command->name, "kill-");
    if (!chain || strcmp(ui->last_command->name, "kill-ring-save") == 0) {
        push_kill(ui, s);
        return;
    }
    tg_str both = {0};
    tg_str_add(&both, before ? tg_str_text(s) : tg_vec_last(&ui->kills));
    tg_str_add(&both, before ? tg_vec_last(&ui->kills) : tg_str_text(s));
    free(tg_vec_last(&ui->kills));
    tg_vec_last(&ui->kills) = tg_strdup(tg_str_text(&both));
    tg_str_free(&both);
    tg_str_free(s);
}

static bool before(ui_point a, ui_point b)
{
    return a.row < b.row || (a.row == b.row && a.col < b.col);
}

/* Removes what lies between point and `to`; keeps it for C-y if `kill`. */
static void remove_to(ui_app *ui, ui_point to, bool kill)
{
    ui_window *w = ui->selected;
    bool back = before(to, w->point);
    ui_point from = back ? to : w->point, end = back ? w->point : to;
    tg_str gone = {0};
    ui_text_delete(&w->buffer->text, from.row, from.col, end.row, end.col, &gone);
    w->point = from;
    if (kill) append_kill(ui, &gone, back);
    tg_str_free(&gone);
}

DEFCMD(self_insert, "self-insert-command", "N",
       "Insert the character that was typed.\n\nWith a prefix argument, insert it that many times.")
{
    char utf8[5];
    size_t len = ui_utf8_encode(ui->keys[0], utf8);
    TG_TRY(check_writable(ui));
    begin_edit(ui);
    for (int i = 0; i < args->prefix.n && i < 10000; i++) insert(ui, utf8, len);
    return TG_OK;
}

DEFCMD(newline, "newline", "", "Begin a new line at point.")
{
    TG_TRY(check_writable(ui));
    begin_edit(ui);
    insert(ui, "\n", 1);
    return TG_OK;
}

DEFCMD(insert_paste, "insert-pasted-text", "",
       "Insert what was pasted into the terminal.\n\nPasted text is never taken for keys.")
{
    TG_TRY(check_writable(ui));
    begin_edit(ui);
    const char *text = ui->term->paste(ui->term);
    insert(ui, text, ui->selected == ui->mini ? strcspn(text, "\n") : strlen(text));
    return TG_OK;
}

static tg_status delete_by(ui_app *ui, int n, bool kill,
                           tg_status (*move)(ui_app *, ui_window *, int))
{
    ui_window *w = ui->selected;
    TG_TRY(check_writable(ui));
    begin_edit(ui);
    ui_point start = w->point;
    tg_status status = move(ui, w, n);
    ui_point to = w->point;
    w->point = start;
    if (to.row == start.row && to.col == start.col) return status;
    remove_to(ui, to, kill);
    return TG_OK;
}

DEFCMD(delete_char, "delete-char", "N",
       "Delete the character at point.\n\nWith a prefix argument, delete that many.")
{
    return delete_by(ui, args->prefix.n, args->prefix.given, ui_move_char);
}

DEFCMD(delete_backward, "delete-backward-char", "N",
       "Delete the character before point.\n\nWith a prefix argument, delete that many.")
{
    return delete_by(ui, -args->prefix.n, args->prefix.given, ui_move_char);
}

DEFCMD(kill_word, "kill-word", "N",
       "Kill to the end of the word.\n\nWith a prefix argument, that many words.")
{
    return delete_by(ui, args->prefix.n, true, ui_move_word);
}

DEFCMD(backward_kill_word, "backward-kill-word", "N",
       "Kill to the beginning of the word.\n\nWith a prefix argument, that many words.")
{
    return delete_by(ui, -args->prefix.n, true, ui_move_word);
}

DEFCMD(kill_line, "kill-line", "",
       "Kill the rest of the line, or the line end if nothing is left on it.")
{
    ui_window *w = ui->selected;
    TG_TRY(check_writable(ui));
    begin_edit(ui);
    size_t n = w->buffer->text.lines.v[w->point.row].text.n;
    ui_point to = {w->point.row, n};
    if (w->point.col == n) {
        if (w->point.row + 1 == w->buffer->text.lines.n) return tg_fail(TG_LIMIT, "End of buffer");
        to = (ui_point){w->point.row + 1, 0};
    }
    remove_to(ui, to, true);
    return TG_OK;
}

/* The text of the region as the rows show it. */
static tg_status region_text(ui_app *ui, tg_str *out)
{
    ui_window *w = ui->selected;
    ui_buffer *b = w->buffer;
    if (!b->mark_set) return tg_fail(TG_NOTFOUND, "The mark is not set now, so there is no region");
    ui_point from = before(b->mark, w->point) ? b->mark : w->point;
    ui_point to = before(b->mark, w->point) ? w->point : b->mark;
    ui_line line = {0};
    for (size_t r = from.row; r <= to.row && r < ui_buffer_rows(ui, b); r++) {
        ui_buffer_draw(ui, b, r, w->cols, &line);
        size_t start = r == from.row ? from.col : 0, end = r == to.row ? to.col : line.text.n;
        if (end > line.text.n) end = line.text.n;
        if (start < end) tg_str_addn(out, line.text.p + start, end - start);
        if (r < to.row) tg_str_addc(out, '\n');
    }
    ui_line_done(&line);
    return TG_OK;
}

DEFCMD(kill_ring_save, "kill-ring-save", "", "Copy the region, for C-y.")
{
    tg_str s = {0};
    TG_TRY(region_text(ui, &s));
    push_kill(ui, &s);
    ui->selected->buffer->mark_active = false;
    return TG_OK;
}

DEFCMD(kill_region, "kill-region", "",
       "Kill the region; in a read-only buffer only copy it, and say so.")
{
    tg_str s = {0};
    TG_TRY(region_text(ui, &s));
    if (ui->selected->buffer->read_only) {
        push_kill(ui, &s);
        ui->selected->buffer->mark_active = false;
        return check_writable(ui);
    }
    tg_str_free(&s);
    begin_edit(ui);
    ui_buffer *b = ui->selected->buffer;
    size_t rows = b->text.lines.n;
    if (b->mark.row >= rows) b->mark = (ui_point){rows - 1, 0};
    size_t n = b->text.lines.v[b->mark.row].text.n;
    if (b->mark.col > n) b->mark.col = n;
    remove_to(ui, b->mark, true);
    return TG_OK;
}

static void yank(ui_app *ui)
{
    const char *text = ui->kills.v[ui->yank_at];
    ui->yank_from = ui->selected->point;
    insert(ui, text, ui->selected == ui->mini ? strcspn(text, "\n") : strlen(text));
}

DEFCMD(yank, "yank", "", "Insert what was killed or copied last.")
{
    TG_TRY(check_writable(ui));
    if (!ui->kills.n) return tg_fail(TG_NOTFOUND, "Kill ring is empty");
    begin_edit(ui);
    ui->yank_at = ui->kills.n - 1;
    yank(ui);
    return TG_OK;
}

DEFCMD(yank_pop, "yank-pop", "", "After C-y, replace what it inserted with the kill before.")
{
    TG_TRY(check_writable(ui));
    bool after = ui->last_command && strncmp(ui->last_command->name, "yank", 4) == 0;
    if (!after || !ui->kills.n) return tg_fail(TG_USAGE, "Previous command was not a yank");
    remove_to(ui, ui->yank_from, false);
    ui->yank_at = ui->yank_at ? ui->yank_at - 1 : ui->kills.n - 1;
    yank(ui);
    return TG_OK;
}

DEFCMD(transpose, "transpose-chars", "", "Exchange the characters around point and move on.")
{
    ui_window *w = ui->selected;
    TG_TRY(check_writable(ui));
    begin_edit(ui);
    tg_str *s = &w->buffer->text.lines.v[w->point.row].text;
    size_t at = w->point.col;
    if (at == s->n && at) at = ui_cluster_before(s->p, at);
    if (!at) return tg_fail(TG_LIMIT, "Beginning of buffer");
    size_t left = ui_cluster_before(s->p, at);
    size_t end = at + ui_cluster_read(s->p + at, s->n - at).bytes;
    char *first = tg_memdup(s->p + left, at - left);
    memmove(s->p + left, s->p + at, end - at);
    memcpy(s->p + left + (end - at), first, at - left);
    free(first);
    w->point.col = end;
    return TG_OK;
}

DEFCMD(undo, "undo", "",
       "Go back to the state before; in text that is edited, take back the last change.\n\nNothing "
       "is lost: redo goes on again, and acting elsewhere makes a branch.")
{
    ui_window *w = ui->selected;
    ui_session *s = ui_session_get(ui);
    if (s && w->buffer->read_only) return ui_session_undo(s, 1);
    TG_TRY(check_writable(ui));
    if (!ui_text_undo_last(&w->buffer->text, &w->point.row, &w->point.col)) {
        return tg_fail(TG_NOTFOUND, "No further undo information");
    }
    ui_message(ui, "Undo");
    return TG_OK;
}
