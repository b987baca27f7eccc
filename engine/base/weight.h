/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weights: immutable bytes with a reference count, owned or inside a mapped file, shared by all
 * graphs and threads. The hash identifies the content across runs: all bytes of a small weight; of
 * a large one the size, samples of the bytes and the caller's salt (its name), so that mapped files
 * are not read.
 */
#ifndef TG_BASE_WEIGHT_H
#define TG_BASE_WEIGHT_H

#include "alloc.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct tg_weight {
    atomic_int refs;
    size_t size; /* bytes */
    uint64_t hash;
    const void *data;         /* 16-byte aligned if owned, as the file has it if mapped */
    void (*release)(void *);  /* called with `owner` when the last reference goes */
    void *owner;
} tg_weight;

/* Takes over `data` from malloc. */
tg_weight *tg_weight_own(void *data, size_t size);
/* Copies. */
tg_weight *tg_weight_copy(const void *data, size_t size);
/* Refers to bytes inside something that `release(owner)` lets go, e.g. a mapped file. */
tg_weight *tg_weight_wrap(const void *data, size_t size, uint64_t salt, void (*release)(void *),
                          void *owner);
tg_weight *tg_weight_ref(tg_weight *w);
void tg_weight_unref(tg_weight *w); /* NULL is fine */

/* A read-only mapped file with a reference count. Errors: TG_IO. An empty file has size 0. */
typedef struct tg_mapping {
    atomic_int refs;
    const unsigned char *data;
    size_t size;
} tg_mapping;

tg_status tg_mapping_open(const char *path, tg_mapping **mapping) TG_MUST_USE;
tg_mapping *tg_mapping_ref(tg_mapping *m);
void tg_mapping_unref(tg_mapping *m); /* NULL is fine */

#endif
