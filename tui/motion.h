/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving point in a window by what the rows show. Errors: TG_LIMIT at the ends, with Emacs's words.
 */
#ifndef TUI_MOTION_H
#define TUI_MOTION_H

#include "app.h"

tg_status ui_move_char(ui_app *ui, ui_window *window, int n) TG_MUST_USE;
tg_status ui_move_word(ui_app *ui, ui_window *window, int n) TG_MUST_USE;
/* Keeps the column that vertical motion started from. */
tg_status ui_move_line(ui_app *ui, ui_window *window, int n) TG_MUST_USE;
/* Moves the window over the rows by n; point stays in it. */
tg_status ui_scroll(ui_app *ui, ui_window *window, long n) TG_MUST_USE;
/* Bytes of the text of a row. */
size_t ui_row_length(ui_app *ui, ui_window *window, size_t row);

#endif
