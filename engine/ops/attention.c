/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attention: softmax(scale Q K^T + bias) V for each head, in all forms of the standard: heads that
 * share keys, keys and values kept from before, masks, windows, capped scores.
 */
#include "compute.h"
#include "product.h"

#include <math.h>
#include <string.h>

/* Slots of inputs and outputs. */
enum { Q, K, V, MASK, PAST_K, PAST_V, VALID };
enum { Y, PRESENT_K, PRESENT_V, SCORES };

/* What qk_matmul_output_mode asks for. */
enum { RAW, CAPPED, BIASED, WEIGHTS };

/* keys: those from before and those that come; packed: heads lie in the last of three axes. */
typedef struct sizes {
    bool packed;
    int64_t batch, heads, kv_heads, queries, fresh, past, keys, size, v_size;
} sizes;

/* One of Q, K, V: its heads, the tokens of each and the size of each. */
typedef struct part {
    int64_t heads, tokens, size;
} part;

static part part_of(const tg_shape *s, int64_t heads)
{
    if (s->rank == 4) return (part){s->dim[1], s->dim[2], s->dim[3]};
    return (part){heads, s->dim[1], s->dim[2] / heads};
}

static sizes sizes_of(const tg_shape *q, const tg_shape *k, const tg_shape *v, const tg_shape *past,
                      int64_t heads, int64_t kv_heads)
{
    part a = part_of(q, heads), b = part_of(k, kv_heads), c = part_of(v, kv_heads);
    int64_t before = past ? past->dim[2] : 0;
    return (sizes){q->rank == 3, q->dim[0], a.heads,           b.heads, a.tokens,
                   b.tokens,     before,    b.tokens + before, a.size,  c.size};
}

/* ---- inference ---- */

static tg_status misfit(const char *what)
{
    return tg_fail(TG_SHAPE, "%s does not fit query, key and value", what);
}

static tg_status check_heads(tg_infer *infer, int64_t *heads, int64_t *kv_heads)
{
    *heads = *kv_heads = 1;
    if (infer->in[Q].shape.rank == 4) return TG_OK;
    const tg_attr *of_q = tg_infer_attr(infer, "q_num_heads");
    const tg_attr *of_kv = tg_infer_attr(infer, "kv_num_heads");
    *heads = of_q->kind == TG_ATTR_INT ? of_q->i : 0;
    *kv_heads = of_kv->kind == TG_ATTR_INT ? of_kv->i : 0;
    if (*heads < 1 || *kv_heads < 1)
        return tg_fail(TG_INVALID, "three axes need q_num_heads and kv_num_heads");
    if (infer->in[Q].shape.dim[2] % *heads || infer->in[K].shape.dim[2] % *kv_heads ||
        infer->in[V].shape.dim[2] % *kv_heads)
        return tg_fail(TG_SHAPE, "the last axis is no multiple of the number of heads");
    return TG_OK;
}

static tg_status check_parts(const tg_infer *infer, int64_t heads, int64_t kv_heads)
{
    part q = part_of(&infer->in[Q].shape, heads), k = part_of(&infer->in[K].shape, kv_heads);
    part v = part_of(&infer->in[V].shape, kv_heads);
    const int64_t *batch = infer->in[Q].shape.dim;
    if (k.heads != v.heads || k.tokens != v.tokens || q.size != k.size ||
        infer->in[K].shape.dim[0] != *batch || infer->in[V].shape.dim[0] != *batch)
        return tg_fail(TG_SHAPE, "query, key and value do not fit each other");
    if (!k.heads || q.heads % k.heads)
        return tg_fail(TG_SHAPE, "%lld heads of the query are no multiple of %lld of the key",
                       (long long)q.heads, (long long)k.heads);
    return TG_OK;
}

static tg_status check_past(const tg_infer *infer, const sizes *s)
{
    if (has_type(infer, PAST_K) != has_type(infer, PAST_V))
        return tg_fail(TG_INVALID, "past_key and past_value come together");
    if (!has_type(infer, PAST_K)) return TG_OK;
    const tg_shape *k = &infer->in[PAST_K].shape, *v = &infer->in[PAST_V].shape;
    tg_shape want_k = tg_shape_of(s->batch, s->kv_heads, s->past, s->size), want_v = want_k;
    want_v.dim[3] = s->v_size;
    TG_TRY(tg_need_same(infer, PAST_K, K, "past_key"));
    TG_TRY(tg_need_same(infer, PAST_V, V, "past_value"));
    if (!tg_shape_equal(k, &want_k)) return misfit("past_key");
    return tg_shape_equal(v, &want_v) ? TG_OK : misfit("past_value");
}

