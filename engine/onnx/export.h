/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saving a model: for the files of onnx/ that do it. */
#ifndef TG_ONNX_EXPORT_H
#define TG_ONNX_EXPORT_H

#include "frame.h"
#include "onnx.h"

/*
 * A model on its way out. The messages refer to the graph, the frame and the arena; nothing large
 * is copied.
 */
typedef struct tg_exporter {
    const tg_graph *g;
    const tg_frame *frame;     /* NULL: the graph is not from a file */
    struct tg_exporter *outer; /* of the graph around this one, if it is a body; else NULL */
    const tg_node *owner;      /* the node of that graph whose body this is */
    tg_arena *arena;           /* also holds unpacked messages and evaluated weights */
    int64_t file_opset, opset; /* of the default domain: what the model has, and what is written */
    bool keep_dims;            /* symbolic dimensions stay symbolic */
    unsigned char *emitted;    /* by id: written as a node */
    tg_map wanted;             /* values that are read: TG_EXPORT_NODE or TG_EXPORT_TENSOR */
    tg_map names;              /* value -> const char * */
    tg_map tensors;            /* content of a made tensor -> const char *, its name */
    const char **output_names; /* of the sink's inputs */
    tg_strmap used;            /* names of values that are taken */
    tg_strmap inside;          /* names that values in bodies have */
    TG_VEC(struct tg_exporter *) bodies;
    tg_map body_of; /* node and attribute -> position in bodies */
    tg_strmap node_names;
    tg_strmap written; /* name in the file -> const char *, of constants that were attributes */
    TG_VEC(Onnx__NodeProto *) nodes;
    TG_VEC(Onnx__TensorProto *) tensor_list;
    const char *raised_for; /* the operator that needs the newer opset; NULL: none */
    bool inline_tensors;    /* constants of a body are nodes: it cannot have initialisers */
} tg_exporter;

enum { TG_EXPORT_NODE = 1, TG_EXPORT_TENSOR, TG_EXPORT_OUTSIDE /* a tensor of a graph around */ };

/* plan.c: what is written as a node and what as a tensor, the opset, the dimensions. */
tg_status tg_export_plan(tg_exporter *ex) TG_MUST_USE;
/* The node of the file, if it may be written as it is there. */
const tg_frame_node *tg_export_verbatim(const tg_exporter *ex, const tg_node *node);

/* control.c, bodies.c: graphs in the graph. */
/* Makes the exporters of the bodies of all nodes that are written. */
void tg_export_bodies(tg_exporter *ex);
/* The exporter of the body that is attribute i of a node. */
tg_exporter *tg_export_body(const tg_exporter *ex, const tg_node *node, int i);
int tg_export_formals(const tg_exporter *ex); /* inputs of a body that are written as such */
/* Adds a node with bodies: as the file has it if `f` is not NULL. */
tg_status tg_export_control(tg_exporter *ex, const tg_node *node,
                            const tg_frame_node *f) TG_MUST_USE;
/* Finds the constants of a body that are constants of a graph around it. */
void tg_export_outside(tg_exporter *ex);
/* plan.c: what of the graph is written. */
void tg_export_choose(tg_exporter *ex);
/* save.c: the nodes, tensors and names of a graph whose plan is made; and the graph of them. */
tg_status tg_export_graph(tg_exporter *ex, int64_t ir_version, Onnx__GraphProto **g) TG_MUST_USE;
void tg_exporter_done(tg_exporter *ex); /* all but the arena */

/* names.c: names for all values that are written. */
bool tg_export_taken(const tg_exporter *ex, const char *name); /* here or in a graph around */
void tg_export_names(tg_exporter *ex);
const char *tg_export_name(const tg_exporter *ex, tg_value v); /* "" if it has none */
/* A name that no value has, beginning with `wish`; taken from now on. */
const char *tg_export_fresh(tg_exporter *ex, const char *wish);
const char *tg_export_node_name(tg_exporter *ex, const char *wish); /* "" stays "" */

/* emit.c: the nodes and tensors. */
tg_status tg_export_nodes(tg_exporter *ex) TG_MUST_USE;
/* The name under which a constant of the file is written that is no node here; "": unknown. */
const char *tg_export_folded(tg_exporter *ex, const char *name);
/* The name of a new tensor with these elements; equal ones are written once. */
const char *tg_export_tensor(tg_exporter *ex, const tg_tensor *t, const char *wish);

/* Fills the outputs of a message with the names of those of a node. */
void tg_export_outputs(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto);

/* row.c: a node of the table in the form of the opset. Adds to `nodes`. */
tg_status tg_export_row(tg_exporter *ex, const tg_node *node) TG_MUST_USE;
/* carried.c: a node that was only carried. */
tg_status tg_export_carried(tg_exporter *ex, const tg_node *node) TG_MUST_USE;
/* Whether a carried node means the same in another opset of the default domain. */
tg_status tg_carried_survives(const tg_exporter *ex, const tg_node *node, int64_t opset,
                              bool *survives) TG_MUST_USE;
/* The same of a node of the file with all in its subgraphs. */
bool tg_proto_survives(const Onnx__NodeProto *proto, int64_t from, int64_t to);
/* Adds the names that subgraphs of a node define to `names`. */
tg_status tg_carried_reserve(tg_exporter *ex, const tg_node *node, tg_strmap *names) TG_MUST_USE;
void tg_proto_reserve(const Onnx__NodeProto *proto, tg_strmap *names);
/*
 * A copy of a node whose subgraphs read `names` (name -> const char *) by their new names. Lives as
 * long as the arena.
 */
tg_status tg_proto_rename(tg_exporter *ex, const Onnx__NodeProto *proto, const tg_strmap *names,
                          Onnx__NodeProto **out) TG_MUST_USE;

/* downgrade.c: the opset that a node needs, and its older forms. */
int64_t tg_downgrade_needs(const tg_graph *g, const tg_node *node, int64_t opset);
/* Whether attribute i means the same when it is left out. */
bool tg_downgrade_implied(const tg_node *node, int i);
/* Changes a node written in the newest form to that of ex->opset. */
void tg_downgrade(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto);

/* bulk.c: writes a model; one of more than `most` bytes with its tensors in a file beside it. */
tg_status tg_export_write(tg_exporter *ex, const Onnx__ModelProto *m, const char *path,
                          size_t most) TG_MUST_USE;
/* save.c: tg_onnx_save with that limit, for tests. */
tg_status tg_onnx_save_split(const tg_graph *g, const char *path, size_t most) TG_MUST_USE;

#endif
