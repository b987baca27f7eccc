/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of the manual that are made from tables: commands, keys, options, faces, operators,
 * rules. doc/ holds them as committed; a test compares.
 */
#ifndef TUI_MANUAL_H
#define TUI_MANUAL_H

#include "engine/engine.h"

typedef struct ui_manual_part {
    const char *name, *file; /* of doc/ */
    tg_status (*write)(tg_str *out);
} ui_manual_part;

/* The parts; NULL past the end. */
const ui_manual_part *ui_manual_at(int i);
const ui_manual_part *ui_manual_find(const char *name);

/* manual_rules.c: a section a rule. */
void ui_manual_rules(const tg_rules *rules, tg_str *out);

#endif
