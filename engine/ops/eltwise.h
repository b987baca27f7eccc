/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What element-wise operators share: loops over rows of one type, run over whole tensors. Half
 * precision is computed in float and rounded once.
 */
#ifndef TG_OPS_ELTWISE_H
#define TG_OPS_ELTWISE_H

#include "broadcast.h"
#include "element.h"
#include "rows.h"

/* y[i] = f(x[i]) for n elements; p are the operator's parameters. */
typedef void (*tg_row1)(const void *x, void *y, int64_t n, const double *p);
/* y[i] = f(a[i * step_a], b[i * step_b]); y may be a if step_a is 1. */
typedef void (*tg_row2)(const void *a, int64_t step_a, const void *b, int64_t step_b, void *y,
                        int64_t n);

/* One loop a type; NULL: not defined for it. Halves use the loop of float. */
typedef const tg_row1 tg_rows1[TG_DTYPE_COUNT];
typedef const tg_row2 tg_rows2[TG_DTYPE_COUNT];

/* Output 0 from input 0. Errors: TG_UNSUPPORTED (type). */
tg_status tg_eltwise_unary(tg_call *call, tg_rows1 rows, const double *p) TG_MUST_USE;
/* Output 0 from inputs 0 and 1, which broadcast to its shape. Errors: TG_UNSUPPORTED (type). */
tg_status tg_eltwise_binary(tg_call *call, tg_rows2 rows) TG_MUST_USE;
/* y from a and b; y may be a. */
tg_status tg_eltwise_pair(const tg_tensor *a, const tg_tensor *b, tg_tensor *y,
                          tg_rows2 rows) TG_MUST_USE;

/* Applies X(op, type code, C type, expression) to each integer type. */
#define TG_EACH_SIGNED(X, op, expr)                                                                \
    X(op, I8, int8_t, expr)                                                                        \
    X(op, I16, int16_t, expr)                                                                      \
    X(op, I32, int32_t, expr)                                                                      \
    X(op, I64, int64_t, expr)
#define TG_EACH_UNSIGNED(X, op, expr)                                                              \
    X(op, U8, uint8_t, expr)                                                                       \
    X(op, U16, uint16_t, expr)                                                                     \
    X(op, U32, uint32_t, expr)                                                                     \
    X(op, U64, uint64_t, expr)
#define TG_EACH_INT(X, op, expr)                                                                   \
    TG_EACH_SIGNED(X, op, expr)                                                                    \
    TG_EACH_UNSIGNED(X, op, expr)

#define TG_EACH_FLOAT(X, op, expr)                                                                 \
    X(op, F32, float, expr)                                                                        \
    X(op, F64, double, expr)

/* A tg_row1 called op_CODE; the expression sees x (of the type) and p. */
#define TG_ROW1_TO(op, code, T, R, expr)                                                           \
    static void op##_##code(const void *px, void *py, int64_t n, const double *p)                  \
    {                                                                                              \
        const T *xs = px;                                                                          \
        R *y = py;                                                                                 \
        (void)p;                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T x = xs[i];                                                                           \
            y[i] = (R)(expr);                                                                      \
        }                                                                                          \
    }
#define TG_ROW1(op, code, T, expr) TG_ROW1_TO(op, code, T, T, expr)

/* A tg_row2 called op_CODE; the expression sees a and b. */
#define TG_ROW2_TO(op, code, T, R, expr)                                                           \
    static void op##_##code(const void *pa, int64_t sa, const void *pb, int64_t sb, void *py,      \
                            int64_t n)                                                             \
    {                                                                                              \
        const T *as = pa, *bs = pb;                                                                \
        R *y = py;                                                                                 \
        if (sa == 1 && sb == 1) {                                                                  \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T a = as[i], b = bs[i];                                                            \
                y[i] = (R)(expr);                                                                  \
            }                                                                                      \
        } else if (sb == 0) {                                                                      \
            T b = n ? bs[0] : 0;                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T a = as[i * sa];                                                                  \
                y[i] = (R)(expr);                                                                  \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T a = as[i * sa], b = bs[i * sb];                                                  \
                y[i] = (R)(expr);                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define TG_ROW2(op, code, T, expr) TG_ROW2_TO(op, code, T, T, expr)
#define TG_ROW2_TEST(op, code, T, expr) TG_ROW2_TO(op, code, T, uint8_t, expr)

#define TG_ROWS_OF_INTS(op)                                                                        \
    [TG_I8] = op##_I8, [TG_U8] = op##_U8, [TG_I16] = op##_I16, [TG_U16] = op##_U16,                \
    [TG_I32] = op##_I32, [TG_U32] = op##_U32, [TG_I64] = op##_I64, [TG_U64] = op##_U64
#define TG_ROWS_OF_FLOATS(op) [TG_F32] = op##_F32, [TG_F64] = op##_F64

#endif
