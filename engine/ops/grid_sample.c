/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * GridSample: an image read at points that a grid names, in one to three spatial axes. AffineGrid:
 * such a grid, made from matrices.
 */
#include "compute.h"
#include "element.h"
#include "params.h"

#include <math.h>
#include <string.h>

enum { MOST_AXES = 3, MOST_TAPS = 4 };

typedef enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION } padding;

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* l, n or c; 0: none of them. Before opset 20 the words were those for two axes. */
static char mode_of(const char *word)
{
    if (strcmp(word, "linear") == 0 || strcmp(word, "bilinear") == 0) return 'l';
    if (strcmp(word, "cubic") == 0 || strcmp(word, "bicubic") == 0) return 'c';
    return strcmp(word, "nearest") == 0 ? 'n' : 0;
}

static tg_status check_words(tg_infer *infer, int64_t axes)
{
    tg_attr *mode = tg_infer_attr(infer, "mode"), *corners = tg_infer_attr(infer, "align_corners");
    const char *pad = tg_infer_attr(infer, "padding_mode")->s;
    corners->i = corners->i != 0;
    char kind = mode_of(mode->s);
    if (!kind) return tg_fail(TG_INVALID, "attribute mode is '%s'", mode->s);
    if (!is_one_of(pad, "zeros", "border", "reflection"))
        return tg_fail(TG_INVALID, "attribute padding_mode is '%s'", pad);
    if (axes != 2 && kind == 'c')
        return tg_fail(TG_UNSUPPORTED, "cubic samples along %lld axes", (long long)axes);
    return TG_OK;
}

/* x: N x C x D...; grid: N x E... x axes; the result is N x C x E... */
tg_status infer_grid_sample(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *grid = &infer->in[1].shape;
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 2 + MOST_AXES));
    TG_TRY(tg_need_rank(infer, 1, "the grid", x->rank, x->rank));
    TG_TRY(tg_need_float(infer, 1, "the grid"));
    TG_TRY(check_words(infer, x->rank - 2));
    char kind = tg_dtype_kind(infer->in[0].dtype);
    if ((kind == 's' || kind == 'c') && mode_of(tg_infer_attr(infer, "mode")->s) != 'n')
        return tg_fail(TG_TYPE, "elements of type %s have nothing between them",
                       tg_dtype_name(infer->in[0].dtype));
    if (grid->dim[0] != x->dim[0] || grid->dim[grid->rank - 1] != x->rank - 2)
        return tg_fail(TG_SHAPE, "the grid does not fit the input");
    for (int64_t k = 2; k < x->rank; k++)
        if (x->dim[k] == 0) return tg_fail(TG_SHAPE, "axis %d of the input is empty", (int)k);
    infer->out[0] = (tg_type){infer->in[0].dtype, *x};
    for (int64_t k = 2; k < x->rank; k++) infer->out[0].shape.dim[k] = grid->dim[k - 1];
    return TG_OK;
}

/* What one axis gives to a sample: elements (-1: outside, read as 0) and their weights. */
typedef struct taps {
    int n;
    int64_t at[MOST_TAPS];
    double weight[MOST_TAPS];
} taps;

/* Turned back at both ends of [low, high] until it is inside. */
static double reflect(double x, double low, double high)
{
    double span = high - low;
    if (!(span > 0) || !isfinite(x)) return low;
    double away = fmod(fabs(x - low), 2 * span);
    return low + (away > span ? 2 * span - away : away);
}

/* The element for a whole number, in the way of the padding; -1: none. */
static int64_t element_for(double at, int64_t n, padding pad, bool corners)
{
    double last = (double)(n - 1);
    if (at >= 0 && at <= last) return (int64_t)at;
    if (pad == PAD_ZEROS || isnan(at)) return -1;
    if (pad == PAD_REFLECTION) at = corners ? reflect(at, 0, last) : reflect(at, -0.5, last + 0.5);
    return (int64_t)fmin(fmax(at, 0), last);
}

/* Keys' kernel with a = -0.75. */
static double cubic_weight(double d)
{
    const double a = -0.75;
    d = fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? a * (((d - 5) * d + 8) * d - 4) : 0;
}

/* g: a coordinate in which -1 and 1 are the ends of the axis. */
static taps taps_of(double g, int64_t n, char mode, padding pad, bool corners)
{
    double last = (double)(n - 1);
    double x = corners ? (g + 1) / 2 * last : ((g + 1) * (double)n - 1) / 2;
    taps t = {.n = mode == 'n' ? 1 : mode == 'l' ? 2 : 4};
    if (mode != 'c' && pad == PAD_REFLECTION)
        x = corners ? reflect(x, 0, last) : reflect(x, -0.5, last + 0.5);
    if (mode != 'c' && pad != PAD_ZEROS) x = fmin(fmax(x, 0), last);
    double first = mode == 'n' ? nearbyint(x) : floor(x) - (mode == 'c');
    for (int k = 0; k < t.n; k++) {
        double d = fabs(x - (first + k));
        t.at[k] = element_for(first + k, n, pad, corners);
        t.weight[k] = mode == 'n' ? 1 : mode == 'l' ? 1 - d : cubic_weight(d);
    }
    return t;
}

