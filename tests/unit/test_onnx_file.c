/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors in files of their own, and those that a model keeps beside it. */
#include "tests/unit/onnx_bytes.h"

#include "engine/onnx/export.h"
#include <sys/stat.h>

/* ---- tensors as files ---- */

static void round_trip(tg_dtype dtype, const tg_shape *shape, void *data)
{
    char path[4096], *name = NULL;
    tg_tensor t = {dtype, *shape, data}, back = {0};
    snprintf(path, sizeof path, "%s", unit_temporary("t.pb"));
    assert_ok(tg_onnx_write_tensor(path, "a name", &t));
    assert_ok(tg_onnx_read_tensor(path, &back, &name));
    assert_string_equal(name, "a name");
    assert_int_equal(back.dtype, dtype);
    assert_true(tg_shape_equal(&back.shape, shape));
    if (dtype != TG_STR) assert_memory_equal(back.data, data, tg_tensor_bytes(&t));
    for (int64_t i = 0; dtype == TG_STR && i < tg_tensor_count(&t); i++) {
        tg_string *want = (tg_string *)data + i, *got = (tg_string *)back.data + i;
        assert_int_equal(got->n, want->n);
        assert_memory_equal(got->p, want->p, want->n);
    }
    free(name);
    tg_tensor_free(&back);
}

static void tensors_go_round(void **state)
{
    static unsigned char bytes[512];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7);
    tg_shape small = tg_shape_of(2, 3), scalar = {.rank = 0}, none = tg_shape_of(0, 4);
    for (int t = 1; t < TG_DTYPE_COUNT; t++) {
        if (!tg_dtype_size((tg_dtype)t) || t == TG_STR) continue;
        unsigned char values[sizeof bytes];
        memcpy(values, bytes, sizeof bytes);
        if (tg_dtype_bits((tg_dtype)t) < 8) /* an element fills only some bits of its byte */
            for (size_t i = 0; i < sizeof bytes; i++)
                values[i] = tg_narrow_is_float((tg_dtype)t)
                                ? bytes[i] & ((1 << tg_dtype_bits((tg_dtype)t)) - 1)
                                : tg_narrow_int((tg_dtype)t, bytes[i]);
        round_trip((tg_dtype)t, &small, values);
        round_trip((tg_dtype)t, &scalar, values);
        round_trip((tg_dtype)t, &none, values);
    }
    tg_string text[] = {{"one", 3}, {"", 0}, {"a\0b", 3}};
    tg_shape three = tg_shape_of(3);
    round_trip(TG_STR, &three, text);
}

static void bad_tensor_files(void **state)
{
    tg_tensor t;
    (void)state;
    assert_status(tg_onnx_read_tensor(unit_temporary("absent.pb"), &t, NULL), TG_IO);
    assert_ok(tg_write_file(unit_temporary("short.pb"), "\x08\x04\x10\x01\x4a\x02\0\0", 8));
    assert_status(tg_onnx_read_tensor(unit_temporary("short.pb"), &t, NULL), TG_INVALID);
    assert_contains(tg_message(), "needs 16 bytes, 2 are there");
    assert_contains(tg_message(), "short.pb");
    assert_ok(tg_write_file(unit_temporary("kind.pb"), "\x10\x1d", 2));
    assert_status(tg_onnx_read_tensor(unit_temporary("kind.pb"), &t, NULL), TG_UNSUPPORTED);
}

/* ---- external data ---- */

