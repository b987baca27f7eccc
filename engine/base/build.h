/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which build of the program this is. */
#ifndef TG_BASE_BUILD_H
#define TG_BASE_BUILD_H

#include <stddef.h>

enum { TG_BUILD_ID_TEXT = 20 };

/*
 * Eight digits that differ between programs of different code, from the note that the linker leaves
 * in each (--build-id, on by default in Debian's compilers); "" where there is none. Into buf of
 * TG_BUILD_ID_TEXT bytes; returns buf.
 */
char *tg_build_id(char *buf);

#endif
