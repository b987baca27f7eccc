/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "manual.h"

#include "app.h"
#include "help.h"
#include "man.h"

#include "engine/engine.h"

#include <string.h>

static const char made[] =
    "<!-- Made from the program's tables by `make docs`; edit these, not this file. -->\n\n";

static const ui_key_row global_keys[] = {
#define KEY(keys, command) {keys, command},
#include "keys.def"
#undef KEY
    {NULL, NULL},
};

/* ---- pieces of Markdown */

static void add_cell(const char *text, tg_str *out)
{
    for (; *text; text++) {
        if (*text == '|') tg_str_addc(out, '\\');
        tg_str_addc(out, *text == '\n' ? ' ' : *text);
    }
}

/* A key as code. A back-tick in it needs a longer fence. */
static void add_key(const char *key, tg_str *out)
{
    tg_str_add(out, strchr(key, '`') ? "`` " : "`");
    add_cell(key, out);
    tg_str_add(out, strchr(key, '`') ? " ``" : "`");
}

static void add_key_rows(const ui_key_row *keys, tg_str *out)
{
    tg_str_add(out, "| key | command | what it does |\n|---|---|---|\n");
    for (; keys && keys->keys; keys++) {
        const ui_command *c = ui_command_find(keys->command);
        if (!c || keys->keys[0] == '\0') continue;
        tg_str_add(out, "| ");
        add_key(keys->keys, out);
        tg_str_addf(out, " | [%s](#%s) | ", c->name, c->name);
        tg_str summary = {0};
        tg_str_addn(&summary, c->doc, (size_t)ui_command_summary(c));
        add_cell(tg_str_text(&summary), out);
        tg_str_free(&summary);
        tg_str_add(out, " |\n");
    }
    tg_str_addc(out, '\n');
}

static void add_bound(const ui_key_row *keys, const char *where, const ui_command *c, tg_str *out)
{
    for (; keys && keys->keys; keys++) {
        if (strcmp(keys->command, c->name) != 0) continue;
        tg_str_add(out, out->n ? ", " : "");
        add_key(keys->keys, out);
        if (where) tg_str_addf(out, " in %s", where);
    }
}

static void add_command(const ui_command *c, tg_str *out)
{
    ui_spec spec;
    tg_str usage = {0}, keys = {0};
    if (ui_spec_parse(c->spec, &spec) != TG_OK) return;
    ui_spec_usage(&spec, &usage);
    tg_str_addf(out, "### %s\n\n", c->name);
    if (spec.batch) tg_str_addf(out, "    regraft %s%s\n\n", c->name, tg_str_text(&usage));
    add_bound(global_keys, NULL, c, &keys);
    for (int i = 0; ui_mode_at(i); i++)
        add_bound(ui_mode_at(i)->keys, ui_mode_at(i)->name, c, &keys);
    tg_str_addf(out, "%s\n", c->doc);
    if (keys.n) tg_str_addf(out, "\nKeys: %s.\n", keys.p);
    tg_str_clear(&usage);
    ui_spec_describe(&spec, &usage);
    if (usage.n) tg_str_addf(out, "\n```\n%s```\n", usage.p);
    tg_str_addc(out, '\n');
    ui_spec_done(&spec);
    tg_str_free(&usage);
    tg_str_free(&keys);
}

static void add_options(tg_str *out)
{
    tg_str_add(out, "## Options\n\nSet with `--set NAME=VALUE`, or with `M-x set-variable`.\n\n"
                    "| option | default | values | what it does |\n|---|---|---|---|\n");
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        const ui_opt_info *o = ui_opt_info_get((ui_opt)i);
        tg_str_addf(out, "| `%s` | %s | ", o->name, o->start);
        if (o->kind == UI_OPT_CHOICE) add_cell(o->choices, out);
        else if (o->kind == UI_OPT_FLAG) add_cell("true|false", out);
        else if (o->kind == UI_OPT_TEXT) add_cell("text", out);
        else tg_str_addf(out, "%g to %g", o->least, o->most);
        tg_str_add(out, " | ");
        add_cell(o->doc, out);
        tg_str_add(out, " |\n");
    }
    tg_str_addc(out, '\n');
}

static void add_faces(tg_str *out)
{
    tg_str_add(out, "## Faces\n\n| face | what it marks |\n|---|---|\n");
    for (int i = 0; i < UI_FACE_COUNT; i++) {
        const ui_face_info *f = ui_face_get((ui_face)i);
        tg_str_addf(out, "| `%s` | ", f->name);
        add_cell(f->doc, out);
        tg_str_add(out, " |\n");
    }
}

static tg_status write_commands(tg_str *out)
{
    tg_str_addf(out, "# Keys, commands, options\n\n%s", made);
    tg_str_add(out, "## Keys everywhere\n\n");
    add_key_rows(global_keys, out);
    for (int i = 0; ui_mode_at(i); i++) {
        const ui_mode *m = ui_mode_at(i);
        tg_str_addf(out, "## %s\n\n%s\n\n", m->name, m->doc);
        if (m->parent) tg_str_addf(out, "Its other keys are those of %s.\n\n", m->parent->name);
        if (m->keys && m->keys->keys) add_key_rows(m->keys, out);
    }
    tg_str_add(out, "## Commands\n\n");
    const ui_command *c;
    for (int i = 0; (c = ui_command_at(i)) != NULL; i++) add_command(c, out);
    add_options(out);
    add_faces(out);
    return TG_OK;
}

static tg_status write_operators(tg_str *out)
{
    tg_str_addf(out, "# Operators\n\n%s", made);
    tg_operators_manual(out);
    return TG_OK;
}

static tg_status write_rules(tg_str *out)
{
    tg_rules *rules;
    TG_TRY(tg_rules_load(NULL, 0, &rules));
    tg_str_addf(out,
                "# Rules\n\n%sEach rule is a paragraph of a file in `rules/`, and each is "
                "tested. The pictures are graphs that were drawn for its proof.\n\n"
                "To add one, write its paragraph into a file of `rules/` or one of your own: "
                "`rule` and a name, `about` and a sentence, `given` with the values it reads, "
                "`from` with the operators to find, `if` with what must hold, `to` with what "
                "takes their place. `regraft rules check NAME --rules FILE` proves it, or says "
                "with file and line which result differs, where, and on which graph.\n",
                made);
    ui_manual_rules(rules, out);
    tg_rules_unref(rules);
    return TG_OK;
}

static tg_status write_man(tg_str *out)
{
    ui_man_page(out);
    return TG_OK;
}

static const ui_manual_part parts[] = {
    {"commands", "commands.md", write_commands},
    {"operators", "operators.md", write_operators},
    {"rules", "rules.md", write_rules},
    {"man", "regraft.1", write_man},
};

const ui_manual_part *ui_manual_at(int i)
{
    return i < (int)(sizeof parts / sizeof *parts) ? &parts[i] : NULL;
}

const ui_manual_part *ui_manual_find(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, name) == 0) return &parts[i];
    return NULL;
}
