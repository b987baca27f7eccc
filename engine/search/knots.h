/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strongly connected components of a graph of numbers (Tarjan 1972). For search/ only. */
#ifndef TG_SEARCH_KNOTS_H
#define TG_SEARCH_KNOTS_H

#include "engine/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef TG_VEC(uint32_t) knots_vec;

/* Invariants: after knots_find, knot[i] names the component of i and size[knot] its members. */
typedef struct knots {
    uint32_t n;
    knots_vec *next; /* by number */
    uint32_t *knot, *size;
} knots;

void knots_init(knots *k, uint32_t n);
void knots_done(knots *k);
void knots_link(knots *k, uint32_t from, uint32_t to);
void knots_find(knots *k); /* O(numbers + links) */

static inline uint32_t knots_size(const knots *k, uint32_t i)
{
    return k->size[k->knot[i]];
}
static inline bool knots_together(const knots *k, uint32_t a, uint32_t b)
{
    return k->knot[a] == k->knot[b];
}

#endif
