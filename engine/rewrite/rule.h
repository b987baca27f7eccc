/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rewrite rules: read from text, checked, immutable.
 *
 * A rule file holds one paragraph a rule (the manual has the language; rules/ has the examples).
 * Every error is one message "file:line:column: words", the line itself and a caret below it.
 */
#ifndef TG_REWRITE_RULE_H
#define TG_REWRITE_RULE_H

#include "engine/base/status.h"
#include "engine/base/str.h"

#include <stdbool.h>

/* An immutable, reference-counted set of rules; names are unique in it. Thread-safe to share. */
typedef struct tg_rules tg_rules;

/* What a person sees of a rule. Strings live as long as the set. */
typedef struct tg_rule_info {
    const char *name;
    const char *family; /* the file's base name: cancel fuse merge algebra layout */
    const char *about;
    const char *text; /* the paragraph as written */
    const char *file;
    int line; /* of the word `rule`, from 1 */
} tg_rule_info;

/*
 * Loads files, or all *.rules of a folder sorted by name but for generated.rules, which is loaded
 * where it is named; n = 0 loads tg_rules_default_dir(). A file *.pb is one of TASO's: its rules
 * that are sound, distinct and ever match come as taso-pb0 ..., and those that TASO has built in as
 * taso-b0 ... Errors: TG_IO; TG_RULE with place and caret.
 */
tg_status tg_rules_load(const char *const *paths, int n, tg_rules **out) TG_MUST_USE;
/* The rules of one text; `file` is what messages call it. Errors: TG_RULE. */
tg_status tg_rules_parse(const char *text, const char *file, tg_rules **out) TG_MUST_USE;
/*
 * Where rules are found when nobody says: $REGRAFT_RULES, else the rules of the source tree that
 * this was built from if it still exists, else the installed ones.
 */
const char *tg_rules_default_dir(void);

tg_rules *tg_rules_ref(const tg_rules *rules);
void tg_rules_unref(const tg_rules *rules); /* NULL is fine */

/* The facts that the conditions of rule i ask for, "- `name`: sentence" a line. */
void tg_rule_conditions_text(const tg_rules *rules, int i, tg_str *out);

int tg_rules_count(const tg_rules *rules);
const tg_rule_info *tg_rules_get(const tg_rules *rules, int i);
int tg_rules_find(const tg_rules *rules, const char *name); /* -1: no such rule */

/*
 * The same rules less those that `keep(ctx, info)` refuses; shares everything, order kept.
 * Free with tg_rules_unref.
 */
tg_rules *tg_rules_select(const tg_rules *rules, bool (*keep)(void *ctx, const tg_rule_info *info),
                          void *ctx);

#endif
