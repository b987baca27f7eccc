/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocation that never returns NULL.
 *
 * When memory runs out, control goes to the innermost tg_protect of this thread, which returns
 * TG_NOMEM; without one the process ends with a message. What was allocated between the two is lost
 * unless an arena created outside the protected call owns it.
 */
#ifndef TG_BASE_ALLOC_H
#define TG_BASE_ALLOC_H

#include "status.h"

#include <stddef.h>

#define TG_MALLOC __attribute__((malloc, returns_nonnull))

void *tg_malloc(size_t size) TG_MALLOC;
void *tg_calloc(size_t count, size_t size) TG_MALLOC; /* checks the product */
void *tg_realloc(void *p, size_t size) __attribute__((returns_nonnull));
char *tg_strdup(const char *s) TG_MALLOC;
void *tg_memdup(const void *p, size_t size) TG_MALLOC;

/* Runs body(ctx) and returns its status, or TG_NOMEM if memory ran out inside. Nests. */
tg_status tg_protect(tg_status (*body)(void *ctx), void *ctx) TG_MUST_USE;

/* For tests: the n-th allocation of this thread from now on fails (0: none does). */
void tg_alloc_fail_after(long n);

#endif
