/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process.h"

#include "clock.h"
#include "vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SLICE_MS = 20, MOST_ERR = 4096 };

/* ---- words ---- */

/* One word from *at, which moves behind it. */
static tg_status take_word(const char **at, tg_str *word)
{
    char quote = 0;
    const char *p = *at;
    for (; *p && (quote || !strchr(" \t\r\n", *p)); p++) {
        bool escapes = *p == '\\' && p[1] && quote != '\'' && (!quote || strchr("\\\"$`", p[1]));
        if (escapes) tg_str_addc(word, *++p);
        else if (quote && *p == quote) quote = 0;
        else if (!quote && (*p == '\'' || *p == '"')) quote = *p;
        else tg_str_addc(word, *p);
    }
    *at = p;
    if (quote) return tg_fail(TG_USAGE, "a quote %c without its end", quote);
    return TG_OK;
}

tg_status tg_process_words(const char *line, char ***words, int *n)
{
    TG_VEC(char *) list = {0};
    tg_status status = TG_OK;
    const char *at = line + strspn(line, " \t\r\n");
    while (*at && status == TG_OK) {
        tg_str word = {0};
        status = take_word(&at, &word);
        tg_vec_push(&list, tg_strdup(tg_str_text(&word)));
        tg_str_free(&word);
        at += strspn(at, " \t\r\n");
    }
    tg_vec_push(&list, NULL);
    if (status == TG_OK && (list.n == 1 || !list.v[0][0]))
        status = tg_fail(TG_USAGE, "no program is named");
    if (status != TG_OK) {
        tg_process_words_free(list.v);
        return status;
    }
    *words = list.v;
    *n = (int)list.n - 1;
    return TG_OK;
}

void tg_process_words_free(char **words)
{
    for (char **w = words; w && *w; w++) free(*w);
    free(words);
}

/* ---- running ---- */

/* Invariant: a pipe's reading end is -1 once it was closed. */
typedef struct child {
    pid_t pid;
    int fd[2]; /* of its standard output and error */
} child;

static int set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, const int *out,
                  const int *err)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    if (!rc) rc = posix_spawn_file_actions_adddup2(files, out[1], 1);
    if (!rc) rc = posix_spawn_file_actions_adddup2(files, err[1], 2);
    if (!rc) rc = posix_spawnattr_setsigmask(attributes, &none);
    if (!rc) rc = posix_spawnattr_setsigdefault(attributes, &all);
    if (!rc) rc = posix_spawnattr_setpgroup(attributes, 0);
    if (!rc)
        rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                      POSIX_SPAWN_SETPGROUP);
    return rc;
}

static int spawn(char *const *argv, const int *out, const int *err, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc) return rc;
    rc = posix_spawnattr_init(&attributes);
    if (!rc) {
        rc = set_up(&files, &attributes, out, err);
        if (!rc) rc = posix_spawnp(pid, argv[0], &files, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static tg_status start(char *const *argv, child *c)
{
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0) return tg_fail(TG_IO, "no pipe: %s", strerror(errno));
    if (pipe2(err, O_CLOEXEC) != 0) {
        int why = errno;
        close(out[0]);
        close(out[1]);
        return tg_fail(TG_IO, "no pipe: %s", strerror(why));
    }
    int rc = spawn(argv, out, err, &c->pid);
    close(out[1]);
    close(err[1]);
    c->fd[0] = out[0];
    c->fd[1] = err[0];
    if (!rc) return TG_OK;
    close(out[0]);
    close(err[0]);
    return tg_fail(TG_NOTFOUND, "cannot be started: %s", strerror(rc));
}

/* What there is to read; closes the pipe at its end. */
static void read_some(child *c, int which, size_t most, tg_str *text)
{
    char piece[8192];
    ssize_t n = read(c->fd[which], piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n > 0) {
        size_t room = text->n < most ? most - text->n : 0;
        tg_str_addn(text, piece, (size_t)n < room ? (size_t)n : room);
        return;
    }
    close(c->fd[which]);
    c->fd[which] = -1;
}

/* It stays a zombie, so that its number still stands for its group. */
static bool has_ended(const child *c)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

/* Ends the whole group, also what outlived the program; its status as waitpid gives it. */
static int reap(child *c)
{
    int status = 0;
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {}
    for (int i = 0; i < 2; i++)
        if (c->fd[i] >= 0) close(c->fd[i]);
    return status;
}

static void reap_unwinding(void *c)
{
    (void)reap(c);
}

/* Reads until it ended and nothing is left in the pipes. */
static tg_status attend(child *c, const tg_process_limits *limits, tg_process_result *r)
{
    int64_t end = tg_clock_ns() + (int64_t)(limits->seconds * 1e9);
    for (;;) {
        struct pollfd p[2] = {{c->fd[0], POLLIN, 0}, {c->fd[1], POLLIN, 0}};
        bool ended = has_ended(c);
        int ready = poll(p, 2, ended ? 0 : SLICE_MS); /* descriptors of -1 are passed over */
        if (ready > 0 && p[0].revents) read_some(c, 0, limits->most_bytes + 1, &r->out);
        if (ready > 0 && p[1].revents) read_some(c, 1, MOST_ERR, &r->err);
        if (r->out.n > limits->most_bytes)
            return tg_fail(TG_LIMIT, "more than %zu bytes of output", limits->most_bytes);
        if (ended && ready <= 0) return TG_OK; /* what it started may hold the pipes open */
        if (ended && c->fd[0] < 0 && c->fd[1] < 0) return TG_OK;
        TG_TRY(tg_job_poll(limits->job));
        if (tg_clock_ns() > end) return tg_fail(TG_LIMIT, "not done within %g s", limits->seconds);
    }
}

tg_status tg_process_run(char *const *argv, const tg_process_limits *limits,
                         tg_process_result *result)
{
    child c = {0};
    *result = (tg_process_result){0};
    TG_TRY(start(argv, &c));
    tg_unwind_push(reap_unwinding, &c);
    tg_status status = attend(&c, limits, result);
    tg_unwind_pop(&c);
    int end = reap(&c);
    result->signal = WIFSIGNALED(end) ? WTERMSIG(end) : 0;
    result->exit_status = WIFEXITED(end) ? WEXITSTATUS(end) : 0;
    return status;
}

void tg_process_result_done(tg_process_result *result)
{
    tg_str_free(&result->out);
    tg_str_free(&result->err);
}
