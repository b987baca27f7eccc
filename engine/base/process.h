/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Another program, run to its end without a shell, with limits. */
#ifndef TG_BASE_PROCESS_H
#define TG_BASE_PROCESS_H

#include "job.h"
#include "str.h"

typedef struct tg_process_limits {
    double seconds;    /* it and what it started are killed then */
    size_t most_bytes; /* of its standard output */
    const tg_job *job; /* may end it within 100 ms; NULL: nobody does */
} tg_process_limits;

typedef struct tg_process_result {
    tg_str out; /* its standard output */
    tg_str err; /* the first 4 KB of its standard error */
    int exit_status;
    int signal; /* that ended it, or 0 */
} tg_process_result;

/*
 * Cuts a line into words as a shell does: spaces part them, '...' keeps all, "..." all but a
 * backslash before one of " \ $ `, and outside of quotes a backslash keeps the next character.
 * Nothing is put in place of anything. *words is NULL-terminated; tg_process_words_free.
 * Errors: TG_USAGE (a quote without an end, no word).
 */
tg_status tg_process_words(const char *line, char ***words, int *n) TG_MUST_USE;
void tg_process_words_free(char **words); /* NULL is fine */

/*
 * Runs argv[0], found as a shell would, with an empty standard input and in a process group of its
 * own, of which nothing is left afterwards. A program that ran and failed is no error: see
 * exit_status and signal. Errors: TG_NOTFOUND (it cannot be started), TG_LIMIT (out of time or too
 * much output), TG_CANCELLED, TG_IO. `result` is filled in all cases; tg_process_result_done.
 */
tg_status tg_process_run(char *const *argv, const tg_process_limits *limits,
                         tg_process_result *result) TG_MUST_USE;
void tg_process_result_done(tg_process_result *result);

#endif
