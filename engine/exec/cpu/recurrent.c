/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LSTM, GRU and RNN: the input's part of all gates of all steps is one product of matrices of the
 * library; the recurrence then runs step by step over packed weights.
 */
#include "loop.h"
#include "tail.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

typedef enum cell_kind { LSTM, GRU, RNN } cell_kind;

static const int gates_of[] = {4, 3, 1};

/* Rows of gates and states are padded to whole vectors. */
typedef struct cell {
    cell_kind kind;
    int64_t steps, batch, in, hidden, dirs;
    int64_t gates, row, state; /* elements: all gates; a padded row of them; a padded state */
    bool batch_first, backwards, after, relu;
    bool has_bias; /* of the recurrence's last gate, kept apart (GRU, after) */
} cell;

/* The operands of the step. */
enum { GATES, WEIGHTS, BIAS, LENGTHS, H0, C0, Y, Y_H, Y_C, SPACE, OPERANDS };

/* ---- rows by a matrix ---- */

/* sum[r][j] += the rows of h (`step` apart) times m [k, n], its rows `width` apart. */
static inline __attribute__((always_inline)) void multiply(int rows, const float *h, int64_t step,
                                                           int64_t k, const float *m, int64_t width,
                                                           int64_t n, float *sum, int64_t sum_step)
{
    for (int64_t j = 0; j < n; j += 32) {
        lanes a[4], b[4];
        bool two = j + 16 < n;
        for (int r = 0; r < rows; r++) {
            a[r] = *(const lanes *)(sum + r * sum_step + j);
            b[r] = *(const lanes *)(sum + r * sum_step + j + (two ? 16 : 0));
        }
        const float *at = m + j;
        for (int64_t i = 0; i < k; i++, at += width) {
            lanes u = *(const lanes *)at, v = *(const lanes *)(at + 16);
            for (int r = 0; r < rows; r++) {
                a[r] += u * h[r * step + i];
                b[r] += v * h[r * step + i];
            }
        }
        for (int r = 0; r < rows; r++) {
            *(lanes *)(sum + r * sum_step + j) = a[r];
            if (two) *(lanes *)(sum + r * sum_step + j + 16) = b[r];
        }
    }
}

#define PRODUCT(name, target)                                                                      \
    target static void name(int64_t rows, const float *h, int64_t step, int64_t k, const float *m, \
                            int64_t width, int64_t n, float *sum, int64_t sum_step)                \
    {                                                                                              \
        for (; rows >= 4; rows -= 4, h += 4 * step, sum += 4 * sum_step)                           \
            multiply(4, h, step, k, m, width, n, sum, sum_step);                                   \
        for (; rows > 0; rows--, h += step, sum += sum_step)                                       \
            multiply(1, h, step, k, m, width, n, sum, sum_step);                                   \
    }
#ifdef __x86_64__
PRODUCT(product_wide, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))))
PRODUCT(product_middle, __attribute__((target("avx2,fma"))))
#endif
PRODUCT(product_base, )

typedef void (*product_fn)(int64_t rows, const float *h, int64_t step, int64_t k, const float *m,
                           int64_t width, int64_t n, float *sum, int64_t sum_step);

static product_fn best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return product_wide;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return product_middle;
#endif
    return product_base;
}

/* ---- one step of one sequence ---- */

/* Of all sequences: gates, states, cells, and what a step needs besides. */
typedef struct state {
    float *gates, *h, *c, *extra, *fresh;
} state;

/* Gates in the order i o f c. */
static void lstm_step(const cell *k, float *g, float *h, float *c, float *fresh)
{
    int64_t n = k->hidden;
    memcpy(fresh, g + 3 * n, sizeof *g * (size_t)n);
    tg_vector_map(TG_V_TANH, fresh, n);
    tg_vector_map(TG_V_SIGMOID, g, 3 * n);
    for (int64_t i = 0; i < n; i += 16) {
        lanes in = *(const lanes *)(g + i), forget = *(const lanes *)(g + 2 * n + i);
        lanes now = forget * *(const lanes *)(c + i) + in * *(const lanes *)(fresh + i);
        *(lanes *)(c + i) = *(lanes *)(fresh + i) = now;
    }
    tg_vector_map(TG_V_TANH, fresh, n);
    for (int64_t i = 0; i < n; i += 16)
        *(lanes *)(h + i) = *(const lanes *)(g + n + i) * *(const lanes *)(fresh + i);
}

