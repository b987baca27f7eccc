/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types, shapes, types of values, and tensors. */
#ifndef TG_IR_TYPE_H
#define TG_IR_TYPE_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The numbers are those of ONNX's TensorProto.DataType. */
typedef enum tg_dtype {
    TG_DTYPE_NONE = 0,
#define DTYPE(id, code, name, size, kind) TG_##id = code,
#include "dtype.def"
#undef DTYPE
    TG_DTYPE_COUNT
} tg_dtype;

/*
 * Sequences and optionals are element types too: that of their tensors with one of these bits set,
 * or both (an optional sequence). Their shape is unknown (list.h).
 */
enum { TG_SEQ = 0x100, TG_OPT = 0x200 };

const char *tg_dtype_name(tg_dtype t);    /* "float", "seq(float)"; "?" if unknown */
size_t tg_dtype_size(tg_dtype t);         /* bytes; 0 if unknown or a list */
char tg_dtype_kind(tg_dtype t);           /* f i u b s c q; 0 if unknown or a list */
tg_dtype tg_dtype_find(const char *name); /* TG_DTYPE_NONE if absent */
int tg_dtype_bits(tg_dtype t);            /* of an element in a file; 0 if unknown */

/* Is it a sequence or an optional? */
static inline bool tg_dtype_is_list(tg_dtype t)
{
    return ((unsigned)t & (TG_SEQ | TG_OPT)) != 0;
}
/* The type of sequences, or of optionals, of t; TG_DTYPE_NONE of what is unknown. */
static inline tg_dtype tg_dtype_seq(tg_dtype t)
{
    return t ? (tg_dtype)((unsigned)t | TG_SEQ) : TG_DTYPE_NONE;
}
static inline tg_dtype tg_dtype_opt(tg_dtype t)
{
    return t ? (tg_dtype)((unsigned)t | TG_OPT) : TG_DTYPE_NONE;
}
/* What a list of this type holds: of optional sequences, sequences. */
static inline tg_dtype tg_dtype_item(tg_dtype t)
{
    return (tg_dtype)((unsigned)t & ((unsigned)t & TG_OPT ? ~(unsigned)TG_OPT : ~(unsigned)TG_SEQ));
}

enum { TG_MAX_RANK = 8 };

/*
 * Invariants: rank is -1 (unknown) or 0..TG_MAX_RANK; each used dim is -1 (unknown) or >= 0; unused
 * dims are 0, so that shapes may be compared and hashed as bytes.
 */
typedef struct tg_shape {
    int64_t rank;
    int64_t dim[TG_MAX_RANK];
} tg_shape;

#define TG_SHAPE_UNKNOWN ((tg_shape){.rank = -1})

/* tg_shape_of(2, 3): the shape [2,3]; tg_shape_from copies `rank` dims. */
#define tg_shape_of(...)                                                                           \
    tg_shape_from((const int64_t[]){__VA_ARGS__},                                                  \
                  (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
tg_shape tg_shape_from(const int64_t *dims, int rank);
bool tg_shape_equal(const tg_shape *a, const tg_shape *b);
bool tg_shape_complete(const tg_shape *s); /* rank and all dims known */
/* Number of elements (1 for rank 0); the shape must be complete. Saturates at INT64_MAX. */
int64_t tg_shape_count(const tg_shape *s);
/* "1x3x224x224", "scalar", "?"; into buf of TG_SHAPE_TEXT bytes; returns buf. */
enum { TG_SHAPE_TEXT = 176 };
char *tg_shape_text(char *buf, const tg_shape *s);
/* The numpy-style broadcast of a and b. Errors: TG_SHAPE. Complete shapes only. */
tg_status tg_shape_broadcast(const tg_shape *a, const tg_shape *b, tg_shape *out) TG_MUST_USE;

typedef struct tg_type {
    tg_dtype dtype; /* TG_DTYPE_NONE: absent or unknown */
    tg_shape shape;
} tg_type;

bool tg_type_equal(const tg_type *a, const tg_type *b);
bool tg_type_complete(const tg_type *t);
/* The shape as text, of lists what they are: "seq(float)"; into buf of TG_SHAPE_TEXT bytes. */
char *tg_type_text(char *buf, const tg_type *t);
/* Bytes of a value of this complete type. */
int64_t tg_type_bytes(const tg_type *t);
/*
 * Dimensions may be multiplied freely: even with those of 0 taken as 1 they make less than 2^62
 * bytes. Unknown dimensions pass. Errors: TG_LIMIT.
 */
tg_status tg_type_limit(const tg_type *t) TG_MUST_USE;

/* One string of a TG_STR tensor. */
typedef struct tg_string {
    const char *p;
    size_t n;
} tg_string;

/*
 * Row-major, contiguous. `data` is NULL for an absent optional input. Does not own its data. Of a
 * list, `data` is a tg_list (list.h): copy and free what may be one with tg_tensor_copy and
 * tg_tensor_free (value.h).
 */
typedef struct tg_tensor {
    tg_dtype dtype;
    tg_shape shape;
    void *data;
} tg_tensor;

int64_t tg_tensor_count(const tg_tensor *t);
size_t tg_tensor_bytes(const tg_tensor *t);
/* Element i of an integer, bool or float tensor, converted. */
int64_t tg_tensor_i64(const tg_tensor *t, int64_t i);
double tg_tensor_f64(const tg_tensor *t, int64_t i);
void tg_tensor_set_f64(tg_tensor *t, int64_t i, double x);
void tg_tensor_set_i64(tg_tensor *t, int64_t i, int64_t x);

/* Half precision and bfloat16, round to nearest even. */
float tg_f16_to_f32(uint16_t h);
uint16_t tg_f32_to_f16(float f);
float tg_bf16_to_f32(uint16_t h);
uint16_t tg_f32_to_bf16(float f);

/*
 * narrow.c: numbers of kind q, whose code is a byte: integers as such, floats by their bits. Rounds
 * to nearest even; integers are cut towards zero and keep the low bits. What is too large becomes,
 * saturated, the largest, else an infinity or NaN, where the type has one.
 */
bool tg_narrow_is_float(tg_dtype t); /* of kind q, and no integers */
double tg_narrow_f64(tg_dtype t, uint8_t code);
uint8_t tg_narrow_code(tg_dtype t, double x, bool saturate);
uint8_t tg_narrow_int(tg_dtype t, int64_t x); /* the low bits, as the code of an integer type */
/* Of float8e8m0, rounded by mode: 'u' up, 'd' down, 'n' to nearest. */
uint8_t tg_e8m0_code(double x, bool saturate, char mode);

#endif
