/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators as the graph sees them: a row of the operator table (ops/ops.def), and what the
 * functions in its columns are given. The table itself lives one floor up; this header is its form.
 */
#ifndef TG_IR_OP_H
#define TG_IR_OP_H

#include "attr.h"

/* An operator is its row number. The first rows are fixed, because graphs are made of them. */
typedef uint16_t tg_op;
enum {
    TG_OP_INPUT,  /* a graph input or captured outer value: no inputs, one output */
    TG_OP_CONST,  /* a weight: no inputs, one output */
    TG_OP_SINK,   /* the graph outputs: its inputs are the outputs in order; no outputs; id 0 */
    TG_OP_OPAQUE, /* an operator that is not in the table: carried, never touched */
    TG_OP_FIRST_REAL
};

typedef enum tg_op_flag {
    TG_COMMUTES = 1, /* the first two inputs may be exchanged */
    TG_ELTWISE = 2, /* each output element depends on the elements at its (broadcast) place alone */
    TG_VIEW = 4,    /* moves or relabels elements, computes nothing */
    TG_RANDOM = 8,  /* two runs may differ: never folded, never merged */
    TG_LINEAR = 16, /* linear in each input with the others fixed */
    TG_INTERNAL = 32,     /* not ONNX: never reaches a saved model */
    TG_PARTIAL = 64,      /* infer copes with incomplete input types */
    TG_ACCUMULATES = 128, /* sums over more than one element: rounding grows with depth */
    TG_BODIES = 256,      /* runs graphs that are attributes of it, maybe long: never folded */
    TG_TAKES_LISTS = 512, /* sequences and optionals may be inputs */
    TG_GIVES_LISTS = 1024, /* an output is a sequence or optional: never folded */
    /* Each element is a polynomial of the elements of the real inputs whose coefficients are
     * natural numbers, or minus such a term, unless an attribute says otherwise; or depends on
     * shapes alone. The kernel adds and multiplies in double. */
    TG_RING = 2048
} tg_op_flag;

/* What shape inference is given. `attr` may be rewritten to the canonical form (see
 * tg_op_row.infer). */
typedef struct tg_infer {
    const struct tg_op_row *row;
    tg_attr *attr; /* by spec position; payloads of new values come from `arena` */
    int n_in, n_out;
    const tg_type *in; /* dtype TG_DTYPE_NONE: absent */
    tg_type *out;      /* to fill; start: dtype none, shape unknown */
    tg_arena *arena;
    /* Set by infer where output 0 does not depend on the data (Shape): its int64 elements, in
     * `arena`. */
    const int64_t *known;
    const struct tg_infer_source *source; /* for tg_infer_value */
} tg_infer;

/* Where tg_infer_value finds constants: value(ctx, slot) is the tensor that feeds the slot, or
 * NULL. */
typedef struct tg_infer_source {
    const tg_tensor *(*value)(void *ctx, int slot);
    void *ctx;
} tg_infer_source;

/* The constant that feeds input `slot`, evaluated if it is an expression; NULL if it is not
 * constant. */
const tg_tensor *tg_infer_value(tg_infer *infer, int slot);

/* Runs a body: in and out as tg_interpret has them. */
struct tg_graph;
typedef struct tg_runner {
    tg_status (*run)(void *ctx, const struct tg_graph *g, const tg_tensor *in, tg_tensor *out);
    void *ctx;
} tg_runner;

/* What a kernel is given. Absent optional inputs have data NULL and dtype TG_DTYPE_NONE. */
typedef struct tg_call {
    const struct tg_op_row *row;
    const tg_attr *attr;
    int n_in, n_out;
    const tg_tensor *in;
    tg_tensor *out;  /* typed and allocated, unless its shape depends on the data: see below */
    tg_arena *arena; /* scratch, freed after the call */
    const tg_runner *runner; /* of bodies; NULL: tg_interpret */
} tg_call;

/*
 * For outputs whose shape depends on the data: sets out[i]'s type and allocates it (from malloc;
 * the caller of the kernel owns it). The other outputs come allocated.
 */
