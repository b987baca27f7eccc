/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules of TASO (Jia et al., SOSP 2019): its file graph_subst.pb, a protocol buffer, and the 18
 * that its program has built in. For the files of rewrite/ only.
 */
#ifndef TG_REWRITE_RULE_TASO_H
#define TG_REWRITE_RULE_TASO_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>

/* Operators as the file numbers them; those from 100 on occur in graphs and built-in rules only. */
typedef enum taso_kind {
    TASO_CONV = 3,
    TASO_RELU = 8,
    TASO_SIGMOID = 9,
    TASO_TANH = 10,
    TASO_BATCHNORM = 11,
    TASO_CONCAT = 12,
    TASO_SPLIT = 13,
    TASO_RESHAPE = 14,
    TASO_TRANSPOSE = 15,
    TASO_ADD = 16,
    TASO_MUL = 17,
    TASO_MATMUL = 18,
    TASO_ENLARGE = 20,
    TASO_MERGE_GCONV = 21,
    TASO_SOURCE = 100, /* an input or a weight */
    TASO_POOL,
    TASO_FOLD_WEIGHT,   /* of a batch norm into a convolution: weight, scale, variance */
    TASO_FOLD_BIAS,     /* scale, bias, mean, variance */
    TASO_BROADCAST_ADD, /* of a number for each channel */
    TASO_OTHER
} taso_kind;

/* Parameters as the file numbers them. */
enum {
    TASO_P_INPUTS = 1,
    TASO_P_OUTPUTS,
    TASO_P_GROUP,
    TASO_P_KERNEL_H,
    TASO_P_KERNEL_W,
    TASO_P_STRIDE_H,
    TASO_P_STRIDE_W,
    TASO_P_PAD,
    TASO_P_ACTI,
    TASO_P_RANK,
    TASO_P_AXIS,
    TASO_P_COUNT = 18
};
enum { TASO_SAME = 0, TASO_VALID = 1 };
enum { TASO_NONE = 0, TASO_ACTI_SIGMOID = 1, TASO_ACTI_RELU = 2, TASO_ACTI_TANH = 3 };
enum { TASO_OPS = 8, TASO_INPUTS = 5, TASO_VARS = 16, TASO_RESULTS = 4 };

/* op >= 0: output `port` of that operator of the same side; else variable ~op. */
typedef struct taso_tensor {
    int op, port;
} taso_tensor;

/* Parameters that are not given are 0. */
typedef struct taso_op {
    taso_kind kind;
    int n_in;
    taso_tensor in[TASO_INPUTS];
    int stride, pad, acti; /* convolutions and products */
    int axis, rank;        /* concatenations; the axis of splits */
} taso_op;

/* Output `source_port` of source operator `source` becomes `port` of operator `op` of the other. */
typedef struct taso_result {
    int source, source_port, op, port;
} taso_result;

/* Operators stand in topological order; every variable of `to` occurs in `from`. */
typedef struct taso_rule {
    char name[8]; /* pb0 ... or B0 ... */
    taso_op from[TASO_OPS], to[TASO_OPS];
    taso_result results[TASO_RESULTS];
    int n_from, n_to, n_results, n_vars;
} taso_rule;

typedef struct taso_rules {
    taso_rule *v;
    int n;
} taso_rules;

/*
 * The rules of a file in memory, in its order. Errors: TG_RULE with the byte and what is wrong
 * there. O(size).
 */
tg_status taso_decode(const void *data, size_t size, const char *file, tg_arena *arena,
                      taso_rules *out) TG_MUST_USE;
/* B0 ... B17. */
taso_rules taso_built_in(tg_arena *arena);

/* Outputs of an operator. */
int taso_out_count(const taso_op *op);
/* As the reports of TASO's rules write it: "mm(x,y) ; mm(x,z) => ...". */
void taso_rule_words(const taso_rule *rule, tg_str *out);
/* No graph has it: some convolution reads one tensor as image and as filter. */
bool taso_rule_dead(const taso_rule *rule);
/*
 * Equal texts: equal rules but for the names of variables, the order of results, and of the
 * operands of sums and products.
 */
void taso_rule_identity(const taso_rule *rule, tg_str *out);

/*
 * The rule as a paragraph of the rule language, named taso-pb0 ... and taso-b0 ..., with the
 * conditions under which it is sound. False: it is never sound (B2, B5, B8, B11).
 */
bool taso_rule_text(const taso_rule *rule, tg_str *out);

/* The same without its head, for built-in rules that the language needs other words for; else
 * false. */
bool taso_built_in_text(const taso_rule *rule, tg_str *out, bool *sound);

/*
 * What `--rules FILE.pb` loads: the paragraphs of the built-in rules and those of the file that are
 * neither dead nor equal to an earlier one. Errors: as taso_decode.
 */
tg_status taso_file_text(const void *data, size_t size, const char *file, tg_str *out) TG_MUST_USE;

#endif
