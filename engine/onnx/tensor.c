/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor.h"

#include "engine/base/hash.h"
#include "engine/ir/eval.h"
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

/* Unaligned payloads up to this size are copied, so that kernels may read whole elements. */
enum { COPIED = 64 << 20, HASHED = 4 << 20 };

static const char *name_of(const Onnx__TensorProto *t)
{
    return t->name && t->name[0] ? t->name : "without a name";
}

static void print_dims(const Onnx__TensorProto *t, tg_str *out)
{
    for (size_t i = 0; i < t->n_dims && i < 16; i++)
        tg_str_addf(out, "%s%lld", i ? "x" : "", (long long)t->dims[i]);
    if (t->n_dims > 16) tg_str_add(out, "x...");
}

static tg_status bad_dims(const Onnx__TensorProto *t, tg_status status, const char *why)
{
    tg_str dims = {0};
    print_dims(t, &dims);
    status =
        tg_fail(status, "tensor %s has dimensions %s: %s", name_of(t), tg_str_text(&dims), why);
    tg_str_free(&dims);
    return status;
}

tg_status tg_tensor_proto_type(const Onnx__TensorProto *t, tg_type *type)
{
    if (t->n_dims > TG_MAX_RANK) return bad_dims(t, TG_LIMIT, "the rank is more than 8");
    for (size_t i = 0; i < t->n_dims; i++)
        if (t->dims[i] < 0) return bad_dims(t, TG_INVALID, "negative");
    tg_type found = {(tg_dtype)t->data_type, tg_shape_from(t->dims, (int)t->n_dims)};
    if (!tg_dtype_size(found.dtype)) found.dtype = TG_DTYPE_NONE;
    if (tg_shape_count(&found.shape) == INT64_MAX || tg_type_bytes(&found) == INT64_MAX)
        return bad_dims(t, TG_INVALID, "too many elements");
    *type = found;
    return TG_OK;
}

static tg_status wrong_size(const Onnx__TensorProto *t, const char *unit, int64_t want, size_t have)
{
    return tg_fail(TG_INVALID, "tensor %s needs %lld %s, %zu are there", name_of(t),
                   (long long)want, unit, have);
}

static void unref_weight(void *weight)
{
    tg_weight_unref(weight);
}

/*
 * The hash must not depend on where the bytes lie: a saved model lays them elsewhere. Up to HASHED
 * bytes all of them enter, of more only samples and the name.
 */
static tg_weight *weigh(const Onnx__TensorProto *t, const void *p, size_t n,
                        void (*release)(void *), void *owner)
{
    uint64_t salt = tg_hash_str(0, t->name ? t->name : "");
    tg_weight *w = tg_weight_wrap(p, n, salt, release, owner);
    if (n <= HASHED) w->hash = tg_hash_bytes(1, p, n);
    return w;
}

/* Bytes that lie in `file` stay there if kernels can read them there. */
static tg_weight *raw_weight(const Onnx__TensorProto *t, const unsigned char *p, size_t n,
                             tg_weight *file, tg_dtype dtype)
{
    size_t size = tg_dtype_size(dtype);
    const unsigned char *from = file ? file->data : NULL;
    bool inside = file && p >= from && p < from + file->size;
    bool aligned = (uintptr_t)p % (size > 8 ? 8 : size) == 0;
    if (n && inside && (aligned || n > COPIED))
        return weigh(t, p, n, unref_weight, tg_weight_ref(file));
    void *copy = tg_memdup(n ? p : (const void *)"", n + !n);
    return weigh(t, copy, n, free, copy);
}

/* The list that holds the elements of this type where they are not raw: its length and values. */
static size_t list_length(const Onnx__TensorProto *t, tg_dtype dtype)
{
    switch (dtype) {
    case TG_F32:
    case TG_C64: return t->n_float_data;
    case TG_F64:
    case TG_C128: return t->n_double_data;
    case TG_I64: return t->n_int64_data;
    case TG_U32:
    case TG_U64: return t->n_uint64_data;
    case TG_STR: return t->n_string_data;
    default: return t->n_int32_data;
    }
}

static void copy_list(const Onnx__TensorProto *t, tg_dtype dtype, size_t n, void *to)
{
    switch (dtype) {
    case TG_F32:
    case TG_C64: memcpy(to, t->float_data, n * sizeof *t->float_data); break;
    case TG_F64:
    case TG_C128: memcpy(to, t->double_data, n * sizeof *t->double_data); break;
    case TG_I64: memcpy(to, t->int64_data, n * sizeof *t->int64_data); break;
    case TG_U64: memcpy(to, t->uint64_data, n * sizeof *t->uint64_data); break;
    case TG_U32:
        for (size_t i = 0; i < n; i++) ((uint32_t *)to)[i] = (uint32_t)t->uint64_data[i];
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            uint32_t v = (uint32_t)t->int32_data[i], six = tg_dtype_bits(dtype) == 6 ? 0x3f : 0xff;
            if (tg_dtype_size(dtype) == 1) ((uint8_t *)to)[i] = (uint8_t)(v & six);
            else if (tg_dtype_size(dtype) == 2) ((uint16_t *)to)[i] = (uint16_t)v;
            else ((uint32_t *)to)[i] = v;
        }
    }
}

