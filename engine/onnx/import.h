/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading a model: for the files of onnx/ that do it. */
#ifndef TG_ONNX_IMPORT_H
#define TG_ONNX_IMPORT_H

#include "engine/ir/build.h"
#include "frame.h"
#include "onnx.h"

/* A symbolic dimension and the size it got. */
typedef struct tg_dim {
    const char *name; /* of the dimension, or "x axis 0" where it has none */
    int64_t size;
} tg_dim;

typedef struct tg_dims {
    const tg_load_options *opt;
    int64_t guess;   /* for dimensions behind the first axis that nothing fixes; 0: 1 */
    uint64_t ones;   /* bits of those, in the order in which they come, that are 1 all the same */
    tg_strmap index; /* name -> position in list */
    TG_VEC(tg_dim) list;
    TG_VEC(tg_dim_name) names; /* for the origin */
} tg_dims;

/* A node of the file and what its subgraphs read from outside. */
typedef struct tg_item {
    const Onnx__NodeProto *proto;
    const char *const *captured;
    int n_captured;
    int number; /* its place in the file */
} tg_item;

typedef struct tg_importer {
    struct tg_importer *outer; /* of the graph around this one, if it is a body; else NULL */
    const struct tg_body *body;
    int bodies, misfits; /* of the outermost: imported so far; that do not fit the sizes known */
    tg_builder *b;
    tg_origin *origin;
    tg_frame *frame;
    const Onnx__GraphProto *graph;
    const char *folder; /* for external data; NULL: refused */
    tg_arena *arena;    /* for the time of loading */
    tg_dims dims;
    tg_strmap values;    /* name -> tg_value */
    tg_strmap read;      /* names that a node or subgraph reads, or that are outputs */
    tg_strmap functions; /* "domain\nname" of model-local functions whose calls stay */
    tg_strmap node_names;
    tg_strmap carried; /* operator -> number of opaque nodes */
    TG_VEC(const char *) carried_names;
    tg_item *items; /* nodes, producers first */
    int n_items;
    int64_t opset;
    bool silent;     /* no notes where bodies do not fit: another try follows */
    tg_map *opset_of; /* node of another opset of the default domain -> that one; shared with
                         bodies */
} tg_importer;

/* dims.c: types of the file, with symbolic dimensions given a size. */
/* Once all inputs are read: warns of a fix for no dimension. Errors: TG_USAGE (a negative size). */
tg_status tg_dims_check(const tg_dims *dims) TG_MUST_USE;
/* Of graph input `index`: its symbolic dimensions get sizes. */
tg_status tg_dims_input(tg_importer *im, const Onnx__ValueInfoProto *info, uint32_t index,
                        tg_type *type) TG_MUST_USE;
/* Of other values: a dimension whose name no input has is unknown. */
tg_type tg_dims_type(const tg_importer *im, const Onnx__ValueInfoProto *info);
void tg_dims_output(tg_importer *im, const Onnx__ValueInfoProto *info, uint32_t index);
void tg_dims_print(const tg_dims *dims, tg_str *out); /* "batch=1, length=8" */

/* scope.c: names in subgraphs. */
/* The names that subgraphs of a node read from outside, each once, in `arena`. */
void tg_scope_captured(tg_arena *arena, tg_item *item);
/* Errors: TG_INVALID if a subgraph defines a name that is visible from outside, or one twice. */
tg_status tg_scope_check(const Onnx__NodeProto *proto, const tg_strmap *outer) TG_MUST_USE;
bool tg_scope_has_graphs(const Onnx__NodeProto *proto);

/*
 * functions.c: replaces the graph by one in which each call of a model-local function is the nodes
 * of the function, in subgraphs too. A function whose nodes need another opset keeps its calls.
 * Errors: TG_INVALID (a function calls itself, or is called with too much), TG_LIMIT (memory,
 * nodes, nesting). O(nodes that come of it).
 */
tg_status tg_functions_inline(tg_importer *im) TG_MUST_USE;

/* order.c: fills items. Errors: TG_INVALID (nothing produces a value, two nodes do, a cycle). */
tg_status tg_order_nodes(tg_importer *im) TG_MUST_USE;

/* fused.c: nodes and the activations that they applied before they were saved become one item. */
void tg_fused_join(tg_importer *im);
/* import.c: everything from the initialisers to the outputs of im->graph. */
tg_status tg_import_body(tg_importer *im) TG_MUST_USE;
/* Forgets what is known of nodes that `g` does not have. */
void tg_import_prune(tg_frame *f, const tg_graph *g);
void tg_importer_done(tg_importer *im); /* frees what is the importer's own, the arena but for it */

/* control.c: adds a node that has bodies. Errors: the reasons to carry it. */
tg_status tg_import_control(tg_importer *im, const tg_item *item, tg_op op) TG_MUST_USE;
/* The formal inputs of a body, and the values that it may read from outside. */
tg_status tg_import_formals(tg_importer *im) TG_MUST_USE;

/* node.c: adds one node of the file. Errors name it. */
tg_status tg_import_node(tg_importer *im, const tg_item *item) TG_MUST_USE;
/* Adds a tensor of the file as a constant, or carries it if its element type is unknown here. */
tg_status tg_import_tensor(tg_importer *im, const Onnx__TensorProto *t, const char *name,
                           tg_value *v) TG_MUST_USE;
tg_status tg_import_sparse(tg_importer *im, const Onnx__SparseTensorProto *t) TG_MUST_USE;
/* "node conv1 (Conv)", "node 3 (Conv)"; in im->arena. */
const char *tg_item_label(tg_importer *im, const tg_item *item);

/* A node of the file on its way into the graph: what upgrade.c may change. */
typedef struct tg_draft {
    tg_importer *im;
    const Onnx__NodeProto *proto;
    tg_op op;
    TG_VEC(tg_value) in;
    int16_t *slots; /* as in tg_frame_node */
    TG_VEC(tg_named_attr) attrs;
    int n_out;
    const char **out_names;
    tg_value *out; /* set by an upgrade that built the nodes itself */
    bool built;
    bool changed; /* by an upgrade, so that it is not written as the file had it */
} tg_draft;

/* node.c: */
tg_value tg_import_find(const tg_importer *im, const char *name); /* TG_NO_VALUE: no such value */
void tg_import_name(tg_importer *im, const char *name, tg_value v);
/* Keeps a constant that became an attribute, by the name that it has in the file. */
void tg_import_keep(tg_importer *im, const char *name, tg_value v);
/* Notes which node of the file became node `id`; d->slots are set. */
void tg_import_record(tg_draft *d, uint32_t id);

/*
 * scan.c: builds what a Scan of opset 8 is now. d->in: the lengths or TG_NO_VALUE, states, what is
 * scanned, captured values; d->attrs are those of the new nodes but for the body, which may be
 * exchanged for one with more outputs. Errors: TG_UNSUPPORTED (unknown
 * shapes, an empty batch or one over 256), TG_SHAPE.
 */
tg_status tg_import_old_scan(tg_draft *d, tg_graph **body, int scanned, int captured) TG_MUST_USE;

/* upgrade.c: brings the draft to the newest meaning. Errors: TG_UNSUPPORTED: carry it as it is. */
tg_status tg_upgrade(tg_draft *d) TG_MUST_USE;
/* The row for an operator of the file, under its present name, or TG_OP_OPAQUE. */
tg_op tg_upgrade_op(const char *domain, const char *op_type);

#endif
