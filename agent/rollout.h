/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Episodes: a policy acts in an environment until it stops, nothing is left to do, or the horizon.
 */
#ifndef AG_ROLLOUT_H
#define AG_ROLLOUT_H

#include "choice.h"
#include "env.h"

typedef struct ag_step {
    ag_state *state;
    int action;   /* candidate, or n_candidates: STOP */
    float log_p;  /* of the action, when it was taken */
    float value;  /* predicted then, in scaled reward */
    float reward; /* per cent of the first cost, measured since the last measurement */
    float bonus;  /* for a state that was seldom seen; enters the loss only */
    float entropy;
} ag_step;

/* Zero-initialise; free with ag_episode_done. */
typedef struct ag_episode {
    TG_VEC(ag_step) steps;
    bool truncated; /* ended by the horizon: `bootstrap` is the value of the state after */
    float bootstrap;
    bool stopped; /* the policy chose STOP */
    double first_ms, last_ms;
    double best_ms; /* the lowest seen, after best_steps steps */
    int best_steps;
    double total; /* sum of rewards */
} ag_episode;

void ag_episode_clear(ag_episode *episode); /* keeps its memory */
void ag_episode_done(ag_episode *episode);

typedef struct ag_rollout_config {
    int horizon;       /* steps, STOP not counted: 50 */
    int measure_every; /* steps between measurements, 1; the last state always is */
    double step_cost;  /* taken from each step's reward, per cent: 0 */
    bool greedy;       /* the most probable instead of a draw */
} ag_rollout_config;

#define AG_ROLLOUT_DEFAULT ((ag_rollout_config){.horizon = 50, .measure_every = 1})

/* Asked before each step; anything but TG_OK ends the episode with that status. May wait (pause).
 */
typedef tg_status (*ag_gate_fn)(void *ctx);

/* May mask actions of a state before a choice (vetoes, what a person decided there before). */
typedef void (*ag_mask_fn)(void *ctx, ag_state *state);

/* Each may be NULL. */
typedef struct ag_hooks {
    ag_gate_fn gate;
    ag_mask_fn mask;
    void (*begin)(void *ctx); /* around each part of an update, on its worker */
    void (*end)(void *ctx);
    void *ctx;
} ag_hooks;

/*
 * Runs one episode. A NULL policy chooses uniformly among all allowed actions. Errors: what the
 * environment and the gate return, and TG_INVALID for a cost that is not a positive number; the
 * episode is then incomplete.
 */
tg_status ag_rollout(const ag_policy *policy, ag_env env, const ag_rollout_config *config,
                     tg_rng *rng, ag_work *work, const ag_hooks *hooks,
                     ag_episode *episode) TG_MUST_USE;

#endif
