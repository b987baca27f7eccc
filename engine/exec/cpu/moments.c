/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Normalisation by mean and variance that the library has no primitive for: by instance, group,
 * root mean square, over any axes; and by the neighbouring channels.
 */
#include "eltwise.h"
#include "loop.h"

#include <math.h>
#include <string.h>

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

static double total(const lanes *sum)
{
    double all = 0;
    for (int k = 0; k < 16; k++) all += (double)(*sum)[k];
    return all;
}

/* Blocks keep the rounding of long sums small. */
enum { BLOCK = 4096 };

static double sum_of(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t m = n - done < BLOCK ? n - done : BLOCK, i = 0;
        lanes part = {0};
        for (; i + 16 <= m; i += 16) part += *(const lanes *)(x + done + i);
        sum += total(&part);
        for (; i < m; i++) sum += (double)x[done + i];
    }
    return sum;
}

static double squares_of(const float *x, int64_t n, float mean)
{
    double sum = 0;
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t m = n - done < BLOCK ? n - done : BLOCK, i = 0;
        lanes part = {0};
        for (; i + 16 <= m; i += 16) {
            lanes d = *(const lanes *)(x + done + i) - mean;
            part += d * d;
        }
        sum += total(&part);
        for (; i < m; i++) sum += (double)(x[done + i] - mean) * (double)(x[done + i] - mean);
    }
    return sum;
}

static void scale_row(const float *x, int64_t n, float gain, float term, float *y)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) *(lanes *)(y + i) = *(const lanes *)(x + i) * gain + term;
    for (; i < n; i++) y[i] = x[i] * gain + term;
}

/* (x - mean) * gain, times one number an element, plus another; NULL: none. */
static void scale_elements(const float *x, int64_t n, float mean, float gain, const float *scale,
                           const float *shift, float *y)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        lanes v = (*(const lanes *)(x + i) - mean) * gain;
        if (scale) v *= *(const lanes *)(scale + i);
        if (shift) v += *(const lanes *)(shift + i);
        *(lanes *)(y + i) = v;
    }
    for (; i < n; i++) {
        float v = (x[i] - mean) * gain;
        if (scale) v *= scale[i];
        y[i] = shift ? v + shift[i] : v;
    }
}

/* ---- over channels and pixels ---- */

/* Groups of channels; one channel a group: instances. Pixels follow each other in a channel, or
 * channels in a pixel (`last`). */
typedef struct grouped {
    int64_t images, channels, groups, pixels;
    float epsilon;
    bool last;
} grouped;

static void image_by_channels(const grouped *k, const float *x, const float *scale,
                              const float *shift, float *y)
{
    int64_t per = k->channels / k->groups, size = per * k->pixels;
    for (int64_t g = 0; g < k->groups; g++, x += size, y += size) {
        float mean = (float)(sum_of(x, size) / (double)size);
        double square = squares_of(x, size, mean) / (double)size;
        double inverse = 1 / sqrt(square + (double)k->epsilon);
        for (int64_t c = 0; c < per; c++) {
            float gain = (float)(inverse * (double)scale[g * per + c]);
            float term = shift[g * per + c] - mean * gain;
            scale_row(x + c * k->pixels, k->pixels, gain, term, y + c * k->pixels);
        }
    }
}

