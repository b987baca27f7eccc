/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describing commands, keys, options, faces and modes. */
#ifndef TUI_HELP_H
#define TUI_HELP_H

#include "app.h"

/* The keys of a command in the maps of the window that was in use, joined by ", "; "" if none. */
void ui_where_is(ui_app *ui, const ui_command *command, tg_str *out);

/* Adds what C-h f shows after `lead`, the start of its first sentence. Works without a screen. */
void ui_describe_command(ui_app *ui, const ui_command *command, const char *lead, ui_text *out);
/* Adds what --help shows. */
void ui_command_help(const ui_command *command, tg_str *out);

/* Adds the keys of a map below a prefix, or of a mode and its parents with the mode's words. */
void ui_describe_map(const ui_keymap *map, const ui_key *prefix, int n, ui_text *out);
void ui_describe_mode(ui_app *ui, const ui_mode *mode, ui_text *out);

/* Adds a line for each command that runs without a screen. */
void ui_commands_list(tg_str *out);

/* Shows a target ("command:NAME", "variable:NAME", "face:NAME", "mode:NAME",
 * "rule:NAME", UI_SEARCH_TARGET) in *Help*. */
tg_status ui_help_visit(ui_app *ui, const char *target) TG_MUST_USE;
/* The last search, in *Help* (commands/search.c). Errors: TG_NOTFOUND. */
#define UI_SEARCH_TARGET "search:last"
tg_status ui_search_report(ui_app *ui) TG_MUST_USE;
/* The cleared *Help* buffer, its target remembered for l and r; then show it. */
ui_buffer *ui_help_begin(ui_app *ui, const char *target);
void ui_help_show(ui_app *ui, ui_buffer *help);

#endif
