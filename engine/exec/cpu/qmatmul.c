/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Products of matrices of bytes. The sums come from the library where the right operand is constant
 * and the processor sums bytes exactly; zero points are taken off afterwards:
 *     sum (a - z) (b - w) = sum a b - w sum a - z (sum b - k w).
 * Else both operands are widened and multiplied here.
 */
#include "engine/ops/matmul.h"
#include "igemm.h"
#include "loop.h"
#include "quant.h"
#include "tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of the graph; TG_NO_VALUE where there is none such. */
typedef struct factors {
    tg_value a, b, a_zero, b_zero, a_scale, b_scale, bias;
    bool transposed; /* b is [n, k] */
    tg_quant_out out;
} factors;

/* The operands of the step. SUMS: the library's, or scratch space. */
enum { A, B, A_ZERO, B_ZERO, A_SCALE, B_SCALE, BIAS, Y, SUMS, CORRECTION, OPERANDS };

typedef struct qproduct {
    tg_matmul shape;
    tg_dtype a_type, b_type;
    int64_t a_zeros, b_zeros, scales; /* how many there are; 0: none */
    int64_t rows_a_zero;              /* a vector of zeros to the left repeats after so many rows */
    bool transposed, packed, summed, shifted;
    tg_quant_out out;
} qproduct;

enum { BLOCK = 64 };

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(64), aligned(4), may_alias));

static int whole_at(tg_dtype dtype, const void *data, int64_t n, int64_t i)
{
    if (!n) return 0;
    int64_t at = n > 1 ? i : 0;
    return dtype == TG_U8 ? ((const uint8_t *)data)[at] : ((const int8_t *)data)[at];
}

/* ---- what follows the sums ---- */

typedef struct finish {
    const qproduct *k;
    void *const *ptr;
    float *gain, *row; /* n + 16 each */
    const struct row_code *code;
} finish;

/* Rows of n numbers, whole vectors first. */
#define INLINE inline __attribute__((always_inline))
#define EACH_VECTOR(vectors, numbers)                                                              \
    int64_t j = 0;                                                                                 \
    for (; j + 16 <= n; j += 16) vectors;                                                          \
    for (; j < n; j++) numbers

static INLINE void gains_body(float a, const float *b, int64_t n, float *gain)
{
    EACH_VECTOR(*(lanes *)(gain + j) = *(const lanes *)(b + j) * a, gain[j] = b[j] * a);
}

/* sum -= z * by. */
static INLINE void take_body(int32_t z, const int32_t *by, int64_t n, int32_t *sum)
{
    EACH_VECTOR(*(whole *)(sum + j) -= *(const whole *)(by + j) * z, sum[j] -= by[j] * z);
}

static INLINE void scale_body(const int32_t *sum, const float *gain, const float *bias, int64_t n,
                              float *to)
{
    if (bias) {
        EACH_VECTOR(*(lanes *)(to + j) = __builtin_convertvector(*(const whole *)(sum + j), lanes) *
                                             *(const lanes *)(gain + j) +
                                         *(const lanes *)(bias + j),
                    to[j] = (float)sum[j] * gain[j] + bias[j]);
    } else {
        EACH_VECTOR(*(lanes *)(to + j) = __builtin_convertvector(*(const whole *)(sum + j), lanes) *
                                         *(const lanes *)(gain + j),
                    to[j] = (float)sum[j] * gain[j]);
    }
}

/* What the machine's best code for these is. */
typedef struct row_code {
    void (*gains)(float a, const float *b, int64_t n, float *gain);
    void (*take)(int32_t z, const int32_t *by, int64_t n, int32_t *sum);
    void (*scale)(const int32_t *sum, const float *gain, const float *bias, int64_t n, float *to);
} row_code;