/* The last axis may be shorter than the keys: the others are then out of reach. */
static tg_status check_mask(const tg_infer *infer, const sizes *s)
{
    if (!has_type(infer, MASK)) return TG_OK;
    const tg_shape *m = &infer->in[MASK].shape;
    const int64_t most[] = {s->batch, s->heads, s->queries, s->keys};
    if (infer->in[MASK].dtype != TG_BOOL) TG_TRY(tg_need_float(infer, MASK, "the mask"));
    TG_TRY(tg_need_rank(infer, MASK, "the mask", 1, 4));
    for (int64_t i = 0; i < m->rank; i++) {
        int64_t n = m->dim[i], want = most[4 - m->rank + i];
        bool last = i == m->rank - 1;
        if (last ? n > want : n != want && n != 1) return misfit("the mask");
    }
    return TG_OK;
}

static tg_status check_attrs(tg_infer *infer)
{
    int64_t mode = tg_infer_attr(infer, "qk_matmul_output_mode")->i;
    tg_attr *causal = tg_infer_attr(infer, "is_causal");
    causal->i = causal->i != 0;
    if (mode < RAW || mode > WEIGHTS)
        return tg_fail(TG_INVALID, "attribute qk_matmul_output_mode is %lld", (long long)mode);
    if (tg_infer_attr(infer, "left_window_size")->i < -1 ||
        tg_infer_attr(infer, "right_window_size")->i < -1)
        return tg_fail(TG_INVALID, "a window has a size below -1");
    return TG_OK;
}

static void set_outputs(tg_infer *infer, const sizes *s)
{
    const tg_type *in = infer->in;
    infer->out[Y].dtype = in[Q].dtype;
    infer->out[Y].shape = s->packed ? tg_shape_of(s->batch, s->queries, s->heads * s->v_size)
                                    : tg_shape_of(s->batch, s->heads, s->queries, s->v_size);
    if (infer->n_out > PRESENT_K)
        infer->out[PRESENT_K] =
            (tg_type){in[K].dtype, tg_shape_of(s->batch, s->kv_heads, s->keys, s->size)};
    if (infer->n_out > PRESENT_V)
        infer->out[PRESENT_V] =
            (tg_type){in[V].dtype, tg_shape_of(s->batch, s->kv_heads, s->keys, s->v_size)};
    if (infer->n_out > SCORES)
        infer->out[SCORES] =
            (tg_type){in[Q].dtype, tg_shape_of(s->batch, s->heads, s->queries, s->keys)};
}

tg_status infer_attention(tg_infer *infer)
{
    int64_t heads, kv_heads;
    TG_TRY(tg_need_rank(infer, Q, "the query", 3, 4));
    for (int i = Q; i <= V; i++) {
        TG_TRY(tg_need_rank(infer, i, "a part", infer->in[Q].shape.rank, infer->in[Q].shape.rank));
        TG_TRY(tg_need_float(infer, i, "a part"));
    }
    TG_TRY(check_attrs(infer));
    TG_TRY(check_heads(infer, &heads, &kv_heads));
    TG_TRY(check_parts(infer, heads, kv_heads));
    if (has_type(infer, PAST_K)) TG_TRY(tg_need_rank(infer, PAST_K, "past_key", 4, 4));
    sizes s = sizes_of(&infer->in[Q].shape, &infer->in[K].shape, &infer->in[V].shape,
                       has_type(infer, PAST_K) ? &infer->in[PAST_K].shape : NULL, heads, kv_heads);
    TG_TRY(check_past(infer, &s));
    TG_TRY(check_mask(infer, &s));
    if (has_type(infer, VALID)) {
        TG_TRY(tg_need_vector(infer, VALID, "nonpad_kv_seqlen", s.batch));
        if (infer->in[VALID].dtype != TG_I64 || s.past)
            return tg_fail(TG_INVALID, "nonpad_kv_seqlen is no int64 vector without a past");
    }
    set_outputs(infer, &s);
    return TG_OK;
}

/* ---- the kernel ---- */

typedef struct pass {
    sizes s;
    const double *q, *k, *v; /* [batch, heads, tokens, size] */
    const tg_tensor *mask, *valid;
    double *mask_values;
    double scale, cap;
    int mode;
    bool causal;
    int64_t left, right; /* windows; -1: none */
    /* Of one head: its keys as columns, scores of up to ROWS queries, and what they come to. */
    double *columns, *score, *bias, *result;
} pass;

