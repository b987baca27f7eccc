/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rule_set.h"

#include "engine/base/str.h"
#include "rule_taso.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 16 << 20 };
#define ON_REQUEST "generated.rules" /* hundreds of small steps: loaded where it is named */

/* A selection shares the rules of the set that it was made from and keeps it alive. */
struct tg_rules {
    atomic_int refs;
    tg_arena *arena;  /* NULL in a selection */
    tg_rules *parent; /* NULL unless a selection */
    rule_vec rules;
};

static tg_rules *rules_new(tg_arena *arena)
{
    tg_rules *rules = tg_calloc(1, sizeof *rules);
    atomic_init(&rules->refs, 1);
    rules->arena = arena;
    return rules;
}

tg_rules *tg_rules_ref(const tg_rules *rules)
{
    tg_rules *r = (tg_rules *)rules;
    atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
    return r;
}

void tg_rules_unref(const tg_rules *rules)
{
    tg_rules *r = (tg_rules *)rules;
    if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1) return;
    tg_vec_free(&r->rules);
    tg_arena_free(r->arena);
    tg_rules_unref(r->parent);
    free(r);
}

int tg_rules_count(const tg_rules *rules)
{
    return (int)rules->rules.n;
}

const tg_rule *tg_rules_rule(const tg_rules *rules, int i)
{
    return rules->rules.v[i];
}

const tg_rule_info *tg_rules_get(const tg_rules *rules, int i)
{
    return &rules->rules.v[i]->info;
}

int tg_rules_find(const tg_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->rules.n; i++)
        if (strcmp(rules->rules.v[i]->info.name, name) == 0) return (int)i;
    return -1;
}

tg_rules *tg_rules_select(const tg_rules *rules, bool (*keep)(void *ctx, const tg_rule_info *info),
                          void *ctx)
{
    tg_rules *out = rules_new(NULL);
    out->parent = tg_rules_ref(rules);
    for (size_t i = 0; i < rules->rules.n; i++)
        if (keep(ctx, &rules->rules.v[i]->info)) tg_vec_push(&out->rules, rules->rules.v[i]);
    return out;
}

tg_status tg_rules_parse(const char *text, const char *file, tg_rules **out)
{
    tg_rules *rules = rules_new(tg_arena_new());
    tg_status status = rule_parse_text(rules->arena, text, file, false, &rules->rules);
    if (status == TG_OK) *out = rules;
    else tg_rules_unref(rules);
    return status;
}

/* TASO's rules come as paragraphs. */
static tg_status load_taso(tg_rules *rules, const char *path, const char *data, size_t size)
{
    tg_str text = {0};
    tg_status status = taso_file_text(data, size, path, &text);
    if (status == TG_OK)
        status = rule_parse_text(rules->arena, tg_str_text(&text), path, true, &rules->rules);
    tg_str_free(&text);
    return status;
}

static tg_status load_file(tg_rules *rules, const char *path)
{
    char *text;
    size_t size;
    TG_TRY(tg_read_file(path, LARGEST_FILE, &text, &size));
    tg_status status = tg_ends_with(path, ".pb") ? load_taso(rules, path, text, size)
                       : strlen(text) < size
                           ? tg_fail(TG_RULE, "%s: not a text file", path)
                           : rule_parse_text(rules->arena, text, path, false, &rules->rules);
    free(text);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef TG_VEC(char *) path_vec;

static void close_folder(void *dir)
{
    closedir(dir);
}

static tg_status list_folder(const char *folder, path_vec *paths)
{
    DIR *dir = opendir(folder);
    if (!dir) return tg_fail(TG_IO, "%s: %s", folder, strerror(errno));
    tg_unwind_push(close_folder, dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !tg_ends_with(entry->d_name, ".rules")) continue;
        if (strcmp(entry->d_name, ON_REQUEST) == 0) continue;
        tg_str path = {0};
        tg_str_addf(&path, "%s/%s", folder, entry->d_name);
        tg_vec_push(paths, path.p);
    }
    tg_unwind_pop(dir);
    closedir(dir);
    if (paths->n) qsort(paths->v, paths->n, sizeof *paths->v, by_name);
    return paths->n ? TG_OK : tg_fail(TG_IO, "%s: holds no .rules file", folder);
}

static tg_status load_path(tg_rules *rules, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) return tg_fail(TG_IO, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return load_file(rules, path);
    path_vec paths = {0};
    tg_status status = list_folder(path, &paths);
    for (size_t i = 0; i < paths.n; i++) {
        if (status == TG_OK) status = load_file(rules, paths.v[i]);
        free(paths.v[i]);
    }
    tg_vec_free(&paths);
    return status;
}

tg_status tg_rules_load(const char *const *paths, int n, tg_rules **out)
{
    const char *standard = tg_rules_default_dir();
    if (!n) paths = &standard, n = 1;
    tg_rules *rules = rules_new(tg_arena_new());
    tg_status status = TG_OK;
    for (int i = 0; i < n && status == TG_OK; i++) status = load_path(rules, paths[i]);
    if (status == TG_OK) *out = rules;
    else tg_rules_unref(rules);
    return status;
}

#ifndef RULES_SOURCE_DIR
#define RULES_SOURCE_DIR "rules"
#endif
#ifndef RULES_INSTALL_DIR
#define RULES_INSTALL_DIR "/usr/local/share/regraft/rules"
#endif

const char *tg_rules_default_dir(void)
{
    struct stat st;
    const char *env = getenv("REGRAFT_RULES");
    if (env && *env) return env;
    if (stat(RULES_SOURCE_DIR, &st) == 0 && S_ISDIR(st.st_mode)) return RULES_SOURCE_DIR;
    return RULES_INSTALL_DIR;
}
