/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *node*: all about the row at point in *graph*. */
#include "tui/node.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(node);

enum { WIDTH = 80 };

typedef struct node_view {
    uint64_t shown;
    char title[128];
} node_view;

static void node_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    buffer->data = tg_calloc(1, sizeof(node_view));
    buffer->read_only = true;
}

static void node_close(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    free(buffer->data);
}

static void sync(ui_app *ui, ui_buffer *buffer)
{
    node_view *v = buffer->data;
    ui_session *s = ui_session_get(ui);
    const ui_window *w = ui_window_showing(ui, buffer);
    const tg_row *row = s ? ui_node_row(ui, s) : NULL;
    int width = w ? w->cols : WIDTH;
    uint64_t now = tg_hash_add((uint64_t)width, s ? s->views + 2 : 1);
    if (row) now = tg_hash_add(now, (uint64_t)(row - s->view->drawing->rows));
    if (s && s->view) now = tg_hash_add(now, s->view->node_measured);
    if (now == v->shown) return;
    v->shown = now;
    ui_text *t = &buffer->text;
    ui_text_clear(t);
    snprintf(v->title, sizeof v->title, "%s", row ? row->label : "");
    if (row) ui_node_describe(s, row, width, t);
    else ui_text_add(t, UI_FACE_plain, s ? "No row at point in *graph*" : "No model loaded");
    while (t->lines.n > 1 && !tg_vec_last(&t->lines).text.n) {
        ui_line_done(&tg_vec_last(&t->lines));
        t->lines.n--;
    }
}

static size_t node_rows(ui_app *ui, ui_buffer *buffer)
{
    sync(ui, buffer);
    return buffer->text.lines.n;
}

static bool node_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    sync(ui, buffer);
    ui_line_add(line, UI_FACE_header, "node at point: ");
    ui_line_fit(line, UI_FACE_header, ((const node_view *)buffer->data)->title, width - 16);
    return true;
}

DEFCMD(describe_node, "describe-node", "",
       "Show all that is known of the node at point in *graph*; it follows point.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_display(ui, ui_buffer_get(ui, "*node*", &ui_mode_node));
    return TG_OK;
}

DEFCMD(briefly, "describe-node-briefly", "",
       "Say in one line what the node at point in *graph* is.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    const tg_row *row = ui_node_row(ui, s);
    if (!row) return tg_fail(TG_NOTFOUND, "No node at point in *graph*");
    tg_str words = {0};
    ui_node_brief(s, row, &words);
    ui_message(ui, "%s", tg_str_text(&words));
    tg_str_free(&words);
    return TG_OK;
}

const ui_mode ui_mode_node = {
    .name = "node-mode",
    .label = "Node",
    .doc = "The node at point in *graph*: operator, what it reads and who reads it, its type, time "
           "and work, and which rule made it.",
    .parent = &ui_mode_special,
    .keys =
        (const ui_key_row[]){
            {"w", "copy-row"},
            {NULL, NULL},
        },
    .open = node_open,
    .close = node_close,
    .rows = node_rows,
    .header = node_header,
};
