/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sequences and optionals in files of their own. */
#include "engine/ir/list.h"
#include "engine/ir/value.h"
#include "engine/onnx/data.pb-c.h"
#include "onnx.h"
#include "tensor.h"

#include <stdlib.h>

/* What elem_type says that there is. */
enum { NOTHING, TENSOR, SPARSE_TENSOR, SEQUENCE };

/* ---- reading ---- */

static tg_status read_item(const Onnx__TensorProto *proto, tg_weight *file, tg_dtype want,
                           tg_list *list, int64_t i)
{
    tg_tensor t;
    TG_TRY(tg_tensor_proto_copy(proto, file, &t));
    tg_list_give(list, i, t);
    if (t.dtype == want) return TG_OK;
    return tg_fail(TG_TYPE, "item %lld is %s, not %s", (long long)i, tg_dtype_name(t.dtype),
                   tg_dtype_name(want));
}

static tg_status read_sequence(const Onnx__SequenceProto *s, tg_weight *file, tg_dtype dtype,
                               tg_tensor *t)
{
    if (s->elem_type != NOTHING && s->elem_type != TENSOR)
        return tg_fail(TG_UNSUPPORTED, "a sequence of kind %d", (int)s->elem_type);
    tg_list *list = tg_list_new((int64_t)s->n_tensor_values);
    tg_status status = TG_OK;
    for (int64_t i = 0; i < list->n && status == TG_OK; i++)
        status = read_item(s->tensor_values[i], file, tg_dtype_item(dtype), list, i);
    if (status == TG_OK) *t = tg_list_value(dtype, list);
    else tg_list_unref(list);
    return status;
}

static tg_status read_held(const Onnx__OptionalProto *o, tg_weight *file, tg_dtype dtype,
                           tg_list *list)
{
    tg_dtype item = tg_dtype_item(dtype);
    tg_tensor held;
    if (o->tensor_value && !tg_dtype_is_list(item))
        return read_item(o->tensor_value, file, item, list, 0);
    if (!o->sequence_value || !tg_dtype_is_list(item))
        return tg_fail(TG_TYPE, "the optional holds something else than %s", tg_dtype_name(item));
    TG_TRY(read_sequence(o->sequence_value, file, item, &held));
    tg_list_give(list, 0, held);
    return TG_OK;
}

static tg_status read_optional(const Onnx__OptionalProto *o, tg_weight *file, tg_dtype dtype,
                               tg_tensor *t)
{
    if (o->elem_type != NOTHING && o->elem_type != TENSOR && o->elem_type != SEQUENCE)
        return tg_fail(TG_UNSUPPORTED, "an optional of kind %d", (int)o->elem_type);
    bool holds = o->tensor_value || o->sequence_value;
    tg_list *list = tg_list_new(holds);
    tg_status status = holds ? read_held(o, file, dtype, list) : TG_OK;
    if (status == TG_OK) *t = tg_list_value(dtype, list);
    else tg_list_unref(list);
    return status;
}

static tg_status read_message(const tg_unpacked *u, tg_dtype dtype, tg_tensor *t, const char **name)
{
    if ((unsigned)dtype & TG_OPT) {
        const Onnx__OptionalProto *o = (const Onnx__OptionalProto *)(const void *)u->message;
        *name = o->name;
        return read_optional(o, u->file, dtype, t);
    }
    const Onnx__SequenceProto *s = (const Onnx__SequenceProto *)(const void *)u->message;
    *name = s->name;
    return read_sequence(s, u->file, dtype, t);
}

tg_status tg_onnx_read_value(const char *path, tg_dtype dtype, tg_tensor *t, char **name)
{
    tg_weight *file;
    tg_unpacked *u;
    const char *found;
    if (!tg_dtype_is_list(dtype)) return tg_onnx_read_tensor(path, t, name);
    TG_TRY(tg_file_open(path, &file));
    tg_status status = tg_unpack(file,
                                 (unsigned)dtype & TG_OPT ? &onnx__optional_proto__descriptor
                                                          : &onnx__sequence_proto__descriptor,
                                 &u);
    if (status != TG_OK) return tg_wrap_file(status, path);
    status = read_message(u, dtype, t, &found);
    if (status != TG_OK) status = tg_wrap_file(status, path);
    else if (name) *name = tg_strdup(found ? found : "");
    tg_unpacked_free(u);
    return status;
}

/* ---- writing ---- */

static Onnx__TensorProto *tensor_message(tg_arena *arena, const tg_tensor *t)
{
    Onnx__TensorProto *proto = TG_NEW(arena, Onnx__TensorProto);
    tg_tensor_proto_fill(arena, t, NULL, proto);
    return proto;
}

static Onnx__SequenceProto *sequence_message(tg_arena *arena, const tg_tensor *t)
{
    const tg_list *list = tg_list_of(t);
    Onnx__SequenceProto *s = TG_NEW(arena, Onnx__SequenceProto);
    onnx__sequence_proto__init(s);
    s->has_elem_type = 1;
    s->elem_type = TENSOR;
    s->n_tensor_values = (size_t)list->n;
    s->tensor_values = TG_NEW_ARRAY(arena, Onnx__TensorProto *, list->n + 1);
    for (int64_t i = 0; i < list->n; i++)
        s->tensor_values[i] = tensor_message(arena, &list->item[i].tensor);
    return s;
}

static Onnx__OptionalProto *optional_message(tg_arena *arena, const tg_tensor *t)
{
    const tg_list *list = tg_list_of(t);
    bool sequence = tg_dtype_is_list(tg_dtype_item(t->dtype));
    Onnx__OptionalProto *o = TG_NEW(arena, Onnx__OptionalProto);
    onnx__optional_proto__init(o);
    o->has_elem_type = 1;
    o->elem_type = sequence ? SEQUENCE : TENSOR;
    if (!list->n) return o;
    if (sequence) o->sequence_value = sequence_message(arena, &list->item[0].tensor);
    else o->tensor_value = tensor_message(arena, &list->item[0].tensor);
    return o;
}

tg_status tg_onnx_write_value(const char *path, const char *name, const tg_tensor *t)
{
    if (!tg_dtype_is_list(t->dtype)) return tg_onnx_write_tensor(path, name, t);
    tg_arena *arena = tg_arena_new();
    const ProtobufCMessage *message;
    if ((unsigned)t->dtype & TG_OPT) {
        Onnx__OptionalProto *o = optional_message(arena, t);
        o->name = (char *)(uintptr_t)name;
        message = &o->base;
    } else {
        Onnx__SequenceProto *s = sequence_message(arena, t);
        s->name = (char *)(uintptr_t)name;
        message = &s->base;
    }
    size_t n = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = tg_malloc(n + 1);
    protobuf_c_message_pack(message, bytes);
    tg_status status = tg_write_file(path, bytes, n);
    free(bytes);
    tg_arena_free(arena);
    return status;
}
