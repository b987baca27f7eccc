/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Demonstrations: what a person chose where the agent preferred something else. Training imitates
 * those whose return is known and at least the value estimate of their state. Thread-safe.
 */
#ifndef AG_DEMOS_H
#define AG_DEMOS_H

#include "features.h"

#include <stddef.h>

typedef enum ag_demo_mode {
    AG_DEMO_IMITATE, /* an auxiliary loss */
    AG_DEMO_MASK,    /* no loss; an episode that comes to the state may only do the same */
    AG_DEMO_OFF      /* recorded only */
} ag_demo_mode;

typedef struct ag_demos ag_demos;

ag_demos *ag_demos_new(void);
void ag_demos_free(ag_demos *demos);

void ag_demos_set_mode(ag_demos *demos, ag_demo_mode mode);

/* Records that `action` was taken in `state`; returns its number. Its return is not known yet. */
size_t ag_demos_add(ag_demos *demos, ag_state *state, int action);
/* What the choice gained in the end: per cent of the cost of the run's first state. */
void ag_demos_set_return(ag_demos *demos, size_t demo, double percent);
/* Undone: leaves the loss, not the record. May be taken back. */
void ag_demos_retract(ag_demos *demos, size_t demo, bool retracted);

/* How many may enter the loss (or the mask) at present. */
int ag_demos_in_use(ag_demos *demos);

typedef struct ag_demo {
    ag_state *state;
    int action;
    double percent;
} ag_demo;

/* Those that may enter the loss, oldest first, with new references; free with ag_demos_list_free.
 */
ag_demo *ag_demos_list(ag_demos *demos, int *n);
void ag_demos_list_free(ag_demo *list, int n);

/* In mode AG_DEMO_MASK: leaves only the demonstrated action of a state with an equal key. */
void ag_demos_mask(ag_demos *demos, ag_state *state);

#endif
