/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TG_BASE_INTERN_H
#define TG_BASE_INTERN_H

/*
 * The one copy of a string, valid until the process ends. Thread-safe; equal strings, equal
 * pointers.
 */
const char *tg_intern(const char *s);

#endif