/* Gates in the order z r h; extra: what the recurrence adds to the last gate. */
static void gru_fresh(const cell *k, float *g, float *h, const float *extra, float *fresh)
{
    int64_t n = k->hidden;
    for (int64_t i = 0; i < n; i += 16) {
        lanes v = *(const lanes *)(extra + i);
        if (k->after) v = v * *(const lanes *)(g + n + i) + *(const lanes *)(fresh + i);
        *(lanes *)(fresh + i) = v;
    }
    tg_vector_map(TG_V_TANH, fresh, n);
    for (int64_t i = 0; i < n; i += 16) {
        lanes z = *(const lanes *)(g + i), new = *(const lanes *)(fresh + i);
        *(lanes *)(h + i) = new + z *(*(const lanes *)(h + i) - new);
    }
}

static void gru_step(const cell *k, product_fn multiply_rows, const float *m, const float *bias,
                     float *g, float *h, float *extra, float *fresh)
{
    int64_t n = k->hidden;
    memcpy(fresh, g + 2 * n, sizeof *g * (size_t)n);
    tg_vector_map(TG_V_SIGMOID, g, 2 * n);
    if (k->after) {
        memset(extra, 0, sizeof *extra * (size_t)k->state);
        if (k->has_bias) memcpy(extra, bias, sizeof *bias * (size_t)n);
        multiply_rows(1, h, k->state, n, m + 2 * n, k->row, n, extra, k->state);
    } else {
        float *reset = extra + k->state;
        memcpy(extra, fresh, sizeof *extra * (size_t)n);
        for (int64_t i = 0; i < n; i++) reset[i] = g[n + i] * h[i];
        multiply_rows(1, reset, k->state, n, m + 2 * n, k->row, n, extra, k->state);
    }
    gru_fresh(k, g, h, extra, fresh);
}

static void advance(const cell *k, product_fn multiply_rows, const float *m, const float *bias,
                    const state *s, int64_t b)
{
    float *g = s->gates + b * k->row, *h = s->h + b * k->state;
    if (k->kind == LSTM) {
        lstm_step(k, g, h, s->c + b * k->state, s->fresh);
    } else if (k->kind == GRU) {
        gru_step(k, multiply_rows, m, bias, g, h, s->extra, s->fresh);
    } else {
        memcpy(h, g, sizeof *h * (size_t)k->hidden);
        tg_vector_map(k->relu ? TG_V_RELU : TG_V_TANH, h, k->hidden);
    }
}

/* ---- sequences ---- */

static int64_t state_at(const cell *k, int64_t d, int64_t b)
{
    return (k->batch_first ? b * k->dirs + d : d * k->batch + b) * k->hidden;
}

static state state_of(const cell *k, float *at)
{
    state s;
    s.gates = at;
    s.h = s.gates + k->batch * k->row;
    s.c = s.h + k->batch * k->state;
    s.extra = s.c + k->batch * k->state;
    s.fresh = s.extra + 2 * k->state;
    return s;
}

static size_t space_size(const cell *k)
{
    return sizeof(float) * (size_t)(k->batch * (k->row + 2 * k->state) + 3 * k->state + 64);
}

static void load_states(const cell *k, const state *s, void *const *ptr, int64_t d)
{
    size_t size = sizeof(float) * (size_t)k->hidden;
    memset(s->h, 0, 2 * sizeof(float) * (size_t)(k->batch * k->state));
    for (int64_t b = 0; b < k->batch; b++) {
        int64_t at = state_at(k, d, b);
        if (ptr[H0]) memcpy(s->h + b * k->state, (const float *)ptr[H0] + at, size);
        if (ptr[C0]) memcpy(s->c + b * k->state, (const float *)ptr[C0] + at, size);
    }
}

