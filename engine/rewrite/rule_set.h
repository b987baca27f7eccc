/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of rules, inside: for rule_set.c and rule_parse.c only. */
#ifndef TG_REWRITE_RULE_SET_H
#define TG_REWRITE_RULE_SET_H

#include "engine/base/vec.h"
#include "pattern.h"

typedef TG_VEC(tg_rule *) rule_vec;

/*
 * Adds the rules of a text. `scattered`: the lines of a pattern need not be connected. Errors:
 * TG_RULE. The text need not outlive the call.
 */
tg_status rule_parse_text(tg_arena *arena, const char *text, const char *file, bool scattered,
                          rule_vec *rules) TG_MUST_USE;

#endif
