/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of the cpu backend: planning turns nodes into steps that work on operands, which are
 * places in buffers. A function tg_cpu_plan_NAME(plan, node), named by the column `cpu` of the
 * operator table, adds the steps of one node and says where its outputs lie; TG_UNSUPPORTED from
 * it means: run the reference kernel.
 */
#ifndef TG_EXEC_CPU_PLAN_H
#define TG_EXEC_CPU_PLAN_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/exec/backend.h"
#include "engine/ops/ops.h"
#include "layout.h"
#include "prim.h"

typedef enum tg_cpu_place {
    TG_PLACE_ARENA,   /* planned by lifetime */
    TG_PLACE_CONST,   /* bytes known while planning */
    TG_PLACE_DYNAMIC, /* allocated while running: its size depends on the data */
} tg_cpu_place;

/* Invariant: steps first..last (in order of running) use the arena bytes [at, at + size). */
typedef struct tg_cpu_buffer {
    tg_cpu_place place;
    size_t size, at;
    int first, last;
    void *data;             /* of a constant */
    tg_weight *weight;      /* that `data` belongs to, or NULL */
    struct tg_packed *pack; /* that `data` belongs to, or NULL */
    uint64_t hash;          /* of a constant's content */
} tg_cpu_buffer;

/* A value at its place. buffer -1: none. */
typedef struct tg_operand {
    int buffer;
    tg_dtype dtype;
    tg_shape shape;
    tg_layout layout;
} tg_operand;

enum { TG_STEP_OPERANDS = 24 };

typedef struct tg_step tg_step;
typedef struct tg_cpu_plan tg_cpu_plan;

/* Runs a step: ptr[i] is the first element of its i-th operand. */
typedef tg_status (*tg_step_fn)(tg_cpu_plan *plan, const tg_step *step, void *const *ptr);

/* Invariants: operand i is operands[i]; ptr is filled when the arena is laid out. */
struct tg_step {
    tg_step_fn run;
    void (*close)(void *own); /* NULL: `own` lies in the plan's memory */
    void *own;
    const tg_node *node;
    int n;
    tg_operand *operands;
    void **ptr;
    /* With a library primitive: bound to its memory when the arena is laid out. */
    const tg_prim *prim;
    tg_prim_call *call;
};

/* The operands of a step with a primitive begin with those of the primitive. */
enum {
    TG_PRIM_SRC,
    TG_PRIM_WEIGHTS,
    TG_PRIM_BIAS,
    TG_PRIM_DST,
    TG_PRIM_SCRATCH,
    TG_PRIM_FIRST_POST
};

/* A value of the graph in some layout that a step asked for. */
typedef struct tg_cpu_copy {
    tg_operand from, to;
} tg_cpu_copy;

struct tg_cpu_plan {
    const tg_graph *g;
    tg_plan_stats *stats;
    int threads;
    const tg_job *job; /* that may end planning and running between operators, or NULL */
    tg_arena *memory;  /* of what lives as long as the plan */
    TG_VEC(tg_cpu_buffer) buffers;
    TG_VEC(tg_step) steps;
    TG_VEC(tg_cpu_copy) copies;
    tg_operand *values;       /* by value_index */
    uint32_t *first;          /* value_index of output 0 of each node */
    struct tg_group **groups; /* by node: what it runs with (absorb.h), NULL: alone */
    tg_operand *inputs, *outputs;
    void *block;
    size_t block_size;
    tg_tensor *dynamic; /* by buffer: tensors allocated while running */
    bool ready;         /* the graph inputs hold values */
};

typedef tg_status (*tg_cpu_plan_fn)(tg_cpu_plan *p, const tg_node *node);

/* ---- values (value.c) ---- */

/* Where the value lies; constants are brought in. Errors: those of folding. */
tg_status tg_cpu_value(tg_cpu_plan *p, tg_value v, tg_operand *out) TG_MUST_USE;
void tg_cpu_set(tg_cpu_plan *p, const tg_node *node, uint32_t port, const tg_operand *at);
/* A new buffer for a value of this type in this layout (dense). */
tg_operand tg_cpu_new(tg_cpu_plan *p, const tg_type *type, const tg_layout *layout);
int tg_cpu_scratch(tg_cpu_plan *p, size_t bytes);
/* A constant whose bytes the plan keeps; `data` is copied, with 64 bytes to spare. */
tg_operand tg_cpu_constant(tg_cpu_plan *p, tg_dtype dtype, const tg_shape *shape, const void *data);
const void *tg_cpu_constant_data(const tg_cpu_plan *p, const tg_operand *at); /* NULL: not one */
bool tg_cpu_is_scalar(const tg_cpu_plan *p, const tg_operand *at, float *x);  /* constant of one */

