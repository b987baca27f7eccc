/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/arena.h"

static void pieces_are_aligned_zeroed_and_apart(void **state)
{
    (void)state;
    enum { N = 3000 };
    static unsigned char *piece[N];
    static size_t size[N];
    tg_arena *arena = tg_arena_new();
    for (int i = 0; i < N; i++) {
        size[i] = (size_t)(i * 37 % 601) + (i % 500 == 0 ? 3000000 : 0);
        piece[i] = tg_arena_alloc(arena, size[i]);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(piece[i][k], 0);
        memset(piece[i], i % 255 + 1, size[i]);
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < size[i]; k += 1 + size[i] / 64)
            assert_int_equal(piece[i][k], i % 255 + 1);
    tg_arena_free(arena);
}

static void size_counts_what_is_taken(void **state)
{
    (void)state;
    tg_arena *arena = tg_arena_new();
    assert_int_equal(tg_arena_size(arena), 0);
    for (int i = 0; i < 100000; i++) tg_arena_alloc(arena, 16);
    assert_in_range(tg_arena_size(arena), 1600000, 2 * 1600000 + (1 << 20));
    tg_arena_free(arena);
}

static char order[8];

static void note(void *p)
{
    strncat(order, p, 1);
}

static void holds_are_released_newest_first(void **state)
{
    (void)state;
    order[0] = '\0';
    tg_arena *arena = tg_arena_new();
    /* The names live in the arena: releases run before the memory goes. */
    tg_arena_hold(arena, note, tg_arena_strdup(arena, "a"));
    tg_arena_hold(arena, note, tg_arena_strdup(arena, "b"));
    tg_arena_alloc(arena, 100000);
    tg_arena_hold(arena, note, tg_arena_strdup(arena, "c"));
    assert_string_equal(order, "");
    tg_arena_free(arena);
    assert_string_equal(order, "cba");
    tg_arena_free(NULL);
}

static void strings_are_copied(void **state)
{
    (void)state;
    tg_arena *arena = tg_arena_new();
    char text[] = "fire2/expand";
    char *copy = tg_arena_strdup(arena, text);
    char *head = tg_arena_strndup(arena, text, 5), *whole = tg_arena_strndup(arena, text, 500);
    char *printed = tg_arena_printf(arena, "%s has %d nodes and %0300d", text, 7, 1);
    int *numbers = tg_arena_dup(arena, (int[]){1, 2, 3}, 3 * sizeof(int));
    memset(text, 'x', strlen(text));
    assert_string_equal(copy, "fire2/expand");
    assert_string_equal(head, "fire2");
    assert_string_equal(whole, "fire2/expand");
    assert_int_equal(strlen(printed), strlen("fire2/expand has 7 nodes and ") + 300);
    assert_int_equal(numbers[2], 3);
    tg_arena_free(arena);
}

static tg_status fills_arena(void *arena)
{
    for (int i = 0; i < 1000; i++) tg_arena_alloc(arena, 1000);
    return TG_OK;
}

static void an_outer_arena_owns_what_a_failed_call_made(void **state)
{
    (void)state;
    tg_arena *arena = tg_arena_new();
    tg_alloc_fail_after(4);
    assert_status(tg_protect(fills_arena, arena), TG_NOMEM);
    tg_alloc_fail_after(0);
    assert_ok(tg_protect(fills_arena, arena));
    tg_arena_free(arena);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
    cmocka_unit_test(size_counts_what_is_taken),
    cmocka_unit_test(holds_are_released_newest_first),
    cmocka_unit_test(strings_are_copied),
    cmocka_unit_test(an_outer_arena_owns_what_a_failed_call_made),
};
UNIT_MAIN(tests)