/* Sum over the products of the taps of three axes. */
static double sample(const double *x, const taps t[MOST_AXES], const int64_t size[MOST_AXES])
{
    double sum = 0;
    for (int i = 0; i < t[0].n; i++)
        for (int j = 0; j < t[1].n; j++)
            for (int k = 0; k < t[2].n; k++) {
                int64_t a = t[0].at[i], b = t[1].at[j], c = t[2].at[k];
                double w = t[0].weight[i] * t[1].weight[j] * t[2].weight[k];
                if (a >= 0 && b >= 0 && c >= 0) sum += w * x[(a * size[1] + b) * size[2] + c];
            }
    return sum;
}

/* The one element that the taps name, or nothing: 0 or an empty string. */
static void pick(const tg_tensor *x, int64_t plane, const taps t[MOST_AXES],
                 const int64_t size[MOST_AXES], tg_tensor *y, int64_t to)
{
    size_t bytes = tg_dtype_size(x->dtype);
    int64_t a = t[0].at[0], b = t[1].at[0], c = t[2].at[0];
    void *at = tg_element_at(y, to);
    if (a >= 0 && b >= 0 && c >= 0)
        memcpy(at, tg_element_at(x, plane + (a * size[1] + b) * size[2] + c), bytes);
    else if (x->dtype == TG_STR) *(tg_string *)at = (tg_string){"", 0};
    else memset(at, 0, bytes);
}

tg_status kernel_grid_sample(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    const double *grid = tg_call_doubles(call, 1);
    const char *word = call_attr(call, "padding_mode")->s;
    padding pad = word[0] == 'z' ? PAD_ZEROS : word[0] == 'b' ? PAD_BORDER : PAD_REFLECTION;
    char mode = mode_of(call_attr(call, "mode")->s);
    int axes = (int)s->rank - 2;
    int64_t plane = tg_dims_count(s, 2, s->rank), channels = s->dim[1], size[MOST_AXES];
    int64_t points = tg_dims_count(&call->out[0].shape, 2, s->rank);
    const double *x = mode == 'n' ? NULL : tg_call_doubles(call, 0);
    double *y = x ? tg_call_scratch(call, tg_tensor_count(&call->out[0])) : NULL;
    taps t[MOST_AXES];
    for (int a = 0; a < MOST_AXES; a++) {
        t[a] = (taps){1, {0}, {1}};
        size[a] = a < MOST_AXES - axes ? 1 : s->dim[a - MOST_AXES + axes + 2];
    }
    for (int64_t p = 0; p < s->dim[0] * points; p++) {
        int64_t image = p / points;
        for (int a = 0; a < axes; a++) /* the grid names the last axis first */
            t[MOST_AXES - 1 - a] = taps_of(grid[p * axes + a], size[MOST_AXES - 1 - a], mode, pad,
                                           call_int(call, "align_corners") != 0);
        for (int64_t c = image * channels; c < (image + 1) * channels; c++) {
            int64_t to = c * points + p % points;
            if (x) y[to] = sample(x + c * plane, t, size);
            else pick(&call->in[0], c * plane, t, size, &call->out[0], to);
        }
    }
    if (x) tg_call_store(call, 0, y);
    return TG_OK;
}

/* ---- AffineGrid ---- */

/* theta: N x axes x (axes + 1); size: N, C and the spatial axes of the image. */
tg_status infer_affine_grid(tg_infer *infer)
{
    const tg_shape *theta = &infer->in[0].shape;
    const tg_attr *size;
    tg_attr *corners = tg_infer_attr(infer, "align_corners");
    corners->i = corners->i != 0;
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(tg_need_float(infer, 0, "theta"));
    TG_TRY(tg_need_rank(infer, 0, "theta", 3, 3));
    int64_t axes = theta->dim[1];
    if (axes < 2 || axes > MOST_AXES || theta->dim[2] != axes + 1)
        return tg_fail(TG_SHAPE, "theta is no matrix of two or three axes");
    TG_TRY(infer_list(infer, "size", 1, &size));
    if (!size) return has_type(infer, 1) ? TG_OK : tg_fail(TG_INVALID, "the size is missing");
    if (size->n != axes + 2 || size->ints[0] != theta->dim[0])
        return tg_fail(TG_SHAPE, "the size does not fit theta");
    tg_shape out = {.rank = axes + 2, .dim = {theta->dim[0]}};
    for (int64_t k = 0; k < axes; k++) {
        if (size->ints[k + 2] < 0) return tg_fail(TG_INVALID, "a size is negative");
        out.dim[k + 1] = size->ints[k + 2];
    }
    out.dim[axes + 1] = axes;
    infer->out[0].shape = out;
    return TG_OK;
}

/* Element i of n between -1 and 1, which are the middle of the outer elements or their edges. */
static double even_place(int64_t i, int64_t n, bool corners)
{
    if (!corners) return (2 * (double)i + 1) / (double)n - 1;
    return n > 1 ? 2 * (double)i / (double)(n - 1) - 1 : 0;
}

tg_status kernel_affine_grid(tg_call *call)
{
    const double *theta = tg_call_doubles(call, 0);
    const tg_shape *out = &call->out[0].shape;
    int64_t axes = out->dim[out->rank - 1], n = tg_tensor_count(&call->out[0]);
    int64_t points = tg_dims_count(out, 1, axes + 1);
    bool corners = call_int(call, "align_corners") != 0;
    double *y = tg_call_scratch(call, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i / axes;
        const double *row = theta + (i / axes / points * axes + i % axes) * (axes + 1);
        y[i] = row[axes];
        for (int64_t k = 0; k < axes; k++) { /* the last axis is the first coordinate */
            int64_t size = out->dim[axes - k];
            y[i] += row[k] * even_place(rest % size, size, corners);
            rest /= size;
        }
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
