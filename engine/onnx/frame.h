/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of a file for writing it back: tg_origin.frame; a body has one of its own. Immutable
 * once the model is loaded.
 */
#ifndef TG_ONNX_FRAME_H
#define TG_ONNX_FRAME_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/ir/graph.h"
#include "wire.h"

/*
 * A node of the graph that is one node of the file. While the graph has it, it can be written as it
 * was: input i of the file's node is input slots[i] of the graph's node, or, where slots[i] is -1,
 * absent or a constant that became an attribute (see tg_frame.consts). Of a node with bodies the
 * entries behind are those of the values that the bodies read from outside, in the order of
 * tg_scope_captured; -1 there: a constant that the bodies have themselves.
 */
typedef struct tg_frame_node {
    uint32_t id;
    const tg_attrs *attrs; /* the node's own: a node made anew may have the id, but not these */
    const Onnx__NodeProto *proto;
    const int16_t *slots;
} tg_frame_node;

/* A constant of the file that became an attribute of a node, by its name. */
typedef struct tg_frame_const {
    const char *name;
    tg_type type;
    tg_weight *weight; /* owned */
} tg_frame_const;

typedef struct tg_frame {
    tg_unpacked *unpacked;
    const Onnx__ModelProto *model;
    const Onnx__GraphProto *graph; /* the model's, or a body in it */
    TG_VEC(tg_frame_node) nodes;
    tg_map node_of; /* id -> position in nodes, plus 1 */
    TG_VEC(tg_frame_const) consts;
    tg_strmap const_of;     /* name -> position in consts */
    tg_strmap initialisers; /* name -> Onnx__TensorProto * */
    tg_strmap types;        /* name -> Onnx__ValueInfoProto * of value_info and outputs */
    bool auto_pad;          /* pads of some window were worked out from sizes */
    bool keeps_functions;   /* some calls of model-local functions were not inlined */
    bool symbolic;          /* some dimension of an input has a name or no size */
} tg_frame;

/* The record of a node of a graph; NULL for one that is not from the file. `f` may be NULL. */
static inline const tg_frame_node *tg_frame_find(const tg_frame *f, const tg_node *node)
{
    const uint64_t *at = f && node ? tg_map_find(&f->node_of, node->id) : NULL;
    const tg_frame_node *found = at && *at ? &f->nodes.v[*at - 1] : NULL;
    return found && found->attrs == node->attrs ? found : NULL;
}

tg_frame *tg_frame_new(tg_unpacked *unpacked); /* takes it over */
void tg_frame_free(void *frame);

#endif
