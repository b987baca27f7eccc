/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The structural hash: what a node computes. A node's hash mixes its operator, its attributes and
 * the hashes of the values it reads, in order, or sorted where the operator commutes; an input's
 * hash is its place in the model, a constant's that of its bytes. Names and ids do not enter.
 */
#ifndef TG_IR_HASH_H
#define TG_IR_HASH_H

#include "graph.h"

/* The hash of a node from those of its makers: value_hash(ctx, v) for each present input. */
uint64_t tg_hash_node(const tg_node *node, uint64_t (*value_hash)(void *ctx, tg_value v),
                      void *ctx);
/* The same from parts, for nodes that exist only in a preview. */
uint64_t tg_hash_parts(tg_op op, uint64_t attrs_hash, const uint64_t *in, int n_in);
/* The hash of output `port` of a node with this hash. */
uint64_t tg_hash_value(uint64_t node_hash, uint32_t port);
/* The hash of input number `index` of the model. */
uint64_t tg_hash_input(uint32_t index, const tg_type *type);
/* The hash of a constant. */
uint64_t tg_hash_const(const tg_type *type, uint64_t weight_hash);

/* Hashes of all nodes of a graph whose order, nodes and inputs are set. O(graph). */
void tg_hash_graph(const tg_graph *g, uint64_t *hashes);

#endif