#define ROW_CODE(kind, target)                                                                     \
    target static void gains_##kind(float a, const float *b, int64_t n, float *gain)               \
    {                                                                                              \
        gains_body(a, b, n, gain);                                                                 \
    }                                                                                              \
    target static void take_##kind(int32_t z, const int32_t *by, int64_t n, int32_t *sum)          \
    {                                                                                              \
        take_body(z, by, n, sum);                                                                  \
    }                                                                                              \
    target static void scale_##kind(const int32_t *sum, const float *gain, const float *bias,      \
                                    int64_t n, float *to)                                          \
    {                                                                                              \
        scale_body(sum, gain, bias, n, to);                                                        \
    }                                                                                              \
    static const row_code kind##_code = {gains_##kind, take_##kind, scale_##kind};
#ifdef __x86_64__
ROW_CODE(wide, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))))
ROW_CODE(middle, __attribute__((target("avx2,fma"))))
#endif
ROW_CODE(base, )

static const row_code *best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &wide_code;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &middle_code;
#endif
    return &base_code;
}

static void fill_gains(const finish *f)
{
    const qproduct *k = f->k;
    const float *a = f->ptr[A_SCALE], *b = f->ptr[B_SCALE];
    if (k->scales > 1) f->code->gains(*a, b, k->shape.n, f->gain);
    else if (k->scales)
        for (int64_t j = 0; j < k->shape.n; j++) f->gain[j] = *a * *b;
}

static void cut_row(const finish *f, int64_t n)
{
    float low = f->k->out.low, high = f->k->out.high;
    if (low == -INFINITY && high == INFINITY) return;
    for (int64_t j = 0; j < n; j++) {
        float x = f->row[j] < low ? low : f->row[j];
        f->row[j] = x > high ? high : x;
    }
}

static void finish_row(const finish *f, const int32_t *sum, int64_t row)
{
    const qproduct *k = f->k;
    int64_t n = k->shape.n;
    if (k->out.code.dtype == TG_I32) {
        memcpy((int32_t *)f->ptr[Y] + row * n, sum, sizeof *sum * (size_t)n);
        return;
    }
    f->code->scale(sum, f->gain, f->ptr[BIAS], n, f->row);
    cut_row(f, n);
    size_t size = tg_dtype_size(k->out.code.dtype);
    char *to = (char *)f->ptr[Y] + (size_t)(row * n) * size;
    if (k->out.code.quantised) tg_convert_store(&k->out.code, f->row, (int)n, to, 1);
    else memcpy(to, f->row, size * (size_t)n);
}

/* ---- sums of our own ---- */

typedef struct space {
    int16_t *b, *a;
    int32_t *sums;
    float *gain, *row;
} space;

static size_t rounded(int64_t n, size_t size)
{
    return ((size_t)n * size + 127) / 64 * 64;
}

static size_t space_size(const qproduct *k)
{
    const tg_matmul *s = &k->shape;
    return rounded((int64_t)tg_igemm_packed(s->k, s->n), sizeof(int16_t)) +
           rounded(BLOCK * tg_igemm_depth(s->k), sizeof(int16_t)) +
           rounded(BLOCK * s->n, sizeof(int32_t)) + 2 * rounded(s->n + 16, sizeof(float));
}

static space space_of(const qproduct *k, char *at)
{
    const tg_matmul *s = &k->shape;
    space p;
    p.b = (int16_t *)at;
    at += rounded((int64_t)tg_igemm_packed(s->k, s->n), sizeof(int16_t));
    p.a = (int16_t *)at;
    at += rounded(BLOCK * tg_igemm_depth(s->k), sizeof(int16_t));
    p.sums = (int32_t *)at;
    at += rounded(BLOCK * s->n, sizeof(int32_t));
    p.gain = (float *)at;
    p.row = (float *)(at + rounded(s->n + 16, sizeof(float)));
    return p;
}

