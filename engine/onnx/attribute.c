/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attribute.h"

#include "valuetype.h"

#include <string.h>

#define KIND(id) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##id

/* Files of IR version 1 and 2 and some later writers leave the type out. */
static int kind_of(const Onnx__AttributeProto *a)
{
    if (a->has_type && a->type != KIND(UNDEFINED)) return (int)a->type;
    if (a->has_f) return KIND(FLOAT);
    if (a->has_i) return KIND(INT);
    if (a->has_s) return KIND(STRING);
    if (a->t) return KIND(TENSOR);
    if (a->tp) return KIND(TYPE_PROTO);
    if (a->n_floats) return KIND(FLOATS);
    if (a->n_strings) return KIND(STRINGS);
    return a->n_ints ? KIND(INTS) : KIND(UNDEFINED);
}

/* protobuf-c gives no address to empty bytes. */
static const char *text_of(tg_arena *arena, const ProtobufCBinaryData *s)
{
    return s->len ? tg_arena_strndup(arena, (const char *)s->data, s->len) : "";
}

static tg_status read_strings(const Onnx__AttributeProto *a, tg_arena *arena, tg_attr *out)
{
    const char **list = TG_NEW_ARRAY(arena, const char *, a->n_strings + 1);
    for (size_t i = 0; i < a->n_strings; i++) list[i] = text_of(arena, &a->strings[i]);
    *out = (tg_attr){.kind = TG_ATTR_STRS, .n = (uint32_t)a->n_strings, .strs = list};
    return TG_OK;
}

static void unref_weight(void *weight)
{
    tg_weight_unref(weight);
}

static tg_status read_tensor(const Onnx__AttributeProto *a, tg_weight *file, const char *folder,
                             tg_arena *arena, tg_attr *out)
{
    tg_type type;
    tg_weight *w;
    if (!a->t) return tg_fail(TG_INVALID, "attribute %s has no tensor", a->name);
    TG_TRY(tg_tensor_proto_weight(a->t, file, folder, &type, &w));
    tg_arena_hold(arena, unref_weight, w);
    if (type.dtype == TG_STR) return tg_fail(TG_UNSUPPORTED, "attribute %s is text", a->name);
    tg_tensor t = {type.dtype, type.shape, (void *)(uintptr_t)w->data};
    *out = (tg_attr){.kind = TG_ATTR_TENSOR, .tensor = tg_arena_dup(arena, &t, sizeof t)};
    return TG_OK;
}

static tg_status read_type(const Onnx__AttributeProto *a, tg_attr *out)
{
    tg_dtype dtype = tg_value_dtype(a->tp);
    if (!dtype) return tg_fail(TG_UNSUPPORTED, "attribute %s is a type that is unknown", a->name);
    *out = (tg_attr){.kind = TG_ATTR_TYPE, .i = dtype};
    return TG_OK;
}

tg_status tg_attribute_read(const Onnx__AttributeProto *a, tg_weight *file, const char *folder,
                            tg_arena *arena, tg_attr *out)
{
    switch (kind_of(a)) {
    case KIND(FLOAT): *out = TG_ATTR_OF_FLOAT(a->f); return TG_OK;
    case KIND(INT): *out = TG_ATTR_OF_INT(a->i); return TG_OK;
    case KIND(INTS): *out = TG_ATTR_OF_INTS(a->ints, a->n_ints); return TG_OK;
    case KIND(STRINGS): return read_strings(a, arena, out);
    case KIND(TENSOR): return read_tensor(a, file, folder, arena, out);
    case KIND(TYPE_PROTO): return read_type(a, out);
    case KIND(STRING): *out = tg_attr_str(text_of(arena, &a->s)); return TG_OK;
    case KIND(FLOATS):
        *out = (tg_attr){.kind = TG_ATTR_FLOATS, .n = (uint32_t)a->n_floats, .floats = a->floats};
        return TG_OK;
    case KIND(UNDEFINED):
        /* An empty list of numbers: the builder takes it for either kind. */
        *out = TG_ATTR_OF_INTS(NULL, 0);
        return TG_OK;
    default: return tg_fail(TG_UNSUPPORTED, "attribute %s has kind %d", a->name, kind_of(a));
    }
}

static void write_strings(tg_arena *arena, const tg_attr *attr, Onnx__AttributeProto *a)
{
    a->n_strings = attr->n;
    a->strings = TG_NEW_ARRAY(arena, ProtobufCBinaryData, attr->n + 1);
    for (uint32_t i = 0; i < attr->n; i++)
        a->strings[i] =
            (ProtobufCBinaryData){strlen(attr->strs[i]), (uint8_t *)(uintptr_t)attr->strs[i]};
}

Onnx__AttributeProto *tg_attribute_write(tg_arena *arena, const char *name, const tg_attr *attr)
{
    static const int kinds[] = {[TG_ATTR_INT] = KIND(INT),        [TG_ATTR_FLOAT] = KIND(FLOAT),
                                [TG_ATTR_STR] = KIND(STRING),     [TG_ATTR_INTS] = KIND(INTS),
                                [TG_ATTR_FLOATS] = KIND(FLOATS),  [TG_ATTR_STRS] = KIND(STRINGS),
                                [TG_ATTR_TENSOR] = KIND(TENSOR),  [TG_ATTR_BYTES] = KIND(STRING),
                                [TG_ATTR_TYPE] = KIND(TYPE_PROTO),  [TG_ATTR_GRAPH] = KIND(GRAPH)};
    Onnx__AttributeProto *a = TG_NEW(arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(a);
    a->name = (char *)(uintptr_t)name;
    a->has_type = 1;
    a->type = (Onnx__AttributeProto__AttributeType)kinds[attr->kind];
    if (attr->kind == TG_ATTR_INT) a->has_i = 1, a->i = attr->i;
    if (attr->kind == TG_ATTR_FLOAT) a->has_f = 1, a->f = attr->f;
    if (attr->kind == TG_ATTR_STR || attr->kind == TG_ATTR_BYTES) {
        a->has_s = 1;
        a->s = (ProtobufCBinaryData){attr->n, (uint8_t *)(uintptr_t)attr->s};
    }
    if (attr->kind == TG_ATTR_INTS) a->n_ints = attr->n, a->ints = (int64_t *)(uintptr_t)attr->ints;
    if (attr->kind == TG_ATTR_FLOATS)
        a->n_floats = attr->n, a->floats = (float *)(uintptr_t)attr->floats;
    if (attr->kind == TG_ATTR_TYPE) a->tp = tg_value_type(arena, (tg_dtype)attr->i);
    if (attr->kind == TG_ATTR_STRS) write_strings(arena, attr, a);
    if (attr->kind == TG_ATTR_TENSOR) {
        a->t = TG_NEW(arena, Onnx__TensorProto);
        tg_tensor_proto_fill(arena, attr->tensor, NULL, a->t);
    }
    return a;
}

const Onnx__AttributeProto *tg_attribute_find(const Onnx__NodeProto *proto, const char *name)
{
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (proto->attribute[i]->name && strcmp(proto->attribute[i]->name, name) == 0)
            return proto->attribute[i];
    return NULL;
}
