/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hundred thousand random keys with random resizes: nothing may break. */
#include "tests/unit/ui_run.h"

#include "engine/base/rng.h"

enum { KEYS = 100000 };

static ui_key random_key(tg_rng *rng)
{
    static const ui_key often[] = {24,  24,  24,  8,   27,  27,  21,  19,  18,  13,
                                   9,   127, 7,   25,  11,  23,  0,   '0', '1', '2',
                                   '3', 'o', 'b', 'x', 'q', 'd', 'm', 'k', 'f', '^'};
    switch (tg_rng_below(rng, 8)) {
    case 0: return (ui_key)tg_rng_below(rng, 32);
    case 1: return UI_KEY_UP + (ui_key)tg_rng_below(rng, UI_KEY_F12 - UI_KEY_UP + 1);
    case 2: return 0xa0 + (ui_key)tg_rng_below(rng, 0x3000);
    case 3:
    case 4: return 32 + (ui_key)tg_rng_below(rng, 96);
    default: return often[tg_rng_below(rng, sizeof often / sizeof *often)];
    }
}

static void check(ui_app *ui)
{
    if (!ui_windows_tile(ui)) fail_msg("windows do not tile %dx%d", ui->rows, ui->cols);
    assert_true(ui_window_live(ui, ui->selected));
    ui_paint(ui);
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        size_t rows = ui_buffer_rows(ui, w->buffer);
        if (w == ui->selected) assert_true(w->point.row < rows || w->point.row == 0);
    }
    int y, x;
    ui_term_memory_cursor(ui->term, &y, &x);
    assert_true(y >= 0 && y < ui->rows && x >= 0 && x < ui->cols);
}

/* Which of the last keys ended in a command: the walk must reach most of them to mean anything. */
static void note_commands(const ui_app *ui, bool *seen)
{
    for (size_t i = 0; i < ui->lossage.n; i++) {
        const ui_command *c;
        for (int k = 0; (c = ui_command_at(k)) != NULL; k++) {
            if (c == ui->lossage.v[i].command) seen[k] = true;
        }
    }
}

static void survives_random_keys(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    tg_rng *rng = tg_rng_new(20260101);
    bool seen[1000] = {false};
    int reached = 0;
    for (int sent = 0; sent < KEYS;) {
        int n = 1 + (int)tg_rng_below(rng, 60);
        for (int i = 0; i < n; i++, sent++) {
            ui_key key = random_key(rng);
            uint64_t dice = tg_rng_below(rng, 400);
            if (dice == 0) {
                ui_term_memory_resize(ui->term, 1 + (int)tg_rng_below(rng, 70),
                                      1 + (int)tg_rng_below(rng, 200));
            }
            if (dice == 1) ui_term_memory_paste(ui->term, "pasted\ntext \x1b[2J\xff");
            ui_term_memory_feed(ui->term, key == UI_KEY_PASTE ? 'p' : key);
        }
        ui_loop(ui);
        ui->exit = false;
        check(ui);
        note_commands(ui, seen);
    }
    for (int i = 0; i < 1000; i++) reached += seen[i];
    assert_true(reached > 70);
    tg_rng_free(rng);
    ui_app_free(ui);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(survives_random_keys)};
UNIT_MAIN(tests)
