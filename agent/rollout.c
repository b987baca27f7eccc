/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rollout.h"

#include <math.h>

void ag_episode_clear(ag_episode *episode)
{
    for (size_t i = 0; i < episode->steps.n; i++) ag_state_unref(episode->steps.v[i].state);
    ag_episode kept = {0};
    kept.steps.v = episode->steps.v;
    kept.steps.cap = episode->steps.cap;
    *episode = kept;
}

void ag_episode_done(ag_episode *episode)
{
    ag_episode_clear(episode);
    tg_vec_free(&episode->steps);
}

typedef struct run {
    const ag_policy *policy;
    ag_env env;
    const ag_rollout_config *config;
    tg_rng *rng;
    ag_work *work;
    const ag_hooks *hooks;
    ag_episode *episode;
    ag_buffer room; /* log-probabilities */
    double measured;
} run;

static tg_status measure(run *r, double *ms)
{
    TG_TRY(r->env.class->cost(r->env.self, ms));
    if (!isfinite(*ms) || *ms <= 0) return tg_fail(TG_INVALID, "a cost of %g ms", *ms);
    return TG_OK;
}

/* Adds the reward since the last measurement to `step`. */
static tg_status reward(run *r, ag_step *step, int taken)
{
    double ms;
    ag_episode *e = r->episode;
    TG_TRY(measure(r, &ms));
    step->reward += (float)(100 * (r->measured - ms) / e->first_ms);
    r->measured = e->last_ms = ms;
    if (ms < e->best_ms) {
        e->best_ms = ms;
        e->best_steps = taken;
    }
    return TG_OK;
}

static int uniform(const ag_state *state, tg_rng *rng)
{
    int allowed = 0;
    for (int i = 0; i <= state->n_candidates; i++) allowed += ag_choice_allowed(state, i);
    int pick = (int)tg_rng_below(rng, (uint64_t)allowed);
    for (int i = 0; i < state->n_candidates; i++) {
        if (ag_choice_allowed(state, i) && pick-- == 0) return i;
    }
    return state->n_candidates;
}

static void choose(run *r, ag_step *step)
{
    const ag_state *state = step->state;
    int n = state->n_candidates;
    if (!r->policy) {
        step->action = uniform(state, r->rng);
        return;
    }
    ag_real *log_p = AG_GET(&r->room, ag_real, n + 1);
    ag_policy_forward(r->policy->net, r->policy->value, state, r->work);
    step->entropy = (float)ag_choice_log_p(state, r->work->logits, log_p);
    step->action =
        r->config->greedy ? ag_choice_best(log_p, n + 1) : ag_choice_draw(log_p, n + 1, r->rng);
    step->log_p = (float)log_p[step->action];
    step->value = (float)r->work->value;
}

static bool any_allowed(const ag_state *state)
{
    for (int i = 0; i < state->n_candidates; i++) {
        if (state->candidates[i].allowed) return true;
    }
    return false;
}

/* Ends the episode: measures what was not, and values what was cut off. */
static tg_status finish(run *r, ag_state *state, int taken, bool measured)
{
    ag_episode *e = r->episode;
    if (!measured && e->steps.n) TG_TRY(reward(r, &tg_vec_last(&e->steps), taken));
    e->truncated = !e->stopped && any_allowed(state);
    if (e->truncated && r->policy) {
        ag_policy_forward(r->policy->net, r->policy->value, state, r->work);
        e->bootstrap = (float)r->work->value;
    }
    for (size_t i = 0; i < e->steps.n; i++) e->total += e->steps.v[i].reward;
    return TG_OK;
}

static tg_status act(run *r)
{
    ag_episode *e = r->episode;
    bool measured = true;
    for (int taken = 0;;) {
        ag_state *state;
        if (r->hooks && r->hooks->gate) TG_TRY(r->hooks->gate(r->hooks->ctx));
        TG_TRY(r->env.class->observe(r->env.self, &state));
        if (r->hooks && r->hooks->mask) r->hooks->mask(r->hooks->ctx, state);
        if (taken >= r->config->horizon || !any_allowed(state)) {
            tg_status status = finish(r, state, taken, measured);
            ag_state_unref(state);
            return status;
        }
        tg_vec_push(&e->steps, (ag_step){.state = state});
        ag_step *step = &tg_vec_last(&e->steps);
        choose(r, step);
        if (step->action == state->n_candidates) {
            e->stopped = true;
            return finish(r, state, taken, measured);
        }
        TG_TRY(r->env.class->step(r->env.self, step->action));
        taken++;
        step->reward -= (float)r->config->step_cost;
        measured = taken % r->config->measure_every == 0;
        if (measured) TG_TRY(reward(r, step, taken));
    }
}

tg_status ag_rollout(const ag_policy *policy, ag_env env, const ag_rollout_config *config,
                     tg_rng *rng, ag_work *work, const ag_hooks *hooks, ag_episode *episode)
{
    run r = {.policy = policy,
             .env = env,
             .config = config,
             .rng = rng,
             .work = work,
             .hooks = hooks,
             .episode = episode};
    ag_episode_clear(episode);
    TG_TRY(env.class->reset(env.self));
    TG_TRY(measure(&r, &episode->first_ms));
    r.measured = episode->last_ms = episode->best_ms = episode->first_ms;
    tg_status status = act(&r);
    ag_buffer_done(&r.room);
    return status;
}
