/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors of the format: their types, their elements, and files that they lie in. */
#ifndef TG_ONNX_TENSOR_H
#define TG_ONNX_TENSOR_H

#include "engine/ir/graph.h"
#include "wire.h"

/*
 * The type of a tensor. An element type that is unknown here leaves dtype TG_DTYPE_NONE, which is
 * no error. Errors: TG_INVALID (negative dimensions, too many elements), TG_LIMIT (rank).
 */
tg_status tg_tensor_proto_type(const Onnx__TensorProto *t, tg_type *type) TG_MUST_USE;

/*
 * The elements of a tensor as a new weight that may lie in `file`. `folder` is where external data
 * may lie (NULL: nowhere). Errors: TG_INVALID naming the tensor, TG_IO, TG_UNSUPPORTED (the element
 * type).
 */
tg_status tg_tensor_proto_weight(const Onnx__TensorProto *t, tg_weight *file, const char *folder,
                                 tg_type *type, tg_weight **weight) TG_MUST_USE;

/* Fills an initialised message with a tensor; nothing of `t` is copied but what `arena` holds. */
void tg_tensor_proto_fill(tg_arena *arena, const tg_tensor *t, const char *name,
                          Onnx__TensorProto *out);

/* The tensor of a message, copied; its bytes may lie in `file`. Errors: as tg_tensor_proto_weight.
 */
tg_status tg_tensor_proto_copy(const Onnx__TensorProto *proto, tg_weight *file,
                               tg_tensor *t) TG_MUST_USE;

/*
 * The bytes of an external tensor, as a weight of a mapped file. Errors: TG_INVALID (a path that is
 * absolute or leaves the folder, also by links; a range outside the file), TG_IO.
 */
tg_status tg_external_open(const Onnx__TensorProto *t, const char *folder, size_t want,
                           tg_weight **weight) TG_MUST_USE;

#endif
