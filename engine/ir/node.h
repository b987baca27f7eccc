/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making nodes: for the files of ir/ only. */
#ifndef TG_IR_NODE_H
#define TG_IR_NODE_H

#include "graph.h"

/* What a node is made of; counts and pointers as in tg_node. Takes over attrs and weight. */
typedef struct tg_node_parts {
    uint32_t id, group;
    tg_op op;
    int n_in, n_out;
    const tg_value *in;
    const tg_type *out;
    const char *const *out_name; /* NULL: all "" */
    tg_attrs *attrs;
    tg_weight *weight;
    const char *name, *rule;
    bool constant;
} tg_node_parts;

tg_node *tg_node_new(const tg_node_parts *parts);
/* A copy that shares attributes and weight, with other inputs (as many) or another constant flag.
 */
tg_node *tg_node_clone(const tg_node *node, const tg_value *in, bool constant);
tg_node *tg_node_ref(tg_node *node);
void tg_node_unref(tg_node *node); /* NULL is fine */
/* Sets the name of an output of a node that no graph shares yet. */
void tg_node_set_out_name(tg_node *node, int port, const char *name);
/* Whether a node with these inputs (by makers) is a constant expression. */
bool tg_node_is_constant(tg_op op, const tg_value *in, int n_in, tg_node *const *nodes);

#endif
