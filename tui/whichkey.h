/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of a prefix, or of a mode, drawn over the foot of the screen. */
#ifndef TUI_WHICHKEY_H
#define TUI_WHICHKEY_H

#include "app.h"

/* Shows what may follow keys[0..n); with `escape`, only keys with Meta. */
void ui_whichkey_show(ui_app *ui, const ui_key *keys, int n, bool escape);
/* Shows the keys of the selected buffer's own mode. */
void ui_whichkey_show_mode(ui_app *ui);
void ui_whichkey_hide(ui_app *ui);

#endif