static void save_states(const cell *k, const state *s, void *const *ptr, int64_t d)
{
    size_t size = sizeof(float) * (size_t)k->hidden;
    for (int64_t b = 0; b < k->batch; b++) {
        int64_t at = state_at(k, d, b);
        if (ptr[Y_H]) memcpy((float *)ptr[Y_H] + at, s->h + b * k->state, size);
        if (ptr[Y_C]) memcpy((float *)ptr[Y_C] + at, s->c + b * k->state, size);
    }
}

/* The step of a sequence that is the i-th in the order of running; -1: it has ended. */
static int64_t step_of(const cell *k, const int32_t *lengths, int64_t d, int64_t i, int64_t b)
{
    int64_t length = lengths ? lengths[b] : k->steps;
    if (i >= length) return -1;
    return k->backwards || d == 1 ? length - 1 - i : i;
}

/* The gates' parts from the input; of ended sequences, nothing. */
static void load_gates(const cell *k, void *const *ptr, const state *s, int64_t d, int64_t i)
{
    memset(s->gates, 0, sizeof *s->gates * (size_t)(k->batch * k->row));
    for (int64_t b = 0; b < k->batch; b++) {
        int64_t t = step_of(k, ptr[LENGTHS], d, i, b);
        int64_t row = k->batch_first ? b * k->steps + t : t * k->batch + b;
        if (t < 0) continue;
        memcpy(s->gates + b * k->row, (const float *)ptr[GATES] + (row * k->dirs + d) * k->gates,
               sizeof *s->gates * (size_t)k->gates);
    }
}

/* A product writes whole vectors: gates behind its own are put back. */
static void add_products(const cell *k, product_fn multiply_rows, const float *m, const state *s)
{
    int64_t own = k->kind == GRU ? 2 * k->hidden : k->gates;
    if (own == k->gates || own % 16 == 0) {
        multiply_rows(k->batch, s->h, k->state, k->hidden, m, k->row, own, s->gates, k->row);
        return;
    }
    for (int64_t b = 0; b < k->batch; b++) {
        float kept[16], *g = s->gates + b * k->row;
        memcpy(kept, g + own, sizeof kept);
        multiply_rows(1, s->h + b * k->state, k->state, k->hidden, m, k->row, own, g, k->row);
        memcpy(g + own, kept, sizeof kept);
    }
}

static void run_direction(const cell *k, void *const *ptr, const state *s, int64_t d)
{
    const float *m = (const float *)ptr[WEIGHTS] + d * k->hidden * k->row;
    const float *bias = k->has_bias ? (const float *)ptr[BIAS] + d * k->hidden : NULL;
    product_fn multiply_rows = best();
    load_states(k, s, ptr, d);
    for (int64_t i = 0; i < k->steps; i++) {
        load_gates(k, ptr, s, d, i);
        add_products(k, multiply_rows, m, s);
        for (int64_t b = 0; b < k->batch; b++) {
            int64_t t = step_of(k, ptr[LENGTHS], d, i, b);
            if (t < 0) continue;
            advance(k, multiply_rows, m, bias, s, b);
            int64_t to = k->batch_first ? (b * k->steps + t) * k->dirs + d
                                        : (t * k->dirs + d) * k->batch + b;
            memcpy((float *)ptr[Y] + to * k->hidden, s->h + b * k->state,
                   sizeof(float) * (size_t)k->hidden);
        }
    }
    save_states(k, s, ptr, d);
}

static tg_status run_cell(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const cell *k = step->own;
    state s = state_of(k, ptr[SPACE]);
    const int32_t *lengths = ptr[LENGTHS];
    for (int64_t b = 0; lengths && b < k->batch; b++)
        if (lengths[b] < 0 || lengths[b] > k->steps)
            return tg_fail(TG_INVALID, "sequence %lld has length %lld of %lld", (long long)b,
                           (long long)lengths[b], (long long)k->steps);
    if (lengths)
        memset(ptr[Y], 0, sizeof(float) * (size_t)(k->steps * k->batch * k->dirs * k->hidden));
    memset(ptr[SPACE], 0, space_size(k));
    for (int64_t d = 0; d < k->dirs; d++) run_direction(k, ptr, &s, d);
    return TG_OK;
}

/* ---- planning ---- */

static tg_value input_or_none(const tg_node *node, int slot)
{
    return slot < node->n_in ? node->in[slot] : TG_NO_VALUE;
}

