/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: options of the program, and commands that run without a screen. */
#ifndef TUI_BATCH_H
#define TUI_BATCH_H

#include "app.h"

/* What the command line asks for. Strings point into argv. */
typedef struct ui_options {
    const char *script, *model, *rules;
    bool bare, help, version, batch;
    bool limited; /* memory is */
    const ui_command *command;
    int argc; /* what follows the command */
    const char *const *argv;
} ui_options;

/* Errors: TG_USAGE, TG_NOTFOUND. */
tg_status ui_options_parse(int argc, const char *const *argv, ui_options *options) TG_MUST_USE;
/* Runs the command that was named; returns the exit status. Words go to stderr. */
int ui_batch(const ui_options *options);
/* What --help prints. */
void ui_options_help(tg_str *out);

#endif
