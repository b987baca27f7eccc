/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that compute the same from the same become one. For the files of search/ only. */
#ifndef TG_SEARCH_SHARE_H
#define TG_SEARCH_SHARE_H

#include "trail.h"

#define SHARE_RULE "merge-equal-operators"

/*
 * *next is a step to the graph in which equal operators of equal cost are one, what follows from
 * that included, or NULL if no operator that runs has an equal. An e-graph knows nothing else
 * (congruence); in a graph it takes this step. O(graph). Errors: those of building.
 */
tg_status share_equal(const tg_trail *at, tg_trail **next) TG_MUST_USE;

#endif
