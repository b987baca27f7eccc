/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "char.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

typedef struct range {
    uint32_t first, last;
} range;

/* East Asian Wide and Fullwidth blocks and the emoji of two columns, coarsely. */
static const range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd},
};

static const range combining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20f0},
    {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

/* Characters that steer the terminal or the direction of text, or are invisible. */
static const range hidden[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},   {0x061c, 0x061c},      {0x180e, 0x180e},
    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xd800, 0xf8ff},      {0xfeff, 0xfeff},
    {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff}, {0xf0000, 0xffffffff},
};

static bool in_ranges(uint32_t cp, const range *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (cp >= r[i].first && cp <= r[i].last) return true;
    }
    return false;
}
#define IN(cp, table) in_ranges(cp, table, sizeof(table) / sizeof *(table))

static bool use_locale;

void ui_char_use_locale(bool on)
{
    use_locale = on;
}

int ui_char_width(uint32_t cp)
{
    if (cp >= 0x20 && cp < 0x7f) return 1;
    if (IN(cp, hidden)) return -1;
    if (use_locale) return wcwidth((wchar_t)cp);
    if (IN(cp, combining)) return 0;
    return IN(cp, wide) ? 2 : 1;
}

size_t ui_utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)s[0];
    if (c < 0x80) {
        *cp = c;
        return 1;
    }
    size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || len > n) return 0;
    uint32_t x = c & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) return 0;
        x = x << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (x < least[len] || x > 0x10ffff || (x >= 0xd800 && x < 0xe000)) return 0;
    *cp = x;
    return len;
}

size_t ui_utf8_encode(uint32_t cp, char out[5])
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3f));
    out[0] = (char)(lead[len] | cp);
    out[len] = '\0';
    return len;
}

static ui_cluster escape(size_t bytes, const char *format, uint32_t value)
{
    ui_cluster c = {.bytes = bytes};
    c.width = snprintf(c.escape, sizeof c.escape, format, (unsigned)value);
    return c;
}

static ui_cluster escape_char(size_t bytes, uint32_t cp)
{
    if (cp < 0x20) return escape(bytes, "^%c", cp + '@');
    if (cp == 0x7f) return escape(bytes, "^%c", '?');
    return escape(bytes, cp < 0x100 ? "\\x%02x" : "\\u%04x", cp);
}

ui_cluster ui_cluster_read(const char *s, size_t n)
{
    uint32_t cp;
    size_t used = ui_utf8_decode(s, n, &cp);
    if (!used) return escape(1, "\\x%02x", (unsigned char)s[0]);
    int width = ui_char_width(cp);
    if (width < 1) return escape_char(used, cp);
    ui_cluster c = {.bytes = used, .width = width, .cp = {cp}};
    if (used == n || (unsigned char)s[used] < 0x80) return c;
    for (int i = 1; i < UI_CELL_CHARS && c.bytes < n; i++) {
        used = ui_utf8_decode(s + c.bytes, n - c.bytes, &cp);
        if (!used || ui_char_width(cp) != 0) break;
        c.cp[i] = cp;
        c.bytes += used;
    }
    return c;
}

size_t ui_cluster_before(const char *s, size_t at)
{
    size_t prev = 0;
    for (size_t i = 0; i < at;) {
        prev = i;
        i += ui_cluster_read(s + i, at - i).bytes;
    }
    return prev;
}

int ui_text_width(const char *s, size_t n)
{
    int width = 0;
    for (size_t i = 0; i < n;) {
        ui_cluster c = ui_cluster_read(s + i, n - i);
        width += c.width;
        i += c.bytes;
    }
    return width;
}

size_t ui_text_at_column(const char *s, size_t n, int col)
{
    size_t i = 0;
    for (int at = 0; i < n;) {
        ui_cluster c = ui_cluster_read(s + i, n - i);
        if (at + c.width > col) break;
        at += c.width;
        i += c.bytes;
    }
    return i;
}