static tg_status constant_floats(tg_cpu_plan *p, tg_value v, const float **x)
{
    tg_operand at;
    *x = NULL;
    if (v == TG_NO_VALUE) return TG_OK;
    TG_TRY(tg_cpu_plain(p, v, &at));
    *x = tg_cpu_constant_data(p, &at);
    return *x ? TG_OK : tg_fail(TG_UNSUPPORTED, "weights vary");
}

/* [dirs, gates, in] as [in, dirs * gates]; [dirs, gates, hidden] as [dirs, hidden, row]. */
static tg_operand input_weights(tg_cpu_plan *p, const cell *k, const float *w)
{
    int64_t n = k->dirs * k->gates;
    tg_shape shape = tg_shape_of(k->in, n);
    float *x = tg_calloc((size_t)(k->in * n), sizeof *x);
    for (int64_t g = 0; g < n; g++)
        for (int64_t i = 0; i < k->in; i++) x[i * n + g] = w[g * k->in + i];
    tg_operand at = tg_cpu_constant(p, TG_F32, &shape, x);
    free(x);
    return at;
}

static tg_operand own_weights(tg_cpu_plan *p, const cell *k, const float *r)
{
    tg_shape shape = tg_shape_of(k->dirs * k->hidden, k->row);
    float *x = tg_calloc((size_t)(k->dirs * k->hidden * k->row) + 32, sizeof *x);
    for (int64_t d = 0; d < k->dirs; d++)
        for (int64_t g = 0; g < k->gates; g++)
            for (int64_t i = 0; i < k->hidden; i++)
                x[(d * k->hidden + i) * k->row + g] = r[(d * k->gates + g) * k->hidden + i];
    tg_operand at = tg_cpu_constant(p, TG_F32, &shape, x);
    free(x);
    return at;
}

/* Both biases are one, but for the last gate of a GRU that resets after its product. */
static void place_bias(tg_cpu_plan *p, cell *k, const float *b, tg_operand *both, tg_operand *apart)
{
    int64_t n = k->dirs * k->gates;
    tg_shape all = tg_shape_of(1, n), last = tg_shape_of(k->dirs, k->hidden);
    float *sum = tg_calloc((size_t)n, sizeof *sum);
    float *own = tg_calloc((size_t)(k->dirs * k->hidden), sizeof *own);
    k->has_bias = b && k->kind == GRU && k->after;
    for (int64_t i = 0; b && i < n; i++) {
        int64_t d = i / k->gates, g = i % k->gates;
        const float *w = b + 2 * d * k->gates, *r = w + k->gates;
        bool is_apart = k->has_bias && g >= 2 * k->hidden;
        sum[i] = w[g] + (is_apart ? 0 : r[g]);
        if (is_apart) own[d * k->hidden + g - 2 * k->hidden] = r[g];
    }
    *both = tg_cpu_constant(p, TG_F32, &all, sum);
    *apart = tg_cpu_constant(p, TG_F32, &last, own);
    free(sum);
    free(own);
}

/* The product of all inputs by all gates. */
static tg_status plan_gates(tg_cpu_plan *p, const tg_node *node, const cell *k, const float *w,
                            const tg_operand *bias, tg_operand *gates)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    tg_type type = {TG_F32, tg_shape_of(k->steps * k->batch, k->dirs * k->gates)};
    tg_layout plain = tg_layout_plain(&type.shape);
    spec.kind = TG_PRIM_MATMUL;
    spec.threads = p->threads;
    TG_TRY(tg_cpu_plain(p, node->in[0], &o.src));
    int64_t offset = o.src.layout.offset;
    o.src.shape = tg_shape_of(k->steps * k->batch, k->in);
    o.src.layout = tg_layout_plain(&o.src.shape);
    o.src.layout.offset = offset;
    o.weights = input_weights(p, k, w);
    o.bias = *bias;
    o.dst = (tg_operand){-1, TG_F32, type.shape, plain};
    spec.src = tg_cpu_md_plain(&o.src);
    spec.weights = tg_cpu_md_any(&o.weights);
    spec.bias = tg_cpu_md_plain(&o.bias);
    spec.dst = tg_cpu_md_plain(&o.dst);
    const tg_prim *prim = tg_prim_get(&spec);
    if (!prim->usable) return tg_fail(TG_UNSUPPORTED, "no such product");
    *gates = o.dst = tg_cpu_new(p, &type, &plain);
    return tg_cpu_prim(p, node, prim, &o);
}

