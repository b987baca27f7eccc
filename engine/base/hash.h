/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 64-bit hashing and two hash tables. Hashes are the same on every machine and in every run. */
#ifndef TG_BASE_HASH_H
#define TG_BASE_HASH_H

#include "alloc.h"

#include <stdbool.h>
#include <stdint.h>

/* A bijective, non-linear mix of 64 bits (the finaliser of SplitMix64, Steele et al. 2014). */
static inline uint64_t tg_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Adds `x` to a running hash; the order of the calls matters. */
static inline uint64_t tg_hash_add(uint64_t h, uint64_t x)
{
    return tg_mix(h * 0x9fb21c651e98df25u + tg_mix(x));
}

uint64_t tg_hash_bytes(uint64_t h, const void *p, size_t n);
uint64_t tg_hash_str(uint64_t h, const char *s);

/*
 * Map from 64-bit keys to 64-bit values; any key is allowed. Zero-initialise; free with
 * tg_map_free. Amortised O(1). Pointers returned are valid until the next put.
 */
typedef struct tg_map {
    struct tg_map_slot *slots;
    size_t n, cap;
} tg_map;

/* The value slot of `key`, or NULL. */
uint64_t *tg_map_find(const tg_map *map, uint64_t key);
/* The value slot of `key`, made with value 0 if it was absent; *fresh (may be NULL) tells. */
uint64_t *tg_map_put(tg_map *map, uint64_t key, bool *fresh);
void tg_map_free(tg_map *map);

/* Map from strings to 64-bit values. The map copies its keys. */
typedef struct tg_strmap {
    struct tg_strmap_slot *slots;
    size_t n, cap;
} tg_strmap;

uint64_t *tg_strmap_find(const tg_strmap *map, const char *key);
uint64_t *tg_strmap_put(tg_strmap *map, const char *key, bool *fresh);
void tg_strmap_free(tg_strmap *map);

#endif
