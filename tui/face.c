/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "face.h"

#include <string.h>

enum { NONE = -1, B = UI_BOLD, D = UI_DIM, U = UI_UNDERLINE, R = UI_REVERSE };

static const ui_face_info faces[] = {
#define FACE(id, name, fg_dark, bg_dark, fg_light, bg_light, attrs, mono, doc)                     \
    {name, doc, {fg_dark, fg_light}, {bg_dark, bg_light}, attrs, mono},
#include "face.def"
#undef FACE
};

const ui_face_info *ui_face_get(ui_face face)
{
    return &faces[face];
}

bool ui_face_find(const char *name, ui_face *face)
{
    for (int i = 0; i < UI_FACE_COUNT; i++) {
        if (strcmp(faces[i].name, name) == 0) {
            *face = (ui_face)i;
            return true;
        }
    }
    return false;
}

/* The palette that xterm and the Linux console share. */
static const int32_t basic[16] = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x3030ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

static int32_t palette(int i)
{
    static const int level[6] = {0, 95, 135, 175, 215, 255};
    if (i < 16) return basic[i];
    if (i >= 232) return (8 + 10 * (i - 232)) * 0x10101;
    i -= 16;
    return level[i / 36] << 16 | level[i / 6 % 6] << 8 | level[i % 6];
}

static int distance(int32_t a, int32_t b)
{
    int r = (a >> 16 & 255) - (b >> 16 & 255), g = (a >> 8 & 255) - (b >> 8 & 255);
    int l = (a & 255) - (b & 255);
    return 3 * r * r + 4 * g * g + 2 * l * l;
}

int ui_colour_nearest(int32_t rgb, ui_tier tier)
{
    if (rgb < 0 || tier == UI_MONO) return -1;
    int first = tier == UI_256 ? 16 : 0, last = tier == UI_256 ? 256 : tier == UI_16 ? 16 : 8;
    int best = first;
    for (int i = first; i < last; i++) {
        if (distance(palette(i), rgb) < distance(palette(best), rgb)) best = i;
    }
    return best;
}

/* With 8 or 16 colours a background is only safe in reverse: shades between do not exist there. */
static ui_style plain_style(const ui_face_info *f, ui_tier tier, bool light)
{
    if (tier == UI_MONO) return (ui_style){-1, -1, f->mono};
    if (tier == UI_256) {
        return (ui_style){ui_colour_nearest(f->fg[light], tier),
                          ui_colour_nearest(f->bg[light], tier), f->attrs};
    }
    if (f->bg[light] >= 0) return (ui_style){-1, -1, f->mono | (f->attrs & B)};
    return (ui_style){ui_colour_nearest(f->fg[light], light ? UI_8 : tier), -1, f->attrs};
}

ui_style ui_face_style(ui_face face, ui_face over, ui_tier tier, bool light)
{
    ui_style s = plain_style(&faces[face], tier, light);
    if (over == UI_FACE_plain) return s;
    ui_style o = plain_style(&faces[over], tier, light);
    if (o.fg >= 0) s.fg = o.fg;
    if (o.bg >= 0) s.bg = o.bg;
    s.attrs |= o.attrs;
    return s;
}
