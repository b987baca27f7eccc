/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "adam.h"

#include <math.h>

void ag_adam_init(ag_adam *adam, size_t n)
{
    *adam = (ag_adam){.n = n, .rate = 5e-4, .eps = 1e-5, .beta1 = 0.9, .beta2 = 0.999, .clip = 0.5};
    adam->m = tg_calloc(n, sizeof *adam->m);
    adam->v = tg_calloc(n, sizeof *adam->v);
}

void ag_adam_done(ag_adam *adam)
{
    free(adam->m);
    free(adam->v);
    adam->m = adam->v = NULL;
}

double ag_adam_step(ag_adam *adam, ag_real *value, const ag_real *grad)
{
    double sum = 0;
    for (size_t i = 0; i < adam->n; i++) sum += (double)grad[i] * (double)grad[i];
    double norm = sqrt(sum);
    if (!isfinite(norm)) return NAN;
    double shrink = adam->clip > 0 && norm > adam->clip ? adam->clip / norm : 1;
    adam->steps++;
    double c1 = 1 - pow(adam->beta1, (double)adam->steps);
    double c2 = 1 - pow(adam->beta2, (double)adam->steps);
    ag_real b1 = (ag_real)adam->beta1, b2 = (ag_real)adam->beta2;
    ag_real scale = (ag_real)shrink, rate = (ag_real)(adam->rate / c1);
    ag_real root = (ag_real)(1 / sqrt(c2)), eps = (ag_real)adam->eps;
    ag_real *restrict m = adam->m, *restrict v = adam->v;
    for (size_t i = 0; i < adam->n; i++) {
        ag_real g = grad[i] * scale;
        m[i] = b1 * m[i] + (1 - b1) * g;
        v[i] = b2 * v[i] + (1 - b2) * g * g;
        value[i] -= rate * m[i] / ((ag_real)sqrt(v[i]) * root + eps);
    }
    return norm;
}
