/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Policies as files (checkpoint.proto). Rules, operators and features are stored by name: loading
 * keeps what both sides know, draws what only this build knows, and leaves the rest.
 */
#ifndef AG_CHECKPOINT_H
#define AG_CHECKPOINT_H

#include "adam.h"
#include "policy.h"

typedef struct ag_checkpoint {
    ag_policy *policy;       /* its version is the number of updates */
    ag_real *first, *second; /* Adam's moments [policy->net->layout.n], or NULL */
    uint64_t adam_steps, episodes, seed;
    int rules_new, rules_ignored; /* by a load: rules that were not in the file, or only there */
} ag_checkpoint;

/*
 * Writes under a temporary name and renames; what was at `path` stays beside it as PATH~, the last
 * good one. Errors: TG_IO.
 */
tg_status ag_checkpoint_save(const ag_checkpoint *checkpoint, const char *path) TG_MUST_USE;

/*
 * Reads a checkpoint for a vocabulary; free with ag_checkpoint_done. What is new is drawn from the
 * file's seed, so that a load repeats. Errors: TG_IO, TG_FORMAT (not a checkpoint, damaged, sizes
 * that do not fit).
 */
tg_status ag_checkpoint_load(const char *path, const ag_spec *spec,
                             ag_checkpoint *checkpoint) TG_MUST_USE;
void ag_checkpoint_done(ag_checkpoint *checkpoint);

#endif
