/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *Buffer List*: choose, mark for deletion, delete. */
#include "tui/app.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(buffer_menu);

static const char list_name[] = "*Buffer List*";

/* One row; names, not pointers, for a buffer may be gone. */
typedef struct row {
    char *name;
    bool flagged;
} row;

typedef struct menu {
    TG_VEC(row) rows;
} menu;

static void clear_rows(menu *m)
{
    for (size_t i = 0; i < m->rows.n; i++) free(m->rows.v[i].name);
    tg_vec_clear(&m->rows);
}

static bool was_flagged(const menu *m, const char *name)
{
    for (size_t i = 0; i < m->rows.n; i++) {
        if (strcmp(m->rows.v[i].name, name) == 0) return m->rows.v[i].flagged;
    }
    return false;
}

static tg_status menu_refresh(ui_app *ui, ui_buffer *buffer)
{
    menu *m = buffer->data, fresh = {0};
    for (size_t i = 0; i < ui->buffers.n; i++) {
        const ui_buffer *b = ui->buffers.v[i];
        if (b->name[0] == ' ' || b == buffer) continue;
        row r = {tg_strdup(b->name), was_flagged(m, b->name)};
        tg_vec_push(&fresh.rows, r);
    }
    clear_rows(m);
    tg_vec_free(&m->rows);
    *m = fresh;
    ui_touch(ui);
    return TG_OK;
}

static void menu_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    buffer->data = tg_calloc(1, sizeof(menu));
}

static void menu_close(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    menu *m = buffer->data;
    clear_rows(m);
    tg_vec_free(&m->rows);
    free(m);
}

static size_t menu_rows(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    return ((const menu *)buffer->data)->rows.n;
}

static void menu_draw(ui_app *ui, ui_buffer *buffer, size_t at, int width, ui_line *line)
{
    const row *r = &((const menu *)buffer->data)->rows.v[at];
    ui_buffer *b = ui_buffer_find(ui, r->name);
    (void)width;
    ui_line_add(line, UI_FACE_vetoed, r->flagged ? "D" : " ");
    ui_line_add(line, UI_FACE_plain, b && b->read_only ? "%" : " ");
    ui_line_add(line, UI_FACE_plain, b && b->modified ? "* " : "  ");
    ui_line_fit(line, UI_FACE_link, r->name, 24);
    ui_line_pad(line, 30);
    if (b) ui_line_addf(line, UI_FACE_plain, "%6zu  %s", ui_buffer_rows(ui, b), b->mode->label);
}

static bool menu_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    (void)ui, (void)buffer, (void)width;
    ui_line_add(line, UI_FACE_header, "DRM Buffer                      Rows  Mode");
    return true;
}

static row *row_at_point(ui_app *ui)
{
    ui_buffer *b = ui->selected->buffer;
    menu *m = b->mode == &ui_mode_buffer_menu ? b->data : NULL;
    return m && ui->selected->point.row < m->rows.n ? &m->rows.v[ui->selected->point.row] : NULL;
}

static tg_status flag(ui_app *ui, bool on)
{
    row *r = row_at_point(ui);
    if (!r) return tg_fail(TG_NOTFOUND, "No buffer on this line");
    r->flagged = on;
    if (ui->selected->point.row + 1 < ui_buffer_rows(ui, ui->selected->buffer)) {
        ui->selected->point.row++;
    }
    return TG_OK;
}

DEFCMD(list_buffers, "list-buffers", "", "List the buffers in another window.")
{
    ui_buffer *b = ui_buffer_get(ui, list_name, &ui_mode_buffer_menu);
    TG_TRY(menu_refresh(ui, b));
    ui_display(ui, b);
    return TG_OK;
}

DEFCMD(this_window, "buffer-menu-visit", "", "Show the buffer of this row here.")
{
    row *r = row_at_point(ui);
    ui_buffer *b = r ? ui_buffer_find(ui, r->name) : NULL;
    if (!b) return tg_fail(TG_NOTFOUND, "No buffer on this line");
    ui_window_show(ui, ui->selected, b);
    return TG_OK;
}

DEFCMD(flag_row, "buffer-menu-delete", "", "Flag the buffer of this row; x kills it.")
{
    return flag(ui, true);
}

DEFCMD(unflag_row, "buffer-menu-unmark", "", "Take the flag from the buffer of this row.")
{
    return flag(ui, false);
}

DEFCMD(kill_flagged, "buffer-menu-execute", "", "Kill the buffers that are flagged.")
{
    ui_buffer *list = ui->selected->buffer;
    if (list->mode != &ui_mode_buffer_menu) return tg_fail(TG_USAGE, "Not a list of buffers");
    const menu *m = list->data;
    for (size_t i = 0; i < m->rows.n; i++) {
        ui_buffer *b = m->rows.v[i].flagged ? ui_buffer_find(ui, m->rows.v[i].name) : NULL;
        if (b && b != list) ui_buffer_kill(ui, b);
    }
    return menu_refresh(ui, list);
}

const ui_mode ui_mode_buffer_menu = {
    .name = "buffer-menu-mode",
    .label = "Buffer Menu",
    .doc =
        "The buffers. RET shows one here, d flags it, u takes the flag back, x kills the flagged.",
    .parent = &ui_mode_special,
    .hl_line = true,
    .keys =
        (const ui_key_row[]){
            {"RET", "buffer-menu-visit"},
            {"d", "buffer-menu-delete"},
            {"u", "buffer-menu-unmark"},
            {"x", "buffer-menu-execute"},
            {NULL, NULL},
        },
    .open = menu_open,
    .close = menu_close,
    .rows = menu_rows,
    .draw = menu_draw,
    .header = menu_header,
    .refresh = menu_refresh,
};
