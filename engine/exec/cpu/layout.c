/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "layout.h"

tg_layout tg_layout_of_order(const tg_shape *s, const int *axes)
{
    tg_layout l = {0};
    int64_t stride = 1;
    for (int64_t i = s->rank - 1; i >= 0; i--) {
        l.stride[axes[i]] = stride;
        stride *= s->dim[axes[i]] > 0 ? s->dim[axes[i]] : 1;
    }
    return l;
}

tg_layout tg_layout_plain(const tg_shape *s)
{
    static const int axes[TG_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    return tg_layout_of_order(s, axes);
}

tg_layout tg_layout_last(const tg_shape *s)
{
    int axes[TG_MAX_RANK] = {0};
    if (s->rank < 3) return tg_layout_plain(s);
    for (int i = 2; i < s->rank; i++) axes[i - 1] = i;
    axes[s->rank - 1] = 1;
    return tg_layout_of_order(s, axes);
}

bool tg_layout_same(const tg_shape *s, const tg_layout *a, const tg_layout *b)
{
    for (int i = 0; i < s->rank; i++)
        if (s->dim[i] != 1 && a->stride[i] != b->stride[i]) return false;
    return true;
}

bool tg_layout_is_plain(const tg_shape *s, const tg_layout *l)
{
    tg_layout plain = tg_layout_plain(s);
    return tg_layout_same(s, l, &plain);
}

bool tg_layout_is_last(const tg_shape *s, const tg_layout *l)
{
    tg_layout last = tg_layout_last(s);
    return tg_layout_same(s, l, &last);
}

/* An axis of size 1 is placed as if it were as far in as its right neighbour lets it. */
static void sort_strides(const tg_shape *s, const tg_layout *l, int64_t *key)
{
    int64_t next = 1;
    for (int64_t i = s->rank - 1; i >= 0; i--) {
        key[i] = s->dim[i] == 1 ? next : l->stride[i];
        next = key[i];
    }
}

void tg_layout_order(const tg_shape *s, const tg_layout *l, int *axes)
{
    int64_t key[TG_MAX_RANK];
    sort_strides(s, l, key);
    for (int i = 0; i < s->rank; i++) {
        int at = i;
        for (; at > 0 && key[axes[at - 1]] < key[i]; at--) axes[at] = axes[at - 1];
        axes[at] = i;
    }
}

bool tg_layout_is_dense(const tg_shape *s, const tg_layout *l)
{
    int axes[TG_MAX_RANK];
    tg_layout_order(s, l, axes);
    tg_layout dense = tg_layout_of_order(s, axes);
    return tg_layout_same(s, l, &dense);
}

int64_t tg_layout_span(const tg_shape *s, const tg_layout *l)
{
    int64_t span = 1;
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] == 0) return 0;
        span += (s->dim[i] - 1) * l->stride[i];
    }
    return span;
}

/* Axes of size 1 dropped; neighbours that lie behind each other become one. */
static int collapse(const tg_shape *s, const tg_layout *l, int64_t *dim, int64_t *stride)
{
    int n = 0;
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] == 1) continue;
        if (n && stride[n - 1] == l->stride[i] * s->dim[i]) {
            dim[n - 1] *= s->dim[i];
            stride[n - 1] = l->stride[i];
        } else {
            dim[n] = s->dim[i];
            stride[n++] = l->stride[i];
        }
    }
    return n;
}

bool tg_layout_reshape(const tg_shape *from, const tg_layout *l, const tg_shape *to, tg_layout *out)
{
    int64_t dim[TG_MAX_RANK], stride[TG_MAX_RANK];
    tg_layout r = {.offset = l->offset};
    if (tg_shape_count(from) == 0) {
        *out = tg_layout_plain(to);
        return true;
    }
    int n = collapse(from, l, dim, stride), at = n - 1;
    int64_t left = n ? dim[n - 1] : 1, step = n ? stride[n - 1] : 1;
    for (int64_t i = to->rank - 1; i >= 0; i--) {
        if (left == 1 && at > 0 && to->dim[i] != 1) {
            at--;
            left = dim[at];
            step = stride[at];
        }
        r.stride[i] = step;
        if (left % to->dim[i]) return false;
        left /= to->dim[i];
        step *= to->dim[i];
    }
    *out = r;
    return true;
}
