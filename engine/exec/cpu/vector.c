/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vector.h"

#include <math.h>
#include <string.h>

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Angles up to which their reduction keeps single precision. */
#define SMALL_ANGLE 8192.0f

typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));

static inline __attribute__((always_inline)) sixteen sqrt_each(sixteen x)
{
    for (int k = 0; k < 16; k++) x[k] = sqrtf(x[k]);
    return x;
}

#ifdef __x86_64__
#include <immintrin.h>

static inline __attribute__((always_inline, target("avx2,fma"))) sixteen sqrt_halves(sixteen x)
{
    union {
        sixteen all;
        __m256 half[2];
    } u = {.all = x};
    u.half[0] = _mm256_sqrt_ps(u.half[0]);
    u.half[1] = _mm256_sqrt_ps(u.half[1]);
    return u.all;
}

#define NAME(x) wide_##x
#define SQRT(x) _mm512_sqrt_ps((__m512)(x))
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#include "vector_body.h"
#undef SQRT
#undef NAME
#undef TARGET
#define NAME(x) middle_##x
#define SQRT(x) sqrt_halves(x)
#define TARGET __attribute__((target("avx2,fma")))
#include "vector_body.h"
#undef SQRT
#undef NAME
#undef TARGET
#endif
#define NAME(x) base_##x
#define SQRT(x) sqrt_each(x)
#define TARGET
#include "vector_body.h"
#undef NAME
#undef TARGET

typedef void (*program_fn)(const tg_vector *p, const float **in, float *const *scratch, int n);

static program_fn best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return wide_program;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return middle_program;
#endif
    return base_program;
}

void tg_vector_apply(const tg_vector_op *op, const float *a, const float *b, float *to, int n)
{
    float in[2][16], out[16];
    tg_vector program = {.n_ops = 1, .ops = {*op}};
    program.ops[0].a = 0;
    program.ops[0].b = 1;
    program.ops[0].to = 0;
    const float *operands[] = {in[0], in[1]};
    float *result = out;
    for (int i = 0; i < n; i += 16) {
        size_t size = sizeof(float) * (size_t)(n - i < 16 ? n - i : 16);
        memset(in, 0, sizeof in);
        if (a) memcpy(in[0], a + i, size);
        if (b) memcpy(in[1], b + i, size);
        best()(&program, operands, &result, 1);
        memcpy(to + i, out, size);
    }
}

static bool is_float(const tg_code *code)
{
    return code->dtype == TG_DTYPE_NONE || code->dtype == TG_F32;
}

static int64_t size_of(const tg_code *code)
{
    return is_float(code) ? (int64_t)sizeof(float) : (int64_t)tg_dtype_size(code->dtype);
}

static void repeat(float x, int n, float *to)
{
    for (int k = 0; k < n; k++) to[k] = x;
}

void tg_vector_map(int code, float *x, int64_t n)
{
    tg_vector program;
    program.n_ops = 1;
    program.ops[0] = (tg_vector_op){.code = (uint8_t)code};
    best()(&program, (const float *[]){x}, (float *const[]){x}, (int)((n + 15) / 16));
}

/* Where a block of an input begins; short rows and broadcasts are gathered into its register. */
static const float *input_block(const tg_vector *p, int i, const char *from, const float *tiles,
                                int64_t done, int n, float *reg)
{
    int64_t stride = p->stride[i][p->rank - 1];
    const float *at = (const float *)from;
    if (p->period[i]) return tiles + p->tile_at[i] + done % p->period[i];
    if (!is_float(&p->code[i])) {
        float x;
        tg_convert_load(&p->code[i], from + done * stride * size_of(&p->code[i]), stride,
                        stride ? n : 1, stride ? reg : &x);
        if (!stride) repeat(x, n, reg);
        return reg;
    }
    if (stride == 1) return at + done;
    if (stride == 0) {
        repeat(*at, n, reg);
    } else {
        for (int k = 0; k < n; k++) reg[k] = at[(done + k) * stride];
    }
    return reg;
}

static void output_block(const tg_vector *p, int i, char *to, int64_t done, int n, const float *reg)
{
    int64_t stride = p->stride[i][p->rank - 1];
    float *at = (float *)to;
    if (!is_float(&p->code[i])) {
        tg_convert_store(&p->code[i], reg, n, to + done * stride * size_of(&p->code[i]), stride);
        return;
    }
    if (reg == at + done) return;
    if (stride == 1) memcpy(at + done, reg, sizeof(float) * (size_t)n);
    else
        for (int k = 0; k < n; k++) at[(done + k) * stride] = reg[k];
}

typedef struct registers {
    float block[TG_VECTOR_REGISTERS][TG_VECTOR_BLOCK] __attribute__((aligned(64)));
} registers;

