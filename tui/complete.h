/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion: where candidates come from, and which of them fit what was typed. */
#ifndef TUI_COMPLETE_H
#define TUI_COMPLETE_H

#include "engine/base/str.h"
#include "engine/base/vec.h"

#include <stdbool.h>

typedef struct ui_app ui_app;

/* A candidate and the words beside it (a binding, a value), or NULL. */
typedef struct ui_choice {
    char *text, *note;
} ui_choice;

/* Zero-initialise; free with ui_choices_done. */
typedef struct ui_choices {
    TG_VEC(ui_choice) list;
    size_t base; /* the first bytes of the input that completion leaves alone (a folder) */
} ui_choices;

/* Adds candidates for `input`; may add any that do not fit, they are sorted out. */
typedef void (*ui_source)(ui_app *ui, void *ctx, const char *input, ui_choices *out);

void ui_choices_add(ui_choices *choices, const char *text, const char *note);
void ui_choices_done(ui_choices *choices);

/*
 * Does `text` fit `input`? Each part of the input, cut at '-', begins a part of the text:
 * s-t-p fits step-to-point.
 */
bool ui_complete_fits(const char *input, const char *text, bool fold_case);

/*
 * Keeps the candidates that fit, sorted, without doubles, and puts the longest text that the input
 * can be completed to into `best` (with the first `base` bytes of input before it). *exact: the
 * input is a candidate as it stands.
 */
void ui_complete(const char *input, ui_choices *choices, bool fold_case, tg_str *best, bool *exact);

void ui_source_file(ui_app *ui, void *ctx, const char *input, ui_choices *out);
void ui_source_buffer(ui_app *ui, void *ctx, const char *input, ui_choices *out);
void ui_source_command(ui_app *ui, void *ctx, const char *input, ui_choices *out);
void ui_source_option(ui_app *ui, void *ctx, const char *input, ui_choices *out);
void ui_source_face(ui_app *ui, void *ctx, const char *input, ui_choices *out);
/* ctx is "a|b|c". */
void ui_source_words(ui_app *ui, void *ctx, const char *input, ui_choices *out);

/* `path` with ~ and what stands before // or /~ resolved as Emacs does. Freed by the caller. */
char *ui_expand_file(const char *path);

#endif
