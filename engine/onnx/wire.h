/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Protobuf messages checked before they are unpacked, with their payloads left where they are.
 *
 * protobuf-c recurses without limit and copies all bytes. The walker goes over the encoding first:
 * it checks tags, lengths, nesting and strings against the message's descriptor and writes a copy
 * in which each large raw_data is a token (offset, length). The unpacked message then gets pointers
 * into the original bytes.
 */
#ifndef TG_ONNX_WIRE_H
#define TG_ONNX_WIRE_H

#include "engine/base/str.h"
#include "engine/base/weight.h"
#include "engine/onnx/onnx.pb-c.h"

#include <stdatomic.h>

/*
 * Levels of messages in messages. A level of subgraph is three of them (graph, node, attribute), so
 * this is 200 levels of subgraphs.
 */
enum { TG_WIRE_DEPTH = 610 };

/*
 * An unpacked message, its payloads and what they lie in; reference-counted. Invariant: whatever in
 * `message` points into `file` is not freed with it.
 */
typedef struct tg_unpacked {
    atomic_int refs;
    tg_weight *file;
    ProtobufCMessage *message;
    ProtobufCAllocator allocator;
    size_t used, limit; /* bytes given out by the allocator so far, and the most it gives */
    bool full;          /* the limit was reached */
} tg_unpacked;

/*
 * Unpacks the bytes of `file`, whose reference is taken over in every case. Errors: TG_FORMAT
 * (empty, text, malformed, cut off: with the byte offset), TG_LIMIT (nesting, memory). O(file
 * without payloads).
 */
tg_status tg_unpack(tg_weight *file, const ProtobufCMessageDescriptor *type,
                    tg_unpacked **out) TG_MUST_USE;
tg_unpacked *tg_unpacked_ref(tg_unpacked *unpacked);
void tg_unpacked_free(void *unpacked); /* lets go of a reference; NULL is fine */

/* A mapped file or copied bytes as a weight. Errors: TG_IO, TG_FORMAT (empty). */
tg_status tg_file_open(const char *path, tg_weight **file) TG_MUST_USE;
tg_weight *tg_file_copy(const void *bytes, size_t n);

/* For tests: the walker alone; adds the stripped message to `out`. */
tg_status tg_wire_strip(const ProtobufCMessageDescriptor *type, const void *bytes, size_t n,
                        tg_str *out) TG_MUST_USE;

#endif
