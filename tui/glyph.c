/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stand-ins of glyph.def, for terminals and locales that show only ASCII. */
#include "char.h"

typedef struct glyph {
    uint32_t cp;
    char ascii;
} glyph;

static glyph glyphs[] = {
#define GLYPH(cp, ascii) {cp, ascii},
#include "glyph.def"
#undef GLYPH
};

static glyph *glyph_find(uint32_t cp)
{
    size_t lo = 0, hi = sizeof glyphs / sizeof *glyphs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (glyphs[mid].cp == cp) return &glyphs[mid];
        if (glyphs[mid].cp < cp) lo = mid + 1;
        else hi = mid;
    }
    return NULL;
}

char ui_char_ascii(uint32_t cp)
{
    if (cp < 0x7f) return (char)cp;
    if (cp >= 0x2800 && cp < 0x2900) return cp == 0x2800 ? ' ' : '*';
    const glyph *g = glyph_find(cp);
    return g ? g->ascii : '?';
}

void ui_char_set_ascii(uint32_t cp, char ascii)
{
    glyph *g = glyph_find(cp);
    if (g) g->ascii = ascii;
}
