/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Constant values as bytes. Expressions are evaluated once in the process and kept by hash, up to a
 * limit; plans, checks and files of many graphs share them. Any thread may call.
 */
#ifndef TG_EXEC_FOLD_H
#define TG_EXEC_FOLD_H

#include "engine/ir/graph.h"

/*
 * The elements of a constant value of the graph. *weight is a new reference. Errors: as
 * tg_const_eval.
 */
tg_status tg_fold_value(const tg_graph *g, tg_value v, tg_weight **weight) TG_MUST_USE;

/* The hash of what the value computes, the key of caches. */
uint64_t tg_fold_hash(const tg_graph *g, tg_value v);

/* Bytes that the cache may keep (default 256 MB); what is above goes, oldest first. */
void tg_fold_limit(size_t bytes);
size_t tg_fold_bytes(void);

#endif
