/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resize: every axis is resampled on its own, with taps computed once for each output place. */
#include "resize.h"

#include "compute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What roi, scales and sizes ask for, whether they come as attributes or as inputs. */
typedef struct request {
    const tg_op_row *row;
    const tg_attr *attr;
    tg_attr roi, scales, sizes; /* kind TG_ATTR_NONE: absent */
    tg_arena *arena;
} request;

/* One axis of the plan. */
typedef struct axis_plan {
    int64_t in, out;
    double scale; /* out per in, as asked for */
    double start, end;
    bool sized; /* by sizes: the scale is exactly out / in */
} axis_plan;

static tg_attr floats_of(tg_arena *arena, const tg_tensor *t)
{
    int64_t n = tg_tensor_count(t);
    float *v = TG_NEW_ARRAY(arena, float, n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (float)tg_tensor_f64(t, i);
    return (tg_attr){.kind = n ? TG_ATTR_FLOATS : TG_ATTR_NONE, .n = (uint32_t)n, .floats = v};
}

static tg_attr ints_of(tg_arena *arena, const tg_tensor *t)
{
    int64_t n = tg_tensor_count(t), *v = TG_NEW_ARRAY(arena, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = tg_tensor_i64(t, i);
    return (tg_attr){.kind = n ? TG_ATTR_INTS : TG_ATTR_NONE, .n = (uint32_t)n, .ints = v};
}

static request request_of(const tg_op_row *row, const tg_attr *attr, tg_arena *arena)
{
    return (request){row,
                     attr,
                     *tg_row_attr(row, attr, "roi"),
                     *tg_row_attr(row, attr, "scales"),
                     *tg_row_attr(row, attr, "sizes"),
                     arena};
}

static void take_inputs(request *r, const tg_tensor *roi, const tg_tensor *scales,
                        const tg_tensor *sizes)
{
    if (roi) r->roi = floats_of(r->arena, roi);
    if (scales) r->scales = floats_of(r->arena, scales);
    if (sizes) r->sizes = ints_of(r->arena, sizes);
}

static const char *text_attr(const request *r, const char *name)
{
    return tg_row_attr(r->row, r->attr, name)->s;
}

static bool is_mode(const request *r, const char *name, const char *value)
{
    return strcmp(text_attr(r, name), value) == 0;
}

/* The axes that scales, sizes and roi speak of. */
static tg_status list_axes(const request *r, int64_t rank, int64_t *axes, uint32_t *n)
{
    const tg_attr *given = tg_row_attr(r->row, r->attr, "axes");
    *n = given->kind == TG_ATTR_INTS ? given->n : (uint32_t)rank;
    if (*n > rank) return tg_fail(TG_INVALID, "attribute axes has %u entries", *n);
    bool seen[TG_MAX_RANK] = {false};
    for (uint32_t i = 0; i < *n; i++) {
        axes[i] = i;
        if (given->kind == TG_ATTR_INTS) TG_TRY(tg_axis_normalise(given->ints[i], rank, &axes[i]));
        if (seen[axes[i]])
            return tg_fail(TG_INVALID, "axis %lld is listed twice", (long long)axes[i]);
        seen[axes[i]] = true;
    }
    return TG_OK;
}

static tg_status plan_scales(const request *r, const int64_t *axes, uint32_t n, axis_plan *plan)
{
    if (r->scales.n != n)
        return tg_fail(TG_INVALID, "there are %u scales for %u axes", r->scales.n, n);
    for (uint32_t i = 0; i < n; i++) {
        axis_plan *a = &plan[axes[i]];
        float scale = r->scales.floats[i];
        if (!(scale > 0) || !(scale * (float)a->in < 0x1p40f))
            return tg_fail(TG_INVALID, "axis %lld is scaled by %g", (long long)axes[i], scale);
        a->scale = scale;
        a->out = (int64_t)floorf(scale * (float)a->in);
        a->sized = a->out == a->in && scale == 1;
    }
    return TG_OK;
}

/* One scale for all axes, so that no size is larger (smaller) than asked for. */
static void keep_aspect(const int64_t *axes, uint32_t n, bool larger, axis_plan *plan)
{
    double scale = 0;
    for (uint32_t i = 0; i < n; i++) {
        double s = plan[axes[i]].scale;
        if (i == 0 || (larger ? s > scale : s < scale)) scale = s;
    }
    for (uint32_t i = 0; i < n; i++) {
        axis_plan *a = &plan[axes[i]];
        a->scale = scale;
        a->out = (int64_t)floor(scale * (double)a->in + 0.5);
        a->sized = false;
    }
}

static tg_status plan_sizes(const request *r, const int64_t *axes, uint32_t n, axis_plan *plan)
{
    if (r->sizes.n != n)
        return tg_fail(TG_INVALID, "there are %u sizes for %u axes", r->sizes.n, n);
    for (uint32_t i = 0; i < n; i++) {
        axis_plan *a = &plan[axes[i]];
        a->out = r->sizes.ints[i];
        if (a->out < 0 || a->out >= (int64_t)1 << 40)
            return tg_fail(TG_INVALID, "axis %lld gets size %lld", (long long)axes[i],
                           (long long)a->out);
        a->scale = a->in ? (double)a->out / (double)a->in : 1;
        a->sized = true;
    }
    if (!is_mode(r, "keep_aspect_ratio_policy", "stretch"))
        keep_aspect(axes, n, is_mode(r, "keep_aspect_ratio_policy", "not_smaller"), plan);
    return TG_OK;
}

static tg_status plan_roi(const request *r, const int64_t *axes, uint32_t n, axis_plan *plan)
{
    if (!is_mode(r, "coordinate_transformation_mode", "tf_crop_and_resize")) return TG_OK;
    if (r->roi.kind == TG_ATTR_NONE || r->roi.n != 2 * n)
        return tg_fail(TG_INVALID, "the region has %u entries for %u axes", r->roi.n, n);
    for (uint32_t i = 0; i < n; i++) {
        plan[axes[i]].start = r->roi.floats[i];
        plan[axes[i]].end = r->roi.floats[n + i];
    }
    return TG_OK;
}

static tg_status plan_axes(const request *r, const tg_shape *x, axis_plan *plan)
{
    int64_t axes[TG_MAX_RANK];
    uint32_t n = 0;
    for (int i = 0; i < x->rank; i++) plan[i] = (axis_plan){x->dim[i], x->dim[i], 1, 0, 1, true};
    TG_TRY(list_axes(r, x->rank, axes, &n));
    bool scaled = r->scales.kind != TG_ATTR_NONE, sized = r->sizes.kind != TG_ATTR_NONE;
    if (scaled == sized)
        return tg_fail(TG_INVALID, scaled ? "scales and sizes are both given"
                                          : "neither scales nor sizes are given");
    if (scaled) TG_TRY(plan_scales(r, axes, n, plan));
    else TG_TRY(plan_sizes(r, axes, n, plan));
    for (int i = 0; i < x->rank; i++)
        if (plan[i].in == 0 && plan[i].out)
            return tg_fail(TG_SHAPE, "axis %d is empty and cannot get size %lld", i,
                           (long long)plan[i].out);
    return plan_roi(r, axes, n, plan);
}

static tg_status check_choice(tg_infer *infer, const char *name, const char *choices)
{
    tg_attr *a = tg_infer_attr(infer, name);
    char word[64];
    snprintf(word, sizeof word, " %s ", a->kind == TG_ATTR_STR ? a->s : "");
    if (strstr(choices, word)) return TG_OK;
    return tg_fail(TG_INVALID, "attribute %s is %s", name, a->kind == TG_ATTR_STR ? a->s : "?");
}

static tg_status check_choices(tg_infer *infer)
{
    TG_TRY(check_choice(infer, "mode", " nearest linear cubic "));
    TG_TRY(
        check_choice(infer, "nearest_mode", " round_prefer_floor round_prefer_ceil floor ceil "));
    TG_TRY(check_choice(infer, "keep_aspect_ratio_policy", " stretch not_larger not_smaller "));
    return check_choice(infer, "coordinate_transformation_mode",
                        " half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
                        "asymmetric tf_crop_and_resize tf_half_pixel_for_nn ");
}

/* Empty lists mean absent; scales of some axes become scales of all. */
static tg_status canonical_lists(tg_infer *infer)
{
    static const char *const lists[] = {"roi", "scales", "sizes"};
    for (int i = 0; i < 3; i++) {
        tg_attr *a = tg_infer_attr(infer, lists[i]);
        if (a->n == 0) a->kind = TG_ATTR_NONE;
    }
    request r = request_of(infer->row, infer->attr, infer->arena);
    if (!is_mode(&r, "coordinate_transformation_mode", "tf_crop_and_resize"))
        *tg_infer_attr(infer, "roi") = (tg_attr){.kind = TG_ATTR_NONE};
    int64_t axes[TG_MAX_RANK], rank = infer->in[0].shape.rank;
    uint32_t n = 0;
    TG_TRY(list_axes(&r, rank, axes, &n));
    tg_attr *a = tg_infer_attr(infer, "axes"), *s = tg_infer_attr(infer, "scales");
    bool crop = tg_infer_attr(infer, "roi")->kind != TG_ATTR_NONE || has_type(infer, 1);
    if (a->kind == TG_ATTR_INTS && s->kind == TG_ATTR_FLOATS && s->n == n && !crop) {
        float *all = TG_NEW_ARRAY(infer->arena, float, rank + 1);
        for (int i = 0; i < rank; i++) all[i] = 1;
        for (uint32_t i = 0; i < n; i++) all[axes[i]] = s->floats[i];
        *s = (tg_attr){.kind = TG_ATTR_FLOATS, .n = (uint32_t)rank, .floats = all};
        *a = (tg_attr){.kind = TG_ATTR_NONE};
    } else if (a->kind == TG_ATTR_INTS) {
        bool plain = n == (uint32_t)rank;
        for (uint32_t i = 0; i < n; i++) plain &= axes[i] == i;
        if (plain) *a = (tg_attr){.kind = TG_ATTR_NONE};
        else tg_infer_set_ints(infer, "axes", axes, n);
    }
    return TG_OK;
}

/* What is no number is moved, but not mixed. */
static tg_status check_mixed(const tg_infer *infer)
{
    char kind = tg_dtype_kind(infer->in[0].dtype);
    request r = request_of(infer->row, infer->attr, infer->arena);
    if ((kind != 's' && kind != 'c') || is_mode(&r, "mode", "nearest")) return TG_OK;
    return tg_fail(TG_TYPE, "elements of type %s have nothing between them",
                   tg_dtype_name(infer->in[0].dtype));
}

tg_status infer_resize(tg_infer *infer)
{
    axis_plan plan[TG_MAX_RANK];
    TG_TRY(check_choices(infer));
    TG_TRY(check_mixed(infer));
    TG_TRY(canonical_lists(infer));
    request r = request_of(infer->row, infer->attr, infer->arena);
    infer->out[0].dtype = infer->in[0].dtype;
    const tg_tensor *value[4];
    for (int slot = 1; slot < 4; slot++) {
        value[slot] = tg_infer_value(infer, slot);
        if (has_type(infer, slot) && !value[slot]) return TG_OK; /* the data decide */
    }
    take_inputs(&r, value[1], value[2], value[3]);
    TG_TRY(plan_axes(&r, &infer->in[0].shape, plan));
    tg_shape out = {.rank = infer->in[0].shape.rank};
    for (int i = 0; i < out.rank; i++) out.dim[i] = plan[i].out;
    infer->out[0].shape = out;
    return TG_OK;
}

/* Place in the input of output place `x`; *outside if the extrapolation value stands there. */
static double source_place(const request *r, const axis_plan *a, int64_t i, bool *outside)
{
    double x = (double)i, in = (double)a->in, out = a->sized ? (double)a->out : a->scale * in;
    /* With sizes the quotient is taken last, so that halves stay halves. */
    double half = a->sized ? (x + 0.5) * in / out : (x + 0.5) / a->scale;
    const char *mode = text_attr(r, "coordinate_transformation_mode");
    *outside = false;
    if (strcmp(mode, "half_pixel") == 0) return half - 0.5;
    if (strcmp(mode, "half_pixel_symmetric") == 0)
        return in / 2 * (1 - (double)a->out / out) + half - 0.5;
    if (strcmp(mode, "pytorch_half_pixel") == 0) return a->out > 1 ? half - 0.5 : 0;
    if (strcmp(mode, "align_corners") == 0) return out == 1 ? 0 : x * (in - 1) / (out - 1);
    if (strcmp(mode, "asymmetric") == 0) return a->sized ? x * in / out : x / a->scale;
    if (strcmp(mode, "tf_half_pixel_for_nn") == 0) return half;
    double place = a->out > 1 ? a->start * (in - 1) + x * (a->end - a->start) * (in - 1) / (out - 1)
                              : 0.5 * (a->start + a->end) * (in - 1);
    *outside = place < 0 || place > in - 1;
    return place;
}

static int64_t nearest(const request *r, double x)
{
    const char *mode = text_attr(r, "nearest_mode");
    double low = floor(x);
    if (strcmp(mode, "floor") == 0) return (int64_t)low;
    if (strcmp(mode, "ceil") == 0) return (int64_t)ceil(x);
    if (x - low == 0.5) return (int64_t)low + (strcmp(mode, "round_prefer_ceil") == 0);
    return (int64_t)floor(x + 0.5);
}

static double hat(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

/* Keys' cubic convolution kernel. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

/* What one axis does: output place i is the weighted sum of `n` input places. */
typedef struct taps {
    int64_t n;
    int64_t *at;    /* out x n */
    double *weight; /* out x n */
    bool *outside;  /* out */
} taps;

static void weigh(const request *r, const axis_plan *a, double x, double squeeze, int64_t start,
                  int64_t n, int64_t *at, double *weight)
{
    bool is_cubic = is_mode(r, "mode", "cubic");
    double coefficient = tg_row_float(r->row, r->attr, "cubic_coeff_a"), sum = 0;
    bool exclude = tg_row_int(r->row, r->attr, "exclude_outside") != 0;
    double left = ceil(x) - 1; /* the neighbour on the left, also of a whole place */
    for (int64_t k = 0; k < n; k++) {
        int64_t place = (int64_t)left + start + k;
        double d = ((double)place - x) * squeeze;
        weight[k] = is_cubic ? cubic(d, coefficient) : hat(d);
        if (exclude && (place < 0 || place >= a->in)) weight[k] = 0;
        sum += weight[k];
        at[k] = place < 0 ? 0 : place >= a->in ? a->in - 1 : place;
    }
    for (int64_t k = 0; k < n; k++) weight[k] /= sum;
}

static taps taps_of(const request *r, const axis_plan *a)
{
    bool is_nearest = is_mode(r, "mode", "nearest");
    double squeeze = tg_row_int(r->row, r->attr, "antialias") && a->scale < 1 ? a->scale : 1;
    double support = is_mode(r, "mode", "cubic") ? 2 : 1;
    int64_t start = (int64_t)floor(-support / squeeze) + 1, n = is_nearest ? 1 : 2 - 2 * start;
    taps t = {n, TG_NEW_ARRAY(r->arena, int64_t, a->out * n + 1),
              TG_NEW_ARRAY(r->arena, double, a->out *n + 1),
              TG_NEW_ARRAY(r->arena, bool, a->out + 1)};
    for (int64_t i = 0; i < a->out; i++) {
        double x = source_place(r, a, i, &t.outside[i]);
        /* Far outside all places are the edge; this keeps the conversion to integers defined. */
        if (!(x > -0x1p40)) x = -0x1p40;
        if (x > 0x1p40) x = 0x1p40;
        if (is_nearest) {
            int64_t place = nearest(r, x);
            t.at[i] = place < 0 ? 0 : place >= a->in ? a->in - 1 : place;
            t.weight[i] = 1;
        } else {
            weigh(r, a, x, squeeze, start, n, t.at + i * n, t.weight + i * n);
        }
    }
    return t;
}

/* y = x resampled along one axis: outer x in x inner becomes outer x out x inner. */
static void resample(const taps *t, const axis_plan *a, const double *x, double *y, int64_t outer,
                     int64_t inner)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < a->out; i++)
            for (int64_t k = 0; k < t->n; k++) {
                const double *from = x + (o * a->in + t->at[i * t->n + k]) * inner;
                double *to = y + (o * a->out + i) * inner, w = t->weight[i * t->n + k];
                for (int64_t e = 0; e < inner; e++) to[e] += w * from[e];
            }
}

static void extrapolate(const taps *t, const axis_plan *a, double value, double *y, int64_t outer,
                        int64_t inner)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < a->out; i++)
            for (int64_t e = 0; t->outside[i] && e < inner; e++)
                y[(o * a->out + i) * inner + e] = value;
}

