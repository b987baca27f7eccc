/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys. A key is a code point (control characters as such: C-a is 1), or one of the named keys
 * below, with modifiers added. Meta is a modifier; a key typed after ESC carries it.
 */
#ifndef TUI_KEY_H
#define TUI_KEY_H

#include "engine/base/str.h"

#include <stdint.h>

typedef uint32_t ui_key;

enum {
    UI_KEY_NUL = 0, /* C-SPC */
    UI_KEY_TAB = 9,
    UI_KEY_RET = 13,
    UI_KEY_ESC = 27,
    UI_KEY_DEL = 127,
    UI_KEY_UP = 0x110000,
    UI_KEY_DOWN,
    UI_KEY_LEFT,
    UI_KEY_RIGHT,
    UI_KEY_HOME,
    UI_KEY_END,
    UI_KEY_PRIOR,
    UI_KEY_NEXT,
    UI_KEY_INSERT,
    UI_KEY_DELETE,
    UI_KEY_BACKTAB,
    UI_KEY_F1,
    UI_KEY_F12 = UI_KEY_F1 + 11,
    UI_KEY_PASTE,  /* text was pasted */
    UI_KEY_RESIZE, /* the terminal has another size */
    UI_KEY_SHIFT = 1 << 26,
    UI_KEY_CTRL = 1 << 27, /* only with named keys */
    UI_KEY_META = 1 << 28,
};
#define UI_KEY_NONE ((ui_key)-1)
#define UI_KEY_EOF ((ui_key)-2) /* no more keys will come */

/*
 * Parses a sequence such as "C-x C-w", "M-x", "<f1>", "ESC ESC ESC", "C-c RET". An ESC that
 * something follows becomes Meta. At most `cap` keys are written. Errors: TG_USAGE.
 */
tg_status ui_keys_parse(const char *text, ui_key *keys, int cap, int *n) TG_MUST_USE;

/* Adds the name of a key, or of a sequence ("C-x C-w"). */
void ui_key_name(ui_key key, tg_str *out);
void ui_keys_name(const ui_key *keys, int n, tg_str *out);

/* True for keys that insert themselves in text. */
bool ui_key_is_text(ui_key key);

#endif
