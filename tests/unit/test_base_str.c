/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/base/str.h"
#include "engine/base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static void strings_grow(void **state)
{
    (void)state;
    tg_str s = {0};
    assert_string_equal(tg_str_text(&s), "");
    tg_str_add(&s, "a");
    tg_str_addc(&s, 'b');
    tg_str_addn(&s, "cdef", 2);
    tg_str_addf(&s, "%d", 12);
    assert_string_equal(tg_str_text(&s), "abcd12");
    for (int i = 0; i < 10000; i++) tg_str_addf(&s, "%04d,", i);
    assert_int_equal(s.n, 6 + 50000);
    assert_int_equal(strlen(tg_str_text(&s)), s.n);
    assert_string_equal(tg_str_text(&s) + s.n - 10, "9998,9999,");
    tg_str_clear(&s);
    assert_string_equal(tg_str_text(&s), "");
    tg_str_add(&s, "again");
    assert_string_equal(tg_str_text(&s), "again");
    tg_str_free(&s);
    assert_string_equal(tg_str_text(&s), "");
}

static void xml_is_escaped(void **state)
{
    (void)state;
    tg_str s = {0};
    tg_str_add_xml(&s, "a<b>&\"c\" \x01\x7f\n \xc3\xa9");
    assert_string_equal(tg_str_text(&s), "a&lt;b&gt;&amp;&quot;c&quot; \\x01\\x7f\\x0a \xc3\xa9");
    tg_str_free(&s);
}

static void prefixes_and_suffixes(void **state)
{
    (void)state;
    assert_true(tg_starts_with("conv1", "conv"));
    assert_true(tg_starts_with("conv1", ""));
    assert_false(tg_starts_with("con", "conv"));
    assert_true(tg_ends_with("model.onnx", ".onnx"));
    assert_true(tg_ends_with("model.onnx", ""));
    assert_false(tg_ends_with("nx", ".onnx"));
    assert_false(tg_ends_with("model.onnx.bak", ".onnx"));
}

static void bytes_have_units(void **state)
{
    (void)state;
    char buf[16];
    assert_string_equal(tg_format_bytes(buf, 0), "0 B");
    assert_string_equal(tg_format_bytes(buf, 999), "999 B");
    assert_string_equal(tg_format_bytes(buf, 1000), "1 kB");
    assert_string_equal(tg_format_bytes(buf, 3420000), "3.42 MB");
    assert_string_equal(tg_format_bytes(buf, 1.5e12), "1.5 TB");
}

static int entries(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void files_are_written_and_read(void **state)
{
    (void)state;
    const char *path = unit_temporary("a.bin");
    char *data;
    size_t size;
    char big[100000];
    for (size_t i = 0; i < sizeof big; i++) big[i] = (char)(i * 31);
    assert_ok(tg_write_file(path, big, sizeof big));
    assert_ok(tg_read_file(path, sizeof big, &data, &size));
    assert_int_equal(size, sizeof big);
    assert_memory_equal(data, big, size);
    assert_int_equal(data[size], 0);
    free(data);
    assert_ok(tg_write_file(path, "", 0)); /* over the old one */
    assert_ok(tg_read_file(path, 0, &data, &size));
    assert_int_equal(size, 0);
    assert_string_equal(data, "");
    free(data);
    assert_int_equal(entries(unit_temporary("")), 1); /* the temporary name is gone */
}

static void written_files_have_the_usual_mode(void **state)
{
    (void)state;
    const char *path = unit_temporary("mode");
    mode_t old = umask(027);
    assert_ok(tg_write_file(path, "x", 1));
    umask(old);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    unlink(path);
}

static void large_files_are_refused(void **state)
{
    (void)state;
    const char *path = unit_temporary("b.bin");
    char *data = NULL;
    size_t size = 17;
    assert_ok(tg_write_file(path, "12345", 5));
    assert_status(tg_read_file(path, 4, &data, &size), TG_LIMIT);
    assert_contains(tg_message(), "b.bin: larger than 4 bytes");
    assert_true(!data && size == 17); /* outputs are untouched on failure */
    unlink(path);
}

/* Nobody writes into the pipe, and the device never ends: neither is waited for. */
static void only_files_are_read(void **state)
{
    (void)state;
    char *path = tg_strdup(unit_temporary("pipe")), *data = NULL;
    size_t size;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(tg_read_file(path, 10, &data, &size), TG_IO);
    assert_contains(tg_message(), "pipe: is not a regular file");
    assert_status(tg_read_file("/dev/zero", 1000, &data, &size), TG_IO);
    assert_contains(tg_message(), "/dev/zero: is not a regular file");
    unlink(path);
    free(path);
}

/* But for what a shell hands over as a descriptor. */
static void pipes_of_a_shell_are_read(void **state)
{
    (void)state;
    int ends[2];
    char path[64], *data = NULL;
    size_t size;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "words", 5), 5);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_ok(tg_read_file(path, 10, &data, &size));
    assert_string_equal(data, "words");
    free(data);
    close(ends[0]);
}

