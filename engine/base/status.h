/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Status codes and the words that go with them.
 *
 * A function that can fail returns tg_status. The words are kept per thread: the place that fails
 * says what is wrong (tg_fail), its callers may say where (tg_wrap). On failure outputs are
 * untouched.
 */
#ifndef TG_BASE_STATUS_H
#define TG_BASE_STATUS_H

#define TG_MUST_USE __attribute__((warn_unused_result))
#define TG_PRINTF(f, a) __attribute__((format(printf, f, a), nonnull(f)))

typedef enum tg_status {
#define STATUS(id, exit, doc) TG_##id,
#include "status.def"
#undef STATUS
    TG_STATUS_COUNT
} tg_status;

/*
 * Sets this thread's message and returns `status`. Messages: a short fact, lower case, no full
 * stop.
 */
tg_status tg_fail(tg_status status, const char *fmt, ...) TG_PRINTF(2, 3);

/* Puts "words: " before this thread's message and returns `status` (which must not be TG_OK). */
tg_status tg_wrap(tg_status status, const char *fmt, ...) TG_PRINTF(2, 3);

/* The same with a file's name, for words that hold names from it: see tg_one_line. */
tg_status tg_wrap_file(tg_status status, const char *path) TG_MUST_USE;

/* Tells the compiler that a failure is never TG_OK, so that it sees which outputs are set. */
static inline tg_status tg_failure(tg_status status)
{
    if (status == TG_OK) __builtin_unreachable();
    return status;
}
#define tg_fail(...) tg_failure(tg_fail(__VA_ARGS__))
#define tg_wrap(...) tg_failure(tg_wrap(__VA_ARGS__))
#define tg_wrap_file(...) tg_failure(tg_wrap_file(__VA_ARGS__))

/*
 * Makes `text` one line that steers no terminal: control characters become '?'. Names in files may
 * hold any. Returns `text`.
 */
char *tg_one_line(char *text);

/* This thread's message of the last failure; "" if there was none. Valid until the next failure. */
const char *tg_message(void);

/* The word for a status ("SHAPE") and the exit status of a batch command that ends with it. */
const char *tg_status_name(tg_status status);
int tg_status_exit(tg_status status);

/* Returns from the calling function if `expr` fails. */
#define TG_TRY(expr)                                                                               \
    do {                                                                                           \
        tg_status try_ = (expr);                                                                   \
        if (try_ != TG_OK) return try_;                                                            \
    } while (0)

#endif
