/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules kept so far, and what follows from them. For the files of generate/ only. */
#ifndef TG_GENERATE_LIBRARY_H
#define TG_GENERATE_LIBRARY_H

#include "engine/base/str.h"
#include "engine/base/vec.h"
#include "engine/rewrite/rule.h"

#include <stdint.h>

/*
 * Some rules make much of little, as y = Split(Concat(y, y)). From these everything leads
 * everywhere, by ways too many to look at and too long for a search to take: they are kept, but no
 * derivation uses them. `steps` are the others.
 */
typedef struct library {
    tg_rules *rules, *steps; /* NULL: none yet */
    tg_str text, steps_text;
    TG_VEC(bool) is_step; /* by index in `rules` */
    int n;
} library;

void library_done(library *lib);
/* Adds a paragraph that can be parsed; `growth`: the operators that its rule adds. */
void library_add(library *lib, const char *paragraph, int growth);
/* Do a few steps of the library do what the set's only rule does? */
bool library_derives(const library *lib, const tg_rules *rule, uint64_t seed);
/* Do those that are not gone, less rule i, do what rule i does? They may take longer ways here. */
bool library_can_spare(const library *lib, const bool *gone, int i);
/* The paragraphs that are not gone. */
void library_write(const library *lib, const bool *gone, tg_str *out);

#endif
