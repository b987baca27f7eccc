/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "valuetype.h"

#define CASE(id) ONNX__TYPE_PROTO__VALUE_##id

tg_dtype tg_value_dtype(const Onnx__TypeProto *type)
{
    if (!type) return TG_DTYPE_NONE;
    if (type->value_case == CASE(TENSOR_TYPE)) {
        tg_dtype element = (tg_dtype)type->tensor_type->elem_type;
        return tg_dtype_size(element) ? element : TG_DTYPE_NONE;
    }
    if (type->value_case == CASE(SEQUENCE_TYPE)) {
        tg_dtype item = tg_value_dtype(type->sequence_type->elem_type);
        return tg_dtype_is_list(item) ? TG_DTYPE_NONE : tg_dtype_seq(item);
    }
    if (type->value_case == CASE(OPTIONAL_TYPE)) {
        tg_dtype item = tg_value_dtype(type->optional_type->elem_type);
        return (unsigned)item & TG_OPT ? TG_DTYPE_NONE : tg_dtype_opt(item);
    }
    return TG_DTYPE_NONE;
}

Onnx__TypeProto *tg_value_type(tg_arena *arena, tg_dtype dtype)
{
    Onnx__TypeProto *type = TG_NEW(arena, Onnx__TypeProto);
    onnx__type_proto__init(type);
    if ((unsigned)dtype & TG_OPT) {
        type->value_case = CASE(OPTIONAL_TYPE);
        type->optional_type = TG_NEW(arena, Onnx__TypeProto__Optional);
        onnx__type_proto__optional__init(type->optional_type);
        type->optional_type->elem_type = tg_value_type(arena, tg_dtype_item(dtype));
    } else if ((unsigned)dtype & TG_SEQ) {
        type->value_case = CASE(SEQUENCE_TYPE);
        type->sequence_type = TG_NEW(arena, Onnx__TypeProto__Sequence);
        onnx__type_proto__sequence__init(type->sequence_type);
        type->sequence_type->elem_type = tg_value_type(arena, tg_dtype_item(dtype));
    } else {
        type->value_case = CASE(TENSOR_TYPE);
        type->tensor_type = TG_NEW(arena, Onnx__TypeProto__Tensor);
        onnx__type_proto__tensor__init(type->tensor_type);
        type->tensor_type->has_elem_type = 1;
        type->tensor_type->elem_type = (int32_t)dtype;
    }
    return type;
}
