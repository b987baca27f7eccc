/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TypeProto messages: what kind of value something is. */
#ifndef TG_ONNX_VALUETYPE_H
#define TG_ONNX_VALUETYPE_H

#include "engine/ir/type.h"
#include "wire.h"

/*
 * Tensors, sequences of tensors, and optionals of either. TG_DTYPE_NONE: NULL, nothing that is
 * known here (maps, sequences of sequences), or an element type that is not.
 */
tg_dtype tg_value_dtype(const Onnx__TypeProto *type);
/* The message for a type that is known, without a shape; in `arena`. */
Onnx__TypeProto *tg_value_type(tg_arena *arena, tg_dtype dtype);

#endif