/* Per channel first, then what a group has in common. space: two numbers a channel. */
static void image_by_pixels(const grouped *k, const float *x, const float *scale,
                            const float *shift, float *y, float *space)
{
    int64_t c = k->channels, per = c / k->groups;
    float *mean = space, *square = space + c;
    double size = (double)(per * k->pixels);
    memset(space, 0, sizeof *space * (size_t)(2 * c));
    for (int64_t i = 0; i < k->pixels; i++)
        for (int64_t j = 0; j < c; j++) mean[j] += x[i * c + j];
    for (int64_t g = 0; g < k->groups; g++) {
        double sum = 0;
        for (int64_t j = 0; j < per; j++) sum += (double)mean[g * per + j];
        for (int64_t j = 0; j < per; j++) mean[g * per + j] = (float)(sum / size);
    }
    for (int64_t i = 0; i < k->pixels; i++)
        for (int64_t j = 0; j < c; j++) {
            float d = x[i * c + j] - mean[j];
            square[j] += d * d;
        }
    for (int64_t g = 0; g < k->groups; g++) {
        double sum = 0;
        for (int64_t j = g * per; j < (g + 1) * per; j++) sum += (double)square[j];
        double inverse = 1 / sqrt(sum / size + (double)k->epsilon);
        for (int64_t j = g * per; j < (g + 1) * per; j++) {
            square[j] = (float)(inverse * (double)scale[j]);
            mean[j] = shift[j] - mean[j] * square[j];
        }
    }
    for (int64_t i = 0; i < k->pixels; i++)
        for (int64_t j = 0; j < c; j++) y[i * c + j] = x[i * c + j] * square[j] + mean[j];
}

static tg_status run_grouped(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const grouped *k = step->own;
    int64_t size = k->channels * k->pixels;
    for (int64_t i = 0; i < k->images; i++) {
        const float *x = (const float *)ptr[0] + i * size;
        float *y = (float *)ptr[3] + i * size;
        if (k->last) image_by_pixels(k, x, ptr[1], ptr[2], y, ptr[4]);
        else image_by_channels(k, x, ptr[1], ptr[2], y);
    }
    return TG_OK;
}

static tg_status plan_grouped(tg_cpu_plan *p, const tg_node *node, int64_t groups)
{
    tg_operand all[5];
    for (int i = 0; i < 3; i++)
        if (!tg_cpu_is_float(p, node->in[i])) return tg_fail(TG_UNSUPPORTED, "not of floats");
    const tg_shape *s = &node->out[0].shape;
    TG_TRY(tg_cpu_value(p, node->in[0], &all[0]));
    grouped k = {.images = s->dim[0], .channels = s->dim[1]};
    k.groups = groups ? groups : k.channels;
    k.pixels = tg_shape_count(s) / (k.images * k.channels);
    k.epsilon = tg_attr_or(node, "epsilon", 1e-5f);
    k.last = tg_layout_is_last(s, &all[0].layout) && !tg_layout_is_plain(s, &all[0].layout);
    if (!k.last) TG_TRY(tg_cpu_plain(p, node->in[0], &all[0]));
    TG_TRY(tg_cpu_plain(p, node->in[1], &all[1]));
    TG_TRY(tg_cpu_plain(p, node->in[2], &all[2]));
    tg_layout layout = k.last ? tg_layout_last(s) : tg_layout_plain(s);
    all[3] = tg_cpu_new(p, &node->out[0], &layout);
    all[4] = (tg_operand){.dtype = TG_F32};
    all[4].buffer = tg_cpu_scratch(p, sizeof(float) * (size_t)(2 * k.channels));
    tg_cpu_step(p, node, run_grouped, tg_arena_dup(p->memory, &k, sizeof k), all, 5);
    tg_cpu_set(p, node, 0, &all[3]);
    p->stats->loops++;
    return TG_OK;
}

tg_status tg_cpu_plan_instance_norm(tg_cpu_plan *p, const tg_node *node)
{
    return plan_grouped(p, node, 0);
}

tg_status tg_cpu_plan_group_norm(tg_cpu_plan *p, const tg_node *node)
{
    return plan_grouped(p, node, tg_node_attr(node, "num_groups")->i);
}

/* ---- over the last axes ---- */

typedef struct rows {
    int64_t rows, columns, scales, shifts; /* parameters: 0, 1 or `columns` of them */
    float epsilon;
    bool centred;
    bool outside; /* the small number is added to the deviation, not to the variance */
} rows;

static const float *parameter(const void *at, int64_t n, int64_t columns, float *one)
{
    if (n == 1 && columns != 1) *one = *(const float *)at;
    return n == columns ? at : NULL;
}

