/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rng.h"

#include "hash.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

struct tg_rng {
    gsl_rng *gsl;
    uint64_t seed;
};

tg_rng *tg_rng_new(uint64_t seed)
{
    tg_rng *rng = tg_malloc(sizeof *rng);
    rng->gsl = gsl_rng_alloc(gsl_rng_taus2);
    rng->seed = seed;
    gsl_rng_set(rng->gsl, (unsigned long)(tg_mix(seed) >> 32) | 1u);
    for (uint64_t skip = tg_mix(seed) & 15; skip; skip--) gsl_rng_get(rng->gsl);
    return rng;
}

void tg_rng_free(tg_rng *rng)
{
    if (!rng) return;
    gsl_rng_free(rng->gsl);
    free(rng);
}

tg_rng *tg_rng_split(const tg_rng *rng, uint64_t stream)
{
    return tg_rng_new(tg_hash_add(rng->seed, stream));
}

uint64_t tg_rng_u64(tg_rng *rng)
{
    uint64_t high = gsl_rng_get(rng->gsl), low = gsl_rng_get(rng->gsl);
    return high << 32 | low;
}

uint64_t tg_rng_below(tg_rng *rng, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)tg_rng_u64(rng) * n) >> 64);
}

double tg_rng_uniform(tg_rng *rng)
{
    return (double)(tg_rng_u64(rng) >> 11) * 0x1p-53;
}

double tg_rng_normal(tg_rng *rng)
{
    return gsl_ran_gaussian_ziggurat(rng->gsl, 1.0);
}

size_t tg_rng_state_size(const tg_rng *rng)
{
    return gsl_rng_size(rng->gsl) + sizeof rng->seed;
}

void tg_rng_state_get(const tg_rng *rng, void *bytes)
{
    memcpy(bytes, &rng->seed, sizeof rng->seed);
    memcpy((char *)bytes + sizeof rng->seed, gsl_rng_state(rng->gsl), gsl_rng_size(rng->gsl));
}

void tg_rng_state_set(tg_rng *rng, const void *bytes)
{
    memcpy(&rng->seed, bytes, sizeof rng->seed);
    memcpy(gsl_rng_state(rng->gsl), (const char *)bytes + sizeof rng->seed,
           gsl_rng_size(rng->gsl));
}
