/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph. It never changes once built (build.h builds it): a rewrite makes a new graph that
 * shares nodes and weights with the old one. Node ids survive a rewrite.
 */
#ifndef TG_IR_GRAPH_H
#define TG_IR_GRAPH_H

#include "engine/base/weight.h"
#include "op.h"

/* An output of a node: id << 8 | port. */
typedef uint32_t tg_value;
#define TG_NO_VALUE ((tg_value)0xffffffffu) /* an optional input that is absent */
enum { TG_MAX_PORTS = 256, TG_MAX_NODES = 1 << 23 };

static inline tg_value tg_value_of(uint32_t node, uint32_t port)
{
    return node << 8 | port;
}
static inline uint32_t tg_value_node(tg_value v)
{
    return v >> 8;
}
static inline uint32_t tg_value_port(tg_value v)
{
    return v & 0xff;
}

/*
 * A node. Immutable, reference-counted, shared between the graphs of one lineage.
 * Invariants: n_in inputs, each a value of a node of the same graph or TG_NO_VALUE; the last input
 * is present; attrs has an entry for each entry of the operator's spec; weight is set for
 * TG_OP_CONST only.
 */
typedef struct tg_node {
    atomic_int refs;
    uint32_t id;
    tg_op op;
    uint16_t n_in, n_out;
    bool constant; /* TG_OP_CONST, or all inputs constant: foldable, costs nothing at run time */
    const tg_attrs *attrs;
    tg_weight *weight;
    const char *name; /* "" if it has none; interned, like all names here */
    const char *rule; /* the rule that made it; NULL: it comes from the model */
    uint32_t group;   /* the node (of the model) that this one replaced, for folding; else its id */
    const tg_value *in;
    const tg_type *out;
    const char *const *out_name; /* "" where a value has no name */
} tg_node;

/* A use of a value: input `slot` of node `node`. */
typedef struct tg_use {
    uint32_t node;
    uint16_t slot;
    uint16_t port; /* of the producer */
} tg_use;

/*
 * What all graphs of a lineage have in common: the model's frame, kept for saving.
 * Reference-counted. Strings live as long as the origin.
 */
typedef struct tg_opset {
    const char *domain;
    int64_t version;
} tg_opset;

typedef struct tg_dim_name { /* dimension `axis` of input or output `index` is called `name` */
    uint32_t index;
    uint32_t axis;
    bool output;
    const char *name;
} tg_dim_name;

typedef struct tg_origin {
    atomic_int refs;
    tg_arena *arena;
    const char *path; /* "" if not from a file */
    const char *graph_name;
    int64_t ir_version;
    const tg_opset *opsets;
    uint32_t n_opsets;
    const tg_dim_name *dim_names;
    uint32_t n_dim_names;
    bool fixed_dims; /* loading relied on the value of a symbolic dimension */
    uint64_t hash;   /* of the model as loaded */
    void *frame;     /* what onnx/ needs to write the rest back; owned by the arena */
} tg_origin;

tg_origin *tg_origin_new(void); /* with an empty arena, one reference */
tg_origin *tg_origin_ref(const tg_origin *origin);
void tg_origin_unref(const tg_origin *origin); /* NULL is fine */
/* The version of the default domain; 0 if absent. */
int64_t tg_origin_opset(const tg_origin *origin);

/*
 * Invariants (tg_check tests them): nodes[id] is NULL or a node with that id; node 0 is the sink;
 * every node but inputs is an ancestor of the sink; order lists all nodes so that producers come
 * first; position is its inverse; uses of node id are uses[first_use[id] .. first_use[id+1]),
 * ascending in (position of user, slot).
 */
typedef struct tg_graph {
    atomic_int refs;
    tg_arena *arena;
    const tg_origin *origin;
    uint32_t n_ids; /* ids are below this */
    uint32_t n_nodes;
    tg_node *const *nodes;
    const uint32_t *order;
    const uint32_t *position; /* by id; UINT32_MAX where there is no node */
    const uint32_t *first_use;
    const tg_use *uses;
    const uint32_t *inputs; /* ids of the input nodes in the model's order */
    uint32_t n_inputs;
    const char *const *output_names; /* of the sink's inputs */
    const uint64_t *hashes; /* by id: what the node computes; independent of ids, names and order */
    uint64_t hash;          /* of the graph: what its outputs compute */
    const uint32_t *gone;   /* ids of the parent graph's nodes that are not here, ascending */
    const uint32_t *come; /* ids here that the parent has not, or whose inputs changed, ascending */
    uint32_t n_gone, n_come;
} tg_graph;

tg_graph *tg_graph_ref(const tg_graph *g);
void tg_graph_unref(const tg_graph *g); /* NULL is fine */

static inline const tg_node *tg_graph_node(const tg_graph *g, uint32_t id)
{
    return id < g->n_ids ? g->nodes[id] : NULL;
}
/* The node that makes a value, and the value's type. */
static inline const tg_node *tg_graph_maker(const tg_graph *g, tg_value v)
{
    return g->nodes[tg_value_node(v)];
}
static inline const tg_type *tg_graph_type(const tg_graph *g, tg_value v)
{
    return &g->nodes[tg_value_node(v)]->out[tg_value_port(v)];
}
static inline const tg_node *tg_graph_sink(const tg_graph *g)
{
    return g->nodes[0];
}
static inline const tg_use *tg_graph_uses(const tg_graph *g, uint32_t id, uint32_t *count)
{
    *count = g->first_use[id + 1] - g->first_use[id];
    return g->uses + g->first_use[id];
}
/* Number of uses of one value (the sink counts). */
uint32_t tg_graph_use_count(const tg_graph *g, tg_value v);
/*
 * Nodes that run, those of bodies too: all but inputs, constants, constant expressions and the
 * sink. O(nodes).
 */
uint32_t tg_graph_op_count(const tg_graph *g);
/* Those of the graphs among n attributes. */
uint32_t tg_attrs_op_count(const tg_attr *attr, size_t n);
/*
 * Identity of a graph for searches and histories: its hash and how many nodes it runs. Merging
 * equal nodes changes nothing that the graph computes, so the hash alone would not tell. O(nodes).
 */
uint64_t tg_graph_key(const tg_graph *g);
/* The same from parts, for graphs that are not built. */
uint64_t tg_graph_key_of(uint64_t hash, uint32_t ops);
/* True if node `to` can be reached from node `from` (from == to: true). O(nodes between them). */
bool tg_graph_reaches(const tg_graph *g, uint32_t from, uint32_t to);
/* A name for a node or value that is never empty ("Conv_12"); into buf; returns buf. */
char *tg_graph_label(const tg_graph *g, uint32_t id, char *buf, size_t size);

/* Attribute of a node by name; it must be in the operator's spec. */
const tg_attr *tg_node_attr(const tg_node *node, const char *name);

/*
 * Checks every invariant: arity, attribute kinds, producers first, acyclic, types as inference
 * gives them, uses, hashes. Errors: TG_INVALID naming the node. O(graph).
 */
tg_status tg_check(const tg_graph *g) TG_MUST_USE;

/* The graph as text, one node a line, in order; for tests and bug reports. */
void tg_graph_print(const tg_graph *g, tg_str *out);

#endif
