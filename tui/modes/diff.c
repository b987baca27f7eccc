/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * *diff*: the candidate at point in *candidates*, before and after; the step at point in *history*
 * while that is in use; or two states. The text is made anew when what it depends on changed.
 */
#include "tui/copy.h"
#include "tui/diff.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(diff);

enum { RADIUS = 2, MOST_RADIUS = 9, WIDTH = 80, WIDE = 100, NARROW = 64 };

typedef enum subject { CANDIDATE, STEP, STATES } subject;

typedef struct diff_view {
    subject what;
    int a, b;  /* states: the step's, or the two */
    bool tree; /* point was last seen in *history*, else in *candidates* */
    int at;    /* on this state or row */
    int radius;
    bool text;
    uint64_t shown; /* hash of what the text was made from */
} diff_view;

static void diff_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    diff_view *v = tg_calloc(1, sizeof *v);
    v->radius = RADIUS;
    buffer->data = v;
    buffer->read_only = true;
}

static void diff_close(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    free(buffer->data);
}

/* What the person looks at follows the window in use; two states stay until point moves. */
static void choose_subject(ui_app *ui, ui_session *s, diff_view *v)
{
    const ui_window *w = ui_window_ordinary(ui);
    const char *mode = w && w->buffer ? w->buffer->mode->name : "";
    bool list = strcmp(mode, "candidates-mode") == 0 || strcmp(mode, "graph-mode") == 0;
    bool tree = strcmp(mode, "history-mode") == 0;
    int at = tree ? ui_history_selected(ui) : list ? ui_session_row_at_point(s) : -1;
    if (at < 0 || (v->what == STATES && v->tree == tree && v->at == at)) return;
    v->tree = tree;
    v->at = at;
    v->what = tree ? STEP : CANDIDATE;
    if (tree) v->a = at;
}

static int width_of(ui_app *ui, const ui_buffer *buffer)
{
    const ui_window *w = ui_window_showing(ui, buffer);
    return w ? w->cols : WIDTH;
}

/* Two pictures beside each other need room; on a wide screen half of it will do. */
static bool is_wide(const ui_app *ui, int width)
{
    return ui->cols >= WIDE && width >= NARROW;
}

static uint64_t measurement_mark(const ui_measurement *m)
{
    return m ? tg_hash_add((uint64_t)m->at + 1, (uint64_t)m->result.n) : 0;
}

static uint64_t signature(const ui_app *ui, ui_session *s, const diff_view *v, int row, int width)
{
    uint64_t h = tg_hash_add((uint64_t)width, (uint64_t)v->what);
    h = tg_hash_add(tg_hash_add(h, (uint64_t)v->radius), v->text + 2u * is_wide(ui, width));
    h = tg_hash_add(h, tg_history_get(s->history, 0)->trail->graph->hash);
    if (v->what == STEP) return tg_hash_add(h, (uint64_t)v->a);
    if (v->what == STATES) return tg_hash_add(tg_hash_add(h, (uint64_t)v->a), (uint64_t)v->b);
    const tg_candidate *c = ui_session_candidate(s, row);
    h = tg_hash_add(h, s->view ? (uint64_t)s->view->state + 1 : 0);
    h = tg_hash_add(h, c ? c->site->key : 0);
    if (c)
        h = tg_hash_add(h, measurement_mark(ui_session_measured(s, s->view->state, c->site->key)));
    return h;
}

static void write_candidate(ui_session *s, int row, const ui_diff_style *style, ui_text *out)
{
    const tg_candidate *c = ui_session_candidate(s, row);
    if (c) ui_diff_candidate(out, s, c, style);
    else if (!s->view) ui_text_add(out, UI_FACE_stale, "The candidates are being looked for.\n");
    else if (row == s->view->n_rows - 1)
        ui_text_add(out, UI_FACE_plain, "STOP: the agent leaves the graph as it is.\n");
    else ui_text_add(out, UI_FACE_plain, "No candidate on this line.\n");
}

