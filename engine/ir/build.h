/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building graphs: from nothing (a loader, a sample) or from a graph (a rewrite).
 *
 * A node is typed as it is added: constant inputs that the operator's row names become attributes,
 * then shape inference runs. Inputs of a node must have been added before it.
 */
#ifndef TG_IR_BUILD_H
#define TG_IR_BUILD_H

#include "graph.h"

typedef struct tg_builder tg_builder;

/* Starts an empty graph; takes a reference of the origin. */
tg_builder *tg_builder_new(const tg_origin *origin);
/* Starts a rewrite of `parent`: all its nodes are there. Takes a reference. */
tg_builder *tg_builder_from(const tg_graph *parent);
/* Gives up. NULL is fine. */
void tg_builder_free(tg_builder *b);

/* Adds a graph input. Names are interned. */
tg_value tg_build_input(tg_builder *b, const char *name, const tg_type *type);
/* Adds a constant; takes over the reference to `weight`, which holds the elements in row-major
 * order. */
tg_value tg_build_const(tg_builder *b, tg_dtype dtype, const tg_shape *shape, tg_weight *weight,
                        const char *name);
tg_value tg_build_ints(tg_builder *b, const int64_t *v, int64_t n); /* int64 [n] */
tg_value tg_build_scalar(tg_builder *b, tg_dtype dtype, double x);  /* rank 0 */

/* What tg_build_node is given. Attributes by name, in any order; absent ones take their defaults.
 */
typedef struct tg_named_attr {
    const char *name;
    tg_attr value;
} tg_named_attr;

typedef struct tg_node_spec {
    tg_op op;
    const tg_value *in;
    int n_in, n_out; /* n_out 0: the operator's minimum */
    const tg_named_attr *attrs;
    int n_attrs;
    const char *name;             /* NULL: "" */
    const char *const *out_names; /* NULL: none */
    const char *rule;             /* NULL: none */
    uint32_t group;               /* 0: its own id */
    const tg_type *out_types; /* TG_OP_OPAQUE only: what the file says, incomplete where silent */
} tg_node_spec;

/*
 * Adds a node; *id is its id. Errors: TG_INVALID (arity, attributes), TG_SHAPE, TG_TYPE, TG_LIMIT.
 * On failure the builder is as before.
 */
tg_status tg_build_node(tg_builder *b, const tg_node_spec *spec, uint32_t *id) TG_MUST_USE;

/* The same with all attributes given by position (as in tg_node.attrs->a), for copies. */
tg_status tg_build_copy(tg_builder *b, tg_op op, const tg_attr *attrs, const tg_value *in, int n_in,
                        int n_out, const char *rule, uint32_t *id) TG_MUST_USE;

/* Sets the graph outputs. */
void tg_build_outputs(tg_builder *b, const tg_value *values, const char *const *names, int n);

/* The node or type as built so far. */
const tg_node *tg_build_get(const tg_builder *b, uint32_t id);
const tg_type *tg_build_type(const tg_builder *b, tg_value v);
/* The constant behind a value (evaluated if it is an expression), or NULL. Lives as long as b. */
const tg_tensor *tg_build_value(tg_builder *b, tg_value v);

/*
 * In a rewrite: every use of `from` (by nodes of the parent) becomes a use of `to`. Types must be
 * equal. The name of the value goes with it if `to` is new and unnamed. Errors: TG_SHAPE, TG_TYPE.
 */
tg_status tg_build_redirect(tg_builder *b, tg_value from, tg_value to) TG_MUST_USE;

/*
 * Drops what the outputs do not need (inputs stay), orders, hashes, and frees the builder in every
 * case. Errors: TG_INVALID (a cycle, no outputs).
 */
tg_status tg_build_done(tg_builder *b, tg_graph **graph) TG_MUST_USE;

#endif
