/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Characters on the screen. Text is UTF-8 of any origin: what cannot be shown (control and format
 * characters, bytes that are not UTF-8) is shown as an escape such as ^[ or \x9b, so that no raw
 * byte of a model reaches the terminal.
 */
#ifndef TUI_CHAR_H
#define TUI_CHAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UI_CELL_CHARS = 3 };

/* One step of point: a base character with its combining marks, or an escape. */
typedef struct ui_cluster {
    size_t bytes;               /* consumed, at least 1 */
    int width;                  /* columns, at least 1 */
    uint32_t cp[UI_CELL_CHARS]; /* 0 ends it early; unused if `escape` is set */
    char escape[12];            /* "" or what is shown instead */
} ui_cluster;

/* Reads the cluster at s; n > 0 bytes are there. */
ui_cluster ui_cluster_read(const char *s, size_t n);
/* The start of the cluster before byte `at` of s (0 if there is none). O(at). */
size_t ui_cluster_before(const char *s, size_t at);

/* Decodes one code point; returns the bytes used, 0 if they are not UTF-8. */
size_t ui_utf8_decode(const char *s, size_t n, uint32_t *cp);
/* Encodes cp into out (room for 5, NUL-terminated); returns the bytes. */
size_t ui_utf8_encode(uint32_t cp, char out[5]);

/* Columns of cp: 0 combining, 1, 2, or -1 if it must be escaped. */
int ui_char_width(uint32_t cp);
/* Ask the C library's wcwidth first (true once the locale is UTF-8); else only the own table. */
void ui_char_use_locale(bool on);

/* The ASCII stand-in for a symbol, one column wide; '?' where there is none. */
char ui_char_ascii(uint32_t cp);
/* Replaces the stand-in of one symbol. */
void ui_char_set_ascii(uint32_t cp, char ascii);

/* Columns of the first n bytes of s. */
int ui_text_width(const char *s, size_t n);
/* The byte of s at which column `col` begins, at most n. */
size_t ui_text_at_column(const char *s, size_t n, int col);

#endif
