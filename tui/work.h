/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands that work on models without a screen share. */
#ifndef TUI_WORK_H
#define TUI_WORK_H

#include "command.h"
#include "engine/engine.h"

#include <jansson.h>

/* Options of specs, the same everywhere. */
#define OPT_JSON "; --json:flag Print one JSON object"
#define OPT_SEED "; --seed:int=1 Seed of everything random"
#define OPT_QUIET "; --quiet:flag Say nothing on standard error but failures"
#define OPT_DIM "; --dim:text Fix a symbolic dimension, NAME=SIZE (may be repeated)"
#define OPT_BACKEND                                                                                \
    "; --backend:choice(cpu|model|command)=cpu What measures; --command:text Program of your own " \
    "that measures: given an ONNX file, it prints milliseconds, one a line; "                      \
    "--command-timeout:num=60 Seconds that one run of it may take"
#define OPT_THREADS "; --threads:count=1 Threads of the backend"
#define OPT_RULES "; --rules:path Rule file, folder or TASO .pb in place of the built-in rules"

/* Loads a model with the --dim options. Errors: TG_USAGE, those of loading. */
tg_status ui_work_load(const ui_args *args, const char *path, tg_graph **g) TG_MUST_USE;
/* The same; symbolic dimensions take the sizes of these inputs. */
tg_status ui_work_load_with(const ui_args *args, const char *path, const tg_input_shape *inputs,
                            int n_inputs, tg_graph **g) TG_MUST_USE;
/* rules generate and rules cover (commands/generate.c). */
tg_status ui_work_generate(ui_app *ui, const ui_args *args) TG_MUST_USE;
tg_status ui_work_cover(ui_app *ui, const ui_args *args, const tg_rules *rules) TG_MUST_USE;

/* The rules of --rules, or the built-in ones. */
tg_status ui_work_rules(const ui_args *args, tg_rules **rules) TG_MUST_USE;
/* --command without --backend means the backend command. */
const tg_backend *ui_work_backend(const ui_args *args);
/* Where another program measures, the first SIGINT, SIGTERM or SIGHUP from here on cancels. */
tg_measure_options ui_work_measure(const ui_args *args, double budget_ms);

/* Cancelled by the first SIGINT, SIGTERM or SIGHUP from here on. */
const tg_job *ui_work_interrupts(void);

/* Prints an object and lets it go. */
void ui_print_json(ui_app *ui, json_t *object);
/* printf to standard output, with strings shown as names are (show.h). */
void ui_printf(ui_app *ui, const char *fmt, ...) TG_PRINTF(2, 3);
/* A string that JSON can hold, whatever bytes it has. */
json_t *ui_json_text(const char *s);
/* A number, or null if it is not finite. */
json_t *ui_json_number(double x);

/* A progress line on standard error; nothing if that is no terminal or `quiet`. */
typedef struct ui_progress {
    const char *what;
    bool shown, quiet;
    int64_t last_ns;
} ui_progress;
void ui_progress_show(ui_progress *p, double share, const char *fmt, ...) TG_PRINTF(3, 4);
void ui_progress_end(ui_progress *p);

#endif
