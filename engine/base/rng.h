/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random numbers: GSL's taus2 behind one type, so that every draw in regraft comes from a seed.
 * A generator belongs to one thread at a time.
 */
#ifndef TG_BASE_RNG_H
#define TG_BASE_RNG_H

#include "alloc.h"

#include <stdint.h>

typedef struct tg_rng tg_rng;

tg_rng *tg_rng_new(uint64_t seed);
void tg_rng_free(tg_rng *rng);
/* A new generator whose stream depends on this one's seed and on `stream` alone. */
tg_rng *tg_rng_split(const tg_rng *rng, uint64_t stream);

uint64_t tg_rng_u64(tg_rng *rng);
/* Uniform in [0, n); n > 0. */
uint64_t tg_rng_below(tg_rng *rng, uint64_t n);
/* Uniform in [0, 1). */
double tg_rng_uniform(tg_rng *rng);
/* Standard normal (ziggurat). */
double tg_rng_normal(tg_rng *rng);

/* The generator's state as bytes, for checkpoints. */
size_t tg_rng_state_size(const tg_rng *rng);
void tg_rng_state_get(const tg_rng *rng, void *bytes);
void tg_rng_state_set(tg_rng *rng, const void *bytes);

#endif
