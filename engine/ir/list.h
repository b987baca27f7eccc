/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What sequences and optionals hold: tensors in order. An optional has one item or none; the item
 * of an optional sequence is a sequence. A list does not change once it is a value: it is shared by
 * reference, and so are its items, so that a longer list costs no more than what is new in it.
 */
#ifndef TG_IR_LIST_H
#define TG_IR_LIST_H

#include "engine/base/weight.h"
#include "type.h"

/* Invariant: tensor.data lies in `weight` or, of a list in a list, is a reference to it. */
typedef struct tg_item {
    tg_tensor tensor;
    tg_weight *weight;
} tg_item;

typedef struct tg_list {
    atomic_int refs;
    int64_t n;
    tg_item item[];
} tg_list;

/* n absent items, to be set once each; one reference. */
tg_list *tg_list_new(int64_t n);
tg_list *tg_list_ref(const tg_list *list);
void tg_list_unref(const tg_list *list); /* NULL is fine */

/* Item i becomes a copy of t, or takes over what t owns, or is that of another list. */
void tg_list_set(tg_list *list, int64_t i, const tg_tensor *t);
void tg_list_give(tg_list *list, int64_t i, tg_tensor t);
void tg_list_share(tg_list *list, int64_t i, const tg_item *item);

bool tg_list_equal(const tg_list *a, const tg_list *b);
uint64_t tg_list_hash(uint64_t h, const tg_list *list);

/* The list that a value is; it must be one. */
static inline const tg_list *tg_list_of(const tg_tensor *t)
{
    return (const tg_list *)t->data;
}
/* A value that takes over a reference to the list. */
static inline tg_tensor tg_list_value(tg_dtype dtype, tg_list *list)
{
    return (tg_tensor){dtype, TG_SHAPE_UNKNOWN, list};
}

#endif
