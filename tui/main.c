/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regraft: options, then a command without a screen, or the explorer. */
#include "batch.h"
#include "script.h"
#include "session.h"
#include "show.h"
#include "signals.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.1"
#endif

static int fail(tg_status status)
{
    fputs("regraft: ", stderr);
    ui_show_to(stderr, tg_message());
    fputc('\n', stderr);
    return tg_status_exit(status);
}

static tg_status load_script(const char *path, ui_script **script)
{
    char *text;
    size_t size;
    TG_TRY(tg_read_file(path, 16 << 20, &text, &size));
    tg_status status = ui_script_new(path, text, script);
    free(text);
    return status;
}

/* What a pipe gets instead of a screen: the rails as text. */
static int print_model(const char *path)
{
    tg_graph *g;
    tg_str text = {0};
    tg_picture_options options = {0};
    tg_picture_report report;
    tg_status status = tg_onnx_load(path, NULL, &g);
    if (status != TG_OK) return fail(status);
    status = tg_picture_text(g, &options, &text, &report);
    tg_graph_unref(g);
    if (status != TG_OK) return fail(status);
    ui_show_to(stdout, tg_str_text(&text));
    tg_str_free(&text);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Mistakes in rules are shown before the screen is taken. */
static tg_status choose_rules(const char *path)
{
    tg_rules *rules;
    TG_TRY(tg_rules_load(&path, 1, &rules));
    tg_rules_unref(rules);
    if (setenv("REGRAFT_RULES", path, 1) == 0) return TG_OK;
    return tg_fail(TG_IO, "REGRAFT_RULES: %s", strerror(errno));
}

/* Runs the explorer in this terminal. */
static int explore(const ui_options *o)
{
    ui_script *script = NULL;
    ui_term *term;
    tg_status status = o->rules ? choose_rules(o->rules) : TG_OK;
    if (status == TG_OK && o->script) status = load_script(o->script, &script);
    if (status != TG_OK) return fail(status);
    status = isatty(STDOUT_FILENO)
                 ? ui_term_curses(&term)
                 : tg_fail(TG_USAGE, "standard output is not a terminal (see --help for commands "
                                     "that need none)");
    if (status != TG_OK) {
        if (script) ui_script_free(script);
        return fail(status);
    }
    ui_signals_open();
    ui_app *ui = ui_app_new(term, o->bare);
    ui->script = script;
    if (o->model) ui_complain(ui, ui_session_open(ui, o->model));
    ui_loop(ui);
    int exit_status = ui->exit_status;
    const char *why = ui->script ? ui_script_failure(ui->script) : NULL;
    char *words = why ? tg_strdup(why) : NULL;
    ui_app_free(ui);
    if (words) fprintf(stderr, "%s\n", words);
    free(words);
    return exit_status;
}

/*
 * Starts the program anew with the kernels that fit this processor; comes back if it cannot. Where
 * memory is limited, OpenBLAS must not have threads: each takes 128 MB as it starts, and tries for
 * ever.
 */
static void choose_kernels(const ui_options *options, char **argv)
{
    const char *core = ag_blas_coretype();
    bool alone = options->limited && !getenv("OPENBLAS_NUM_THREADS");
    if (core && setenv("OPENBLAS_CORETYPE", core, 1) != 0) return;
    if (alone && setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0) return;
    if (core || alone) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    ui_options options;
    tg_str help = {0};
    setlocale(LC_CTYPE, "");
    ui_char_use_locale(strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
    tg_status status = ui_options_parse(argc, (const char *const *)argv, &options);
    if (status != TG_OK) return fail(status);
    if (options.version) {
        puts("regraft " PACKAGE_VERSION);
        return 0;
    }
    if (options.help) {
        ui_options_help(&help);
        fputs(help.p, stdout);
        tg_str_free(&help);
        return 0;
    }
    choose_kernels(&options, argv);
    if (options.command) return ui_batch(&options);
    if (options.model && !options.script && !isatty(STDOUT_FILENO))
        return print_model(options.model);
    return explore(&options);
}
