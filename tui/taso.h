/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TASO's own counts, printed. */
#ifndef TUI_TASO_H
#define TUI_TASO_H

#include "app.h"
#include "work.h"

/*
 * What TASO would match and make in the graph with the rules of --rules, a file of its format.
 * Errors: TG_USAGE (no such option), those of tg_taso_exact.
 */
tg_status ui_taso_print(ui_app *ui, const ui_args *args, const tg_graph *g) TG_MUST_USE;

#endif
