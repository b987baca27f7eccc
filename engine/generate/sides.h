/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two sides of a pair as lists of operators, and their dimensions. For paragraph.c, sides.c. */
#ifndef TG_GENERATE_SIDES_H
#define TG_GENERATE_SIDES_H

#include "paragraph.h"

enum { SIDE_NODES = 2 * MOST_NODES, RANK = 4 };

/* A value of a side: variable ~node, or output `port` of node `node`. */
typedef struct ref {
    int node, port;
} ref;

typedef struct side_node {
    const form *form;
    uint32_t term_arg[2]; /* for finding it again */
    ref in[2];
    packed_shape in_shape[2]; /* in the world */
} side_node;

typedef struct side {
    side_node node[SIDE_NODES];
    int n;
    ref result[2];
} side;

/*
 * Dimensions by number: DIM(value) + i. Those that must be equal are one class; a class may be the
 * sum of two others (a concatenation), so that a split knows what it cuts.
 */
enum { DIMS = (MOST_VARS + 4 * SIDE_NODES) * RANK };

typedef struct sides {
    const bank *b;
    const pair *pair;
    const way *way;
    side s[2]; /* from, to */
    int same[DIMS];
    int part[DIMS][2]; /* by root: of which classes it is the sum; -1: of none */
    ref operand[8][2]; /* pairs of operands that way.same speaks of; of `from` */
    int n_operands;
    int conv_class[SIDE_NODES]; /* of convolutions of `from`: the first with the same attributes */
} sides;

void sides_make(sides *x, const bank *b, const pair *p, const way *w);
int sides_dim(const sides *x, int side, ref r, int i); /* number of the class */
int sides_root(const sides *x, int dim);
/* The convolution of `from` with the filter of one of `to`, or with a part of it; -1: none. */
int sides_conv_like(const sides *x, const side_node *to);
/* Some operator of that name; no shape has to be declared. */
bool sides_have(const sides *x, const char *name);
bool sides_shapeless(const sides *x);
bool sides_is(const side_node *node, const char *name);
const side_node *sides_maker(const side *s, ref r);

#endif
