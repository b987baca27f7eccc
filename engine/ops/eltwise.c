/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators: types, the loops over tensors, arithmetic of two and more inputs. */
#include "eltwise.h"

#include <math.h>
#include <stdlib.h>

tg_status infer_same(tg_infer *infer)
{
    infer->out[0] = infer->in[0];
    return TG_OK;
}

tg_status infer_broadcast(tg_infer *infer)
{
    infer->out[0].dtype = infer->in[0].dtype;
    tg_shape shape = infer->in[0].shape;
    for (int i = 1; i < infer->n_in; i++) {
        if (infer->in[i].dtype != infer->in[0].dtype)
            return tg_fail(TG_TYPE, "element types %s and %s differ",
                           tg_dtype_name(infer->in[0].dtype), tg_dtype_name(infer->in[i].dtype));
        TG_TRY(tg_shape_broadcast(&shape, &infer->in[i].shape, &shape));
    }
    infer->out[0].shape = shape;
    return TG_OK;
}

tg_status infer_pow(tg_infer *infer)
{
    infer->out[0].dtype = infer->in[0].dtype;
    return tg_shape_broadcast(&infer->in[0].shape, &infer->in[1].shape, &infer->out[0].shape);
}

void work_view(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
               tg_work *work)
{
    (void)attr, (void)in, (void)n_in, (void)out, (void)n_out;
    *work = (tg_work){0};
}

static tg_status no_loop(tg_dtype t)
{
    return tg_fail(TG_UNSUPPORTED, "not defined for elements of type %s", tg_dtype_name(t));
}

tg_status tg_eltwise_unary(tg_call *call, tg_rows1 rows, const double *p)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    int64_t n = tg_tensor_count(x);
    if (!tg_element_half(x->dtype)) {
        if (!rows[x->dtype]) return no_loop(x->dtype);
        rows[x->dtype](x->data, y->data, n, p);
        return TG_OK;
    }
    if (!rows[TG_F32]) return no_loop(x->dtype);
    bool wide = tg_element_half(y->dtype);
    float in[TG_BLOCK], out[TG_BLOCK];
    for (int64_t at = 0; at < n; at += TG_BLOCK) {
        int64_t m = n - at < TG_BLOCK ? n - at : TG_BLOCK;
        tg_element_load_f32(x, at, 1, m, in);
        rows[TG_F32](in, wide ? (void *)out : tg_element_at(y, at), m, p);
        if (wide) tg_element_store_f32(y, at, m, out);
    }
    return TG_OK;
}

/* One row of halves; the results stay halves, or are what the loop of float writes (bool). */
static void half_row(const tg_broadcast *b, const tg_tensor *x0, const tg_tensor *x1, tg_tensor *y,
                     tg_row2 row)
{
    float a[TG_BLOCK], c[TG_BLOCK], out[TG_BLOCK];
    bool wide = tg_element_half(y->dtype);
    for (int64_t at = 0; at < b->n; at += TG_BLOCK) {
        int64_t m = b->n - at < TG_BLOCK ? b->n - at : TG_BLOCK;
        tg_element_load_f32(x0, b->at[0] + at * b->step[0], b->step[0], m, a);
        tg_element_load_f32(x1, b->at[1] + at * b->step[1], b->step[1], m, c);
        row(a, 1, c, 1, wide ? (void *)out : tg_element_at(y, b->to + at), m);
        if (wide) tg_element_store_f32(y, b->to + at, m, out);
    }
}

tg_status tg_eltwise_pair(const tg_tensor *x0, const tg_tensor *x1, tg_tensor *y, tg_rows2 rows)
{
    bool half = tg_element_half(x0->dtype);
    tg_row2 row = rows[half ? TG_F32 : x0->dtype];
    if (!row) return no_loop(x0->dtype);
    const tg_shape *shapes[] = {&x0->shape, &x1->shape};
    tg_broadcast b;
    for (tg_broadcast_start(&b, &y->shape, shapes, 2); b.rows; tg_broadcast_next(&b)) {
        if (half) half_row(&b, x0, x1, y, row);
        else
            row(tg_element_at(x0, b.at[0]), b.step[0], tg_element_at(x1, b.at[1]), b.step[1],
                tg_element_at(y, b.to), b.n);
    }
    return TG_OK;
}

