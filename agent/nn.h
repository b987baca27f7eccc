/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameters and dense layers with hand-written backward passes.
 *
 * All parameters of a network lie in one flat array; an ag_layout names the pieces. A gradient, an
 * optimiser's moment or a published snapshot is another array of the same length. Matrices are
 * row-major; Y = X W maps [n, in] to [n, out] with W [in, out]. Compiled with AG_DOUBLE everything
 * here computes in double, so that tests can compare gradients with finite differences.
 */
#ifndef AG_NN_H
#define AG_NN_H

#include "engine/base/rng.h"
#include "engine/base/vec.h"

#ifdef AG_DOUBLE
typedef double ag_real;
#else
typedef float ag_real;
#endif

/* How the rows of a tensor are named, so that a checkpoint can be read by a build with other rows.
 */
typedef enum ag_axis {
    AG_AXIS_NONE,      /* by position */
    AG_AXIS_OPERATOR,  /* one row an operator of the ag_spec */
    AG_AXIS_RULE,      /* one row a rule */
    AG_AXIS_NODE,      /* one row a node feature */
    AG_AXIS_EDGE,      /* one row an edge feature */
    AG_AXIS_CANDIDATE, /* one row a candidate feature */
    AG_AXIS_GLOBAL     /* one row a global feature */
} ag_axis;

typedef enum ag_init {
    AG_INIT_ZERO,
    AG_INIT_NORMAL,    /* normal, variance gain^2 */
    AG_INIT_LECUN,     /* normal, variance gain^2 / rows (LeCun et al. 1998, section 4.6) */
    AG_INIT_ORTHOGONAL /* rows or columns orthonormal, times gain (Saxe et al. 2014) */
} ag_init;

typedef struct ag_tensor {
    char name[32];
    int rows, cols;
    ag_axis axis;
    ag_init init;
    double gain;
    const char *const *row_name; /* [rows]; NULL: rows have no names */
    size_t at;                   /* offset of its first element in the flat array */
} ag_tensor;

/* Zero-initialise; free with ag_layout_done. `n` is the length of the flat array. */
typedef struct ag_layout {
    TG_VEC(ag_tensor) tensors;
    size_t n;
} ag_layout;

/* Adds a tensor and returns the offset of its first element. */
size_t ag_layout_add(ag_layout *layout, const char *name, int rows, int cols, ag_axis axis,
                     ag_init init, double gain);
const ag_tensor *ag_layout_find(const ag_layout *layout, const char *name); /* NULL if absent */
void ag_layout_done(ag_layout *layout);

/*
 * Draws all tensors into value[layout->n], each from a stream that its name selects, and where rows
 * have names and are not made orthogonal, each row from a stream of its own: what a row is at first
 * does not depend on which others there are.
 */
void ag_layout_init(const ag_layout *layout, ag_real *value, const tg_rng *rng);

/* Once a process: makes OpenBLAS use the calling thread only. */
void ag_nn_setup(void);

/* y[n, out] = x[n, in] w[in, out] (+ bias[out] unless NULL); the second adds to y instead. */
void ag_dense(ag_real *y, const ag_real *x, const ag_real *w, const ag_real *bias, int n, int in,
              int out);
void ag_dense_add(ag_real *y, const ag_real *x, const ag_real *w, int n, int in, int out);

/*
 * Backward of ag_dense: adds to dx[n, in], dw[in, out] and dbias[out]; each may be NULL.
 */
void ag_dense_back(ag_real *dx, ag_real *dw, ag_real *dbias, const ag_real *x, const ag_real *w,
                   const ag_real *dy, int n, int in, int out);

/* y = tanh(y) in place; backward: dy *= 1 - y^2, where y is the output. */
void ag_tanh(ag_real *y, size_t n);
void ag_tanh_back(ag_real *dy, const ag_real *y, size_t n);

/* A grow-only scratch array. Zero-initialise; free with ag_buffer_done. */
typedef struct ag_buffer {
    void *p;
    size_t cap; /* bytes */
} ag_buffer;

/* At least `bytes` bytes, 64-byte aligned; the old content is lost when it grows. */
void *ag_buffer_get(ag_buffer *buffer, size_t bytes);
void ag_buffer_done(ag_buffer *buffer);

#define AG_GET(buffer, T, n) ((T *)ag_buffer_get(buffer, sizeof(T) * (size_t)(n)))

#endif
