/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A main for fuzz targets without libFuzzer: fuzz_NAME_replay runs each file of
 * tests/fuzz/corpus/NAME, or of the arguments, as it is and with a few changes drawn from a seed.
 * One line of TAP a file. A crash, an abort or a leak ends the program, which fails the test.
 */
#include "fuzz.h"

#include "engine/base/rng.h"
#include "engine/base/str.h"
#include "engine/base/vec.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

enum { CHANGES = 24, LARGEST = 1 << 20, ROOM = 1 << 16 };

static tg_rng *rng;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    if (!size) return 0;
    size_t at = tg_rng_below(rng, size), n = 1 + tg_rng_below(rng, 8);
    if (n > size - at) n = size - at;
    switch (tg_rng_below(rng, 5)) {
    case 0: data[at] ^= (uint8_t)(1u << tg_rng_below(rng, 8)); return size;
    case 1: data[at] = (uint8_t)tg_rng_below(rng, 256); return size;
    case 2: memmove(data + at, data + at + n, size - at - n); return size - n;
    case 3:
        if (size + n > most) return size;
        memmove(data + at + n, data + at, size - at);
        return size + n;
    default: return at;
    }
}

static bool read_whole(const char *path, char **bytes, size_t *size)
{
    if (tg_read_file(path, LARGEST, bytes, size) == TG_OK) return true;
    printf("# %s\n", tg_message());
    return false;
}

static void replay(const char *path, int number)
{
    char *bytes;
    size_t size;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    if (!read_whole(path, &bytes, &size)) {
        printf("not ok %d - %s\n", number, base);
        return;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    uint8_t *copy = tg_malloc(size + ROOM);
    for (int i = 0; i < CHANGES; i++) {
        memcpy(copy, bytes, size);
        size_t n = LLVMFuzzerCustomMutator(copy, size, size + ROOM, (unsigned)tg_rng_u64(rng));
        uint8_t *exact = tg_memdup(copy, n); /* so that a sanitizer sees a read behind the end */
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    free(copy);
    free(bytes);
    printf("ok %d - %s\n", number, base);
}

typedef TG_VEC(char *) path_vec;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_corpus(const char *program, path_vec *paths)
{
    const char *root = getenv("REGRAFT_SOURCE"), *name = strstr(program, "fuzz_");
    char folder[4096];
    int n = (int)strcspn(name ? name + 5 : "", "_");
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%.*s", root ? root : ".", n,
             name ? name + 5 : "");
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        tg_str path = {0};
        if (entry->d_name[0] == '.') continue;
        tg_str_addf(&path, "%s/%s", folder, entry->d_name);
        tg_vec_push(paths, path.p);
    }
    if (dir) closedir(dir);
    if (paths->n) qsort(paths->v, paths->n, sizeof *paths->v, by_name);
}

int main(int argc, char **argv)
{
    path_vec paths = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) tg_vec_push(&paths, tg_strdup(argv[i]));
    if (argc < 2) list_corpus(strrchr(argv[0], '/') ? strrchr(argv[0], '/') : argv[0], &paths);
    for (size_t i = 0; i < paths.n; i++) {
        rng = tg_rng_new(i);
        replay(paths.v[i], (int)i + 1);
        tg_rng_free(rng);
        free(paths.v[i]);
    }
    if (!paths.n) puts("not ok 1 - there is no corpus");
    printf("1..%zu\n", paths.n ? paths.n : 1);
    tg_vec_free(&paths);
    return 0;
}
