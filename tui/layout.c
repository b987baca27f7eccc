/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of a session: made once when a model was loaded, and again by restore-layout. */
#include "command.h"
#include "session_jobs.h"

#include <stdlib.h>

UI_FAMILY(layout);

enum { TOP_ROWS = 12, WIDE_COLS = 140, WIDE_ROWS = 30, TALL_ROWS = 40 };

/* Buffers whose modes show a session. */
static const char *const shows[][2] = {
    {"*graph*", "graph-mode"},
    {"*candidates*", "candidates-mode"},
    {"*diff*", "diff-mode"},
    {"*history*", "history-mode"},
};

static ui_buffer *buffer_of(ui_app *ui, size_t i)
{
    const ui_mode *mode = ui_mode_find(shows[i][1]);
    return mode ? ui_buffer_get(ui, shows[i][0], mode) : NULL;
}

/* Splits a window and shows a buffer in the new one; NULL where there is no room for it. */
static ui_window *below(ui_app *ui, ui_window *w, bool across, int size, ui_buffer *buffer)
{
    ui_window *made = NULL;
    if (!w || !buffer || ui_window_split(ui, w, across, size, &made) != TG_OK) return NULL;
    ui_window_show(ui, made, buffer);
    return made;
}

/* The plan of 160x50: graph and history at the left, candidates and diff at the right. */
static ui_window *lay_wide(ui_app *ui, ui_window *graph)
{
    ui_window *candidates = below(ui, graph, true, 0, buffer_of(ui, 1));
    ui_buffer *diff = buffer_of(ui, 2), *history = buffer_of(ui, 3);
    if (ui->rows >= TALL_ROWS) below(ui, graph, false, graph->rows * 2 / 3, history);
    if (candidates) below(ui, candidates, false, candidates->rows / 2, diff);
    return candidates;
}

/* Graph above, candidates below. */
static ui_window *lay_narrow(ui_app *ui, ui_window *graph)
{
    int top = ui->rows <= 2 * TOP_ROWS ? graph->rows - (ui->rows - TOP_ROWS - 1) + 1 : 0;
    return below(ui, graph, false, top, buffer_of(ui, 1));
}

static void lay_out(ui_app *ui)
{
    ui_window *first = ui_window_ordinary(ui);
    ui_window_delete_others(ui, first);
    ui_buffer *graph = buffer_of(ui, 0);
    if (!graph) return;
    ui_window_show(ui, first, graph);
    bool wide = ui->cols >= WIDE_COLS && ui->rows >= WIDE_ROWS;
    ui_window *candidates = wide ? lay_wide(ui, first) : lay_narrow(ui, first);
    if (ui->selected != ui->mini) ui_window_select(ui, candidates ? candidates : first);
}

void ui_session_loaded(ui_session *s)
{
    if (s->ui->term && s->ui->root) lay_out(s->ui);
}

/* ---- what windows look at */

/* What is in the row at point. Invariant: one of node, output, key says it. */
typedef struct look {
    ui_window *window; /* NULL: of a buffer that no window shows */
    ui_buffer *buffer;
    bool graph;
    size_t above; /* rows of the window above it */
    uint32_t node, group;
    int output; /* -1: a node */
    uint64_t key;
} look;

struct ui_looks {
    TG_VEC(look) all;
};

static void take_look(const ui_session *s, ui_looks *looks, look l, size_t row, size_t top)
{
    const tg_drawing *d = s->view->drawing;
    const tg_graph *g = tg_candidates_graph(s->view->candidates);
    l.above = row > top ? row - top : 0;
    l.output = -1;
    if (l.graph && row < d->n_rows) {
        const tg_row *r = &d->rows[row];
        l.output = r->output;
        l.node = r->n_nodes ? r->nodes[0] : 0;
        l.group = r->n_nodes ? g->nodes[l.node]->group : 0;
    } else if (!l.graph) {
        const tg_candidate *c = ui_session_candidate(s, (int)row);
        l.key = c ? c->site->key : 0;
    }
    tg_vec_push(&looks->all, l);
}

ui_looks *ui_session_looks(ui_session *s)
{
    ui_app *ui = s->ui;
    ui_looks *looks = tg_calloc(1, sizeof *looks);
    for (size_t i = 0; i < 2 && s->view; i++) {
        ui_buffer *b = ui_buffer_find(ui, shows[i][0]);
        look l = {.buffer = b, .graph = i == 0};
        if (!b) continue;
        take_look(s, looks, l, b->point.row, b->top);
        for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
            l.window = w;
            if (w->buffer == b) take_look(s, looks, l, w->point.row, w->top);
        }
    }
    return looks;
}

/* The row of the node that was looked at, of one that took its place, or -1. */
static int row_of_node(const ui_session *s, const look *l)
{
    const tg_drawing *d = s->view->drawing;
    const tg_graph *g = tg_candidates_graph(s->view->candidates);
    if (l->output >= 0) {
        for (uint32_t r = d->n_rows; r-- > 0;)
            if (d->rows[r].output == l->output) return (int)r;
        return -1;
    }
    if (l->node < d->n_ids && d->row_of[l->node] >= 0) return d->row_of[l->node];
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->group == l->group && d->row_of[node->id] >= 0) return d->row_of[node->id];
    }
    return -1;
}

static void look_again(const ui_session *s, const look *l)
{
    int row = l->graph ? row_of_node(s, l) : l->key ? ui_session_row(s, l->key) : -1;
    if (row < 0) return;
    size_t top = (size_t)row > l->above ? (size_t)row - l->above : 0;
    /* the first rows of a ranking are worth more than a place on the screen */
    if (!l->graph && l->window && row < l->window->rows - 2) top = 0;
    ui_point *point = l->window ? &l->window->point : &l->buffer->point;
    if (point->row != (size_t)row) *(l->window ? &l->window->top : &l->buffer->top) = top;
    point->row = (size_t)row;
}

void ui_session_shown(ui_session *s, ui_looks *looks)
{
    for (size_t i = 0; i < looks->all.n; i++) look_again(s, &looks->all.v[i]);
    tg_vec_free(&looks->all);
    free(looks);
    ui_touch(s->ui);
}

int ui_session_row_at_point(ui_session *s)
{
    ui_buffer *b = ui_buffer_find(s->ui, shows[1][0]);
    size_t row = b ? ui_buffer_point(s->ui, b).row : 0;
    return s->view && b && row < (size_t)s->view->n_rows ? (int)row : -1;
}

DEFCMD(restore_layout, "restore-layout", "",
       "Lay the windows out as they were when the model was loaded.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    lay_out(ui);
    return TG_OK;
}
