/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "weight.h"

#include "hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASHED_WHOLE = 1 << 16, SAMPLES = 64 };

static uint64_t content_hash(const unsigned char *p, size_t n, uint64_t salt)
{
    if (n <= HASHED_WHOLE) return tg_hash_bytes(1, p, n);
    uint64_t h = tg_hash_add(tg_hash_bytes(2, p, 1024), salt);
    for (size_t i = 1; i < SAMPLES; i++) h = tg_hash_bytes(h, p + (n - 64) / SAMPLES * i, 64);
    return tg_hash_add(h, n);
}

static tg_weight *weight_new(const void *data, size_t size, uint64_t salt, void (*release)(void *),
                             void *owner)
{
    tg_weight *w = tg_malloc(sizeof *w);
    atomic_init(&w->refs, 1);
    w->size = size;
    w->data = data;
    w->release = release;
    w->owner = owner;
    w->hash = content_hash(data, size, salt);
    return w;
}

tg_weight *tg_weight_own(void *data, size_t size)
{
    /* Owned bytes are in memory already: hash them all, no salt needed. */
    tg_weight *w = weight_new(data, size, 0, free, data);
    if (size > HASHED_WHOLE) w->hash = tg_hash_bytes(1, data, size);
    return w;
}

tg_weight *tg_weight_copy(const void *data, size_t size)
{
    return tg_weight_own(tg_memdup(data, size), size);
}

tg_weight *tg_weight_wrap(const void *data, size_t size, uint64_t salt, void (*release)(void *),
                          void *owner)
{
    return weight_new(data, size, salt, release, owner);
}

tg_weight *tg_weight_ref(tg_weight *w)
{
    atomic_fetch_add_explicit(&w->refs, 1, memory_order_relaxed);
    return w;
}

void tg_weight_unref(tg_weight *w)
{
    if (!w || atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) != 1) return;
    if (w->release) w->release(w->owner);
    free(w);
}

static tg_status map_fd(const char *path, int fd, tg_mapping *m)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return tg_fail(TG_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return tg_fail(TG_IO, "%s: is a folder", path);
    if (!S_ISREG(st.st_mode)) return tg_fail(TG_IO, "%s: is not a regular file", path);
    void *data = NULL;
    if (st.st_size > 0) {
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) return tg_fail(TG_IO, "%s: %s", path, strerror(errno));
    }
    m->data = data;
    m->size = (size_t)st.st_size;
    return TG_OK;
}

/* Nothing is allocated while the file is open: its number would be lost with the memory. */
tg_status tg_mapping_open(const char *path, tg_mapping **mapping)
{
    tg_mapping *m = tg_malloc(sizeof *m);
    atomic_init(&m->refs, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    tg_status status =
        fd < 0 ? tg_fail(TG_IO, "%s: %s", path, strerror(errno)) : map_fd(path, fd, m);
    if (fd >= 0) close(fd);
    if (status == TG_OK) *mapping = m;
    else free(m);
    return status;
}

tg_mapping *tg_mapping_ref(tg_mapping *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void tg_mapping_unref(tg_mapping *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) return;
    if (m->size) munmap((void *)(uintptr_t)m->data, m->size);
    free(m);
}
