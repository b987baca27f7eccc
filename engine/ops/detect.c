/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What detectors end with: NonMaxSuppression, and RoiAlign. */
#include "compute.h"
#include "roi.h"
#include "element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tg_status infer_non_max_suppression(tg_infer *infer)
{
    const tg_shape *boxes = &infer->in[0].shape, *scores = &infer->in[1].shape;
    tg_attr *center = tg_infer_attr(infer, "center_point_box");
    center->i = center->i != 0;
    TG_TRY(tg_need_rank(infer, 0, "the boxes", 3, 3));
    TG_TRY(tg_need_rank(infer, 1, "the scores", 3, 3));
    TG_TRY(tg_need_float(infer, 0, "the boxes"));
    TG_TRY(tg_need_float(infer, 1, "the scores"));
    if (boxes->dim[2] != 4 || boxes->dim[0] != scores->dim[0] || boxes->dim[1] != scores->dim[2])
        return tg_fail(TG_SHAPE, "the scores do not fit the boxes");
    for (int k = 2; k < infer->n_in; k++) {
        if (!has_type(infer, k)) continue;
        TG_TRY(tg_element_numeric(infer->in[k].dtype));
        if (tg_shape_count(&infer->in[k].shape) != 1)
            return tg_fail(TG_SHAPE, "input %d is not one number", k);
    }
    infer->out[0] = (tg_type){TG_I64, {.rank = 2, .dim = {-1, 3}}};
    return TG_OK;
}

typedef struct box {
    double top, left, bottom, right, score;
    int64_t index;
} box;

static box box_of(const double *v, bool center)
{
    if (center)
        return (box){.left = v[0] - v[2] / 2,
                     .right = v[0] + v[2] / 2,
                     .top = v[1] - v[3] / 2,
                     .bottom = v[1] + v[3] / 2};
    return (box){.top = fmin(v[0], v[2]),
                 .bottom = fmax(v[0], v[2]),
                 .left = fmin(v[1], v[3]),
                 .right = fmax(v[1], v[3])};
}

static double overlap(const box *a, const box *b)
{
    double h = fmin(a->bottom, b->bottom) - fmax(a->top, b->top);
    double w = fmin(a->right, b->right) - fmax(a->left, b->left);
    double both = fmax(h, 0) * fmax(w, 0);
    double all = (a->bottom - a->top) * (a->right - a->left) +
                 (b->bottom - b->top) * (b->right - b->left) - both;
    return all > 0 ? both / all : 0;
}

static int by_score(const void *pa, const void *pb)
{
    const box *a = pa, *b = pb;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static double number(const tg_call *call, int slot, double otherwise)
{
    return has_input(call, slot) ? tg_tensor_f64(&call->in[slot], 0) : otherwise;
}

/* The boxes of one class, best first, in `b`; those kept are moved to its front. */
static int64_t keep_best(box *b, int64_t n, int64_t most, double limit)
{
    int64_t kept = 0;
    qsort(b, (size_t)n, sizeof *b, by_score);
    for (int64_t i = 0; i < n && kept < most; i++) {
        bool free_of = true;
        for (int64_t k = 0; k < kept && free_of; k++) free_of = overlap(&b[i], &b[k]) <= limit;
        if (free_of) b[kept++] = b[i];
    }
    return kept;
}

tg_status kernel_non_max_suppression(tg_call *call)
{
    const double *boxes = tg_call_doubles(call, 0), *scores = tg_call_doubles(call, 1);
    int64_t batch = call->in[1].shape.dim[0], classes = call->in[1].shape.dim[1];
    int64_t n = call->in[0].shape.dim[1], found = 0;
    int64_t most = has_input(call, 2) ? tg_tensor_i64(&call->in[2], 0) : 0;
    double limit = number(call, 3, 0), least = number(call, 4, -INFINITY);
    if (most > n) most = n;
    if (most < 0) most = 0;
    box *b = TG_NEW_ARRAY(call->arena, box, n + 1);
    int64_t *out = TG_NEW_ARRAY(call->arena, int64_t, batch * classes * most * 3 + 1);
    for (int64_t row = 0; row < batch * classes; row++) {
        int64_t image = row / classes, live = 0;
        for (int64_t i = 0; i < n; i++) {
            double score = scores[row * n + i];
            if (!(score > least)) continue;
            b[live] = box_of(boxes + (image * n + i) * 4, call_int(call, "center_point_box"));
            b[live].score = score;
            b[live++].index = i;
        }
        int64_t kept = keep_best(b, live, most, limit);
        for (int64_t k = 0; k < kept; k++, found++) {
            out[found * 3] = image;
            out[found * 3 + 1] = row % classes;
            out[found * 3 + 2] = b[k].index;
        }
    }
    tg_call_alloc(call, 0, TG_I64, tg_shape_of(found, 3));
    if (found) memcpy(call->out[0].data, out, (size_t)found * 3 * sizeof *out);
    return TG_OK;
}

static tg_status check_roi_words(tg_infer *infer)
{
    const char *mode = tg_infer_attr(infer, "mode")->s;
    const char *shift = tg_infer_attr(infer, "coordinate_transformation_mode")->s;
    if (strcmp(mode, "avg") != 0 && strcmp(mode, "max") != 0)
        return tg_fail(TG_INVALID, "attribute mode is '%s'", mode);
    if (strcmp(shift, "half_pixel") != 0 && strcmp(shift, "output_half_pixel") != 0)
        return tg_fail(TG_INVALID, "attribute coordinate_transformation_mode is '%s'", shift);
    return TG_OK;
}

enum { MOST_CELLS = 1 << 12 };

tg_status infer_roi_align(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *rois = &infer->in[1].shape;
    int64_t h = tg_infer_attr(infer, "output_height")->i;
    int64_t w = tg_infer_attr(infer, "output_width")->i;
    int64_t ratio = tg_infer_attr(infer, "sampling_ratio")->i;
    TG_TRY(tg_need_rank(infer, 0, "the input", 4, 4));
    TG_TRY(tg_need_rank(infer, 1, "the regions", 2, 2));
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_float(infer, 1, "the regions"));
    TG_TRY(tg_need_vector(infer, 2, "the list of images", rois->dim[0]));
    TG_TRY(check_roi_words(infer));
    if (rois->dim[1] != 4) return tg_fail(TG_SHAPE, "a region has %d numbers", (int)rois->dim[1]);
    if (!tg_element_integer(infer->in[2].dtype))
        return tg_fail(TG_TYPE, "the list of images is not of integers");
    if (h < 1 || w < 1 || h > MOST_CELLS || w > MOST_CELLS || ratio < 0 || ratio > MOST_CELLS)
        return tg_fail(TG_INVALID, "regions of %lld x %lld cells, %lld samples", (long long)h,
                       (long long)w, (long long)ratio);
    if (x->dim[2] == 0 || x->dim[3] == 0) return tg_fail(TG_SHAPE, "the input is empty");
    infer->out[0] = (tg_type){infer->in[0].dtype, tg_shape_of(rois->dim[0], x->dim[1], h, w)};
    return TG_OK;
}

