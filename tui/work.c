/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "work.h"

#include "app.h"
#include "show.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DIMS = 32, BAR = 24, REDRAW_NS = 100000000 };

static tg_status parse_dim(const char *text, tg_dim_fix *fix, char *name, size_t size)
{
    char *end;
    const char *equals = strrchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : 0;
    if (!n || n >= size) return tg_fail(TG_USAGE, "--dim %s: not NAME=SIZE", text);
    memcpy(name, text, n);
    name[n] = '\0';
    long long dim = strtoll(equals + 1, &end, 10);
    if (*end || end == equals + 1 || dim < 1)
        return tg_fail(TG_USAGE, "--dim %s: the size must be at least 1", text);
    *fix = (tg_dim_fix){name, dim};
    return TG_OK;
}

tg_status ui_work_load(const ui_args *args, const char *path, tg_graph **g)
{
    return ui_work_load_with(args, path, NULL, 0, g);
}

tg_status ui_work_load_with(const ui_args *args, const char *path, const tg_input_shape *inputs,
                            int n_inputs, tg_graph **g)
{
    tg_dim_fix dims[MAX_DIMS];
    char names[MAX_DIMS][128];
    int n = 0;
    for (const char *text; (text = ui_arg_nth(args, "dim", n)); n++) {
        if (n == MAX_DIMS) return tg_fail(TG_USAGE, "more than %d --dim options", MAX_DIMS);
        TG_TRY(parse_dim(text, &dims[n], names[n], sizeof names[n]));
    }
    tg_load_options options = {.dims = dims, .n_dims = n, .inputs = inputs, .n_inputs = n_inputs};
    return tg_onnx_load(path, &options, g);
}

tg_status ui_work_rules(const ui_args *args, tg_rules **rules)
{
    const char *path = ui_arg(args, "rules");
    return tg_rules_load(path ? &path : NULL, path ? 1 : 0, rules);
}

const tg_backend *ui_work_backend(const ui_args *args)
{
    const char *name = ui_arg(args, "backend");
    if (ui_arg(args, "command")) name = "command";
    return tg_backend_find(name ? name : "cpu");
}

/* What another program is asked to do must end with this one, and its folder must go. */
static tg_job *interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    tg_job_cancel(interrupted);
}

const tg_job *ui_work_interrupts(void)
{
    static const int list[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | SA_RESETHAND};
    if (interrupted) return interrupted;
    interrupted = tg_job_new();
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) sigaction(list[i], &action, NULL);
    return interrupted;
}

tg_measure_options ui_work_measure(const ui_args *args, double budget_ms)
{
    bool outside = ui_work_backend(args)->outside;
    return (tg_measure_options){.threads = (int)ui_arg_int(args, "threads"),
                                .budget_ms = budget_ms,
                                .seed = (uint64_t)ui_arg_int(args, "seed"),
                                .command = {.line = ui_arg(args, "command"),
                                            .timeout_s = ui_arg_num(args, "command-timeout"),
                                            .save = tg_onnx_save},
                                .job = outside ? ui_work_interrupts() : NULL};
}

/* Jansson leaves the control characters behind 0x7e as they are. */
void ui_print_json(ui_app *ui, json_t *object)
{
    char *text = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    tg_str shown = {0};
    for (const char *c = text ? text : "{}"; *c; c++) {
        if (*c == 0x7f) tg_str_add(&shown, "\\u007f");
        else if (*c == '\xc2' && (unsigned char)c[1] < 0xa0)
            tg_str_addf(&shown, "\\u%04x", (unsigned char)*++c);
        else tg_str_addc(&shown, *c);
    }
    tg_str_addc(&shown, '\n');
    ui_print(ui, tg_str_text(&shown));
    tg_str_free(&shown);
    free(text);
    json_decref(object);
}

void ui_printf(ui_app *ui, const char *fmt, ...)
{
    tg_str line = {0};
    va_list ap;
    va_start(ap, fmt);
    ui_show_format(&line, fmt, ap);
    va_end(ap);
    ui_print(ui, tg_str_text(&line));
    tg_str_free(&line);
}

json_t *ui_json_text(const char *s)
{
    json_t *j = json_string(s);
    if (j) return j;
    tg_str safe = {0};
    for (; *s; s++) {
        if ((unsigned char)*s < 0x80) tg_str_addc(&safe, *s);
        else tg_str_addf(&safe, "\\x%02x", (unsigned char)*s);
    }
    j = json_string(tg_str_text(&safe));
    tg_str_free(&safe);
    return j;
}

json_t *ui_json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

void ui_progress_show(ui_progress *p, double share, const char *fmt, ...)
{
    int64_t now = tg_clock_ns();
    if (p->quiet || !isatty(STDERR_FILENO) || (p->shown && now - p->last_ns < REDRAW_NS)) return;
    p->shown = true;
    p->last_ns = now;
    int full = share < 0 ? 0 : share > 1 ? BAR : (int)(share * BAR);
    fprintf(stderr, "\r%s [%.*s%*s] ", p->what, full, "########################", BAR - full, "");
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void ui_progress_end(ui_progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}
