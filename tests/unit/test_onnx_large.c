/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Models over 2 GB: files with a hole of that size, inside the model or beside it. They are mapped,
 * so that opening them takes no memory, and saved with a second file.
 */
#include "tests/unit/onnx_bytes.h"

#include "engine/exec/reference.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { COLUMNS = 1024, ROWS = 537200, MOST_KB = 100 << 10 };
#define BYTES ((off_t)ROWS * COLUMNS * 4)

/* w[i] for w:[ROWS,COLUMNS], whose last element is 7 and all others 0. */
static tg_str rest_of_graph(void)
{
    tg_str g = part_graph("g");
    put_part(&g, IN_INPUT, part_info("i", 7, "2"));
    put_part(&g, IN_OUTPUT, part_info("y", 1, "2,1024"));
    put_part(&g, IN_NODE, part_node("Gather", "", "w,i", "y"));
    return g;
}

static tg_str start_of_tensor(void)
{
    tg_str t = {0};
    put_int(&t, 1, ROWS);
    put_int(&t, 1, COLUMNS);
    put_int(&t, 2, 1);
    put_text(&t, 8, "w");
    return t;
}

/* Only the beginning and the last element take room on the disk. */
static void write_with_hole(const char *path, const char *start, size_t n, off_t size)
{
    static const float seven = 7;
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, start, n, 0), n);
    assert_int_equal(pwrite(fd, &seven, sizeof seven, size - (off_t)sizeof seven), sizeof seven);
    close(fd);
}

/* The lengths of all that the hole lies in are known beforehand: it comes last. */
static void write_inside(const char *path)
{
    tg_str tensor = start_of_tensor(), graph = rest_of_graph(), model = {0};
    put_varint(&tensor, 9 << 3 | 2);
    put_varint(&tensor, (uint64_t)BYTES);
    put_varint(&graph, IN_TENSOR << 3 | 2);
    put_varint(&graph, tensor.n + (uint64_t)BYTES);
    tg_str_addn(&graph, tensor.p, tensor.n);
    put_int(&model, 1, 8);
    put_opset(&model, "", 13);
    put_varint(&model, 7 << 3 | 2);
    put_varint(&model, graph.n + (uint64_t)BYTES);
    tg_str_addn(&model, graph.p, graph.n);
    write_with_hole(path, model.p, model.n, (off_t)model.n + BYTES);
    tg_str_free(&tensor);
    tg_str_free(&graph);
    tg_str_free(&model);
}

static void put_entry(tg_str *tensor, const char *key, const char *value)
{
    tg_str e = {0};
    put_text(&e, 1, key);
    put_text(&e, 2, value);
    put_part(tensor, 13, e);
}

static void write_beside(const char *path, const char *data)
{
    tg_str tensor = start_of_tensor(), graph = rest_of_graph();
    put_entry(&tensor, "location", strrchr(data, '/') + 1);
    put_entry(&tensor, "offset", "4096");
    put_int(&tensor, 14, 1);
    put_part(&graph, IN_TENSOR, tensor);
    tg_str model = part_model(8, 13, graph);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(model.p, 1, model.n, f), model.n);
    fclose(f);
    tg_str_free(&model);
    write_with_hole(data, "", 0, 4096 + BYTES);
}

static long peak_kb(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static void holds_its_values(const tg_graph *g)
{
    int64_t rows[2] = {0, ROWS - 1};
    tg_tensor in = {TG_I64, tg_shape_of(2), rows}, out;
    assert_ok(tg_reference_run(g, &in, &out));
    assert_true(tg_tensor_f64(&out, 0) == 0);
    assert_true(tg_tensor_f64(&out, 2 * COLUMNS - 2) == 0);
    assert_true(tg_tensor_f64(&out, 2 * COLUMNS - 1) == 7);
    tg_tensor_free(&out);
}

static void opens_in_little_memory(const char *path)
{
    tg_graph *g;
    long before = peak_kb();
    assert_ok(tg_onnx_load(path, NULL, &g));
    assert_ok(tg_check(g));
    holds_its_values(g);
    tg_graph_unref(g);
    long more = peak_kb() - before;
    if (more > MOST_KB) fail_msg("%s took %ld KB", path, more);
}

static void tensors_inside(void **state)
{
    (void)state;
    write_inside(unit_temporary("inside.onnx"));
    opens_in_little_memory(unit_temporary("inside.onnx"));
}

static void tensors_beside(void **state)
{
    (void)state;
    write_beside(unit_temporary("beside.onnx"), unit_temporary("beside.bin"));
    opens_in_little_memory(unit_temporary("beside.onnx"));
    assert_int_equal(truncate(unit_temporary("beside.bin"), 4000 + BYTES), 0);
    tg_graph *g;
    assert_status(tg_onnx_load(unit_temporary("beside.onnx"), NULL, &g), TG_INVALID);
    assert_contains(tg_message(), "external data \"beside.bin\"");
}

/* What was mapped from one file goes to a second file of another. */
static void saving_makes_a_second_file(void **state)
{
    (void)state;
    tg_graph *g;
    struct stat model, data;
    char path[4096];
    snprintf(path, sizeof path, "%s", unit_temporary("saved.onnx"));
    write_inside(unit_temporary("origin.onnx"));
    assert_ok(tg_onnx_load(unit_temporary("origin.onnx"), NULL, &g));
    assert_ok(tg_onnx_save(g, path));
    tg_graph_unref(g);
    assert_int_equal(stat(path, &model), 0);
    assert_int_equal(stat(unit_temporary("saved.onnx.data"), &data), 0);
    assert_true(model.st_size < 4096);
    assert_true(data.st_size == BYTES);
    assert_true(data.st_blocks < 4096); /* nothing but zeros: a hole again */
    assert_ok(tg_onnx_load(path, NULL, &g));
    holds_its_values(g);
    tg_graph_unref(g);
}

static const char *why_not(void)
{
    static char why[300];
    struct statvfs disk;
    struct stat st;
    struct rlimit limit;
    const char *path = unit_temporary("probe");
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (sizeof(void *) < 8) return "addresses of 32 bits";
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < (rlim_t)(8ull << 30))
        return "the address space is limited";
    if (sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) < 4ll << 30)
        return "less than 4 GB of memory";
    if (fd < 0 || ftruncate(fd, BYTES) != 0 || fstat(fd, &st) != 0) {
        snprintf(why, sizeof why, "no files of 2.2 GB in %s", unit_folder);
        return why;
    }
    close(fd);
    unlink(path);
    if (st.st_blocks > 4096) return "the file system has no holes";
    if (statvfs(unit_folder, &disk) == 0 && (double)disk.f_bavail * (double)disk.f_frsize < 3e9)
        return "less than 3 GB of disk";
    return NULL;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tensors_inside),
    cmocka_unit_test(tensors_beside),
    cmocka_unit_test(saving_makes_a_second_file),
};
UNIT_MAIN_IF(tests, why_not())