/* Makes the text anew if it no longer tells what it should. */
static void sync(ui_app *ui, ui_buffer *buffer)
{
    diff_view *v = buffer->data;
    ui_session *s = ui_session_get(ui);
    int row = s ? ui_session_row_at_point(s) : 0, width = width_of(ui, buffer);
    if (s) {
        choose_subject(ui, s, v);
        int n = (int)s->history->states.n;
        if (v->what != CANDIDATE && (v->a >= n || v->b >= n)) v->what = CANDIDATE;
    }
    uint64_t now = s ? signature(ui, s, v, row, width) : 1;
    if (now == v->shown) return;
    v->shown = now;
    ui_diff_style style = {v->radius, width, v->text, is_wide(ui, width)};
    ui_text_clear(&buffer->text);
    if (!s) ui_text_add(&buffer->text, UI_FACE_plain, "No model loaded");
    else if (v->what == STEP) ui_diff_step(&buffer->text, s, v->a, &style);
    else if (v->what == STATES) ui_diff_states(&buffer->text, s, v->a, v->b, &style);
    else write_candidate(s, row, &style, &buffer->text);
    ui_text *t = &buffer->text;
    while (t->lines.n > 1 && !tg_vec_last(&t->lines).text.n) {
        ui_line_done(&tg_vec_last(&t->lines));
        t->lines.n--;
    }
}

static size_t diff_rows(ui_app *ui, ui_buffer *buffer)
{
    sync(ui, buffer);
    return buffer->text.lines.n;
}

static void candidate_header(ui_session *s, int row, int width, ui_line *line)
{
    const tg_candidate *c = ui_session_candidate(s, row);
    if (!c) return;
    char ops[24];
    ui_line_addf(line, UI_FACE_header, "cand %d  %s", row + 1,
                 tg_rules_get(s->rules, c->site->rule)->name);
    if (s->view->scores.n)
        ui_line_addf(line, UI_FACE_header, "  π %.2f", s->view->scores.p[s->view->order[row]]);
    ui_line_addf(line, UI_FACE_header, "  Δops %s  at ",
                 ui_signed(ops, c->preview.nodes_come - c->preview.nodes_gone, 0));
    ui_line_fit(line, UI_FACE_header,
                tg_site_words(tg_candidates_graph(s->view->candidates), c->site),
                width - ui_line_width(line));
}

static bool diff_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    const diff_view *v = buffer->data;
    ui_session *s = ui_session_get(ui);
    if (!s) return false;
    sync(ui, buffer);
    if (v->what == STATES) {
        ui_line_addf(line, UI_FACE_header, "state %d against state %d", v->a, v->b);
    } else if (v->what == STEP) {
        const tg_state *state = tg_history_get(s->history, v->a);
        ui_line_addf(line, UI_FACE_header, "step %d  %s%s%s", tg_history_depth(s->history, v->a),
                     state->parent < 0 ? "the model" : state->trail->taken.rule,
                     state->parent < 0 ? "" : "  at ",
                     state->parent < 0 ? "" : state->trail->taken.site);
    } else candidate_header(s, ui_session_row_at_point(s), width, line);
    if (!line->text.n) ui_line_add(line, UI_FACE_header, " ");
    return true;
}

static void diff_minor(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    const diff_view *v = buffer->data;
    (void)ui;
    if (v->text) tg_str_add(out, " Text");
    if (v->radius != RADIUS) tg_str_addf(out, " ±%d", v->radius);
}

static tg_status diff_refresh(ui_app *ui, ui_buffer *buffer)
{
    ((diff_view *)buffer->data)->shown = 0;
    ui_touch(ui);
    return TG_OK;
}

static ui_buffer *diff_buffer(ui_app *ui)
{
    return ui_buffer_get(ui, "*diff*", &ui_mode_diff);
}

void ui_diff_show_states(ui_app *ui, int a, int b)
{
    ui_buffer *buffer = diff_buffer(ui);
    diff_view *v = buffer->data;
    choose_subject(ui, ui_session_get(ui), v);
    v->what = STATES;
    v->a = a;
    v->b = b;
    ui_buffer_set_point(ui, buffer, 0, 0);
    ui_display(ui, buffer);
}

/* ---- commands */

DEFCMD(diff, "diff", "",
       "Show the candidate at point before and after, in another window.\n\nIt follows point in "
       "*candidates*, and in *history* the steps.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_buffer *b = diff_buffer(ui);
    ui_display(ui, b);
    return TG_OK;
}

static tg_status change_radius(ui_app *ui, int radius)
{
    diff_view *v = diff_buffer(ui)->data;
    if (radius < 0 || radius > MOST_RADIUS)
        return tg_fail(TG_LIMIT, radius < 0 ? "No context is left to hide" : "No more context");
    v->radius = radius;
    ui_hint(ui, "Context: %d value%s around the change", radius, radius == 1 ? "" : "s");
    ui_touch(ui);
    return TG_OK;
}

DEFCMD(more, "diff-more-context", "", "Show more of the graph around the change.")
{
    return change_radius(ui, ((diff_view *)diff_buffer(ui)->data)->radius + 1);
}

