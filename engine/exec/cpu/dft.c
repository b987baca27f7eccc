/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fourier transforms of floats as a product by a matrix of roots of one, which a window may weigh:
 * for the sizes of frames of sound this is faster than what saves additions, and one call.
 */
#include "loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

enum { MOST_ROOTS = 1 << 22 }; /* floats of the matrix */

/* Rows of `depth` numbers, `step` apart, times the matrix; batches lie `jump` apart. */
typedef struct transform {
    int64_t batch, rows, depth, step, jump, columns;
} transform;

/* Row i of the matrix: what part i % parts of point i / parts adds to each bin. */
static float *roots_of(int64_t points, int64_t have, int64_t bins, int64_t parts, bool inverse,
                       const float *window)
{
    float *m = tg_calloc((size_t)(have * parts * 2 * bins), sizeof *m), *to = m;
    double sign = inverse ? 1 : -1, size = inverse ? 1 / (double)points : 1;
    for (int64_t i = 0; i < have; i++)
        for (int64_t part = 0; part < parts; part++)
            for (int64_t k = 0; k < bins; k++, to += 2) {
                double t = sign * 2 * M_PI * (double)(i * k % points) / (double)points;
                double w = size * (window ? (double)window[i] : 1);
                to[0] = (float)(w * (part ? -sin(t) : cos(t)));
                to[1] = (float)(w * (part ? cos(t) : sin(t)));
            }
    return m;
}

/* The library wants rows that do not overlap: every so many of them do not. */
static tg_status run_transform(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const transform *k = step->own;
    int64_t apart = k->step >= k->depth ? 1 : (k->depth + k->step - 1) / k->step;
    for (int64_t b = 0; b < k->batch; b++) {
        const float *x = (const float *)ptr[0] + b * k->jump;
        float *y = (float *)ptr[2] + b * k->rows * k->columns;
        for (int64_t first = 0; first < apart && first < k->rows; first++) {
            int64_t rows = (k->rows - first + apart - 1) / apart;
            if (dnnl_sgemm('N', 'N', rows, k->columns, k->depth, 1, x + first * k->step,
                           apart * k->step, ptr[1], k->columns, 0, y + first * k->columns,
                           apart * k->columns) != dnnl_success)
                return tg_fail(TG_BACKEND, "a product of a transform failed");
        }
    }
    return TG_OK;
}

static tg_status add_transform(tg_cpu_plan *p, const tg_node *node, const transform *k,
                               float *roots)
{
    tg_shape shape = tg_shape_of(k->depth, k->columns);
    tg_layout plain = tg_layout_plain(&node->out[0].shape);
    tg_operand all[3];
    all[1] = tg_cpu_constant(p, TG_F32, &shape, roots);
    free(roots);
    TG_TRY(tg_cpu_plain(p, node->in[0], &all[0]));
    all[2] = tg_cpu_new(p, &node->out[0], &plain);
    tg_cpu_set(p, node, 0, &all[2]);
    tg_cpu_step(p, node, run_transform, tg_arena_dup(p->memory, k, sizeof *k), all, 3);
    p->stats->loops++;
    return TG_OK;
}

static tg_status refuse(void)
{
    return tg_fail(TG_UNSUPPORTED, "kind of transform");
}

static bool is_large(int64_t have, int64_t parts, int64_t bins)
{
    return have > MOST_ROOTS || bins > MOST_ROOTS || have * parts > MOST_ROOTS / (2 * bins);
}

tg_status tg_cpu_plan_dft(tg_cpu_plan *p, const tg_node *node)
{
    const tg_shape *s = &tg_cpu_type(p, node->in[0])->shape;
    const tg_attr *length = tg_cpu_attr(node, "dft_length");
    bool inverse = tg_node_attr(node, "inverse")->i != 0;
    int64_t axis = tg_node_attr(node, "axis")->i, size = s->dim[axis], parts = s->dim[s->rank - 1];
    if (!tg_cpu_is_float(p, node->in[0]) || axis != s->rank - 2 ||
        (inverse && tg_node_attr(node, "onesided")->i) || !tg_shape_count(&node->out[0].shape))
        return refuse();
    for (int i = 1; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE) return refuse();
    int64_t points = length ? length->i : size, have = points < size ? points : size;
    int64_t bins = node->out[0].shape.dim[axis];
    if (is_large(have, parts, bins)) return refuse();
    transform k = {.batch = 1,
                   .rows = tg_shape_count(s) / (size * parts),
                   .depth = have * parts,
                   .step = size * parts,
                   .columns = 2 * bins};
    return add_transform(p, node, &k, roots_of(points, have, bins, parts, inverse, NULL));
}

tg_status tg_cpu_plan_stft(tg_cpu_plan *p, const tg_node *node)
{
    const tg_shape *s = &tg_cpu_type(p, node->in[0])->shape, *out = &node->out[0].shape;
    const tg_attr *step = tg_cpu_attr(node, "frame_step"),
                  *length = tg_cpu_attr(node, "frame_length");
    bool has_window = node->n_in > 2 && node->in[2] != TG_NO_VALUE;
    const float *window = NULL;
    if (!tg_cpu_is_float(p, node->in[0]) || !step || !length || !tg_shape_count(out))
        return refuse();
    if (has_window) {
        tg_operand at;
        if (!tg_cpu_is_float(p, node->in[2])) return refuse();
        TG_TRY(tg_cpu_plain(p, node->in[2], &at));
        window = tg_cpu_constant_data(p, &at);
        if (!window) return refuse();
    }
    int64_t points = length->i, parts = s->dim[2], bins = out->dim[2];
    if (is_large(points, parts, bins)) return refuse();
    transform k = {.batch = s->dim[0],
                   .rows = out->dim[1],
                   .depth = points * parts,
                   .step = step->i * parts,
                   .jump = s->dim[1] * parts,
                   .columns = 2 * bins};
    return add_transform(p, node, &k, roots_of(points, points, bins, parts, false, window));
}
