/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "copy.h"

#include <string.h>

/* Axes in the order of the target's memory, so that it is written once from start to end. */
tg_copy tg_copy_of(tg_dtype dtype, const tg_shape *shape, const tg_layout *from,
                   const tg_layout *to)
{
    int axes[TG_MAX_RANK];
    tg_copy c = {.size = tg_dtype_size(dtype)};
    tg_layout_order(shape, to, axes);
    for (int k = 0; k < shape->rank; k++) {
        int i = axes[k], last = c.rank - 1;
        int64_t f = from->stride[i] * (int64_t)c.size, t = to->stride[i] * (int64_t)c.size;
        if (shape->dim[i] == 1) continue;
        if (c.rank && c.from[last] == f * shape->dim[i] && c.to[last] == t * shape->dim[i]) {
            c.dim[last] *= shape->dim[i];
            c.from[last] = f;
            c.to[last] = t;
            continue;
        }
        c.dim[c.rank] = shape->dim[i];
        c.from[c.rank] = f;
        c.to[c.rank++] = t;
    }
    if (!c.rank) {
        c.rank = 1;
        c.dim[0] = 1;
        c.from[0] = c.to[0] = (int64_t)c.size;
    }
    return c;
}

#define COPY_ROW(T)                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
    *(T *)(to + i * to_stride) = *(const T *)(from + i * from_stride)

static void copy_row(size_t size, int64_t n, const char *from, int64_t from_stride, char *to,
                     int64_t to_stride)
{
    if (from_stride == (int64_t)size && to_stride == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1: COPY_ROW(uint8_t); break;
    case 2: COPY_ROW(uint16_t); break;
    case 4: COPY_ROW(uint32_t); break;
    case 8: COPY_ROW(uint64_t); break;
    default:
        for (int64_t i = 0; i < n; i++) memcpy(to + i * to_stride, from + i * from_stride, size);
    }
}

/* Tiles keep both sides' cache lines in use where the two innermost axes are exchanged. */
static void copy_exchanged(const tg_copy *c, const char *from, char *to)
{
    enum { TILE = 16 };
    int inner = c->rank - 1, outer = c->rank - 2;
    int64_t n = c->dim[inner], m = c->dim[outer];
    for (int64_t i = 0; i < m; i += TILE)
        for (int64_t j = 0; j < n; j += TILE)
            for (int64_t k = i; k < m && k < i + TILE; k++)
                copy_row(c->size, n - j < TILE ? n - j : TILE,
                         from + k * c->from[outer] + j * c->from[inner], c->from[inner],
                         to + k * c->to[outer] + j * c->to[inner], c->to[inner]);
}

/* Rows of fewer elements are run through side by side. */
enum { SHORT_ROW = 4 };

static void copy_axis(const tg_copy *c, int axis, const char *from, char *to)
{
    int inner = c->rank - 1;
    if (axis == inner - 1 && c->dim[inner] <= SHORT_ROW && c->dim[axis] > c->dim[inner]) {
        for (int64_t i = 0; i < c->dim[inner]; i++)
            copy_row(c->size, c->dim[axis], from + i * c->from[inner], c->from[axis],
                     to + i * c->to[inner], c->to[axis]);
    } else if (axis == inner) {
        copy_row(c->size, c->dim[inner], from, c->from[inner], to, c->to[inner]);
    } else if (axis == inner - 1 && c->from[inner] > c->from[axis]) {
        copy_exchanged(c, from, to);
    } else {
        for (int64_t i = 0; i < c->dim[axis]; i++)
            copy_axis(c, axis + 1, from + i * c->from[axis], to + i * c->to[axis]);
    }
}

void tg_copy_do(const tg_copy *copy, const void *from, void *to)
{
    for (int i = 0; i < copy->rank; i++)
        if (copy->dim[i] == 0) return;
    copy_axis(copy, 0, from, to);
}

void tg_copy_run(tg_dtype dtype, const tg_shape *shape, const tg_layout *from, const void *data,
                 const tg_layout *to, void *out)
{
    tg_copy c = tg_copy_of(dtype, shape, from, to);
    tg_copy_do(&c, data, out);
}

tg_status tg_copy_step(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    tg_copy_do(step->own, ptr[0], ptr[1]);
    return TG_OK;
}

/* The library's reorders are faster than tiles where whole planes change places. */
static const tg_prim *reorder_prim(const tg_cpu_plan *p, const tg_operand *from,
                                   const tg_operand *to)
{
    enum { WORTH = 2048 };
    if (from->dtype != TG_F32 || tg_shape_count(&from->shape) < WORTH) return NULL;
    tg_prim_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.kind = TG_PRIM_REORDER;
    spec.threads = p->threads;
    spec.src = tg_cpu_md(from);
    spec.dst = tg_cpu_md(to);
    const tg_prim *prim = tg_prim_get(&spec);
    return prim->usable && !prim->slow && !strstr(prim->impl, "simple") ? prim : NULL;
}

tg_status tg_copy_plan(tg_cpu_plan *p, const tg_node *node, const tg_operand *from,
                       const tg_operand *to)
{
    tg_copy c = tg_copy_of(from->dtype, &from->shape, &from->layout, &to->layout);
    bool rows = c.from[c.rank - 1] == (int64_t)c.size && c.to[c.rank - 1] == (int64_t)c.size;
    const tg_prim *prim = rows ? NULL : reorder_prim(p, from, to);
    p->stats->reorders++;
    if (prim) {
        tg_prim_operands operands = {.src = *from, .dst = *to};
        operands.weights.buffer = operands.bias.buffer = -1;
        p->stats->primitives--; /* counted as a reorder */
        return tg_cpu_prim(p, node, prim, &operands);
    }
    tg_operand operands[] = {*from, *to};
    tg_cpu_step(p, node, tg_copy_step, tg_arena_dup(p->memory, &c, sizeof c), operands, 2);
    return TG_OK;
}