static tg_status run_rows(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const rows *k = step->own;
    int64_t n = k->columns;
    int first = step->node->n_in;
    float one_scale = 1, one_shift = 0;
    const float *scale = k->scales ? parameter(ptr[1], k->scales, n, &one_scale) : NULL;
    const float *shift = k->shifts ? parameter(ptr[2], k->shifts, n, &one_shift) : NULL;
    for (int64_t i = 0; i < k->rows; i++) {
        const float *x = (const float *)ptr[0] + i * n;
        float *y = (float *)ptr[first] + i * n;
        float mean = k->centred ? (float)(sum_of(x, n) / (double)n) : 0;
        double square = squares_of(x, n, mean) / (double)n, e = (double)k->epsilon;
        float inverse = (float)(k->outside ? 1 / (sqrt(square) + e) : 1 / sqrt(square + e));
        scale_elements(x, n, mean, inverse * one_scale, scale, shift, y);
        if (one_shift != 0) scale_row(y, n, 1, one_shift, y);
        if (step->node->n_out > 1) ((float *)ptr[first + 1])[i] = mean;
        if (step->node->n_out > 2) ((float *)ptr[first + 2])[i] = inverse;
    }
    return TG_OK;
}

/* A parameter that repeats over the rows as a whole. */
static bool parameter_fits(const tg_cpu_plan *p, const tg_node *node, int slot, int64_t columns,
                           int64_t *count)
{
    *count = 0;
    if (slot >= node->n_in || node->in[slot] == TG_NO_VALUE) return true;
    if (!tg_cpu_is_float(p, node->in[slot])) return false;
    *count = tg_shape_count(&tg_cpu_type(p, node->in[slot])->shape);
    return *count == 1 || *count == columns;
}

static tg_status plan_rows(tg_cpu_plan *p, const tg_node *node, bool centred)
{
    if (!tg_cpu_is_float(p, node->in[0])) return tg_fail(TG_UNSUPPORTED, "not of floats");
    for (int i = 0; i < node->n_out; i++)
        if (node->out[i].dtype != TG_F32) return tg_fail(TG_UNSUPPORTED, "not of floats");
    const tg_shape *s = &node->out[0].shape;
    int64_t axis = tg_node_attr(node, "axis")->i;
    rows k = {.rows = 1, .columns = 1, .centred = centred};
    for (int i = 0; i < s->rank; i++) {
        if (i < (axis < 0 ? axis + s->rank : axis)) k.rows *= s->dim[i];
        else k.columns *= s->dim[i];
    }
    k.epsilon = tg_attr_or(node, "epsilon", 1e-5f);
    if (!parameter_fits(p, node, 1, k.columns, &k.scales) ||
        !parameter_fits(p, node, 2, k.columns, &k.shifts))
        return tg_fail(TG_UNSUPPORTED, "parameters repeat");
    return tg_cpu_loop(p, node, run_rows, &k, sizeof k, 0);
}

tg_status tg_cpu_plan_rms_norm(tg_cpu_plan *p, const tg_node *node)
{
    return plan_rows(p, node, false);
}

tg_status tg_cpu_plan_moments(tg_cpu_plan *p, const tg_node *node)
{
    return plan_rows(p, node, true);
}

/* The axes that are averaged innermost, so that a row is what has one mean. */
tg_status tg_cpu_plan_mean_variance(tg_cpu_plan *p, const tg_node *node)
{
    if (!tg_cpu_is_float(p, node->in[0])) return tg_fail(TG_UNSUPPORTED, "not of floats");
    const tg_shape *s = &node->out[0].shape;
    const tg_attr *over = tg_node_attr(node, "axes");
    bool inside[TG_MAX_RANK] = {false};
    int order[TG_MAX_RANK], n = 0;
    rows k = {.rows = 1, .columns = 1, .epsilon = 1e-9f, .centred = true, .outside = true};
    for (uint32_t i = 0; i < over->n; i++) inside[over->ints[i]] = true;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->rank; i++) {
            if (inside[i] != (pass == 1)) continue;
            order[n++] = i;
            *(pass ? &k.columns : &k.rows) *= s->dim[i];
        }
    tg_operand all[2];
    tg_layout layout = tg_layout_of_order(s, order);
    TG_TRY(tg_cpu_value(p, node->in[0], &all[0]));
    TG_TRY(tg_cpu_move(p, &all[0], &layout, &all[0]));
    all[1] = tg_cpu_new(p, &node->out[0], &layout);
    tg_cpu_step(p, node, run_rows, tg_arena_dup(p->memory, &k, sizeof k), all, 2);
    tg_cpu_set(p, node, 0, &all[1]);
    p->stats->loops++;
    return TG_OK;
}

