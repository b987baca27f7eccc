/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of help, all made from the tables of commands, keys, options, faces and modes. */
#include "help.h"

#include "rules.h"

#include <stdlib.h>
#include <string.h>

enum { FILL = 76 };

/* ---- bindings */

typedef struct where {
    ui_app *ui;
    const ui_mode *mode;
    const ui_command *command;
    tg_str *out;
} where;

static ui_binding binding_in(ui_app *ui, const ui_mode *mode, const ui_key *keys, int n,
                             const ui_keymap **map)
{
    ui_binding b = ui_keymap_lookup(ui_mode_keymap(ui, mode), keys, n, map);
    if (b.command || b.prefix) return b;
    return ui_keymap_lookup(ui->global, keys, n, map);
}

static void add_where(void *ctx, const ui_key *keys, int n, const ui_command *command)
{
    where *w = ctx;
    if (command != w->command || keys[0] == UI_KEY_PASTE) return;
    /* a key that another map hides does not count */
    if (binding_in(w->ui, w->mode, keys, n, NULL).command != command) return;
    if (w->out->n) tg_str_add(w->out, ", ");
    ui_keys_name(keys, n, w->out);
}

void ui_where_is(ui_app *ui, const ui_command *command, tg_str *out)
{
    if (!ui->term) return;
    where w = {ui, ui_window_ordinary(ui)->buffer->mode, command, out};
    const ui_keymap *map = ui_mode_keymap(ui, w.mode);
    for (; map; map = ui_keymap_parent(map)) ui_keymap_each(map, NULL, 0, add_where, &w);
    ui_keymap_each(ui->global, NULL, 0, add_where, &w);
}

/* ---- texts */

/* Adds a word; what stands in `quotes' and names something becomes a link. */
static void add_word(ui_text *out, const char *s, size_t n)
{
    size_t len = n > 2 && s[0] == '`' ? strcspn(s + 1, "'") : 0;
    tg_str name = {0}, target = {0};
    ui_opt opt;
    if (len && len < n - 1) tg_str_addn(&name, s + 1, len);
    if (name.n && ui_command_find(name.p)) tg_str_addf(&target, "command:%s", name.p);
    else if (name.n && ui_opt_find(name.p, &opt)) tg_str_addf(&target, "variable:%s", name.p);
    if (target.n) {
        ui_text_add_link(out, name.p, target.p);
        ui_text_addf(out, UI_FACE_plain, "%.*s", (int)(n - len - 2), s + len + 2);
    } else {
        ui_text_addf(out, UI_FACE_plain, "%.*s", (int)n, s);
    }
    tg_str_free(&name);
    tg_str_free(&target);
}

/* Adds paragraphs, filled. */
static void add_filled(ui_text *out, const char *s)
{
    for (int col = 0; *s;) {
        if (*s == '\n') {
            ui_text_add(out, UI_FACE_plain, "\n");
            col = 0;
            s++;
            continue;
        }
        size_t n = strcspn(s, " \n");
        int width = ui_text_width(s, n);
        if (col && col + 1 + width > FILL) {
            ui_text_add(out, UI_FACE_plain, "\n");
            col = 0;
        } else if (col) {
            ui_text_add(out, UI_FACE_plain, " ");
            col++;
        }
        add_word(out, s, n);
        col += width;
        s += n;
        while (*s == ' ') s++;
    }
}

void ui_describe_command(ui_app *ui, const ui_command *command, const char *lead, ui_text *out)
{
    tg_str keys = {0}, usage = {0}, head = {0};
    ui_spec spec;
    ui_where_is(ui, command, &keys);
    tg_str_addf(&head, "%s, defined in %s.", lead, ui_command_file(command));
    if (keys.n) tg_str_addf(&head, " It is bound to %s.", keys.p);
    add_filled(out, head.p);
    ui_text_add(out, UI_FACE_plain, "\n");
    tg_str_free(&head);
    if (ui_spec_parse(command->spec, &spec) == TG_OK) {
        ui_spec_usage(&spec, &usage);
        ui_text_addf(out, UI_FACE_header, "(%s%s%s)\n", command->name,
                     spec.reads_prefix ? " &optional N" : "", tg_str_text(&usage));
        ui_text_add(out, UI_FACE_plain, "\n");
        add_filled(out, command->doc);
        ui_text_add(out, UI_FACE_plain, "\n");
        tg_str_clear(&usage);
        ui_spec_describe(&spec, &usage);
        if (usage.n) ui_text_addf(out, UI_FACE_plain, "\nArguments:\n%s", usage.p);
        if (spec.batch) {
            ui_text_addf(out, UI_FACE_plain, "\nIt runs without a screen too: regraft %s --help\n",
                         command->name);
        }
        ui_spec_done(&spec);
    }
    tg_str_free(&keys);
    tg_str_free(&usage);
}

