/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn.h"

#include "engine/base/hash.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <stdio.h>

#ifdef AG_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

size_t ag_layout_add(ag_layout *layout, const char *name, int rows, int cols, ag_axis axis,
                     ag_init init, double gain)
{
    ag_tensor t = {.rows = rows, .cols = cols, .axis = axis, .init = init, .gain = gain};
    snprintf(t.name, sizeof t.name, "%s", name);
    /* Each tensor starts on a cache line, so that kernels see the same alignment in every copy. */
    t.at = (layout->n + 15) & ~(size_t)15;
    layout->n = t.at + (size_t)rows * (size_t)cols;
    tg_vec_push(&layout->tensors, t);
    return t.at;
}

const ag_tensor *ag_layout_find(const ag_layout *layout, const char *name)
{
    for (size_t i = 0; i < layout->tensors.n; i++) {
        if (!strcmp(layout->tensors.v[i].name, name)) return &layout->tensors.v[i];
    }
    return NULL;
}

void ag_layout_done(ag_layout *layout)
{
    tg_vec_free(&layout->tensors);
    layout->n = 0;
}

/* Gram-Schmidt over `n` vectors of length `len`; element i of vector k is v[k * step + i * skip].
 */
static void orthonormalise(ag_real *v, int n, int len, size_t step, size_t skip, tg_rng *rng)
{
    for (int k = 0; k < n; k++) {
        ag_real *a = v + (size_t)k * step;
        double norm = 0;
        while (norm < 1e-3) {
            for (int i = 0; i < len; i++) a[(size_t)i * skip] = (ag_real)tg_rng_normal(rng);
            for (int pass = 0; pass < 2; pass++) {
                for (int j = 0; j < k; j++) {
                    const ag_real *b = v + (size_t)j * step;
                    double dot = 0;
                    for (size_t i = 0; i < (size_t)len; i++) dot += a[i * skip] * b[i * skip];
                    for (size_t i = 0; i < (size_t)len; i++)
                        a[i * skip] -= (ag_real)dot * b[i * skip];
                }
            }
            norm = 0;
            for (size_t i = 0; i < (size_t)len; i++) norm += a[i * skip] * a[i * skip];
        }
        for (size_t i = 0; i < (size_t)len; i++) a[i * skip] *= (ag_real)(1 / sqrt(norm));
    }
}

static void draw_normal(ag_real *w, size_t n, double deviation, tg_rng *rng)
{
    for (size_t i = 0; i < n; i++) w[i] = (ag_real)(tg_rng_normal(rng) * deviation);
}

static void draw_rows(const ag_tensor *t, ag_real *w, double deviation, const tg_rng *rng)
{
    for (int r = 0; r < t->rows; r++) {
        tg_rng *own = tg_rng_split(rng, tg_hash_str(tg_hash_str(0, t->name), t->row_name[r]));
        draw_normal(w + (size_t)r * (size_t)t->cols, (size_t)t->cols, deviation, own);
        tg_rng_free(own);
    }
}

static void draw_tensor(const ag_tensor *t, ag_real *w, tg_rng *rng)
{
    size_t n = (size_t)t->rows * (size_t)t->cols, cols = (size_t)t->cols;
    double deviation = t->init == AG_INIT_LECUN ? t->gain / sqrt((double)t->rows) : t->gain;
    if (!n || t->init == AG_INIT_ZERO) return;
    if (t->init != AG_INIT_ORTHOGONAL) {
        if (t->row_name) draw_rows(t, w, deviation, rng);
        else draw_normal(w, n, deviation, rng);
        return;
    }
    if (t->rows < t->cols) orthonormalise(w, t->rows, t->cols, cols, 1, rng);
    else orthonormalise(w, t->cols, t->rows, 1, cols, rng);
    for (size_t i = 0; i < n; i++) w[i] *= (ag_real)t->gain;
}

void ag_layout_init(const ag_layout *layout, ag_real *value, const tg_rng *rng)
{
    memset(value, 0, layout->n * sizeof *value);
    for (size_t i = 0; i < layout->tensors.n; i++) {
        const ag_tensor *t = &layout->tensors.v[i];
        tg_rng *own = tg_rng_split(rng, tg_hash_str(0, t->name));
        draw_tensor(t, value + t->at, own);
        tg_rng_free(own);
    }
}

void ag_nn_setup(void)
{
    openblas_set_num_threads(1);
}

void ag_dense(ag_real *y, const ag_real *x, const ag_real *w, const ag_real *bias, int n, int in,
              int out)
{
    for (int i = 0; i < n; i++) {
        if (bias) memcpy(y + (size_t)i * (size_t)out, bias, (size_t)out * sizeof *y);
        else memset(y + (size_t)i * (size_t)out, 0, (size_t)out * sizeof *y);
    }
    ag_dense_add(y, x, w, n, in, out);
}

void ag_dense_add(ag_real *y, const ag_real *x, const ag_real *w, int n, int in, int out)
{
    if (!n || !in || !out) return;
    GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, out, in, 1, x, in, w, out, 1, y, out);
}

void ag_dense_back(ag_real *dx, ag_real *dw, ag_real *dbias, const ag_real *x, const ag_real *w,
                   const ag_real *dy, int n, int in, int out)
{
    if (!n || !out) return;
    if (dx && in) {
        GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, n, in, out, 1, dy, out, w, out, 1, dx, in);
    }
    if (dw && in) {
        GEMM(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, n, 1, x, in, dy, out, 1, dw, out);
    }
    for (int i = 0; dbias && i < n; i++) {
        for (int j = 0; j < out; j++) dbias[j] += dy[(size_t)i * (size_t)out + (size_t)j];
    }
}

void ag_tanh(ag_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = (ag_real)tanh(y[i]);
}

void ag_tanh_back(ag_real *dy, const ag_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++) dy[i] *= 1 - y[i] * y[i];
}

void *ag_buffer_get(ag_buffer *buffer, size_t bytes)
{
    if (bytes > buffer->cap || !buffer->p) {
        size_t cap = ((bytes + bytes / 2 + 64) + 63) & ~(size_t)63;
        free(buffer->p);
        buffer->p = aligned_alloc(64, cap);
        if (!buffer->p) buffer->p = tg_malloc(cap); /* fails the way every allocation does */
        buffer->cap = cap;
    }
    return buffer->p;
}

void ag_buffer_done(ag_buffer *buffer)
{
    free(buffer->p);
    buffer->p = NULL;
    buffer->cap = 0;
}
