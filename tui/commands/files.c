/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening models and journals, writing graphs and the journal. */
#include "tui/command.h"
#include "tui/prompt.h"
#include "tui/session.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(files);

DEFCMD(find_file, "find-file", "file:file Find file",
       "Open a model (.onnx), or go on with the session of a journal (.rgj).")
{
    char *path = ui_expand_file(ui_arg(args, "file"));
    tg_status status = ui_session_open(ui, path);
    free(path);
    return status;
}

static bool is_known(const char *path)
{
    static const char *const kinds[] = {".onnx", ".svg", ".dot", ".json", ".txt"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tg_ends_with(path, kinds[i])) return true;
    return false;
}

static tg_status write_to(ui_app *ui, const char *path)
{
    ui_session *s;
    bool yes = true;
    TG_TRY(ui_session_need(ui, &s));
    if (!is_known(path))
        return tg_fail(TG_USAGE, "%s: write .onnx, .svg, .dot, .json or .txt", path);
    bool input = strcmp(path, s->path) == 0;
    if (input) TG_TRY(ui_ask_yes(ui, "This is the model that was read; overwrite it?", &yes));
    if (!yes) return tg_fail(TG_CANCELLED, "Quit");
    TG_TRY(ui_session_need(ui, &s));
    return ui_session_write(s, path, input);
}

DEFCMD(write_file, "write-file", "file:path Write file",
       "Write the present graph to FILE, by its extension: .onnx is a model; .svg, .dot, .json and "
       ".txt show what *graph* shows.")
{
    char *path = ui_expand_file(ui_arg(args, "file"));
    tg_status status = write_to(ui, path);
    free(path);
    return status;
}

DEFCMD(save_buffer, "save-buffer", "",
       "See to it that the journal is on disk, and say where.\n\nIt is written as things happen, "
       "so that nothing is lost without this.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return ui_session_save(s);
}