/* The same elements in another layout; a step is added if they must move. */
tg_status tg_cpu_move(tg_cpu_plan *p, const tg_operand *from, const tg_layout *layout,
                      tg_operand *out) TG_MUST_USE;
/* A constant with 64 readable bytes behind it, for vector code; others as they are. */
tg_status tg_cpu_padded(tg_cpu_plan *p, const tg_operand *from, tg_operand *out) TG_MUST_USE;
tg_status tg_cpu_plain(tg_cpu_plan *p, tg_value v, tg_operand *out) TG_MUST_USE;
tg_status tg_cpu_last(tg_cpu_plan *p, tg_value v, tg_operand *out) TG_MUST_USE;
tg_status tg_cpu_dense(tg_cpu_plan *p, tg_value v, tg_operand *out) TG_MUST_USE;
/* Float values of complete type only: what most steps can work on. */
bool tg_cpu_is_float(const tg_cpu_plan *p, tg_value v);
const tg_type *tg_cpu_type(const tg_cpu_plan *p, tg_value v);

/* ---- steps (step.c) ---- */

/* Adds a step; operands are copied. Pointers to steps are valid until the next is added. */
tg_step *tg_cpu_step(tg_cpu_plan *p, const tg_node *node, tg_step_fn run, void *own,
                     const tg_operand *operands, int n);
/* The library's form of an operand, called channels last (or row-major) where it can be both. */
tg_md tg_cpu_md(const tg_operand *at);
tg_md tg_cpu_md_plain(const tg_operand *at);
tg_md tg_cpu_md_any(const tg_operand *at);

/* Operands of a primitive; buffer -1 where the record has none. */
typedef struct tg_prim_operands {
    tg_operand src, weights, bias, dst;
    tg_operand post[TG_MAX_POSTS];
} tg_prim_operands;
/* Adds the step of a primitive; packs constant weights. */
tg_status tg_cpu_prim(tg_cpu_plan *p, const tg_node *node, const tg_prim *prim,
                      const tg_prim_operands *operands) TG_MUST_USE;
/* The node's reference kernel as a step. */
tg_status tg_cpu_plan_reference(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
/* bodies.c: what runs the bodies of a node, by plans of their own; lives as long as the plan. */
const tg_runner *tg_cpu_bodies(tg_cpu_plan *p, const tg_node *node);
void tg_cpu_add_stats(tg_plan_stats *to, const tg_plan_stats *from); /* of a plan inside */
/* A node on halves by a plan of its own on floats; TG_UNSUPPORTED: there is no code for them. */
tg_status tg_cpu_plan_halves(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
/* An element-wise node, or the loop that it begins. */
tg_status tg_cpu_plan_eltwise(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
/* The node's own function with the tail of its group; TG_UNSUPPORTED: not together. */
tg_status tg_cpu_plan_anchor(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
/* The own function of the operator of a node that is not in the graph; TG_UNSUPPORTED: none. */
tg_status tg_cpu_plan_shadow(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;
/* The node's own function, else the reference. */
tg_status tg_cpu_plan_node(tg_cpu_plan *p, const tg_node *node) TG_MUST_USE;

/* Lays out the arena: offsets for all buffers by lifetime. Returns its size. */
size_t tg_cpu_lay_out(tg_cpu_buffer *buffers, size_t n);

/* ---- packed weights, shared between plans (packed.c) ---- */

/* Invariant: data holds the weights `value` in the form `form`. */
typedef struct tg_packed {
    uint64_t value, form;
    int refs;
    size_t size;
    void *data;
} tg_packed;

/*
 * The packed form of a constant with this hash; a new reference. Filled by fill(ctx, data) if it is
 * not there yet.
 */
tg_status tg_packed_get(uint64_t value, uint64_t form, size_t size,
                        tg_status (*fill)(void *ctx, void *data), void *ctx,
                        tg_packed **out) TG_MUST_USE;
void tg_packed_unref(tg_packed *packed); /* NULL is fine */
size_t tg_packed_bytes(void);

#endif