static bool moves(const request *r, const axis_plan *a)
{
    return a->in != a->out || a->scale != 1 ||
           is_mode(r, "coordinate_transformation_mode", "tf_crop_and_resize");
}

/* An element that stands where there is no place in the input. */
static void *outside_of(const tg_call *call)
{
    tg_tensor one = {call->in[0].dtype, {.rank = 0}, TG_NEW_ARRAY(call->arena, int64_t, 4)};
    double value = call_float(call, "extrapolation_value");
    if (one.dtype == TG_STR) *(tg_string *)one.data = (tg_string){"", 0};
    else if (one.dtype == TG_C64) *(float *)one.data = (float)value;
    else if (one.dtype == TG_C128) *(double *)one.data = value;
    else tg_tensor_set_f64(&one, 0, value);
    return one.data;
}

/* Elements that only move keep all their bits; `size`: of what lies behind the axis. */
static void pick_places(const taps *t, const axis_plan *a, const char *x, char *y, int64_t outer,
                        size_t size)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < a->out; i++)
            memcpy(y + (size_t)(o * a->out + i) * size, x + (size_t)(o * a->in + t->at[i]) * size,
                   size);
}

static void put_outside(const taps *t, const axis_plan *a, const void *element, size_t size,
                        char *y, int64_t outer, int64_t inner)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < a->out; i++)
            for (int64_t e = 0; t->outside[i] && e < inner; e++)
                memcpy(y + (size_t)((o * a->out + i) * inner + e) * size, element, size);
}

