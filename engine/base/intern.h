/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TG_BASE_INTERN_H
#define TG_BASE_INTERN_H

#include <stddef.h>

/*
 * The one copy of a string, valid until the process ends. Thread-safe; equal strings, equal
 * pointers.
 */
const char *tg_intern(const char *s);
/* The same for n bytes, among which may be NUL; p may be NULL if n is 0. A NUL follows them. */
const char *tg_intern_bytes(const char *p, size_t n);

#endif