void ui_command_help(const ui_command *command, tg_str *out)
{
    ui_spec spec;
    ui_text text;
    if (ui_spec_parse(command->spec, &spec) != TG_OK) return;
    tg_str_addf(out, "usage: regraft %s", command->name);
    ui_spec_usage(&spec, out);
    tg_str_add(out, "\n\n");
    ui_text_init(&text);
    add_filled(&text, command->doc);
    char *doc = ui_text_get(&text);
    tg_str_addf(out, "%s\n", doc);
    free(doc);
    ui_text_done(&text);
    if (spec.n) tg_str_addc(out, '\n');
    ui_spec_describe(&spec, out);
    ui_spec_done(&spec);
}

static void describe_option(ui_opt opt, ui_text *out)
{
    const ui_opt_info *o = ui_opt_info_get(opt);
    ui_text_addf(out, UI_FACE_plain, "%s is an option. Its value is %s", o->name, ui_opt_text(opt));
    if (strcmp(o->start, ui_opt_text(opt)) != 0) {
        ui_text_addf(out, UI_FACE_plain, "; the default is %s", o->start);
    }
    ui_text_add(out, UI_FACE_plain, ".\n\n");
    add_filled(out, o->doc);
    ui_text_add(out, UI_FACE_plain, ".\n\n");
    if (o->kind == UI_OPT_CHOICE) {
        ui_text_addf(out, UI_FACE_plain, "One of: %s\n", o->choices);
    } else if (o->kind == UI_OPT_INT || o->kind == UI_OPT_REAL) {
        ui_text_addf(out, UI_FACE_plain, "From %g to %g\n", o->least, o->most);
    }
    ui_text_addf(out, UI_FACE_plain, "Set it with M-x set-variable or --set %s=VALUE\n", o->name);
}

static void describe_face(ui_face face, ui_text *out)
{
    const ui_face_info *f = ui_face_get(face);
    ui_text_addf(out, UI_FACE_plain, "%s is a face: %s.\n\n", f->name, f->doc);
    ui_text_add(out, face, "This is how it looks.");
    ui_text_add(out, UI_FACE_plain, "\n");
}

typedef struct listing {
    ui_text *out;
    int n;
} listing;

static void list_binding(void *ctx, const ui_key *keys, int n, const ui_command *command)
{
    listing *l = ctx;
    tg_str name = {0}, target = {0};
    if (keys[0] == UI_KEY_PASTE) return;
    ui_keys_name(keys, n, &name);
    ui_text_add(l->out, UI_FACE_key, name.p);
    ui_line_pad(&tg_vec_last(&l->out->lines), 20);
    tg_str_addf(&target, "command:%s", command->name);
    ui_text_add_link(l->out, command->name, target.p);
    ui_text_add(l->out, UI_FACE_plain, "\n");
    l->n++;
    tg_str_free(&name);
    tg_str_free(&target);
}

void ui_describe_map(const ui_keymap *map, const ui_key *prefix, int n, ui_text *out)
{
    listing l = {.out = out};
    ui_text_addf(out, UI_FACE_header, "%s:\n", ui_keymap_map_name(map));
    ui_keymap_each(map, prefix, n, list_binding, &l);
    if (!l.n) ui_text_add(out, UI_FACE_plain, "no keys\n");
    ui_text_add(out, UI_FACE_plain, "\n");
}

