/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wire.h"

#include <string.h>

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 }; /* wire types */
enum { TOKEN_SIZE = 16, PAYLOAD = 1024, RAW_DATA = 9, LENGTH_SIZE = 5 };

typedef struct walk {
    const unsigned char *p;
    size_t n; /* of the whole file, for messages */
    tg_str *out;
} walk;

static tg_status ends_early(const walk *w, size_t at, const char *what, uint64_t want, size_t have)
{
    return tg_fail(TG_FORMAT,
                   "the file ends early: %s at byte %zu needs %llu bytes, %zu are there "
                   "(the file has %zu)",
                   what, at, (unsigned long long)want, have, w->n);
}

static tg_status read_varint(const walk *w, size_t *at, size_t end, uint64_t *value)
{
    uint64_t v = 0;
    size_t start = *at;
    for (int shift = 0; shift < 70; shift += 7) {
        if (*at >= end) {
            if (end == w->n) return ends_early(w, start, "a number", *at - start + 1, end - start);
            return tg_fail(TG_FORMAT, "not valid ONNX: a number at byte %zu leaves its message",
                           start);
        }
        unsigned char c = w->p[(*at)++];
        if (shift == 63 && c > 1) break;
        v |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80)) {
            *value = v;
            return TG_OK;
        }
    }
    return tg_fail(TG_FORMAT, "not valid ONNX: a number at byte %zu is longer than 64 bits", start);
}

static unsigned wire_type_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return BYTES;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32: return FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64: return FIXED64;
    default: return VARINT;
    }
}

static tg_status check_wire_type(const ProtobufCMessageDescriptor *type,
                                 const ProtobufCFieldDescriptor *field, unsigned wire, size_t at)
{
    if (wire != VARINT && wire != FIXED64 && wire != BYTES && wire != FIXED32)
        return tg_fail(TG_FORMAT, "not valid ONNX: wire type %u at byte %zu", wire, at);
    if (!field) return TG_OK;
    unsigned want = wire_type_of(field);
    bool packed = wire == BYTES && field->label == PROTOBUF_C_LABEL_REPEATED;
    if (wire != want && !packed)
        return tg_fail(TG_FORMAT, "not valid ONNX: field %s of %s has wire type %u at byte %zu",
                       field->name, type->short_name, wire, at);
    return TG_OK;
}

static void add_varint(tg_str *out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) tg_str_addc(out, (char)(v | 0x80));
    tg_str_addc(out, (char)v);
}

static void add_token(tg_str *out, uint64_t at, uint64_t size)
{
    uint64_t token[2] = {at, size};
    add_varint(out, RAW_DATA << 3 | BYTES);
    add_varint(out, TOKEN_SIZE);
    tg_str_addn(out, (const char *)token, TOKEN_SIZE);
}

/* Always five bytes, so that it can be filled in once the message behind it is written. */
static void put_length(tg_str *out, size_t at, size_t length)
{
    for (int i = 0; i < LENGTH_SIZE; i++, length >>= 7)
        out->p[at + (size_t)i] = (char)((length & 0x7f) | (i < LENGTH_SIZE - 1 ? 0x80 : 0));
}

static tg_status walk_message(walk *w, const ProtobufCMessageDescriptor *type, size_t at,
                              size_t end, int depth);

/* A length-delimited field whose `size` bytes begin at `at`. */
static tg_status walk_bytes(walk *w, const ProtobufCMessageDescriptor *type,
                            const ProtobufCFieldDescriptor *field, size_t tag, size_t at,
                            size_t size, int depth)
{
    if (field && field->type == PROTOBUF_C_TYPE_MESSAGE) {
        add_varint(w->out, (uint64_t)field->id << 3 | BYTES);
        size_t length = w->out->n;
        tg_str_addn(w->out, "\0\0\0\0", LENGTH_SIZE);
        TG_TRY(walk_message(w, field->descriptor, at, at + size, depth + 1));
        put_length(w->out, length, w->out->n - length - LENGTH_SIZE);
        return TG_OK;
    }
    if (field && field->type == PROTOBUF_C_TYPE_STRING && size && memchr(w->p + at, 0, size))
        return tg_fail(TG_FORMAT, "not valid ONNX: the text of field %s at byte %zu holds a NUL",
                       field->name, at);
    if (type == &onnx__tensor_proto__descriptor && field && field->id == RAW_DATA &&
        (size >= PAYLOAD || size == TOKEN_SIZE))
        add_token(w->out, at, size);
    else tg_str_addn(w->out, (const char *)w->p + tag, at + size - tag);
    return TG_OK;
}

static tg_status walk_field(walk *w, const ProtobufCMessageDescriptor *type, size_t *at, size_t end,
                            int depth)
{
    size_t tag = *at;
    uint64_t key, size;
    TG_TRY(read_varint(w, at, end, &key));
    unsigned wire = key & 7;
    if (key >> 3 == 0 || key >> 32)
        return tg_fail(TG_FORMAT, "not valid ONNX: field number %llu at byte %zu",
                       (unsigned long long)(key >> 3), tag);
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(type, (unsigned)(key >> 3));
    TG_TRY(check_wire_type(type, field, wire, tag));
    if (wire == VARINT) {
        TG_TRY(read_varint(w, at, end, &size));
        tg_str_addn(w->out, (const char *)w->p + tag, *at - tag);
        return TG_OK;
    }
    size = wire == FIXED64 ? 8 : 4;
    if (wire == BYTES) TG_TRY(read_varint(w, at, end, &size));
    if (size > end - *at) {
        const char *name = field ? field->name : "an unknown field";
        if (end == w->n) return ends_early(w, tag, name, size, end - *at);
        return tg_fail(TG_FORMAT,
                       "not valid ONNX: %s at byte %zu needs %llu bytes, its message has %zu left",
                       name, tag, (unsigned long long)size, end - *at);
    }
    size_t from = *at;
    *at += size;
    return walk_bytes(w, type, wire == BYTES ? field : NULL, tag, from, size, depth);
}

static tg_status walk_message(walk *w, const ProtobufCMessageDescriptor *type, size_t at,
                              size_t end, int depth)
{
    if (depth > TG_WIRE_DEPTH)
        return tg_fail(TG_LIMIT, "more than %d levels of nested subgraphs (%s at byte %zu)",
                       TG_WIRE_DEPTH / 3, type->short_name, at);
    while (at < end) TG_TRY(walk_field(w, type, &at, end, depth));
    return TG_OK;
}

tg_status tg_wire_strip(const ProtobufCMessageDescriptor *type, const void *bytes, size_t n,
                        tg_str *out)
{
    walk w = {bytes, n, out};
    tg_str_addn(out, "", 0);
    return walk_message(&w, type, 0, n, 0);
}