tg_status tg_eltwise_binary(tg_call *call, tg_rows2 rows)
{
    return tg_eltwise_pair(&call->in[0], &call->in[1], &call->out[0], rows);
}

/* Integers wrap: they are computed as unsigned numbers of 64 bits. */
#define WRAP(x) ((uint64_t)(x))

#define ARITHMETIC(op, for_float, for_signed, for_unsigned)                                        \
    TG_EACH_FLOAT(TG_ROW2, op, for_float)                                                          \
    TG_EACH_SIGNED(TG_ROW2, op, for_signed)                                                        \
    TG_EACH_UNSIGNED(TG_ROW2, op, for_unsigned)                                                    \
    static tg_rows2 op##_rows = {TG_ROWS_OF_FLOATS(op), TG_ROWS_OF_INTS(op)};                      \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        return tg_eltwise_binary(call, op##_rows);                                                 \
    }

/* By 0 gives 0; the least number by -1 wraps to itself. */
static inline int64_t quotient(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - WRAP(a)) : a / b;
}

/* The sign is that of a; by 0 gives 0. */
static inline int64_t remainder_of(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

/* The sign is that of b, as Python has it. */
static inline int64_t modulo_of(int64_t a, int64_t b)
{
    int64_t r = remainder_of(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

ARITHMETIC(add, a + b, WRAP(a) + WRAP(b), WRAP(a) + WRAP(b))
ARITHMETIC(sub, a - b, WRAP(a) - WRAP(b), WRAP(a) - WRAP(b))
ARITHMETIC(mul, a *b, WRAP(a) * WRAP(b), WRAP(a) * WRAP(b))
ARITHMETIC(div, a / b, quotient(a, b), b == 0 ? 0 : a / b)

/* The same for floats: by an infinity it is that, if the signs differ; a zero has the sign of b. */
static inline double float_modulo(double a, double b)
{
    double r = fmod(a, b);
    if (r == 0) return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

TG_EACH_SIGNED(TG_ROW2, modulo, modulo_of(a, b))
TG_EACH_UNSIGNED(TG_ROW2, modulo, b == 0 ? 0 : a % b)
TG_EACH_FLOAT(TG_ROW2, modulo, float_modulo(a, b))
static tg_rows2 modulo_rows = {TG_ROWS_OF_FLOATS(modulo), TG_ROWS_OF_INTS(modulo)};
TG_EACH_SIGNED(TG_ROW2, remainder, remainder_of(a, b))
TG_EACH_UNSIGNED(TG_ROW2, remainder, b == 0 ? 0 : a % b)
TG_EACH_FLOAT(TG_ROW2, remainder, fmod(a, b))
static tg_rows2 remainder_rows = {TG_ROWS_OF_FLOATS(remainder), TG_ROWS_OF_INTS(remainder)};

tg_status kernel_mod(tg_call *call)
{
    return tg_eltwise_binary(call, call_attr(call, "fmod")->i ? remainder_rows : modulo_rows);
}

/* A NaN in either operand is the result. */
TG_EACH_FLOAT(TG_ROW2, max, a > b || isnan(a) ? a : b)
TG_EACH_INT(TG_ROW2, max, a > b ? a : b)
static tg_rows2 max_rows = {TG_ROWS_OF_FLOATS(max), TG_ROWS_OF_INTS(max)};
TG_EACH_FLOAT(TG_ROW2, min, a < b || isnan(a) ? a : b)
TG_EACH_INT(TG_ROW2, min, a < b ? a : b)
static tg_rows2 min_rows = {TG_ROWS_OF_FLOATS(min), TG_ROWS_OF_INTS(min)};

static tg_status extreme(tg_call *call, tg_rows2 rows)
{
    const tg_tensor *first = &call->in[0];
    TG_TRY(tg_eltwise_pair(first, call->n_in > 1 ? &call->in[1] : first, &call->out[0], rows));
    for (int i = 2; i < call->n_in; i++)
        TG_TRY(tg_eltwise_pair(&call->out[0], &call->in[i], &call->out[0], rows));
    return TG_OK;
}

tg_status kernel_max(tg_call *call)
{
    return extreme(call, max_rows);
}

tg_status kernel_min(tg_call *call)
{
    return extreme(call, min_rows);
}

/* Adds an operand, broadcast, to the sums. */
static void sum_add(const tg_tensor *x, const tg_shape *to, double *sum)
{
    const tg_shape *shapes[] = {&x->shape};
    double v[TG_BLOCK];
    tg_broadcast b;
    for (tg_broadcast_start(&b, to, shapes, 1); b.rows; tg_broadcast_next(&b))
        for (int64_t at = 0; at < b.n; at += TG_BLOCK) {
            int64_t m = b.n - at < TG_BLOCK ? b.n - at : TG_BLOCK;
            tg_element_load_f64(x, b.at[0] + at * b.step[0], b.step[0], m, v);
            for (int64_t i = 0; i < m; i++) sum[b.to + at + i] += v[i];
        }
}

static tg_status sum_all(tg_call *call, double divisor)
{
    tg_tensor *y = &call->out[0];
    if (!tg_element_float(y->dtype)) return no_loop(y->dtype);
    int64_t n = tg_tensor_count(y);
    double *sum = tg_calloc((size_t)n + 1, sizeof *sum);
    for (int i = 0; i < call->n_in; i++) sum_add(&call->in[i], &y->shape, sum);
    for (int64_t i = 0; i < n && divisor != 1; i++) sum[i] /= divisor;
    tg_element_store_f64(y, 0, n, sum);
    free(sum);
    return TG_OK;
}

tg_status kernel_sum(tg_call *call)
{
    return sum_all(call, 1);
}

tg_status kernel_mean(tg_call *call)
{
    return sum_all(call, call->n_in);
}

/* Integer power, wrapping; of negative exponents, what is left of 1 / base^-exponent. */
static int64_t integer_power(int64_t base, int64_t exponent)
{
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)base;
    for (uint64_t e = (uint64_t)exponent; e; e >>= 1, square *= square)
        if (e & 1) result *= square;
    return (int64_t)result;
}

static void power_block(const tg_call *call, const tg_broadcast *b, int64_t at, int64_t m)
{
    const tg_tensor *x = &call->in[0], *e = &call->in[1];
    tg_tensor *y = &call->out[0];
    int64_t from = b->at[0] + at * b->step[0], exponent = b->at[1] + at * b->step[1];
    if (tg_element_float(x->dtype) || tg_element_float(e->dtype)) {
        double u[TG_BLOCK], v[TG_BLOCK];
        tg_element_load_f64(x, from, b->step[0], m, u);
        tg_element_load_f64(e, exponent, b->step[1], m, v);
        for (int64_t i = 0; i < m; i++) u[i] = pow(u[i], v[i]);
        tg_element_store_f64(y, b->to + at, m, u);
        return;
    }
    int64_t u[TG_BLOCK], v[TG_BLOCK];
    tg_element_load_i64(x, from, b->step[0], m, u);
    tg_element_load_i64(e, exponent, b->step[1], m, v);
    for (int64_t i = 0; i < m; i++) u[i] = integer_power(u[i], v[i]);
    tg_element_store_i64(y, b->to + at, m, u);
}

tg_status kernel_pow(tg_call *call)
{
    TG_TRY(tg_element_numeric(call->in[0].dtype));
    TG_TRY(tg_element_numeric(call->in[1].dtype));
    const tg_shape *shapes[] = {&call->in[0].shape, &call->in[1].shape};
    tg_broadcast b;
    for (tg_broadcast_start(&b, &call->out[0].shape, shapes, 2); b.rows; tg_broadcast_next(&b))
        for (int64_t at = 0; at < b.n; at += TG_BLOCK)
            power_block(call, &b, at, b.n - at < TG_BLOCK ? b.n - at : TG_BLOCK);
    return TG_OK;
}
