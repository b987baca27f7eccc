/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding rewrite rules: small expressions are enumerated, those that compute the same in a prime
 * field are paired, pairs that follow from others are left out, and each of the rest is proved like
 * any rule before it is written down. After TASO (Jia et al., SOSP 2019, section 2), with the
 * smallest equal expression standing for all as in Quartz (Xu et al., PLDI 2022, section 3).
 */
#ifndef TG_GENERATE_GENERATE_H
#define TG_GENERATE_GENERATE_H

#include "engine/base/job.h"
#include "engine/base/str.h"
#include "engine/rewrite/rule.h"

#include <stdint.h>

typedef struct tg_generate_progress {
    const char *stage;  /* "expressions", "pairs" or "rules" */
    const char *world;  /* "matrices" or "images" */
    int size;           /* of expressions */
    size_t expressions; /* evaluated so far */
    size_t done, of;    /* pairs looked at */
    int kept, wrong, followed;
} tg_generate_progress;

typedef struct tg_generate_options {
    const char *const *operators;
    int n_operators;
    int max_nodes;     /* operators of a side, 1 ... 4 */
    int variables;     /* 1 ... 4 */
    int threads;       /* the result does not depend on it */
    uint64_t seed;     /* of the proofs */
    const char *state; /* a file: what was decided is written there and read by the next run; the
                          caller removes it when he has the rules; NULL: none */
    const tg_job *job; /* may cancel */
    void (*progress)(void *ctx, const tg_generate_progress *progress); /* may be NULL */
    void *ctx;
} tg_generate_options;

/*
 * Adds the paragraphs of the rules found to `text`. Errors: TG_USAGE (an operator, a number),
 * TG_IO (the state file), TG_CANCELLED (what was decided is in the state file).
 */
tg_status tg_generate(const tg_generate_options *options, tg_str *text,
                      tg_generate_progress *last) TG_MUST_USE;

/*
 * For each of `rules`, the rewrites in a row that `others` take to do the same (1: the rule itself
 * or one that covers it), into steps[]; -1: they do not lead there within `most`. Errors:
 * TG_CANCELLED.
 */
tg_status tg_rules_cover(const tg_rules *others, const tg_rules *rules, int most, const tg_job *job,
                         int *steps) TG_MUST_USE;

#endif
