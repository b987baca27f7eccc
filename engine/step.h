/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking a step for good: rewrite, then prove that nothing changed but the speed. */
#ifndef TG_ENGINE_STEP_H
#define TG_ENGINE_STEP_H

#include "engine/exec/verify.h"
#include "engine/search/search.h"

/*
 * Checks the last step of a trail on random inputs; `job`, or NULL, may be cancelled meanwhile.
 * Errors: TG_CANCELLED, TG_DIFFERS naming the rule and the values; a graph that cannot be run
 * (TG_UNSUPPORTED) is accepted if the changed region can.
 */
tg_status tg_step_verify(const tg_trail *trail, uint64_t seed, const tg_job *job,
                         tg_verify_report *report) TG_MUST_USE;

/*
 * Checks every step of a trail and then the whole against the root. On TG_DIFFERS *good is the
 * longest trail from the root that holds; else *good is the trail itself. The reference of *good is
 * new.
 */
tg_status tg_trail_verify(const tg_trail *trail, uint64_t seed, const tg_job *job,
                          tg_verify_report *report, tg_trail **good) TG_MUST_USE;

/*
 * Applies the step with this rule and site key to a trail's graph. Errors: TG_NOTFOUND (no such
 * site: the message says whether the rule has others), those of applying.
 */
tg_status tg_step_replay(const tg_trail *parent, const tg_rules *rules, const char *rule,
                         uint64_t key, const tg_job *job, tg_trail **next) TG_MUST_USE;

#endif