void tg_call_alloc(tg_call *call, int i, tg_dtype dtype, tg_shape shape);
/* The same for what is made already: output i takes over what t owns. */
void tg_call_put(tg_call *call, int i, tg_tensor t);

/* For operators with bodies: runs one. Errors: those of the body. */
tg_status tg_call_run(const tg_call *call, const struct tg_graph *body, const tg_tensor *in,
                      tg_tensor *out) TG_MUST_USE;

/* Work of one run of a node, for the analytic cost. */
typedef struct tg_work {
    double flops, bytes;
    int kernels; /* launches; 0: a view, free */
    double ms;   /* of bodies: takes the place of what the others say, if it is above 0 */
} tg_work;

typedef struct tg_op_row {
    const char *name, *domain; /* "Conv", "" */
    int since;                 /* lowest opset of `domain` whose version has this row's meaning */
    int8_t min_in, max_in;     /* max_in -1: any number */
    int8_t min_out, max_out;   /* max_out -1: any number */
    const char *attrs;         /* "name:kind=default ...": kinds int float str ints floats strs
                                  tensor bytes graph */
    const char *folds; /* "slot=attr@opset ...": a constant input `slot` becomes attribute `attr`;
                          models of at least `opset` write it as an input */
    unsigned flags;
    /*
     * Fills the output types and brings attributes to their canonical form (negative axes made
     * positive, pads and kernel sizes filled in ...), so that equal meanings have equal attributes.
     * Called with complete input types only, unless TG_PARTIAL. Errors: TG_SHAPE, TG_TYPE,
     * TG_INVALID.
     */
    tg_status (*infer)(tg_infer *infer);
    /* The reference: plain loops, exact as the standard says, in double where it accumulates. */
    tg_status (*kernel)(tg_call *call);
    /* Fills work; NULL: one kernel, an operation an output element, all bytes moved once. */
    void (*work)(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
                 tg_work *work);
    const char *doc; /* one sentence */
} tg_op_row;

extern const tg_op_row tg_op_rows[];
extern const int tg_op_row_count;

const tg_op_row *tg_op_get(tg_op op);
/* The operator of that name, or TG_OP_OPAQUE. The domain "ai.onnx" is "". O(1). */
tg_op tg_op_find(const char *domain, const char *name);

/* One entry of an attribute spec, parsed. */
typedef struct tg_attr_spec {
    const char *name;
    tg_attr_kind kind;
    tg_attr value; /* the default; kind TG_ATTR_NONE: optional without default */
    bool required; /* the spec says name:kind! */
} tg_attr_spec;

/* One entry of a folds spec, parsed. */
typedef struct tg_fold_spec {
    int slot, attr, since;
} tg_fold_spec;

const tg_attr_spec *tg_op_attrs(tg_op op, int *count);
const tg_fold_spec *tg_op_folds(tg_op op, int *count);
/* Position of the attribute in the operator's spec, or -1. */
int tg_op_attr_index(tg_op op, const char *name);

/* Attribute of a row by name; it must be in the row's spec. */
tg_attr *tg_infer_attr(tg_infer *infer, const char *name);
const tg_attr *tg_row_attr(const tg_op_row *row, const tg_attr *attrs, const char *name);
/* The integer or float of an attribute that is present or has a default. */
static inline int64_t tg_row_int(const tg_op_row *row, const tg_attr *attrs, const char *name)
{
    return tg_row_attr(row, attrs, name)->i;
}
static inline float tg_row_float(const tg_op_row *row, const tg_attr *attrs, const char *name)
{
    return tg_row_attr(row, attrs, name)->f;
}

/* For infer functions: sets an attribute to a copy of ints. */
void tg_infer_set_ints(tg_infer *infer, const char *name, const int64_t *v, size_t n);
/* May the operator have inputs of these types? Errors: TG_TYPE (a list where none is taken). */
tg_status tg_op_takes(const tg_op_row *row, const tg_type *in, int n) TG_MUST_USE;
/* Makes an axis in [-rank, rank) non-negative. Errors: TG_INVALID. */
tg_status tg_axis_normalise(int64_t axis, int64_t rank, int64_t *out) TG_MUST_USE;

#endif
