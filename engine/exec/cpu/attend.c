/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attention of floats: a block of queries at a time, whose scores stay in the cache between the
 * two products of the library. Keys that no query of a block may see are left out.
 */
#include "loop.h"
#include "vector.h"

#include <math.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

enum { Q, K, V, MASK, PAST_K, PAST_V, VALID, INPUTS };
enum { ROWS = 128, SPARE = 16 }; /* queries a block; what vector code may touch behind a row */

/* Where the elements of one of Q, K, V lie. */
typedef struct part {
    int64_t batch, head, token; /* strides */
} part;

typedef struct attention {
    int64_t batch, heads, kv_heads, queries, fresh, past, keys, size, v_size;
    part q, k, v, y;           /* k, v: as given; joined ones are dense */
    bool joined;               /* keys and values are copied: to outputs 1 and 2, or to scratch */
    int k_at, v_at, y_at, own; /* operands of the joined keys and values, the result, scratch */
    size_t join_bytes;         /* of joined keys in the scratch space */
    bool causal, mask_is_bool;
    int64_t left, right;
    int64_t mask_keys, mask_stride[4]; /* how far the mask reaches; by batch, head, query, key */
    float scale, cap;
} attention;

/* ---- running ---- */

static void copy_rows(const float *from, const part *p, int64_t b, int64_t h, int64_t tokens,
                      int64_t size, float *to)
{
    for (int64_t t = 0; t < tokens; t++)
        memcpy(to + t * size, from + b * p->batch + h * p->head + t * p->token,
               (size_t)size * sizeof *to);
}

/* What was there before and what comes: [batch, kv_heads, keys, size]. */
static void join(const attention *a, const float *past, const float *fresh, const part *p,
                 int64_t size, float *to)
{
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t h = 0; h < a->kv_heads; h++) {
            int64_t row = b * a->kv_heads + h;
            float *at = to + row * a->keys * size;
            if (a->past)
                memcpy(at, past + row * a->past * size, (size_t)(a->past * size) * sizeof *at);
            copy_rows(fresh, p, b, h, a->fresh, size, at + a->past * size);
        }
}

static void clear(float *row, int64_t from, int64_t to)
{
    for (int64_t j = from; j < to; j++) row[j] = -INFINITY;
}

static void add_mask(const attention *a, const void *mask, int64_t at, float *row, int64_t n)
{
    int64_t step = a->mask_stride[3];
    if (a->mask_keys < n) clear(row, a->mask_keys, n);
    if (n > a->mask_keys) n = a->mask_keys;
    if (a->mask_is_bool) {
        const uint8_t *open = (const uint8_t *)mask + at;
        for (int64_t j = 0; j < n; j++)
            if (!open[j * step]) row[j] = -INFINITY;
        return;
    }
    const float *bias = (const float *)mask + at;
    for (int64_t j = 0; j < n; j++) row[j] += bias[j * step];
}

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t masks __attribute__((vector_size(16)));

/* Behind the row are 15 elements more: they are made such that they change nothing. */
static float most_of(float *row, int64_t n)
{
    quad most[2];
    float one = -INFINITY;
    clear(row, n, n + SPARE - 1);
    for (int j = 0; j < 4; j++) most[0][j] = most[1][j] = -INFINITY;
    for (int64_t j = 0; j < n; j += 8)
        for (int k = 0; k < 2; k++) {
            quad x = *(const quad *)(row + j + 4 * k);
            masks more = x > most[k];
            most[k] = (quad)(((masks)x & more) | ((masks)most[k] & ~more));
        }
    for (int j = 0; j < 4; j++) one = most[0][j] > one ? most[0][j] : one;
    for (int j = 0; j < 4; j++) one = most[1][j] > one ? most[1][j] : one;
    return one;
}

/* Weights that sum to 1; zeros where no key counts. */
static void weigh(float *row, int64_t n)
{
    float most = most_of(row, n), sum = 0;
    if (most == -INFINITY) {
        bool open = false; /* NaN is above nothing */
        for (int64_t j = 0; j < n; j++) open |= isnan(row[j]);
        for (int64_t j = 0; j < n; j++) row[j] = open ? NAN : 0;
        return;
    }
    lanes sums = {0};
    for (int64_t j = 0; j < n; j += 16) *(lanes *)(row + j) -= most;
    tg_vector_map(TG_V_EXP, row, n);
    memset(row + n, 0, (SPARE - 1) * sizeof *row);
    for (int64_t j = 0; j < n; j += 16) sums += *(const lanes *)(row + j);
    for (int j = 0; j < 16; j++) sum += sums[j];
    float gain = 1 / sum;
    for (int64_t j = 0; j < n; j += 16) *(lanes *)(row + j) *= gain;
}