static void write_model(const char *path, const char *location, const char *offset)
{
    tg_str g = part_graph("g"), t = {0}, at = {0}, from = {0};
    put_int(&t, 1, 3);
    put_int(&t, 2, 1);
    put_text(&t, 8, "w");
    put_text(&at, 1, "location");
    put_text(&at, 2, location);
    put_part(&t, 13, at);
    put_text(&from, 1, "offset");
    put_text(&from, 2, offset);
    put_part(&t, 13, from);
    put_int(&t, 14, 1);
    put_part(&g, IN_INPUT, part_info("x", 1, "2,3"));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "2,3"));
    put_part(&g, IN_TENSOR, t);
    put_part(&g, IN_NODE, part_node("Add", "", "x,w", "y"));
    tg_str m = part_model(8, 13, g);
    assert_ok(tg_write_file(path, m.p, m.n));
    tg_str_free(&m);
}

static char model_path[4096];

/* A folder with a model below it, data in it and beside it, and links. */
static void lay_out(void)
{
    static const float w[] = {0, 1, 2, 3, 4, 5};
    mkdir(unit_temporary("outer"), 0700);
    mkdir(unit_temporary("outer/model"), 0700);
    mkdir(unit_temporary("outer/model/sub"), 0700);
    snprintf(model_path, sizeof model_path, "%s", unit_temporary("outer/model/m.onnx"));
    assert_ok(tg_write_file(unit_temporary("outer/model/sub/w.bin"), w, sizeof w));
    assert_ok(tg_write_file(unit_temporary("outer/secret"), w, sizeof w));
    unlink(unit_temporary("outer/model/link"));
    unlink(unit_temporary("outer/model/inside"));
    assert_int_equal(symlink("../secret", unit_temporary("outer/model/link")), 0);
    assert_int_equal(symlink("sub/w.bin", unit_temporary("outer/model/inside")), 0);
}

static void refuses(const char *location, const char *offset, tg_status want, const char *needle)
{
    tg_graph *g;
    write_model(model_path, location, offset);
    assert_status(tg_onnx_load(model_path, NULL, &g), want);
    assert_contains(tg_message(), "tensor w");
    assert_contains(tg_message(), needle);
}

static void external_data_lies_inside(void **state)
{
    static const char *const good[] = {"sub/w.bin", "inside", "./sub/w.bin"};
    (void)state;
    lay_out();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        tg_graph *g;
        write_model(model_path, good[i], "12");
        assert_ok(tg_onnx_load(model_path, NULL, &g));
        tg_tensor t = tg_node_tensor(tg_graph_maker(g, maker(g, 0)->in[1]));
        assert_true(tg_tensor_f64(&t, 0) == 3 && tg_tensor_f64(&t, 2) == 5);
        tg_graph_unref(g);
    }
}

/* Ways out of the folder that are not spelled with dots, and things that are no files. */
static void links_and_devices_are_refused(void **state)
{
    (void)state;
    lay_out();
    unlink(unit_temporary("outer/model/up"));
    unlink(unit_temporary("outer/model/proc"));
    unlink(unit_temporary("outer/model/null"));
    unlink(unit_temporary("outer/model/loop"));
    assert_int_equal(symlink("..", unit_temporary("outer/model/up")), 0);
    assert_int_equal(symlink("/proc/self", unit_temporary("outer/model/proc")), 0);
    assert_int_equal(symlink("/dev/zero", unit_temporary("outer/model/null")), 0);
    assert_int_equal(symlink("loop", unit_temporary("outer/model/loop")), 0);
    assert_int_equal(mkfifo(unit_temporary("outer/model/fifo"), 0600), 0);
    refuses("up/secret", "0", TG_INVALID, "link");
    refuses("up/model/sub/../../secret", "0", TG_INVALID, "outside");
    refuses("proc/exe", "0", TG_INVALID, "link");
    refuses("proc/cwd/secret", "0", TG_IO, "proc");
    refuses("/proc/self/environ", "0", TG_INVALID, "outside");
    refuses("null", "0", TG_INVALID, "link");
    refuses("loop", "0", TG_IO, "loop");
    refuses("fifo", "0", TG_IO, "not a regular file");
    refuses("sub\\w.bin", "0", TG_INVALID, "outside");
    refuses("..", "0", TG_INVALID, "outside");
    refuses("./../secret", "0", TG_INVALID, "outside");
    refuses("sub//..//..//secret", "0", TG_INVALID, "outside");
    /* A folder of the same beginning is another folder. */
    mkdir(unit_temporary("outer/model2"), 0700);
    static const float w[6] = {0};
    assert_ok(tg_write_file(unit_temporary("outer/model2/w.bin"), w, sizeof w));
    unlink(unit_temporary("outer/model/beside"));
    assert_int_equal(symlink("../model2/w.bin", unit_temporary("outer/model/beside")), 0);
    refuses("beside", "0", TG_INVALID, "link");
}

