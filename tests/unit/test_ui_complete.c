/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/ui_run.h"
#include "tui/complete.h"

#include <sys/stat.h>

/* Completes `input` among words; "best/number", with ! if exact. */
static const char *complete(const char *input, const char *words, bool fold)
{
    static char out[256];
    ui_choices c = {0};
    tg_str best = {0};
    bool exact;
    ui_source_words(NULL, (void *)words, input, &c);
    ui_complete(input, &c, fold, &best, &exact);
    snprintf(out, sizeof out, "%s/%zu%s", tg_str_text(&best), c.list.n, exact ? "!" : "");
    ui_choices_done(&c);
    tg_str_free(&best);
    return out;
}

static void longest_common_part(void **state)
{
    (void)state;
    const char *words = "step|step-until|step-to-point|stop";
    assert_string_equal(complete("", words, false), "st/4");
    assert_string_equal(complete("ste", words, false), "step/3");
    assert_string_equal(complete("step-u", words, false), "step-until/1");
    assert_string_equal(complete("step", words, false), "step/3!");
    assert_string_equal(complete("x", words, false), "x/0");
}

static void parts_between_hyphens(void **state)
{
    (void)state;
    const char *words = "step|step-until|step-to-point|describe-key|describe-mode";
    assert_string_equal(complete("s-t-p", words, false), "step-to-point/1");
    assert_string_equal(complete("des-k", words, false), "describe-key/1");
    assert_string_equal(complete("d-", words, false), "describe-/2");
    assert_true(ui_complete_fits("s-t", "step-to-point", false));
    assert_false(ui_complete_fits("s-p", "step-to-point", false));
}

static void case_is_folded_on_request(void **state)
{
    (void)state;
    assert_string_equal(complete("ST", "step|stop", true), "st/2");
    assert_string_equal(complete("ST", "step|stop", false), "ST/0");
}

static void characters_stay_whole(void **state)
{
    (void)state;
    /* é and è share their first byte */
    assert_string_equal(complete("", "x\xc3\xa9|x\xc3\xa8", false), "x/2");
}

static void doubles_count_once(void **state)
{
    (void)state;
    assert_string_equal(complete("a", "a|a|a", false), "a/1!");
}

static void files_complete_in_their_folder(void **state)
{
    (void)state;
    ui_choices c = {0};
    tg_str best = {0};
    bool exact;
    char input[4096];
    assert_int_equal(mkdir(unit_temporary("net-folder"), 0700), 0);
    assert_ok(tg_write_file(unit_temporary("net.onnx"), "x", 1));
    snprintf(input, sizeof input, "/nowhere/%s", unit_temporary("net.o"));
    ui_source_file(NULL, NULL, input, &c);
    ui_complete(input, &c, false, &best, &exact);
    assert_int_equal(c.list.n, 1);
    assert_true(tg_ends_with(best.p, "net.onnx"));
    ui_choices_done(&c);
    c = (ui_choices){0};
    snprintf(input, sizeof input, "%s", unit_temporary("net"));
    ui_source_file(NULL, NULL, input, &c);
    ui_complete(input, &c, false, &best, &exact);
    assert_int_equal(c.list.n, 2);
    assert_string_equal(c.list.v[0].text, "net-folder/");
    ui_choices_done(&c);
    tg_str_free(&best);
}

static void paths_expand(void **state)
{
    (void)state;
    setenv("HOME", "/home/u", 1);
    static const char *const cases[][2] = {{"/a//b", "/b"},
                                           {"~/m", "/home/u/m"},
                                           {"/x/~/m", "/home/u/m"},
                                           {"a/b", "a/b"},
                                           {"~", "/home/u"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = ui_expand_file(cases[i][0]);
        assert_string_equal(got, cases[i][1]);
        free(got);
    }
}

static void minibuffer_says_what_it_found(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    ui_run(ui, "M-x \"qqq\" TAB\n"
               "assert-screen M-x: qqq [No match]\n"
               "C-a C-k \"other-w\" TAB\n"
               "assert-screen M-x: other-window\n"
               "TAB\n"
               "assert-screen [Sole completion]\n"
               "C-a C-k \"describe\" TAB\n"
               "assert-screen M-x: describe-\n"
               "TAB\n"
               "assert-screen [More than one completion]\n"
               "TAB\n"
               "assert-screen describe-bindings\n"
               "assert-screen C-h b\n"
               "C-a C-k \"sp-w-r\" RET\n"
               "assert-screen │\n"
               "assert-not possible completions\n");
    assert_int_equal(ui_window_count(ui), 2);
    ui_app_free(ui);
}

static void minibuffer_keeps_history(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    ui_run(ui,
           "M-x \"split-window-below\" RET M-x \"other-window\" RET\n"
           "M-x M-p\nassert-screen M-x: other-window\n"
           "M-p\nassert-screen M-x: split-window-below\n"
           "M-n M-n\nassert-screen M-x:\nassert-not M-x: o\n"
           "\"split\" M-r\nassert-screen M-x: split-window-below\n"
           "C-g\nassert-screen \n"
           "M-x \"othr-window\" RET\nassert-screen [No match; did you mean other-window?]\nC-g\n"
           "C-x b M-x\nassert-screen [Command attempted to use minibuffer whi\n"
           "C-g M-: \n");
    ui_app_free(ui);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(longest_common_part),
    cmocka_unit_test(parts_between_hyphens),
    cmocka_unit_test(case_is_folded_on_request),
    cmocka_unit_test(characters_stay_whole),
    cmocka_unit_test(doubles_count_once),
    cmocka_unit_test(files_complete_in_their_folder),
    cmocka_unit_test(paths_expand),
    cmocka_unit_test(minibuffer_says_what_it_found),
    cmocka_unit_test(minibuffer_keeps_history),
};
UNIT_MAIN(tests)
