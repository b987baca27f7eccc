/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocation that never returns NULL.
 *
 * When memory runs out, control goes to the innermost tg_protect of this thread, which returns
 * TG_NOMEM; without one the process ends with one line and status 1. What is promised on the way:
 *
 *   - what was registered with tg_unwind_push since (mutexes, temporary files, open files, the turn
 *     to measure) is undone, newest first; so nothing stays locked and no temporary file stays;
 *   - what is shared between threads or lives longer than the call (caches, interned names, pools)
 *     stays whole, and a later call works as if the failed one had not been made;
 *   - memory that the failed call had taken and nobody else knows of is lost, unless an arena made
 *     outside the protected call owns it. The jobs of the explorer and batch commands are
 * protected; a batch command ends then, and the explorer loses no more than one failed job had.
 *
 * Large things whose size a file decides do not come this far: they are refused with TG_LIMIT when
 * they exceed tg_memory_limit.
 */
#ifndef TG_BASE_ALLOC_H
#define TG_BASE_ALLOC_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

#define TG_MALLOC __attribute__((malloc, returns_nonnull))

void *tg_malloc(size_t size) TG_MALLOC;
void *tg_calloc(size_t count, size_t size) TG_MALLOC; /* checks the product */
void *tg_realloc(void *p, size_t size) __attribute__((returns_nonnull));
char *tg_strdup(const char *s) TG_MALLOC;
void *tg_memdup(const void *p, size_t size) TG_MALLOC;

/* Runs body(ctx) and returns its status, or TG_NOMEM if memory ran out inside. Nests. */
tg_status tg_protect(tg_status (*body)(void *ctx), void *ctx) TG_MUST_USE;

/*
 * Calls undo(arg), which must not allocate, if memory runs out before the tg_unwind_pop of the same
 * arg. Pairs nest loosely: pop takes the newest entry with that arg. At most 64 at a time.
 */
void tg_unwind_push(void (*undo)(void *arg), void *arg);
void tg_unwind_pop(void *arg);

/*
 * Between these two nobody catches: for code that other threads work for, which must not be left
 * alone. Give `end` what `begin` returned.
 */
void *tg_unprotected_begin(void);
void tg_unprotected_end(void *guard);
/* In a child process after fork: what the parent registered is not the child's to undo. */
void tg_unprotected_child(void);

/*
 * Called before the process ends because memory ran out, after everything registered was undone,
 * from any thread, with the line to print; prints it itself. NULL: the line goes to stderr.
 */
void tg_last_words(void (*say)(const char *line));

/*
 * The memory, in bytes, that this process may take: what was set, else what the machine has.
 * Setting it makes the system refuse more (mapped files do not count). Errors: TG_USAGE (less than
 * 64 MB).
 */
size_t tg_memory_limit(void);
tg_status tg_memory_limit_set(size_t bytes) TG_MUST_USE;

/*
 * True if a limit was set and what is left of it is less than a third: what can end early with a
 * result does so then. O(1), a few microseconds where a limit is set.
 */
bool tg_memory_short(void);

/* For tests: the n-th allocation of this thread from now on fails (0: none does). */
void tg_alloc_fail_after(long n);

#endif
