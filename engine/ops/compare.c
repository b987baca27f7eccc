/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons, logic, bits, and the choice between two inputs. */
#include "eltwise.h"
#include "engine/ir/value.h"

#include <string.h>

tg_status infer_compare(tg_infer *infer)
{
    TG_TRY(infer_broadcast(infer));
    infer->out[0].dtype = TG_BOOL;
    return TG_OK;
}

tg_status infer_where(tg_infer *infer)
{
    if (infer->in[0].dtype != TG_BOOL)
        return tg_fail(TG_TYPE, "the condition is %s, not bool", tg_dtype_name(infer->in[0].dtype));
    if (infer->in[1].dtype != infer->in[2].dtype)
        return tg_fail(TG_TYPE, "element types %s and %s differ", tg_dtype_name(infer->in[1].dtype),
                       tg_dtype_name(infer->in[2].dtype));
    tg_shape shape;
    TG_TRY(tg_shape_broadcast(&infer->in[1].shape, &infer->in[2].shape, &shape));
    infer->out[0].dtype = infer->in[1].dtype;
    return tg_shape_broadcast(&infer->in[0].shape, &shape, &infer->out[0].shape);
}

/* Only whether strings are equal is asked. */
static void equal_STR(const void *a, int64_t step_a, const void *b, int64_t step_b, void *y,
                      int64_t n)
{
    const tg_string *s = a, *t = b;
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)y)[i] = tg_string_equal(&s[i * step_a], &t[i * step_b]);
}

#define NO_STRINGS
#define COMPARISON(op, expr, strings)                                                              \
    TG_EACH_FLOAT(TG_ROW2_TEST, op, expr)                                                          \
    TG_EACH_INT(TG_ROW2_TEST, op, expr)                                                            \
    TG_ROW2_TEST(op, BOOL, uint8_t, expr)                                                          \
    static tg_rows2 op##_rows = {TG_ROWS_OF_FLOATS(op),                                            \
                                 TG_ROWS_OF_INTS(op), [TG_BOOL] = op##_BOOL, strings};             \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        return tg_eltwise_binary(call, op##_rows);                                                 \
    }

COMPARISON(equal, a == b, [TG_STR] = equal_STR)
COMPARISON(greater, a > b, NO_STRINGS)
COMPARISON(greater_or_equal, a >= b, NO_STRINGS)
COMPARISON(less, a < b, NO_STRINGS)
COMPARISON(less_or_equal, a <= b, NO_STRINGS)

#define LOGIC(op, expr)                                                                            \
    TG_ROW2_TEST(op, BOOL, uint8_t, expr)                                                          \
    static tg_rows2 op##_rows = {[TG_BOOL] = op##_BOOL};                                           \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        return tg_eltwise_binary(call, op##_rows);                                                 \
    }

LOGIC(and, a &&b)
LOGIC(or, a || b)
LOGIC(xor, !a != !b)

#define BITS(op, expr)                                                                             \
    TG_EACH_INT(TG_ROW2, op, expr)                                                                 \
    static tg_rows2 op##_rows = {TG_ROWS_OF_INTS(op)};

#define BITWISE(op, expr)                                                                          \
    BITS(op, expr)                                                                                 \
    tg_status kernel_##op(tg_call *call)                                                           \
    {                                                                                              \
        return tg_eltwise_binary(call, op##_rows);                                                 \
    }

BITWISE(bitwise_and, a &b)
BITWISE(bitwise_or, a | b)
BITWISE(bitwise_xor, a ^ b)

/*
 * A shift by less than 0 or by the width and more leaves nothing but copies of the sign, which a
 * shift to the right fills up with.
 */
BITS(shiftleft, (uint64_t)b < 64 ? (uint64_t)a << b : 0)
TG_EACH_SIGNED(TG_ROW2, shiftright, (int64_t)a >> ((uint64_t)b < 64 ? b : 63))
TG_EACH_UNSIGNED(TG_ROW2, shiftright, b < 64 ? (uint64_t)a >> b : 0)
static tg_rows2 shiftright_rows = {TG_ROWS_OF_INTS(shiftright)};

tg_status kernel_bit_shift(tg_call *call)
{
    const char *direction = call_attr(call, "direction")->s;
    if (strcmp(direction, "LEFT") == 0) return tg_eltwise_binary(call, shiftleft_rows);
    if (strcmp(direction, "RIGHT") == 0) return tg_eltwise_binary(call, shiftright_rows);
    return tg_fail(TG_INVALID, "direction is %s, not LEFT or RIGHT", direction);
}

typedef struct pair {
    uint64_t a, b;
} pair;

/* By a mask: what is chosen is rarely foreseen. */
#define CHOOSE(T)                                                                                  \
    {                                                                                              \
        const T *x = tg_element_at(&call->in[1], b->at[1]);                                        \
        const T *z = tg_element_at(&call->in[2], b->at[2]);                                        \
        T *y = tg_element_at(&call->out[0], b->to);                                                \
        for (int64_t i = 0; i < b->n; i++)                                                         \
            y[i] = PICK(T, c[i * b->step[0]], x[i * b->step[1]], z[i * b->step[2]]);               \
        break;                                                                                     \
    }
#define PICK(T, c, a, b) ((T)(((a) & (T)(0 - (T)((c) != 0))) | ((b) & (T)((T)((c) != 0) - 1))))

static void choose_pairs(tg_call *call, const tg_broadcast *b, const uint8_t *c)
{
    const pair *x = tg_element_at(&call->in[1], b->at[1]);
    const pair *z = tg_element_at(&call->in[2], b->at[2]);
    pair *y = tg_element_at(&call->out[0], b->to);
    for (int64_t i = 0; i < b->n; i++)
        y[i] = c[i * b->step[0]] ? x[i * b->step[1]] : z[i * b->step[2]];
}

static void choose_row(tg_call *call, const tg_broadcast *b)
{
    const uint8_t *c = tg_element_at(&call->in[0], b->at[0]);
    switch (tg_dtype_size(call->out[0].dtype)) {
    case 1: CHOOSE(uint8_t)
    case 2: CHOOSE(uint16_t)
    case 4: CHOOSE(uint32_t)
    case 8: CHOOSE(uint64_t)
    default: choose_pairs(call, b, c);
    }
}

tg_status kernel_where(tg_call *call)
{
    TG_TRY(tg_element_movable(call->out[0].dtype));
    const tg_shape *shapes[] = {&call->in[0].shape, &call->in[1].shape, &call->in[2].shape};
    tg_broadcast b;
    for (tg_broadcast_start(&b, &call->out[0].shape, shapes, 3); b.rows; tg_broadcast_next(&b))
        choose_row(call, &b);
    return TG_OK;
}
