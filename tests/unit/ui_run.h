/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driving the interface in tests: keys in, screen out. */
#ifndef TESTS_UNIT_UI_RUN_H
#define TESTS_UNIT_UI_RUN_H

#include "tests/unit/unit.h"
#include "tui/app.h"
#include "tui/script.h"
#include "tui/session.h"

#include "samples/samples.h"

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

/* Saves a sample in a folder of its own; the path is freed by the caller. */
UNIT_MAYBE char *ui_sample_file(const char *name)
{
    char folder[] = "/tmp/regraft-test-XXXXXX", path[128];
    tg_graph *g;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
    assert_ok(tg_sample_build(name, 1, false, &g));
    assert_ok(tg_onnx_save(g, path));
    tg_graph_unref(g);
    return tg_strdup(path);
}

/* Removes the file and its folder. */
UNIT_MAYBE void ui_sample_remove(char *path)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    free(path);
}

/* Opens a sample and waits until its candidates are there. Nothing depends on time. */
UNIT_MAYBE void ui_open_sample(ui_app *ui, const char *name)
{
    char *path = ui_sample_file(name);
    assert_ok(ui_opt_assign("backend=model"));
    assert_ok(ui_opt_assign("train-threads=0"));
    assert_ok(ui_session_open(ui, path));
    while (tg_jobs_busy(ui->jobs) || tg_jobs_dispatch(ui->jobs)) {
        tg_jobs_dispatch(ui->jobs);
        usleep(1000);
    }
    assert_non_null(ui_session_get(ui));
    ui_sample_remove(path);
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
