/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Argument specs: items joined by ';', each a mark or a parameter.
 *
 *     batch                      runs without a screen as `regraft NAME ...`
 *     N                          reads the prefix argument (the docstring says what it does)
 *     name:kind[=default] words  an argument; `words` is its prompt and its line in --help
 *     [name]:kind words          one that may be missing; never prompted for
 *     name...:kind words         the last one, any number of times
 *     --name:kind[=default] words     an option; `-o --out:path` gives it a letter
 *
 * Kinds are the rows of kind.def; choice(a|b|c) lists its values, flag takes none.
 */
#ifndef TUI_SPEC_H
#define TUI_SPEC_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/base/vec.h"

#include <stdbool.h>

typedef enum ui_kind {
#define KIND(id, ...) UI_KIND_##id,
#include "kind.def"
#undef KIND
    UI_KIND_COUNT
} ui_kind;

typedef struct ui_param {
    const char *name, *doc;
    const char *choices; /* "a|b|c" of a choice, else NULL */
    const char *start;   /* the default, or NULL */
    ui_kind kind;
    char letter; /* of -o, or 0 */
    bool option, optional, rest;
} ui_param;

enum { UI_MAX_PARAMS = 24 };

/* Invariant: at most one parameter is `rest` and it is the last that is no option. */
typedef struct ui_spec {
    tg_arena *arena;
    ui_param params[UI_MAX_PARAMS];
    int n;
    bool batch, reads_prefix;
} ui_spec;

/* Errors: TG_USAGE. ui_spec_done frees what a successful parse made. */
tg_status ui_spec_parse(const char *text, ui_spec *spec) TG_MUST_USE;
void ui_spec_done(ui_spec *spec);
/* "NAME FILE [--by CHOICE]": the usage line after the command's name. */
void ui_spec_usage(const ui_spec *spec, tg_str *out);
/* One line a parameter, for --help and describe-command. */
void ui_spec_describe(const ui_spec *spec, tg_str *out);

/* The prefix argument: n is 1 unless given; bare: C-u (4), C-u C-u (16) without digits. */
typedef struct ui_prefix {
    bool given, bare, minus;
    int n;
} ui_prefix;

typedef struct ui_value {
    char *name, *text;
} ui_value;

/* The arguments of one call. Zero-initialise; free with ui_args_done. */
typedef struct ui_args {
    ui_prefix prefix;
    TG_VEC(ui_value) values;
} ui_args;

void ui_args_done(ui_args *args);
void ui_args_add(ui_args *args, const char *name, const char *text);
/* Copies all values of `from`. */
void ui_args_copy(ui_args *args, const ui_args *from);

/* From a command line; checks every value. Adds defaults. Errors: TG_USAGE. */
tg_status ui_args_parse(const ui_spec *spec, int argc, const char *const *argv,
                        ui_args *args) TG_MUST_USE;
/* The first parameter that is needed and missing, or NULL. */
const ui_param *ui_args_missing(const ui_spec *spec, const ui_args *args);
void ui_args_defaults(const ui_spec *spec, ui_args *args);
/* Is `text` a value of the parameter? Errors: TG_USAGE. */
tg_status ui_param_check(const ui_param *param, const char *text) TG_MUST_USE;

/* The value, or NULL. Of a `rest` parameter, the i-th. */
const char *ui_arg(const ui_args *args, const char *name);
const char *ui_arg_nth(const ui_args *args, const char *name, int i);
bool ui_arg_flag(const ui_args *args, const char *name);
/* The value as a number; it was checked, so it is one. 0 if absent. */
long ui_arg_int(const ui_args *args, const char *name);
double ui_arg_num(const ui_args *args, const char *name);

#endif
