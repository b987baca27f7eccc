/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was decided on pairs, in a file that grows, so that a run that was stopped goes on where it
 * was. For the files of generate/ only.
 */
#ifndef TG_GENERATE_STATE_H
#define TG_GENERATE_STATE_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "generate.h"
#include "paragraph.h"

#include <stdio.h>

typedef enum decision_kind { UNDECIDED, KEPT, FOLLOWS, WRONG } decision_kind;

typedef struct decision {
    decision_kind kind;
    way way; /* of a rule that is kept */
} decision;

typedef struct state {
    FILE *file; /* NULL: decisions are not written */
    const char *path;
    tg_map by_key; /* -> 1 + place in `known` */
    TG_VEC(decision) known;
} state;

/*
 * Reads what a run with the same options left in its file, if there is one, and opens it for more.
 * A file of other options is begun anew. Errors: TG_IO.
 */
tg_status state_open(state *s, const tg_generate_options *o) TG_MUST_USE;
decision state_find(const state *s, uint64_t key);
tg_status state_add(state *s, uint64_t key, decision d) TG_MUST_USE;
void state_close(state *s); /* the file stays */

#endif
