/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arenas: memory that is freed as a whole, with references that are released with it.
 * Not thread-safe: one thread fills an arena; once filled, any thread may read.
 */
#ifndef TG_BASE_ARENA_H
#define TG_BASE_ARENA_H

#include "alloc.h"

typedef struct tg_arena tg_arena;

tg_arena *tg_arena_new(void);
/* Calls the held releases, newest first, then frees all memory. NULL is fine. */
void tg_arena_free(tg_arena *arena);

/* Zeroed, 16-byte aligned. Amortised O(size). */
void *tg_arena_alloc(tg_arena *arena, size_t size) TG_MALLOC;
void *tg_arena_dup(tg_arena *arena, const void *p, size_t size) TG_MALLOC;
char *tg_arena_strdup(tg_arena *arena, const char *s) TG_MALLOC;
char *tg_arena_strndup(tg_arena *arena, const char *s, size_t n) TG_MALLOC;
char *tg_arena_printf(tg_arena *arena, const char *fmt, ...) TG_PRINTF(2, 3) TG_MALLOC;

/* Calls release(p) when the arena is freed. */
void tg_arena_hold(tg_arena *arena, void (*release)(void *), void *p);

/* Bytes taken from the system by this arena. */
size_t tg_arena_size(const tg_arena *arena);

#define TG_NEW(arena, T) ((T *)tg_arena_alloc(arena, sizeof(T)))
#define TG_NEW_ARRAY(arena, T, n) ((T *)tg_arena_alloc(arena, sizeof(T) * (size_t)(n)))

#endif
