/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch.h"

#include "help.h"
#include "show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool takes_no_screen(const ui_command *c)
{
    ui_spec spec;
    if (ui_spec_parse(c->spec, &spec) != TG_OK) return false;
    bool batch = spec.batch;
    ui_spec_done(&spec);
    return batch;
}

/* The value of an option: after '=' or the next word. */
static tg_status take_value(int argc, const char *const *argv, int *i, const char **value)
{
    const char *eq = strchr(argv[*i], '=');
    if (eq) *value = eq + 1;
    else if (*i + 1 < argc) *value = argv[++*i];
    else return tg_fail(TG_USAGE, "%s needs a value", argv[*i]);
    return TG_OK;
}

static bool is_option(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && (!word[n] || word[n] == '=');
}

/* "512M", "2G", "800000000". */
static tg_status set_memory_limit(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*text < '0' || *text > '9' || errno || (*end && (!unit || end[1])) ||
        n > (SIZE_MAX / 2) >> shift)
        return tg_fail(TG_USAGE, "--memory-limit: a size as 512M or 2G is needed, not %s", text);
    return tg_memory_limit_set((size_t)n << shift);
}

static tg_status parse_option(int argc, const char *const *argv, int *i, ui_options *o)
{
    const char *word = argv[*i], *value;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) o->help = true;
    else if (strcmp(word, "--version") == 0) o->version = true;
    else if (strcmp(word, "-q") == 0 || strcmp(word, "-Q") == 0) o->bare = true;
    else if (strcmp(word, "--batch") == 0) o->batch = true;
    else if (is_option(word, "--script")) return take_value(argc, argv, i, &o->script);
    else if (is_option(word, "--rules")) return take_value(argc, argv, i, &o->rules);
    else if (is_option(word, "--set")) {
        TG_TRY(take_value(argc, argv, i, &value));
        return ui_opt_assign(value);
    } else if (is_option(word, "--memory-limit")) {
        TG_TRY(take_value(argc, argv, i, &value));
        o->limited = true;
        return set_memory_limit(value);
    } else {
        return tg_fail(TG_USAGE, "unknown option %s (see --help)", word);
    }
    return TG_OK;
}

tg_status ui_options_parse(int argc, const char *const *argv, ui_options *o)
{
    *o = (ui_options){0};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] == '-' && word[1]) {
            TG_TRY(parse_option(argc, argv, &i, o));
            continue;
        }
        const ui_command *c = ui_command_find(word);
        if (c && takes_no_screen(c) && !o->model) {
            o->command = c;
            o->argc = argc - i - 1;
            o->argv = argv + i + 1;
            return TG_OK;
        }
        if (strcmp(word, "explore") == 0 && !o->model) continue;
        if (o->model) return tg_fail(TG_USAGE, "one argument too many: %s", word);
        o->model = word;
    }
    return TG_OK;
}

void ui_options_help(tg_str *out)
{
    tg_str_add(out,
               "usage: regraft [OPTION...] [explore] [MODEL]   open the explorer\n"
               "       regraft COMMAND [ARGUMENT...]          run a command without a screen\n\n"
               "Commands (regraft COMMAND --help tells more):\n");
    ui_commands_list(out);
    tg_str_add(out,
               "\nOptions:\n"
               "  -q, -Q                read and write no files of the user's own\n"
               "  --script FILE         take keys from FILE first\n"
               "  --rules FILE          rules (file, folder, .pb) in place of the built-in ones\n"
               "  --set NAME=VALUE      give an option a value\n"
               "  --memory-limit SIZE   fail in time instead of taking more than 512M, 2G ...\n"
               "  --version, --help\n\nValues of --set:\n");
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        const ui_opt_info *o = ui_opt_info_get((ui_opt)i);
        tg_str_addf(out, "  %-26s %s (default %s)\n", o->name, o->doc, o->start);
    }
}

static bool asks_help(const ui_options *o)
{
    for (int i = 0; i < o->argc; i++) {
        if (strcmp(o->argv[i], "--help") == 0) return true;
        if (strcmp(o->argv[i], "--") == 0) return false;
    }
    return false;
}

/* Names in a message may come from a file; only the words of rules have lines. */
static int complain(const ui_command *c, tg_status status)
{
    fflush(stdout);
    fprintf(stderr, "regraft %s: ", c->name);
    ui_show_to(stderr, tg_message());
    fputc('\n', stderr);
    return tg_status_exit(status);
}

typedef struct call {
    const ui_options *o;
    const ui_args *args;
    int exit_status;
} call;

static tg_status call_command(void *ctx)
{
    call *c = ctx;
    ui_app *ui = ui_app_new(NULL, true);
    tg_status status = ui_command_call(ui, c->o->command, (ui_prefix){.n = 1}, c->args);
    c->exit_status = ui->exit_status;
    if (status != TG_OK) c->exit_status = complain(c->o->command, status);
    ui_app_free(ui);
    return TG_OK;
}

/* Where memory ran out, what is left of the interface is not worth taking apart. */
static int run_command(const ui_options *o, const ui_args *args)
{
    call c = {.o = o, .args = args};
    if (tg_protect(call_command, &c) != TG_OK) _exit(complain(o->command, TG_NOMEM));
    return c.exit_status;
}

int ui_batch(const ui_options *o)
{
    tg_str help = {0};
    ui_spec spec;
    ui_args args = {0};
    if (asks_help(o)) {
        ui_command_help(o->command, &help);
        fputs(help.p, stdout);
        tg_str_free(&help);
        return 0;
    }
    tg_status status = ui_spec_parse(o->command->spec, &spec);
    if (status != TG_OK) return complain(o->command, status);
    status = ui_args_parse(&spec, o->argc, o->argv, &args);
    if (status == TG_OK) {
        int exit_status = run_command(o, &args);
        ui_args_done(&args);
        ui_spec_done(&spec);
        return fflush(stdout) == 0 ? exit_status : 1;
    }
    ui_args_done(&args);
    ui_spec_done(&spec);
    return complain(o->command, status);
}