/* b less its zero points, as the product wants it. */
static void pack_right(const qproduct *k, const char *b, const void *zero, int16_t *to)
{
    int64_t n = k->shape.n, depth = k->shape.k;
    int16_t *wide = tg_calloc((size_t)(n * depth), sizeof *wide);
    tg_igemm_centre(k->b_type, b, n * depth, 0, wide);
    if (k->b_zeros)
        for (int64_t i = 0; i < n * depth; i++) {
            int64_t column = k->transposed ? i / depth : i % n;
            wide[i] = (int16_t)(wide[i] - whole_at(k->b_type, zero, k->b_zeros, column));
        }
    tg_igemm_pack(wide, k->transposed ? 1 : n, k->transposed ? depth : 1, depth, n, to);
    free(wide);
}

static void pack_left(const qproduct *k, const char *a, const void *zero, int64_t row, int64_t rows,
                      int16_t *to)
{
    int64_t depth = tg_igemm_depth(k->shape.k);
    for (int64_t i = 0; i < rows; i++) {
        int z = whole_at(k->a_type, zero, k->a_zeros, (row + i) % k->rows_a_zero);
        tg_igemm_centre(k->a_type, a + (row + i) * k->shape.k, k->shape.k, z, to + i * depth);
        if (depth > k->shape.k) to[i * depth + k->shape.k] = 0;
    }
}

static tg_status run_own(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const qproduct *k = step->own;
    const tg_matmul *s = &k->shape;
    space w = space_of(k, ptr[SUMS]);
    finish f = {k, ptr, w.gain, w.row, best()};
    fill_gains(&f);
    for (int64_t batch = 0; batch < s->batch; batch++) {
        const char *a = (const char *)ptr[A] + tg_matmul_a_at(s, batch);
        const char *b = (const char *)ptr[B] + (k->packed ? 0 : tg_matmul_b_at(s, batch));
        if (!k->packed) pack_right(k, b, ptr[B_ZERO], w.b);
        const int16_t *right = k->packed ? (const int16_t *)(const void *)b : w.b;
        for (int64_t row = 0; row < s->m; row += BLOCK) {
            int64_t rows = s->m - row < BLOCK ? s->m - row : BLOCK;
            pack_left(k, a, ptr[A_ZERO], row, rows, w.a);
            tg_igemm(rows, s->n, s->k, w.a, right, w.sums);
            for (int64_t i = 0; i < rows; i++)
                finish_row(&f, w.sums + i * s->n, batch * s->m + row + i);
        }
    }
    return TG_OK;
}

/* ---- the library's sums ---- */

static int32_t sum_of_row(tg_dtype dtype, const char *a, int64_t n)
{
    int32_t sum = 0;
    if (dtype == TG_U8)
        for (int64_t i = 0; i < n; i++) sum += ((const uint8_t *)a)[i];
    else
        for (int64_t i = 0; i < n; i++) sum += ((const int8_t *)a)[i];
    return sum;
}

/* b counts from 128 where the library has it as int8 though it is uint8. */
static tg_status run_correct(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const qproduct *k = step->own;
    int64_t n = k->shape.n, depth = k->shape.k;
    float *space = ptr[OPERANDS];
    finish f = {k, ptr, space, space + (n + 31) / 16 * 16, best()};
    const int32_t *correction = ptr[CORRECTION], *b_zero = correction + n;
    fill_gains(&f);
    for (int64_t row = 0; row < k->shape.m; row++) {
        int32_t *sum = (int32_t *)ptr[SUMS] + row * n;
        int32_t z = whole_at(k->a_type, ptr[A_ZERO], k->a_zeros, row % k->rows_a_zero);
        if (z) f.code->take(z, correction, n, sum);
        if (k->shifted) {
            int32_t all = sum_of_row(k->a_type, (const char *)ptr[A] + row * depth, depth);
            f.code->take(all, b_zero, n, sum);
        }
        finish_row(&f, sum, row);
    }
    return TG_OK;
}

