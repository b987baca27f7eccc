/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Convolutions of bytes: by the library where the weights count from 0 and the processor sums bytes
 * exactly; else windows become rows of 16-bit integers, multiplied here.
 */
#include "conv.h"
#include "igemm.h"
#include "loop.h"
#include "quant.h"
#include "tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of the graph; TG_NO_VALUE where there is none such. */
typedef struct parts {
    tg_value x, w, x_zero, w_zero, x_scale, w_scale, bias;
    bool whole_bias; /* it counts sums, else it is in floats */
    tg_quant_out out;
} parts;

/* The numbers of the parts, in the plan's memory. */
typedef struct numbers {
    float x_scale;
    int x_zero;
    int64_t channels, scales, zeros; /* of the weights; scales 0: sums stay as they are */
    float *scale;                    /* of x times that of w, by output channel */
    int *zero;                       /* by output channel */
    float *bias;                     /* in floats, by output channel; NULL: none */
} numbers;

/* ---- constants ---- */

static tg_status tensor_of(tg_cpu_plan *p, tg_value v, tg_tensor *out)
{
    tg_operand at;
    *out = (tg_tensor){TG_DTYPE_NONE, {.rank = 0}, NULL};
    if (v == TG_NO_VALUE) return TG_OK;
    TG_TRY(tg_cpu_plain(p, v, &at));
    const void *data = tg_cpu_constant_data(p, &at);
    if (!data) return tg_fail(TG_UNSUPPORTED, "a parameter varies");
    *out = (tg_tensor){at.dtype, at.shape, (void *)(uintptr_t)data};
    return TG_OK;
}

static double number_at(const tg_tensor *t, int64_t i, double missing)
{
    if (!t->data) return missing;
    return tg_tensor_f64(t, tg_tensor_count(t) > 1 ? i : 0);
}

static tg_status numbers_of(tg_cpu_plan *p, const parts *f, numbers *n)
{
    tg_tensor xs, xz, ws, wz, bias;
    TG_TRY(tensor_of(p, f->x_scale, &xs));
    TG_TRY(tensor_of(p, f->x_zero, &xz));
    TG_TRY(tensor_of(p, f->w_scale, &ws));
    TG_TRY(tensor_of(p, f->w_zero, &wz));
    TG_TRY(tensor_of(p, f->bias, &bias));
    int64_t channels = n->channels = tg_cpu_type(p, f->w)->shape.dim[0];
    n->x_scale = (float)number_at(&xs, 0, 1);
    n->x_zero = (int)number_at(&xz, 0, 0);
    n->scales = ws.data ? tg_tensor_count(&ws) : 0;
    n->scale = TG_NEW_ARRAY(p->memory, float, channels);
    n->zero = TG_NEW_ARRAY(p->memory, int, channels);
    n->bias = bias.data ? TG_NEW_ARRAY(p->memory, float, channels) : NULL;
    for (int64_t i = 0; i < channels; i++) {
        double scale = (double)n->x_scale * number_at(&ws, i, 1);
        if (!(scale > 0) || isinf(scale)) return tg_fail(TG_UNSUPPORTED, "a scale of nothing");
        n->scale[i] = (float)scale;
        n->zero[i] = (int)number_at(&wz, i, 0);
        if (n->bias) n->bias[i] = (float)(number_at(&bias, i, 0) * (f->whole_bias ? scale : 1));
    }
    return TG_OK;
}

/* Weights as int8 that count from 0; uint8 around 128 is that. False: they count otherwise. */
static bool signed_weights(tg_cpu_plan *p, const numbers *n, tg_operand *w)
{
    int64_t count = tg_shape_count(&w->shape);
    int shift = w->dtype == TG_U8 ? 128 : 0;
    const uint8_t *from = tg_cpu_constant_data(p, w);
    for (int64_t i = 0; i < n->channels; i++)
        if (n->zero[i] != shift) return false;
    if (!shift) return true;
    int8_t *data = tg_calloc((size_t)count, 1);
    for (int64_t i = 0; i < count; i++) data[i] = (int8_t)(from[i] - shift);
    *w = tg_cpu_constant(p, TG_I8, &w->shape, data);
    free(data);
    return true;
}

