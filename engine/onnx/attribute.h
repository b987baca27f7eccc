/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes of the format and of the graph. */
#ifndef TG_ONNX_ATTRIBUTE_H
#define TG_ONNX_ATTRIBUTE_H

#include "tensor.h"

/*
 * Payloads are in the message or in `arena`. Errors: TG_UNSUPPORTED (graphs, sparse tensors, types,
 * lists of tensors), those of tensors.
 */
tg_status tg_attribute_read(const Onnx__AttributeProto *a, tg_weight *file, const char *folder,
                            tg_arena *arena, tg_attr *out) TG_MUST_USE;

/* A message that refers to the attribute's payload; the attribute must not be TG_ATTR_NONE. */
Onnx__AttributeProto *tg_attribute_write(tg_arena *arena, const char *name, const tg_attr *attr);

/* The attribute of that name, or NULL. */
const Onnx__AttributeProto *tg_attribute_find(const Onnx__NodeProto *proto, const char *name);

#endif
