/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "tui/cell.h"
#include "tui/term.h"

#include <math.h>

static void utf8_refuses_what_is_not(void **state)
{
    (void)state;
    uint32_t cp;
    static const char *const bad[] = {"\x80",         "\xc0\x80",     "\xe0\x80\x80",
                                      "\xed\xa0\x80", "\xf5\x80\x80", "\xf4\x90\x80\x80",
                                      "\xe2\x82",     "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ui_utf8_decode(bad[i], strlen(bad[i]), &cp), 0);
    }
}

static void utf8_round_trips(void **state)
{
    (void)state;
    for (uint32_t cp = 1; cp < 0x110000; cp += 7) {
        char s[5];
        uint32_t got = 0;
        if (cp >= 0xd800 && cp < 0xe000) continue;
        size_t n = ui_utf8_encode(cp, s);
        assert_int_equal(ui_utf8_decode(s, n, &got), n);
        assert_int_equal(got, cp);
    }
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(ui_char_width('a'), 1);
    assert_int_equal(ui_char_width(0x25cf), 1);
    assert_int_equal(ui_char_width(0x4e2d), 2);
    assert_int_equal(ui_char_width(0x0301), 0);
    assert_int_equal(ui_char_width(27), -1);
    assert_int_equal(ui_char_width(0x9b), -1);
    assert_int_equal(ui_char_width(0x202e), -1);
}

static void clusters_join_and_escape(void **state)
{
    (void)state;
    ui_cluster c = ui_cluster_read("e\xcc\x81x", 4);
    assert_int_equal(c.bytes, 3);
    assert_int_equal(c.width, 1);
    assert_int_equal(c.cp[1], 0x301);
    c = ui_cluster_read("\x1b[31m", 5);
    assert_string_equal(c.escape, "^[");
    assert_int_equal(c.bytes, 1);
    c = ui_cluster_read("\xff", 1);
    assert_string_equal(c.escape, "\\xff");
    c = ui_cluster_read("\xe2\x80\xae", 3);
    assert_string_equal(c.escape, "\\u202e");
    assert_int_equal(c.width, 6);
}

static void columns_and_bytes_agree(void **state)
{
    (void)state;
    const char *s = "a中\x01z";
    assert_int_equal(ui_text_width(s, strlen(s)), 6);
    assert_int_equal(ui_text_at_column(s, strlen(s), 2), 1);
    assert_int_equal(ui_text_at_column(s, strlen(s), 3), 4);
    assert_int_equal(ui_text_at_column(s, strlen(s), 99), strlen(s));
    assert_int_equal(ui_cluster_before(s, 4), 1);
}

static void grid_cuts_wide_characters(void **state)
{
    (void)state;
    ui_grid g = {0};
    ui_grid_resize(&g, 1, 4);
    assert_int_equal(ui_grid_put(&g, 0, 0, 4, "abc中", 6, UI_FACE_plain), 4);
    char *text = ui_grid_text(&g);
    assert_string_equal(text, "abc\n");
    free(text);
    ui_grid_put(&g, 0, 1, 4, "中x", 4, UI_FACE_plain);
    assert_int_equal(ui_grid_at(&g, 0, 1)->width, 2);
    assert_int_equal(ui_grid_at(&g, 0, 2)->width, 0);
    ui_grid_done(&g);
}

static void ascii_stands_in(void **state)
{
    (void)state;
    const char *s = "├─● │ ●─╯ ▸×2 █▏ −2.4 中";
    ui_grid g = {.ascii = true};
    ui_grid_resize(&g, 1, 40);
    g.ascii = true;
    ui_grid_put(&g, 0, 0, 40, s, strlen(s), UI_FACE_plain);
    char *text = ui_grid_text(&g);
    assert_string_equal(text, "+-* | *-' >x2 #. -2.4 ??\n");
    free(text);
    ui_grid_done(&g);
}

/* WCAG 2.1, relative luminance. */
static double luminance(int32_t rgb)
{
    double sum = 0;
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) {
        double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(int32_t a, int32_t b)
{
    double la = luminance(a), lb = luminance(b);
    return la > lb ? (la + 0.05) / (lb + 0.05) : (lb + 0.05) / (la + 0.05);
}

static void faces_can_be_read(void **state)
{
    (void)state;
    for (int f = 0; f < UI_FACE_COUNT; f++) {
        const ui_face_info *i = ui_face_get((ui_face)f);
        for (int light = 0; light < 2; light++) {
            int32_t fg = i->fg[light] >= 0 ? i->fg[light] : light ? 0x000000 : 0xe5e5e5;
            int32_t bg = i->bg[light] >= 0 ? i->bg[light] : light ? 0xffffff : 0x1c1c1c;
            if (contrast(fg, bg) < 4.5) fail_msg("%s: contrast %.2f", i->name, contrast(fg, bg));
            /* what the row at point lies under must be legible there too */
            if (i->bg[light] >= 0 || i->fg[light] < 0) continue;
            bg = ui_face_get(UI_FACE_cursor_row)->bg[light];
            if (contrast(fg, bg) < 3.5)
                fail_msg("%s on cursor-row: %.2f", i->name, contrast(fg, bg));
        }
        assert_true(strlen(i->doc) > 4);
    }
}

static void tiers_use_their_palette(void **state)
{
    (void)state;
    for (int f = 0; f < UI_FACE_COUNT; f++) {
        for (int tier = UI_MONO; tier <= UI_256; tier++) {
            static const int most[] = {0, 8, 16, 256};
            ui_style s = ui_face_style((ui_face)f, UI_FACE_plain, (ui_tier)tier, false);
            assert_true(s.fg < most[tier] && s.bg < most[tier]);
            if (tier == UI_MONO) assert_true(s.fg == -1 && s.bg == -1);
        }
    }
    assert_int_equal(ui_colour_nearest(0xff0000, UI_8), 1);
    assert_int_equal(ui_colour_nearest(0xffffff, UI_256), 231);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(utf8_refuses_what_is_not),
    cmocka_unit_test(utf8_round_trips),
    cmocka_unit_test(widths),
    cmocka_unit_test(clusters_join_and_escape),
    cmocka_unit_test(columns_and_bytes_agree),
    cmocka_unit_test(grid_cuts_wide_characters),
    cmocka_unit_test(ascii_stands_in),
    cmocka_unit_test(faces_can_be_read),
    cmocka_unit_test(tiers_use_their_palette),
};
UNIT_MAIN(tests)
