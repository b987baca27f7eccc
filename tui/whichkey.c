/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "whichkey.h"

#include <string.h>

enum { CELL = 26 };

/* One entry: the key after the prefix, and its command, or "+prefix". */
typedef struct entry {
    ui_key key;
    const ui_command *command; /* NULL: a prefix */
} entry;

typedef struct gather {
    TG_VEC(entry) list;
    int depth; /* keys of the prefix */
    bool escape;
} gather;

static void add_entry(void *ctx, const ui_key *keys, int n, const ui_command *command)
{
    gather *g = ctx;
    ui_key key = keys[g->depth];
    if (key == UI_KEY_PASTE || (g->escape && !(key & UI_KEY_META))) return;
    for (size_t i = 0; i < g->list.n; i++) {
        if (g->list.v[i].key == key) return;
    }
    tg_vec_push(&g->list, (entry){key, n == g->depth + 1 ? command : NULL});
}

void ui_whichkey_hide(ui_app *ui)
{
    for (size_t i = 0; i < ui->overlay.n; i++) ui_line_done(&ui->overlay.v[i]);
    tg_vec_clear(&ui->overlay);
}

static void add_cell(ui_line *line, const entry *e, bool escape, int col)
{
    tg_str name = {0};
    ui_key_name(escape ? e->key & ~(ui_key)UI_KEY_META : e->key, &name);
    ui_line_pad(line, col);
    ui_line_add(line, UI_FACE_key, name.p);
    ui_line_add(line, UI_FACE_plain, " ");
    int left = CELL - 2 - ui_text_width(name.p, name.n);
    if (e->command) ui_line_fit(line, UI_FACE_plain, e->command->name, left);
    else ui_line_fit(line, UI_FACE_header, "+prefix", left);
    tg_str_free(&name);
}

/* Lays the entries out in columns, read downwards, in at most half of the screen. */
static void show(ui_app *ui, const gather *g, const char *title)
{
    int across = ui->cols / CELL > 0 ? ui->cols / CELL : 1;
    int n = (int)g->list.n, rows = (n + across - 1) / across, most = ui->rows / 2 - 1;
    ui_whichkey_hide(ui);
    if (most < 1) return;
    if (rows > most) rows = most;
    ui_line head = {0};
    ui_line_add(&head, UI_FACE_mode_line_inactive, title);
    if (rows * across < n) {
        ui_line_addf(&head, UI_FACE_mode_line_inactive, "  %d more: C-h lists all",
                     n - rows * across);
    }
    while (ui_line_width(&head) < ui->cols) ui_line_add(&head, UI_FACE_mode_line_inactive, " ");
    tg_vec_push(&ui->overlay, head);
    for (int r = 0; r < rows; r++) {
        ui_line line = {0};
        for (int c = 0; c < across && c * rows + r < n; c++) {
            add_cell(&line, &g->list.v[c * rows + r], g->escape, c * CELL);
        }
        tg_vec_push(&ui->overlay, line);
    }
    ui_touch(ui);
}

void ui_whichkey_show(ui_app *ui, const ui_key *keys, int n, bool escape)
{
    gather g = {.depth = n, .escape = escape};
    tg_str title = {0};
    const ui_keymap *map = ui_mode_keymap(ui, ui->selected->buffer->mode);
    for (; map; map = ui_keymap_parent(map)) ui_keymap_each(map, keys, n, add_entry, &g);
    ui_keymap_each(ui->global, keys, n, add_entry, &g);
    ui_keys_name(keys, n, &title);
    if (escape) tg_str_add(&title, n ? " ESC" : "ESC");
    tg_str_addc(&title, '-');
    show(ui, &g, title.p);
    tg_str_free(&title);
    tg_vec_free(&g.list);
}

void ui_whichkey_show_mode(ui_app *ui)
{
    gather g = {0};
    const ui_mode *mode = ui->selected->buffer->mode;
    tg_str title = {0};
    for (const ui_keymap *map = ui_mode_keymap(ui, mode); map; map = ui_keymap_parent(map)) {
        ui_keymap_each(map, NULL, 0, add_entry, &g);
    }
    tg_str_addf(&title, "Keys of %s (%s); C-g closes", ui->selected->buffer->name, mode->label);
    show(ui, &g, title.p);
    tg_str_free(&title);
    tg_vec_free(&g.list);
}
