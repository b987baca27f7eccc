/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The builder's inside: for build.c and finish.c only. */
#ifndef TG_IR_BUILDER_H
#define TG_IR_BUILDER_H

#include "build.h"
#include "consts.h"
#include "node.h"

/*
 * Invariants: nodes[id] owns a reference or is NULL; nodes[0] is NULL until the sink is made; ids
 * from first_new on were added here; redirects map values of the parent to values.
 */
struct tg_builder {
    const tg_origin *origin;
    tg_graph *parent; /* NULL: a graph from nothing */
    TG_VEC(tg_node *) nodes;
    uint32_t first_new;
    tg_id_vec inputs;
    tg_map redirects;
    tg_consts consts;
    TG_VEC(tg_value) outputs;
    TG_VEC(const char *) output_names;
};

#endif
