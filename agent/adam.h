/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adam (Kingma and Ba 2015, algorithm 1) with clipping of the gradient's global norm. */
#ifndef AG_ADAM_H
#define AG_ADAM_H

#include "nn.h"

#include <stdint.h>

typedef struct ag_adam {
    size_t n;
    uint64_t steps;
    double rate, eps, beta1, beta2; /* 5e-4, 1e-5, 0.9, 0.999 */
    double clip;                    /* largest global norm, 0.5; 0: none */
    ag_real *m, *v;                 /* moments [n] */
} ag_adam;

void ag_adam_init(ag_adam *adam, size_t n);
void ag_adam_done(ag_adam *adam);

/*
 * Takes one step on value[n]. Returns the norm of the gradient before clipping. A gradient that is
 * not finite changes nothing and returns NaN.
 */
double ag_adam_step(ag_adam *adam, ag_real *value, const ag_real *grad);

#endif
