/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of expressions that compute the same. For the files of generate/ only. */
#ifndef TG_GENERATE_PAIRS_H
#define TG_GENERATE_PAIRS_H

#include "engine/base/job.h"
#include "formula.h"

enum { PAIRS_FULL = 3 };

/* What may become a rule: n values, each computed in two ways. */
typedef struct pair {
    int n;
    formula from[2], to[2];
    int from_size, to_size, vars;
    uint64_t key; /* equal for equal pairs, whatever the variables are called */
} pair;

typedef struct pairs {
    bank bank;
    TG_VEC(pair) v; /* smaller ones first; of these, those of more variables */
    size_t tried;   /* expressions that were evaluated */
} pairs;

/* Told of after each size: expressions and pairs so far. */
typedef void pairs_progress(void *ctx, int size, size_t expressions, size_t pairs);

/*
 * Finds the pairs of at most `most` operators a side: those whose parts are the smallest that
 * compute what they compute, since the others follow. Pairs that hold with a common part replaced
 * by a variable are left out, too; beyond PAIRS_FULL operators a side, those that save none. The
 * result does not depend on `threads`. Errors: TG_CANCELLED.
 */
tg_status pairs_find(pairs *p, const world *w, int most, int threads, const tg_job *job,
                     pairs_progress *progress, void *ctx) TG_MUST_USE;
void pairs_free(pairs *p);

#endif