/* ---- the library's ---- */

static tg_status place_weights(tg_cpu_plan *p, const tg_node *node, const parts *f,
                               const numbers *n, tg_prim_spec *spec, tg_operand *out)
{
    int64_t groups = tg_node_attr(node, "group")->i;
    TG_TRY(tg_cpu_plain(p, f->w, out));
    if (!tg_cpu_constant_data(p, out) || out->shape.rank == TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "weights vary");
    if (!signed_weights(p, n, out)) return tg_fail(TG_UNSUPPORTED, "weights do not count from 0");
    if (groups > 1) *out = tg_conv_split_groups(*out, groups);
    spec->weights = tg_cpu_md_any(out);
    return TG_OK;
}

/* Scales of sums, to the output's units, and the bias in the units that the library adds it in. */
static void place_scales(tg_cpu_plan *p, const parts *f, const numbers *n, tg_prim_spec *spec,
                         tg_prim_operands *o, float *scales)
{
    float unit = f->out.code.quantised ? f->out.code.scale : 1;
    spec->n_scales = n->scales > 1 ? (int32_t)n->channels : (n->scales > 0);
    for (int i = 0; i < spec->n_scales; i++) scales[i] = n->scale[i] / unit;
    if (!n->bias) return;
    float *bias = TG_NEW_ARRAY(p->memory, float, n->channels);
    for (int64_t i = 0; i < n->channels; i++)
        bias[i] = n->bias[i] / (tg_prim_bias_first() ? n->scale[i] : unit);
    tg_shape shape = tg_shape_of(n->channels);
    o->bias = tg_cpu_constant(p, TG_F32, &shape, bias);
    spec->bias = tg_cpu_md_plain(&o->bias);
}

static void place_cut(const tg_quant_out *out, tg_prim_spec *spec)
{
    float unit = out->code.quantised ? out->code.scale : 1;
    if (out->low == -INFINITY && out->high == INFINITY) return;
    tg_post *post = &spec->post[spec->n_post++];
    bool relu = out->low == 0 && out->high == INFINITY;
    post->kind = relu ? TG_POST_RELU : TG_POST_CLIP;
    if (relu) return;
    post->alpha = fmaxf(out->low / unit, -3e38f);
    post->beta = fminf(out->high / unit, 3e38f);
}

static tg_status plan_library(tg_cpu_plan *p, const tg_node *node, const parts *f, const numbers *n)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    const tg_type *type = &f->out.last->out[0];
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    if (!tg_prim_bytes_exact() || type->shape.rank < 3 || type->shape.rank > 5)
        return tg_fail(TG_UNSUPPORTED, "not by the library");
    spec.kind = TG_PRIM_CONV;
    spec.threads = p->threads;
    tg_layout layout = tg_layout_last(&type->shape);
    tg_conv_fill_window(node, &spec, (int)type->shape.rank - 2);
    TG_TRY(place_weights(p, node, f, n, &spec, &o.weights));
    float *scales = TG_NEW_ARRAY(p->memory, float, n->channels + 1);
    place_scales(p, f, n, &spec, &o, scales);
    place_cut(&f->out, &spec);
    spec.src_zero = n->x_zero;
    spec.dst_zero = f->out.code.quantised ? (int32_t)f->out.code.zero : 0;
    TG_TRY(tg_cpu_last(p, f->x, &o.src));
    spec.src = tg_cpu_md(&o.src);
    o.dst = (tg_operand){-1, type->dtype, type->shape, layout};
    spec.dst = tg_cpu_md(&o.dst);
    const tg_prim *prim = tg_prim_get_scaled(&spec, scales);
    if (!prim->usable || prim->slow) return tg_fail(TG_UNSUPPORTED, "no such convolution");
    o.dst = tg_cpu_new(p, type, &layout);
    tg_cpu_set(p, f->out.last, 0, &o.dst);
    return tg_cpu_prim(p, node, prim, &o);
}

