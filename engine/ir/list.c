/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "list.h"

#include "engine/base/hash.h"
#include "value.h"

#include <stdlib.h>

tg_list *tg_list_new(int64_t n)
{
    tg_list *list = tg_calloc(1, sizeof *list + (size_t)n * sizeof *list->item);
    atomic_init(&list->refs, 1);
    list->n = n;
    return list;
}

tg_list *tg_list_ref(const tg_list *list)
{
    tg_list *l = (tg_list *)list;
    atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
    return l;
}

void tg_list_unref(const tg_list *list)
{
    tg_list *l = (tg_list *)list;
    if (!l || atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1) return;
    for (int64_t i = 0; i < l->n; i++) {
        if (l->item[i].weight) tg_weight_unref(l->item[i].weight);
        else tg_tensor_free(&l->item[i].tensor);
    }
    free(l);
}

void tg_list_give(tg_list *list, int64_t i, tg_tensor t)
{
    list->item[i] = (tg_item){t, NULL};
    if (tg_dtype_is_list(t.dtype)) return;
    list->item[i].weight = tg_weight_wrap(t.data, tg_tensor_bytes(&t), 0, free, t.data);
}

void tg_list_set(tg_list *list, int64_t i, const tg_tensor *t)
{
    tg_list_give(list, i, tg_tensor_copy(t));
}

void tg_list_share(tg_list *list, int64_t i, const tg_item *item)
{
    list->item[i] = *item;
    if (item->weight) tg_weight_ref(item->weight);
    else list->item[i].tensor = tg_tensor_copy(&item->tensor);
}

bool tg_list_equal(const tg_list *a, const tg_list *b)
{
    if (a == b) return true;
    if (a->n != b->n) return false;
    for (int64_t i = 0; i < a->n; i++)
        if (!tg_tensor_equal(&a->item[i].tensor, &b->item[i].tensor)) return false;
    return true;
}

uint64_t tg_list_hash(uint64_t h, const tg_list *list)
{
    h = tg_hash_add(h, (uint64_t)list->n);
    for (int64_t i = 0; i < list->n; i++) h = tg_tensor_hash(h, &list->item[i].tensor);
    return h;
}
