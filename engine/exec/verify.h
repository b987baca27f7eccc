/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do two graphs compute the same? Checked by running both on random inputs. */
#ifndef TG_EXEC_VERIFY_H
#define TG_EXEC_VERIFY_H

#include "engine/base/job.h"
#include "engine/ir/graph.h"

/*
 * Random inputs that suit the types: floats N(0, 1), integers 0 or 1 (good indices everywhere) or,
 * of one alone that is compared with a constant, that one, bools. *tensors is an array of n_inputs
 * tensors; free with tg_inputs_free. Errors: TG_SHAPE if an input's shape is not known.
 */
tg_status tg_inputs_draw(const tg_graph *g, uint64_t seed, tg_tensor **tensors) TG_MUST_USE;
void tg_inputs_free(tg_tensor *tensors, uint32_t n); /* NULL is fine */

typedef struct tg_verify_report {
    double max_abs_error; /* over all float outputs */
    double max_relative;  /* max |got - want| / max |want|, the worst output's */
    uint32_t worst_output;
    tg_value worst_value; /* in the first graph */
    uint64_t seed;        /* of the drawn inputs */
    uint32_t compared;    /* values compared */
    uint32_t telling;     /* of them, those with a finite element other than 0, or not of floats */
    bool whole;           /* whole graphs were run, not only the changed region */
} tg_verify_report;

/*
 * Runs both graphs on the same inputs (`in`, or drawn from `seed` if NULL) and compares the
 * outputs: |a - b| <= atol + rtol * max|a|, both from the element type and the longest
 * accumulation; NaN equals NaN, infinities of one sign are equal; integers, bools and strings must
 * be equal. Errors: TG_DIFFERS naming output, element and values; TG_UNSUPPORTED if a graph cannot
 * be run. The report (may be NULL) is filled for TG_OK and TG_DIFFERS.
 */
tg_status tg_verify(const tg_graph *before, const tg_graph *after, uint64_t seed,
                    const tg_tensor *in, tg_verify_report *report) TG_MUST_USE;

/* The same for a job, or NULL, that may be cancelled between operators: TG_CANCELLED. */
tg_status tg_verify_for(const tg_job *job, const tg_graph *before, const tg_graph *after,
                        uint64_t seed, const tg_tensor *in, tg_verify_report *report) TG_MUST_USE;

/*
 * The cheap check of one rewrite: `after` was made from `before` by one builder. Runs only the
 * changed region, its inputs drawn so that they suit what reads them; checks the whole graphs where
 * the types at its boundary are not known or only the real values are in doubt. Errors: as
 * tg_verify.
 */
tg_status tg_verify_step(const tg_graph *before, const tg_graph *after, uint64_t seed,
                         tg_verify_report *report) TG_MUST_USE;
tg_status tg_verify_step_for(const tg_job *job, const tg_graph *before, const tg_graph *after,
                             uint64_t seed, tg_verify_report *report) TG_MUST_USE;

/* Compares two tensors as tg_verify does; `depth` is the longest accumulation. Errors: TG_DIFFERS.
 */
tg_status tg_tensor_compare(const tg_tensor *want, const tg_tensor *got, double depth,
                            double *max_abs, double *max_relative) TG_MUST_USE;

#endif