/* ---- our own ---- */

enum { X, W, X_ZERO, Y, SCRATCH, BLOCK = 32 };

/* Spatial axes are three; those that the operator lacks have size 1. */
typedef struct windows {
    int64_t images, groups, channels, filters; /* the latter two of a group */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
    int64_t depth, pixels, pixels_in; /* depth: elements of a window */
    tg_dtype x_type;
    numbers n;
    bool zero_given;
    tg_quant_out result;
} windows;

typedef struct spot {
    int64_t at[3];
} spot;

static spot spot_of(const int64_t *dim, int64_t i)
{
    return (spot){{i / (dim[1] * dim[2]), i / dim[2] % dim[1], i % dim[2]}};
}

/*
 * The window of one output pixel as a row, place by place, the group's channels of each together; 0
 * where it is over the padding. x: the group's first channel of the image, channels last.
 */
static void fill_row(const windows *k, const char *x, int zero, int64_t pixel, int16_t *row)
{
    spot o = spot_of(k->out, pixel);
    int64_t kernel = k->kernel[0] * k->kernel[1] * k->kernel[2];
    for (int64_t e = 0; e < kernel; e++, row += k->channels) {
        spot w = spot_of(k->kernel, e);
        int64_t at = 0;
        bool inside = true;
        for (int i = 0; i < 3; i++) {
            int64_t c = o.at[i] * k->stride[i] + w.at[i] * k->dilation[i] - k->pad[i];
            inside &= c >= 0 && c < k->in[i];
            at = at * k->in[i] + c;
        }
        if (inside)
            tg_igemm_centre(k->x_type, x + at * k->groups * k->channels, k->channels, zero, row);
        else memset(row, 0, sizeof *row * (size_t)k->channels);
    }
}

/* Sums [pixels, filters] into the channels of the output from `first` on; row: space for filters.
 */
static void store_block(const windows *k, const int32_t *sums, int64_t first, int64_t pixel,
                        int64_t pixels, char *to, float *row)
{
    size_t size = tg_dtype_size(k->result.code.dtype);
    int64_t n = k->filters, all = k->groups * n;
    for (int64_t i = 0; i < pixels; i++, sums += n) {
        char *at = to + (size_t)((pixel + i) * all + first) * size;
        if (k->result.code.dtype == TG_I32) {
            memcpy(at, sums, sizeof *sums * (size_t)n);
            continue;
        }
        const float *scale = k->n.scale + first, *bias = k->n.bias ? k->n.bias + first : NULL;
        for (int64_t f = 0; f < n; f++) {
            float v = (float)sums[f] * scale[f] + (bias ? bias[f] : 0);
            v = v < k->result.low ? k->result.low : v;
            row[f] = v > k->result.high ? k->result.high : v;
        }
        if (k->result.code.quantised) tg_convert_store(&k->result.code, row, (int)n, at, 1);
        else memcpy(at, row, size * (size_t)n);
    }
}

static tg_status run_own(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const windows *k = step->own;
    int16_t *rows = ptr[SCRATCH];
    int64_t depth = tg_igemm_depth(k->depth);
    int32_t *sums = (int32_t *)(void *)(rows + BLOCK * depth);
    float *row = (float *)(sums + BLOCK * k->filters);
    size_t panel = tg_igemm_packed(k->depth, k->filters);
    int zero = k->n.x_zero;
    if (ptr[X_ZERO]) zero = k->x_type == TG_U8 ? *(uint8_t *)ptr[X_ZERO] : *(int8_t *)ptr[X_ZERO];
    memset(rows, 0, sizeof *rows * (size_t)(BLOCK * depth));
    size_t image =
        (size_t)(k->groups * k->filters * k->pixels) * tg_dtype_size(k->result.code.dtype);
    for (int64_t part = 0; part < k->images * k->groups; part++) {
        int64_t group = part % k->groups, all = k->groups * k->channels;
        const char *x =
            (const char *)ptr[X] + part / k->groups * all * k->pixels_in + group * k->channels;
        char *y = (char *)ptr[Y] + (size_t)(part / k->groups) * image;
        for (int64_t at = 0; at < k->pixels; at += BLOCK) {
            int64_t n = k->pixels - at < BLOCK ? k->pixels - at : BLOCK;
            for (int64_t i = 0; i < n; i++) fill_row(k, x, zero, at + i, rows + i * depth);
            tg_igemm(n, k->filters, k->depth, rows, (const int16_t *)ptr[W] + (size_t)group * panel,
                     sums);
            store_block(k, sums, group * k->filters, at, n, y, row);
        }
    }
    return TG_OK;
}

