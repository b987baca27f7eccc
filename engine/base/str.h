/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growable string. Invariant: p is NULL or holds n bytes and a NUL. */
#ifndef TG_BASE_STR_H
#define TG_BASE_STR_H

#include "alloc.h"

#include <stdarg.h>
#include <stdbool.h>

typedef struct tg_str {
    char *p;
    size_t n, cap;
} tg_str;

void tg_str_add(tg_str *s, const char *text);
void tg_str_addn(tg_str *s, const char *bytes, size_t n);
void tg_str_addc(tg_str *s, char c);
void tg_str_addf(tg_str *s, const char *fmt, ...) TG_PRINTF(2, 3);
void tg_str_vaddf(tg_str *s, const char *fmt, va_list ap) TG_PRINTF(2, 0);
/* Adds `text` as XML character data; control characters become \\xNN. */
void tg_str_add_xml(tg_str *s, const char *text);
void tg_str_clear(tg_str *s);
void tg_str_free(tg_str *s);
/* The text; "" if nothing was added. Valid until the next change. */
const char *tg_str_text(const tg_str *s);

bool tg_starts_with(const char *s, const char *prefix);
bool tg_ends_with(const char *s, const char *suffix);

/* "3.42 MB" and the like into buf (at least 16 bytes); returns buf. */
char *tg_format_bytes(char *buf, double bytes);

/*
 * Reads a whole file; *data is NUL-terminated past *size and freed by the caller.
 * Named pipes, devices and folders are refused and never waited for, but for /dev/stdin and
 * /dev/fd. Errors: TG_IO (not there, not readable, no file), TG_LIMIT (larger than `limit` bytes).
 */
tg_status tg_read_file(const char *path, size_t limit, char **data, size_t *size) TG_MUST_USE;

/*
 * Writes a file under a temporary name beside `path`, then renames it: readers see the old file or
 * the whole new one. Errors: TG_IO.
 */
tg_status tg_write_file(const char *path, const void *data, size_t size) TG_MUST_USE;

#endif
