/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regular expressions in the syntax of RE2 (github.com/google/re2/wiki/Syntax), matched against
 * whole texts of UTF-8 in time proportional to pattern x text: the pattern becomes a
 * nondeterministic automaton, whose states are walked together (Thompson, CACM 11(6), 1968).
 * Greedy and lazy repeats, captures and their names make no difference to a whole match.
 */
#ifndef TG_OPS_REGEX_H
#define TG_OPS_REGEX_H

#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct tg_regex tg_regex;

/*
 * Errors: TG_INVALID (brackets that do not match, nothing to repeat ...), TG_UNSUPPORTED (classes
 * of Unicode properties), TG_LIMIT (too large); the message names the place.
 */
tg_status tg_regex_new(const char *pattern, size_t n, tg_regex **regex) TG_MUST_USE;
void tg_regex_free(tg_regex *regex); /* NULL is fine */
/* Does the pattern match all of the text? Safe on any bytes. */
bool tg_regex_matches(const tg_regex *regex, const char *text, size_t n);

#endif
