/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a rule follows from others. For the files of generate/ only. */
#ifndef TG_GENERATE_FOLLOW_H
#define TG_GENERATE_FOLLOW_H

#include "engine/base/job.h"
#include "engine/rewrite/rule.h"

#include <stdint.h>

typedef struct follow_limits {
    int tries;  /* drawn until the rule fits one */
    int draws;  /* graphs that the rule fits; on each the others must lead to the same */
    int steps;  /* most rewrites in a row */
    int graphs; /* most graphs looked at for each */
    int grow;   /* operators above those of the larger side that a graph on the way may have */
} follow_limits;

/*
 * The rewrites in a row that it takes to do with `others` what rule i of `rules` does, in the worst
 * of the graphs drawn; -1: they do not lead there within the limits, or no graph was drawn.
 */
int follow_steps(const tg_rules *others, const tg_rules *rules, int i, uint64_t seed,
                 const follow_limits *limits);

#endif
