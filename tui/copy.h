/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copying by name: what C-y yanks afterwards. */
#ifndef TUI_COPY_H
#define TUI_COPY_H

#include "app.h"

/* Adds a text to the kill ring and says so. */
void ui_copy(ui_app *ui, const char *text);

#endif
