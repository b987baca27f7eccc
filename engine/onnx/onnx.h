/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ONNX files: models to graphs and back, and single tensors.
 *
 * Messages of failures begin with the path (or the name given for bytes in memory). What a person
 * should know without anything having failed (dimensions that were fixed, nodes that were sorted,
 * an opset that was raised) goes to tg_log.
 */
#ifndef TG_ONNX_ONNX_H
#define TG_ONNX_ONNX_H

#include "engine/ir/graph.h"

/*
 * The range of what is read: IR versions and opsets of the default domain. What is read from an
 * opset below TG_ONNX_OPSET_WRITTEN is saved in that one.
 */
enum { TG_ONNX_IR_OLDEST = 3, TG_ONNX_IR_NEWEST = 14 };
enum { TG_ONNX_OPSET_OLDEST = 1, TG_ONNX_OPSET_WRITTEN = 7, TG_ONNX_OPSET_NEWEST = 28 };

/* The symbolic dimension `name` has this size. */
typedef struct tg_dim_fix {
    const char *name;
    int64_t size;
} tg_dim_fix;

/* The graph input `name` (or, if it is "", the one of that number) is given values of this shape.
 */
typedef struct tg_input_shape {
    const char *name;
    tg_shape shape;
} tg_input_shape;

/*
 * What gives symbolic dimensions a size: a fix by name, else the shape of a given input, else
 * other_dims. With other_dims 0 they become 1; if the model cannot have that (a window larger than
 * its input), those behind the first axis are tried at sizes that pictures and texts have.
 */
typedef struct tg_load_options {
    const tg_dim_fix *dims;
    int n_dims;
    const tg_input_shape *inputs;
    int n_inputs;
    int64_t other_dims;
} tg_load_options;

/*
 * Reads a model. `opt` may be NULL. Large weights stay in the mapped file. External data is read
 * from the model's folder and below only. Errors: TG_IO, TG_FORMAT (not ONNX, cut off), TG_INVALID,
 * TG_SHAPE, TG_TYPE, TG_UNSUPPORTED (older or newer than what is read), TG_LIMIT. O(file without
 * payloads).
 */
tg_status tg_onnx_load(const char *path, const tg_load_options *opt, tg_graph **g) TG_MUST_USE;
/* The same from bytes, which are copied; `name` stands in messages. External data is refused. */
tg_status tg_onnx_load_memory(const void *bytes, size_t n, const char *name,
                              const tg_load_options *opt, tg_graph **g) TG_MUST_USE;

/*
 * Writes a model under a temporary name, then renames it. What the graph has from its file keeps
 * its names, bytes and opset, unless that is below TG_ONNX_OPSET_WRITTEN. Tensors of a model over 2
 * GB lie in PATH.data. Errors: TG_IO, TG_UNSUPPORTED (an operator needs a newer opset than the
 * carried nodes allow), those of constant folding.
 */
tg_status tg_onnx_save(const tg_graph *g, const char *path) TG_MUST_USE;
/* The same into memory; the caller frees *bytes. */
tg_status tg_onnx_save_memory(const tg_graph *g, void **bytes, size_t *n) TG_MUST_USE;

/*
 * The first opset whose form of an operator of the default domain becomes a node of its row; nodes
 * of those before are carried. 0: the standard has no such operator. O(log operators).
 */
int tg_onnx_oldest_form(const char *op_type);

/*
 * A value in a file: a TensorProto, or the SequenceProto or OptionalProto that `dtype` asks for
 * (ir/type.h; the file alone does not say which it is; TG_DTYPE_NONE: a tensor). An empty list has
 * the type that was asked for. For the rest as with tensors, below. Errors also: TG_TYPE (items of
 * another type), TG_UNSUPPORTED (maps, sequences of sequences).
 */
tg_status tg_onnx_read_value(const char *path, tg_dtype dtype, tg_tensor *t,
                             char **name) TG_MUST_USE;
tg_status tg_onnx_write_value(const char *path, const char *name, const tg_tensor *t) TG_MUST_USE;

/*
 * One TensorProto in a file. The caller frees the elements with tg_tensor_free and *name, "" if the
 * tensor has none, with free; `name` may be NULL. Errors: TG_IO, TG_FORMAT, TG_INVALID,
 * TG_UNSUPPORTED.
 */
tg_status tg_onnx_read_tensor(const char *path, tg_tensor *t, char **name) TG_MUST_USE;
tg_status tg_onnx_write_tensor(const char *path, const char *name, const tg_tensor *t) TG_MUST_USE;

#endif