/* The right operand as int8 [k, n], and by column sum b - k w, then w. */
static void right_constants(tg_cpu_plan *p, qproduct *k, const tg_operand *b, const void *zero,
                            tg_operand *bytes, tg_operand *correction)
{
    int64_t n = k->shape.n, depth = k->shape.k;
    const uint8_t *from = tg_cpu_constant_data(p, b);
    int shift = k->b_type == TG_U8 ? 128 : 0;
    int8_t *data = tg_calloc((size_t)(n * depth), 1);
    int32_t *sums = tg_calloc((size_t)(2 * n), sizeof *sums);
    for (int64_t i = 0; i < n * depth; i++) {
        int64_t row = k->transposed ? i % depth : i / n, column = k->transposed ? i / depth : i % n;
        int x = shift ? from[i] - shift : (int8_t)from[i];
        data[row * n + column] = (int8_t)x;
        sums[column] += x;
    }
    for (int64_t j = 0; j < n; j++) {
        sums[n + j] = whole_at(k->b_type, zero, k->b_zeros, j) - shift;
        k->shifted |= sums[n + j] != 0;
        sums[j] -= (int32_t)depth * sums[n + j];
    }
    tg_shape matrix = tg_shape_of(depth, n), two = tg_shape_of(2, n);
    *bytes = tg_cpu_constant(p, TG_I8, &matrix, data);
    *correction = tg_cpu_constant(p, TG_I32, &two, sums);
    free(data);
    free(sums);
}

static tg_operand matrix_of(tg_operand at, int64_t m, int64_t n)
{
    int64_t offset = at.layout.offset;
    at.shape = tg_shape_of(m, n);
    at.layout = tg_layout_plain(&at.shape);
    at.layout.offset = offset;
    return at;
}

static tg_status plan_library(tg_cpu_plan *p, const tg_node *node, qproduct *k, tg_operand *all)
{
    const void *zero = k->b_zeros ? tg_cpu_constant_data(p, &all[B_ZERO]) : NULL;
    int64_t m = k->shape.m, n = k->shape.n;
    if (!tg_prim_bytes_exact() || !tg_cpu_constant_data(p, &all[B]) || (k->b_zeros && !zero) ||
        k->shape.batch != 1)
        return tg_fail(TG_UNSUPPORTED, "not by the library");
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    right_constants(p, k, &all[B], zero, &o.weights, &all[CORRECTION]);
    tg_type sums = {TG_I32, tg_shape_of(m, n)};
    tg_layout plain = tg_layout_plain(&sums.shape);
    spec.kind = TG_PRIM_MATMUL;
    spec.threads = p->threads;
    o.src = matrix_of(all[A], m, k->shape.k);
    o.dst = (tg_operand){-1, TG_I32, sums.shape, plain};
    spec.src = tg_cpu_md_plain(&o.src);
    spec.weights = tg_cpu_md_any(&o.weights);
    spec.dst = tg_cpu_md_plain(&o.dst);
    const tg_prim *prim = tg_prim_get(&spec);
    if (!prim->usable || prim->slow) return tg_fail(TG_UNSUPPORTED, "no such product");
    all[SUMS] = o.dst = tg_cpu_new(p, &sums, &plain);
    TG_TRY(tg_cpu_prim(p, node, prim, &o));
    all[B].buffer = -1;
    all[OPERANDS] = (tg_operand){.dtype = TG_F32};
    all[OPERANDS].buffer = tg_cpu_scratch(p, sizeof(float) * (size_t)(2 * n + 64));
    tg_cpu_step(p, node, run_correct, tg_arena_dup(p->memory, k, sizeof *k), all, OPERANDS + 1);
    return TG_OK;
}