static tg_weight *string_weight(const Onnx__TensorProto *t, const tg_type *type)
{
    tg_tensor all = {TG_STR, type->shape, tg_calloc(t->n_string_data + 1, sizeof(tg_string))};
    for (size_t i = 0; i < t->n_string_data; i++)
        ((tg_string *)all.data)[i] =
            tg_string_of((const char *)t->string_data[i].data, t->string_data[i].len);
    tg_weight *w = tg_tensor_weight(&all);
    tg_tensor_free(&all);
    return w;
}

/* ---- types of fewer bits than a byte: packed in files, the first in the lowest bits ---- */

static size_t file_bytes(const tg_type *type)
{
    size_t bits = (size_t)tg_dtype_bits(type->dtype), n = (size_t)tg_shape_count(&type->shape);
    if (bits >= 8) return (size_t)tg_type_bytes(type);
    return n / 8 * bits + (n % 8 * bits + 7) / 8;
}

/* Entries of a list: one an element, or one a byte that several elements fill. */
static int64_t file_entries(const tg_type *type)
{
    bool complex = tg_dtype_kind(type->dtype) == 'c';
    int bits = tg_dtype_bits(type->dtype);
    return bits == 4 || bits == 2 ? (int64_t)file_bytes(type)
                                  : tg_shape_count(&type->shape) * (complex ? 2 : 1);
}

/* A weight of n packed elements that takes over the reference to one of bytes. */
static tg_weight *unpack_weight(const Onnx__TensorProto *t, const tg_type *type, tg_weight *packed)
{
    size_t n = (size_t)tg_shape_count(&type->shape), bits = (size_t)tg_dtype_bits(type->dtype);
    if (bits >= 8) return packed;
    const uint8_t *from = packed->data;
    uint8_t *to = tg_malloc(n + 1), mask = (uint8_t)((1u << bits) - 1);
    bool floats = tg_narrow_is_float(type->dtype);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * bits / 8, shift = i * bits % 8;
        unsigned two = from[at] | (shift + bits > 8 ? (unsigned)from[at + 1] << 8 : 0);
        uint8_t code = (uint8_t)(two >> shift) & mask;
        to[i] = floats ? code : tg_narrow_int(type->dtype, code);
    }
    tg_weight_unref(packed);
    return weigh(t, to, n, free, to);
}

static uint8_t *pack(tg_arena *arena, const tg_tensor *t, size_t size)
{
    size_t n = (size_t)tg_tensor_count(t), bits = (size_t)tg_dtype_bits(t->dtype);
    uint8_t *packed = tg_arena_alloc(arena, size + 1), mask = (uint8_t)((1u << bits) - 1);
    for (size_t i = 0; i < n; i++) {
        unsigned code = (((const uint8_t *)t->data)[i] & mask), shift = i * bits % 8;
        packed[i * bits / 8] |= (uint8_t)(code << shift);
        if (shift + bits > 8) packed[i * bits / 8 + 1] |= (uint8_t)(code << shift >> 8);
    }
    return packed;
}

static tg_status list_weight(const Onnx__TensorProto *t, const tg_type *type, tg_weight **weight)
{
    int64_t want = file_entries(type);
    size_t have = list_length(t, type->dtype);
    if ((int64_t)have != want) {
        if (have || type->dtype == TG_STR) return wrong_size(t, "elements", want, have);
        return wrong_size(t, "bytes", (int64_t)file_bytes(type), 0);
    }
    if (type->dtype == TG_STR) {
        *weight = string_weight(t, type);
        return TG_OK;
    }
    bool whole = tg_dtype_bits(type->dtype) == 6; /* the only narrow ones with an entry each */
    size_t bytes = whole ? have : file_bytes(type);
    void *data = tg_malloc(bytes + 1);
    if (have) copy_list(t, type->dtype, have, data);
    *weight = weigh(t, data, bytes, free, data);
    if (!whole) *weight = unpack_weight(t, type, *weight);
    return TG_OK;
}

