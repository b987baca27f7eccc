/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Convolutions of 3x3 by Winograd's minimal filtering, F(4x4, 3x3): a tile of 6x6 pixels gives 4x4
 * results by 36 products a channel pair instead of 144. The tiles' transforms are gathered in
 * pieces that the second-level cache holds, the products are 36 products of matrices by the
 * library. Errors are a few times those of direct sums; an infinity or NaN in the input spreads to
 * its tile's results.
 */
#ifndef TG_EXEC_CPU_WINOGRAD_H
#define TG_EXEC_CPU_WINOGRAD_H

#include "plan.h"

/* Something that follows: of tg_post_kind. `other` runs along the channels, or is `whole`. */
typedef struct tg_winograd_op {
    int kind;
    bool whole;
    float alpha, beta;
    const float *other;
} tg_winograd_op;

/* Activations lie channels last. Invariants: c and m are multiples of 16, chunk <= tiles. */
typedef struct tg_winograd {
    int64_t n, c, m, h, w, oh, ow;
    int64_t pad_top, pad_left;
    int64_t down, across; /* tiles of an image */
    int64_t chunk;        /* tiles at a time */
    int n_ops;
    tg_winograd_op ops[TG_MAX_POSTS + 1];
} tg_winograd;

/* False if the record is none such. Fills all but the operations. */
bool tg_winograd_of(const tg_prim_spec *spec, tg_winograd *w);
/* The product of matrices in between: chunk x c by c x m, 36 times. */
void tg_winograd_product(const tg_winograd *w, tg_prim_spec *product);

/* Floats of the transformed weights; fills them from [m, c, 3, 3]. */
int64_t tg_winograd_weights_count(const tg_winograd *w);
void tg_winograd_weights(const tg_winograd *w, const float *from, float *to);

/*
 * Runs: `product` is bound to `taken` (36 * chunk * c floats), the transformed weights and `sums`
 * (36 * chunk * m).
 */
tg_status tg_winograd_run(const tg_winograd *w, const tg_prim_call *product, const float *x,
                          float *taken, float *sums, float *y) TG_MUST_USE;

/*
 * Plans the convolution `direct`, which is the library's own, this way if it pays; operands as for
 * tg_cpu_prim. TG_UNSUPPORTED: it does not, or cannot be. Whether it pays is measured once in the
 * process for each size. One thread only.
 */
tg_status tg_winograd_plan(tg_cpu_plan *p, const tg_node *node, const tg_prim *direct,
                           const tg_prim_operands *o) TG_MUST_USE;

/* For all plans from now on, so that both ways can be compared; by default it is measured. */
typedef enum tg_winograd_use {
    TG_WINOGRAD_MEASURED,
    TG_WINOGRAD_NEVER,
    TG_WINOGRAD_ALWAYS
} tg_winograd_use;
void tg_winograd_set(tg_winograd_use use);

#endif
