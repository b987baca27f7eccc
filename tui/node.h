/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a row of *graph*. */
#ifndef TUI_NODE_H
#define TUI_NODE_H

#include "session.h"

/* The row at point in *graph*, or NULL. */
const tg_row *ui_node_row(ui_app *ui, const ui_session *s);
/* One line. */
void ui_node_brief(const ui_session *s, const tg_row *row, tg_str *out);
/* All of it. */
void ui_node_describe(const ui_session *s, const tg_row *row, int width, ui_text *out);

#endif
