/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz targets. Each is one file tests/fuzz/fuzz_NAME.c with the two functions below, linked either
 * with libFuzzer (`make fuzz`) or with replay.c, whose main runs the files of
 * tests/fuzz/corpus/NAME and some changes of them as an ordinary test. A target returns normally
 * whatever it is given; what must hold of accepted input is checked with fuzz_must.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "engine/base/status.h"

#include <protobuf-c/protobuf-c.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* From libFuzzer or replay.c: changes some bytes in place; returns the new size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#define fuzz_must(truth)                                                                           \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold (%s)\n", __FILE__, __LINE__, #truth,          \
                    tg_message());                                                                 \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The message of a failure is one line, and not empty. */
void fuzz_message(void);

/*
 * A path under which `size` bytes can be read; valid until the next call. Always the same few
 * files in memory, never one on a disk.
 */
const char *fuzz_file(const void *data, size_t size);

/*
 * proto.c: changes an encoded message field by field, so that lengths stay right: bytes of a field
 * are changed, fields go, are doubled, trade places or come, names become other names. `word`
 * gives a word for a text field, or NULL. Returns the new size, at most `most`.
 */
size_t fuzz_mutate_message(const ProtobufCMessageDescriptor *type, uint8_t *data, size_t size,
                           size_t most, unsigned seed,
                           const char *(*word)(const ProtobufCFieldDescriptor *field, uint64_t n));

#endif
