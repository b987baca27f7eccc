/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proximal policy optimisation (Schulman et al. 2017, clipped surrogate) with generalised advantage
 * estimation (Schulman et al. 2016, equation 16), as X-RLflow uses it. Each episode is a chain of
 * its own: one that the horizon cut off is continued by the value of its last state, and nothing
 * flows from one episode into the next. The rate is twice and the epochs are half of those of
 * X-RLflow: the first updates come sooner.
 */
#ifndef AG_PPO_H
#define AG_PPO_H

#include "adam.h"
#include "crew.h"
#include "demos.h"
#include "rollout.h"

typedef struct ag_ppo_config {
    double rate;          /* 1e-3 */
    double gamma, lambda; /* 0.99, 0.95 */
    double clip;          /* 0.2 */
    double value_weight;  /* 0.5, on half the squared error */
    double entropy;       /* 0.01 */
    double target_kl;     /* 0.05: an epoch beyond it is the last, once 10 updates are done */
    double reward_scale;  /* 0.1: values are predicted in tens of per cent */
    double demo_weight;   /* 0.2, on the mean of -log p of demonstrations */
    int epochs, batch;    /* 2, 16 */
} ag_ppo_config;

#define AG_PPO_DEFAULT                                                                             \
    ((ag_ppo_config){.rate = 1e-3,                                                                 \
                     .gamma = 0.99,                                                                \
                     .lambda = 0.95,                                                               \
                     .clip = 0.2,                                                                  \
                     .value_weight = 0.5,                                                          \
                     .entropy = 0.01,                                                              \
                     .target_kl = 0.05,                                                            \
                     .reward_scale = 0.1,                                                          \
                     .demo_weight = 0.2,                                                           \
                     .epochs = 2,                                                                  \
                     .batch = 16})

typedef struct ag_ppo_report {
    int steps, epochs;
    double policy_loss, value_loss, entropy, kl; /* means over the last epoch */
    double clip_share;                           /* of steps whose ratio was clipped */
    double explained_variance;                   /* of the returns by the values acted on */
    double demo_loss;                            /* 0 without demonstrations */
    double grad_norm;                            /* mean, before clipping */
    int demos;                                   /* that were at least as good as the value */
} ag_ppo_report;

/* Holds references to nothing but the net; one thread at a time. */
typedef struct ag_ppo {
    ag_net *net;
    ag_ppo_config config;
    ag_real *value; /* the parameters that are trained [net->layout.n] */
    ag_adam adam;
    uint64_t updates;
    ag_real *grads; /* [AG_PPO_PARTS, net->layout.n] */
    ag_work *works; /* one a worker of the crew */
    int n_works;
} ag_ppo;

/* Gradients of a mini-batch are summed in this many parts, whatever the number of workers. */
enum { AG_PPO_PARTS = 4 };

void ag_ppo_init(ag_ppo *ppo, const ag_policy *start, ag_ppo_config config, int workers);
void ag_ppo_done(ag_ppo *ppo);

/* Advantages and returns (scaled) of an episode's steps, each [steps]. */
void ag_ppo_advantages(const ag_ppo_config *config, const ag_episode *episode, double *advantage,
                       double *returns);

/*
 * Trains on the episodes. `gate` (may be NULL) is asked before each state and mini-batch; where it
 * fails, so does the update, between two steps of the optimiser. Errors: that, and TG_INVALID when
 * a number is not finite; the caller then should go back to an earlier policy.
 */
tg_status ag_ppo_update(ag_ppo *ppo, const ag_episode *episodes, int n, ag_demos *demos,
                        tg_rng *rng, ag_crew *crew, const ag_hooks *hooks,
                        ag_ppo_report *report) TG_MUST_USE;

#endif
