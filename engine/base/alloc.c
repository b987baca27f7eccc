/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "alloc.h"

#include <assert.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

enum { UNWIND = 64 };
static const size_t LEAST_LIMIT = (size_t)64 << 20;

static _Thread_local jmp_buf *guard;
static _Thread_local long fail_after;
static _Thread_local struct {
    void (*undo)(void *arg);
    void *arg;
} unwind[UNWIND];
static _Thread_local int unwinds, guarded; /* those below `guarded` are the guard's own */
static void (*last_words)(const char *line);
static atomic_size_t limit; /* 0: none was set */

static void undo_down_to(int n)
{
    while (unwinds > n) {
        unwinds--;
        unwind[unwinds].undo(unwind[unwinds].arg);
    }
}

static _Noreturn void end_process(size_t size)
{
    char line[128];
    snprintf(line, sizeof line, "regraft: out of memory (asked for %zu bytes)\n", size);
    undo_down_to(0);
    if (last_words) last_words(line);
    else if (write(STDERR_FILENO, line, strlen(line)) < 0) abort();
    _exit(1);
}

static _Noreturn void out_of_memory(size_t size)
{
    fail_after = 0;
    if (!guard) end_process(size);
    size_t most = atomic_load(&limit);
    if (most)
        tg_fail(TG_NOMEM, "out of memory (asked for %zu bytes; the limit is %zu MB)", size,
                most >> 20);
    else tg_fail(TG_NOMEM, "out of memory (asked for %zu bytes)", size);
    undo_down_to(guarded); /* now: the entries may lie in frames that are about to go */
    longjmp(*guard, 1);
}

void tg_unwind_push(void (*undo)(void *arg), void *arg)
{
    assert(unwinds < UNWIND);
    unwind[unwinds].undo = undo;
    unwind[unwinds].arg = arg;
    unwinds++;
}

void tg_unwind_pop(void *arg)
{
    int i = unwinds - 1;
    while (i >= 0 && unwind[i].arg != arg) i--;
    assert(i >= 0);
    for (unwinds--; i < unwinds; i++) unwind[i] = unwind[i + 1];
}

/* Of what the system would promise beyond its memory, too. */
static int fails_now(size_t size)
{
    static const size_t large = (size_t)256 << 20;
    if (size > large && size > tg_memory_limit()) return 1;
    return fail_after && --fail_after == 0;
}

void *tg_malloc(size_t size)
{
    void *p = fails_now(size) ? NULL : malloc(size ? size : 1);
    if (!p) out_of_memory(size);
    return p;
}

void *tg_calloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) out_of_memory(SIZE_MAX);
    void *p = fails_now(count * size) ? NULL : calloc(count ? count : 1, size ? size : 1);
    if (!p) out_of_memory(count * size);
    return p;
}

void *tg_realloc(void *old, size_t size)
{
    void *p = fails_now(size) ? NULL : realloc(old, size ? size : 1);
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
    int held = guarded;
    tg_status status;
    guard = &here;
    guarded = unwinds;
    if (setjmp(here) == 0) status = body(ctx);
    else status = TG_NOMEM;
    guard = outer;
    guarded = held;
    return status;
}

void *tg_unprotected_begin(void)
{
    void *was = guard;
    guard = NULL;
    return was;
}

void tg_unprotected_end(void *was)
{
    guard = was;
}

void tg_unprotected_child(void)
{
    guard = NULL;
    unwinds = 0;
    last_words = NULL;
}

void tg_last_words(void (*say)(const char *line))
{
    last_words = say;
}

size_t tg_memory_limit(void)
{
    size_t most = atomic_load(&limit);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (most) return most;
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX / 2;
}

tg_status tg_memory_limit_set(size_t bytes)
{
    struct rlimit r = {bytes, bytes};
    if (bytes < LEAST_LIMIT)
        return tg_fail(TG_USAGE, "a memory limit of %zu MB is too small, the least is %zu MB",
                       bytes >> 20, LEAST_LIMIT >> 20);
    /* Sanitizers map far more than they use; there, as where it cannot be set, only single large
       requests are refused. */
    if (!SANITIZED) (void)setrlimit(RLIMIT_DATA, &r);
    atomic_store(&limit, bytes);
    return TG_OK;
}

bool tg_memory_short(void)
{
    size_t most = atomic_load(&limit);
    long data = 0;
    if (!most) return false;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f) return false;
    /* Pages in all, resident, shared, text, library, data and stack. */
    bool known = fscanf(f, "%*s %*s %*s %*s %*s %ld", &data) == 1;
    fclose(f);
    return known && (size_t)data * (size_t)sysconf(_SC_PAGESIZE) > most / 3 * 2;
}

void tg_alloc_fail_after(long n)
{
    fail_after = n;
}
