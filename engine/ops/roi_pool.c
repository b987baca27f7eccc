/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxRoiPool: the greatest of each cell of a region (Girshick, Fast R-CNN, ICCV 2015, section 2.1).
 */
#include "compute.h"

#include <math.h>

tg_status infer_max_roi_pool(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *rois = &infer->in[1].shape;
    const tg_attr *size = tg_infer_attr(infer, "pooled_shape");
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_same(infer, 1, 0, "the regions"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 4, 4));
    TG_TRY(tg_need_rank(infer, 1, "the regions", 2, 2));
    if (rois->dim[1] != 5) return tg_fail(TG_SHAPE, "a region has not 5 numbers");
    if (size->n != 2 || size->ints[0] < 1 || size->ints[1] < 1)
        return tg_fail(TG_INVALID, "attribute pooled_shape is no height and width");
    if (!(tg_infer_attr(infer, "spatial_scale")->f > 0))
        return tg_fail(TG_INVALID, "attribute spatial_scale is not above 0");
    infer->out[0] = (tg_type){infer->in[0].dtype,
                              tg_shape_of(rois->dim[0], x->dim[1], size->ints[0], size->ints[1])};
    return TG_OK;
}

/* The elements [first, last) of an axis that lie in cell i of n between two corners. */
static void cell(double from, double to, double scale, int64_t i, int64_t n, int64_t size,
                 int64_t *first, int64_t *last)
{
    double start = round(from * scale), span = fmax(round(to * scale) - start + 1, 1);
    double low = floor((double)i * span / (double)n) + start;
    double high = ceil((double)(i + 1) * span / (double)n) + start;
    *first = (int64_t)fmin(fmax(low, 0), (double)size);
    *last = (int64_t)fmin(fmax(high, 0), (double)size);
}

/* 0 where a cell lies outside. */
static double greatest(const double *x, int64_t width, const int64_t *rows, const int64_t *columns)
{
    bool any = false;
    double most = 0;
    for (int64_t i = rows[0]; i < rows[1]; i++)
        for (int64_t j = columns[0]; j < columns[1]; j++) {
            double v = x[i * width + j];
            if (!any || v > most) most = v;
            any = true;
        }
    return most;
}

tg_status kernel_max_roi_pool(tg_call *call)
{
    const double *x = tg_call_doubles(call, 0), *rois = tg_call_doubles(call, 1);
    const tg_shape *s = &call->in[0].shape, *out = &call->out[0].shape;
    double scale = call_float(call, "spatial_scale");
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    for (int64_t at = 0; at < tg_tensor_count(&call->out[0]); at++) {
        int64_t j = at % out->dim[3], i = at / out->dim[3] % out->dim[2], rows[2], columns[2];
        int64_t c = at / (out->dim[3] * out->dim[2]) % out->dim[1];
        const double *roi = rois + at / (out->dim[3] * out->dim[2] * out->dim[1]) * 5;
        if (!(roi[0] >= 0 && roi[0] < (double)s->dim[0]))
            return tg_fail(TG_INVALID, "image %g of %lld", roi[0], (long long)s->dim[0]);
        cell(roi[2], roi[4], scale, i, out->dim[2], s->dim[2], &rows[0], &rows[1]);
        cell(roi[1], roi[3], scale, j, out->dim[3], s->dim[3], &columns[0], &columns[1]);
        const double *plane = x + ((int64_t)roi[0] * s->dim[1] + c) * s->dim[2] * s->dim[3];
        y[at] = greatest(plane, s->dim[3], rows, columns);
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
