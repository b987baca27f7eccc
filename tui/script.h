/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scripts feed keys: for tests, tutorials and demonstrations. One line is
 *
 *     C-x 2 M-x "text typed as it stands" RET     keys, in the notation of key.h
 *     # a comment
 *     save-display FILE        writes the screen as text
 *     save-faces FILE          writes the faces of the screen
 *     assert-screen TEXT       waits until TEXT is on the screen
 *     assert-not TEXT          fails if TEXT is on the screen
 *     resize ROWS COLS         of a terminal in memory
 *     idle                     time passes: pop-ups of a prefix left alone appear
 *     settle                   waits until no job runs
 */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include "app.h"

/* `name` is for messages; text is copied. Errors: TG_USAGE with the line. */
tg_status ui_script_new(const char *name, const char *text, ui_script **script) TG_MUST_USE;
void ui_script_free(ui_script *script);
/*
 * The next key; UI_KEY_NONE: time passes; UI_KEY_EOF: it ended or a line failed. After a failure
 * ui->exit_status is 3 and the words went to stderr.
 */
ui_key ui_script_next(ui_app *ui, ui_script *script);
/* The first failure, or NULL. */
const char *ui_script_failure(const ui_script *script);

#endif
