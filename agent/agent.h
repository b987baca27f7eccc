/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the explorer and the batch commands see of learning: an agent that trains in threads of its
 * own from the state that a person looks at, and scores candidates with its newest policy.
 *
 * Functions may be called from any thread and return at once unless they say otherwise.
 */
#ifndef AG_AGENT_H
#define AG_AGENT_H

#include "blas.h"
#include "rewriting.h"
#include "trainer.h"

typedef struct ag_agent ag_agent;

typedef struct ag_options {
    const char *checkpoint;    /* read if it is there, written while training; NULL: neither */
    bool read_only;            /* the checkpoint must be there and is never written */
    const char *events;        /* folder for TensorBoard and CSV; NULL: none */
    const tg_backend *backend; /* what the reward is measured with; NULL: the analytic cost */
    int threads;               /* 0: 1 */
    uint64_t seed;             /* 0: 43 */
    int horizon;               /* most steps of an episode; 0: 50 */
    uint64_t most_episodes;    /* then training is done; 0: never */
    ag_shape shape;            /* of a new policy; hidden 0: the default */
    ag_demo_mode demos;        /* what training does with overrides */
    bool foreground;           /* training threads keep their priority; else they give way */
} ag_options;

/*
 * An agent for all rules of a set, not training yet. Reads the checkpoint if it exists (a note
 * tells of rules that it does not know). May take some milliseconds. Errors: those of
 * ag_checkpoint_load.
 */
tg_status ag_agent_new(const tg_rules *rules, const ag_options *options,
                       ag_agent **agent) TG_MUST_USE;
/* Stops training, writes the checkpoint, frees. Waits for the threads. */
void ag_agent_free(ag_agent *agent); /* NULL is fine */

/* Starts the threads; they wait for a graph to follow. Errors: those of ag_trainer_start. */
tg_status ag_agent_start(ag_agent *agent) TG_MUST_USE;

/*
 * Training episodes start at `graph` from now on, with `rules` (a selection of the agent's; NULL:
 * all), less the sites whose keys are vetoed. `first_ms` is the analytic cost where the run began,
 * 0 if here.
 */
void ag_agent_follow(ag_agent *agent, const tg_graph *graph, const tg_rules *rules, double first_ms,
                     const uint64_t *vetoed, int n_vetoed);

/* Pauses between steps; with `wait` returns once all threads rest. */
void ag_agent_pause(ag_agent *agent, bool wait);
void ag_agent_resume(ag_agent *agent);
/* Blocks until training is done, failed or diverged, at most for `seconds`; whether it is. */
bool ag_agent_wait(ag_agent *agent, double seconds);

void ag_agent_stats(ag_agent *agent, ag_stats *stats);
/* Copies the chart's points from number `from` on, at most `most`; returns how many. */
size_t ag_agent_points(ag_agent *agent, size_t from, size_t most, ag_point *points);

/*
 * The way to the best state that training has seen from the graph followed now. Errors: TG_NOTFOUND
 * (no episode ended yet), those of taking its steps. Takes as long as these.
 */
tg_status ag_agent_best(ag_agent *agent, tg_trail **trail) TG_MUST_USE;

/* The newest snapshot, to be pinned: a new reference (ag_policy_unref). */
ag_policy *ag_agent_policy(ag_agent *agent);
tg_status ag_agent_save(ag_agent *agent, const char *path) TG_MUST_USE;

/* What a policy makes of the candidates of a graph. */
typedef struct ag_scores {
    int n;            /* candidates */
    float *p;         /* [n + 1] probabilities, STOP last; vetoed ones 0 */
    float *logit;     /* [n + 1] */
    int best;         /* the most probable: a candidate, or n: STOP */
    double value;     /* expected further gain and novelty, per cent of the first cost */
    double entropy;   /* nats */
    uint64_t version; /* of the policy */
    ag_state *state;  /* what was scored; for ag_agent_override */
} ag_scores;

/*
 * Scores with a snapshot of this agent. `steps` are those taken since the state that is followed,
 * from which training counts too: 0 there. Computes: some milliseconds. Errors: those of
 * ag_view_state. Free with ag_scores_done.
 */
tg_status ag_agent_score(ag_agent *agent, const ag_policy *policy, const tg_candidates *candidates,
                         double first_ms, int steps, const uint64_t *vetoed, int n_vetoed,
                         ag_scores *scores) TG_MUST_USE;
void ag_scores_done(ag_scores *scores);

/*
 * A person took `choice` (a candidate, or scores->n: STOP) where the agent preferred another: a
 * demonstration. Returns its number. It enters the loss once its return is known.
 */
size_t ag_agent_override(ag_agent *agent, const ag_scores *scores, int choice);
void ag_agent_override_return(ag_agent *agent, size_t number, double percent);
void ag_agent_override_retract(ag_agent *agent, size_t number, bool retracted);
void ag_agent_set_demos(ag_agent *agent, ag_demo_mode mode);

/* Progress of ag_optimize, between updates, on the calling thread; false stops it. */
typedef bool (*ag_progress_fn)(void *ctx, const ag_stats *stats);

/*
 * Trains on one graph until `options->most_episodes` (0: 300) and returns the best way found; a
 * checkpoint is where it starts and must be there. Blocks. `progress` and `job` may be NULL; being
 * cancelled gives the best so far. Errors: those of the above.
 */
tg_status ag_optimize(const tg_rules *rules, const tg_graph *graph, const ag_options *options,
                      ag_progress_fn progress, void *ctx, const tg_job *job,
                      tg_trail **best) TG_MUST_USE;

#endif
