/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands behind C-h. */
#include "tui/help.h"
#include "tui/prompt.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(help);

static tg_status visit(ui_app *ui, const char *kind, const char *name)
{
    tg_str target = {0};
    tg_str_addf(&target, "%s:%s", kind, name);
    tg_status status = ui_help_visit(ui, target.p);
    tg_str_free(&target);
    return status;
}

/* Reads a key sequence and adds its name. */
static tg_status read_keys(ui_app *ui, const char *question, const ui_command **command,
                           tg_str *name)
{
    ui_hint(ui, "%s", question);
    ui_prefix prefix = ui->prefix;
    ui->prefix = (ui_prefix){.n = 1};
    bool read = ui_read_sequence(ui, command);
    ui->prefix = prefix;
    if (!read) return tg_fail(TG_CANCELLED, "Quit");
    ui_keys_name(ui->keys, ui->n_keys, name);
    bool text = ui->n_keys == 1 && ui_key_is_text(ui->keys[0]);
    if (!*command && text && !ui->selected->buffer->read_only) {
        *command = ui_command_find("self-insert-command");
    }
    if (*command) return TG_OK;
    return tg_fail(TG_NOTFOUND, "%s is undefined", tg_str_text(name));
}

DEFCMD(describe_key, "describe-key", "", "Explain what a key does; the key is asked for.")
{
    const ui_command *command;
    const ui_keymap *map = NULL;
    tg_str name = {0};
    tg_status status = read_keys(ui, "Describe key: ", &command, &name);
    if (status == TG_OK) {
        tg_str target = {0}, lead = {0};
        tg_str_addf(&target, "key:%s", name.p);
        ui_active_binding(ui, ui->keys, ui->n_keys, &map);
        ui_buffer *b = ui_help_begin(ui, target.p);
        tg_str_addf(&lead, "%s runs the command %s (found in %s)", name.p, command->name,
                    map ? ui_keymap_map_name(map) : "text");
        ui_describe_command(ui, command, lead.p, &b->text);
        tg_str_free(&lead);
        ui_help_show(ui, b);
        tg_str_free(&target);
    }
    tg_str_free(&name);
    return status;
}

DEFCMD(describe_briefly, "describe-key-briefly", "", "Say which command a key runs.")
{
    const ui_command *command;
    tg_str name = {0};
    tg_status status = read_keys(ui, "Describe key briefly: ", &command, &name);
    if (status == TG_OK) ui_message(ui, "%s runs the command %s", name.p, command->name);
    tg_str_free(&name);
    return status;
}

DEFCMD(where_is, "where-is", "command:command Where is command", "Say which keys run COMMAND.")
{
    const char *name = ui_arg(args, "command");
    const ui_command *command = ui_command_find(name);
    tg_str keys = {0};
    if (!command) return tg_fail(TG_NOTFOUND, "No command is called `%s'", name);
    ui_where_is(ui, command, &keys);
    if (keys.n) ui_message(ui, "%s is on %s", name, keys.p);
    else ui_message(ui, "%s is not on any key", name);
    tg_str_free(&keys);
    return TG_OK;
}

DEFCMD(describe_command, "describe-command", "command:command Describe command",
       "Explain COMMAND: its keys, its arguments, what it does.")
{
    return visit(ui, "command", ui_arg(args, "command"));
}

DEFCMD(describe_variable, "describe-variable", "variable:variable Describe option",
       "Explain an option, its value and what it may be.")
{
    return visit(ui, "variable", ui_arg(args, "variable"));
}

DEFCMD(describe_face, "describe-face", "face:face Describe face",
       "Explain a face and show how it looks here.")
{
    return visit(ui, "face", ui_arg(args, "face"));
}

DEFCMD(describe_mode, "describe-mode", "", "Explain the major mode of this buffer and its keys.")
{
    return visit(ui, "mode", ui_window_ordinary(ui)->buffer->mode->name);
}

DEFCMD(describe_symbol, "describe-symbol", "name:text Describe command, option or face",
       "Explain the command, option or face of that name.")
{
    static const char *const kinds[] = {"command", "variable", "face", "mode"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (visit(ui, kinds[i], ui_arg(args, "name")) == TG_OK) return TG_OK;
    }
    return tg_fail(TG_NOTFOUND, "Nothing is called `%s'", ui_arg(args, "name"));
}

DEFCMD(describe_bindings, "describe-bindings", "",
       "List all keys: those of the major mode, of the modes that it derives from, and the global "
       "ones.")
{
    const ui_keymap *map = ui_mode_keymap(ui, ui_window_ordinary(ui)->buffer->mode);
    ui_buffer *b = ui_help_begin(ui, "bindings:");
    for (; map; map = ui_keymap_parent(map)) ui_describe_map(map, NULL, 0, &b->text);
    ui_describe_map(ui->global, NULL, 0, &b->text);
    ui_help_show(ui, b);
    return TG_OK;
}

