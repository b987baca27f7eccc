/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/log.h"
#include "engine/measure/latency_db.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char said[1024];

static void listen_to(void *ctx, tg_log_level level, const char *text)
{
    (void)ctx, (void)level;
    snprintf(said, sizeof said, "%s", text);
}

static const tg_latency_key key = {"cpu", "a library 1.2, a processor", 1, 0xfedcba9876543210u};

static void keeps_between_openings(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("kept.sqlite"));
    double ms = 0;
    int n = 0;
    tg_latency_db *db = tg_latency_db_open(path);
    assert_true(tg_latency_db_keeps(db));
    assert_false(tg_latency_db_find(db, &key, &ms, &n));
    tg_latency_db_put(db, &key, 1.25, 7);
    tg_latency_db_put(db, &key, 1.5, 9);
    tg_latency_db_close(db);
    db = tg_latency_db_open(path);
    assert_true(tg_latency_db_find(db, &key, &ms, &n));
    assert_true(ms == 1.5);
    assert_int_equal(n, 9);
    tg_latency_db_close(db);
}

static void every_part_of_the_key_counts(void **state)
{
    (void)state;
    tg_latency_db *db = tg_latency_db_open(unit_temporary("keys.sqlite"));
    tg_latency_db_put(db, &key, 1, 1);
    tg_latency_key others[4] = {key, key, key, key};
    others[0].backend = "model";
    others[1].device = "a library 1.3, a processor";
    others[2].threads = 2;
    others[3].operator_hash ^= 1;
    double ms;
    int n;
    for (int i = 0; i < 4; i++) assert_false(tg_latency_db_find(db, &others[i], &ms, &n));
    assert_true(tg_latency_db_find(db, &key, &ms, &n));
    tg_latency_db_close(db);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void a_broken_file_is_set_aside(void **state)
{
    (void)state;
    char path[4096], aside[4200];
    static const char garbage[] =
        "these bytes have never been a database of anything at all.......";
    snprintf(path, sizeof path, "%s", unit_temporary("broken.sqlite"));
    snprintf(aside, sizeof aside, "%s.broken", path);
    write_file(path, garbage, sizeof garbage);
    said[0] = 0;
    tg_log_to(listen_to, NULL);
    tg_latency_db *db = tg_latency_db_open(path);
    tg_log_to(NULL, NULL);
    assert_contains(said, "set aside");
    assert_contains(said, path);
    assert_true(tg_latency_db_keeps(db));
    double ms;
    int n;
    tg_latency_db_put(db, &key, 2, 3);
    assert_true(tg_latency_db_find(db, &key, &ms, &n));
    tg_latency_db_close(db);
    char back[sizeof garbage];
    FILE *f = fopen(aside, "rb");
    assert_non_null(f);
    assert_int_equal(fread(back, 1, sizeof back, f), sizeof back);
    fclose(f);
    assert_memory_equal(back, garbage, sizeof back);
}

/* The header is whole, the pages behind it are not. */
static void damage_inside_is_seen(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("inside.sqlite"));
    tg_latency_db *db = tg_latency_db_open(path);
    tg_latency_key many = key;
    for (uint64_t i = 0; i < 500; i++) {
        many.operator_hash = i;
        tg_latency_db_put(db, &many, 1, 1);
    }
    tg_latency_db_close(db);
    int fd = open(path, O_WRONLY);
    char bad[200];
    memset(bad, 0xa5, sizeof bad);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 100; at < st.st_size; at += 1024)
        assert_int_equal(pwrite(fd, bad, sizeof bad, at), sizeof bad);
    close(fd);
    said[0] = 0;
    tg_log_to(listen_to, NULL);
    db = tg_latency_db_open(path);
    double ms;
    int n;
    for (uint64_t i = 0; i < 500; i++) {
        many.operator_hash = i;
        tg_latency_db_find(db, &many, &ms, &n);
    }
    tg_latency_db_put(db, &key, 4, 5);
    assert_true(tg_latency_db_find(db, &key, &ms, &n));
    assert_true(ms == 4);
    tg_latency_db_close(db);
    tg_log_to(NULL, NULL);
    assert_contains(said, "set aside");
}

static void without_a_place_all_still_works(void **state)
{
    (void)state;
    double ms;
    int n;
    said[0] = 0;
    tg_log_to(listen_to, NULL);
    tg_latency_db *db = tg_latency_db_open("/proc/no/such/place/latency.sqlite");
    tg_log_to(NULL, NULL);
    assert_false(tg_latency_db_keeps(db));
    assert_contains(said, "not kept");
    tg_latency_db_put(db, &key, 2, 3);
    assert_false(tg_latency_db_find(db, &key, &ms, &n));
    tg_latency_db_close(db);
}

static void the_place_follows_the_environment(void **state)
{
    (void)state;
    char cache[4096];
    snprintf(cache, sizeof cache, "%s", unit_temporary("cache/deep"));
    setenv("XDG_CACHE_HOME", cache, 1);
    tg_latency_db *db = tg_latency_db_open(NULL);
    assert_true(tg_latency_db_keeps(db));
    tg_latency_db_close(db);
    strncat(cache, "/regraft/latency.sqlite", sizeof cache - strlen(cache) - 1);
    assert_int_equal(access(cache, R_OK | W_OK), 0);
    unsetenv("XDG_CACHE_HOME");
}

static void processes_share_the_file(void **state)
{
    (void)state;
    enum { PROCESSES = 4, EACH = 50 };
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("shared.sqlite"));
    pid_t pids[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p]) continue;
        tg_latency_db *db = tg_latency_db_open(path);
        tg_latency_key mine = key;
        for (int i = 0; i < EACH; i++) {
            mine.operator_hash = (uint64_t)(p * EACH + i);
            tg_latency_db_put(db, &mine, p + i / 100.0, i);
        }
        tg_latency_db_close(db);
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status = 1;
        waitpid(pids[p], &status, 0);
        assert_int_equal(status, 0);
    }
    tg_latency_db *db = tg_latency_db_open(path);
    for (int i = 0; i < PROCESSES * EACH; i++) {
        tg_latency_key theirs = key;
        double ms;
        int n;
        theirs.operator_hash = (uint64_t)i;
        assert_true(tg_latency_db_find(db, &theirs, &ms, &n));
        assert_int_equal(n, i % EACH);
    }
    tg_latency_db_close(db);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_between_openings),
    cmocka_unit_test(every_part_of_the_key_counts),
    cmocka_unit_test(a_broken_file_is_set_aside),
    cmocka_unit_test(damage_inside_is_seen),
    cmocka_unit_test(without_a_place_all_still_works),
    cmocka_unit_test(the_place_follows_the_environment),
    cmocka_unit_test(processes_share_the_file),
};
UNIT_MAIN(tests)
