/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where completions come from: files, buffers, commands, options, faces. */
#include "app.h"
#include "complete.h"
#include "help.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The start of what counts: after the last // or before the last /~. */
static const char *effective(const char *path)
{
    const char *from = path;
    for (const char *p = path; *p; p++) {
        if (p[0] == '/' && p[1] == '/') from = p + 1;
        if (p[0] == '/' && p[1] == '~') from = p + 1;
    }
    return from;
}

char *ui_expand_file(const char *path)
{
    path = effective(path);
    if (path[0] != '~' || (path[1] && path[1] != '/')) return tg_strdup(path);
    const char *home = getenv("HOME");
    tg_str s = {0};
    tg_str_addf(&s, "%s%s", home ? home : "", path + 1);
    return s.p;
}

static bool is_folder(const char *folder, const struct dirent *entry)
{
    struct stat st;
    tg_str s = {0};
    if (entry->d_type == DT_DIR) return true;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) return false;
    tg_str_addf(&s, "%s/%s", folder, entry->d_name);
    bool yes = stat(s.p, &st) == 0 && S_ISDIR(st.st_mode);
    tg_str_free(&s);
    return yes;
}

static void close_folder(void *dir)
{
    closedir(dir);
}

void ui_source_file(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    (void)ui, (void)ctx;
    const char *slash = strrchr(input, '/');
    out->base = slash ? (size_t)(slash - input) + 1 : 0;
    tg_str part = {0}, name = {0};
    tg_str_addn(&part, input, out->base);
    char *folder = ui_expand_file(out->base ? tg_str_text(&part) : ".");
    DIR *dir = opendir(folder);
    if (dir) tg_unwind_push(close_folder, dir);
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (e->d_name[0] == '.' && input[out->base] != '.') continue;
        tg_str_clear(&name);
        tg_str_addf(&name, "%s%s", e->d_name, is_folder(folder, e) ? "/" : "");
        ui_choices_add(out, name.p, NULL);
    }
    if (dir) {
        tg_unwind_pop(dir);
        closedir(dir);
    }
    free(folder);
    tg_str_free(&part);
    tg_str_free(&name);
}

void ui_source_buffer(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    (void)ctx, (void)input;
    for (size_t i = 0; i < ui->buffers.n; i++) {
        const ui_buffer *b = ui->buffers.v[i];
        if (b->name[0] != ' ') ui_choices_add(out, b->name, b->mode->label);
    }
}

void ui_source_command(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    (void)ctx, (void)input;
    const ui_command *c;
    for (int i = 0; (c = ui_command_at(i)) != NULL; i++) {
        tg_str keys = {0};
        ui_where_is(ui, c, &keys);
        ui_choices_add(out, c->name, keys.n ? keys.p : NULL);
        tg_str_free(&keys);
    }
}

void ui_source_option(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    (void)ui, (void)ctx, (void)input;
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        ui_choices_add(out, ui_opt_info_get((ui_opt)i)->name, ui_opt_text((ui_opt)i));
    }
}

void ui_source_face(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    (void)ui, (void)ctx, (void)input;
    for (int i = 0; i < UI_FACE_COUNT; i++) {
        ui_choices_add(out, ui_face_get((ui_face)i)->name, ui_face_get((ui_face)i)->doc);
    }
}

void ui_source_words(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    (void)ui, (void)input;
    for (const char *c = ctx; c && *c;) {
        size_t n = strcspn(c, "|");
        tg_str word = {0};
        tg_str_addn(&word, c, n);
        ui_choices_add(out, tg_str_text(&word), NULL);
        tg_str_free(&word);
        c += n + (c[n] == '|');
    }
}