static void fill_windows(const tg_cpu_plan *p, const tg_node *node, const parts *f, windows *k)
{
    const tg_shape *x = &tg_cpu_type(p, f->x)->shape, *w = &tg_cpu_type(p, f->w)->shape;
    const tg_shape *y = &node->out[0].shape;
    int n = (int)x->rank - 2;
    k->images = x->dim[0];
    k->groups = tg_node_attr(node, "group")->i;
    k->channels = w->dim[1];
    k->filters = w->dim[0] / k->groups;
    k->depth = k->channels;
    k->pixels = k->pixels_in = 1;
    for (int i = 0; i < 3; i++) {
        int axis = i - (3 - n);
        bool has = axis >= 0;
        k->in[i] = has ? x->dim[axis + 2] : 1;
        k->out[i] = has ? y->dim[axis + 2] : 1;
        k->kernel[i] = has ? w->dim[axis + 2] : 1;
        k->stride[i] = has ? tg_node_attr(node, "strides")->ints[axis] : 1;
        k->dilation[i] = has ? tg_node_attr(node, "dilations")->ints[axis] : 1;
        k->pad[i] = has ? tg_node_attr(node, "pads")->ints[axis] : 0;
        k->depth *= k->kernel[i];
        k->pixels *= k->out[i];
        k->pixels_in *= k->in[i];
    }
}

/* The weights of each group less their zero points, packed. */
static tg_operand pack_groups(tg_cpu_plan *p, const windows *k, const tg_operand *w)
{
    const char *from = tg_cpu_constant_data(p, w);
    size_t panel = tg_igemm_packed(k->depth, k->filters);
    tg_shape shape = tg_shape_of(k->groups, (int64_t)panel);
    int16_t *packed = tg_calloc((size_t)k->groups * panel, sizeof *packed);
    int16_t *wide = tg_calloc((size_t)(k->filters * k->depth), sizeof *wide);
    int16_t *one = tg_calloc((size_t)k->depth, sizeof *one);
    for (int64_t g = 0; g < k->groups; g++) {
        for (int64_t i = 0; i < k->filters; i++) {
            int64_t filter = g * k->filters + i;
            tg_igemm_centre(w->dtype, from + filter * k->depth, k->depth, k->n.zero[filter], one);
            /* Places outside, channels inside, as in the rows of the input. */
            int64_t kernel = k->depth / k->channels;
            for (int64_t j = 0; j < k->depth; j++)
                wide[i * k->depth + j % kernel * k->channels + j / kernel] = one[j];
        }
        tg_igemm_pack(wide, 1, k->depth, k->depth, k->filters, packed + (size_t)g * panel);
    }
    tg_operand out = tg_cpu_constant(p, TG_I16, &shape, packed);
    free(packed);
    free(wide);
    free(one);
    return out;
}