static bool plain_cell(const tg_node *node, cell *k)
{
    const tg_attr *acts = tg_cpu_attr(node, "activations"), *coupled;
    const char *names[] = {"LSTM", "GRU", "RNN"};
    for (int i = 0; i < 3; i++)
        if (tg_cpu_named(node, names[i])) k->kind = (cell_kind)i;
    for (uint32_t i = 0; acts && i < acts->n; i++) {
        if (k->kind != RNN || strcmp(acts->strs[i], "Relu") != 0) return false;
        k->relu = true;
    }
    coupled = tg_cpu_attr(node, "input_forget");
    if (tg_cpu_attr(node, "clip") || (coupled && coupled->i)) return false;
    return input_or_none(node, 7) == TG_NO_VALUE;
}

static void fill_cell(const tg_cpu_plan *p, const tg_node *node, cell *k)
{
    const tg_shape *x = &tg_cpu_type(p, node->in[0])->shape,
                   *r = &tg_cpu_type(p, node->in[2])->shape;
    const tg_attr *after = tg_cpu_attr(node, "linear_before_reset");
    k->batch_first = tg_node_attr(node, "layout")->i != 0;
    k->steps = x->dim[k->batch_first];
    k->batch = x->dim[!k->batch_first];
    k->in = x->dim[2];
    k->hidden = r->dim[2];
    k->dirs = r->dim[0];
    k->gates = gates_of[k->kind] * k->hidden;
    k->row = (k->gates + 31) / 16 * 16 + 16;
    k->state = (k->hidden + 15) / 16 * 16 + 16;
    k->after = after && after->i;
    k->backwards = strcmp(tg_node_attr(node, "direction")->s, "reverse") == 0;
}

tg_status tg_cpu_plan_recurrent(tg_cpu_plan *p, const tg_node *node)
{
    cell k = {0};
    const float *w, *r, *b;
    tg_operand all[OPERANDS], bias;
    if (!plain_cell(node, &k)) return tg_fail(TG_UNSUPPORTED, "kind of cell");
    for (int i = 0; i < node->n_in; i++)
        if (i != 4 && node->in[i] != TG_NO_VALUE && !tg_cpu_is_float(p, node->in[i]))
            return tg_fail(TG_UNSUPPORTED, "not of floats");
    fill_cell(p, node, &k);
    TG_TRY(constant_floats(p, node->in[1], &w));
    TG_TRY(constant_floats(p, node->in[2], &r));
    TG_TRY(constant_floats(p, input_or_none(node, 3), &b));
    for (int i = 0; i < OPERANDS; i++) all[i] = (tg_operand){.buffer = -1};
    place_bias(p, &k, b, &bias, &all[BIAS]);
    all[WEIGHTS] = own_weights(p, &k, r);
    for (int i = 0; i < 3; i++) {
        tg_value v = i == 2 && k.kind != LSTM ? TG_NO_VALUE : input_or_none(node, 4 + i);
        if (v != TG_NO_VALUE) TG_TRY(tg_cpu_plain(p, v, &all[LENGTHS + i]));
    }
    TG_TRY(plan_gates(p, node, &k, w, &bias, &all[GATES]));
    for (int i = 0; i < node->n_out; i++) {
        tg_layout plain = tg_layout_plain(&node->out[i].shape);
        all[Y + i] = tg_cpu_new(p, &node->out[i], &plain);
        tg_cpu_set(p, node, (uint32_t)i, &all[Y + i]);
    }
    all[SPACE] = (tg_operand){.dtype = TG_F32};
    all[SPACE].buffer = tg_cpu_scratch(p, space_size(&k));
    tg_cpu_step(p, node, run_cell, tg_arena_dup(p->memory, &k, sizeof k), all, OPERANDS);
    p->stats->loops++;
    return TG_OK;
}
