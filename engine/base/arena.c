/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGN = 16 };

typedef struct block {
    struct block *next;
    size_t used, size; /* used <= size, both without this header */
    _Alignas(ALIGN) char data[];
} block;

typedef struct hold {
    struct hold *next;
    void (*release)(void *);
    void *p;
} hold;

struct tg_arena {
    block *blocks; /* newest first; small pieces come from the newest */
    hold *holds;   /* newest first */
    size_t next_size, total;
};

tg_arena *tg_arena_new(void)
{
    tg_arena *arena = tg_calloc(1, sizeof *arena);
    arena->next_size = FIRST_BLOCK;
    return arena;
}

void tg_arena_free(tg_arena *arena)
{
    if (!arena) return;
    for (hold *h = arena->holds; h; h = h->next) h->release(h->p);
    for (block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

static block *block_new(tg_arena *arena, size_t size)
{
    block *b = tg_calloc(1, sizeof *b + size);
    b->size = size;
    arena->total += sizeof *b + size;
    return b;
}

/* A piece larger than a quarter block gets a block of its own, placed behind the one in use. */
static void *alloc_large(tg_arena *arena, size_t size)
{
    block *b = block_new(arena, size);
    b->used = size;
    if (arena->blocks) {
        b->next = arena->blocks->next;
        arena->blocks->next = b;
    } else {
        arena->blocks = b;
    }
    return b->data;
}

void *tg_arena_alloc(tg_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) return tg_malloc(size); /* fails with the right message */
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    block *b = arena->blocks;
    if (!b || b->size - b->used < size) {
        if (size > arena->next_size / 4) return alloc_large(arena, size);
        b = block_new(arena, arena->next_size);
        b->next = arena->blocks;
        arena->blocks = b;
        if (arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
    }
    void *p = b->data + b->used;
    b->used += size;
    return p;
}

void *tg_arena_dup(tg_arena *arena, const void *p, size_t size)
{
    void *copy = tg_arena_alloc(arena, size);
    if (size) memcpy(copy, p, size);
    return copy;
}

char *tg_arena_strdup(tg_arena *arena, const char *s)
{
    return tg_arena_dup(arena, s, strlen(s) + 1);
}

char *tg_arena_strndup(tg_arena *arena, const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = tg_arena_alloc(arena, len + 1);
    memcpy(copy, s, len);
    return copy;
}

char *tg_arena_printf(tg_arena *arena, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = tg_arena_alloc(arena, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

void tg_arena_hold(tg_arena *arena, void (*release)(void *), void *p)
{
    hold *h = TG_NEW(arena, hold);
    *h = (hold){arena->holds, release, p};
    arena->holds = h;
}

size_t tg_arena_size(const tg_arena *arena)
{
    return arena->total;
}
