/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "keymap.h"

#include <stdlib.h>
#include <string.h>

/* Exactly one of command and map is set. */
typedef struct slot {
    ui_key key;
    const ui_command *command;
    ui_keymap *map;
} slot;

/* Invariant: slots have different keys, in the order they were bound. */
struct ui_keymap {
    char *name;
    const ui_keymap *parent;
    TG_VEC(slot) slots;
};

ui_keymap *ui_keymap_new(const char *name, const ui_keymap *parent)
{
    ui_keymap *map = tg_calloc(1, sizeof *map);
    map->name = tg_strdup(name);
    map->parent = parent;
    return map;
}

void ui_keymap_free(ui_keymap *map)
{
    if (!map) return;
    for (size_t i = 0; i < map->slots.n; i++) ui_keymap_free(map->slots.v[i].map);
    tg_vec_free(&map->slots);
    free(map->name);
    free(map);
}

const char *ui_keymap_map_name(const ui_keymap *map)
{
    return map->name;
}

const ui_keymap *ui_keymap_parent(const ui_keymap *map)
{
    return map->parent;
}

static slot *find_slot(const ui_keymap *map, ui_key key)
{
    for (size_t i = 0; i < map->slots.n; i++) {
        if (map->slots.v[i].key == key) return &map->slots.v[i];
    }
    return NULL;
}

static slot *put_slot(ui_keymap *map, ui_key key)
{
    slot *s = find_slot(map, key);
    if (s) return s;
    tg_vec_push(&map->slots, (slot){.key = key});
    return &tg_vec_last(&map->slots);
}

tg_status ui_keymap_bind(ui_keymap *map, const char *keys, const char *name)
{
    ui_key seq[UI_MAX_KEYS];
    int n;
    const ui_command *command = ui_command_find(name);
    if (!command) return tg_fail(TG_NOTFOUND, "%s: no command is called %s", keys, name);
    TG_TRY(ui_keys_parse(keys, seq, UI_MAX_KEYS, &n));
    if (!n) return tg_fail(TG_USAGE, "no key for %s", name);
    for (int i = 0; i + 1 < n; i++) {
        slot *s = put_slot(map, seq[i]);
        if (s->command) return tg_fail(TG_USAGE, "%s starts with a key that is no prefix", keys);
        if (!s->map) s->map = ui_keymap_new(map->name, NULL);
        map = s->map;
    }
    slot *s = put_slot(map, seq[n - 1]);
    if (s->map) return tg_fail(TG_USAGE, "%s is a prefix", keys);
    s->command = command;
    return TG_OK;
}

tg_status ui_keymap_bind_table(ui_keymap *map, const ui_key_row *rows)
{
    for (; rows && rows->keys; rows++) TG_TRY(ui_keymap_bind(map, rows->keys, rows->command));
    return TG_OK;
}

static ui_binding lookup_here(const ui_keymap *map, const ui_key *keys, int n)
{
    for (int i = 0; i < n; i++) {
        const slot *s = find_slot(map, keys[i]);
        if (!s) break;
        if (i + 1 == n) return (ui_binding){s->command, s->map != NULL};
        if (!s->map) break;
        map = s->map;
    }
    return (ui_binding){0};
}

ui_binding ui_keymap_lookup(const ui_keymap *map, const ui_key *keys, int n,
                            const ui_keymap **where)
{
    for (; map; map = map->parent) {
        ui_binding b = lookup_here(map, keys, n);
        if (!b.command && !b.prefix) continue;
        if (where) *where = map;
        return b;
    }
    return (ui_binding){0};
}

static void each_below(const ui_keymap *map, ui_key *keys, int n, ui_keymap_fn fn, void *ctx)
{
    for (size_t i = 0; i < map->slots.n && n < UI_MAX_KEYS; i++) {
        const slot *s = &map->slots.v[i];
        keys[n] = s->key;
        if (s->command) fn(ctx, keys, n + 1, s->command);
        else each_below(s->map, keys, n + 1, fn, ctx);
    }
}

void ui_keymap_each(const ui_keymap *map, const ui_key *prefix, int n, ui_keymap_fn fn, void *ctx)
{
    ui_key keys[UI_MAX_KEYS];
    for (int i = 0; i < n; i++) {
        const slot *s = find_slot(map, prefix[i]);
        if (!s || !s->map) return;
        map = s->map;
        keys[i] = prefix[i];
    }
    each_below(map, keys, n, fn, ctx);
}
