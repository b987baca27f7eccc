/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes of encoded messages, and what all targets share. */
#include "fuzz.h"

#include "engine/base/rng.h"
#include "engine/base/str.h"
#include "engine/base/vec.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_message(void)
{
    const char *text = tg_message();
    fuzz_must(text[0] && !strchr(text, '\n'));
}

const char *fuzz_file(const void *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_must(fd >= 0 && ftruncate(fd, 0) == 0);
    fuzz_must(size == 0 || pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* A field as it lies in its message: [at, end) with its key, [from, end) without key and length. */
typedef struct piece {
    const ProtobufCFieldDescriptor *field; /* NULL: unknown */
    unsigned number, wire;
    size_t at, from, end;
} piece;

typedef struct change {
    tg_rng *rng;
    const char *(*word)(const ProtobufCFieldDescriptor *field, uint64_t n);
} change;

typedef TG_VEC(piece) piece_vec;

static bool get_varint(const uint8_t *p, size_t n, size_t *at, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64 && *at < n; shift += 7) {
        uint8_t c = p[(*at)++];
        *v |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80)) return true;
    }
    return false;
}

static void put_varint(tg_str *s, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) tg_str_addc(s, (char)(v | 0x80));
    tg_str_addc(s, (char)v);
}

/* The next piece of a message, or false behind the last whole one. */
static bool next_piece(const ProtobufCMessageDescriptor *type, const uint8_t *p, size_t n,
                       size_t *at, piece *out)
{
    uint64_t key, v = 0;
    out->at = *at;
    if (!get_varint(p, n, at, &key) || key >> 32) return false;
    out->number = (unsigned)(key >> 3);
    out->wire = key & 7;
    out->field = type ? protobuf_c_message_descriptor_get_field(type, out->number) : NULL;
    out->from = *at;
    if (out->wire == 0 && !get_varint(p, n, at, &v)) return false;
    if (out->wire == 1) v = 8;
    else if (out->wire == 5) v = 4;
    else if (out->wire == 2) {
        if (!get_varint(p, n, at, &v)) return false;
        out->from = *at;
    } else if (out->wire != 0) return false;
    if (out->wire != 0) {
        if (v > n - *at) return false;
        *at += v;
    }
    out->end = *at;
    return true;
}

static void put_field(tg_str *out, const piece *f, const void *body, size_t n)
{
    put_varint(out, (uint64_t)f->number << 3 | f->wire);
    if (f->wire == 2) put_varint(out, n);
    tg_str_addn(out, body, n);
}

static uint64_t interesting(tg_rng *rng)
{
    static const int64_t values[] = {0,         1,         2,         3,         4,
                                     7,         8,         -1,        -2,        16,
                                     64,        127,       128,       255,       INT32_MAX,
                                     INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 31, (1LL << 31) - 2,
                                     1LL << 40, 1LL << 62, 1000003,   9};
    return (uint64_t)values[tg_rng_below(rng, sizeof values / sizeof *values)];
}

/* A new field of the message, empty if it is a message itself. */
static void add_field(change *c, const ProtobufCMessageDescriptor *type, tg_str *out)
{
    if (!type || !type->n_fields) return;
    const ProtobufCFieldDescriptor *field = &type->fields[tg_rng_below(c->rng, type->n_fields)];
    piece f = {field, field->id, 0, 0, 0, 0};
    const char *word = c->word ? c->word(field, tg_rng_u64(c->rng)) : NULL;
    uint64_t v = interesting(c->rng);
    tg_str body = {0};
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        f.wire = 2;
        tg_str_add(&body, word ? word : "x");
        break;
    case PROTOBUF_C_TYPE_MESSAGE: f.wire = 2; break;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
        f.wire = 5;
        tg_str_addn(&body, (const char *)&v, 4);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
        f.wire = 1;
        tg_str_addn(&body, (const char *)&v, 8);
        break;
    default: put_varint(&body, v);
    }
    put_field(out, &f, tg_str_text(&body), body.n);
    tg_str_free(&body);
}

