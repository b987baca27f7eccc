/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Printing the parts of the manual that are made from tables. */
#include "tui/app.h"
#include "tui/manual.h"

UI_FAMILY(manual);

DEFCMD(manual, "manual", "batch; part:choice(commands|operators|rules|man) Which part",
       "Print a part of the manual that is made from the program's tables.\n\nCommands with keys, "
       "options and faces; the operators; the rules; or the man page.")
{
    tg_str text = {0};
    const ui_manual_part *part = ui_manual_find(ui_arg(args, "part"));
    tg_status status = part ? part->write(&text) : tg_fail(TG_NOTFOUND, "no such part");
    if (status == TG_OK) ui_print(ui, tg_str_text(&text));
    tg_str_free(&text);
    return status;
}
