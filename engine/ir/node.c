/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <stdlib.h>
#include <string.h>

/* One block: the node, its types, its inputs, its names. */
tg_node *tg_node_new(const tg_node_parts *p)
{
    size_t n_in = (size_t)p->n_in, n_out = (size_t)p->n_out;
    size_t head = (sizeof(tg_node) + 7) & ~(size_t)7;
    size_t types = n_out * sizeof(tg_type), names = n_out * sizeof(char *);
    char *block = tg_calloc(1, head + types + names + n_in * sizeof(tg_value));
    tg_node *node = (tg_node *)(void *)block;
    tg_type *out = (tg_type *)(void *)(block + head);
    const char **out_name = (const char **)(void *)(block + head + types);
    tg_value *in = (tg_value *)(void *)(block + head + types + names);
    if (n_out) memcpy(out, p->out, types);
    if (n_in) memcpy(in, p->in, n_in * sizeof *in);
    for (size_t i = 0; i < n_out; i++)
        out_name[i] = p->out_name && p->out_name[i] ? p->out_name[i] : "";
    atomic_init(&node->refs, 1);
    node->id = p->id;
    node->group = p->group;
    node->op = p->op;
    node->n_in = (uint16_t)p->n_in;
    node->n_out = (uint16_t)p->n_out;
    node->constant = p->constant;
    node->attrs = p->attrs;
    node->weight = p->weight;
    node->name = p->name ? p->name : "";
    node->rule = p->rule;
    node->in = in;
    node->out = out;
    node->out_name = out_name;
    return node;
}

tg_node *tg_node_clone(const tg_node *node, const tg_value *in, bool constant)
{
    return tg_node_new(&(tg_node_parts){.id = node->id,
                                        .group = node->group,
                                        .op = node->op,
                                        .n_in = node->n_in,
                                        .n_out = node->n_out,
                                        .in = in,
                                        .out = node->out,
                                        .out_name = node->out_name,
                                        .attrs = tg_attrs_ref(node->attrs),
                                        .weight = node->weight ? tg_weight_ref(node->weight) : NULL,
                                        .name = node->name,
                                        .rule = node->rule,
                                        .constant = constant});
}

tg_node *tg_node_ref(tg_node *node)
{
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

void tg_node_unref(tg_node *node)
{
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1) return;
    tg_attrs_unref(node->attrs);
    tg_weight_unref(node->weight);
    free(node);
}

void tg_node_set_out_name(tg_node *node, int port, const char *name)
{
    ((const char **)(uintptr_t)node->out_name)[port] = name;
}

bool tg_node_is_constant(tg_op op, const tg_value *in, int n_in, tg_node *const *nodes)
{
    if (op == TG_OP_CONST) return true;
    if (op < TG_OP_FIRST_REAL || !tg_op_get(op)->kernel ||
        tg_op_get(op)->flags & (TG_RANDOM | TG_GIVES_LISTS | TG_BODIES))
        return false;
    for (int i = 0; i < n_in; i++)
        if (in[i] != TG_NO_VALUE && !nodes[tg_value_node(in[i])]->constant) return false;
    return true;
}
