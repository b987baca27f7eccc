/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text as UTF-8: its characters, and letters in upper and lower case. */
#ifndef TG_OPS_UTF8_H
#define TG_OPS_UTF8_H

#include "engine/ir/value.h"

/*
 * The character that begins at p[0], n > 0 bytes from the end; *size is how many bytes it takes.
 * A byte that begins no well-formed character (RFC 3629) stands for itself: -1 and size 1.
 */
int32_t tg_utf8_next(const char *p, size_t n, size_t *size);
/* Writes a character; returns its bytes, at most 4. */
size_t tg_utf8_put(int32_t c, char *to);

/* The string in upper or lower case by the rules of C.UTF-8, character by character. */
tg_string tg_string_cased(const tg_string *s, bool upper);
/* One character in lower or, if it has none of its own, upper case; else the character. */
int32_t tg_utf8_other_case(int32_t c);

#endif
