/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The active prompt: its text is the one row of the minibuffer's buffer. */
#ifndef TUI_MINIBUF_H
#define TUI_MINIBUF_H

#include "app.h"
#include "prompt.h"

/* Invariant: lives on the stack of ui_ask while ui->minibuf points to it. */
struct ui_minibuf {
    const ui_prompt *prompt;
    ui_window *from; /* was selected before */
    bool done, cancelled;
    bool listed;    /* the last key was TAB and found no more */
    size_t history; /* steps back in the history; 0 is the answer being typed */
    char *typed;    /* the answer before history was walked */
    tg_str note;    /* shown in brackets behind the text */
};

/* Draws prompt, text and note; returns the byte where the cursor is. */
size_t ui_minibuf_draw(ui_app *ui, ui_line *line);
/* The answer as it stands. */
const char *ui_minibuf_text(ui_app *ui);
void ui_minibuf_set(ui_app *ui, const char *text);
/* Says something in brackets behind the text until the next key. */
void ui_minibuf_note(ui_app *ui, const char *note);
/* Keeps an answer in the history of its kind. */
void ui_answer_keep(ui_app *ui, const char *kind, const char *text);

#endif
