/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/ui_run.h"

#include "engine/base/rng.h"

static ui_window *random_window(ui_app *ui, tg_rng *rng)
{
    return ui_window_cycle(ui, ui_window_first(ui), (int)tg_rng_below(rng, 50));
}

static void check(ui_app *ui)
{
    assert_true(ui_windows_tile(ui));
    assert_true(ui_window_live(ui, ui->selected));
    int cells = 0, n = 0;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) n++;
    assert_int_equal(n, ui_window_count(ui));
    if (ui->solo) return;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        assert_true(w->rows >= UI_MIN_ROWS && w->cols >= UI_MIN_COLS);
        cells += w->rows * w->cols;
    }
    /* what is left are the lines between windows side by side */
    assert_true(cells <= (ui->rows - 1) * ui->cols);
}

static void random_step(ui_app *ui, tg_rng *rng)
{
    ui_window *w = random_window(ui, rng), *made;
    ui_buffer *b = ui->buffers.v[tg_rng_below(rng, 2)];
    tg_status status = TG_OK;
    switch (tg_rng_below(rng, 10)) {
    case 0:
    case 1: status = ui_window_split(ui, w, false, 0, &made); break;
    case 2:
    case 3: status = ui_window_split(ui, w, true, 0, &made); break;
    case 4: status = ui_window_delete(ui, w); break;
    case 5:
        status = ui_window_grow(ui, w, tg_rng_below(rng, 2), (int)tg_rng_below(rng, 30) - 15);
        break;
    case 6: ui_display(ui, b); break;
    case 7: ui_window_quit(ui, w); break;
    case 8: ui_window_select(ui, w); break;
    default:
        if (tg_rng_below(rng, 12) == 0) ui_window_delete_others(ui, w);
        else if (tg_rng_below(rng, 4) == 0) ui_windows_balance(ui);
        ui->rows = 2 + (int)tg_rng_below(rng, 70);
        ui->cols = 1 + (int)tg_rng_below(rng, 200);
        ui_windows_layout(ui);
        break;
    }
    (void)status;
}

static void windows_tile_at_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ui_app *ui = ui_start(50, 160, true);
        tg_rng *rng = tg_rng_new(seed);
        for (int i = 0; i < 1000; i++) {
            random_step(ui, rng);
            check(ui);
        }
        tg_rng_free(rng);
        ui_app_free(ui);
    }
}

static void resizing_back_restores(void **state)
{
    (void)state;
    ui_app *ui = ui_start(50, 160, true);
    ui_run(ui, "C-x 2 C-x 3 C-x o C-u 7 C-x ^ C-u 5 C-x {");
    int before[8][2], n = 0;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w), n++) {
        before[n][0] = w->rows;
        before[n][1] = w->cols;
    }
    ui_run(ui, "resize 20 70\nresize 9 30\nresize 3 5\nresize 50 160\n");
    n = 0;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w), n++) {
        assert_int_equal(w->rows, before[n][0]);
        assert_int_equal(w->cols, before[n][1]);
    }
    assert_int_equal(n, 3);
    ui_app_free(ui);
}

static void growing_is_exact(void **state)
{
    (void)state;
    ui_app *ui = ui_start(50, 160, true);
    ui_run(ui, "C-x 2 C-x 2");
    int rows = ui->selected->rows;
    ui_run(ui, "C-u 3 C-x ^");
    assert_int_equal(ui->selected->rows, rows + 3);
    ui_run(ui, "C-u - 5 C-x ^");
    assert_int_equal(ui->selected->rows, rows - 2);
    ui_run(ui, "C-u 9 9 C-x ^");
    check(ui);
    ui_run(ui, "C-x 1 C-u 2 0 C-x 3");
    assert_int_equal(ui->selected->cols, 20);
    ui_run(ui, "C-x o C-u 3 C-x {");
    assert_int_equal(ui_window_first(ui)->cols, 23);
    ui_app_free(ui);
}

static void popups_go_as_they_came(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    ui_run(ui, "C-h m\nassert-screen interaction-mode is a major mode\n"
               "C-x o q\nassert-not major mode\n");
    assert_int_equal(ui_window_count(ui), 1);
    assert_string_equal(ui->selected->buffer->name, "*scratch*");
    /* two windows of the user's: one is borrowed, and given back with its point */
    ui_run(ui, "C-x 2 C-x o C-x b \"*Messages*\" RET C-x o C-h m C-x o\n"
               "assert-screen *Help*\nq\n");
    assert_int_equal(ui_window_count(ui), 2);
    ui_run(ui, "assert-not *Help*\nassert-screen *Messages*\n");
    ui_app_free(ui);
}

static void popups_leave_first_when_space_ends(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    ui_run(ui, "C-x 2 C-x 1 C-h m\nassert-screen *Help*\nresize 7 80\nassert-not *Help*\n");
    assert_int_equal(ui_window_count(ui), 1);
    ui_run(ui, "resize 5 19\nassert-screen Terminal too sma\nC-x 2\nresize 24 80\n"
               "assert-screen *scratch*\n");
    ui_app_free(ui);
}

static void limits_are_said(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    ui_run(ui, "C-x 0\nassert-screen Attempt to delete sole ordinary window\n"
               "C-x o\nassert-screen No other window to select\n"
               "C-u 2 C-x 2\nassert-screen Window too small for splitting\n"
               "C-x C-g\nassert-screen Quit\n"
               "C-x C-q\nassert-screen C-x C-q is undefined\n"
               "M-v\nassert-screen Beginning of buffer\n");
    ui_app_free(ui);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(windows_tile_at_random),
    cmocka_unit_test(resizing_back_restores),
    cmocka_unit_test(growing_is_exact),
    cmocka_unit_test(popups_go_as_they_came),
    cmocka_unit_test(popups_leave_first_when_space_ends),
    cmocka_unit_test(limits_are_said),
};
UNIT_MAIN(tests)
