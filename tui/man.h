/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The man page, made from the tables of commands and options. */
#ifndef TUI_MAN_H
#define TUI_MAN_H

#include "engine/base/str.h"

void ui_man_page(tg_str *out);

#endif