/* ---- by neighbouring channels ---- */

typedef struct neighbours {
    int64_t pixels, channels, before, after;
    float alpha, beta, bias; /* alpha already over the size */
} neighbours;

/* z to the -beta in place; root: space of as many. All are padded to whole vectors. */
static void powers(float *z, float *root, int64_t n, float beta)
{
    if (beta == 0.75f || beta == 0.5f) {
        tg_vector_map(TG_V_SQRT, z, n);
        memcpy(root, z, sizeof *z * (size_t)n);
        if (beta == 0.75f) tg_vector_map(TG_V_SQRT, root, n);
        for (int64_t c = 0; c < n; c++) z[c] = beta == 0.5f ? 1 / z[c] : 1 / (z[c] * root[c]);
        return;
    }
    tg_vector_map(TG_V_LOG, z, n);
    for (int64_t c = 0; c < n; c++) z[c] *= -beta;
    tg_vector_map(TG_V_EXP, z, n);
}

static tg_status run_neighbours(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const neighbours *k = step->own;
    int64_t n = k->channels;
    float *square = ptr[2], *sum = square + (n + 31) / 16 * 16, *root = sum + (n + 31) / 16 * 16;
    for (int64_t i = 0; i < k->pixels; i++) {
        const float *x = (const float *)ptr[0] + i * n;
        float *y = (float *)ptr[1] + i * n;
        for (int64_t c = 0; c < n; c++) square[c] = x[c] * x[c];
        for (int64_t c = 0; c < n; c++) {
            int64_t from = c < k->before ? 0 : c - k->before;
            int64_t to = c + k->after >= n ? n - 1 : c + k->after;
            float all = 0;
            for (int64_t j = from; j <= to; j++) all += square[j];
            sum[c] = k->bias + k->alpha * all;
        }
        powers(sum, root, n, k->beta);
        for (int64_t c = 0; c < n; c++) y[c] = x[c] * sum[c];
    }
    return TG_OK;
}

tg_status tg_cpu_plan_lrn(tg_cpu_plan *p, const tg_node *node)
{
    tg_operand all[3];
    const tg_shape *s = &node->out[0].shape;
    if (!tg_cpu_is_float(p, node->in[0]) || s->rank < 2)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    int64_t size = tg_node_attr(node, "size")->i;
    neighbours k = {.channels = s->dim[1], .before = (size - 1) / 2, .after = size / 2};
    k.pixels = tg_shape_count(s) / k.channels;
    k.alpha = (float)((double)tg_attr_or(node, "alpha", 1e-4f) / (double)size);
    k.beta = tg_attr_or(node, "beta", 0.75f);
    k.bias = tg_attr_or(node, "bias", 1);
    tg_layout last = tg_layout_last(s);
    TG_TRY(tg_cpu_last(p, node->in[0], &all[0]));
    all[1] = tg_cpu_new(p, &node->out[0], &last);
    all[2] = (tg_operand){.dtype = TG_F32};
    all[2].buffer = tg_cpu_scratch(p, sizeof(float) * (size_t)(3 * (k.channels + 32)));
    tg_cpu_step(p, node, run_neighbours, tg_arena_dup(p->memory, &k, sizeof k), all, 3);
    tg_cpu_set(p, node, 0, &all[1]);
    p->stats->loops++;
    return TG_OK;
}
