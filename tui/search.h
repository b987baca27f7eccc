/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search looks for and where it stands. isearch.c is the dialogue around it. */
#ifndef TUI_SEARCH_H
#define TUI_SEARCH_H

#include "isearch.h"

#include <regex.h>

typedef struct ui_match {
    size_t row, from, to; /* bytes of the row's text */
} ui_match;

/* Invariant: re is valid while `compiled`; `at` while `found`. */
struct ui_search {
    ui_window *window;
    tg_str pattern;
    bool forward, regexp;
    bool case_fixed, fold; /* M-c; else case matters once a capital was typed */
    bool found, failing, wrapped, over, broken;
    ui_match at;
    ui_point start; /* where the search began */
    size_t start_top;
    regex_t re;
    bool compiled;
};

bool ui_search_folds(const ui_search *search);
/* After a change of pattern, kind or case. */
void ui_search_prepare(ui_search *search);
/* The first match at or after `from`, or the last that begins at or before it. */
bool ui_search_find(ui_app *ui, const ui_search *search, ui_point from, bool forward,
                    ui_match *match);
/* Which match this is, and of how many; index 0: none. */
void ui_search_count(ui_app *ui, const ui_search *search, int *index, int *total);

#endif
