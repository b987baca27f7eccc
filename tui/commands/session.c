/* SPDX-License-Identifier: GPL-3.0-or-later */
/* M-x, quitting, suspending, leaving. */
#include "tui/app.h"
#include "tui/help.h"
#include "tui/minibuf.h"
#include "tui/prompt.h"
#include "tui/session.h"
#include "tui/whichkey.h"

#include <stdlib.h>

UI_FAMILY(session);

static tg_status no_such_command(const char *name)
{
    const ui_command *near = ui_command_nearest(name);
    if (!near) return tg_fail(TG_NOTFOUND, "No command is called `%s'", name);
    return tg_fail(TG_NOTFOUND, "No command is called `%s'; did you mean `%s'?", name, near->name);
}

/* The hint stays until the next key, for two seconds at most. */
static void hint_binding(ui_app *ui, const ui_command *command)
{
    tg_str keys = {0};
    ui_where_is(ui, command, &keys);
    char *first = tg_strdup(tg_str_text(&keys));
    for (char *c = first; *c; c++) {
        if (c[0] == ',' && c[1] == ' ') *c = '\0';
    }
    if (*first && !ui->echo.n && !ui->minibuf) {
        ui_hint(ui, "You can run the command `%s' with %s", command->name, first);
        ui_key key = ui_read_key_for(ui, 2);
        if (key != UI_KEY_NONE && key != UI_KEY_EOF) ui_unread_key(ui, key);
        tg_str_clear(&ui->echo);
    }
    free(first);
    tg_str_free(&keys);
}

DEFCMD(execute, "execute-extended-command", "N",
       "Run a command by its name, with completion.\n\nA prefix argument is handed on to it.")
{
    char *name;
    tg_str text = {0};
    if (args->prefix.given && args->prefix.bare) tg_str_add(&text, "C-u ");
    else if (args->prefix.given) tg_str_addf(&text, "%d ", args->prefix.n);
    tg_str_add(&text, "M-x");
    ui_prompt prompt = {.text = tg_str_text(&text),
                        .history = "command",
                        .source = ui_source_command,
                        .must_match = true,
                        .fold_case = true};
    tg_status status = ui_ask(ui, &prompt, &name);
    tg_str_free(&text);
    TG_TRY(status);
    const ui_command *command = ui_command_find(name);
    status = command ? TG_OK : no_such_command(name);
    free(name);
    TG_TRY(status);
    ui->this_command = command;
    TG_TRY(ui_command_call(ui, command, args->prefix, NULL));
    if (!ui->exit) hint_binding(ui, command);
    return TG_OK;
}

DEFCMD(keyboard_quit, "keyboard-quit", "",
       "Break off what you are doing.\n\nThat is a prompt, a partial key, the prefix argument, the "
       "region, or work that you wait for. A running agent pauses after its present rewrite; "
       "training and measurements go on.")
{
    ui->selected->buffer->mark_active = false;
    if (ui->minibuf) {
        ui->minibuf->cancelled = ui->stop = true;
        return TG_OK;
    }
    ui_session *s = ui->model;
    if (s && ui_session_cancel(s)) return TG_OK;
    return tg_fail(TG_CANCELLED, "Quit");
}

DEFCMD(escape_quit, "keyboard-escape-quit", "",
       "Break off a prompt or the region; else close the other windows.")
{
    if (ui->minibuf) {
        ui->minibuf->cancelled = ui->stop = true;
    } else if (ui->selected->buffer->mark_active) {
        ui->selected->buffer->mark_active = false;
    } else if (ui_window_count(ui) > 1) {
        ui_window_delete_others(ui, ui->selected);
    } else {
        return tg_fail(TG_CANCELLED, "Quit");
    }
    return TG_OK;
}

DEFCMD(leave, "exit-regraft", "",
       "Leave regraft. Asks first if training or measurements are running.")
{
    bool yes = true;
    ui_session *s = ui_session_get(ui);
    bool measuring = s && ui_session_measuring(s);
    if (s && (s->training || measuring || s->job))
        TG_TRY(ui_ask_yes(ui,
                          measuring     ? "Measurements are running; leave anyway?"
                          : s->training ? "Training is running; leave anyway?"
                                        : "Work is still running; leave anyway?",
                          &yes));
    if (yes) ui_exit(ui, 0);
    return TG_OK;
}

DEFCMD(suspend, "suspend-regraft", "",
       "Stop the whole process, its threads too, and give the terminal to the shell.")
{
    ui->term->suspend(ui->term);
    ui_unread_key(ui, UI_KEY_RESIZE);
    ui_message(ui, "Continued; everything stood still meanwhile");
    return TG_OK;
}

DEFCMD(dispatch, "dispatch", "", "Show the keys of this buffer; the next key runs its command.")
{
    const ui_command *command;
    ui_whichkey_show_mode(ui);
    if (!ui_read_sequence(ui, &command)) return tg_fail(TG_CANCELLED, "Quit");
    if (!command) return tg_fail(TG_USAGE, "Unbound key (use C-h b for all)");
    ui->this_command = command;
    return ui_command_call(ui, command, ui->prefix, NULL);
}
