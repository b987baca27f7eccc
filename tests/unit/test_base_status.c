/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include <pthread.h>

static void fail_keeps_words(void **state)
{
    (void)state;
    assert_int_equal(tg_fail(TG_SHAPE, "%s has rank %d", "x", 3), TG_SHAPE);
    assert_string_equal(tg_message(), "x has rank 3");
}

static void wrap_puts_where_before(void **state)
{
    (void)state;
    tg_status status = tg_fail(TG_IO, "no such file");
    assert_int_equal(tg_wrap(status, "model %s", "a.onnx"), TG_IO);
    assert_int_equal(tg_wrap(status, "opening"), TG_IO);
    assert_string_equal(tg_message(), "opening: model a.onnx: no such file");
}

static void fail_may_quote_the_old_words(void **state)
{
    (void)state;
    (void)tg_fail(TG_IO, "first");
    (void)tg_fail(TG_IO, "second after %s", tg_message());
    assert_string_equal(tg_message(), "second after first");
}

static void long_words_are_cut(void **state)
{
    (void)state;
    char word[5000];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    (void)tg_fail(TG_IO, "%s", word);
    assert_in_range(strlen(tg_message()), 500, 1100);
    for (int i = 0; i < 5; i++) (void)tg_wrap(TG_IO, "%s", word);
    assert_in_range(strlen(tg_message()), 500, 1100);
}

static void *other_thread(void *arg)
{
    (void)tg_fail(TG_TYPE, "theirs");
    *(int *)arg = strcmp(tg_message(), "theirs");
    return NULL;
}

static void words_belong_to_a_thread(void **state)
{
    (void)state;
    (void)tg_fail(TG_IO, "mine");
    pthread_t thread;
    int differs = 1;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &differs), 0);
    pthread_join(thread, NULL);
    assert_int_equal(differs, 0);
    assert_string_equal(tg_message(), "mine");
}

static tg_status tries(tg_status status, int *reached)
{
    TG_TRY(status);
    *reached = 1;
    return TG_OK;
}

static void try_returns_failures(void **state)
{
    (void)state;
    int reached = 0;
    assert_status(tries(TG_LIMIT, &reached), TG_LIMIT);
    assert_int_equal(reached, 0);
    assert_ok(tries(TG_OK, &reached));
    assert_int_equal(reached, 1);
}

static void every_status_has_name_and_exit(void **state)
{
    (void)state;
    assert_int_equal(tg_status_exit(TG_OK), 0);
    for (int i = 0; i < TG_STATUS_COUNT; i++) {
        assert_non_null(tg_status_name((tg_status)i));
        assert_in_range(tg_status_exit((tg_status)i), i == TG_OK ? 0 : 1, 3);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(tg_status_name((tg_status)i), tg_status_name((tg_status)j));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fail_keeps_words),
    cmocka_unit_test(wrap_puts_where_before),
    cmocka_unit_test(fail_may_quote_the_old_words),
    cmocka_unit_test(long_words_are_cut),
    cmocka_unit_test(words_belong_to_a_thread),
    cmocka_unit_test(try_returns_failures),
    cmocka_unit_test(every_status_has_name_and_exit),
};
UNIT_MAIN(tests)