static void bad_paths_are_named(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size;
    assert_status(tg_read_file(unit_temporary("none"), 10, &data, &size), TG_IO);
    assert_contains(tg_message(), "none: No such file");
    assert_status(tg_read_file(unit_temporary(""), 10, &data, &size), TG_IO);
    assert_contains(tg_message(), "is a folder");
    assert_status(tg_write_file(unit_temporary("none/a"), "x", 1), TG_IO);
    assert_contains(tg_message(), "none/a: No such file");
    assert_null(data);
}

/* A file that cannot be replaced: the error names it and no temporary file stays. */
static void failed_writes_leave_nothing(void **state)
{
    (void)state;
    const char *folder = unit_temporary("folder");
    assert_int_equal(mkdir(folder, 0777), 0);
    int before = entries(unit_temporary(""));
    assert_status(tg_write_file(folder, "x", 1), TG_IO);
    assert_contains(tg_message(), "folder: ");
    assert_int_equal(entries(unit_temporary("")), before);
}

static void vectors_keep_their_order(void **state)
{
    (void)state;
    TG_VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) tg_vec_push(&v, i);
    assert_int_equal(v.n, 1000);
    assert_int_equal(v.v[999], 999);
    tg_vec_remove(&v, 0);
    tg_vec_remove(&v, 500);
    tg_vec_remove(&v, v.n - 1);
    assert_int_equal(v.n, 997);
    assert_int_equal(v.v[0], 1);
    assert_int_equal(v.v[499], 500);
    assert_int_equal(v.v[500], 502);
    assert_int_equal(tg_vec_last(&v), 998);
    assert_int_equal(tg_vec_pop(&v), 998);
    assert_int_equal(tg_vec_last(&v), 997);
    tg_vec_clear(&v);
    assert_int_equal(v.n, 0);
    tg_vec_reserve(&v, 5000);
    assert_true(v.cap >= 5000);
    tg_vec_free(&v);
    assert_true(!v.v && !v.n && !v.cap);
}

static void vectors_hold_structs(void **state)
{
    (void)state;
    typedef struct pair {
        int a, b;
    } pair;
    TG_VEC(pair) v = {0};
    tg_vec_push(&v, (pair){1, 2});
    tg_vec_push(&v, (pair){.a = 3, .b = 4});
    assert_int_equal(v.v[1].b, 4);
    tg_vec_free(&v);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(strings_grow),
    cmocka_unit_test(xml_is_escaped),
    cmocka_unit_test(prefixes_and_suffixes),
    cmocka_unit_test(bytes_have_units),
    cmocka_unit_test(files_are_written_and_read),
    cmocka_unit_test(written_files_have_the_usual_mode),
    cmocka_unit_test(large_files_are_refused),
    cmocka_unit_test(only_files_are_read),
    cmocka_unit_test(pipes_of_a_shell_are_read),
    cmocka_unit_test(bad_paths_are_named),
    cmocka_unit_test(failed_writes_leave_nothing),
    cmocka_unit_test(vectors_keep_their_order),
    cmocka_unit_test(vectors_hold_structs),
};
UNIT_MAIN(tests)