void ui_describe_mode(ui_app *ui, const ui_mode *mode, ui_text *out)
{
    ui_text_addf(out, UI_FACE_plain, "%s is a major mode", mode->name);
    if (mode->parent) {
        tg_str target = {0};
        tg_str_addf(&target, "mode:%s", mode->parent->name);
        ui_text_add(out, UI_FACE_plain, ", derived from ");
        ui_text_add_link(out, mode->parent->name, target.p);
        tg_str_free(&target);
    }
    ui_text_add(out, UI_FACE_plain, ".\n\n");
    add_filled(out, mode->doc);
    ui_text_add(out, UI_FACE_plain, "\n\n");
    for (const ui_mode *m = mode; m; m = m->parent) {
        ui_describe_map(ui_mode_keymap(ui, m), NULL, 0, out);
    }
}

/* ---- the buffer */

ui_buffer *ui_help_begin(ui_app *ui, const char *target)
{
    ui_buffer *b = ui_buffer_get(ui, "*Help*", &ui_mode_help);
    ui_text_clear(&b->text);
    b->mark_set = b->mark_active = false;
    if (ui->help_trail.n && ui->help_at < ui->help_trail.n &&
        strcmp(ui->help_trail.v[ui->help_at], target) == 0) {
        return b;
    }
    while (ui->help_trail.n > ui->help_at + 1) free(tg_vec_pop(&ui->help_trail));
    tg_vec_push(&ui->help_trail, tg_strdup(target));
    ui->help_at = ui->help_trail.n - 1;
    return b;
}

void ui_help_show(ui_app *ui, ui_buffer *help)
{
    ui_text *t = &help->text;
    while (t->lines.n > 1 && !tg_vec_last(&t->lines).text.n) {
        ui_line_done(&tg_vec_last(&t->lines));
        t->lines.n--;
    }
    bool selected = ui->selected->buffer == help;
    ui_window *w = ui_display(ui, help);
    w->point = (ui_point){0};
    w->top = 0;
    w->left = 0;
    if (!selected && w->quit == UI_QUIT_DELETE) {
        ui_message(ui, "Type C-x 1 to delete the help window, C-M-v to scroll help.");
    } else if (!selected) {
        ui_message(ui, "Type q in the help window to restore its previous buffer.");
    }
}

static void describe_named_command(ui_app *ui, const ui_command *c, ui_text *out)
{
    tg_str lead = {0};
    tg_str_addf(&lead, "%s is a command", c->name);
    ui_describe_command(ui, c, lead.p, out);
    tg_str_free(&lead);
}

tg_status ui_help_visit(ui_app *ui, const char *target)
{
    const char *colon = strchr(target, ':'), *name = colon ? colon + 1 : target;
    const ui_command *c = ui_command_find(name);
    const ui_mode *mode = ui_mode_find(name);
    ui_opt opt;
    ui_face face;
    bool is_opt = ui_opt_find(name, &opt), is_face = ui_face_find(name, &face);
    if (tg_starts_with(target, "command:") && c) {
        ui_buffer *b = ui_help_begin(ui, target);
        describe_named_command(ui, c, &b->text);
        ui_help_show(ui, b);
    } else if (tg_starts_with(target, "variable:") && is_opt) {
        ui_buffer *b = ui_help_begin(ui, target);
        describe_option(opt, &b->text);
        ui_help_show(ui, b);
    } else if (tg_starts_with(target, "face:") && is_face) {
        ui_buffer *b = ui_help_begin(ui, target);
        describe_face(face, &b->text);
        ui_help_show(ui, b);
    } else if (tg_starts_with(target, "mode:") && mode) {
        ui_buffer *b = ui_help_begin(ui, target);
        ui_describe_mode(ui, mode, &b->text);
        ui_help_show(ui, b);
    } else if (tg_starts_with(target, "rule:")) {
        return ui_rule_show(ui, name);
    } else if (strcmp(target, UI_SEARCH_TARGET) == 0) {
        return ui_search_report(ui);
    } else {
        return tg_fail(TG_NOTFOUND, "Nothing is called `%s'", name);
    }
    return TG_OK;
}

void ui_commands_list(tg_str *out)
{
    const ui_command *c;
    for (int i = 0; (c = ui_command_at(i)) != NULL; i++) {
        ui_spec spec;
        if (ui_spec_parse(c->spec, &spec) != TG_OK) continue;
        if (spec.batch) tg_str_addf(out, "  %-12s %.*s\n", c->name, ui_command_summary(c), c->doc);
        ui_spec_done(&spec);
    }
}