static tg_status external_weight(const Onnx__TensorProto *t, const char *folder,
                                 const tg_type *type, tg_weight **weight)
{
    tg_weight *file;
    if (type->dtype == TG_STR)
        return tg_fail(TG_INVALID, "tensor %s: text as external data", name_of(t));
    TG_TRY(tg_external_open(t, folder, file_bytes(type), &file));
    *weight = unpack_weight(t, type, raw_weight(t, file->data, file->size, file, type->dtype));
    tg_weight_unref(file);
    return TG_OK;
}

tg_status tg_tensor_proto_weight(const Onnx__TensorProto *t, tg_weight *file, const char *folder,
                                 tg_type *type, tg_weight **weight)
{
    tg_type found;
    TG_TRY(tg_tensor_proto_type(t, &found));
    if (found.dtype == TG_DTYPE_NONE)
        return tg_fail(TG_UNSUPPORTED, "tensor %s has element type %d, which cannot be read",
                       name_of(t), (int)t->data_type);
    if (t->segment) return tg_fail(TG_UNSUPPORTED, "tensor %s is stored in segments", name_of(t));
    *type = found;
    int64_t bytes = (int64_t)file_bytes(&found);
    if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return external_weight(t, folder, &found, weight);
    if (!t->has_raw_data || (!t->raw_data.len && found.dtype == TG_STR))
        return list_weight(t, &found, weight);
    if (found.dtype == TG_STR)
        return tg_fail(TG_INVALID, "tensor %s: text as raw data", name_of(t));
    if (t->raw_data.len != (size_t)bytes) return wrong_size(t, "bytes", bytes, t->raw_data.len);
    *weight = unpack_weight(t, &found,
                            raw_weight(t, t->raw_data.data, t->raw_data.len, file, found.dtype));
    return TG_OK;
}

void tg_tensor_proto_fill(tg_arena *arena, const tg_tensor *t, const char *name,
                          Onnx__TensorProto *out)
{
    onnx__tensor_proto__init(out);
    out->name = (char *)(uintptr_t)name;
    out->has_data_type = 1;
    out->data_type = (int32_t)t->dtype;
    out->n_dims = (size_t)t->shape.rank;
    out->dims = tg_arena_dup(arena, t->shape.dim, sizeof *t->shape.dim * (size_t)t->shape.rank);
    size_t n = (size_t)tg_tensor_count(t);
    if (t->dtype == TG_STR) {
        out->n_string_data = n;
        out->string_data = TG_NEW_ARRAY(arena, ProtobufCBinaryData, n + 1);
        for (size_t i = 0; i < n; i++) {
            const tg_string *s = &((const tg_string *)t->data)[i];
            out->string_data[i] = (ProtobufCBinaryData){s->n, (uint8_t *)(uintptr_t)s->p};
        }
        return;
    }
    out->has_raw_data = 1;
    tg_type type = {t->dtype, t->shape};
    size_t size = file_bytes(&type);
    bool packed = tg_dtype_bits(t->dtype) < 8;
    out->raw_data = (ProtobufCBinaryData){size, packed ? pack(arena, t, size) : t->data};
}

tg_status tg_tensor_proto_copy(const Onnx__TensorProto *proto, tg_weight *file, tg_tensor *t)
{
    tg_weight *w;
    tg_type type;
    TG_TRY(tg_tensor_proto_weight(proto, file, NULL, &type, &w));
    void *data = tg_memdup(w->data, w->size + !w->size);
    tg_weight_unref(w);
    *t = (tg_tensor){type.dtype, type.shape, data};
    return TG_OK;
}

tg_status tg_onnx_read_tensor(const char *path, tg_tensor *t, char **name)
{
    tg_weight *file;
    tg_unpacked *u;
    TG_TRY(tg_file_open(path, &file));
    tg_status status = tg_unpack(file, &onnx__tensor_proto__descriptor, &u);
    if (status != TG_OK) return tg_wrap_file(status, path);
    const Onnx__TensorProto *proto = (const Onnx__TensorProto *)(const void *)u->message;
    status = tg_tensor_proto_copy(proto, u->file, t);
    if (status != TG_OK) status = tg_wrap_file(status, path);
    else if (name) *name = tg_strdup(proto->name ? proto->name : "");
    tg_unpacked_free(u);
    return status;
}

tg_status tg_onnx_write_tensor(const char *path, const char *name, const tg_tensor *t)
{
    Onnx__TensorProto proto;
    tg_arena *arena = tg_arena_new();
    tg_tensor_proto_fill(arena, t, name, &proto);
    size_t n = onnx__tensor_proto__get_packed_size(&proto);
    uint8_t *bytes = tg_malloc(n + 1);
    onnx__tensor_proto__pack(&proto, bytes);
    tg_status status = tg_write_file(path, bytes, n);
    free(bytes);
    tg_arena_free(arena);
    return status;
}
