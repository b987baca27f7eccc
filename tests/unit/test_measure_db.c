/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/build.h"
#include "engine/base/log.h"
#include "engine/exec/backend.h"
#include "engine/measure/latency_db.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
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

enum { PROCESSES = 4, EACH = 50 };

static void wait_for(const pid_t *pids, int n)
{
    for (int p = 0; p < n; p++) {
        int status = 1;
        waitpid(pids[p], &status, 0);
        assert_int_equal(status, 0);
    }
}

/* Entry i of process p, in all tests with several processes. */
static tg_latency_key key_of(int p, int i)
{
    tg_latency_key k = key;
    k.operator_hash = (uint64_t)(p * EACH + i);
    return k;
}

/* Writes its own entries and reads those of all; what is there must be whole. */
static int write_and_read(const char *path, int p)
{
    int wrong = 0, n;
    double ms;
    tg_latency_db *db = tg_latency_db_open(path);
    for (int i = 0; i < EACH; i++) {
        tg_latency_key mine = key_of(p, i);
        tg_latency_db_put(db, &mine, p + i / 100.0, i);
        wrong += !tg_latency_db_find(db, &mine, &ms, &n);
        for (int other = 0; other < PROCESSES; other++) {
            tg_latency_key theirs = key_of(other, i);
            if (tg_latency_db_find(db, &theirs, &ms, &n))
                wrong += ms != other + i / 100.0 || n != i;
        }
    }
    tg_latency_db_close(db);
    return wrong;
}

static void write_and_read_together(const char *path)
{
    pid_t pids[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (!pids[p]) _exit(write_and_read(path, p) != 0);
    }
    wait_for(pids, PROCESSES);
}

static void processes_share_the_file(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("shared.sqlite"));
    write_and_read_together(path);
    tg_latency_db *db = tg_latency_db_open(path);
    for (int i = 0; i < PROCESSES * EACH; i++) {
        tg_latency_key theirs = key_of(i / EACH, i % EACH);
        double ms;
        int n;
        assert_true(tg_latency_db_find(db, &theirs, &ms, &n));
        assert_int_equal(n, i % EACH);
    }
    tg_latency_db_close(db);
}

/* All find it broken; one sets it aside, and what any of them puts is kept. */
static void processes_find_it_broken_together(void **state)
{
    (void)state;
    char path[4096], aside[4200], back[64];
    static const char garbage[] = "no database, and four processes open it at once";
    for (int round = 0; round < 5; round++) {
        snprintf(path, sizeof path, "%s-%d", unit_temporary("together.sqlite"), round);
        snprintf(aside, sizeof aside, "%s.broken", path);
        write_file(path, garbage, sizeof garbage);
        write_and_read_together(path);
        tg_latency_db *db = tg_latency_db_open(path);
        for (int i = 0; i < PROCESSES * EACH; i++) {
            tg_latency_key theirs = key_of(i / EACH, i % EACH);
            double ms;
            int n;
            assert_true(tg_latency_db_find(db, &theirs, &ms, &n));
        }
        tg_latency_db_close(db);
        FILE *f = fopen(aside, "rb");
        assert_non_null(f);
        assert_int_equal(fread(back, 1, sizeof back, f), sizeof garbage);
        fclose(f);
        assert_memory_equal(back, garbage, sizeof garbage);
    }
}

/* ---- other states that a file may be in ---- */

static void fill(const char *path)
{
    tg_latency_db *db = tg_latency_db_open(path);
    for (int i = 0; i < EACH; i++) {
        tg_latency_key k = key_of(0, i);
        tg_latency_db_put(db, &k, 1, 1);
    }
    tg_latency_db_close(db);
}

/* It opens, whatever lies there, and keeps what it is given. */
static void works_from_here(const char *path)
{
    double ms;
    int n;
    for (int open = 0; open < 2; open++) {
        tg_latency_db *db = tg_latency_db_open(path);
        assert_true(tg_latency_db_keeps(db));
        if (!open) tg_latency_db_put(db, &key, 8, 9);
        assert_true(tg_latency_db_find(db, &key, &ms, &n));
        assert_true(ms == 8);
        tg_latency_db_close(db);
    }
}

static void an_empty_file_is_a_new_one(void **state)
{
    (void)state;
    const char *path = unit_temporary("zero.sqlite");
    write_file(path, "", 0);
    said[0] = 0;
    tg_log_to(listen_to, NULL);
    works_from_here(path);
    tg_log_to(NULL, NULL);
    assert_string_equal(said, "");
}

/* At every length: found out at once, or when the missing page is asked for. */
static void a_truncated_file_is_set_aside(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("truncated.sqlite"));
    tg_log_to(listen_to, NULL);
    static const off_t lengths[] = {1, 20, 100, 512, 4096, 5000, 8191};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        fill(path);
        assert_int_equal(truncate(path, lengths[i]), 0);
        works_from_here(path);
        assert_int_equal(unlink(path), 0);
    }
    tg_log_to(NULL, NULL);
    assert_contains(said, "set aside");
}

/* Puts bytes into the closed file, at a place or where `old` is. */
static void patch(const char *path, const char *old, off_t at, const void *bytes, size_t n)
{
    char page[16384];
    int fd = open(path, O_RDWR);
    ssize_t size = pread(fd, page, sizeof page, 0);
    for (ssize_t i = 0; old && i + (ssize_t)n <= size; i++)
        if (memcmp(page + i, old, n) == 0) at = i;
    assert_true(at > 0);
    assert_int_equal(pwrite(fd, bytes, n, at), n);
    close(fd);
}

