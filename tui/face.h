/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faces: what a piece of text means, and how each kind of terminal shows it. One row each in
 * face.def. */
#ifndef TUI_FACE_H
#define TUI_FACE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ui_face {
#define FACE(id, ...) UI_FACE_##id,
#include "face.def"
#undef FACE
    UI_FACE_COUNT
} ui_face;

typedef enum ui_tier { UI_MONO, UI_8, UI_16, UI_256 } ui_tier;

enum { UI_BOLD = 1, UI_DIM = 2, UI_UNDERLINE = 4, UI_REVERSE = 8 };

/* Colours are indices of the terminal's palette, or -1 for its own. */
typedef struct ui_style {
    int fg, bg;
    unsigned attrs; /* UI_BOLD ... */
} ui_style;

typedef struct ui_face_info {
    const char *name, *doc;
    int32_t fg[2], bg[2]; /* 0xRRGGBB on dark and on light, or -1 */
    unsigned attrs, mono;
} ui_face_info;

const ui_face_info *ui_face_get(ui_face face);
/* The face of that name; false if there is none. */
bool ui_face_find(const char *name, ui_face *face);

/* How a cell with `face` and `over` laid on it looks. */
ui_style ui_face_style(ui_face face, ui_face over, ui_tier tier, bool light);

/* The palette index nearest to 0xRRGGBB. */
int ui_colour_nearest(int32_t rgb, ui_tier tier);

#endif