/* Other bytes for a field that is no message. */
static void change_bytes(change *c, const uint8_t *p, const piece *f, tg_str *out)
{
    size_t n = f->end - f->from, most = n + 16;
    const char *word =
        f->field && c->word && f->wire == 2 ? c->word(f->field, tg_rng_u64(c->rng)) : NULL;
    tg_str body = {0};
    if (f->wire == 0 && tg_rng_below(c->rng, 2)) {
        put_varint(&body, interesting(c->rng));
    } else if (word && tg_rng_below(c->rng, 8)) {
        tg_str_add(&body, word);
    } else {
        uint8_t *copy = calloc(1, most);
        if (n) memcpy(copy, p + f->from, n);
        size_t now = LLVMFuzzerMutate(copy, n, f->wire == 2 ? most : n);
        if (f->wire == 0 && now) {
            for (size_t i = 0; i < now; i++)
                copy[i] = (uint8_t)(i + 1 < now ? copy[i] | 0x80 : copy[i] & 0x7f);
        } else if (f->wire != 2) now = n;
        tg_str_addn(&body, (char *)copy, now);
        free(copy);
    }
    put_field(out, f, tg_str_text(&body), body.n);
    tg_str_free(&body);
}

static void change_message(change *c, const ProtobufCMessageDescriptor *type, const uint8_t *p,
                           size_t n, tg_str *out);

static void change_piece(change *c, const uint8_t *p, const piece *f, tg_str *out)
{
    if (!f->field || f->field->type != PROTOBUF_C_TYPE_MESSAGE || f->wire != 2) {
        change_bytes(c, p, f, out);
        return;
    }
    tg_str body = {0};
    change_message(c, f->field->descriptor, p + f->from, f->end - f->from, &body);
    put_field(out, f, tg_str_text(&body), body.n);
    tg_str_free(&body);
}

static void change_message(change *c, const ProtobufCMessageDescriptor *type, const uint8_t *p,
                           size_t n, tg_str *out)
{
    piece_vec pieces = {0};
    piece f;
    size_t at = 0;
    while (at < n && next_piece(type, p, n, &at, &f)) tg_vec_push(&pieces, f);
    size_t k = pieces.n ? tg_rng_below(c->rng, pieces.n) : 0;
    uint64_t what = pieces.n ? tg_rng_below(c->rng, 16) : 0;
    if (what == 0) add_field(c, type, out);
    for (size_t i = 0; i < pieces.n; i++) {
        size_t from = i;
        if (what >= 4 && i == k) {
            change_piece(c, p, &pieces.v[i], out);
            continue;
        }
        if (what == 1 && i == k) continue;
        if (what == 2 && i == k) from = tg_rng_below(c->rng, pieces.n);
        tg_str_addn(out, (const char *)p + pieces.v[from].at,
                    pieces.v[from].end - pieces.v[from].at);
        if (what == 3 && i == k)
            tg_str_addn(out, (const char *)p + pieces.v[i].at, pieces.v[i].end - pieces.v[i].at);
    }
    tg_vec_free(&pieces);
}

size_t fuzz_mutate_message(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t size,
                           size_t most, unsigned seed,
                           const char *(*word)(const ProtobufCFieldDescriptor *field, uint64_t n))
{
    change c = {tg_rng_new(seed), word};
    tg_str now = {0};
    uint64_t times = 1 + tg_rng_below(c.rng, 4);
    bool raw = tg_rng_below(c.rng, 16) == 0;
    tg_str_addn(&now, (const char *)data, size);
    for (uint64_t i = 0; i < times && !raw; i++) {
        tg_str next = {0};
        change_message(&c, type, (const uint8_t *)now.p, now.n, &next);
        if (!next.n) tg_str_addn(&next, "", 0);
        tg_str_free(&now);
        now = next;
    }
    raw |= now.n > most;
    if (!raw) {
        size = now.n;
        if (size) memcpy(data, now.p, size);
    }
    tg_str_free(&now);
    tg_rng_free(c.rng);
    return raw ? LLVMFuzzerMutate(data, size, most) : size;
}
