/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What measuring one graph and comparing two share. */
#ifndef TG_MEASURE_TIMING_H
#define TG_MEASURE_TIMING_H

#include "bench.h"
#include "engine/base/vec.h"

/* A list without end would be memory without end. */
enum { TG_TIMING_MOST = 4000 };

typedef TG_VEC(double) tg_samples;

/* The options with their defaults put in; `options` may be NULL. */
tg_measure_options tg_timing_options(const tg_measure_options *options);
/* A plan with drawn inputs in place. */
tg_status tg_timing_plan(const tg_backend *backend, const tg_graph *g, const tg_measure_options *o,
                         tg_plan **plan) TG_MUST_USE;
tg_status tg_timing_load(tg_plan *plan, uint64_t seed) TG_MUST_USE;
/* Runs until caches are warm; *repeats is how many runs make a sample that the clock can tell. */
tg_status tg_timing_warm_up(tg_plan *plan, const tg_measure_options *o, int *repeats) TG_MUST_USE;
/* One sample: `repeats` runs, the mean of each clock in ms. */
tg_status tg_timing_sample(tg_plan *plan, int repeats, double *wall, double *cpu) TG_MUST_USE;
double tg_timing_since(int64_t start_ns); /* ms */

#endif