static void another_version_is_dropped(void **state)
{
    (void)state;
    enum { USER_VERSION = 60 }; /* of the header, most significant byte first */
    char path[4096];
    double ms;
    int n;
    snprintf(path, sizeof path, "%s", unit_temporary("version.sqlite"));
    fill(path);
    patch(path, NULL, USER_VERSION, (const char[]){0, 0, 0, 77}, 4);
    tg_latency_db *db = tg_latency_db_open(path);
    tg_latency_key old = key_of(0, 1);
    assert_true(tg_latency_db_keeps(db));
    assert_false(tg_latency_db_find(db, &old, &ms, &n));
    tg_latency_db_close(db);
    works_from_here(path);
    patch(path, "ms REAL", 0, "mx REAL", 7); /* of our version, but it has other columns */
    said[0] = 0;
    tg_log_to(listen_to, NULL);
    works_from_here(path);
    tg_log_to(NULL, NULL);
    assert_contains(said, "set aside");
}

/* In a process without rights, because to root everything is allowed. */
static void in_a_child(int (*run)(const char *path), const char *path)
{
    pid_t pid = fork();
    if (!pid) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
        said[0] = 0;
        tg_log_to(listen_to, NULL);
        _exit(run(path));
    }
    int status = 1;
    waitpid(pid, &status, 0);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 100, 0);
}

/* 0: nothing is kept, that is said, and nothing else happens. */
static int keeps_nothing(const char *path)
{
    double ms;
    int n;
    tg_latency_db *db = tg_latency_db_open(path);
    tg_latency_db_put(db, &key, 2, 3);
    bool found = tg_latency_db_find(db, &key, &ms, &n);
    tg_latency_db_close(db);
    return found ? 1 : !strstr(said, "not kept") ? 2 : 0;
}

static void what_may_not_be_written(void **state)
{
    (void)state;
    char folder[4096], path[4200];
    snprintf(folder, sizeof folder, "%s", unit_temporary("closed"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/latency.sqlite", folder);
    assert_int_equal(chmod(unit_folder, 0711), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    in_a_child(keeps_nothing, path); /* an unwritable folder */
    assert_int_equal(chmod(folder, 0755), 0);
    fill(path);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    in_a_child(keeps_nothing, path); /* a read-only file in one */
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(path, 0000), 0);
    in_a_child(keeps_nothing, path); /* one that cannot even be read */
    write_file(path, "broken", 6);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    in_a_child(keeps_nothing, path); /* a broken one that cannot be set aside */
    assert_int_equal(chmod(folder, 0755), 0);
}

/* Files of this process may not grow any more, as on a full disk. */
static int keeps_what_fits(const char *path)
{
    double ms;
    int n, kept = 0;
    struct rlimit limit = {64 << 10, 64 << 10};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    tg_latency_db *db = tg_latency_db_open(path);
    for (int i = 0; i < 5000; i++) {
        tg_latency_key k = key_of(0, i);
        tg_latency_db_put(db, &k, 2, 3);
        kept += tg_latency_db_find(db, &k, &ms, &n);
    }
    tg_latency_db_close(db);
    return kept == 0 ? 4 : kept == 5000 ? 5 : !strstr(said, "not kept") ? 6 : 0;
}

static void a_full_disk(void **state)
{
    (void)state;
    char folder[4096], path[4200];
    snprintf(folder, sizeof folder, "%s", unit_temporary("full"));
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(chmod(unit_folder, 0711), 0);
    snprintf(path, sizeof path, "%s/latency.sqlite", folder);
    in_a_child(keeps_what_fits, path);
    assert_int_equal(chmod(path, 0666), 0);
    works_from_here(path); /* nothing was damaged */
}

/* What another build measured is not this one's. */
static void entries_are_those_of_this_build(void **state)
{
    (void)state;
    char build[TG_BUILD_ID_TEXT], again[TG_BUILD_ID_TEXT], device[192];
    assert_string_equal(tg_build_id(build), tg_build_id(again));
    assert_true(strspn(build, "0123456789abcdef") == strlen(build));
    assert_true(strlen(build) == 8 || !build[0]);
    assert_contains(tg_backend_find("cpu")->identity(device, sizeof device), build);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keeps_between_openings),
    cmocka_unit_test(every_part_of_the_key_counts),
    cmocka_unit_test(a_broken_file_is_set_aside),
    cmocka_unit_test(damage_inside_is_seen),
    cmocka_unit_test(without_a_place_all_still_works),
    cmocka_unit_test(the_place_follows_the_environment),
    cmocka_unit_test(processes_share_the_file),
    cmocka_unit_test(processes_find_it_broken_together),
    cmocka_unit_test(an_empty_file_is_a_new_one),
    cmocka_unit_test(a_truncated_file_is_set_aside),
    cmocka_unit_test(another_version_is_dropped),
    cmocka_unit_test(what_may_not_be_written),
    cmocka_unit_test(a_full_disk),
    cmocka_unit_test(entries_are_those_of_this_build),
};
UNIT_MAIN(tests)
