/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strided.h"

#include <string.h>

void tg_strided_of(const tg_shape *shape, int64_t *stride)
{
    int64_t step = 1;
    for (int64_t k = shape->rank - 1; k >= 0; k--) {
        stride[k] = step;
        step *= shape->dim[k];
    }
}

/* The same box with dimensions of 1 dropped and neighbours joined; false if it is empty. */
static bool simplify(const tg_strided *s, tg_strided *out)
{
    out->rank = 0;
    for (int k = 0; k < s->rank; k++) {
        if (s->dim[k] == 0) return false;
        if (s->dim[k] == 1) continue;
        int last = out->rank - 1;
        if (last >= 0 && out->to[last] == s->to[k] * s->dim[k] &&
            out->from[last] == s->from[k] * s->dim[k]) {
            out->dim[last] *= s->dim[k];
            out->to[last] = s->to[k];
            out->from[last] = s->from[k];
        } else tg_strided_add(out, s->dim[k], s->to[k], s->from[k]);
    }
    if (!out->rank) tg_strided_add(out, 1, 1, 1);
    return true;
}

typedef struct pair {
    uint64_t a, b;
} pair;

#define LINE(T)                                                                                    \
    {                                                                                              \
        T *y = to;                                                                                 \
        const T *x = from;                                                                         \
        for (int64_t i = 0; i < n; i++) y[i * step_to] = x[i * step_from];                         \
        break;                                                                                     \
    }

static void copy_line(void *to, int64_t step_to, const void *from, int64_t step_from, int64_t n,
                      size_t size)
{
    if (step_to == 1 && step_from == 1) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1: LINE(uint8_t)
    case 2: LINE(uint16_t)
    case 4: LINE(uint32_t)
    case 8: LINE(uint64_t)
    default: LINE(pair)
    }
}

void tg_strided_copy(const tg_strided *box, void *to, const void *from, size_t size)
{
    tg_strided s = {0};
    int64_t index[TG_STRIDED_MAX] = {0};
    if (!simplify(box, &s)) return;
    int inner = s.rank - 1;
    char *y = to;
    const char *x = from;
    for (;;) {
        copy_line(y, s.to[inner], x, s.from[inner], s.dim[inner], size);
        int k = inner - 1;
        for (; k >= 0 && ++index[k] == s.dim[k]; k--) {
            index[k] = 0;
            y -= (s.dim[k] - 1) * s.to[k] * (int64_t)size;
            x -= (s.dim[k] - 1) * s.from[k] * (int64_t)size;
        }
        if (k < 0) return;
        y += s.to[k] * (int64_t)size;
        x += s.from[k] * (int64_t)size;
    }
}
