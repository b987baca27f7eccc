/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/ui_run.h"
#include "tui/menu.h"

static const ui_menu_item more[] = {{"s", "Split right", .command = "split-window-right"},
                                    {NULL, NULL, NULL, NULL}};
static const ui_menu_group more_groups[] = {{"More", more}, {NULL, NULL}};
static const ui_menu more_menu = {"More", NULL, more_groups};

static const ui_menu_item windows[] = {
    {"2", "Split below", .command = "split-window-below"},
    {"m", "More", .menu = &more_menu},
    {NULL, NULL, NULL, NULL},
};
static const ui_menu_item help[] = {{"RET", "Bindings", .command = "describe-bindings"},
                                    {NULL, NULL, NULL, NULL}};
static const ui_menu_argument arguments[] = {
    {'r', "Refresh rate", UI_OPT_refresh_rate},
    {'w', "Pop up keys", UI_OPT_which_key},
    {0, NULL, UI_OPT_COUNT},
};
static const ui_menu_group groups[] = {{"Windows", windows}, {"Help", help}, {NULL, NULL}};
static const ui_menu menu = {"Demonstration", arguments, groups};

/* Opens the menu and types into it. */
static tg_status in_menu(ui_app *ui, const char *script)
{
    assert_ok(ui_script_new("test", script, &ui->script));
    tg_status status = ui_menu_run(ui, &menu);
    if (ui_script_failure(ui->script)) fail_msg("%s", ui_script_failure(ui->script));
    ui_script_free(ui->script);
    ui->script = NULL;
    return status;
}

static void menus_name_what_exists(void **state)
{
    (void)state;
    static const ui_menu_item wrong[] = {{"x", "X", .command = "no-such-command"},
                                         {NULL, NULL, NULL, NULL}};
    static const ui_menu_group wrong_groups[] = {{"Wrong", wrong}, {NULL, NULL}};
    static const ui_menu wrong_menu = {"Wrong", NULL, wrong_groups};
    assert_null(ui_menu_check(&menu));
    assert_string_equal(ui_menu_check(&wrong_menu), "no-such-command");
}

static void suffixes_run(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    assert_ok(in_menu(ui, "assert-screen Demonstration\nassert-screen 2 Split below\n"
                          "assert-screen -r Refresh rate\nassert-screen (5)\n2\n"));
    assert_int_equal(ui_window_count(ui), 2);
    assert_ok(in_menu(ui, "m\nassert-screen Split right\nassert-not Split below\ns\n"));
    assert_int_equal(ui_window_count(ui), 3);
    ui_run(ui, "assert-not transient\n");
    ui_app_free(ui);
}

static void arguments_are_options(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    assert_ok(in_menu(ui,
                      "- r \"9\" RET\nassert-screen (9)\n- w\nassert-screen (false)\n"
                      "- r \"99\" RET\nassert-screen from 1 to 60\n- z\n"
                      "assert-screen Unbound suffix: `z' (use C-g to abort, ? for help)\nC-q\n"));
    assert_int_equal(ui_opt_int(UI_OPT_refresh_rate), 9);
    assert_false(ui_opt_flag(UI_OPT_which_key));
    ui_app_free(ui);
}

static void levels_go_back(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    assert_status(in_menu(ui, "m C-g\nassert-screen Split below\nC-g\n"), TG_CANCELLED);
    assert_ok(in_menu(ui, "m C-q"));
    assert_ok(in_menu(ui, "C-x 2 C-x o\nassert-screen transient\nC-h 2\n"
                          "assert-screen split-window-below is a command\nC-q\n"));
    assert_int_equal(ui_window_count(ui), 2);
    ui_app_free(ui);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(menus_name_what_exists),
    cmocka_unit_test(suffixes_run),
    cmocka_unit_test(arguments_are_options),
    cmocka_unit_test(levels_go_back),
};
UNIT_MAIN(tests)
