/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transient menus over the foot of the screen: options to set and commands to run, by single keys.
 *
 *     static const ui_menu_item step[] = {{"SPC", "Step", .command = "step"}, {NULL}};
 *     static const ui_menu_group groups[] = {{"Agent", step}, {NULL, NULL}};
 *     static const ui_menu menu = {"Agent", arguments, groups};
 *     return ui_menu_run(ui, &menu);
 */
#ifndef TUI_MENU_H
#define TUI_MENU_H

#include "app.h"

typedef struct ui_menu ui_menu;

/* A suffix: exactly one of command and menu is set. */
typedef struct ui_menu_item {
    const char *key, *text, *command;
    const ui_menu *menu; /* one level down */
} ui_menu_item;

typedef struct ui_menu_group {
    const char *title;
    const ui_menu_item *items; /* ends with a NULL key */
} ui_menu_group;

/* An argument: -KEY asks for a value of an option, or turns a flag over. */
typedef struct ui_menu_argument {
    char key;
    const char *text;
    ui_opt option;
} ui_menu_argument;

struct ui_menu {
    const char *title;
    const ui_menu_argument *arguments; /* ends with key 0; NULL: none */
    const ui_menu_group *groups;       /* ends with a NULL title */
};

/*
 * Shows the menu until a suffix was run or C-g left it. Ordinary keys that are no suffix (C-x o,
 * C-v ...) keep working. Errors: that of the command; TG_CANCELLED for C-g at the first level and
 * C-q.
 */
tg_status ui_menu_run(ui_app *ui, const ui_menu *menu) TG_MUST_USE;

/* The first item whose key or command does not exist, or NULL; for tests. */
const char *ui_menu_check(const ui_menu *menu);

#endif
