/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of some things every way of having a thing needs (dominators of an AND-OR graph): what
 * bounds an integer programme from below where its relaxation would not. For search/ only.
 */
#ifndef TG_SEARCH_NEEDS_H
#define TG_SEARCH_NEEDS_H

#include "engine/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* One way of having thing `of`: all of inputs[0 .. n). */
typedef struct needs_way {
    uint32_t of, n, first; /* inputs are at `first` of needs.inputs */
} needs_way;

/* Invariant: after needs_find, bit j of row i tells whether i needs j; each thing needs itself. */
typedef struct needs {
    uint32_t n;
    size_t words; /* of a row */
    uint64_t *bits;
    TG_VEC(needs_way) ways; /* by `of`, ascending */
    TG_VEC(uint32_t) inputs;
} needs;

void needs_init(needs *k, uint32_t n);
void needs_done(needs *k);
/* Begins a way; needs_input gives it inputs. Ways of one thing come one behind the other. */
void needs_way_begin(needs *k, uint32_t of);
void needs_input(needs *k, uint32_t input);
/* The greatest solution of need(i) = {i} + intersection over ways of the union over inputs.
 * O(passes x inputs x n / 64). */
void needs_find(needs *k);

static inline bool needs_has(const needs *k, uint32_t i, uint32_t j)
{
    return k->bits[i * k->words + j / 64] >> (j % 64) & 1;
}

#endif
