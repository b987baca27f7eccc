/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driving the interface in tests: keys in, screen out. */
#ifndef TESTS_UNIT_UI_RUN_H
#define TESTS_UNIT_UI_RUN_H

#include "tests/unit/unit.h"
#include "tui/app.h"
#include "tui/script.h"

UNIT_MAYBE ui_app *ui_start(int rows, int cols, bool utf8)
{
    ui_opt_reset();
    return ui_app_new(ui_term_memory(rows, cols, utf8), true);
}

/* Runs a script (script.h) to its end; a line that fails fails the test. */
UNIT_MAYBE void ui_run(ui_app *ui, const char *text)
{
    assert_ok(ui_script_new("test", text, &ui->script));
    ui_loop(ui);
    const char *failure = ui_script_failure(ui->script);
    if (failure) fail_msg("%s", failure);
    ui_script_free(ui->script);
    ui->script = NULL;
}

/* The row of the screen, after a fresh paint; valid until the next call. */
UNIT_MAYBE const char *ui_screen_row(ui_app *ui, int y)
{
    static char row[1024];
    ui_paint(ui);
    char *text = ui_term_memory_text(ui->term), *at = text;
    for (int i = 0; i < y; i++) at = strchr(at, '\n') + 1;
    snprintf(row, sizeof row, "%.*s", (int)strcspn(at, "\n"), at);
    free(text);
    return row;
}

#endif
