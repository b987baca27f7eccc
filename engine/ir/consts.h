/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cache of evaluated constants: for the files of ir/ only. */
#ifndef TG_IR_CONSTS_H
#define TG_IR_CONSTS_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "graph.h"

typedef TG_VEC(uint32_t) tg_id_vec;

typedef struct tg_const {
    tg_tensor tensor;
    bool owned;
} tg_const;

/*
 * `given` counts elements of the constants read, `made` of the values evaluated: a few bytes of a
 * file must not become many gigabytes (tg_consts_eval).
 */
typedef struct tg_consts {
    tg_map index; /* value -> position in list */
    TG_VEC(tg_const *) list;
    double given, made;
} tg_consts;

const tg_tensor *tg_consts_find(const tg_consts *c, tg_value v);
void tg_consts_put(tg_consts *c, tg_value v, tg_tensor t, bool owned);
void tg_consts_done(tg_consts *c);

/*
 * The tensor of a constant value, evaluated into the cache with all it needs. Iterative:
 * expressions may be deep. All that is evaluated into one cache has at most 2^25 elements and 8 for
 * each of the constants that it comes from. Errors: TG_INVALID, TG_UNSUPPORTED, TG_LIMIT, those of
 * kernels.
 */
tg_status tg_consts_eval(tg_consts *cache, tg_node *const *nodes, tg_value v,
                         const tg_tensor **out) TG_MUST_USE;

#endif
