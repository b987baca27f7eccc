/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dialogue of C-s and C-r. */
#include "prompt.h"
#include "search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

UI_FAMILY(isearch);

/* What DEL returns to. */
typedef struct step {
    char *pattern;
    bool forward, found, failing, wrapped, over;
    ui_match at;
    ui_point point;
} step;

typedef struct session {
    ui_search s;
    TG_VEC(step) steps;
    size_t ring; /* steps back in the ring of patterns */
} session;

static void push_step(session *x)
{
    const ui_search *s = &x->s;
    step t = {tg_strdup(tg_str_text(&s->pattern)),
              s->forward,
              s->found,
              s->failing,
              s->wrapped,
              s->over,
              s->at,
              s->window->point};
    tg_vec_push(&x->steps, t);
}

static bool pop_step(session *x)
{
    ui_search *s = &x->s;
    if (!x->steps.n) return false;
    step t = tg_vec_pop(&x->steps);
    tg_str_clear(&s->pattern);
    tg_str_add(&s->pattern, t.pattern);
    free(t.pattern);
    s->forward = t.forward;
    s->found = t.found;
    s->failing = t.failing;
    s->wrapped = t.wrapped;
    s->over = t.over;
    s->at = t.at;
    s->window->point = t.point;
    ui_search_prepare(s);
    return true;
}

static void show_prompt(ui_app *ui, const ui_search *s)
{
    tg_str p = {0};
    int index, total;
    if (s->failing) tg_str_add(&p, "failing ");
    if (s->over) tg_str_add(&p, "overwrapped ");
    else if (s->wrapped) tg_str_add(&p, "wrapped ");
    if (s->regexp) tg_str_add(&p, "regexp ");
    tg_str_addf(&p, "I-search%s: %s", s->forward ? "" : " backward", tg_str_text(&s->pattern));
    p.p[0] = (char)toupper((unsigned char)p.p[0]);
    if (s->broken) tg_str_add(&p, " [incomplete input]");
    if (s->found && !s->failing && s->pattern.n) {
        ui_search_count(ui, s, &index, &total);
        tg_str_addf(&p, " (%d/%d)", index, total);
    }
    ui_hint(ui, "%s", p.p);
    tg_str_free(&p);
}

static bool before_start(const ui_search *s, ui_match m)
{
    return m.row < s->start.row || (m.row == s->start.row && m.from < s->start.col);
}

static void go(ui_app *ui, ui_search *s, ui_point from)
{
    ui_match m;
    if (s->broken) return;
    s->failing = s->pattern.n && !ui_search_find(ui, s, from, s->forward, &m);
    if (!s->pattern.n || s->failing) {
        if (s->failing && ui->term) ui->term->beep(ui->term);
        return;
    }
    s->found = true;
    s->at = m;
    if (s->wrapped && before_start(s, m) != s->forward) s->over = true;
    s->window->point = (ui_point){m.row, s->forward ? m.to : m.from};
}

/* Searches again from the present match on, for a pattern that changed. */
static void search_here(ui_app *ui, session *x)
{
    ui_search *s = &x->s;
    ui_search_prepare(s);
    go(ui, s, s->found ? (ui_point){s->at.row, s->at.from} : s->start);
}

static void add_text(ui_app *ui, session *x, const char *text)
{
    push_step(x);
    tg_str_add(&x->s.pattern, text);
    search_here(ui, x);
}

static void set_pattern(ui_app *ui, session *x, const char *text)
{
    push_step(x);
    tg_str_clear(&x->s.pattern);
    tg_str_add(&x->s.pattern, text);
    search_here(ui, x);
}

