/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a trainer, and what it notes for others to see. For trainer.c and training.c. */
#ifndef AG_TRAINING_H
#define AG_TRAINING_H

#include "events.h"
#include "trainer.h"

#include "engine/base/hash.h"

#include <pthread.h>

typedef struct worker {
    struct ag_trainer *trainer;
    ag_env env;        /* class NULL: none open */
    ag_source *source; /* of env */
    uint64_t source_number;
    bool eased; /* its thread has the priority that it should have */
    ag_work work;
} worker;

struct ag_trainer {
    ag_trainer_config config;
    ag_net *net;
    ag_demos *demos;
    ag_crew *crew;
    tg_rng *rng;
    pthread_t thread;
    bool started;

    /* Read without the lock, written with it. */
    atomic_bool stop, paused;
    atomic_ullong source_number; /* counts start states; 0: none yet */

    pthread_mutex_t lock; /* all below, held for moments only */
    pthread_cond_t wake;  /* stop, paused or source changed */
    pthread_cond_t rest;  /* a worker rests, or the trainer is done */
    int busy;             /* workers inside a part and not waiting at the gate */
    ag_source *source;
    ag_policy *policy;
    ag_real *first, *second; /* the optimiser's moments that belong to it */
    uint64_t adam_steps;
    ag_stats stats;
    ag_best best;
    uint64_t best_episode;
    TG_VEC(ag_point) points;

    /* Of the training thread. */
    ag_ppo ppo;
    worker *workers;
    int batch;   /* episodes of the update at work */
    tg_map seen; /* state -> how often */
    ag_episode *episodes;
    uint64_t *origin;  /* [episodes] of the batch: number of the start state */
    tg_status *status; /* [episodes] */
    char (*message)[160];
    const ag_policy *acting;
    ag_events *events;
    int64_t started_ns;
    double start_seconds;
};

/* Remembers the way to a new best state that episode i of the batch has seen. */
void training_note_episode(ag_trainer *t, int i);
/* Counts a batch, before it is learnt from: what diverges is not played again. */
void training_note_batch(ag_trainer *t);
/*
 * Rewards steps into states that were seldom seen, by the root of how often (Strehl and Littman
 * 2008, equation 4), less the mean of the batch: where all is new nothing is special.
 */
void training_note_novelty(ag_trainer *t);

/* Makes the parameters trained the newest snapshot, and a point of the chart. */
void training_publish(ag_trainer *t, const ag_ppo_report *report, double minutes);
/* Both warn once in the log where they fail. */
void training_write_events(ag_trainer *t);
void training_save(ag_trainer *t); /* to the checkpoint, if there is one */

#endif
