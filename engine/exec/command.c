/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The backend `command`: any program that is given an ONNX file as its last argument and prints
 * milliseconds, one a line. The graph lies in a private temporary folder as long as the plan; each
 * time the samples of the last run are used up the program is run again.
 */
#include "backend.h"
#include "engine/base/process.h"
#include "engine/base/vec.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_OUTPUT = 1 << 20, MOST_QUOTED = 160 };
#define TIMEOUT_S 60.0

/* Invariants: words are the program and its arguments, the file's path the last; ms[next ..] are
 * samples not yet handed out. */
typedef struct command {
    char **words;
    char *folder, *path;
    tg_process_limits limits;
    TG_VEC(double) ms;
    size_t next;
} command;

static char *command_identity(char *buf, size_t size)
{
    snprintf(buf, size, "a program of the user's own");
    return buf;
}

/* ---- the folder ---- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    (void)!remove(path);
    return 0;
}

static void remove_folder(void *state)
{
    const command *c = state;
    if (c->folder) nftw(c->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void command_close(void *state)
{
    command *c = state;
    tg_unwind_pop(c);
    remove_folder(c);
    tg_process_words_free(c->words);
    tg_vec_free(&c->ms);
    free(c->folder);
    free(c);
}

static tg_status make_folder(command *c)
{
    const char *tmp = getenv("TMPDIR");
    tg_str name = {0};
    tg_str_addf(&name, "%s/regraft-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(name.p)) {
        tg_status status = tg_fail(TG_IO, "%s: %s", name.p, strerror(errno));
        tg_str_free(&name);
        return status;
    }
    c->folder = name.p;
    return TG_OK;
}

/* Takes the line apart and puts the path behind it. */
static tg_status take_words(command *c, const char *line)
{
    int n;
    TG_TRY(tg_process_words(line, &c->words, &n));
    tg_str path = {0};
    tg_str_addf(&path, "%s/model.onnx", c->folder);
    c->words = tg_realloc(c->words, sizeof *c->words * (size_t)(n + 2));
    c->words[n] = c->path = path.p;
    c->words[n + 1] = NULL;
    return TG_OK;
}

static tg_status command_plan(const tg_graph *g, const tg_plan_options *options,
                              tg_plan_stats *stats, void **state)
{
    const tg_command *given = &options->command;
    if (!given->line || !*given->line)
        return tg_fail(TG_USAGE, "no program is given (--command, or the option command)");
    command *c = tg_calloc(1, sizeof *c);
    c->limits = (tg_process_limits){.seconds = given->timeout_s > 0 ? given->timeout_s : TIMEOUT_S,
                                    .most_bytes = MOST_OUTPUT,
                                    .job = options->job};
    tg_unwind_push(remove_folder, c);
    tg_status status = make_folder(c);
    if (status == TG_OK) status = take_words(c, given->line);
    if (status == TG_OK) status = given->save(g, c->path);
    if (status != TG_OK) {
        command_close(c);
        return status == TG_USAGE ? tg_wrap(status, "--command %s", given->line) : status;
    }
    stats->steps = 1;
    *state = c;
    return TG_OK;
}

/* ---- what it prints ---- */

/* The line at `at` without control characters and not too long, into buf. */
static const char *quoted(const char *at, size_t n, char *buf)
{
    size_t k = 0;
    for (; k < n && k < MOST_QUOTED; k++) buf[k] = (unsigned char)at[k] < ' ' ? ' ' : at[k];
    snprintf(buf + k, 4, "%s", k < n ? "..." : "");
    return buf;
}

/* The last line that says something; "" if there is none. */
static const char *last_words(const tg_str *text, char *buf)
{
    const char *p = tg_str_text(text);
    size_t end = strlen(p);
    while (end && strchr(" \t\r\n", p[end - 1])) end--;
    size_t from = end;
    while (from && p[from - 1] != '\n') from--;
    return quoted(p + from, end - from, buf);
}

static tg_status read_line(command *c, const char *line, size_t n, int number)
{
    char buf[MOST_QUOTED + 8], *end;
    if (strspn(line, " \t\r") >= n) return TG_OK;
    double ms = strtod(line, &end);
    if (end == line || end > line + n || strspn(end, " \t\r") < (size_t)(line + n - end))
        return tg_fail(TG_BACKEND, "line %d of its output is no number of milliseconds: \"%s\"",
                       number, quoted(line, n, buf));
    if (!isfinite(ms) || ms <= 0)
        return tg_fail(TG_BACKEND, "line %d of its output is no time that a run can take: %s",
                       number, quoted(line, n, buf));
    tg_vec_push(&c->ms, ms);
    return TG_OK;
}

static tg_status read_output(command *c, const tg_process_result *r)
{
    char buf[MOST_QUOTED + 8];
    const char *at = tg_str_text(&r->out);
    for (int number = 1; *at; number++) {
        size_t n = strcspn(at, "\n");
        TG_TRY(read_line(c, at, n, number));
        at += n + (at[n] == '\n');
    }
    if (c->ms.n) return TG_OK;
    const char *words = last_words(&r->err, buf);
    return tg_fail(TG_BACKEND, "no milliseconds on its standard output%s%s",
                   *words ? "; it said: " : "", words);
}

static tg_status judge(command *c, tg_status status, const tg_process_result *r)
{
    char buf[MOST_QUOTED + 8];
    if (status != TG_OK) return status;
    const char *words = last_words(&r->err, buf), *colon = *words ? ": " : "";
    if (r->signal)
        return tg_fail(TG_BACKEND, "ended by signal %d (%s)%s%s", r->signal, strsignal(r->signal),
                       colon, words);
    if (r->exit_status)
        return tg_fail(TG_BACKEND, "exit status %d%s%s", r->exit_status, colon, words);
    return read_output(c, r);
}

static tg_status run_program(command *c)
{
    tg_process_result r;
    tg_vec_clear(&c->ms);
    c->next = 0;
    tg_status status = judge(c, tg_process_run(c->words, &c->limits, &r), &r);
    tg_process_result_done(&r);
    if (status == TG_OK || status == TG_CANCELLED) return status;
    tg_vec_clear(&c->ms);
    return tg_wrap(status, "%s", c->words[0]);
}

static tg_status command_time(void *state, tg_sample *sample)
{
    command *c = state;
    if (c->next >= c->ms.n) TG_TRY(run_program(c));
    sample->wall_ns = sample->cpu_ns = (int64_t)llround(fmin(c->ms.v[c->next++], 1e12) * 1e6);
    return TG_OK;
}

static int command_ready(void *state)
{
    const command *c = state;
    return (int)(c->ms.n - c->next);
}

/* ---- what it cannot do ---- */

static tg_status command_load(void *state, const tg_tensor *in)
{
    (void)state, (void)in;
    return tg_fail(TG_UNSUPPORTED, "the backend command measures only: it takes no inputs");
}

static tg_status command_run(void *state, tg_tensor *out)
{
    (void)state, (void)out;
    return tg_fail(TG_UNSUPPORTED, "the backend command measures only: it gives no outputs");
}

static tg_status command_profile(void *state, double *ms)
{
    (void)state, (void)ms;
    return tg_fail(TG_UNSUPPORTED, "the backend command measures whole models, not operators");
}

const tg_backend tg_backend_command = {
    .name = "command",
    .outside = true,
    .doc = "a program of your own that is given an ONNX file and prints milliseconds",
    .identity = command_identity,
    .plan = command_plan,
    .load = command_load,
    .run = command_run,
    .time = command_time,
    .ready = command_ready,
    .profile = command_profile,
    .close = command_close,
};