/* C-s or C-r again: the next match, or around the end after a failure. */
static void repeat(ui_app *ui, session *x, bool forward)
{
    ui_search *s = &x->s;
    size_t rows = ui_buffer_rows(ui, s->window->buffer);
    if (!s->pattern.n) {
        s->forward = forward;
        if (ui->search_ring.n) set_pattern(ui, x, tg_vec_last(&ui->search_ring));
        return;
    }
    push_step(x);
    bool turned = s->forward != forward;
    s->forward = forward;
    if (s->failing && !turned) {
        s->wrapped = true;
        s->over = false;
        go(ui, s, forward ? (ui_point){0} : (ui_point){rows ? rows - 1 : 0, SIZE_MAX});
    } else if (turned && s->found) {
        go(ui, s, (ui_point){s->at.row, s->at.from});
    } else if (forward) {
        go(ui, s, s->found ? (ui_point){s->at.row, s->at.from + 1} : s->window->point);
    } else if (!s->found || s->at.from) {
        go(ui, s, s->found ? (ui_point){s->at.row, s->at.from - 1} : s->window->point);
    } else if (s->at.row) {
        go(ui, s, (ui_point){s->at.row - 1, SIZE_MAX});
    } else {
        s->failing = true;
    }
}

/* C-w: what follows the match, to the end of the word. */
static void add_word(ui_app *ui, session *x)
{
    const ui_window *w = x->s.window;
    ui_line line = {0};
    ui_buffer_draw(ui, w->buffer, w->point.row, w->cols, &line);
    size_t from = x->s.found ? x->s.at.to : w->point.col, to = from;
    if (ui_buffer_rows(ui, w->buffer) && from < line.text.n) {
        while (to < line.text.n && !isalnum((unsigned char)line.text.p[to])) to++;
        while (to < line.text.n && isalnum((unsigned char)line.text.p[to])) to++;
        tg_str word = {0};
        tg_str_addn(&word, line.text.p + from, to - from);
        add_text(ui, x, tg_str_text(&word));
        tg_str_free(&word);
    }
    ui_line_done(&line);
}

static void recall(ui_app *ui, session *x, bool back)
{
    size_t n = ui->search_ring.n;
    if (back ? x->ring >= n : x->ring <= 1) {
        if (ui->term) ui->term->beep(ui->term);
        return;
    }
    x->ring += back ? 1 : (size_t)-1;
    set_pattern(ui, x, ui->search_ring.v[n - x->ring]);
}

static void edit_pattern(ui_app *ui, session *x)
{
    char *text;
    ui_prompt prompt = {
        .text = "Edit search", .initial = tg_str_text(&x->s.pattern), .history = "search"};
    ui_search *lit = ui->search;
    char *start = tg_strdup(prompt.initial);
    prompt.initial = start;
    if (ui_ask(ui, &prompt, &text) == TG_OK) {
        if (ui_window_live(ui, x->s.window)) set_pattern(ui, x, text);
        free(text);
    }
    ui->search = lit;
    free(start);
}

static void toggle(ui_app *ui, session *x, bool regexp)
{
    ui_search *s = &x->s;
    push_step(x);
    if (regexp) {
        s->regexp = !s->regexp;
    } else {
        s->fold = !ui_search_folds(s);
        s->case_fixed = true;
    }
    search_here(ui, x);
}

typedef enum outcome { GOES_ON, ENDS, GIVES_UP } outcome;

/* C-g: back to the last match that was found; from there, out. */
static outcome quit_step(session *x)
{
    if (!x->s.failing && !x->s.broken) return GIVES_UP;
    while ((x->s.failing || x->s.broken) && pop_step(x)) {}
    return GOES_ON;
}

static outcome handle_meta(ui_app *ui, session *x, ui_key key)
{
    switch (key & ~(ui_key)UI_KEY_META) {
    case 'c': toggle(ui, x, false); return GOES_ON;
    case 'r': toggle(ui, x, true); return GOES_ON;
    case 'p': recall(ui, x, true); return GOES_ON;
    case 'n': recall(ui, x, false); return GOES_ON;
    case 'e': edit_pattern(ui, x); return GOES_ON;
    default:
        ui_unread_key(ui, key & ~(ui_key)UI_KEY_META);
        ui_unread_key(ui, UI_KEY_ESC);
        return ENDS;
    }
}

