/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Growable arrays: `TG_VEC(int) v = {0}; tg_vec_push(&v, 3); v.v[0]; tg_vec_free(&v);`
 * Invariant: the first `n` of `cap` slots are in use; v is NULL while cap is 0.
 */
#ifndef TG_BASE_VEC_H
#define TG_BASE_VEC_H

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

#define TG_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *v;                                                                                      \
        size_t n, cap;                                                                             \
    }

#define tg_vec_reserve(vec, want)                                                                  \
    do {                                                                                           \
        size_t want_ = (want);                                                                     \
        if ((vec)->cap < want_) {                                                                  \
            size_t cap_ = (vec)->cap ? (vec)->cap * 2 : 8;                                         \
            if (cap_ < want_) cap_ = want_;                                                        \
            (vec)->v = tg_realloc((vec)->v, cap_ * sizeof *(vec)->v);                              \
            (vec)->cap = cap_;                                                                     \
        }                                                                                          \
    } while (0)

#define tg_vec_push(vec, ...)                                                                      \
    do {                                                                                           \
        tg_vec_reserve(vec, (vec)->n + 1);                                                         \
        (vec)->v[(vec)->n++] = (__VA_ARGS__);                                                      \
    } while (0)

#define tg_vec_last(vec) ((vec)->v[(vec)->n - 1])
#define tg_vec_pop(vec) ((vec)->v[--(vec)->n])
#define tg_vec_clear(vec) ((void)((vec)->n = 0))

/* Removes slot i, keeping the order. O(n). */
#define tg_vec_remove(vec, i)                                                                      \
    do {                                                                                           \
        size_t i_ = (i);                                                                           \
        memmove((vec)->v + i_, (vec)->v + i_ + 1, ((vec)->n - i_ - 1) * sizeof *(vec)->v);         \
        (vec)->n--;                                                                                \
    } while (0)

#define tg_vec_free(vec)                                                                           \
    do {                                                                                           \
        free((vec)->v);                                                                            \
        (vec)->v = NULL;                                                                           \
        (vec)->n = (vec)->cap = 0;                                                                 \
    } while (0)

#endif