DEFCMD(less, "diff-less-context", "", "Show less of the graph around the change.")
{
    return change_radius(ui, ((diff_view *)diff_buffer(ui)->data)->radius - 1);
}

DEFCMD(usual, "diff-default-context", "", "Show as much around the change as at the start.")
{
    return change_radius(ui, RADIUS);
}

DEFCMD(toggle, "rails-or-text", "",
       "Turn the rails into text and back.\n\nThe text is the rule as it is written and the nodes "
       "that go and come.")
{
    diff_view *v = diff_buffer(ui)->data;
    v->text = !v->text;
    ui_touch(ui);
    return TG_OK;
}

/* A row that holds something that goes or comes. */
static bool is_change(const ui_text *t, size_t row)
{
    const ui_line *line = &t->lines.v[row];
    for (size_t i = 0; i < line->spans.n; i++)
        if (line->spans.v[i].face == UI_FACE_new || line->spans.v[i].face == UI_FACE_removed)
            return true;
    return false;
}

static tg_status to_change(ui_app *ui, int by)
{
    ui_buffer *b = diff_buffer(ui);
    const ui_text *t = &b->text;
    size_t row = ui_buffer_point(ui, b).row, n = diff_rows(ui, b);
    bool left = row >= n || !is_change(t, row);
    for (size_t i = row; i < n;) {
        i += (size_t)by;
        if (i >= n) break;
        if (!is_change(t, i)) left = true;
        else if (left) {
            ui_buffer_set_point(ui, b, i, 0);
            return TG_OK;
        }
    }
    return tg_fail(TG_LIMIT, by > 0 ? "No change further down" : "No change further up");
}

DEFCMD(next_change, "next-change", "", "Move to the next change in *diff*.")
{
    return to_change(ui, 1);
}

DEFCMD(previous_change, "previous-change", "", "Move to the change before in *diff*.")
{
    return to_change(ui, -1);
}

DEFCMD(scroll, "diff-scroll-or-next", "", "Scroll the diff; at its end show the next candidate.")
{
    ui_buffer *b = diff_buffer(ui), *list = ui_buffer_find(ui, "*candidates*");
    ui_window *w = ui->selected;
    ui_session *s = ui_session_get(ui);
    size_t n = diff_rows(ui, b), body = (size_t)ui_window_body(ui, w);
    if (w->buffer == b && w->top + body < n) return ui_command_run(ui, "scroll-up-command", NULL);
    int row = s ? ui_session_row_at_point(s) : -1;
    if (!s || !list || ((diff_view *)b->data)->what != CANDIDATE ||
        !ui_session_candidate(s, row + 1))
        return tg_fail(TG_LIMIT, "No candidate after this one");
    ui_buffer_set_point(ui, list, (size_t)row + 1, 0);
    ui_buffer_set_point(ui, b, 0, 0);
    return TG_OK;
}

DEFCMD(copy_row, "copy-row", "", "Copy the row at point, so that C-y yanks it.")
{
    ui_window *w = ui->selected;
    ui_line line = {0};
    ui_buffer_draw(ui, w->buffer, w->point.row, w->cols, &line);
    const char *text = tg_str_text(&line.text);
    size_t n = line.text.n;
    while (n && text[n - 1] == ' ') n--;
    tg_str copy = {0};
    tg_str_addn(&copy, text, n);
    ui_copy(ui, tg_str_text(&copy));
    tg_str_free(&copy);
    ui_line_done(&line);
    return TG_OK;
}

const ui_mode ui_mode_diff = {
    .name = "diff-mode",
    .label = "Diff",
    .doc = "A rewrite before and after: what goes is marked with a minus, what comes with a plus. "
           "n and p go from change to change, + and - show more and less around it, v shows the "
           "rule instead, SPC scrolls and goes on to the next candidate.",
    .parent = &ui_mode_special,
    .keys =
        (const ui_key_row[]){
            {"SPC", "diff-scroll-or-next"},
            {"n", "next-change"},
            {"p", "previous-change"},
            {"v", "rails-or-text"},
            {"+", "diff-more-context"},
            {"-", "diff-less-context"},
            {"0", "diff-default-context"},
            {"a", "accept"},
            {"RET", "accept"},
            {"=", "measure"},
            {"d", "veto"},
            {"x", "execute-vetoes"},
            {"w", "copy-row"},
            {NULL, NULL},
        },
    .open = diff_open,
    .close = diff_close,
    .rows = diff_rows,
    .header = diff_header,
    .minor = diff_minor,
    .refresh = diff_refresh,
};