static tg_status plan_own(tg_cpu_plan *p, const tg_node *node, qproduct *k, tg_operand *all)
{
    const void *b = tg_cpu_constant_data(p, &all[B]);
    const void *zero = k->b_zeros ? tg_cpu_constant_data(p, &all[B_ZERO]) : NULL;
    if (b && (zero || !k->b_zeros) && tg_shape_count(&all[B].shape) == k->shape.k * k->shape.n) {
        tg_shape shape = tg_shape_of((int64_t)tg_igemm_packed(k->shape.k, k->shape.n));
        int16_t *packed = tg_calloc((size_t)shape.dim[0], sizeof *packed);
        pack_right(k, b, zero, packed);
        all[B] = tg_cpu_constant(p, TG_I16, &shape, packed);
        k->packed = true;
        free(packed);
    }
    all[SUMS] = (tg_operand){.dtype = TG_U8};
    all[SUMS].buffer = tg_cpu_scratch(p, space_size(k));
    tg_cpu_step(p, node, run_own, tg_arena_dup(p->memory, k, sizeof *k), all, OPERANDS);
    return TG_OK;
}

/* ---- planning ---- */

static int64_t count_of(const tg_cpu_plan *p, tg_value v)
{
    return v == TG_NO_VALUE ? 0 : tg_shape_count(&tg_cpu_type(p, v)->shape);
}

/* All rows of the left operand as one matrix if they meet one matrix. */
static void join_rows(const tg_cpu_plan *p, const factors *f, qproduct *k)
{
    int64_t n = tg_shape_count(&tg_cpu_type(p, f->b)->shape);
    k->rows_a_zero = k->shape.m;
    if (n != k->shape.k * k->shape.n) return;
    k->shape.m *= k->shape.batch;
    k->shape.batch = 1;
    k->shape.a = k->shape.out = k->shape.b = (tg_shape){.rank = 2};
}

static tg_status shape_of(const tg_cpu_plan *p, const factors *f, qproduct *k)
{
    tg_shape b = tg_cpu_type(p, f->b)->shape;
    if (f->transposed) b = tg_shape_of(b.dim[1], b.dim[0]);
    const tg_shape *a = &tg_cpu_type(p, f->a)->shape;
    if (!tg_shape_count(a) || !tg_shape_count(&b)) return tg_fail(TG_UNSUPPORTED, "empty");
    k->shape = tg_matmul_of(a, &b);
    k->transposed = f->transposed;
    join_rows(p, f, k);
    if (k->shape.n > INT32_MAX / 2) return tg_fail(TG_UNSUPPORTED, "too wide");
    return TG_OK;
}

static tg_status plan_factors(tg_cpu_plan *p, const tg_node *node, const factors *f)
{
    tg_operand all[OPERANDS + 1];
    qproduct k = {.a_type = tg_cpu_type(p, f->a)->dtype, .b_type = tg_cpu_type(p, f->b)->dtype};
    const tg_value v[] = {f->a, f->b, f->a_zero, f->b_zero, f->a_scale, f->b_scale, f->bias};
    TG_TRY(shape_of(p, f, &k));
    k.a_zeros = count_of(p, f->a_zero);
    k.b_zeros = count_of(p, f->b_zero);
    k.scales = count_of(p, f->b_scale);
    k.out = f->out;
    if (count_of(p, f->a_scale) > 1) return tg_fail(TG_UNSUPPORTED, "a scale for each row");
    for (int i = 0; i <= OPERANDS; i++) all[i] = (tg_operand){.buffer = -1};
    for (int i = A; i <= BIAS; i++)
        if (v[i] != TG_NO_VALUE) TG_TRY(tg_cpu_plain(p, v[i], &all[i]));
    const tg_type *type = &f->out.last->out[0];
    tg_layout plain = tg_layout_plain(&type->shape);
    all[Y] = tg_cpu_new(p, type, &plain);
    tg_status status = plan_library(p, node, &k, all);
    if (status == TG_UNSUPPORTED) status = plan_own(p, node, &k, all);
    if (status != TG_OK) return status;
    tg_cpu_set(p, f->out.last, 0, &all[Y]);
    p->stats->loops++;
    if (p->groups[node->id]) p->stats->absorbed += p->groups[node->id]->n - 1;
    return TG_OK;
}

