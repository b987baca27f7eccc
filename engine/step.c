/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "step.h"

#include "engine/search/share.h"

#include <stdlib.h>
#include <string.h>

tg_status tg_step_verify(const tg_trail *trail, uint64_t seed, const tg_job *job,
                         tg_verify_report *report)
{
    tg_status status = tg_verify_step_for(job, trail->parent->graph, trail->graph, seed, report);
    if (status == TG_OK) return TG_OK;
    return tg_wrap(status, "rule %s at %s", trail->taken.rule, trail->taken.site);
}

static void widen(tg_verify_report *all, const tg_verify_report *one)
{
    if (one->max_abs_error > all->max_abs_error) all->max_abs_error = one->max_abs_error;
    if (one->max_relative > all->max_relative) all->max_relative = one->max_relative;
    all->compared += one->compared;
}

tg_status tg_trail_verify(const tg_trail *trail, uint64_t seed, const tg_job *job,
                          tg_verify_report *report, tg_trail **good)
{
    tg_verify_report steps = {0}, one = {0};
    tg_status status = TG_OK;
    const tg_trail *holds = tg_trail_at(trail, 0);
    for (int depth = 1; depth <= trail->depth && status == TG_OK; depth++) {
        const tg_trail *at = tg_trail_at(trail, depth);
        status = tg_job_poll(job);
        if (status == TG_OK) status = tg_step_verify(at, seed + (uint64_t)depth, job, &one);
        widen(&steps, &one);
        if (status == TG_OK) holds = at;
    }
    if (status == TG_OK) {
        status = tg_verify_for(job, tg_trail_at(trail, 0)->graph, trail->graph, seed, NULL, &one);
        if (status == TG_DIFFERS) holds = tg_trail_at(trail, 0);
    }
    if (report) {
        *report = one;
        if (status != TG_OK) widen(report, &steps);
    }
    *good = tg_trail_ref(holds);
    return status;
}

/* A step that no rule makes, but searches do. */
static tg_status replay_share(const tg_trail *parent, tg_trail **next)
{
    TG_TRY(share_equal(parent, next));
    return *next ? TG_OK : tg_fail(TG_NOTFOUND, "no operators are equal");
}

tg_status tg_step_replay(const tg_trail *parent, const tg_rules *rules, const char *rule,
                         uint64_t key, const tg_job *job, tg_trail **next)
{
    tg_candidates *c;
    if (strcmp(rule, SHARE_RULE) == 0) return replay_share(parent, next);
    if (tg_rules_find(rules, rule) < 0) return tg_fail(TG_NOTFOUND, "no rule is called %s", rule);
    TG_TRY(tg_candidates_find(rules, parent->graph, job, &c));
    int i = tg_candidates_find_key(c, key);
    tg_status status;
    if (i < 0)
        status = tg_fail(TG_NOTFOUND, "rule %s does not apply at site %016llx any more", rule,
                         (unsigned long long)key);
    else status = tg_trail_step(parent, c, i, next);
    tg_candidates_free(c);
    return status;
}