/* The four pixels around a point, each times its weight, summed or the greatest. */
static double blend(const double *x, int64_t height, int64_t width, double v, double u, bool max)
{
    if (!(v >= -1 && v <= (double)height && u >= -1 && u <= (double)width)) return 0;
    v = fmin(fmax(v, 0), (double)(height - 1));
    u = fmin(fmax(u, 0), (double)(width - 1));
    int64_t i = (int64_t)v, j = (int64_t)u;
    int64_t below = i + 1 < height ? i + 1 : i, right = j + 1 < width ? j + 1 : j;
    double b = v - (double)i, r = u - (double)j;
    double p[] = {(1 - b) * (1 - r) * x[i * width + j], (1 - b) * r * x[i * width + right],
                  b * (1 - r) * x[below * width + j], b * r * x[below * width + right]};
    if (max) return fmax(fmax(p[0], p[1]), fmax(p[2], p[3]));
    return p[0] + p[1] + p[2] + p[3];
}

tg_status tg_roi_of(const tg_roi_form *form, const double *roi, tg_roi *r)
{
    double shift = form->half ? 0.5 : 0;
    double w = (roi[2] - roi[0]) * form->scale, h = (roi[3] - roi[1]) * form->scale;
    if (!form->half) w = fmax(w, 1), h = fmax(h, 1);
    *r = (tg_roi){.left = roi[0] * form->scale - shift, .top = roi[1] * form->scale - shift};
    r->height = h / (double)form->height;
    r->width = w / (double)form->width;
    if (!(fabs(r->height) <= MOST_CELLS && fabs(r->width) <= MOST_CELLS))
        return tg_fail(TG_INVALID, "a region has cells of %g x %g pixels", r->height, r->width);
    r->rows = form->ratio ? form->ratio : (int64_t)ceil(r->height);
    r->columns = form->ratio ? form->ratio : (int64_t)ceil(r->width);
    return TG_OK;
}

static tg_roi_form form_of(const tg_call *call)
{
    const char *shift = call_attr(call, "coordinate_transformation_mode")->s;
    return (tg_roi_form){strcmp(shift, "half_pixel") == 0, call_float(call, "spatial_scale"),
                         call_int(call, "sampling_ratio"), call_int(call, "output_height"),
                         call_int(call, "output_width")};
}

static double cell_of(const double *x, const tg_shape *s, const tg_roi *r, int64_t i, int64_t j,
                      bool max)
{
    double sum = 0, most = 0;
    int64_t n = 0;
    for (int64_t a = 0; a < r->rows; a++)
        for (int64_t b = 0; b < r->columns; b++, n++) {
            double v = r->top + r->height * ((double)i + ((double)a + 0.5) / (double)r->rows);
            double u = r->left + r->width * ((double)j + ((double)b + 0.5) / (double)r->columns);
            double p = blend(x, s->dim[2], s->dim[3], v, u, max);
            sum += p;
            most = n ? fmax(most, p) : p;
        }
    if (max) return most;
    return n ? sum / (double)n : 0;
}

tg_status kernel_roi_align(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape, *out = &call->out[0].shape;
    const double *x = tg_call_doubles(call, 0), *rois = tg_call_doubles(call, 1);
    bool max = strcmp(call_attr(call, "mode")->s, "max") == 0;
    tg_roi_form form = form_of(call);
    int64_t plane = s->dim[2] * s->dim[3], at = 0;
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    for (int64_t k = 0; k < out->dim[0]; k++) {
        int64_t image = tg_tensor_i64(&call->in[2], k);
        tg_roi r;
        TG_TRY(tg_roi_of(&form, rois + 4 * k, &r));
        if (image < 0 || image >= s->dim[0])
            return tg_fail(TG_INVALID, "image %lld of %lld", (long long)image,
                           (long long)s->dim[0]);
        for (int64_t c = 0; c < out->dim[1]; c++)
            for (int64_t i = 0; i < out->dim[2]; i++)
                for (int64_t j = 0; j < out->dim[3]; j++)
                    y[at++] = cell_of(x + (image * s->dim[1] + c) * plane, s, &r, i, j, max);
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