static void cap_row(const attention *a, float *row, int64_t n)
{
    float less = 1 / a->cap;
    for (int64_t j = 0; j < n; j += 16) *(lanes *)(row + j) *= less;
    tg_vector_map(TG_V_TANH, row, n);
    for (int64_t j = 0; j < n; j += 16) *(lanes *)(row + j) *= a->cap;
}

/* The keys [*from, *to) that the window of query i lets through. */
static void window(const attention *a, int64_t i, int64_t *from, int64_t *to)
{
    int64_t place = i + a->past;
    *from = a->left >= 0 && place - a->left > 0 ? place - a->left : 0;
    *to = a->keys;
    if (a->causal && place + 1 < *to) *to = place + 1;
    if (a->right >= 0 && place + a->right + 1 < *to) *to = place + a->right + 1;
    if (*from > *to) *from = *to;
}

typedef struct head {
    const float *q, *k, *v;
    int64_t k_step, v_step; /* from token to token */
    const void *mask;
    int64_t mask_at; /* of its first query */
    float *y, *score;
} head;

static tg_status attend(const attention *a, const head *h, int64_t first, int64_t n)
{
    int64_t from, to, last, step = a->keys + SPARE;
    window(a, first, &from, &last);
    window(a, first + n - 1, &last, &to);
    float *y = h->y + first * a->y.token;
    bool ok = true;
    if (to > from)
        ok = dnnl_sgemm('N', 'T', n, to - from, a->size, a->scale, h->q + first * a->q.token,
                        a->q.token, h->k + from * h->k_step, h->k_step, 0, h->score,
                        step) == dnnl_success;
    for (int64_t i = 0; i < n && ok; i++) {
        float *row = h->score + i * step;
        int64_t own_from, own_to, keys = to - from;
        window(a, first + i, &own_from, &own_to);
        if (a->cap > 0) cap_row(a, row, keys);
        if (h->mask)
            add_mask(a, h->mask, h->mask_at + (first + i) * a->mask_stride[2], row - from, to);
        clear(row, 0, own_from - from);
        clear(row, own_to - from, keys);
        weigh(row, keys);
    }
    if (to <= from) {
        for (int64_t i = 0; i < n; i++)
            memset(y + i * a->y.token, 0, (size_t)a->v_size * sizeof *y);
        return TG_OK;
    }
    ok = ok && dnnl_sgemm('N', 'N', n, a->v_size, to - from, 1, h->score, step,
                          h->v + from * h->v_step, h->v_step, 0, y, a->y.token) == dnnl_success;
    return ok ? TG_OK : tg_fail(TG_BACKEND, "a product of attention failed");
}

static tg_status run_attention(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    const attention *a = step->own;
    float *scratch = ptr[a->own], *k = NULL, *v = NULL;
    (void)p;
    if (a->joined) {
        k = a->k_at >= 0 ? ptr[a->k_at] : scratch;
        v = a->v_at >= 0 ? ptr[a->v_at] : scratch + a->join_bytes / sizeof *scratch;
        join(a, ptr[PAST_K], ptr[K], &a->k, a->size, k);
        join(a, ptr[PAST_V], ptr[V], &a->v, a->v_size, v);
    }
    float *score = (float *)(void *)((char *)scratch + 2 * a->join_bytes);
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t i = 0; i < a->heads; i++) {
            int64_t kv = i / (a->heads / a->kv_heads), row = (b * a->kv_heads + kv) * a->keys;
            head h = {.q = (const float *)ptr[Q] + b * a->q.batch + i * a->q.head,
                      .k = k ? k + row * a->size
                             : (const float *)ptr[K] + b * a->k.batch + kv * a->k.head,
                      .v = v ? v + row * a->v_size
                             : (const float *)ptr[V] + b * a->v.batch + kv * a->v.head,
                      .k_step = k ? a->size : a->k.token,
                      .v_step = v ? a->v_size : a->v.token,
                      .mask = a->mask_keys >= 0 ? ptr[MASK] : NULL,
                      .mask_at = b * a->mask_stride[0] + i * a->mask_stride[1],
                      .y = (float *)ptr[a->y_at] + b * a->y.batch + i * a->y.head,
                      .score = score};
            for (int64_t at = 0; at < a->queries; at += ROWS)
                TG_TRY(attend(a, &h, at, a->queries - at < ROWS ? a->queries - at : ROWS));
        }
    return TG_OK;
}