/* The innermost axis, from the operands' places `at`. */
static void run_row(const tg_vector *p, program_fn fn, char *const *at, const float *tiles,
                    registers *r)
{
    const float *in[TG_VECTOR_REGISTERS];
    float *to[TG_VECTOR_REGISTERS];
    int64_t length = p->dim[p->rank - 1];
    for (int64_t done = 0; done < length; done += TG_VECTOR_BLOCK) {
        int n = length - done < TG_VECTOR_BLOCK ? (int)(length - done) : TG_VECTOR_BLOCK;
        for (int i = 0; i < p->n_registers; i++) in[i] = to[i] = r->block[i];
        for (int i = 0; i < p->n_in; i++)
            in[i] = input_block(p, i, at[i], tiles, done, n, r->block[i]);
        for (int i = 0; i < p->n_out; i++)
            if (n % 16 == 0 && p->stride[p->n_in + i][p->rank - 1] == 1 && p->out[i] >= p->n_in &&
                is_float(&p->code[p->n_in + i]))
                in[p->out[i]] = to[p->out[i]] = (float *)at[p->n_in + i] + done;
        fn(p, in, to, (n + 15) / 16);
        for (int i = 0; i < p->n_out; i++)
            output_block(p, p->n_in + i, at[p->n_in + i], done, n, in[p->out[i]]);
    }
}

/* Rows too short to be run each by itself: several go through the program together. */
enum { SHORT_ROW = 16 };

static bool has_short_rows(const tg_vector *p)
{
    int inner = p->rank - 1;
    if (p->rank < 2 || p->dim[inner] > SHORT_ROW || p->dim[inner - 1] < 2) return false;
    for (int i = 0; i < p->n_in + p->n_out; i++)
        if (p->period[i]) return false;
    return true;
}

/* Elements that lie `step` apart, in rows that lie `row` apart, behind each other; or back. */
static void move_rows(bool back, float *at, int64_t row, int64_t step, int64_t rows, int64_t n,
                      float *reg)
{
    if (n == 2 && step == 1) {
        for (int64_t r = 0; r < rows; r++, at += row, reg += 2)
            memcpy(back ? at : reg, back ? reg : at, 2 * sizeof *at);
        return;
    }
    for (int64_t r = 0; r < rows; r++, at += row, reg += n)
        for (int64_t k = 0; k < n; k++)
            if (back) at[k * step] = reg[k];
            else reg[k] = at[k * step];
}

/* Elements of `size` bytes; the steps are in elements. */
static void move_bytes(bool back, char *at, int64_t row, int64_t step, int64_t rows, int64_t n,
                       size_t size, char *block)
{
    for (int64_t r = 0; r < rows; r++, at += row * (int64_t)size)
        for (int64_t k = 0; k < n; k++, block += size) {
            char *one = at + k * step * (int64_t)size;
            if (size == 1) *(back ? one : block) = *(back ? block : one);
            else memcpy(back ? one : block, back ? block : one, size);
        }
}

/* Rows of an operand of any type, from (or, back, to) a register. */
static void move_operand(const tg_vector *p, int i, bool back, char *at, int64_t done, int64_t rows,
                         float *reg)
{
    const tg_code *code = &p->code[i];
    int64_t n = p->dim[p->rank - 1], row = p->stride[i][p->rank - 2];
    int64_t step = p->stride[i][p->rank - 1];
    char block[(TG_VECTOR_BLOCK + 16) * 8];
    at += done * row * size_of(code);
    if (is_float(code)) {
        move_rows(back, (float *)(void *)at, row, step, rows, n, reg);
        return;
    }
    if (back) tg_convert_store(code, reg, (int)(rows * n), block, 1);
    move_bytes(back, at, row, step, rows, n, (size_t)size_of(code), block);
    if (!back) tg_convert_load(code, block, 1, (int)(rows * n), reg);
}

/* The two innermost axes. */
static void run_short_rows(const tg_vector *p, program_fn fn, char *const *at, registers *r)
{
    const float *in[TG_VECTOR_REGISTERS];
    float *to[TG_VECTOR_REGISTERS];
    int inner = p->rank - 1, outer = p->rank - 2;
    int64_t n = p->dim[inner], together = TG_VECTOR_BLOCK / n;
    for (int i = 0; i < p->n_registers; i++) in[i] = to[i] = r->block[i];
    for (int64_t done = 0; done < p->dim[outer]; done += together) {
        int64_t rows = p->dim[outer] - done < together ? p->dim[outer] - done : together;
        for (int i = 0; i < p->n_in; i++) move_operand(p, i, false, at[i], done, rows, r->block[i]);
        fn(p, in, to, (int)((rows * n + 15) / 16));
        for (int i = 0; i < p->n_out; i++)
            move_operand(p, p->n_in + i, true, at[p->n_in + i], done, rows, r->block[p->out[i]]);
    }
}

