/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators over the integers modulo a prime, where sums, products and quotients are exact. Real
 * values are residues in [0, FIELD_PRIME), held in TG_F64 tensors; integers and bools are what they
 * are. Two graphs that differ as formulas agree at a random point with a small probability only
 * (Schwartz 1980, Zippel 1979).
 *
 * An element-wise function that is no polynomial is a random oracle: operator, attributes, operands
 * and seed are hashed to a residue. An identity that is found holds for any such function; that two
 * sides differ, on the other hand, says nothing then: exp(a + b) and exp(a) exp(b) do.
 */
#ifndef TG_REWRITE_FIELD_H
#define TG_REWRITE_FIELD_H

#include "engine/base/rng.h"
#include "engine/ir/graph.h"

/* Just below 2^20: 2^13 products of two residues add up exactly in a double. */
enum { FIELD_PRIME = 1048573 };

/* May a node of this operator lie in the field? Its attributes may still forbid it. */
bool field_knows(tg_op op);
/* Is it a random oracle there? Then only agreement means anything. */
bool field_is_oracle(tg_op op);

/*
 * Runs one node: real inputs are residues as TG_F64, the others ordinary tensors; outputs likewise,
 * allocated (tg_tensor_free). The oracles of one seed are the same functions in every call.
 * Errors: TG_UNSUPPORTED (outside the field: the operator, an attribute), TG_LIMIT (a sum could
 * pass 2^53), TG_INVALID (a division by zero: draw other values), those of kernels.
 */
tg_status field_eval(const tg_node *node, uint64_t seed, const tg_tensor *in,
                     tg_tensor *out) TG_MUST_USE;

/* Random residues; out's shape is given, its elements are allocated. */
void field_draw(tg_rng *rng, const tg_shape *shape, tg_tensor *out);
/*
 * What a tensor of numbers is in the field, as a copy: floats are dyadic, so that each has an exact
 * residue. Errors: TG_UNSUPPORTED (infinite, not a number).
 */
tg_status field_embed(const tg_tensor *t, tg_tensor *out) TG_MUST_USE;
tg_status field_residue(double x, uint64_t *out) TG_MUST_USE;
/* x y, 1 / x (x not 0) and x^n. */
uint64_t field_mul(uint64_t x, uint64_t y);
uint64_t field_inverse(uint64_t x);
uint64_t field_power(uint64_t x, uint64_t n);

#endif
