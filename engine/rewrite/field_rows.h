/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What field.c and field_special.c share. */
#ifndef TG_REWRITE_FIELD_ROWS_H
#define TG_REWRITE_FIELD_ROWS_H

#include "field.h"

/* As field_eval; out is zeroed before. */
typedef tg_status field_function(const tg_node *node, uint64_t seed, const tg_tensor *in,
                                 tg_tensor *out);

#define FIELD(op, function, bound) field_function field_##function;
#include "field.def"
#undef FIELD

/* The kernel on residues, its real outputs as they come: numbers that are no residues yet. */
field_function field_kernel;
/* The same with other attributes. */
tg_status field_kernel_with(const tg_node *node, const tg_attrs *attrs, const tg_tensor *in,
                            tg_tensor *out) TG_MUST_USE;
/* The kernel, then residues of what must be whole and below 2^53. */
field_function field_ring;
/* Makes whole numbers below 2^53 residues. Errors: TG_LIMIT. */
tg_status field_reduce(const tg_node *node, tg_tensor *out) TG_MUST_USE;
/* A hash of the operands that meet; any number of inputs up to three. */
field_function field_oracle;
/* The oracle of an operator that has one input and no attributes. */
uint64_t field_ask(const char *name, uint64_t seed, uint64_t x);

/*
 * One element-wise function of the real inputs at hand (at most three), which broadcast to the
 * output's shape; absent inputs do not count. f(ctx, x, n) may fail: it returns FIELD_PRIME then.
 */
typedef uint64_t field_pointwise(void *ctx, const uint64_t *x, int n);
tg_status field_map(const tg_node *node, const tg_tensor *in, tg_tensor *out, field_pointwise *f,
                    void *ctx) TG_MUST_USE;

#endif
