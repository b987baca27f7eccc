/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files to messages: what is no ONNX is named, memory is counted, tokens become pointers. */
#include "wire.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 256, TOKEN_SIZE = 16 };
static const size_t LIMIT_BASE = (size_t)256 << 20, LIMIT_FACTOR = 4;

static void release_mapping(void *mapping)
{
    tg_mapping_unref(mapping);
}

tg_status tg_file_open(const char *path, tg_weight **file)
{
    tg_mapping *m;
    TG_TRY(tg_mapping_open(path, &m));
    if (!m->size) {
        tg_mapping_unref(m);
        return tg_fail(TG_FORMAT, "%s: the file is empty", path);
    }
    *file = tg_weight_wrap(m->data, m->size, 0, release_mapping, m);
    return TG_OK;
}

tg_weight *tg_file_copy(const void *bytes, size_t n)
{
    return tg_weight_copy(n ? bytes : "", n);
}

static bool all_text(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isprint(p[i]) && !isspace(p[i]) && p[i] < 0x80) return false;
    return true;
}

/* Says what a file is that cannot be ONNX. */
static tg_status recognise(const unsigned char *p, size_t n)
{
    static const char lfs[] = "version https://git-lfs";
    if (!n) return tg_fail(TG_FORMAT, "the file is empty");
    if (n >= sizeof lfs - 1 && memcmp(p, lfs, sizeof lfs - 1) == 0)
        return tg_fail(TG_FORMAT, "a Git LFS pointer to a file that was not fetched, not ONNX");
    size_t look = n < LOOKED_AT ? n : LOOKED_AT, i = 0;
    if (!all_text(p, look)) return TG_OK;
    while (i < look && isspace(p[i])) i++;
    if (look - i >= 5 && p[i] == '<' && (p[i + 1] == '!' || tolower(p[i + 1]) == 'h'))
        return tg_fail(TG_FORMAT, "an HTML page, not ONNX");
    /* The fewest bytes of a model are not all printable, but those of a tiny tensor may be. */
    return look >= 16 ? tg_fail(TG_FORMAT, "a text file, not ONNX") : TG_OK;
}

static void *count_alloc(void *ctx, size_t size)
{
    tg_unpacked *u = ctx;
    if (size > u->limit - u->used) u->full = true;
    if (u->full) return NULL;
    u->used += size;
    return tg_malloc(size ? size : 1);
}

static void count_free(void *ctx, void *p)
{
    const tg_unpacked *u = ctx;
    uintptr_t from = (uintptr_t)u->file->data, at = (uintptr_t)p;
    if (at < from || at >= from + u->file->size) free(p);
}

/* A token becomes the payload that it stands for. */
static void resolve_tensor(tg_unpacked *u, Onnx__TensorProto *t)
{
    uint64_t token[2];
    if (!t->has_raw_data || t->raw_data.len != TOKEN_SIZE) return;
    memcpy(token, t->raw_data.data, sizeof token);
    free(t->raw_data.data);
    t->raw_data.data = (uint8_t *)(uintptr_t)u->file->data + token[0];
    t->raw_data.len = token[1];
}

static void resolve(tg_unpacked *u, ProtobufCMessage *message);

static void resolve_field(tg_unpacked *u, ProtobufCMessage *message,
                          const ProtobufCFieldDescriptor *field)
{
    char *base = (char *)message, *at = base + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t n = *(size_t *)(void *)(base + field->quantifier_offset);
        ProtobufCMessage **list = *(ProtobufCMessage ***)(void *)at;
        for (size_t i = 0; i < n; i++) resolve(u, list[i]);
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF &&
        *(uint32_t *)(void *)(base + field->quantifier_offset) != field->id)
        return;
    ProtobufCMessage *one = *(ProtobufCMessage **)(void *)at;
    if (one) resolve(u, one);
}

static void resolve(tg_unpacked *u, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &onnx__tensor_proto__descriptor)
        resolve_tensor(u, (Onnx__TensorProto *)(void *)message);
    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            resolve_field(u, message, &type->fields[i]);
}

static tg_status unpack_stripped(tg_unpacked *u, const ProtobufCMessageDescriptor *type,
                                 const tg_str *stripped)
{
    if (stripped->n > INT_MAX)
        return tg_fail(TG_LIMIT, "more than 2 GB besides the raw payloads of tensors");
    u->limit = LIMIT_BASE + LIMIT_FACTOR * stripped->n;
    u->allocator = (ProtobufCAllocator){count_alloc, count_free, u};
    u->message =
        protobuf_c_message_unpack(type, &u->allocator, stripped->n, (const uint8_t *)stripped->p);
    if (u->message) {
        resolve(u, u->message);
        return TG_OK;
    }
    if (u->full)
        return tg_fail(TG_LIMIT, "reading it needs more than %zu MB of memory", u->limit >> 20);
    return tg_fail(TG_FORMAT, "not valid ONNX: malformed %s", type->short_name);
}

tg_status tg_unpack(tg_weight *file, const ProtobufCMessageDescriptor *type, tg_unpacked **out)
{
    tg_unpacked *u = tg_calloc(1, sizeof *u);
    tg_str stripped = {0};
    atomic_init(&u->refs, 1);
    u->file = file;
    tg_status status = recognise(file->data, file->size);
    if (status == TG_OK) status = tg_wire_strip(type, file->data, file->size, &stripped);
    if (status == TG_OK) status = unpack_stripped(u, type, &stripped);
    tg_str_free(&stripped);
    if (status == TG_OK) *out = u;
    else tg_unpacked_free(u);
    return status;
}

tg_unpacked *tg_unpacked_ref(tg_unpacked *u)
{
    atomic_fetch_add_explicit(&u->refs, 1, memory_order_relaxed);
    return u;
}

void tg_unpacked_free(void *unpacked)
{
    tg_unpacked *u = unpacked;
    if (!u || atomic_fetch_sub_explicit(&u->refs, 1, memory_order_acq_rel) != 1) return;
    if (u->message) protobuf_c_message_free_unpacked(u->message, &u->allocator);
    tg_weight_unref(u->file);
    free(u);
}
