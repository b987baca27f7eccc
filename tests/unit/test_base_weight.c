/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/alloc.h"
#include "engine/base/str.h"
#include "engine/base/weight.h"

#include <sys/stat.h>

static void weights_copy_or_take_over(void **state)
{
    (void)state;
    float data[3] = {1, 2, 3};
    tg_weight *copy = tg_weight_copy(data, sizeof data);
    tg_weight *own = tg_weight_own(tg_memdup(data, sizeof data), sizeof data);
    assert_true(copy->hash == own->hash);
    assert_int_equal(copy->size, sizeof data);
    data[1] = 5;
    assert_true(((const float *)copy->data)[1] == 2);
    tg_weight *other = tg_weight_copy(data, sizeof data);
    assert_true(other->hash != copy->hash);
    tg_weight_unref(copy), tg_weight_unref(own), tg_weight_unref(other);
    tg_weight_unref(NULL);
}

static void large_weights_are_told_apart_by_every_byte(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    char *data = tg_calloc(N, 1);
    tg_weight *zeros = tg_weight_copy(data, N);
    data[N / 2 + 77] = 1;
    tg_weight *one = tg_weight_own(data, N);
    assert_true(zeros->hash != one->hash);
    tg_weight_unref(zeros), tg_weight_unref(one);
}

static int released;

static void release(void *p)
{
    assert_ptr_equal(p, &released);
    released++;
}

static void the_last_reference_releases(void **state)
{
    (void)state;
    released = 0;
    tg_weight *w = tg_weight_wrap("abcdef", 6, 1, release, &released);
    assert_ptr_equal(tg_weight_ref(w), w);
    tg_weight_unref(w);
    assert_int_equal(released, 0);
    tg_weight_unref(w);
    assert_int_equal(released, 1);
}

static void large_wrapped_weights_hash_their_salt(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    char *data = tg_calloc(N, 1);
    tg_weight *a = tg_weight_wrap(data, N, 1, NULL, NULL);
    tg_weight *b = tg_weight_wrap(data, N, 1, NULL, NULL);
    tg_weight *c = tg_weight_wrap(data, N, 2, NULL, NULL);
    tg_weight *d = tg_weight_wrap(data, N - 1, 1, NULL, NULL);
    assert_true(a->hash == b->hash);
    assert_true(a->hash != c->hash && a->hash != d->hash);
    tg_weight_unref(a), tg_weight_unref(b), tg_weight_unref(c), tg_weight_unref(d);
    free(data);
}

static void files_are_mapped(void **state)
{
    (void)state;
    const char *path = unit_temporary("weights");
    assert_ok(tg_write_file(path, "0123456789", 10));
    tg_mapping *map = NULL;
    assert_ok(tg_mapping_open(path, &map));
    assert_int_equal(map->size, 10);
    unlink(path); /* the mapping outlives the name */
    tg_weight *w = tg_weight_wrap(map->data + 3, 4, 0, (void (*)(void *))tg_mapping_unref,
                                  tg_mapping_ref(map));
    tg_mapping_unref(map);
    assert_memory_equal(w->data, "3456", 4);
    tg_weight_unref(w);
    tg_mapping_unref(NULL);
}

static void odd_files_are_refused_or_empty(void **state)
{
    (void)state;
    tg_mapping *map = NULL;
    assert_status(tg_mapping_open(unit_temporary("none"), &map), TG_IO);
    assert_contains(tg_message(), "none: No such file");
    assert_status(tg_mapping_open(unit_temporary(""), &map), TG_IO);
    assert_contains(tg_message(), "is a folder");
    assert_int_equal(mkfifo(unit_temporary("pipe"), 0600), 0);
    assert_status(tg_mapping_open(unit_temporary("pipe"), &map), TG_IO); /* and does not hang */
    assert_contains(tg_message(), "is not a regular file");
    assert_null(map);
    assert_ok(tg_write_file(unit_temporary("empty"), "", 0));
    assert_ok(tg_mapping_open(unit_temporary("empty"), &map));
    assert_int_equal(map->size, 0);
    tg_mapping_unref(map);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(weights_copy_or_take_over),
    cmocka_unit_test(large_weights_are_told_apart_by_every_byte),
    cmocka_unit_test(the_last_reference_releases),
    cmocka_unit_test(large_wrapped_weights_hash_their_salt),
    cmocka_unit_test(files_are_mapped),
    cmocka_unit_test(odd_files_are_refused_or_empty),
};
UNIT_MAIN(tests)
