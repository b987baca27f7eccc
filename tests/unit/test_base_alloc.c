/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/str.h"
#include "engine/base/vec.h"

typedef struct work {
    long before_failure; /* allocations that succeed; 0: all do */
    tg_strmap map;       /* outlives the protected call */
    tg_str str;
    TG_VEC(int) vec;
    tg_status inner;
    int reached;
} work;

static tg_status allocates(void *ctx)
{
    work *w = ctx;
    tg_alloc_fail_after(w->before_failure + 1);
    for (int i = 0; i < 3; i++) free(tg_malloc(10));
    w->reached = 1;
    return TG_OK;
}

static void failed_allocation_ends_the_protected_call(void **state)
{
    (void)state;
    work w = {.before_failure = 2};
    assert_status(tg_protect(allocates, &w), TG_NOMEM);
    assert_int_equal(w.reached, 0);
    assert_contains(tg_message(), "out of memory");
    assert_contains(tg_message(), "10 bytes");
    w.before_failure = 3; /* one more than the three that are made */
    assert_ok(tg_protect(allocates, &w));
    assert_int_equal(w.reached, 1);
    tg_alloc_fail_after(0);
}

static tg_status fails(void *ctx)
{
    (void)ctx;
    return tg_fail(TG_SHAPE, "not memory");
}

static void protect_hands_on_the_status(void **state)
{
    (void)state;
    assert_status(tg_protect(fails, NULL), TG_SHAPE);
    assert_string_equal(tg_message(), "not memory");
}

static tg_status nests(void *ctx)
{
    work *w = ctx;
    w->inner = tg_protect(allocates, &(work){.before_failure = 0});
    w->reached = 2;
    free(tg_malloc(1));
    tg_alloc_fail_after(1);
    free(tg_malloc(1)); /* goes to this call's protector, not to the one that is over */
    w->reached = 3;
    return TG_OK;
}

static void protectors_nest(void **state)
{
    (void)state;
    work w = {0};
    assert_status(tg_protect(nests, &w), TG_NOMEM);
    assert_int_equal(w.inner, TG_NOMEM);
    assert_int_equal(w.reached, 2);
}

static tg_status fills(void *ctx)
{
    work *w = ctx;
    tg_alloc_fail_after(w->before_failure + 1);
    for (int i = 0; i < 100; i++) {
        char key[20];
        snprintf(key, sizeof key, "key %d", i);
        *tg_strmap_put(&w->map, key, NULL) = (uint64_t)i;
        tg_str_add(&w->str, key);
        tg_vec_push(&w->vec, i);
    }
    w->reached = 1;
    return TG_OK;
}

/* Whichever allocation fails, what grew keeps its invariant: it can be read, filled and freed. */
static void growing_things_survive_failure(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        work w = {.before_failure = n};
        tg_status status = tg_protect(fills, &w);
        tg_alloc_fail_after(0);
        if (status == TG_OK) {
            assert_in_range(n, 100, 200); /* at least one a key */
            assert_int_equal(w.map.n, 100);
        } else {
            assert_int_equal(status, TG_NOMEM);
            size_t kept = w.map.n;
            for (size_t i = 0; i < kept; i++) {
                char key[20];
                snprintf(key, sizeof key, "key %d", (int)i);
                assert_non_null(tg_strmap_find(&w.map, key));
            }
            *tg_strmap_put(&w.map, "one more", NULL) = 7;
            assert_int_equal(w.map.n, kept + 1);
        }
        tg_strmap_free(&w.map);
        tg_str_free(&w.str);
        tg_vec_free(&w.vec);
        if (status == TG_OK) break;
    }
}

static void sizes_of_zero_are_fine(void **state)
{
    (void)state;
    void *p = tg_malloc(0), *q = tg_calloc(0, 8), *r = tg_memdup("", 0);
    assert_true(p && q && r);
    p = tg_realloc(p, 0);
    assert_non_null(p);
    free(p), free(q), free(r);
}

static tg_status asks_too_much(void *ctx)
{
    free(tg_calloc(SIZE_MAX / 4, *(size_t *)ctx));
    return TG_OK;
}

static void products_do_not_wrap(void **state)
{
    (void)state;
    size_t size = 8;
    assert_status(tg_protect(asks_too_much, &size), TG_NOMEM);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(failed_allocation_ends_the_protected_call),
    cmocka_unit_test(protect_hands_on_the_status),
    cmocka_unit_test(protectors_nest),
    cmocka_unit_test(growing_things_survive_failure),
    cmocka_unit_test(sizes_of_zero_are_fine),
    cmocka_unit_test(products_do_not_wrap),
};
UNIT_MAIN(tests)
