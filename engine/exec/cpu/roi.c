/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RoiAlign of floats: channels lie last, so that the four pixels of a sample are four rows. */
#include "engine/ops/roi.h"
#include "loop.h"

#include <math.h>
#include <string.h>

typedef struct align {
    tg_roi_form form;
    int64_t images, channels, height, width, regions;
    bool max, wide; /* wide: images are numbered in 64 bits */
} align;

typedef float lanes __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t masks __attribute__((vector_size(16)));

static inline lanes greater(lanes a, lanes b)
{
    masks more = a > b;
    return (lanes)(((masks)a & more) | ((masks)b & ~more));
}

/* Four pixels and their weights; outside: it counts as 0. */
typedef struct sample {
    const float *pixel[4];
    float weight[4];
    bool outside;
} sample;

static sample sample_at(const align *k, const float *image, double v, double u)
{
    sample s = {.outside = true};
    if (!(v >= -1 && v <= (double)k->height && u >= -1 && u <= (double)k->width)) return s;
    v = fmin(fmax(v, 0), (double)(k->height - 1));
    u = fmin(fmax(u, 0), (double)(k->width - 1));
    int64_t i = (int64_t)v, j = (int64_t)u;
    int64_t below = i + 1 < k->height ? i + 1 : i, right = j + 1 < k->width ? j + 1 : j;
    double b = v - (double)i, r = u - (double)j;
    const int64_t at[] = {i * k->width + j, i * k->width + right, below * k->width + j,
                          below * k->width + right};
    const double weight[] = {(1 - b) * (1 - r), (1 - b) * r, b * (1 - r), b * r};
    for (int n = 0; n < 4; n++) {
        s.pixel[n] = image + at[n] * k->channels;
        s.weight[n] = (float)weight[n];
    }
    s.outside = false;
    return s;
}

static void add_sample(const sample *s, int64_t n, float *y)
{
    int64_t c = 0;
    if (s->outside) return;
    for (; c + 4 <= n; c += 4)
        *(lanes *)(y + c) += *(const lanes *)(s->pixel[0] + c) * s->weight[0] +
                             *(const lanes *)(s->pixel[1] + c) * s->weight[1] +
                             *(const lanes *)(s->pixel[2] + c) * s->weight[2] +
                             *(const lanes *)(s->pixel[3] + c) * s->weight[3];
    for (; c < n; c++)
        for (int i = 0; i < 4; i++) y[c] += s->pixel[i][c] * s->weight[i];
}

static void take_greatest(const sample *s, int64_t n, bool first, float *y)
{
    int64_t c = 0;
    if (first)
        for (int64_t i = 0; i < n; i++) y[i] = s->outside ? 0 : -INFINITY;
    if (s->outside) {
        for (int64_t i = 0; i < n; i++) y[i] = fmaxf(y[i], 0);
        return;
    }
    for (; c + 4 <= n; c += 4) {
        lanes most = *(lanes *)(y + c);
        for (int i = 0; i < 4; i++)
            most = greater(*(const lanes *)(s->pixel[i] + c) * s->weight[i], most);
        *(lanes *)(y + c) = most;
    }
    for (; c < n; c++)
        for (int i = 0; i < 4; i++) y[c] = fmaxf(y[c], s->pixel[i][c] * s->weight[i]);
}

static void fill_cell(const align *k, const float *image, const tg_roi *r, int64_t i, int64_t j,
                      float *y)
{
    int64_t n = 0, channels = k->channels;
    memset(y, 0, (size_t)channels * sizeof *y);
    for (int64_t a = 0; a < r->rows; a++)
        for (int64_t b = 0; b < r->columns; b++, n++) {
            double v = r->top + r->height * ((double)i + ((double)a + 0.5) / (double)r->rows);
            double u = r->left + r->width * ((double)j + ((double)b + 0.5) / (double)r->columns);
            sample s = sample_at(k, image, v, u);
            if (k->max) take_greatest(&s, channels, n == 0, y);
            else add_sample(&s, channels, y);
        }
    float part = n ? 1 / (float)n : 0;
    for (int64_t c = 0; !k->max && c < channels; c++) y[c] *= part;
}

static tg_status run_align(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const align *k = step->own;
    const float *x = ptr[0], *rois = ptr[1];
    float *y = ptr[3];
    for (int64_t n = 0; n < k->regions; n++) {
        int64_t image = k->wide ? ((const int64_t *)ptr[2])[n] : ((const int32_t *)ptr[2])[n];
        const double roi[] = {(double)rois[4 * n], (double)rois[4 * n + 1], (double)rois[4 * n + 2],
                              (double)rois[4 * n + 3]};
        tg_roi r;
        tg_status status = tg_roi_of(&k->form, roi, &r);
        if (status == TG_OK && (image < 0 || image >= k->images))
            status =
                tg_fail(TG_INVALID, "image %lld of %lld", (long long)image, (long long)k->images);
        if (status != TG_OK) return tg_wrap(status, "RoiAlign %s", step->node->name);
        const float *at = x + image * k->height * k->width * k->channels;
        for (int64_t i = 0; i < k->form.height; i++)
            for (int64_t j = 0; j < k->form.width; j++, y += k->channels)
                fill_cell(k, at, &r, i, j, y);
    }
    return TG_OK;
}

tg_status tg_cpu_plan_roi_align(tg_cpu_plan *p, const tg_node *node)
{
    const tg_type *images = tg_cpu_type(p, node->in[2]);
    const tg_shape *x = &tg_cpu_type(p, node->in[0])->shape;
    const tg_shape *out = &node->out[0].shape;
    if (!tg_cpu_is_float(p, node->in[0]) || !tg_cpu_is_float(p, node->in[1]) ||
        (images->dtype != TG_I64 && images->dtype != TG_I32) || !tg_shape_count(out))
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    align k = {.images = x->dim[0], .channels = x->dim[1], .height = x->dim[2], .width = x->dim[3]};
    const char *shift = tg_node_attr(node, "coordinate_transformation_mode")->s;
    k.form = (tg_roi_form){strcmp(shift, "half_pixel") == 0,
                           (double)tg_node_attr(node, "spatial_scale")->f,
                           tg_node_attr(node, "sampling_ratio")->i, out->dim[2], out->dim[3]};
    k.regions = out->dim[0];
    k.max = strcmp(tg_node_attr(node, "mode")->s, "max") == 0;
    k.wide = images->dtype == TG_I64;
    tg_layout last = tg_layout_last(out);
    tg_operand all[4];
    TG_TRY(tg_cpu_last(p, node->in[0], &all[0]));
    TG_TRY(tg_cpu_plain(p, node->in[1], &all[1]));
    TG_TRY(tg_cpu_plain(p, node->in[2], &all[2]));
    all[3] = tg_cpu_new(p, &node->out[0], &last);
    tg_cpu_set(p, node, 0, &all[3]);
    tg_cpu_step(p, node, run_align, tg_arena_dup(p->memory, &k, sizeof k), all, 4);
    p->stats->loops++;
    return TG_OK;
}
