/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing the present graph as a model or a picture, from a menu. */
#include "tui/menu.h"
#include "tui/prompt.h"
#include "tui/session.h"

#include <stdlib.h>
#include <sys/stat.h>

UI_FAMILY(export);

/* Every operator, whatever is folded on the screen. */
static tg_status write_all(ui_session *s, const char *path, bool overwrite)
{
    int level = s->draw.level;
    size_t flipped = s->flipped.n;
    if (level < 3) s->draw.level = 3;
    s->flipped.n = 0;
    tg_status status = ui_session_write(s, path, overwrite);
    s->draw.level = level;
    s->flipped.n = flipped;
    return status;
}

static tg_status may_replace(ui_app *ui, const char *path, bool *yes)
{
    struct stat there;
    *yes = true;
    if (stat(path, &there) != 0) return TG_OK;
    tg_str question = {0};
    tg_str_addf(&question, "File %s exists; overwrite?", path);
    tg_status status = ui_ask_yes(ui, question.p, yes);
    tg_str_free(&question);
    return status;
}

/* Asks for the file, stating what will be in it. */
static tg_status export_as(ui_app *ui, const char *ext)
{
    ui_session *s;
    char *answer;
    bool yes, view = ui_opt_is(UI_OPT_export_scope, "view") && ext[0] != 'o' && ext[0] != 'j';
    TG_TRY(ui_session_need(ui, &s));
    tg_str text = {0}, name = {0};
    tg_str_addf(&text, "Export %s as .%s to file",
                view ? "the graph as it is folded" : "the whole graph", ext);
    tg_str_addf(&name, "%s-step%d.%s", s->name, tg_history_depth(s->history, s->history->head),
                ext);
    ui_prompt prompt = {
        .text = text.p, .start = name.p, .history = "file", .source = ui_source_file};
    tg_status status = ui_ask(ui, &prompt, &answer);
    tg_str_free(&text);
    tg_str_free(&name);
    TG_TRY(status);
    char *path = ui_expand_file(answer);
    free(answer);
    status = may_replace(ui, path, &yes);
    if (status == TG_OK && yes)
        status = view ? ui_session_write(s, path, true) : write_all(s, path, true);
    free(path);
    return status;
}

DEFCMD(onnx, "export-onnx", "", "Write the present graph as an ONNX model.")
{
    return export_as(ui, "onnx");
}

DEFCMD(svg, "export-svg", "", "Write the present graph as an SVG picture.")
{
    return export_as(ui, "svg");
}

DEFCMD(dot, "export-dot", "", "Write the present graph in the language of Graphviz.")
{
    return export_as(ui, "dot");
}

DEFCMD(json, "export-json", "", "Write the present graph as JSON: nodes, values, attributes.")
{
    return export_as(ui, "json");
}

DEFCMD(text, "export-text", "", "Write the rails of the present graph as text.")
{
    return export_as(ui, "txt");
}

DEFCMD(menu, "export-menu", "", "Show the menu of exports: a model, pictures, data, text.")
{
    static const ui_menu_argument arguments[] = {
        {'s', "Scope of pictures", UI_OPT_export_scope},
        {0},
    };
    static const ui_menu_item model[] = {
        {"o", "Model .onnx", "export-onnx", NULL},
        {"j", "Data .json", "export-json", NULL},
        {0},
    };
    static const ui_menu_item pictures[] = {
        {"s", "Picture .svg", "export-svg", NULL},
        {"d", "Graphviz .dot", "export-dot", NULL},
        {"t", "Rails .txt", "export-text", NULL},
        {0},
    };
    static const ui_menu_group groups[] = {
        {"The present graph", model}, {"What *graph* shows", pictures}, {0}};
    static const ui_menu export_menu = {"Export", arguments, groups};
    return ui_menu_run(ui, &export_menu);
}