static tg_value input_or_none(const tg_node *node, int slot)
{
    return slot < node->n_in ? node->in[slot] : TG_NO_VALUE;
}

tg_status tg_cpu_plan_matmul_integer(tg_cpu_plan *p, const tg_node *node)
{
    factors f = {.a = node->in[0], .b = node->in[1]};
    f.a_zero = input_or_none(node, 2);
    f.b_zero = input_or_none(node, 3);
    f.a_scale = f.b_scale = f.bias = TG_NO_VALUE;
    f.out = (tg_quant_out){node, {TG_I32, false, 1, 0}, 0, 0};
    return plan_factors(p, node, &f);
}

tg_status tg_cpu_plan_qlinear_matmul(tg_cpu_plan *p, const tg_node *node)
{
    factors f = {.a = node->in[0], .b = node->in[3], .bias = TG_NO_VALUE};
    f.a_scale = node->in[1];
    f.a_zero = node->in[2];
    f.b_scale = node->in[4];
    f.b_zero = node->in[5];
    if (!tg_quant_is_byte(tg_cpu_type(p, f.a)->dtype) ||
        !tg_quant_is_byte(tg_cpu_type(p, f.b)->dtype))
        return tg_fail(TG_UNSUPPORTED, "not of integers");
    if (tg_cpu_type(p, f.a_scale)->dtype != TG_F32 || tg_cpu_type(p, f.b_scale)->dtype != TG_F32 ||
        !tg_quant_out_given(p->g, node, node->in[6], node->in[7], &f.out))
        return tg_fail(TG_UNSUPPORTED, "the output's scale varies");
    return plan_factors(p, node, &f);
}

/* The product of what two DequantizeLinear made: of their integers, one scale to the left. */
static bool dequantised(const tg_cpu_plan *p, const tg_node *node, factors *f)
{
    tg_code code;
    const tg_node *b = tg_graph_maker(p->g, node->in[1]), *a = tg_graph_maker(p->g, node->in[0]);
    if (!tg_quant_source(p->g, node->in[0], &f->a, &code) || !tg_quant_is_byte(code.dtype))
        return false;
    int64_t rank = tg_cpu_type(p, node->in[1])->shape.rank;
    if (!tg_quant_weight(p->g, node->in[1], f->transposed ? 0 : rank - 1)) return false;
    f->b = b->in[0];
    f->a_scale = a->in[1];
    f->a_zero = input_or_none(a, 2);
    f->b_scale = b->in[1];
    f->b_zero = input_or_none(b, 2);
    return tg_quant_out_of(p, node, &f->out);
}

static bool is_row(const tg_cpu_plan *p, tg_value v, int64_t n)
{
    const tg_shape *s = &tg_cpu_type(p, v)->shape;
    return tg_cpu_is_float(p, v) && s->rank > 0 && s->dim[s->rank - 1] == n &&
           tg_shape_count(s) == n;
}

tg_status tg_quant_matmul(tg_cpu_plan *p, const tg_node *node)
{
    factors f = {.bias = TG_NO_VALUE};
    if (tg_cpu_named(node, "Gemm")) {
        const tg_attr *alpha = tg_cpu_attr(node, "alpha"), *beta = tg_cpu_attr(node, "beta");
        f.transposed = tg_node_attr(node, "transB")->i != 0;
        f.bias = input_or_none(node, 2);
        if ((alpha && alpha->f != 1) || (beta && beta->f != 1) || tg_node_attr(node, "transA")->i)
            return tg_fail(TG_UNSUPPORTED, "a product of other factors");
        if (f.bias != TG_NO_VALUE && !is_row(p, f.bias, node->out[0].shape.dim[1]))
            return tg_fail(TG_UNSUPPORTED, "not a bias");
    }
    if (!dequantised(p, node, &f)) return tg_fail(TG_UNSUPPORTED, "not of integers");
    return plan_factors(p, node, &f);
}
