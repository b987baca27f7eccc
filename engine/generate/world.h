/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A world fixes the shape of every variable, so that expressions can be evaluated: 2 x 2 matrices,
 * or 2 x 2 x 3 x 3 tensors that serve as images and as filters. The rules that come of it are not
 * bound to these shapes (paragraph.h). For the files of generate/ only.
 */
#ifndef TG_GENERATE_WORLD_H
#define TG_GENERATE_WORLD_H

#include "engine/ir/graph.h"

enum { MATRICES = 1, IMAGES = 2 };
enum { MOST_VARS = 4, MOST_NODES = 5, MOST_FORMS = 48 };

/* An operator with the attributes that the generator gives it. */
typedef struct form {
    tg_op op;
    const char *name;
    int n_in, n_out;
    int axis;  /* of Concat and Split; else -1 */
    bool relu; /* a convolution that ends in Relu */
    bool commutes;
    bool pointwise;
    bool filters; /* its second input is a filter for the first */
} form;

/* Dimensions, a byte each, the first lowest. */
typedef uint32_t packed_shape;

typedef struct world {
    int kind; /* MATRICES or IMAGES */
    int rank;
    packed_shape variable;
    int vars;
    form forms[MOST_FORMS];
    int n_forms;
} world;

/*
 * Sets the world up for operators of these names. Errors: TG_USAGE (an operator that is not known
 * to the generator; the message lists those that are). A world may end up with no form.
 */
tg_status world_make(world *w, int kind, int vars, const char *const *operators, int n) TG_MUST_USE;

/* Elements of a shape; the shape itself. */
int64_t world_count(const world *w, packed_shape shape);
tg_shape world_shape(const world *w, packed_shape shape);
static inline int64_t shape_dim(packed_shape shape, int i)
{
    return shape >> 8 * i & 0xff;
}
/* Random residues for a variable of that shape. */
double *world_draw(const world *w, packed_shape shape, uint64_t seed);

#endif
