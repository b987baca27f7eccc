/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the screen shows: folds, buffers, glyphs and colours, from a menu. */
#include "tui/menu.h"
#include "tui/session.h"

UI_FAMILY(view);

DEFCMD(menu_bar, "menu-bar", "",
       "Show the menu of menus: steps, measuring, history, views, exports, help.")
{
    static const ui_menu_item steps[] = {
        {"n", "Step", "step", NULL},
        {"u", "Step back", "unstep", NULL},
        {"r", "Redo", "redo", NULL},
        {"R", "Back to the model", "retract-all", NULL},
        {"a", "Agent...", "agent", NULL},
        {"c", "Pause", "interrupt", NULL},
        {0},
    };
    static const ui_menu_item looks[] = {
        {"t", "History", "history", NULL},
        {"d", "Diff", "diff", NULL},
        {"D", "Compare states", "diff-states", NULL},
        {"l", "Rules", "rule-library", NULL},
        {"s", "Training", "training", NULL},
        {"v", "View...", "view-menu", NULL},
        {0},
    };
    static const ui_menu_item work[] = {
        {"=", "Measure", "measure", NULL},       {"q", "Measurements", "measure-queue", NULL},
        {"f", "Open", "find-file", NULL},        {"w", "Write", "write-file", NULL},
        {"e", "Export...", "export-menu", NULL}, {0},
    };
    static const ui_menu_item help[] = {
        {"k", "What a key does", "describe-key", NULL},
        {"m", "This buffer", "describe-mode", NULL},
        {"b", "All keys", "describe-bindings", NULL},
        {"x", "A command", "execute-extended-command", NULL},
        {"X", "Leave", "exit-regraft", NULL},
        {0},
    };
    static const ui_menu_group groups[] = {
        {"Step", steps}, {"Look", looks}, {"Work", work}, {"Help", help}, {0}};
    static const ui_menu bar = {"Menu", NULL, groups};
    return ui_menu_run(ui, &bar);
}

DEFCMD(menu, "view-menu", "", "Show the menu of views: folds, buffers, glyphs, colours.")
{
    static const ui_menu_argument arguments[] = {
        {'l', "Latency column", UI_OPT_latency_overlay},
        {'m', "Minimap", UI_OPT_minimap},
        {'g', "Glyphs", UI_OPT_glyphs},
        {'c', "Colours", UI_OPT_colours},
        {'b', "Background", UI_OPT_background_mode},
        {0},
    };
    static const ui_menu_item folds[] = {
        {"1", "Stages", "fold-stages", NULL},       {"2", "Blocks", "fold-blocks", NULL},
        {"3", "Operators", "show-operators", NULL}, {"4", "Constants", "show-constants", NULL},
        {"W", "Weights", "toggle-weights", NULL},   {0},
    };
    static const ui_menu_item buffers[] = {
        {"d", "Diff", "diff", NULL},
        {"t", "History", "history", NULL},
        {"n", "Node", "describe-node", NULL},
        {"s", "Training", "training", NULL},
        {0},
    };
    static const ui_menu_item lists[] = {
        {"m", "Measurements", "measure-queue", NULL},
        {"r", "Rules", "rule-library", NULL},
        {"l", "Layout", "restore-layout", NULL},
        {0},
    };
    static const ui_menu_group groups[] = {
        {"Fold to", folds}, {"Show", buffers}, {"Lists", lists}, {0}};
    static const ui_menu view_menu = {"View", arguments, groups};
    tg_status status = ui_menu_run(ui, &view_menu);
    ui_app_theme(ui);
    ui_touch(ui);
    return status;
}