DEFCMD(describe_prefix, "describe-prefix-bindings", "",
       "List the keys that begin with the prefix typed before C-h.")
{
    const ui_keymap *map = ui_mode_keymap(ui, ui_window_ordinary(ui)->buffer->mode);
    tg_str name = {0};
    ui_keys_name(ui->keys, ui->n_keys, &name);
    ui_buffer *b = ui_help_begin(ui, "prefix:");
    ui_text_addf(&b->text, UI_FACE_plain, "Keys that begin with %s:\n\n", tg_str_text(&name));
    tg_str_free(&name);
    for (; map; map = ui_keymap_parent(map)) {
        if (ui_keymap_lookup(map, ui->keys, ui->n_keys, NULL).prefix) {
            ui_describe_map(map, ui->keys, ui->n_keys, &b->text);
        }
    }
    ui_describe_map(ui->global, ui->keys, ui->n_keys, &b->text);
    ui_help_show(ui, b);
    return TG_OK;
}

DEFCMD(help_for_help, "help-for-help", "", "List the keys of help.")
{
    ui->keys[0] = 'h' - 96;
    ui->n_keys = 1;
    return ui_command_run(ui, "describe-prefix-bindings", NULL);
}

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

static tg_status apropos(ui_app *ui, const char *pattern, bool docs)
{
    ui_buffer *b = ui_help_begin(ui, "apropos:");
    const ui_command *c;
    int found = 0;
    for (int i = 0; (c = ui_command_at(i)) != NULL; i++) {
        if (!contains(c->name, pattern) && !(docs && contains(c->doc, pattern))) continue;
        tg_str keys = {0}, target = {0};
        tg_str_addf(&target, "command:%s", c->name);
        ui_where_is(ui, c, &keys);
        ui_text_add_link(&b->text, c->name, target.p);
        ui_line_pad(&tg_vec_last(&b->text.lines), 36);
        ui_text_add(&b->text, UI_FACE_key, tg_str_text(&keys));
        ui_text_addf(&b->text, UI_FACE_plain, "\n  %.*s\n", ui_command_summary(c), c->doc);
        tg_str_free(&keys);
        tg_str_free(&target);
        found++;
    }
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        const ui_opt_info *o = ui_opt_info_get((ui_opt)i);
        if (!contains(o->name, pattern) && !(docs && contains(o->doc, pattern))) continue;
        tg_str target = {0};
        tg_str_addf(&target, "variable:%s", o->name);
        ui_text_add_link(&b->text, o->name, target.p);
        ui_text_addf(&b->text, UI_FACE_plain, "\n  Option: %s\n", o->doc);
        tg_str_free(&target);
        found++;
    }
    if (!found) return tg_fail(TG_NOTFOUND, "No apropos matches for `%s'", pattern);
    ui_help_show(ui, b);
    return TG_OK;
}

DEFCMD(apropos, "apropos-command", "pattern:text Apropos command",
       "List the commands and options whose names contain PATTERN.")
{
    return apropos(ui, ui_arg(args, "pattern"), false);
}

DEFCMD(apropos_doc, "apropos-documentation", "pattern:text Apropos documentation",
       "List the commands and options whose names or explanations contain PATTERN.")
{
    return apropos(ui, ui_arg(args, "pattern"), true);
}

DEFCMD(messages, "view-echo-area-messages", "", "Show *Messages*, where every message is kept.")
{
    ui_buffer *b = ui_buffer_get(ui, "*Messages*", &ui_mode_log);
    ui_window *w = ui_display(ui, b);
    w->point = (ui_point){b->text.lines.n - 1, 0};
    return TG_OK;
}

DEFCMD(lossage, "view-lossage", "", "List the last 300 keys and the commands that they ran.")
{
    ui_buffer *b = ui_help_begin(ui, "lossage:");
    for (size_t i = 0; i < ui->lossage.n; i++) {
        tg_str name = {0};
        ui_key_name(ui->lossage.v[i].key, &name);
        ui_text_addf(&b->text, UI_FACE_key, "%s ", tg_str_text(&name));
        tg_str_free(&name);
        const ui_command *c = ui->lossage.v[i].command;
        if (c) ui_text_addf(&b->text, UI_FACE_plain, " ;; %s\n", c->name);
    }
    ui_help_show(ui, b);
    return TG_OK;
}

DEFCMD(help, "help", "batch; [command]:command Command to explain",
       "Explain COMMAND as C-h f does, or list all commands that run without a screen.")
{
    tg_str out = {0};
    const char *name = ui_arg(args, "command");
    const ui_command *c = name ? ui_command_find(name) : NULL;
    if (name && !c) return tg_fail(TG_NOTFOUND, "no command is called %s", name);
    if (name) {
        ui_text text;
        ui_text_init(&text);
        tg_str lead = {0};
        tg_str_addf(&lead, "%s is a command", name);
        ui_describe_command(ui, c, lead.p, &text);
        tg_str_free(&lead);
        char *s = ui_text_get(&text);
        ui_print(ui, s);
        free(s);
        ui_text_done(&text);
        return TG_OK;
    }
    ui_commands_list(&out);
    ui_print(ui, tg_str_text(&out));
    tg_str_free(&out);
    return TG_OK;
}
