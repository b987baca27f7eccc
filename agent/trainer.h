/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Training in threads of its own: episodes on copies of a start state that may be replaced at any
 * time, an update after each batch of them, and a new policy snapshot published after each update.
 * The threads rest between their steps while somebody measures (measure/bench.h).
 *
 * All functions may be called from any thread and return at once unless they say otherwise. With
 * one source, the same seed and an environment whose costs repeat, a run repeats bit for bit,
 * whatever the number of threads.
 */
#ifndef AG_TRAINER_H
#define AG_TRAINER_H

#include "checkpoint.h"
#include "ppo.h"

typedef struct ag_trainer ag_trainer;

typedef struct ag_trainer_config {
    ag_ppo_config ppo;
    ag_rollout_config rollout;
    int episodes;           /* an update: 8 */
    int threads;            /* 1 */
    uint64_t seed;          /* 43 */
    uint64_t most_episodes; /* then the trainer is done; 0: never */
    const char *checkpoint; /* file saved every `save_every` updates and at the end; NULL: none */
    int save_every;         /* 10 */
    int nice;               /* added to that of the training threads: 0 */
    double novelty;         /* in the loss only, for coming to a new state, per cent: 9 */
    const char *events;     /* folder for TensorBoard and CSV; NULL: none */
} ag_trainer_config;

#define AG_TRAINER_DEFAULT                                                                         \
    ((ag_trainer_config){.ppo = AG_PPO_DEFAULT,                                                    \
                         .rollout = AG_ROLLOUT_DEFAULT,                                            \
                         .episodes = 8,                                                            \
                         .threads = 1,                                                             \
                         .seed = 43,                                                               \
                         .save_every = 10,                                                         \
                         .novelty = 9})

typedef enum ag_phase {
    AG_IDLE, /* not started, or no start state yet */
    AG_TRAINING,
    AG_PAUSED,
    AG_DIVERGED, /* numbers were not finite: the last good policy stays; resume goes on from it */
    AG_FAILED,   /* the environment failed, see the message; resume tries again */
    AG_DONE      /* all episodes run, or stopped */
} ag_phase;

const char *ag_phase_name(ag_phase phase); /* "training" */

/* Numbers of the last update and totals. Milliseconds and per cent as the environment counts them.
 */
typedef struct ag_stats {
    ag_phase phase;
    uint64_t version, episodes, steps;
    uint64_t run_episodes;          /* of this run: `episodes` counts those of the checkpoint too */
    double mean_reward, mean_steps; /* of the last batch: per cent of the first cost; actions */
    double first_ms, best_ms;       /* since the start state was last replaced; 0: none yet */
    double best_percent;            /* 100 * (first - best) / first */
    double episodes_per_minute;
    ag_ppo_report report;
    int demos;         /* in use */
    char message[160]; /* of a failure, else "" */
} ag_stats;

/* One update, for charts. */
typedef struct ag_point {
    uint64_t version, episodes;
    double seconds; /* since the trainer started, pauses included */
    double mean_reward, best_percent, entropy, kl, value_loss, explained_variance;
} ag_point;

/* The shortest way to the best state that any episode from the present start state has seen. */
typedef struct ag_best {
    int n;
    int *actions;      /* [n] candidate at each step; free */
    ag_source *source; /* where it starts; unref */
    double first_ms, best_ms;
} ag_best;

/* Starts from a loaded checkpoint or a new policy (moments NULL). Takes references. demos may be
 * NULL. */
ag_trainer *ag_trainer_new(const ag_checkpoint *start, ag_demos *demos,
                           const ag_trainer_config *config);
/* Stops, waits for the threads (below 100 ms plus one step of the environment), frees. */
void ag_trainer_free(ag_trainer *trainer);

/* Starts the threads. Errors: TG_IO (the events folder), TG_LIMIT (no thread). */
tg_status ag_trainer_start(ag_trainer *trainer) TG_MUST_USE;

/*
 * Episodes start there from now on; those that run are dropped, and the source before is cancelled.
 * Takes a reference.
 */
void ag_trainer_follow(ag_trainer *trainer, ag_source *source);

/* Pauses between steps. With `wait`, returns once all threads rest. */
void ag_trainer_pause(ag_trainer *trainer, bool wait);
void ag_trainer_resume(ag_trainer *trainer);

/* Blocks until the trainer is done, failed or diverged, or for `seconds` at most; whether it is. */
bool ag_trainer_wait(ag_trainer *trainer, double seconds);

void ag_trainer_stats(ag_trainer *trainer, ag_stats *stats);
/* Copies points from number `from` on, `most` at most; returns how many. */
size_t ag_trainer_points(ag_trainer *trainer, size_t from, size_t most, ag_point *points);

/* The newest snapshot: a new reference. */
ag_policy *ag_trainer_policy(ag_trainer *trainer);
/* False if no episode ended yet. */
bool ag_trainer_best(ag_trainer *trainer, ag_best *best);

/* Writes the newest snapshot with the optimiser's state. Errors: TG_IO. */
tg_status ag_trainer_save(ag_trainer *trainer, const char *path) TG_MUST_USE;

#endif