enum { ROWS = 64 };

/* Heads out of the last axis: [batch, tokens, heads * size] to [batch, heads, tokens, size]. */
static const double *unpack(tg_call *call, int slot, int64_t heads)
{
    const double *x = tg_call_doubles(call, slot);
    const tg_shape *s = &call->in[slot].shape;
    if (s->rank == 4) return x;
    int64_t tokens = s->dim[1], size = s->dim[2] / heads;
    double *made = tg_call_scratch(call, tg_shape_count(s)), *to = made;
    for (int64_t b = 0; b < s->dim[0]; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t t = 0; t < tokens; t++)
                for (int64_t i = 0; i < size; i++)
                    *to++ = x[((b * tokens + t) * heads + h) * size + i];
    return made;
}

/* What was there before and what comes, joined along the tokens. */
static const double *join(tg_call *call, int past, const double *fresh, const sizes *s,
                          int64_t size)
{
    const double *before = tg_call_doubles(call, past);
    if (!before) return fresh;
    int64_t rows = s->batch * s->kv_heads, n_before = s->past * size, n_fresh = s->fresh * size;
    double *made = tg_call_scratch(call, rows * (n_before + n_fresh)), *to = made;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < n_before; i++) *to++ = before[r * n_before + i];
        for (int64_t i = 0; i < n_fresh; i++) *to++ = fresh[r * n_fresh + i];
    }
    return made;
}

/* What the mask adds to a score; 0 without one, minus infinity past its end. */
static double mask_at(const pass *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    if (!p->mask) return 0;
    const tg_shape *m = &p->mask->shape;
    const int64_t at[] = {b, h, i, j};
    int64_t offset = 0;
    if (j >= m->dim[m->rank - 1]) return -INFINITY;
    for (int64_t k = 0; k < m->rank; k++)
        offset = offset * m->dim[k] + (m->dim[k] == 1 ? 0 : at[4 - m->rank + k]);
    double x = p->mask_values[offset];
    return p->mask->dtype == TG_BOOL ? (x != 0 ? 0 : -INFINITY) : x;
}

/* The bias of a row of scores; false if it lets no key through. */
static bool fill_bias(const pass *p, int64_t b, int64_t h, int64_t i)
{
    const sizes *s = &p->s;
    int64_t valid = p->valid ? tg_tensor_i64(p->valid, b) : s->keys;
    int64_t place = i + (p->valid ? valid - s->queries : s->past);
    bool open = false;
    for (int64_t j = 0; j < s->keys; j++) {
        bool shut = (p->causal && j > place) || (p->left >= 0 && j < place - p->left) ||
                    (p->right >= 0 && j > place + p->right) || j >= valid;
        p->bias[j] = shut ? -INFINITY : mask_at(p, b, h, i, j);
        open |= p->bias[j] > -INFINITY || isnan(p->bias[j]);
    }
    return open;
}

/* Scores become weights that sum to 1; where nothing counts they are 0. */
static void weigh(double *score, int64_t n, bool open)
{
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++)
        if (score[j] > most || isnan(score[j])) most = score[j];
    for (int64_t j = 0; j < n; j++) {
        score[j] = open && most != -INFINITY ? exp(score[j] - most) : 0;
        sum += score[j];
    }
    for (int64_t j = 0; j < n && sum != 0; j++) score[j] /= sum;
}

static void keep(const double *score, int64_t n, double *seen, bool wanted)
{
    for (int64_t j = 0; seen && wanted && j < n; j++) seen[j] = score[j];
}

/* Raw scores of a query become weights; what is asked of them goes to `seen`. False: no key. */
static bool weigh_row(const pass *p, int64_t b, int64_t h, int64_t i, double *score, double *seen)
{
    const sizes *s = &p->s;
    for (int64_t j = 0; j < s->keys; j++) score[j] *= p->scale;
    keep(score, s->keys, seen, p->mode == RAW);
    for (int64_t j = 0; j < s->keys && p->cap > 0; j++) score[j] = p->cap * tanh(score[j] / p->cap);
    keep(score, s->keys, seen, p->mode == CAPPED);
    bool open = fill_bias(p, b, h, i);
    for (int64_t j = 0; j < s->keys; j++) score[j] += p->bias[j];
    keep(score, s->keys, seen, p->mode == BIASED);
    weigh(score, s->keys, open);
    keep(score, s->keys, seen, p->mode == WEIGHTS);
    return open;
}

