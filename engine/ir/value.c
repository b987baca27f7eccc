/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value.h"

#include "engine/base/hash.h"
#include "engine/base/intern.h"
#include "list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

tg_string tg_string_of(const char *p, size_t n)
{
    return (tg_string){tg_intern_bytes(p, n), n};
}

bool tg_string_equal(const tg_string *a, const tg_string *b)
{
    return a->n == b->n && (!a->n || a->p == b->p || memcmp(a->p, b->p, a->n) == 0);
}

int tg_string_order(const tg_string *a, const tg_string *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->p, b->p, n) : 0;
    return order ? order : (a->n > b->n) - (a->n < b->n);
}

tg_tensor tg_tensor_copy(const tg_tensor *t)
{
    tg_tensor copy = *t;
    if (tg_dtype_is_list(t->dtype)) {
        if (t->data) tg_list_ref(t->data);
        return copy;
    }
    if (t->data) copy.data = tg_memdup(t->data, tg_tensor_bytes(t));
    return copy;
}

void tg_tensor_free(tg_tensor *t)
{
    if (tg_dtype_is_list(t->dtype)) tg_list_unref(t->data);
    else free(t->data);
    t->data = NULL;
}

static bool strings_equal(const tg_tensor *a, const tg_tensor *b)
{
    const tg_string *x = a->data, *y = b->data;
    for (int64_t i = 0, n = tg_tensor_count(a); i < n; i++)
        if (!tg_string_equal(&x[i], &y[i])) return false;
    return true;
}

bool tg_tensor_equal(const tg_tensor *a, const tg_tensor *b)
{
    if (a->dtype != b->dtype || !tg_shape_equal(&a->shape, &b->shape)) return false;
    if (a->dtype == TG_STR) return strings_equal(a, b);
    if (tg_dtype_is_list(a->dtype)) return tg_list_equal(a->data, b->data);
    size_t bytes = tg_tensor_bytes(a);
    return !bytes || memcmp(a->data, b->data, bytes) == 0;
}

/* The headers hold addresses, which must not enter. */
static uint64_t hash_strings(uint64_t h, const tg_tensor *t)
{
    const tg_string *s = t->data;
    for (int64_t i = 0, n = tg_tensor_count(t); i < n; i++)
        h = tg_hash_add(tg_hash_bytes(h, s[i].p, s[i].n), s[i].n);
    return h;
}

uint64_t tg_tensor_hash(uint64_t h, const tg_tensor *t)
{
    h = tg_hash_add(tg_hash_bytes(h, &t->shape, sizeof t->shape), (uint64_t)t->dtype);
    if (t->dtype == TG_STR) return hash_strings(h, t);
    if (tg_dtype_is_list(t->dtype)) return tg_list_hash(h, t->data);
    return tg_hash_bytes(h, t->data, tg_tensor_bytes(t));
}

tg_weight *tg_tensor_weight(const tg_tensor *t)
{
    assert(!tg_dtype_is_list(t->dtype));
    tg_weight *w = tg_weight_copy(t->data, tg_tensor_bytes(t));
    if (t->dtype == TG_STR) w->hash = hash_strings(1, t);
    return w;
}
