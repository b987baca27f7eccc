/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Applies forms to random elements of a prime field, in which equal formulas are equal and others
 * nearly never are. For the files of generate/ only.
 */
#ifndef TG_GENERATE_LAB_H
#define TG_GENERATE_LAB_H

#include "world.h"

/* Evaluates forms; for one thread. */
typedef struct lab lab;
lab *lab_new(const world *w, uint64_t seed);
void lab_free(lab *l);
/*
 * Output shapes and elements (from malloc) of a form; false if it does not take these inputs.
 * `value` may be NULL: shapes only.
 */
bool lab_run(lab *l, const form *f, const packed_shape *shape, const double *const *in,
             packed_shape *out_shape, double **value);
uint64_t lab_print(const world *w, packed_shape shape, const double *value);

#endif