static tg_status plan_own(tg_cpu_plan *p, const tg_node *node, const parts *f, const numbers *n)
{
    tg_operand all[SCRATCH + 1], w;
    windows k = {.n = *n, .x_type = tg_cpu_type(p, f->x)->dtype, .result = f->out};
    const tg_type *type = &f->out.last->out[0];
    fill_windows(p, node, f, &k);
    TG_TRY(tg_cpu_plain(p, f->w, &w));
    if (!tg_cpu_constant_data(p, &w)) return tg_fail(TG_UNSUPPORTED, "weights vary");
    TG_TRY(tg_cpu_last(p, f->x, &all[X]));
    all[W] = pack_groups(p, &k, &w);
    all[X_ZERO].buffer = -1;
    if (f->x_zero != TG_NO_VALUE) TG_TRY(tg_cpu_plain(p, f->x_zero, &all[X_ZERO]));
    tg_layout last = tg_layout_last(&type->shape);
    all[Y] = tg_cpu_new(p, type, &last);
    all[SCRATCH] = (tg_operand){.dtype = TG_U8};
    all[SCRATCH].buffer =
        tg_cpu_scratch(p, BLOCK * ((size_t)tg_igemm_depth(k.depth) * sizeof(int16_t) +
                                   (size_t)k.filters * sizeof(int32_t)) +
                              ((size_t)k.filters + 32) * sizeof(float));
    tg_cpu_step(p, node, run_own, tg_arena_dup(p->memory, &k, sizeof k), all, SCRATCH + 1);
    tg_cpu_set(p, f->out.last, 0, &all[Y]);
    p->stats->loops++;
    return TG_OK;
}

/* ---- planning ---- */

/* `floats`: where the library has no code for the integers, floats are faster than our own. */
static tg_status plan_parts(tg_cpu_plan *p, const tg_node *node, parts *f, bool floats)
{
    numbers n = {0};
    const tg_type *x = tg_cpu_type(p, f->x);
    if (!tg_shape_count(&x->shape) || !tg_shape_count(&node->out[0].shape) || x->shape.rank > 5)
        return tg_fail(TG_UNSUPPORTED, "empty");
    parts constant = *f;
    tg_status status = numbers_of(p, f, &n);
    if (status == TG_OK) status = plan_library(p, node, f, &n);
    if (status == TG_UNSUPPORTED && !floats) {
        /* What stands for 0 in the input may be known only while running. */
        constant.x_zero = TG_NO_VALUE;
        TG_TRY(numbers_of(p, &constant, &n));
        status = plan_own(p, node, f, &n);
    }
    if (status == TG_OK && p->groups[node->id]) p->stats->absorbed += p->groups[node->id]->n - 1;
    return status;
}

static tg_value input_or_none(const tg_node *node, int slot)
{
    return slot < node->n_in ? node->in[slot] : TG_NO_VALUE;
}

tg_status tg_cpu_plan_conv_integer(tg_cpu_plan *p, const tg_node *node)
{
    parts f = {.x = node->in[0], .w = node->in[1]};
    f.x_zero = input_or_none(node, 2);
    f.w_zero = input_or_none(node, 3);
    f.x_scale = f.w_scale = f.bias = TG_NO_VALUE;
    f.out = (tg_quant_out){node, {TG_I32, false, 1, 0}, -INFINITY, INFINITY};
    return plan_parts(p, node, &f, false);
}

tg_status tg_cpu_plan_qlinear_conv(tg_cpu_plan *p, const tg_node *node)
{
    parts f = {.x = node->in[0], .w = node->in[3], .whole_bias = true};
    f.x_scale = node->in[1];
    f.x_zero = node->in[2];
    f.w_scale = node->in[4];
    f.w_zero = node->in[5];
    f.bias = input_or_none(node, 8);
    if (!tg_quant_out_given(p->g, node, node->in[6], node->in[7], &f.out))
        return tg_fail(TG_UNSUPPORTED, "the output's scale varies");
    return plan_parts(p, node, &f, false);
}

tg_status tg_quant_conv(tg_cpu_plan *p, const tg_node *node)
{
    tg_code code;
    parts f = {.bias = input_or_none(node, 2)};
    const tg_node *x = tg_graph_maker(p->g, node->in[0]), *w = tg_graph_maker(p->g, node->in[1]);
    if (!tg_quant_source(p->g, node->in[0], &f.x, &code) || !tg_quant_out_of(p, node, &f.out))
        return tg_fail(TG_UNSUPPORTED, "not of integers");
    f.x_scale = x->in[1];
    f.x_zero = input_or_none(x, 2);
    f.w = w->in[0];
    f.w_scale = w->in[1];
    f.w_zero = input_or_none(w, 2);
    return plan_parts(p, node, &f, true);
}
