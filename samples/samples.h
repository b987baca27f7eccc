/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Models built by program: didactic graphs, small real architectures with drawn weights, and the
 * models that the published substitution engines are measured on.
 */
#ifndef SAMPLES_SAMPLES_H
#define SAMPLES_SAMPLES_H

#include "engine/ir/graph.h"

typedef struct tg_sample_info {
    const char *name;
    const char *about; /* one sentence */
} tg_sample_info;

int tg_sample_count(void);
const tg_sample_info *tg_sample_get(int i);

/*
 * Builds a sample. Weights are drawn from `seed`; with `blank` they are zero pages, for work that
 * does not look at them. "NAMExN" builds the model NAME with N layers, where it has layers. Errors:
 * TG_NOTFOUND.
 */
tg_status tg_sample_build(const char *name, uint64_t seed, bool blank,
                          tg_graph **graph) TG_MUST_USE;

#endif
