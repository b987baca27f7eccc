/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attributes of a node: an immutable, reference-counted array with one entry for each entry of the
 * operator's attribute spec (op.h), in that order; an absent attribute has kind TG_ATTR_NONE.
 */
#ifndef TG_IR_ATTR_H
#define TG_IR_ATTR_H

#include "type.h"

#include <stdatomic.h>

struct tg_graph;

typedef enum tg_attr_kind {
    TG_ATTR_NONE,
    TG_ATTR_INT,
    TG_ATTR_FLOAT,
    TG_ATTR_STR, /* s[0..n), NUL-terminated as well */
    TG_ATTR_INTS,
    TG_ATTR_FLOATS,
    TG_ATTR_STRS,
    TG_ATTR_TENSOR,
    TG_ATTR_BYTES,
    TG_ATTR_TYPE, /* of a value: i is its tg_dtype */
    TG_ATTR_GRAPH /* a body: what an If, Loop or Scan runs */
} tg_attr_kind;

typedef struct tg_attr {
    tg_attr_kind kind;
    uint32_t n; /* entries of ints, floats, strs; bytes of s, bytes */
    union {
        int64_t i;
        float f;
        const char *s;
        const int64_t *ints;
        const float *floats;
        const char *const *strs;
        const tg_tensor *tensor;
        const void *bytes;
        const struct tg_graph *graph;
    };
} tg_attr;

typedef struct tg_attrs {
    atomic_int refs;
    uint32_t n;
    bool graphs;   /* some entry is a graph */
    uint64_t hash; /* of all values */
    tg_attr a[];   /* payloads lie behind, in the same block */
} tg_attrs;

#define TG_ATTR_OF_INT(x) ((tg_attr){.kind = TG_ATTR_INT, .i = (x)})
#define TG_ATTR_OF_FLOAT(x) ((tg_attr){.kind = TG_ATTR_FLOAT, .f = (x)})
#define TG_ATTR_OF_INTS(p, count)                                                                  \
    ((tg_attr){.kind = TG_ATTR_INTS, .n = (uint32_t)(count), .ints = (p)})
#define TG_ATTR_OF_GRAPH(g) ((tg_attr){.kind = TG_ATTR_GRAPH, .graph = (g)})
tg_attr tg_attr_str(const char *s);

/* Deep copy of n attributes; graphs are shared, a reference each. */
tg_attrs *tg_attrs_new(const tg_attr *a, size_t n);
tg_attrs *tg_attrs_ref(const tg_attrs *attrs);
void tg_attrs_unref(const tg_attrs *attrs); /* NULL is fine */
/* Floats by bits, tensors by content, graphs by what they compute and how. */
bool tg_attr_equal(const tg_attr *a, const tg_attr *b);
bool tg_attrs_equal(const tg_attrs *a, const tg_attrs *b);
uint64_t tg_attr_hash(uint64_t h, const tg_attr *a);

/* The value as text: "3", "[1,1]", "same", "graph of 12"; long lists are cut with "...". */
void tg_attr_print(const tg_attr *a, tg_str *out);

#endif
