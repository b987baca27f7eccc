/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "alloc.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local jmp_buf *guard;
static _Thread_local long fail_after;

static _Noreturn void out_of_memory(size_t size)
{
    if (guard) {
        tg_fail(TG_NOMEM, "out of memory (asked for %zu bytes)", size);
        longjmp(*guard, 1);
    }
    fprintf(stderr, "regraft: out of memory (asked for %zu bytes)\n", size);
    abort();
}

static int fails_now(void)
{
    return fail_after && --fail_after == 0;
}

void *tg_malloc(size_t size)
{
    void *p = fails_now() ? NULL : malloc(size ? size : 1);
    if (!p) out_of_memory(size);
    return p;
}

void *tg_calloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) out_of_memory(SIZE_MAX);
    void *p = fails_now() ? NULL : calloc(count ? count : 1, size ? size : 1);
    if (!p) out_of_memory(count * size);
    return p;
}

void *tg_realloc(void *old, size_t size)
{
    void *p = fails_now() ? NULL : realloc(old, size ? size : 1);
    if (!p) out_of_memory(size);
    return p;
}

void *tg_memdup(const void *p, size_t size)
{
    void *copy = tg_malloc(size);
    if (size) memcpy(copy, p, size);
    return copy;
}

char *tg_strdup(const char *s)
{
    return tg_memdup(s, strlen(s) + 1);
}

tg_status tg_protect(tg_status (*body)(void *ctx), void *ctx)
{
    jmp_buf here;
    jmp_buf *outer = guard;
    tg_status status;
    guard = &here;
    if (setjmp(here) == 0)
        status = body(ctx);
    else
        status = TG_NOMEM;
    guard = outer;
    return status;
}

void tg_alloc_fail_after(long n)
{
    fail_after = n;
}
