/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *history*: the tree of states. Moving shows a step in *diff*; only RET moves HEAD. */
#include "tui/char.h"
#include "tui/history_tree.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BRANCHES = 8 };

typedef struct history_view {
    ui_tree tree;
    uint64_t made; /* what the tree was made from */
    uint64_t root; /* hash of the model that the marks are of */
    int marks[2];  /* states to compare; -1: none */
} history_view;

static void history_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    history_view *v = tg_calloc(1, sizeof *v);
    v->marks[0] = v->marks[1] = -1;
    buffer->data = v;
    buffer->read_only = true;
}

static void history_close(ui_app *ui, ui_buffer *buffer)
{
    history_view *v = buffer->data;
    (void)ui;
    ui_tree_done(&v->tree);
    free(v);
}

/* The tree, made anew if states came, went, or HEAD moved. */
static history_view *sync(ui_app *ui, ui_buffer *buffer)
{
    history_view *v = buffer->data;
    ui_session *s = ui_session_get(ui);
    uint64_t now = 1;
    if (s) {
        const tg_history *h = s->history;
        now = tg_hash_add(tg_hash_add(h->states.n, (uint64_t)h->head),
                          h->states.v[0].trail->graph->hash);
        for (size_t i = 0; i < h->states.n; i++)
            if (h->states.v[i].pruned) now = tg_hash_add(now, i);
    }
    if (now == v->made) return v;
    v->made = now;
    uint64_t root = s ? s->history->states.v[0].trail->graph->hash : 0;
    for (int i = 0; i < 2; i++)
        if (!s || root != v->root || v->marks[i] >= (int)s->history->states.n) v->marks[i] = -1;
    v->root = root;
    if (s) ui_tree_make(s->history, MOST_BRANCHES, &v->tree);
    else tg_vec_clear(&v->tree.rows);
    return v;
}

static size_t history_rows(ui_app *ui, ui_buffer *buffer)
{
    const history_view *v = sync(ui, buffer);
    return v->tree.rows.n ? v->tree.rows.n : 1;
}

static int width_of(ui_app *ui, const ui_buffer *buffer)
{
    const ui_window *w =
        ui->selected->buffer == buffer ? ui->selected : ui_window_showing(ui, buffer);
    return w ? w->cols : 80;
}

static int list_state(ui_app *ui, ui_buffer *buffer);

/* The first depth that the picture shows: all of it if there is room, else what is around point. */
static int first_depth(ui_app *ui, ui_buffer *buffer, const history_view *v, int width)
{
    ui_session *s = ui_session_get(ui);
    int room = (width - 30) / 2, state = list_state(ui, buffer);
    if (room < 4) room = 4;
    if (v->tree.deepest < room) return 0;
    int depth = s->history->states.v[state >= 0 ? state : s->history->head].trail->depth;
    int from = depth - room / 2;
    if (from > v->tree.deepest - room + 1) from = v->tree.deepest - room + 1;
    return from > 0 ? from : 0;
}

static const ui_tree_row *row_at(ui_app *ui, ui_buffer *buffer)
{
    const history_view *v = sync(ui, buffer);
    size_t row = ui_buffer_point(ui, buffer).row;
    return row < v->tree.rows.n ? &v->tree.rows.v[row] : NULL;
}

/* The state of the row of the list at point, or -1. */
static int list_state(ui_app *ui, ui_buffer *buffer)
{
    const ui_tree_row *row = row_at(ui, buffer);
    return row ? row->state : -1;
}

static int column_of(ui_app *ui, ui_buffer *buffer, ui_point point, int width)
{
    ui_line line = {0};
    ui_buffer_draw(ui, buffer, point.row, width, &line);
    size_t n = point.col < line.text.n ? point.col : line.text.n;
    int column = ui_text_width(tg_str_text(&line.text), n);
    ui_line_done(&line);
    return column;
}

int ui_history_selected(ui_app *ui)
{
    ui_session *s = ui_session_get(ui);
    ui_buffer *b = ui_buffer_find(ui, "*history*");
    const ui_tree_row *row = s && b ? row_at(ui, b) : NULL;
    if (!row) return -1;
    if (row->kind != UI_TREE_BRANCH) return row->state;
    const history_view *v = b->data;
    int width = width_of(ui, b), from = first_depth(ui, b, v, width);
    return ui_tree_state_at(s->history, &v->tree, row->branch, from,
                            column_of(ui, b, ui_buffer_point(ui, b), width));
}

