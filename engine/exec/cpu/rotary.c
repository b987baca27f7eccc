/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RotaryEmbedding of floats. */
#include "loop.h"

#include <string.h>

typedef struct rotary {
    int64_t batch, heads, tokens, size, turned, rows; /* rows: of the caches */
    bool packed, interleaved, by_id, wide;            /* wide: positions of 64 bits */
} rotary;

static void turn(const rotary *k, const float *x, const float *cosine, const float *sine, float *y)
{
    int64_t half = k->turned / 2;
    if (k->interleaved)
        for (int64_t i = 0; i < half; i++) {
            y[2 * i] = cosine[i] * x[2 * i] - sine[i] * x[2 * i + 1];
            y[2 * i + 1] = sine[i] * x[2 * i] + cosine[i] * x[2 * i + 1];
        }
    else
        for (int64_t i = 0; i < half; i++) {
            float a = x[i], b = x[i + half];
            y[i] = cosine[i] * a - sine[i] * b;
            y[i + half] = sine[i] * a + cosine[i] * b;
        }
    if (k->size > k->turned)
        memcpy(y + k->turned, x + k->turned, (size_t)(k->size - k->turned) * sizeof *y);
}

static tg_status row_of(const rotary *k, const tg_step *step, const void *ids, int64_t i,
                        int64_t *row)
{
    if (!k->by_id) {
        *row = i;
        return TG_OK;
    }
    int64_t at = k->wide ? ((const int64_t *)ids)[i] : ((const int32_t *)ids)[i];
    *row = at < 0 ? at + k->rows : at;
    if (*row >= 0 && *row < k->rows) return TG_OK;
    return tg_fail(TG_INVALID, "RotaryEmbedding %s: position %lld is outside a cache of %lld",
                   step->node->name, (long long)at, (long long)k->rows);
}

static tg_status run_rotary(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const rotary *k = step->own;
    const float *x = ptr[0], *cosine = ptr[1], *sine = ptr[2];
    float *y = ptr[step->node->n_in];
    for (int64_t i = 0; i < k->batch * k->tokens; i++) {
        int64_t row, b = i / k->tokens, t = i % k->tokens;
        TG_TRY(row_of(k, step, k->by_id ? ptr[3] : NULL, i, &row));
        for (int64_t h = 0; h < k->heads; h++) {
            int64_t at = k->packed ? i * k->heads + h : (b * k->heads + h) * k->tokens + t;
            turn(k, x + at * k->size, cosine + row * k->turned / 2, sine + row * k->turned / 2,
                 y + at * k->size);
        }
    }
    return TG_OK;
}

tg_status tg_cpu_plan_rotary(tg_cpu_plan *p, const tg_node *node)
{
    const tg_shape *x = &tg_cpu_type(p, node->in[0])->shape;
    for (int i = 0; i < 3; i++)
        if (!tg_cpu_is_float(p, node->in[i])) return tg_fail(TG_UNSUPPORTED, "not of floats");
    rotary k = {.batch = x->dim[0], .packed = x->rank == 3};
    const tg_attr *heads = tg_cpu_attr(node, "num_heads");
    k.heads = k.packed ? heads->i : x->dim[1];
    k.tokens = x->dim[k.packed ? 1 : 2];
    k.size = k.packed ? x->dim[2] / k.heads : x->dim[3];
    k.turned = tg_node_attr(node, "rotary_embedding_dim")->i;
    if (!k.turned) k.turned = k.size;
    k.interleaved = tg_node_attr(node, "interleaved")->i != 0;
    k.by_id = node->n_in > 3 && node->in[3] != TG_NO_VALUE;
    k.wide = k.by_id && tg_cpu_type(p, node->in[3])->dtype == TG_I64;
    k.rows = tg_cpu_type(p, node->in[1])->shape.dim[0];
    return tg_cpu_loop(p, node, run_rotary, &k, sizeof k, 0);
}