static void run_axis(const tg_vector *p, program_fn fn, int axis, char *const *at,
                     const float *tiles, registers *r)
{
    char *here[TG_VECTOR_OPERANDS];
    int n = p->n_in + p->n_out;
    if (axis == p->rank - 2 && has_short_rows(p)) {
        run_short_rows(p, fn, at, r);
        return;
    }
    if (axis == p->rank - 1) {
        run_row(p, fn, at, tiles, r);
        return;
    }
    memcpy(here, at, sizeof *here * (size_t)n);
    for (int64_t i = 0; i < p->dim[axis]; i++) {
        run_axis(p, fn, axis + 1, here, tiles, r);
        for (int k = 0; k < n; k++) here[k] += p->stride[k][axis] * size_of(&p->code[k]);
    }
}

static float element(const tg_vector *p, int i, const void *from, int64_t at)
{
    const tg_code *code = &p->code[i];
    float x;
    if (is_float(code)) return ((const float *)from)[at];
    tg_convert_load(code, (const char *)from + at * size_of(code), 0, 1, &x);
    return x;
}

void tg_vector_run(const tg_vector *p, void *const *operand, float *tiles)
{
    registers r;
    for (int i = 0; i < p->n_in; i++) {
        if (!p->period[i]) continue;
        float *tile = tiles + p->tile_at[i];
        int64_t n = p->period[i] + TG_VECTOR_BLOCK + 16;
        for (int64_t k = 0, from = 0; k < n; k++) {
            tile[k] = element(p, i, operand[i], from);
            if (++from == p->period[i]) from = 0;
        }
    }
    run_axis(p, best(), 0, (char *const *)operand, tiles, &r);
}

static bool joins(const tg_vector *p, int outer, int inner, int64_t dim, int operands)
{
    for (int i = 0; i < operands; i++)
        if (p->stride[i][outer] != p->stride[i][inner] * dim) return false;
    return true;
}

/* Merges the two innermost axes if each operand either runs through both or repeats. */
static void merge_periodic(tg_vector *p)
{
    int inner = p->rank - 1, outer = p->rank - 2, n = p->n_in + p->n_out;
    if (p->rank < 2 || p->dim[inner] > 4096) return;
    for (int i = 0; i < n; i++) {
        int64_t o = p->stride[i][outer], s = p->stride[i][inner];
        bool through = s == 1 && o == p->dim[inner], scalar = !s && !o;
        bool repeats = s == 1 && o == 0 && i < p->n_in;
        if (!through && !scalar && !repeats) return;
    }
    for (int i = 0; i < n; i++) {
        if (p->stride[i][inner] == 1 && p->stride[i][outer] == 0) {
            p->period[i] = p->dim[inner];
            p->tile_at[i] = p->tiles;
            p->tiles += (p->dim[inner] + TG_VECTOR_BLOCK + 31) / 16 * 16;
        }
    }
    p->dim[outer] *= p->dim[inner];
    for (int i = 0; i < n; i++) p->stride[i][outer] = p->stride[i][inner];
    p->rank--;
}

void tg_vector_collapse(tg_vector *p, int rank, const int *axes)
{
    tg_vector q = *p;
    int n = p->n_in + p->n_out;
    q.rank = 0;
    for (int k = 0; k < rank; k++) {
        int axis = axes[k];
        if (p->dim[axis] == 1) continue;
        for (int i = 0; i < n; i++) q.stride[i][q.rank] = p->stride[i][axis];
        q.dim[q.rank] = p->dim[axis];
        if (q.rank && joins(&q, q.rank - 1, q.rank, q.dim[q.rank], n)) {
            for (int i = 0; i < n; i++) q.stride[i][q.rank - 1] = q.stride[i][q.rank];
            q.dim[q.rank - 1] *= q.dim[q.rank];
        } else {
            q.rank++;
        }
    }
    if (!q.rank) {
        q.rank = 1;
        q.dim[0] = 1;
        for (int i = 0; i < n; i++) q.stride[i][0] = 1;
    }
    *p = q;
    /* A periodic operand must not move with the outer axes, which its tile does not follow. */
    bool outer_moves = false;
    for (int i = 0; i < p->n_in; i++)
        for (int k = 0; k + 2 < p->rank; k++)
            if (p->stride[i][p->rank - 2] == 0 && p->stride[i][p->rank - 1] == 1 && p->stride[i][k])
                outer_moves = true;
    if (!outer_moves) merge_periodic(p);
}