static outcome handle_key(ui_app *ui, session *x, ui_key key)
{
    char utf8[5];
    switch (key) {
    case 's' - 96: repeat(ui, x, true); return GOES_ON;
    case 'r' - 96: repeat(ui, x, false); return GOES_ON;
    case 'w' - 96: add_word(ui, x); return GOES_ON;
    case 'g' - 96: return quit_step(x);
    case UI_KEY_DEL:
        if (!pop_step(x) && ui->term) ui->term->beep(ui->term);
        return GOES_ON;
    case UI_KEY_RET: return ENDS;
    case UI_KEY_PASTE: add_text(ui, x, ui->term->paste(ui->term)); return GOES_ON;
    default: break;
    }
    if (ui_key_is_text(key)) {
        ui_utf8_encode(key, utf8);
        add_text(ui, x, utf8);
        return GOES_ON;
    }
    ui_unread_key(ui, key);
    return ENDS;
}

/* One key of the dialogue; ESC begins a key with Meta. */
static outcome next_key(ui_app *ui, session *x)
{
    ui_key key = ui_read_key(ui);
    if (key == UI_KEY_EOF) return ENDS;
    bool meta = (key & UI_KEY_META) && key < UI_KEY_NONE - 1;
    if (key == UI_KEY_ESC) {
        key = ui_read_key(ui);
        if (key == UI_KEY_EOF) return ENDS;
        meta = true;
    }
    /* a resize may have closed a pop-up */
    if (!ui_window_live(ui, x->s.window)) return ENDS;
    if (!meta) return handle_key(ui, x, key);
    return handle_meta(ui, x, key | UI_KEY_META);
}

static void keep_pattern(ui_app *ui, const char *pattern)
{
    for (size_t i = 0; i < ui->search_ring.n; i++) {
        if (strcmp(ui->search_ring.v[i], pattern) != 0) continue;
        free(ui->search_ring.v[i]);
        tg_vec_remove(&ui->search_ring, i);
        break;
    }
    if (ui->search_ring.n == 16) {
        free(ui->search_ring.v[0]);
        tg_vec_remove(&ui->search_ring, 0);
    }
    tg_vec_push(&ui->search_ring, tg_strdup(pattern));
}

static tg_status end_search(ui_app *ui, session *x, outcome how)
{
    ui_search *s = &x->s;
    ui->search = NULL;
    tg_str_clear(&ui->echo);
    if (ui_window_live(ui, s->window)) {
        ui_buffer *b = s->window->buffer;
        if (how == GIVES_UP) {
            s->window->point = s->start;
            s->window->top = s->start_top;
        } else if (s->found) {
            b->mark = s->start;
            b->mark_set = true;
            ui_message(ui, "Mark saved where search started");
        }
    }
    if (s->pattern.n) keep_pattern(ui, s->pattern.p);
    for (size_t i = 0; i < x->steps.n; i++) free(x->steps.v[i].pattern);
    tg_vec_free(&x->steps);
    if (s->compiled) regfree(&s->re);
    tg_str_free(&s->pattern);
    return how == GIVES_UP ? tg_fail(TG_CANCELLED, "Quit") : TG_OK;
}

static tg_status search(ui_app *ui, bool forward, bool regexp)
{
    ui_window *w = ui->selected;
    session x = {.s = {.window = w,
                       .forward = forward,
                       .regexp = regexp,
                       .start = w->point,
                       .start_top = w->top}};
    outcome how = GOES_ON;
    if (ui->search) return tg_fail(TG_USAGE, "A search is active");
    ui->search = &x.s;
    while (how == GOES_ON) {
        show_prompt(ui, &x.s);
        how = next_key(ui, &x);
    }
    return end_search(ui, &x, how);
}

DEFCMD(isearch_forward, "isearch-forward", "",
       "Search forward while the text to find is typed.\n\n"
       "C-s and C-r go to the next and the previous match, around the end after a failure; DEL "
       "takes back a step; C-w adds the word at point; M-c toggles case, M-r regular expressions; "
       "M-p and M-n recall, M-e edits; RET ends. Any other command ends the search and runs.")
{
    return search(ui, true, false);
}

DEFCMD(isearch_backward, "isearch-backward", "",
       "Search backward while the text to find is typed; see isearch-forward.")
{
    return search(ui, false, false);
}

DEFCMD(isearch_regexp, "isearch-forward-regexp", "",
       "Search forward for a regular expression (POSIX extended); see isearch-forward.")
{
    return search(ui, true, true);
}
