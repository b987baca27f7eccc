/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oneDNN behind one file: what a primitive computes is a plain record, a primitive made from it is
 * kept by the record's hash and shared by all plans. Only prim.c and vendor.c know its API.
 */
#ifndef TG_EXEC_CPU_PRIM_H
#define TG_EXEC_CPU_PRIM_H

#include "engine/ir/type.h"

/* A tensor as the library sees it: sizes and strides in elements. rank 0: absent. */
typedef struct tg_md {
    int32_t rank, dtype;
    int32_t any; /* the library may choose the layout (weights) */
    int32_t zero;
    int64_t dim[TG_MAX_RANK + 1], stride[TG_MAX_RANK + 1];
} tg_md;

typedef enum tg_prim_kind {
    TG_PRIM_CONV,
    TG_PRIM_DECONV,
    TG_PRIM_MATMUL,
    TG_PRIM_POOL,
    TG_PRIM_SOFTMAX,
    TG_PRIM_LAYERNORM, /* weights: scale, bias: shift */
    TG_PRIM_REORDER,
    TG_PRIM_KINDS
} tg_prim_kind;

/* Variants, where a kind has some. */
enum { TG_PRIM_DIRECT = 0, TG_PRIM_WINOGRAD = 1 };
enum { TG_PRIM_POOL_MAX = 0, TG_PRIM_POOL_AVERAGE = 1, TG_PRIM_POOL_AVERAGE_PADS = 2 };
enum { TG_PRIM_SOFTMAX_PLAIN = 0, TG_PRIM_SOFTMAX_LOG = 1 };

/* What may follow a primitive's arithmetic in its inner loop. */
typedef enum tg_post_kind {
    TG_POST_RELU, /* alpha: the slope below zero */
    TG_POST_ELU,
    TG_POST_TANH,
    TG_POST_LOGISTIC,
    TG_POST_SQRT,
    TG_POST_ABS,
    TG_POST_EXP,
    TG_POST_LINEAR, /* alpha x + beta */
    TG_POST_CLIP,   /* to [alpha, beta] */
    TG_POST_SWISH,  /* x * logistic(alpha x) */
    TG_POST_HARDSWISH,
    TG_POST_GELU_ERF,
    TG_POST_GELU_TANH,
    TG_POST_ADD, /* binary from here: with the tensor `md` */
    TG_POST_SUB,
    TG_POST_MUL,
    TG_POST_DIV,
    TG_POST_MAX,
    TG_POST_MIN,
    TG_POST_KINDS
} tg_post_kind;

typedef struct tg_post {
    int32_t kind;
    float alpha, beta;
    int32_t zero;
    tg_md md;
} tg_post;

enum { TG_MAX_POSTS = 8, TG_PRIM_SPATIAL = 3 };

/* Zero it before filling: it is hashed and compared as bytes. */
typedef struct tg_prim_spec {
    int32_t kind, variant, threads, axis;
    float epsilon;
    int32_t n_post;
    tg_md src, weights, bias, dst;
    int64_t stride[TG_PRIM_SPATIAL], dilation[TG_PRIM_SPATIAL]; /* dilation 1: dense */
    int64_t pad_low[TG_PRIM_SPATIAL], pad_high[TG_PRIM_SPATIAL], kernel[TG_PRIM_SPATIAL];
    tg_post post[TG_MAX_POSTS];
    /* Of integers: what stands for 0, and how many scales there are (0: none, else 1 or one an
     * output channel), whose hash takes their place here. */
    int32_t src_zero, dst_zero, n_scales, none;
    uint64_t scales_hash;
} tg_prim_spec;

/* Invariants: lives as long as the process; `usable` false: the library has none such. */
typedef struct tg_prim {
    tg_prim_spec spec;
    bool usable;
    bool slow;             /* scalar reference code */
    size_t scratch_bytes;  /* at run time, aligned to 64 */
    size_t weights_bytes;  /* of the packed weights; 0: they may be used as they are */
    uint64_t weights_hash; /* of the packed form */
    char impl[64];
    struct tg_prim_vendor *vendor;
} tg_prim;

/* The primitive for the record, from the cache if it is there. Any thread. */
const tg_prim *tg_prim_get(const tg_prim_spec *spec);
/*
 * The same for integers whose sums are multiplied by spec->n_scales numbers, before what follows;
 * sets spec->scales_hash. The result is rounded to even and saturated after dst_zero is added.
 */
const tg_prim *tg_prim_get_scaled(tg_prim_spec *spec, const float *scales);
/* True if a bias is added before the scales apply, so that it counts sums; else after. */
bool tg_prim_bias_first(void);
/* True if products of bytes are summed exactly: older processors saturate pairs of them. */
bool tg_prim_bytes_exact(void);

/* Packs plain weights of the form `from` into `to` (weights_bytes, aligned to 64). */
tg_status tg_prim_pack(const tg_prim *prim, const tg_md *from, const void *data,
                       void *to) TG_MUST_USE;

/* A primitive with its memory: what runs. */
typedef struct tg_prim_call tg_prim_call;

/* Where the operands lie; NULL where the record has none. `post` has one entry a post-operation,
 * NULL unless binary. */
typedef struct tg_prim_args {
    void *src, *weights, *bias, *dst, *scratch;
    void *post[TG_MAX_POSTS];
} tg_prim_args;

tg_status tg_prim_bind(const tg_prim *prim, const tg_prim_args *args,
                       tg_prim_call **call) TG_MUST_USE;
tg_status tg_prim_run(const tg_prim_call *call) TG_MUST_USE;
void tg_prim_unbind(tg_prim_call *call); /* NULL is fine */

/* The library's threads in calls by this thread from now on. */
void tg_prim_threads(int threads);
/* "oneDNN 2.6.3, avx512, " and the processor's name; into buf; returns buf. */
char *tg_prim_identity(char *buf, size_t size);
/* Primitives made so far in this process (not those found in the cache). */
unsigned tg_prim_made(void);

/* Memory for packed weights and arenas: aligned to 64, huge pages advised, not cleared. */
void *tg_block_new(size_t bytes) TG_MALLOC;
void tg_block_free(void *p, size_t bytes);
/* The same for one that no plan will want again: the system has it back at once. */
void tg_block_drop(void *p, size_t bytes);

#endif
