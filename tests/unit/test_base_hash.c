/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/hash.h"
#include "engine/base/intern.h"

#include <pthread.h>

static void hashes_are_the_same_everywhere(void **state)
{
    (void)state;
    /* Files and databases hold hashes: another value here breaks what people have stored. */
    assert_true(tg_mix(0) == 0xe220a8397b1dcdafu); /* the first output of SplitMix64 from seed 0 */
    assert_true(tg_hash_str(0, "Conv") == tg_hash_bytes(0, "Conv", 4));
}

static void hashes_tell_things_apart(void **state)
{
    (void)state;
    assert_true(tg_hash_add(tg_hash_add(0, 1), 2) != tg_hash_add(tg_hash_add(0, 2), 1));
    assert_true(tg_hash_str(0, "ab") != tg_hash_str(1, "ab"));
    assert_true(tg_hash_bytes(0, "a\0", 2) != tg_hash_bytes(0, "a", 1));
    assert_true(tg_hash_bytes(0, "\0\0\0\0\0\0\0\0", 8) != tg_hash_bytes(0, "", 0));
    char text[64] = {0};
    tg_map seen = {0};
    for (size_t n = 0; n <= sizeof text; n++)
        for (int bit = 0; bit < (int)n * 8; bit++) {
            bool fresh;
            text[bit / 8] ^= (char)(1 << bit % 8);
            tg_map_put(&seen, tg_hash_bytes(0, text, n), &fresh);
            assert_true(fresh);
            text[bit / 8] = 0;
        }
    tg_map_free(&seen);
}

/* Every bit of the input changes about half of the output bits. */
static void hash_bits_avalanche(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        int changed = 0;
        for (uint64_t i = 0; i < 256; i++) {
            uint64_t x = tg_mix(i);
            changed += __builtin_popcountll(tg_hash_add(1, x) ^ tg_hash_add(1, x ^ 1ull << bit));
        }
        assert_in_range(changed, 256 * 28, 256 * 36);
    }
}

static void maps_hold_many_keys(void **state)
{
    (void)state;
    enum { N = 200000 };
    tg_map map = {0};
    assert_null(tg_map_find(&map, 0));
    for (uint64_t i = 0; i < N; i++) {
        bool fresh = false;
        uint64_t *slot = tg_map_put(&map, i << 32, &fresh); /* equal low bits, key 0 too */
        assert_true(fresh && *slot == 0);
        *slot = i + 1;
    }
    assert_int_equal(map.n, N);
    for (uint64_t i = 0; i < N; i++) {
        bool fresh = true;
        assert_int_equal(*tg_map_find(&map, i << 32), i + 1);
        assert_int_equal(*tg_map_put(&map, i << 32, &fresh), i + 1);
        assert_false(fresh);
        assert_null(tg_map_find(&map, (i << 32) + 1));
    }
    assert_int_equal(map.n, N);
    *tg_map_put(&map, UINT64_MAX, NULL) = 5;
    assert_int_equal(*tg_map_find(&map, UINT64_MAX), 5);
    tg_map_free(&map);
    assert_null(tg_map_find(&map, 0));
}

static void string_maps_copy_their_keys(void **state)
{
    (void)state;
    enum { N = 50000 };
    tg_strmap map = {0};
    char key[32];
    assert_null(tg_strmap_find(&map, ""));
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "node_%d", i);
        *tg_strmap_put(&map, key, NULL) = (uint64_t)i;
    }
    memset(key, 'x', sizeof key - 1);
    assert_int_equal(map.n, N);
    for (int i = 0; i < N; i += 7) {
        bool fresh = true;
        snprintf(key, sizeof key, "node_%d", i);
        assert_int_equal(*tg_strmap_find(&map, key), i);
        tg_strmap_put(&map, key, &fresh);
        assert_false(fresh);
    }
    assert_null(tg_strmap_find(&map, "node_"));
    *tg_strmap_put(&map, "", NULL) = 9;
    assert_int_equal(*tg_strmap_find(&map, ""), 9);
    tg_strmap_free(&map);
}

static const char *names[2][1000];

static void *interns(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        ((const char **)arg)[i] = tg_intern(name);
    }
    return NULL;
}

static void interned_strings_are_one(void **state)
{
    (void)state;
    char text[] = "Conv";
    const char *a = tg_intern(text);
    text[0] = 'X';
    assert_string_equal(a, "Conv");
    assert_ptr_equal(tg_intern("Conv"), a);
    assert_ptr_not_equal(tg_intern("conv"), a);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, interns, names[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 1000; i++) assert_ptr_equal(names[0][i], names[1][i]);
    assert_string_equal(names[0][999], "name 999");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(hashes_are_the_same_everywhere),
    cmocka_unit_test(hashes_tell_things_apart),
    cmocka_unit_test(hash_bits_avalanche),
    cmocka_unit_test(maps_hold_many_keys),
    cmocka_unit_test(string_maps_copy_their_keys),
    cmocka_unit_test(interned_strings_are_one),
};
UNIT_MAIN(tests)