/* Queries [first, first + n) of a head; y is the whole output, seen that of the scores or NULL. */
static void attend(const pass *p, int64_t b, int64_t h, int64_t first, int64_t n, double *y,
                   double *seen)
{
    const sizes *s = &p->s;
    int64_t row = (b * s->heads + h) * s->queries + first;
    const double *v = p->v + (b * s->kv_heads + h / (s->heads / s->kv_heads)) * s->keys * s->v_size;
    bool open[ROWS];
    memset(p->score, 0, sizeof *p->score * (size_t)(n * s->keys));
    memset(p->result, 0, sizeof *p->result * (size_t)(n * s->v_size));
    tg_product_add(n, s->keys, s->size, p->q + row * s->size, p->columns, p->score);
    for (int64_t i = 0; i < n; i++)
        open[i] = weigh_row(p, b, h, first + i, p->score + i * s->keys,
                            seen ? seen + (row + i) * s->keys : NULL);
    tg_product_add(n, s->v_size, s->keys, p->score, v, p->result);
    for (int64_t i = 0; i < n; i++) {
        int64_t to = s->packed ? (b * s->queries + first + i) * s->heads + h : row + i;
        for (int64_t c = 0; c < s->v_size && open[i]; c++)
            y[to * s->v_size + c] = p->result[i * s->v_size + c];
    }
}

/* The keys of a head as the columns of a matrix. */
static void turn_keys(const pass *p, int64_t pair)
{
    const double *k = p->k + pair * p->s.keys * p->s.size;
    for (int64_t j = 0; j < p->s.keys; j++)
        for (int64_t c = 0; c < p->s.size; c++)
            p->columns[c * p->s.keys + j] = k[j * p->s.size + c];
}

static pass pass_of(tg_call *call)
{
    const tg_attr *scale = call_attr(call, "scale"), *heads = call_attr(call, "q_num_heads");
    const tg_attr *kv_heads = call_attr(call, "kv_num_heads");
    const tg_tensor *in = call->in;
    pass p = {.s = sizes_of(&in[Q].shape, &in[K].shape, &in[V].shape,
                            has_input(call, PAST_K) ? &in[PAST_K].shape : NULL, heads->i,
                            kv_heads->i)};
    p.q = unpack(call, Q, p.s.heads);
    p.k = join(call, PAST_K, unpack(call, K, p.s.kv_heads), &p.s, p.s.size);
    p.v = join(call, PAST_V, unpack(call, V, p.s.kv_heads), &p.s, p.s.v_size);
    p.mask = has_input(call, MASK) ? &in[MASK] : NULL;
    p.mask_values = (double *)(uintptr_t)tg_call_doubles(call, MASK);
    p.valid = has_input(call, VALID) ? &in[VALID] : NULL;
    p.scale = scale->kind == TG_ATTR_FLOAT ? scale->f : 1 / sqrt((double)p.s.size);
    p.cap = call_float(call, "softcap");
    p.mode = (int)call_int(call, "qk_matmul_output_mode");
    p.causal = call_int(call, "is_causal") != 0;
    p.left = call_int(call, "left_window_size");
    p.right = call_int(call, "right_window_size");
    p.columns = tg_call_scratch(call, p.s.keys * p.s.size);
    p.score = tg_call_scratch(call, p.s.keys * ROWS);
    p.bias = tg_call_scratch(call, p.s.keys);
    p.result = tg_call_scratch(call, p.s.v_size * ROWS);
    return p;
}

tg_status kernel_attention(tg_call *call)
{
    pass p = pass_of(call);
    const sizes *s = &p.s;
    bool seen = has_output(call, SCORES);
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[Y]));
    double *scores = seen ? tg_call_scratch(call, tg_tensor_count(&call->out[SCORES])) : NULL;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t h = 0; h < s->heads; h++) {
            int64_t group = s->heads / s->kv_heads;
            if (h % group == 0) turn_keys(&p, b * s->kv_heads + h / group);
            for (int64_t i = 0; i < s->queries; i += ROWS)
                attend(&p, b, h, i, s->queries - i < ROWS ? s->queries - i : ROWS, y, scores);
        }
    tg_call_store(call, Y, y);
    if (has_output(call, PRESENT_K)) tg_call_store(call, PRESENT_K, p.k);
    if (has_output(call, PRESENT_V)) tg_call_store(call, PRESENT_V, p.v);
    if (seen) tg_call_store(call, SCORES, scores);
    return TG_OK;
}
