/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options: declared once in option.def, set with --set NAME=VALUE or M-x set-variable. They belong
 * to the thread that runs the interface.
 */
#ifndef TUI_OPTION_H
#define TUI_OPTION_H

#include "engine/base/str.h"

typedef enum ui_opt {
#define FLAG(id, ...) UI_OPT_##id,
#define INT(id, ...) UI_OPT_##id,
#define REAL(id, ...) UI_OPT_##id,
#define CHOICE(id, ...) UI_OPT_##id,
#define TEXT(id, ...) UI_OPT_##id,
#include "option.def"
#undef FLAG
#undef INT
#undef REAL
#undef CHOICE
#undef TEXT
    UI_OPT_COUNT
} ui_opt;

typedef enum ui_opt_kind {
    UI_OPT_FLAG,
    UI_OPT_INT,
    UI_OPT_REAL,
    UI_OPT_CHOICE,
    UI_OPT_TEXT
} ui_opt_kind;

typedef struct ui_opt_info {
    const char *name, *doc;
    ui_opt_kind kind;
    double least, most;
    const char *choices; /* "a|b|c" of a CHOICE */
    const char *start;   /* the default as text */
} ui_opt_info;

const ui_opt_info *ui_opt_info_get(ui_opt opt);
bool ui_opt_find(const char *name, ui_opt *opt);

bool ui_opt_flag(ui_opt opt);
int ui_opt_int(ui_opt opt);
double ui_opt_real(ui_opt opt);
const char *ui_opt_text(ui_opt opt); /* any kind; valid until the option changes */
bool ui_opt_is(ui_opt opt, const char *choice);

/* Errors: TG_USAGE with the values that would do. */
tg_status ui_opt_set(ui_opt opt, const char *value) TG_MUST_USE;
/* "NAME=VALUE". Errors: TG_USAGE, TG_NOTFOUND. */
tg_status ui_opt_assign(const char *text) TG_MUST_USE;
/* All options back to their defaults. */
void ui_opt_reset(void);

#endif
