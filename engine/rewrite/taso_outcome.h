/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a complete match would make. For taso_outcome.c and taso_exact.c only. */
#ifndef TG_REWRITE_TASO_OUTCOME_H
#define TG_REWRITE_TASO_OUTCOME_H

#include "taso_view.h"

/* The nodes of the source operators, and what the variables are bound to. */
typedef struct taso_match {
    const taso_rule *rule;
    int node[TASO_OPS];
    taso_value var[TASO_VARS];
} taso_match;

typedef enum taso_outcome { TASO_BAD_SHAPE, TASO_EXTERNAL, TASO_LOOP, TASO_GRAPH } taso_outcome;

/* Scratch by node of the view; an entry holds while its stamp is `now`. */
typedef struct taso_maker {
    const taso_view *view;
    tg_arena *arena; /* of the boundaries of new tensors */
    int *matched;    /* stamps: source operators */
    int *below;      /* stamps: nodes behind the match */
    int *waits;      /* of those: inputs whose hashes are still to come */
    uint64_t *hash;  /* of those */
    int *list;       /* of those */
    int now, n_list;
    uint64_t sum; /* of the graph of the last outcome, if that was TASO_GRAPH */
} taso_maker;

void taso_maker_init(taso_maker *m, const taso_view *view, tg_arena *arena);
taso_outcome taso_make(taso_maker *m, const taso_match *match);

#endif
