/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hash.h"

#include "engine/base/hash.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { ABSENT = 0x51, FEW = 16, MOST_OPS = 512 };

uint64_t tg_hash_value(uint64_t node_hash, uint32_t port)
{
    return tg_hash_add(node_hash, port);
}

uint64_t tg_hash_input(uint32_t index, const tg_type *type)
{
    uint64_t h = tg_hash_add(tg_hash_add(TG_OP_INPUT, index), (uint64_t)type->dtype);
    return tg_hash_bytes(h, &type->shape, sizeof type->shape);
}

uint64_t tg_hash_const(const tg_type *type, uint64_t weight_hash)
{
    uint64_t h = tg_hash_add(tg_hash_add(TG_OP_CONST, (uint64_t)type->dtype), weight_hash);
    return tg_hash_bytes(h, &type->shape, sizeof type->shape);
}

/* Of the name, which is for ever, not of the number; kept, as every node asks for it. */
static uint64_t op_hash(tg_op op)
{
    static _Atomic uint64_t known[MOST_OPS];
    if (op >= MOST_OPS) return tg_hash_str(7, tg_op_get(op)->name);
    uint64_t h = atomic_load_explicit(&known[op], memory_order_relaxed);
    if (!h) {
        h = tg_hash_str(7, tg_op_get(op)->name);
        atomic_store_explicit(&known[op], h, memory_order_relaxed);
    }
    return h;
}

uint64_t tg_hash_parts(tg_op op, uint64_t attrs_hash, const uint64_t *in, int n_in)
{
    uint64_t h = tg_hash_add(op_hash(op), attrs_hash);
    h = tg_hash_add(h, (uint64_t)n_in);
    bool swap = tg_op_get(op)->flags & TG_COMMUTES && n_in >= 2 && in[0] > in[1];
    for (int i = 0; i < n_in; i++) h = tg_hash_add(h, in[swap && i < 2 ? 1 - i : i]);
    return h;
}

uint64_t tg_hash_node(const tg_node *node, uint64_t (*value_hash)(void *ctx, tg_value v), void *ctx)
{
    uint64_t few[FEW], *in = node->n_in <= FEW ? few : tg_malloc(node->n_in * sizeof *in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == TG_NO_VALUE ? ABSENT : value_hash(ctx, node->in[i]);
    uint64_t h = node->op == TG_OP_CONST
                     ? tg_hash_const(&node->out[0], node->weight->hash)
                     : tg_hash_parts(node->op, node->attrs->hash, in, node->n_in);
    if (in != few) free(in);
    return h;
}

static uint64_t known(void *ctx, tg_value v)
{
    const uint64_t *hashes = ctx;
    return tg_hash_value(hashes[tg_value_node(v)], tg_value_port(v));
}

void tg_hash_graph(const tg_graph *g, uint64_t *hashes)
{
    for (uint32_t i = 0; i < g->n_inputs; i++)
        hashes[g->inputs[i]] = tg_hash_input(i, &g->nodes[g->inputs[i]]->out[0]);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op != TG_OP_INPUT) hashes[node->id] = tg_hash_node(node, known, hashes);
    }
}
