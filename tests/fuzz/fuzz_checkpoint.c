/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checkpoints: the bytes as a file, and once more as the body of a file whose sum fits, because
 * hardly a change gets past it. What is loaded has finite parameters and can be saved.
 */
#include "fuzz.h"

#include "agent/checkpoint.h"
#include "agent/checkpoint.pb-c.h"
#include "engine/base/crc.h"

#include <math.h>
#include <string.h>

/* A small vocabulary: files stay small, and those of the corpus do not age with the rules. */
static const char *const operators[] = {"Add", "Conv", "Relu"};
static const char *const rule_names[] = {"cancel-relu", "fuse-conv-relu"};
static const char *const node[] = {"log_elements", "constant_inputs"};
static const char *const edge[] = {"forward", "reverse", "self", "log_bytes"};
static const char *const candidate[] = {"cost", "nodes"};
static const char *const global[] = {"steps"};
static const ag_spec spec = {.operators = {3, operators},
                             .rules = {2, rule_names},
                             .node = {2, node},
                             .edge = {4, edge},
                             .candidate = {2, candidate},
                             .global = {1, global}};

static void load(const void *bytes, size_t size)
{
    ag_checkpoint c;
    if (ag_checkpoint_load(fuzz_file(bytes, size), &spec, &c) != TG_OK) {
        fuzz_message();
        return;
    }
    for (size_t i = 0; i < c.policy->net->layout.n; i++)
        fuzz_must(isfinite(c.policy->value[i]) && isfinite(c.first[i]) && isfinite(c.second[i]));
    ag_checkpoint_done(&c);
}

static void load_body(const uint8_t *data, size_t size)
{
    Ag__Saved__File file = AG__SAVED__FILE__INIT;
    file.kind = (char *)(uintptr_t) "regraft checkpoint";
    file.body = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)data};
    file.crc = tg_crc32c(0, data, size);
    uint8_t *bytes = tg_malloc(ag__saved__file__get_packed_size(&file) + 1);
    load(bytes, ag__saved__file__pack(&file, bytes));
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    load_body(data, size);
    return 0;
}

static const char *word(const ProtobufCFieldDescriptor *field, uint64_t n)
{
    static const char *const tensors[] = {"op", "node", "edge", "bias", "rule"};
    if (strcmp(field->name, "name") != 0 || field->type != PROTOBUF_C_TYPE_STRING) return NULL;
    return n % 2 ? operators[(n >> 8) % 3] : tensors[(n >> 8) % 5];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    const ProtobufCMessageDescriptor *type =
        seed % 8 ? &ag__saved__checkpoint__descriptor : &ag__saved__file__descriptor;
    return fuzz_mutate_message(type, data, size, most, seed, word);
}
