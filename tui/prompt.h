/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking the person: the minibuffer and single keys. Each call returns when it was answered. */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include "command.h"
#include "complete.h"

/* What is asked. Only `text` is needed. */
typedef struct ui_prompt {
    const char *text;    /* "Find file" */
    const char *initial; /* what the answer starts as */
    const char *start;   /* taken by RET on nothing; shown as (default ...) */
    const char *history; /* the kind of history; default: text */
    const char *choices; /* "a|b|c" instead of a source */
    ui_source source;    /* completion, or NULL */
    void *ctx;           /* for the source */
    bool must_match;     /* only a completion is taken */
    bool fold_case;      /* case is ignored */
} ui_prompt;

/* Freed by the caller. Errors: TG_CANCELLED (C-g), TG_USAGE (a prompt is active). */
tg_status ui_ask(ui_app *ui, const ui_prompt *prompt, char **answer) TG_MUST_USE;
/* Asks for a parameter of a command. */
tg_status ui_ask_param(ui_app *ui, const ui_param *param, char **answer) TG_MUST_USE;
/* `question (y or n) `. Errors: TG_CANCELLED. */
tg_status ui_ask_yes(ui_app *ui, const char *question, bool *yes) TG_MUST_USE;
/* One key out of `keys`, e.g. "yn!q". Errors: TG_CANCELLED. */
tg_status ui_ask_key(ui_app *ui, const char *question, const char *keys, char *key) TG_MUST_USE;

/* Prompts for what is needed and missing. In batch: TG_USAGE. */
tg_status ui_prompt_missing(ui_app *ui, const ui_command *command, const ui_spec *spec,
                            ui_args *args) TG_MUST_USE;

#endif