static tg_status resize_nearest(tg_call *call, const request *r, const axis_plan *plan)
{
    size_t size = tg_dtype_size(call->in[0].dtype);
    const void *element = outside_of(call);
    tg_shape now = call->in[0].shape;
    const char *x = call->in[0].data;
    for (int k = 0; k < now.rank; k++) {
        if (!moves(r, &plan[k])) continue;
        taps t = taps_of(r, &plan[k]);
        int64_t outer = tg_dims_count(&now, 0, k), inner = tg_dims_count(&now, k + 1, now.rank);
        now.dim[k] = plan[k].out;
        char *y = tg_arena_alloc(call->arena, (size_t)tg_shape_count(&now) * size + 1);
        pick_places(&t, &plan[k], x, y, outer, (size_t)inner * size);
        put_outside(&t, &plan[k], element, size, y, outer, inner);
        x = y;
    }
    memcpy(call->out[0].data, x, tg_tensor_bytes(&call->out[0]));
    return TG_OK;
}

tg_status kernel_resize(tg_call *call)
{
    request r = request_of(call->row, call->attr, call->arena);
    axis_plan plan[TG_MAX_RANK];
    take_inputs(&r, has_input(call, 1) ? &call->in[1] : NULL,
                has_input(call, 2) ? &call->in[2] : NULL, has_input(call, 3) ? &call->in[3] : NULL);
    TG_TRY(plan_axes(&r, &call->in[0].shape, plan));
    if (tg_tensor_count(&call->out[0]) == 0) return TG_OK;
    if (is_mode(&r, "mode", "nearest")) return resize_nearest(call, &r, plan);
    tg_shape now = call->in[0].shape;
    const double *x = tg_call_doubles(call, 0);
    for (int k = 0; k < now.rank; k++) {
        if (!moves(&r, &plan[k])) continue;
        taps t = taps_of(&r, &plan[k]);
        int64_t outer = tg_dims_count(&now, 0, k), inner = tg_dims_count(&now, k + 1, now.rank);
        now.dim[k] = plan[k].out;
        double *y = tg_call_scratch(call, tg_shape_count(&now));
        resample(&t, &plan[k], x, y, outer, inner);
        extrapolate(&t, &plan[k], call_float(call, "extrapolation_value"), y, outer, inner);
        x = y;
    }
    tg_call_store(call, 0, x);
    return TG_OK;
}

tg_status tg_resize_axes(const tg_op_row *row, const tg_attr *attr, const tg_shape *x,
                         tg_arena *arena, tg_resize_axis *axes, int *count)
{
    request r = request_of(row, attr, arena);
    axis_plan plan[TG_MAX_RANK];
    *count = 0;
    TG_TRY(plan_axes(&r, x, plan));
    for (int k = 0; k < x->rank; k++) {
        if (!moves(&r, &plan[k])) continue;
        taps t = taps_of(&r, &plan[k]);
        tg_resize_axis *a = &axes[(*count)++];
        *a = (tg_resize_axis){k, plan[k].in, plan[k].out, t.n, t.at, t.weight, false};
        for (int64_t i = 0; i < plan[k].out; i++) a->outside |= t.outside[i];
    }
    return TG_OK;
}
