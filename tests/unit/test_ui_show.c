/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of any bytes on their way to a terminal or a pipe. */
#include "tests/unit/unit.h"

#include "tui/show.h"

#include <stdio.h>
#include <string.h>

static void format(tg_str *out, const char *fmt, ...)
{
    va_list ap;
    tg_str_clear(out);
    va_start(ap, fmt);
    ui_show_format(out, fmt, ap);
    va_end(ap);
}

#define SAME(...)                                                                                  \
    do {                                                                                           \
        char want[256];                                                                            \
        snprintf(want, sizeof want, __VA_ARGS__);                                                  \
        format(&s, __VA_ARGS__);                                                                   \
        assert_string_equal(tg_str_text(&s), want);                                                \
    } while (0)

static void plain_text_is_printed_as_by_printf(void **state)
{
    tg_str s = {0};
    (void)state;
    SAME("nothing\n");
    SAME("%s|%-8s|%8s|%.3s|%.*s|%-6.2s|", "a", "left", "right", "cut off", 2, "xyz", "abc");
    SAME("%d %4d %-4d| %u %x %c %%", -7, 42, 3, 8u, 255u, 'z');
    SAME("%lld %llu %zu %ld", -1LL, 18446744073709551615ULL, (size_t)9, 5L);
    SAME("%g %.4g %+9.5f %4.2f %.3e %+.1f%%", 0.1, 1.0 / 3, -2.5, 1.005, 12345.678, -0.04);
    tg_str_free(&s);
}

static void what_a_terminal_obeys_is_escaped(void **state)
{
    tg_str s = {0};
    (void)state;
    format(&s, "<%s>\n", "a\033[31m\nb\t\x7f");
    assert_string_equal(tg_str_text(&s), "<a^[[31m^Jb^I^?>\n");
    format(&s, "%s",
           "\xc2\x9b"
           "2J \xff\xfe \xe2\x80\xae"
           "abc");
    assert_string_equal(tg_str_text(&s), "\\x9b2J \\xff\\xfe \\u202eabc");
    format(&s, "%-6s|%6s|", "\xc3\xa9\xc3\xa8", "\001");
    assert_string_equal(tg_str_text(&s), "\xc3\xa9\xc3\xa8    |    ^A|");
    tg_str_clear(&s);
    ui_show(&s, "rule x\n\ty\033\n", 11, true);
    assert_string_equal(tg_str_text(&s), "rule x\n\ty^[\n");
    tg_str_free(&s);
}

static void files_get_the_same(void **state)
{
    char text[64] = "";
    (void)state;
    FILE *f = fmemopen(text, sizeof text, "w");
    assert_non_null(f);
    ui_show_to(f, "a\033]0;\nb\x80\n");
    fclose(f);
    assert_string_equal(text, "a^[]0;\nb\\x80\n");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(plain_text_is_printed_as_by_printf),
                                          cmocka_unit_test(what_a_terminal_obeys_is_escaped),
                                          cmocka_unit_test(files_get_the_same)};
UNIT_MAIN(tests)
