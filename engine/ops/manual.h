/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of operators as a chapter of the manual. */
#ifndef TG_OPS_MANUAL_H
#define TG_OPS_MANUAL_H

#include "engine/base/str.h"

/* Adds a table in Markdown: one row an operator, in the order of its file. */
void tg_ops_manual(tg_str *out);

#endif
