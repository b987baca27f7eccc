/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands. A command is declared once, in a file of tui/commands or tui/modes:
 *
 *     DEFCMD(write_file, "write-file", "batch; file:path Write to file; --force:flag Ask nothing",
 *            "Write the buffer to FILE.\n\nMore lines of help.")
 *     {
 *         ... ui (ui_app *) and args (const ui_args *) are in scope ...
 *         return TG_OK;
 *     }
 *
 * and each such file says once `UI_FAMILY(files)`, with a row in family.def. The spec gives
 * prompts, completion, the options of `regraft write-file` and its --help alike; spec.h explains
 * it. A command that fails returns a status with words (tg_fail); they appear in the echo area, or
 * on stderr in batch.
 */
#ifndef TUI_COMMAND_H
#define TUI_COMMAND_H

#include "spec.h"

typedef struct ui_app ui_app;

typedef tg_status (*ui_command_fn)(ui_app *ui, const ui_args *args);

typedef struct ui_command {
    const char *name, *spec, *doc, *file;
    ui_command_fn run;
} ui_command;

#define DEFCMD(id, cname, cspec, cdoc)                                                             \
    _Static_assert(sizeof(cdoc) > 16, "a command needs a docstring");                              \
    static tg_status cmd_##id(ui_app *ui, const ui_args *args);                                    \
    static const ui_command command_##id = {cname, cspec, cdoc, __FILE__, cmd_##id};               \
    static const ui_command *const command_at_##id __attribute__((section("ui_commands"), used)) = \
        &command_##id;                                                                             \
    static tg_status cmd_##id(__attribute__((unused)) ui_app *ui,                                  \
                              __attribute__((unused)) const ui_args *args)

/* Makes the linker keep a file of commands; its name has a row in family.def. */
#define UI_FAMILY(name) const char ui_family_##name = 1

/* All commands, sorted by name; NULL past the end. */
const ui_command *ui_command_at(int i);
/* The command of that name, or NULL. */
const ui_command *ui_command_find(const char *name);
/* The known name that differs least from `name`, or NULL if none is near. */
const ui_command *ui_command_nearest(const char *name);
/* The first line of the docstring. Returns its length. */
int ui_command_summary(const ui_command *command);
/* The file that defines it, without folders. */
const char *ui_command_file(const ui_command *command);

/*
 * Runs a command: prompts for the arguments that are missing when there is a screen. `given` may be
 * NULL; it is not freed.
 */
tg_status ui_command_call(ui_app *ui, const ui_command *command, ui_prefix prefix,
                          const ui_args *given) TG_MUST_USE;
/* The same by name, with arguments as on a command line, NULL-terminated. */
tg_status ui_command_run(ui_app *ui, const char *name, const char *const *argv) TG_MUST_USE;

#endif
