/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of one tensor: what can be read is written and read again the same. */
#include "fuzz.h"

#include "engine/engine.h"
#include "engine/onnx/tensor.h"

#include <string.h>

static void write_and_read(const tg_tensor *t, const char *name)
{
    char *again = NULL;
    tg_tensor back;
    const char *path = fuzz_file("", 0);
    /* Written beside itself and renamed, which a file in memory cannot be. */
    fuzz_must(tg_onnx_write_tensor(path, name, t) == TG_IO);
    if (t->dtype == TG_STR) return;
    Onnx__TensorProto proto;
    tg_arena *arena = tg_arena_new();
    tg_tensor_proto_fill(arena, t, name, &proto);
    size_t n = onnx__tensor_proto__get_packed_size(&proto);
    uint8_t *bytes = tg_malloc(n + 1);
    onnx__tensor_proto__pack(&proto, bytes);
    fuzz_must(tg_onnx_read_tensor(fuzz_file(bytes, n), &back, &again) == TG_OK);
    fuzz_must(strcmp(name, again) == 0 && back.dtype == t->dtype);
    fuzz_must(tg_tensor_bytes(&back) == tg_tensor_bytes(t));
    fuzz_must(memcmp(back.data, t->data, tg_tensor_bytes(t)) == 0);
    tg_tensor_free(&back);
    free(again);
    free(bytes);
    tg_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_tensor t;
    char *name;
    if (tg_onnx_read_tensor(fuzz_file(data, size), &t, &name) != TG_OK) {
        fuzz_message();
        return 0;
    }
    write_and_read(&t, name);
    tg_tensor_free(&t);
    free(name);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_message(&onnx__tensor_proto__descriptor, data, size, most, seed, NULL);
}
