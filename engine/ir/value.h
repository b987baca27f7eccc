/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values as wholes: copying, comparing, hashing and freeing tensors and lists. */
#ifndef TG_IR_VALUE_H
#define TG_IR_VALUE_H

#include "engine/base/weight.h"
#include "type.h"

/*
 * Strings are interned (base/intern.h): a TG_STR tensor owns its headers and no text, so that it is
 * copied and freed like one of numbers. Zeroed headers are empty strings.
 */
tg_string tg_string_of(const char *p, size_t n);
bool tg_string_equal(const tg_string *a, const tg_string *b);
/* By bytes, a shorter one before what it begins: negative, 0, positive. */
int tg_string_order(const tg_string *a, const tg_string *b);

/*
 * A copy that the caller frees with tg_tensor_free; an absent tensor stays absent. O(bytes), of
 * lists O(1).
 */
tg_tensor tg_tensor_copy(const tg_tensor *t);
/* Frees what a tensor owns. */
void tg_tensor_free(tg_tensor *t);
/* Same type, same elements, numbers by their bits. */
bool tg_tensor_equal(const tg_tensor *a, const tg_tensor *b);
/* Of type and elements, the same in every run. */
uint64_t tg_tensor_hash(uint64_t h, const tg_tensor *t);
/* The elements as a new weight, hashed by content. Not of lists: none is ever a constant. */
tg_weight *tg_tensor_weight(const tg_tensor *t);

#endif
