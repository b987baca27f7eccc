/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hash.h"

#include <stdlib.h>
#include <string.h>

typedef struct tg_map_slot {
    uint64_t key, value;
    bool used;
} map_slot;

typedef struct tg_strmap_slot {
    uint64_t hash, value;
    char *key; /* NULL: free slot */
} str_slot;

uint64_t tg_hash_bytes(uint64_t h, const void *p, size_t n)
{
    const unsigned char *b = p;
    uint64_t word;
    h = tg_hash_add(h, n);
    for (; n >= 8; b += 8, n -= 8) {
        memcpy(&word, b, 8);
        h = (h ^ tg_mix(word)) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
    }
    word = 0;
    if (n) memcpy(&word, b, n);
    return tg_hash_add(h, word);
}

uint64_t tg_hash_str(uint64_t h, const char *s)
{
    return tg_hash_bytes(h, s, strlen(s));
}

/* Slot that holds key or the free slot where it would go; the table is never full. */
static map_slot *map_seek(const tg_map *map, uint64_t key)
{
    size_t i = (size_t)tg_mix(key) & (map->cap - 1);
    while (map->slots[i].used && map->slots[i].key != key) i = (i + 1) & (map->cap - 1);
    return &map->slots[i];
}

static void map_grow(tg_map *map)
{
    tg_map old = *map;
    size_t cap = old.cap ? old.cap * 2 : 16;
    map->slots = tg_calloc(cap, sizeof *map->slots); /* may not return: the map must stay whole */
    map->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].used) *map_seek(map, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint64_t *tg_map_find(const tg_map *map, uint64_t key)
{
    if (!map->n) return NULL;
    map_slot *slot = map_seek(map, key);
    return slot->used ? &slot->value : NULL;
}

uint64_t *tg_map_put(tg_map *map, uint64_t key, bool *fresh)
{
    if (map->n * 4 >= map->cap * 3) map_grow(map);
    map_slot *slot = map_seek(map, key);
    if (fresh) *fresh = !slot->used;
    if (!slot->used) {
        *slot = (map_slot){key, 0, true};
        map->n++;
    }
    return &slot->value;
}

void tg_map_free(tg_map *map)
{
    free(map->slots);
    *map = (tg_map){0};
}

static str_slot *strmap_seek(const tg_strmap *map, uint64_t hash, const char *key)
{
    size_t i = (size_t)hash & (map->cap - 1);
    while (map->slots[i].key && (map->slots[i].hash != hash || strcmp(map->slots[i].key, key) != 0))
        i = (i + 1) & (map->cap - 1);
    return &map->slots[i];
}

static void strmap_grow(tg_strmap *map)
{
    tg_strmap old = *map;
    size_t cap = old.cap ? old.cap * 2 : 16;
    map->slots = tg_calloc(cap, sizeof *map->slots);
    map->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].key) *strmap_seek(map, old.slots[i].hash, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint64_t *tg_strmap_find(const tg_strmap *map, const char *key)
{
    if (!map->n) return NULL;
    str_slot *slot = strmap_seek(map, tg_hash_str(0, key), key);
    return slot->key ? &slot->value : NULL;
}

uint64_t *tg_strmap_put(tg_strmap *map, const char *key, bool *fresh)
{
    if (map->n * 4 >= map->cap * 3) strmap_grow(map);
    uint64_t hash = tg_hash_str(0, key);
    str_slot *slot = strmap_seek(map, hash, key);
    if (fresh) *fresh = !slot->key;
    if (!slot->key) {
        *slot = (str_slot){hash, 0, tg_strdup(key)};
        map->n++;
    }
    return &slot->value;
}

void tg_strmap_free(tg_strmap *map)
{
    for (size_t i = 0; i < map->cap; i++) free(map->slots[i].key);
    free(map->slots);
    *map = (tg_strmap){0};
}
