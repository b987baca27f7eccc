/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keymaps: key sequences to commands. A prefix such as C-x leads to a keymap of its own. A map may
 * have a parent, which is asked where the map itself has nothing.
 */
#ifndef TUI_KEYMAP_H
#define TUI_KEYMAP_H

#include "command.h"
#include "key.h"

enum { UI_MAX_KEYS = 8 };

typedef struct ui_keymap ui_keymap;

/* One row of a table of bindings; a table ends with {NULL, NULL}. */
typedef struct ui_key_row {
    const char *keys, *command;
} ui_key_row;

/* What a sequence leads to: nothing, a command, or a prefix. */
typedef struct ui_binding {
    const ui_command *command;
    bool prefix;
} ui_binding;

ui_keymap *ui_keymap_new(const char *name, const ui_keymap *parent);
void ui_keymap_free(ui_keymap *map); /* not its parent */
const char *ui_keymap_map_name(const ui_keymap *map);
const ui_keymap *ui_keymap_parent(const ui_keymap *map);

/* Errors: TG_USAGE (no such key, or its prefix is a command), TG_NOTFOUND (no such command). */
tg_status ui_keymap_bind(ui_keymap *map, const char *keys, const char *command) TG_MUST_USE;
tg_status ui_keymap_bind_table(ui_keymap *map, const ui_key_row *rows) TG_MUST_USE;
/* Looks in the map and its parents; *where (may be NULL) is the map that has it. */
ui_binding ui_keymap_lookup(const ui_keymap *map, const ui_key *keys, int n,
                            const ui_keymap **where);

/* Calls fn for every sequence below the prefix keys[0..n) of this map, not of its parents. */
typedef void (*ui_keymap_fn)(void *ctx, const ui_key *keys, int n, const ui_command *command);
void ui_keymap_each(const ui_keymap *map, const ui_key *prefix, int n, ui_keymap_fn fn, void *ctx);

#endif
