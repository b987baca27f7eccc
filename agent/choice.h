/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The categorical choice over a state's candidates and STOP, with masks. */
#ifndef AG_CHOICE_H
#define AG_CHOICE_H

#include "policy.h"

/*
 * log_p[n + 1] of the logits; what is masked in the state gets -INFINITY. STOP has index n. Returns
 * the entropy in nats.
 */
double ag_choice_log_p(const ag_state *state, const ag_real *logits, ag_real *log_p);

/* Whether action i (n_candidates: STOP) of a state is not masked. */
static inline bool ag_choice_allowed(const ag_state *state, int i)
{
    return i == state->n_candidates ? !state->no_stop : state->candidates[i].allowed;
}

/* Index of the largest (the first of equals), or drawn with the given probabilities. */
int ag_choice_best(const ag_real *log_p, int n);
int ag_choice_draw(const ag_real *log_p, int n, tg_rng *rng);

/*
 * Adds to d_logits[n + 1] the gradient of  choice * log_p[index] + entropy * H.
 */
void ag_choice_back(const ag_real *log_p, int n, int index, double choice, double entropy, double H,
                    ag_real *d_logits);

#endif
