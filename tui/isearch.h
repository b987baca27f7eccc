/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Incremental search over the rows of a buffer as they are drawn. */
#ifndef TUI_ISEARCH_H
#define TUI_ISEARCH_H

#include "app.h"

/* The matches in a row of text, as byte ranges; at most cap. */
int ui_search_spans(const ui_search *search, const char *text, size_t n, size_t (*spans)[2],
                    int cap);
/* Is the search's present match the one that starts there? */
bool ui_search_is_at(const ui_search *search, const ui_window *window, size_t row, size_t from);

#endif
