/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Element-wise programs: a few operations applied to every element of some tensors in one pass. A
 * block of elements goes through the whole program while it is in the first-level cache. The code
 * exists for AVX-512, for AVX2 and for any processor; the machine's best runs.
 */
#ifndef TG_EXEC_CPU_VECTOR_H
#define TG_EXEC_CPU_VECTOR_H

#include "convert.h"

typedef enum tg_vector_code {
#define VECTOR(id, inputs) TG_V_##id,
#include "vector.def"
#undef VECTOR
    TG_V_CODES
} tg_vector_code;

enum {
    TG_VECTOR_BLOCK = 256, /* elements that go through the program together */
    TG_VECTOR_REGISTERS = 16,
    TG_VECTOR_OPERANDS = 12,
    TG_VECTOR_OPS = 40
};

typedef struct tg_vector_op {
    uint8_t code, to, a, b; /* registers; an input's register is its number */
    float k0, k1;
} tg_vector_op;

/*
 * Invariants: operands are n_in inputs, then n_out outputs; axis rank-1 runs fastest. An input of
 * period > 0 repeats along the merged innermost axis: its element i is that of i % period.
 */
typedef struct tg_vector {
    int n_in, n_out, n_ops, n_registers;
    tg_vector_op ops[TG_VECTOR_OPS];
    uint8_t out[TG_VECTOR_OPERANDS];  /* register of each output */
    tg_code code[TG_VECTOR_OPERANDS]; /* of each operand; dtype none: floats */
    int rank;
    int64_t dim[TG_MAX_RANK];
    int64_t stride[TG_VECTOR_OPERANDS][TG_MAX_RANK]; /* in elements */
    int64_t period[TG_VECTOR_OPERANDS];
    int64_t tile_at[TG_VECTOR_OPERANDS]; /* of a periodic input, in `tiles`, in elements */
    int64_t tiles;                       /* elements of scratch space for them */
} tg_vector;

/* Operations an element needs to be worth a look: the cost of one block. */
void tg_vector_run(const tg_vector *program, void *const *operand, float *tiles);

/* Applies one operation to n elements; a and b may be NULL where it has none. For tests. */
void tg_vector_apply(const tg_vector_op *op, const float *a, const float *b, float *to, int n);

/* Applies an instruction without constants in place; up to 15 elements behind the n-th, too. */
void tg_vector_map(int code, float *x, int64_t n);

/* Merges axes; `axes` orders them from outermost to innermost. To be called once, after shape and
 * strides of all operands are in program->dim and program->stride by axis. */
void tg_vector_collapse(tg_vector *program, int rank, const int *axes);

#endif