static void is_unharmed(const char *path)
{
    char *bytes;
    size_t n;
    assert_ok(tg_read_file(path, 100, &bytes, &n));
    assert_true(n == 8 && memcmp(bytes, "precious", 8) == 0);
    free(bytes);
}

/* What is written replaces links by files; where they lead nothing is touched. */
static void saving_follows_no_links(void **state)
{
    static float w[600];
    char out[4096], data[4200];
    tg_graph *g;
    (void)state;
    lay_out();
    assert_ok(tg_write_file(unit_temporary("outer/precious"), "precious", 8));
    snprintf(out, sizeof out, "%s", unit_temporary("outer/model/out.onnx"));
    snprintf(data, sizeof data, "%s.data", out);
    assert_int_equal(symlink("../precious", out), 0);
    assert_int_equal(symlink("../precious", data), 0);
    tg_str graph = part_graph("g");
    put_part(&graph, IN_INPUT, part_info("x", 1, "600"));
    put_part(&graph, IN_OUTPUT, part_info("y", 1, "600"));
    put_part(&graph, IN_TENSOR, part_tensor("w", 1, "600", w, sizeof w));
    put_part(&graph, IN_NODE, part_node("Add", "", "x,w", "y"));
    tg_str m = part_model(8, 13, graph);
    assert_ok(tg_onnx_load_memory(m.p, m.n, "model", NULL, &g));
    assert_ok(tg_onnx_save_split(g, out, 100));
    is_unharmed(unit_temporary("outer/precious"));
    struct stat st;
    assert_true(lstat(out, &st) == 0 && S_ISREG(st.st_mode));
    assert_true(lstat(data, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof w);
    tg_graph_unref(g);
    assert_ok(tg_onnx_load(out, NULL, &g));
    tg_graph_unref(g);
    tg_str_free(&m);
}

static void external_data_outside_is_refused(void **state)
{
    (void)state;
    lay_out();
    refuses("../secret", "0", TG_INVALID, "outside");
    refuses("sub/../../secret", "0", TG_INVALID, "outside");
    refuses("/etc/passwd", "0", TG_INVALID, "outside");
    refuses("link", "0", TG_INVALID, "link");
    refuses("absent", "0", TG_IO, "absent");
    refuses("sub", "0", TG_IO, "folder");
    refuses("sub/w.bin", "16", TG_INVALID, "24 bytes");
    refuses("sub/w.bin", "-8", TG_INVALID, "offset");
    refuses("sub/w.bin", "18446744073709551600", TG_INVALID, "24 bytes");
    tg_str m = {0};
    char *bytes;
    tg_graph *g;
    write_model(model_path, "sub/w.bin", "0");
    assert_ok(tg_read_file(model_path, 1 << 20, &bytes, &m.n));
    assert_status(tg_onnx_load_memory(bytes, m.n, "memory", NULL, &g), TG_INVALID);
    free(bytes);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(tensors_go_round),
                                          cmocka_unit_test(bad_tensor_files),
                                          cmocka_unit_test(external_data_lies_inside),
                                          cmocka_unit_test(external_data_outside_is_refused),
                                          cmocka_unit_test(links_and_devices_are_refused),
                                          cmocka_unit_test(saving_follows_no_links)};

UNIT_MAIN(tests)