static void draw_title(ui_session *s, const ui_tree *tree, int branch, ui_line *line)
{
    const ui_branch *b = &tree->branches.v[branch];
    if (b->fork < 0) return;
    ui_line_addf(line, UI_FACE_header, "from step %d", s->history->states.v[b->fork].trail->depth);
}

static void draw_legend(const ui_tree *tree, ui_line *line)
{
    ui_line_add(line, UI_FACE_header, "agent, search ●  you ■  branch ◇  best ★  HEAD ◉");
    if (tree->hidden)
        ui_line_addf(line, UI_FACE_stale, "   ⋮ %d more branches in the list", tree->hidden);
}

static void history_draw(ui_app *ui, ui_buffer *buffer, size_t at, int width, ui_line *line)
{
    const history_view *v = sync(ui, buffer);
    ui_session *s = ui_session_get(ui);
    if (!s || at >= v->tree.rows.n) {
        ui_line_add(line, UI_FACE_plain, "No model loaded");
        return;
    }
    const ui_tree_row *row = &v->tree.rows.v[at];
    bool marked = row->state >= 0 && (row->state == v->marks[0] || row->state == v->marks[1]);
    if (row->kind == UI_TREE_LEGEND) draw_legend(&v->tree, line);
    else if (row->kind == UI_TREE_TITLE) draw_title(s, &v->tree, row->branch, line);
    else if (row->kind == UI_TREE_STEP)
        ui_tree_draw_step(s, &v->tree, row->state, marked, width, line);
    else
        ui_tree_draw_branch(s->history, &v->tree, row->branch, first_depth(ui, buffer, v, width),
                            list_state(ui, buffer), width, line);
}

static bool history_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    (void)buffer;
    if (!ui_session_get(ui)) return false;
    ui_tree_draw_header(width, line);
    return true;
}

static void history_status(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    const history_view *v = sync(ui, buffer);
    ui_session *s = ui_session_get(ui);
    int leaves, tags = 0;
    if (!s) return;
    int n = tg_history_count(s->history, &leaves);
    for (size_t i = 0; i < s->history->states.n; i++) tags += s->history->states.v[i].tag != NULL;
    tg_str_addf(out, "%d state%s, %d branch%s", n, n == 1 ? "" : "s", (int)v->tree.branches.n,
                v->tree.branches.n == 1 ? "" : "es");
    if (tags) tg_str_addf(out, ", %d tag%s", tags, tags == 1 ? "" : "s");
}

static tg_status history_refresh(ui_app *ui, ui_buffer *buffer)
{
    ((history_view *)buffer->data)->made = 0;
    ui_touch(ui);
    return TG_OK;
}

ui_buffer *ui_history_buffer(ui_app *ui)
{
    return ui_buffer_get(ui, "*history*", &ui_mode_history);
}

bool ui_history_point_to(ui_app *ui, int state)
{
    ui_buffer *b = ui_history_buffer(ui);
    int row = ui_tree_row_of(&sync(ui, b)->tree, state);
    if (row >= 0) ui_buffer_set_point(ui, b, (size_t)row, 0);
    return row >= 0;
}

int *ui_history_marks(ui_app *ui)
{
    return ((history_view *)ui_history_buffer(ui)->data)->marks;
}

const ui_mode ui_mode_history = {
    .name = "history-mode",
    .label = "Hist",
    .doc = "The tree of states: the branches from left to right, then each step on a line. f and b "
           "go forward and back, n and p from line to line; *diff* shows the step at point. RET "
           "makes its state the present one, q and C-g leave all as it is. t names a state, d "
           "marks one for comparison with C-c C-d, D prunes.",
    .parent = &ui_mode_special,
    .hl_line = true,
    .keys =
        (const ui_key_row[]){
            {"RET", "history-visit"},
            {"f", "history-forward"},
            {"b", "history-backward"},
            {"n", "history-next-row"},
            {"p", "history-previous-row"},
            {"q", "history-quit"},
            {"C-g", "history-quit"},
            {"t", "tag-state"},
            {"d", "mark-state"},
            {"D", "prune"},
            {"w", "copy-replay-line"},
            {"M-g n", "next-regression"},
            {"M-g p", "previous-regression"},
            {"C-x `", "next-regression"},
            {NULL, NULL},
        },
    .open = history_open,
    .close = history_close,
    .rows = history_rows,
    .draw = history_draw,
    .header = history_header,
    .status = history_status,
    .refresh = history_refresh,
};
