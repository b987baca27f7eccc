/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resizing floats axis by axis, by tables of places and weights made while planning. */
#include "engine/ops/resize.h"
#include "loop.h"

#include <string.h>

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

/* One axis: [outer, in, inner] becomes [outer, out, inner]. */
typedef struct pass {
    int64_t outer, in, out, inner, n;
    const int32_t *at;
    const float *weight;
} pass;

typedef struct resample {
    int n;
    pass passes[TG_MAX_RANK];
    size_t half; /* elements of one of the two parts of the space between */
} resample;

static void mix_rows(const pass *k, const float *x, const int32_t *at, const float *w, float *y)
{
    int64_t m = k->inner, e = 0;
    for (; e + 16 <= m; e += 16) {
        lanes sum = *(const lanes *)(x + at[0] * m + e) * w[0];
        for (int64_t i = 1; i < k->n; i++) sum += *(const lanes *)(x + at[i] * m + e) * w[i];
        *(lanes *)(y + e) = sum;
    }
    for (; e < m; e++) {
        float sum = x[at[0] * m + e] * w[0];
        for (int64_t i = 1; i < k->n; i++) sum += x[at[i] * m + e] * w[i];
        y[e] = sum;
    }
}

/* The axis is innermost. */
static void mix_places(const pass *k, const float *x, float *y)
{
    const int32_t *at = k->at;
    const float *w = k->weight;
    if (k->n == 2) {
        for (int64_t i = 0; i < k->out; i++, at += 2, w += 2)
            y[i] = x[at[0]] * w[0] + x[at[1]] * w[1];
        return;
    }
    for (int64_t i = 0; i < k->out; i++, at += k->n, w += k->n) {
        float sum = 0;
        for (int64_t j = 0; j < k->n; j++) sum += x[at[j]] * w[j];
        y[i] = sum;
    }
}

static void run_pass(const pass *k, const float *x, float *y)
{
    for (int64_t o = 0; o < k->outer; o++, x += k->in * k->inner, y += k->out * k->inner) {
        if (k->inner == 1) {
            mix_places(k, x, y);
            continue;
        }
        for (int64_t i = 0; i < k->out; i++)
            mix_rows(k, x, k->at + i * k->n, k->weight + i * k->n, y + i * k->inner);
    }
}

static tg_status run_resample(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const resample *k = step->own;
    const float *from = ptr[0];
    for (int i = 0; i < k->n; i++) {
        float *to = i == k->n - 1 ? ptr[1] : (float *)ptr[2] + (size_t)(i % 2) * k->half;
        run_pass(&k->passes[i], from, to);
        from = to;
    }
    return TG_OK;
}

/* Axes that shrink come first: the others then have less to do. */
static void order_axes(tg_resize_axis *axes, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0; j--) {
            tg_resize_axis *a = &axes[j - 1], *b = &axes[j], t = *a;
            if ((double)a->out / (double)a->in <= (double)b->out / (double)b->in) break;
            *a = *b;
            *b = t;
        }
}

static pass pass_of(tg_cpu_plan *p, const tg_resize_axis *a, const tg_shape *s, const int *order)
{
    pass k = {1, a->in, a->out, 1, a->n, NULL, NULL};
    bool behind = false;
    for (int i = 0; i < s->rank; i++) {
        if (order[i] == a->axis) behind = true;
        else if (behind) k.inner *= s->dim[order[i]];
        else k.outer *= s->dim[order[i]];
    }
    int32_t *at = TG_NEW_ARRAY(p->memory, int32_t, a->out * a->n + 1);
    float *weight = TG_NEW_ARRAY(p->memory, float, a->out * a->n + 1);
    for (int64_t i = 0; i < a->out * a->n; i++) {
        at[i] = (int32_t)a->at[i];
        weight[i] = (float)a->weight[i];
    }
    k.at = at;
    k.weight = weight;
    return k;
}

static tg_status plan_passes(tg_cpu_plan *p, const tg_node *node, const tg_operand *in,
                             tg_resize_axis *axes, int n)
{
    resample k = {.n = n};
    int order[TG_MAX_RANK];
    tg_shape now = in->shape;
    const tg_shape *out = &node->out[0].shape;
    bool last = tg_layout_is_last(&now, &in->layout) && !tg_layout_is_plain(&now, &in->layout);
    tg_layout layout = last ? tg_layout_last(out) : tg_layout_plain(out);
    tg_layout from = last ? tg_layout_last(&now) : tg_layout_plain(&now);
    tg_layout_order(&now, &from, order);
    order_axes(axes, n);
    for (int i = 0; i < n; i++) {
        k.passes[i] = pass_of(p, &axes[i], &now, order);
        now.dim[axes[i].axis] = axes[i].out;
        if (i < n - 1 && (size_t)tg_shape_count(&now) > k.half)
            k.half = (size_t)tg_shape_count(&now);
    }
    tg_operand all[] = {*in, tg_cpu_new(p, &node->out[0], &layout), {.buffer = -1}};
    TG_TRY(tg_cpu_move(p, in, &from, &all[0]));
    if (n > 1) {
        all[2] = (tg_operand){.dtype = TG_F32};
        all[2].buffer = tg_cpu_scratch(p, (n > 2 ? 2 : 1) * k.half * sizeof(float));
    }
    tg_cpu_step(p, node, run_resample, tg_arena_dup(p->memory, &k, sizeof k), all, 3);
    tg_cpu_set(p, node, 0, &all[1]);
    p->stats->loops++;
    return TG_OK;
}

tg_status tg_cpu_plan_resample(tg_cpu_plan *p, const tg_node *node)
{
    tg_status status = tg_cpu_plan_resize(p, node); /* the nearest pixels */
    if (status != TG_UNSUPPORTED) return status;
    tg_resize_axis axes[TG_MAX_RANK];
    tg_operand in;
    int n = 0;
    if (node->n_in != 1 || !tg_cpu_is_float(p, node->in[0]) ||
        tg_shape_count(&node->out[0].shape) == 0)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    tg_arena *arena = tg_arena_new();
    status = tg_resize_axes(tg_op_get(node->op), node->attrs->a, &in.shape, arena, axes, &n);
    for (int i = 0; i < n && status == TG_OK; i++)
        if (axes[i].outside || axes[i].in > INT32_MAX)
            status = tg_fail(TG_UNSUPPORTED, "places outside");
    if (status == TG_OK && n == 0) status = tg_fail(TG_UNSUPPORTED, "nothing moves");
    if (status == TG_OK) status = plan_passes(p, node, &in, axes, n);
    tg_arena_free(arena);
    return status;
}