/* ---- planning ---- */

static bool has(const tg_node *node, int slot)
{
    return slot < node->n_in && node->in[slot] != TG_NO_VALUE;
}

/* Heads lie in axis 1 of four, or in the last of three. */
static part part_of(const tg_shape *s, int64_t heads, int64_t *tokens, int64_t *size)
{
    bool packed = s->rank == 3;
    *tokens = s->dim[packed ? 1 : 2];
    *size = packed ? s->dim[2] / heads : s->dim[3];
    return packed ? (part){s->dim[1] * s->dim[2], *size, s->dim[2]}
                  : (part){s->dim[1] * s->dim[2] * s->dim[3], *tokens * *size, *size};
}

static int64_t heads_of(const tg_node *node, const tg_shape *s, const char *attr)
{
    const tg_attr *a = tg_cpu_attr(node, attr);
    return s->rank == 4 ? s->dim[1] : a ? a->i : 1;
}

static void place_mask(attention *a, const tg_type *mask)
{
    const tg_shape *s = &mask->shape;
    int64_t stride = 1;
    a->mask_is_bool = mask->dtype == TG_BOOL;
    a->mask_keys = s->dim[s->rank - 1];
    for (int64_t k = s->rank - 1; k >= 0; k--) {
        a->mask_stride[4 - s->rank + k] = s->dim[k] == 1 ? 0 : stride;
        stride *= s->dim[k];
    }
}

static void read_attrs(attention *a, const tg_node *node)
{
    const tg_attr *scale = tg_cpu_attr(node, "scale");
    a->scale = scale ? scale->f : (float)(1 / sqrt((double)a->size));
    a->cap = tg_node_attr(node, "softcap")->f;
    a->causal = tg_node_attr(node, "is_causal")->i != 0;
    a->left = tg_node_attr(node, "left_window_size")->i;
    a->right = tg_node_attr(node, "right_window_size")->i;
}

static bool fits(const tg_cpu_plan *p, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        bool of_bools = i == MASK && has(node, i) && tg_cpu_type(p, node->in[i])->dtype == TG_BOOL;
        if (has(node, i) && !of_bools && !tg_cpu_is_float(p, node->in[i])) return false;
    }
    return node->n_out <= 3 && !has(node, VALID) && tg_shape_count(&node->out[0].shape) > 0;
}

tg_status tg_cpu_plan_attend(tg_cpu_plan *p, const tg_node *node)
{
    attention a = {.k_at = -1, .v_at = -1, .y_at = node->n_in, .mask_keys = -1};
    if (!fits(p, node)) return tg_fail(TG_UNSUPPORTED, "not of floats");
    const tg_shape *q = &tg_cpu_type(p, node->in[Q])->shape,
                   *k = &tg_cpu_type(p, node->in[K])->shape;
    int64_t tokens;
    a.batch = q->dim[0];
    a.heads = heads_of(node, q, "q_num_heads");
    a.kv_heads = heads_of(node, k, "kv_num_heads");
    a.v = part_of(&tg_cpu_type(p, node->in[V])->shape, a.kv_heads, &tokens, &a.v_size);
    a.k = part_of(k, a.kv_heads, &a.fresh, &a.size);
    a.q = part_of(q, a.heads, &a.queries, &a.size);
    a.y = part_of(&node->out[0].shape, a.heads, &tokens, &a.v_size);
    if (has(node, PAST_K)) a.past = tg_cpu_type(p, node->in[PAST_K])->shape.dim[2];
    a.keys = a.past + a.fresh;
    a.joined = a.past || node->n_out > 1;
    if (node->n_out > 1) a.k_at = node->n_in + 1;
    if (node->n_out > 2) a.v_at = node->n_in + 2;
    if (has(node, MASK)) place_mask(&a, tg_cpu_type(p, node->in[MASK]));
    read_attrs(&a, node);
    int64_t widest = a.size > a.v_size ? a.size : a.v_size;
    if (a.joined) a.join_bytes = (size_t)(a.batch * a.kv_heads * a.keys * widest) * sizeof(float);
    a.own = node->n_in + node->n_out;
    size_t scores = (size_t)(ROWS * (a.keys + SPARE)) * sizeof(float);
    return tg_cpu_loop(p, node, run_attention, &a, sizeof a, 2 * a.join_bytes + scores);
}
