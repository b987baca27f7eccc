/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An e-graph of tensor operators (Nelson 1980; Willsey et al., egg, POPL 2021; Yang et al., Tensat,
 * MLSys 2021): classes of equal values, and operators over classes. For the files of search/ only.
 *
 * An operator with several outputs makes a value of a class for each. Operators of different cost
 * are different ones, even if they compute the same.
 */
#ifndef TG_SEARCH_EGRAPH_H
#define TG_SEARCH_EGRAPH_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/rewrite/sites.h"

#define EGRAPH_ABSENT ((uint32_t)0xffffffffu) /* the class of an optional input that is absent */

/*
 * Invariants: attrs is referenced, weight is set for TG_OP_CONST only; in and out lie in the
 * graph's arena and hold classes, which egraph_find makes canonical.
 */
typedef struct egraph_node {
    tg_op op;
    uint16_t n_in, n_out;
    bool constant; /* needs no more than constants */
    bool merged;   /* an earlier node has the same operator, inputs and cost */
    uint8_t known; /* bits for those who look at the graph; of no meaning here */
    uint32_t into; /* if merged: that node */
    uint32_t root; /* the node of the first graph that this is; 0: none */
    uint32_t self; /* of an input, a random or an opaque operator: which one it is; else 0 */
    double cost_ms;
    const char *rule; /* the rule that made it; NULL: the model */
    tg_attrs *attrs;
    tg_weight *weight;
    uint32_t *in, *out;
    const tg_type *types; /* of the outputs */
    /* The nodes that the rule matched when it first made this one: n_from of them. */
    const uint32_t *from;
    int n_from;
} egraph_node;

typedef struct egraph {
    tg_arena *arena;
    TG_VEC(egraph_node) nodes;
    TG_VEC(uint32_t) parent; /* of classes: union-find */
    TG_VEC(uint32_t) maker;  /* of classes: the first node that made it */
    tg_map index;            /* hash of a node over canonical classes -> its number, plus 1 */
    bool stale;              /* classes were joined since the index was made */
} egraph;

void egraph_init(egraph *e);
void egraph_done(egraph *e);

/* The class that this one became. */
uint32_t egraph_find(egraph *e, uint32_t class);
/* Two classes are one from now on; call egraph_rebuild before the next egraph_add. */
void egraph_union(egraph *e, uint32_t a, uint32_t b);
/* Joins the outputs of operators that have become equal, until none are left. */
void egraph_rebuild(egraph *e);

/*
 * Adds the nodes of a graph; number_of[id] becomes the number of node id. For the first graph
 * (`root`), nodes remember their ids.
 */
void egraph_add_graph(egraph *e, const tg_graph *g, bool root, uint32_t *number_of);
/*
 * Adds the nodes that a preview of `g` would make; number_of (of g->n_ids + p->n_come entries)
 * knows the nodes of g and learns the others. Returns how many are new here.
 */
int egraph_add_preview(egraph *e, const tg_graph *g, const tg_candidate *c, const char *rule,
                       uint32_t *number_of);
/* The node that this one became. */
static inline uint32_t egraph_survivor(const egraph *e, uint32_t number)
{
    while (e->nodes.v[number].merged) number = e->nodes.v[number].into;
    return number;
}

/* What the preview says is equal becomes one. */
void egraph_join_preview(egraph *e, const tg_preview *p, const uint32_t *number_of);

/* The class of a value. */
static inline uint32_t egraph_class(egraph *e, const uint32_t *number_of, tg_value v)
{
    return v == TG_NO_VALUE
               ? EGRAPH_ABSENT
               : egraph_find(e, e->nodes.v[number_of[tg_value_node(v)]].out[tg_value_port(v)]);
}

#endif
