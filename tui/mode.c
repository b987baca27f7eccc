/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "app.h"

#include <assert.h>
#include <string.h>

static const ui_mode *const modes[] = {
#define MODE(id) &ui_mode_##id,
#include "mode.def"
#undef MODE
    NULL,
};

const ui_mode *ui_mode_at(int i)
{
    return i < (int)(sizeof modes / sizeof *modes) ? modes[i] : NULL;
}

const ui_mode *ui_mode_find(const char *name)
{
    for (int i = 0; modes[i]; i++) {
        if (strcmp(modes[i]->name, name) == 0) return modes[i];
    }
    return NULL;
}

bool ui_mode_derives(const ui_mode *mode, const ui_mode *ancestor)
{
    while (mode && mode != ancestor) mode = mode->parent;
    return mode != NULL;
}

static size_t mode_index(const ui_mode *mode)
{
    size_t i = 0;
    while (modes[i] != mode) i++;
    return i;
}

const ui_keymap *ui_mode_keymap(ui_app *ui, const ui_mode *mode)
{
    size_t i = mode_index(mode);
    while (ui->mode_maps.n <= i) tg_vec_push(&ui->mode_maps, NULL);
    if (ui->mode_maps.v[i]) return ui->mode_maps.v[i];
    const ui_keymap *parent = mode->parent ? ui_mode_keymap(ui, mode->parent) : NULL;
    tg_str name = {0};
    tg_str_addf(&name, "%s-map", mode->name);
    ui_keymap *map = ui_keymap_new(tg_str_text(&name), parent);
    tg_str_free(&name);
    ui->mode_maps.v[i] = map;
    /* the tables are compiled in and a test walks them, so a wrong row is a bug */
    if (ui_keymap_bind_table(map, mode->keys) != TG_OK) {
        ui_message(ui, "%s: %s", mode->name, tg_message());
        assert(!"a row of a mode's keys is wrong");
    }
    return map;
}

void ui_modes_done(ui_app *ui)
{
    for (size_t i = 0; i < ui->mode_maps.n; i++) ui_keymap_free(ui->mode_maps.v[i]);
    tg_vec_free(&ui->mode_maps);
}
