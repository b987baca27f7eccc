/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Setting options while regraft runs. */
#include "tui/app.h"
#include "tui/prompt.h"

#include <stdlib.h>

UI_FAMILY(customize);

DEFCMD(set_variable, "set-variable", "name:variable Set option; [value]:text Value",
       "Give an option a value for this run of regraft.")
{
    const char *name = ui_arg(args, "name"), *given = ui_arg(args, "value");
    ui_opt opt;
    char *value = NULL;
    if (!ui_opt_find(name, &opt)) return tg_fail(TG_NOTFOUND, "no option is called %s", name);
    const ui_opt_info *o = ui_opt_info_get(opt);
    if (!given) {
        tg_str text = {0};
        tg_str_addf(&text, "Set %s to", name);
        ui_prompt prompt = {
            .text = text.p,
            .start = ui_opt_text(opt),
            .history = "value",
            .ctx = (void *)(o->kind == UI_OPT_FLAG ? "true|false" : o->choices),
            .source = o->kind == UI_OPT_FLAG || o->kind == UI_OPT_CHOICE ? ui_source_words : NULL,
        };
        tg_status status = ui_ask(ui, &prompt, &value);
        tg_str_free(&text);
        TG_TRY(status);
    }
    tg_status status = ui_opt_set(opt, given ? given : value);
    free(value);
    TG_TRY(status);
    ui_app_theme(ui);
    ui_message(ui, "%s is %s", name, ui_opt_text(opt));
    return TG_OK;
}
