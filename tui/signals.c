/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "signals.h"

#include "engine/base/alloc.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends[2] = {-1, -1};

static void on_signal(int signal)
{
    int saved = errno;
    unsigned char byte = (unsigned char)signal;
    ssize_t done = write(ends[1], &byte, 1);
    (void)done;
    errno = saved;
}

/* What the handler of a crash needs of the journal, prepared while all is well. */
static struct {
    volatile sig_atomic_t fd; /* -1: there is none */
    const void *mark;
    size_t mark_size;
    char words[1024];
} journal = {.fd = -1};

void ui_signals_journal(int fd, const void *mark, size_t mark_size, const char *path)
{
    journal.fd = -1;
    journal.mark = mark;
    journal.mark_size = mark_size;
    int n = snprintf(journal.words, sizeof journal.words,
                     "the session was kept in %s\ngo on with: regraft %s\n", path, path);
    if (n < 0 || (size_t)n >= sizeof journal.words) journal.words[0] = '\0';
    journal.fd = fd;
}

static void on_crash(int signal)
{
    static const char words[] = "\nregraft crashed; the terminal was restored\n";
    struct sigaction fresh = {.sa_handler = SIG_DFL};
    ui_term_rescue();
    ssize_t done = write(STDERR_FILENO, words, sizeof words - 1);
    if (journal.fd >= 0) {
        done = write(journal.fd, journal.mark, journal.mark_size);
        done = write(STDERR_FILENO, journal.words, strlen(journal.words));
    }
    (void)done;
    sigaction(signal, &fresh, NULL);
    raise(signal);
}

/* Memory ran out where nobody could go on: an end with words, and the journal is whole. */
static void say_last(const char *line)
{
    ui_term_rescue();
    ssize_t done = write(STDERR_FILENO, line, strlen(line));
    if (journal.fd >= 0) done = write(STDERR_FILENO, journal.words, strlen(journal.words));
    (void)done;
}

static void install(const int *list, size_t n, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    if (handler == on_crash) sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < n; i++) sigaction(list[i], &action, NULL);
}

void ui_signals_open(void)
{
    static const int gentle[] = {SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGTSTP, SIGCONT};
    static const int crash[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
    static char stack[64 * 1024];
    if (ends[0] >= 0 || pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return;
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    install(gentle, sizeof gentle / sizeof *gentle, on_signal, SA_RESTART);
    install(crash, sizeof crash / sizeof *crash, on_crash, SA_ONSTACK | SA_RESETHAND);
    signal(SIGPIPE, SIG_IGN);
    tg_last_words(say_last);
}

int ui_signals_fd(void)
{
    return ends[0];
}

int ui_signals_take(void)
{
    unsigned char byte;
    return ends[0] >= 0 && read(ends[0], &byte, 1) == 1 ? byte : 0;
}
