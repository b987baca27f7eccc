/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text of any origin on its way to a terminal or a pipe: what char.h escapes on the screen is
 * escaped here, too.
 */
#ifndef TUI_SHOW_H
#define TUI_SHOW_H

#include "engine/base/str.h"

#include <stdarg.h>
#include <stdio.h>

/* Adds the first n bytes of s; lines: line ends and tabs stay. */
void ui_show(tg_str *out, const char *s, size_t n, bool lines);
/* Writes the text, whose lines stay lines. Allocates nothing. */
void ui_show_to(FILE *file, const char *text);
/*
 * As vprintf, but that strings are shown, line ends in them too: they are names. Conversions are
 * those of integers, doubles and strings, with flags, width and precision; a precision is in bytes.
 */
void ui_show_format(tg_str *out, const char *fmt, va_list ap);

#endif
