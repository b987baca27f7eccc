/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keys do, seen on the screen: motion, editing, prefix arguments, search, help. */
#include "tests/unit/ui_run.h"

#include "engine/base/log.h"

static ui_app *ui;

static int begin(void **state)
{
    (void)state;
    ui = ui_start(24, 80, true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ui_app_free(ui);
    return 0;
}

static void assert_point(size_t row, size_t col)
{
    assert_int_equal(ui->selected->point.row, row);
    assert_int_equal(ui->selected->point.col, col);
}

static void text_is_edited(void **state)
{
    (void)state;
    ui_run(ui, "\"hello world\" RET \"second\"\nassert-screen hello world\n");
    assert_point(1, 6);
    ui_run(ui, "M-< C-k C-y C-y\nassert-screen hello worldhello world\n"
               "C-_\nassert-not worldhello\n");
    ui_run(ui, "M-< M-d\nassert-screen world\nassert-not hello\nM-> M-DEL\nassert-not second\n");
    ui_run(ui, "C-y C-a C-t\nassert-screen Beginning of buffer\nC-f C-t\nassert-screen esc");
    assert_true(ui->selected->buffer->modified);
}

static void kills_chain_and_rotate(void **state)
{
    (void)state;
    ui_run(ui, "\"one two three\" M-DEL M-DEL\nassert-screen one\nassert-not two\n"
               "C-y\nassert-screen one two three\n"
               "C-a M-d C-e C-y M-y\nassert-screen two threetwo three\n");
}

static void read_only_is_respected(void **state)
{
    (void)state;
    ui_run(ui, "C-x b \"*Messages*\" RET C-k\n"
               "assert-screen Buffer is read-only: #<buffer *Messages*>\n"
               "C-SPC C-p C-w\nassert-screen Buffer is read-only\n"
               "C-x b RET C-y\nassert-screen *scratch*\n");
}

static void arguments_are_built(void **state)
{
    (void)state;
    ui_run(ui, "C-u \"x\" C-u 1 2 \"y\" C-u C-u \"z\" M-2 \"w\"\n"
               "assert-screen xxxxyyyyyyyyyyyyzzzzzzzzzzzzzzzzww\n"
               "C-a C-u 5 C-f\n");
    assert_point(0, 5);
    ui_run(ui, "C-u - 2 C-f");
    assert_point(0, 3);
    ui_run(ui, "M-- C-f");
    assert_point(0, 2);
    ui_run(ui, "C-u\nidle\nassert-screen C-u-\n8\nassert-screen C-u 8-\nC-g\nassert-screen Quit\n");
}

static void column_is_kept(void **state)
{
    (void)state;
    ui_run(ui, "\"long line here\" RET \"ab\" RET \"another long\" M-< C-e C-n\n");
    assert_point(1, 2);
    ui_run(ui, "C-n C-p C-p");
    assert_point(0, 14);
    ui_run(ui, "C-p\nassert-screen Beginning of buffer\nM-> C-n\nassert-screen End of buffer\n");
    ui_run(ui, "M-g g \"2\" RET");
    assert_point(1, 0);
}

static void wide_text_is_one_step(void **state)
{
    (void)state;
    ui_run(ui, "\"a中é\" C-a C-f C-f");
    assert_point(0, 4);
    int y, x;
    ui_paint(ui);
    ui_term_memory_cursor(ui->term, &y, &x);
    assert_int_equal(y, 0);
    assert_int_equal(x, 3);
}

static void fill(int rows)
{
    tg_str s = {0};
    for (int i = 1; i <= rows; i++) tg_str_addf(&s, "row %d %s\n", i, i % 10 ? "plain" : "Tenth");
    ui_text_set(&ui->selected->buffer->text, s.p);
    ui->selected->point = (ui_point){0};
    tg_str_free(&s);
}

static void pages_keep_context(void **state)
{
    (void)state;
    fill(100);
    ui_run(ui, "C-v");
    /* 22 rows of text, two of which stay */
    assert_string_equal(ui_screen_row(ui, 0), "row 21 plain");
    ui_run(ui, "M-v");
    assert_string_equal(ui_screen_row(ui, 0), "row 1 plain");
    ui_run(ui, "C-u 3 C-v");
    assert_string_equal(ui_screen_row(ui, 0), "row 4 plain");
    assert_contains(ui_screen_row(ui, 22), " 2% L21");
    ui_run(ui, "M->");
    assert_contains(ui_screen_row(ui, 22), "Bot L101");
    ui_run(ui, "M-g g \"5 0\" RET M-g g \"50\" RET C-l C-l");
    assert_string_equal(ui_screen_row(ui, 0), "row 50 Tenth");
}

static void search_finds_and_wraps(void **state)
{
    (void)state;
    fill(30);
    ui_run(ui, "M-g g \"15\" RET C-s \"tenth\"\nassert-screen I-search: tenth (2/3)\n"
               "C-s\nassert-screen (3/3)\nC-s\nassert-screen Failing I-search: tenth\n"
               "C-s\nassert-screen Wrapped I-search: tenth (1/3)\n"
               "C-s\nassert-screen Overwrapped I-search: tenth (2/3)\n"
               "DEL DEL DEL DEL DEL DEL DEL DEL\nassert-screen I-search: t (\n"
               "C-g\nassert-screen Quit\n");
    assert_point(14, 0);
    ui_run(ui, "M-< C-s \"TENTH\"\nassert-screen Failing I-search: TENTH\n"
               "M-c\nassert-screen I-search: TENTH (1/3)\nRET\n");
    assert_point(9, 12);
    ui_run(ui, "C-x C-x");
    assert_point(0, 0);
}

static void search_passes_other_keys_on(void **state)
{
    (void)state;
    fill(30);
    ui_run(ui, "C-s \"row 2\" C-w\nassert-screen I-search: row 2 plain (1/1)\nC-a C-n");
    assert_point(2, 0);
    ui_run(ui, "M-> C-r \"row 2\"\nassert-screen I-search backward: row 2 (11/11)\n"
               "C-r\nassert-screen (10/11)\nM-<");
    assert_point(0, 0);
    ui_run(ui, "C-M-s \"row (3|4) \"\nassert-screen Regexp I-search: row (3|4)  (1/2)\nC-s RET");
    assert_point(3, 6);
    ui_run(ui, "M-< C-s C-s\nassert-screen I-search: row (3|4)\nC-g C-g\n"
               "C-s \"row [\" M-r\nassert-screen [incomplete input]\nC-g C-g\n");
}

static void search_goes_back_before_out(void **state)
{
    (void)state;
    fill(30);
    ui_run(ui, "C-s \"tenthx\"\nassert-screen Failing I-search: tenthx\n"
               "C-g\nassert-screen I-search: tenth (1/3)\nC-g\nassert-screen Quit\n");
    assert_point(0, 0);
}

static void matches_are_lit(void **state)
{
    (void)state;
    fill(12);
    ui_run(ui, "C-s \"plain\"\nsettle\n");
    ui_run(ui, "M-< C-s \"plain\"\nassert-screen (1/11)\n");
    ui_app_free(ui);
    ui = ui_start(24, 80, true);
    fill(12);
    const char *path = unit_temporary("faces");
    tg_str script = {0};
    tg_str_addf(&script, "C-s \"plain\"\nsave-faces %s\nC-g\n", path);
    ui_run(ui, script.p);
    tg_str_free(&script);
    char *faces;
    size_t size;
    assert_ok(tg_read_file(path, 1 << 20, &faces, &size));
    assert_contains(faces, "0:6-10 default match\n");
    assert_contains(faces, "1:6-10 default lazy-match\n");
    assert_contains(faces, "10:7-11 default lazy-match\n");
    free(faces);
}

static void help_answers(void **state)
{
    (void)state;
    ui_run(ui,
           "C-h k C-x o\n"
           "assert-screen C-x o runs the command other-window (found in global-map), defined in\n"
           "assert-screen (other-window &optional N)\n"
           "assert-screen Type C-x 1 to delete the help window, C-M-v to scroll help.\n"
           "C-h c C-M-v\nassert-screen C-M-v runs the command scroll-other-window\n"
           "C-h w \"other-window\" RET\nassert-screen other-window is on C-x o\n"
           "C-h w \"describe-face\" RET\nassert-screen describe-face is not on any key\n"
           "C-h v \"glyphs\" RET\nassert-screen glyphs is an option. Its value is auto.\n"
           "C-h a \"isearch\" RET\nassert-screen isearch-forward-regexp\n"
           "C-x 4 C-h\nassert-screen Keys that begin with C-x 4:\n"
           "C-h k C-x C-q\nassert-screen C-x C-q is undefined\n"
           "C-h b\nassert-screen interaction-mode-map:\n");
}

static void help_follows_links(void **state)
{
    (void)state;
    ui_run(ui, "C-h m C-x o TAB RET\nassert-screen fundamental-mode is a major mode\n"
               "l\nassert-screen interaction-mode is a major mode, derived\n"
               "r\nassert-screen fundamental-mode is a major mode\n"
               "r\nassert-screen No next help buffer\n"
               "TAB RET\nassert-screen is a command, defined in\n");
}

static void prefixes_pop_up(void **state)
{
    (void)state;
    ui_run(ui, "C-x\nassert-not delete-window\nidle\nassert-screen C-x-\nidle\n"
               "assert-screen 0 delete-window\nassert-screen 4 +prefix\n2\n"
               "assert-not delete-window\n");
    assert_int_equal(ui_window_count(ui), 2);
    ui_run(ui,
           "C-x 1 C-x b \"*Messages*\" RET ?\nassert-screen q quit-window\n"
           "assert-screen Keys of *Messages* (Log)\nh\nassert-screen log-mode is a major mode\n");
}

static void messages_are_kept(void **state)
{
    (void)state;
    ui_run(ui, "C-x C-q C-x C-q C-x C-q C-h e\nassert-screen C-x C-q is undefined [3 times]\n"
               "C-h l\nassert-screen ;; view-echo-area-messages\n");
}

static void buffers_come_and_go(void **state)
{
    (void)state;
    ui_run(ui, "C-x b \"notes\" RET \"text\" C-x C-b C-x o\nassert-screen Buffer Menu\n"
               "M-> C-a d\nassert-screen D *\n"
               "C-x o C-x k RET\nassert-not (Fundamental)\n"
               "C-x k \"no such\" RET\nassert-screen No buffer named `no such'\n"
               "C-x o g\nassert-not notes\n");
    ui_run(
        ui,
        "C-x b \"again\" RET C-x <left>\nassert-not again  \nC-x <right>\nassert-screen again\n");
}

static void paste_is_text(void **state)
{
    (void)state;
    ui_term_memory_paste(ui->term, "C-x C-c\nM-x q\x1bx");
    ui_loop(ui);
    assert_false(ui->exit);
    ui_run(ui, "assert-screen C-x C-c\nassert-screen M-x q^[x\n");
}

static void escape_is_meta(void **state)
{
    (void)state;
    ui_run(ui, "\"one two\" ESC \"b\"\n");
    assert_point(0, 4);
    ui_run(ui, "ESC\nidle\nassert-screen ESC-\n\"b\" C-x 2 ESC ESC ESC\n");
    assert_int_equal(ui_window_count(ui), 1);
    ui_run(ui, "M-x \"abc\" ESC ESC ESC\nassert-not abc\n");
}

static void options_are_set(void **state)
{
    (void)state;
    ui_run(ui, "\"●─╯\"\nassert-screen ●─╯\n"
               "M-x \"set-variable\" RET \"gly\" TAB RET \"asc\" TAB RET\n"
               "assert-screen glyphs is ascii\nassert-screen *-'\n"
               "M-x \"set-variable\" RET \"refresh-rate\" RET \"900\" RET\n"
               "assert-screen a whole number from 1 to 60, not 900\n");
}

static void leaving_ends_all_loops(void **state)
{
    (void)state;
    ui_run(ui, "M-x C-x C-c");
    assert_true(ui->exit);
    assert_int_equal(ui->exit_status, 0);
}

static tg_status count_up(tg_job *job, void *ctx)
{
    (void)ctx;
    for (int i = 1; i <= 3; i++) {
        TG_TRY(tg_job_poll(job));
        tg_log(TG_LOG_NOTE, "job says %d", i);
    }
    return TG_OK;
}

static void count_done(void *ctx, tg_status status, const char *message)
{
    (void)message;
    ui_message(ctx, "job ended with %d", status);
}

static void jobs_report(void **state)
{
    (void)state;
    tg_job_unref(tg_jobs_start(ui->jobs, count_up, count_done, ui));
    ui_run(ui, "assert-screen job ended with 0\nsettle\nC-h e\n"
               "assert-screen job says 1\nassert-screen job says 3\n");
    /* news never takes the place of a prompt, and is not lost */
    ui_run(ui, "C-x 1");
    ui_note(ui, "policy updated");
    ui_run(ui,
           "M-x \"find\"\nassert-not policy updated\nC-g C-h e\nassert-screen policy updated\n");
}

#define KEYS_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
static const struct CMUnitTest tests[] = {
    KEYS_TEST(text_is_edited),
    KEYS_TEST(kills_chain_and_rotate),
    KEYS_TEST(read_only_is_respected),
    KEYS_TEST(arguments_are_built),
    KEYS_TEST(column_is_kept),
    KEYS_TEST(wide_text_is_one_step),
    KEYS_TEST(pages_keep_context),
    KEYS_TEST(search_finds_and_wraps),
    KEYS_TEST(search_passes_other_keys_on),
    KEYS_TEST(search_goes_back_before_out),
    KEYS_TEST(matches_are_lit),
    KEYS_TEST(help_answers),
    KEYS_TEST(help_follows_links),
    KEYS_TEST(prefixes_pop_up),
    KEYS_TEST(messages_are_kept),
    KEYS_TEST(buffers_come_and_go),
    KEYS_TEST(paste_is_text),
    KEYS_TEST(escape_is_meta),
    KEYS_TEST(options_are_set),
    KEYS_TEST(leaving_ends_all_loops),
    KEYS_TEST(jobs_report),
};
UNIT_MAIN(tests)
