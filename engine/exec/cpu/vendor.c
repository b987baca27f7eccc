/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vendor.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* The library's arrays have 12 entries, and it counts dilation from 0. */
typedef struct window {
    dnnl_dims_t stride, dilation, low, high, kernel;
} window;

static window window_of(const tg_prim_spec *spec)
{
    window w;
    memset(&w, 0, sizeof w);
    for (int i = 0; i < TG_PRIM_SPATIAL; i++) {
        w.stride[i] = spec->stride[i];
        w.dilation[i] = spec->dilation[i] - 1;
        w.low[i] = spec->pad_low[i];
        w.high[i] = spec->pad_high[i];
        w.kernel[i] = spec->kernel[i];
    }
    return w;
}

static const dnnl_alg_kind_t pooling[] = {dnnl_pooling_max, dnnl_pooling_avg_exclude_padding,
                                          dnnl_pooling_avg_include_padding};

static dnnl_alg_kind_t convolution(const tg_prim_spec *spec)
{
    if (spec->kind == TG_PRIM_DECONV) return dnnl_deconvolution_direct;
    return spec->variant == TG_PRIM_WINOGRAD ? dnnl_convolution_winograd : dnnl_convolution_direct;
}

static unsigned layernorm_flags(const tg_prim_spec *spec)
{
    return (spec->weights.rank ? dnnl_use_scale : 0u) | (spec->bias.rank ? dnnl_use_shift : 0u);
}

static dnnl_data_type_t vendor_dtype(int32_t dtype)
{
    switch (dtype) {
    case TG_F32: return dnnl_f32;
    case TG_F16: return dnnl_f16;
    case TG_BF16: return dnnl_bf16;
    case TG_I32: return dnnl_s32;
    case TG_I8: return dnnl_s8;
    case TG_U8: return dnnl_u8;
    default: return dnnl_data_type_undef;
    }
}

#if DNNL_VERSION_MAJOR >= 3

bool vendor_md_new(const tg_md *md, vendor_md **out)
{
    dnnl_dims_t dims = {0}, strides = {0};
    *out = NULL;
    if (!md->rank) return true;
    for (int i = 0; i < md->rank; i++) dims[i] = md->dim[i], strides[i] = md->stride[i];
    dnnl_data_type_t type = vendor_dtype(md->dtype);
    if (md->any)
        return dnnl_memory_desc_create_with_tag(out, md->rank, dims, type, dnnl_format_tag_any) ==
               dnnl_success;
    return dnnl_memory_desc_create_with_strides(out, md->rank, dims, type, strides) == dnnl_success;
}

vendor_md *vendor_md_copy(const vendor_md *md)
{
    vendor_md *copy;
    return dnnl_memory_desc_clone(&copy, md) == dnnl_success ? copy : NULL;
}

void vendor_md_free(vendor_md *md)
{
    if (md) dnnl_memory_desc_destroy(md);
}

uint64_t vendor_md_hash(const vendor_md *md)
{
    size_t size = 0;
    dnnl_memory_desc_get_blob(NULL, &size, md);
    uint8_t *blob = tg_calloc(size, 1);
    dnnl_memory_desc_get_blob(blob, &size, md);
    uint64_t hash = tg_hash_bytes(7, blob, size);
    free(blob);
    return hash;
}

dnnl_status_t vendor_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t alg, float alpha,
                                    float beta)
{
    /* 2.x had the usual constants built in. */
    if (alg == dnnl_eltwise_hardswish) alpha = 1.0f / 6, beta = 0.5f;
    return dnnl_post_ops_append_eltwise(ops, alg, alpha, beta);
}

/* The axes of grouped weights that count output channels are the first two. */
static int scales_mask(const tg_prim_spec *spec)
{
    if (spec->n_scales == 1) return 0;
    if (spec->kind == TG_PRIM_MATMUL) return 1 << (spec->weights.rank - 1);
    return spec->weights.rank > spec->src.rank ? 3 : 1;
}

bool vendor_set_quantised(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                          dnnl_primitive_attr_t attr)
{
    bool ok = true;
    (void)v;
    if (spec->n_scales)
        ok = dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS, scales_mask(spec)) ==
             dnnl_success;
    if (spec->src_zero)
        ok = ok && dnnl_primitive_attr_set_zero_points_mask(attr, DNNL_ARG_SRC, 0) == dnnl_success;
    if (spec->dst_zero)
        ok = ok && dnnl_primitive_attr_set_zero_points_mask(attr, DNNL_ARG_DST, 0) == dnnl_success;
    return ok;
}

static bool constant_arg(dnnl_engine_t engine, dnnl_data_type_t type, int64_t n, const void *data,
                         int arg, dnnl_exec_arg_t *out)
{
    dnnl_dims_t dims = {n}, strides = {1};
    vendor_md *md;
    if (dnnl_memory_desc_create_with_strides(&md, 1, dims, type, strides) != dnnl_success)
        return false;
    out->arg = arg;
    dnnl_status_t status = dnnl_memory_create(&out->memory, md, engine, (void *)(uintptr_t)data);
    dnnl_memory_desc_destroy(md);
    return status == dnnl_success;
}

int vendor_quantised_args(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                          dnnl_engine_t engine, dnnl_exec_arg_t *arg)
{
    int n = 0;
    if (spec->n_scales && !constant_arg(engine, dnnl_f32, spec->n_scales, v->scales,
                                        DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, &arg[n++]))
        return -1;
    if (spec->src_zero && !constant_arg(engine, dnnl_s32, 1, &spec->src_zero,
                                        DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, &arg[n++]))
        return -1;
    if (spec->dst_zero && !constant_arg(engine, dnnl_s32, 1, &spec->dst_zero,
                                        DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, &arg[n++]))
        return -1;
    return n;
}

bool tg_prim_bias_first(void)
{
    return false;
}

dnnl_primitive_desc_t vendor_describe(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                                      dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
    const dnnl_prop_kind_t forward = dnnl_forward_inference;
    dnnl_primitive_desc_t pd = NULL;
    dnnl_status_t status = dnnl_unimplemented;
    window w = window_of(spec);
    switch (spec->kind) {
    case TG_PRIM_CONV:
        status = dnnl_convolution_forward_primitive_desc_create(
            &pd, engine, forward, convolution(spec), v->src, v->weights, v->bias, v->dst, w.stride,
            w.dilation, w.low, w.high, attr);
        break;
    case TG_PRIM_DECONV:
        status = dnnl_deconvolution_forward_primitive_desc_create(
            &pd, engine, forward, convolution(spec), v->src, v->weights, v->bias, v->dst, w.stride,
            w.dilation, w.low, w.high, attr);
        break;
    case TG_PRIM_POOL:
        status = dnnl_pooling_forward_primitive_desc_create(
            &pd, engine, forward, pooling[spec->variant], v->src, v->dst, w.stride, w.kernel,
            w.dilation, w.low, w.high, attr);
        break;
    case TG_PRIM_MATMUL:
        status = dnnl_matmul_primitive_desc_create(&pd, engine, v->src, v->weights, v->bias, v->dst,
                                                   attr);
        break;
    case TG_PRIM_SOFTMAX:
        status = dnnl_softmax_forward_primitive_desc_create(
            &pd, engine, forward,
            spec->variant == TG_PRIM_SOFTMAX_LOG ? dnnl_softmax_log : dnnl_softmax_accurate, v->src,
            v->dst, spec->axis, attr);
        break;
    case TG_PRIM_LAYERNORM:
        status = dnnl_layer_normalization_forward_primitive_desc_create(
            &pd, engine, forward, v->src, v->src, NULL, spec->epsilon, layernorm_flags(spec), attr);
        break;
    }
    return status == dnnl_success ? pd : NULL;
}

#else

bool vendor_md_new(const tg_md *md, vendor_md **out)
{
    dnnl_dims_t dims = {0}, strides = {0};
    *out = NULL;
    if (!md->rank) return true;
    for (int i = 0; i < md->rank; i++) dims[i] = md->dim[i], strides[i] = md->stride[i];
    dnnl_data_type_t type = vendor_dtype(md->dtype);
    vendor_md *made = tg_calloc(1, sizeof *made);
    dnnl_status_t status =
        md->any ? dnnl_memory_desc_init_by_tag(made, md->rank, dims, type, dnnl_format_tag_any)
                : dnnl_memory_desc_init_by_strides(made, md->rank, dims, type, strides);
    if (status == dnnl_success) *out = made;
    else free(made);
    return status == dnnl_success;
}

vendor_md *vendor_md_copy(const vendor_md *md)
{
    return tg_memdup(md, sizeof *md);
}

void vendor_md_free(vendor_md *md)
{
    free(md);
}

uint64_t vendor_md_hash(const vendor_md *md)
{
    uint64_t hash = tg_hash_bytes(7, md->dims, sizeof md->dims);
    hash = tg_hash_bytes(hash, &md->format_desc.blocking, sizeof md->format_desc.blocking);
    /* Sums that the library keeps behind weights of integers. */
    hash = tg_hash_bytes(hash, &md->extra, sizeof md->extra);
    return tg_hash_bytes(hash, md->padded_dims, sizeof md->padded_dims);
}

dnnl_status_t vendor_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t alg, float alpha,
                                    float beta)
{
    return dnnl_post_ops_append_eltwise(ops, 1.0f, alg, alpha, beta);
}

bool vendor_set_quantised(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                          dnnl_primitive_attr_t attr)
{
    bool ok = true;
    int mask =
        spec->n_scales == 1 ? 0 : 1 << (spec->kind == TG_PRIM_MATMUL ? spec->dst.rank - 1 : 1);
    if (spec->n_scales)
        ok = dnnl_primitive_attr_set_output_scales(attr, spec->n_scales, mask, v->scales) ==
             dnnl_success;
    if (spec->src_zero)
        ok = ok && dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &spec->src_zero) ==
                       dnnl_success;
    if (spec->dst_zero)
        ok = ok && dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_DST, 1, 0, &spec->dst_zero) ==
                       dnnl_success;
    return ok;
}

int vendor_quantised_args(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                          dnnl_engine_t engine, dnnl_exec_arg_t *arg)
{
    (void)spec, (void)v, (void)engine, (void)arg;
    return 0; /* they are part of the primitive */
}

bool tg_prim_bias_first(void)
{
    return true;
}

/* The operation's description, of whichever kind. */
typedef union description {
    dnnl_convolution_desc_t conv;
    dnnl_matmul_desc_t matmul;
    dnnl_pooling_v2_desc_t pool;
    dnnl_softmax_v2_desc_t softmax;
    dnnl_layer_normalization_desc_t layernorm;
} description;

static dnnl_status_t describe(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                              description *d)
{
    const dnnl_prop_kind_t forward = dnnl_forward_inference;
    window w = window_of(spec);
    switch (spec->kind) {
    case TG_PRIM_CONV:
        return dnnl_dilated_convolution_forward_desc_init(&d->conv, forward, convolution(spec),
                                                          v->src, v->weights, v->bias, v->dst,
                                                          w.stride, w.dilation, w.low, w.high);
    case TG_PRIM_DECONV:
        return dnnl_dilated_deconvolution_forward_desc_init(&d->conv, forward, convolution(spec),
                                                            v->src, v->weights, v->bias, v->dst,
                                                            w.stride, w.dilation, w.low, w.high);
    case TG_PRIM_POOL:
        return dnnl_pooling_v2_forward_desc_init(&d->pool, forward, pooling[spec->variant], v->src,
                                                 v->dst, w.stride, w.kernel, w.dilation, w.low,
                                                 w.high);
    case TG_PRIM_MATMUL:
        return dnnl_matmul_desc_init(&d->matmul, v->src, v->weights, v->bias, v->dst);
    case TG_PRIM_SOFTMAX:
        return dnnl_softmax_v2_forward_desc_init(
            &d->softmax, forward,
            spec->variant == TG_PRIM_SOFTMAX_LOG ? dnnl_softmax_log : dnnl_softmax_accurate, v->src,
            v->dst, spec->axis);
    case TG_PRIM_LAYERNORM:
        return dnnl_layer_normalization_forward_desc_init(&d->layernorm, forward, v->src, NULL,
                                                          spec->epsilon, layernorm_flags(spec));
    default: return dnnl_unimplemented;
    }
}

dnnl_primitive_desc_t vendor_describe(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                                      dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
    dnnl_primitive_desc_t pd;
    description d;
    memset(&d, 0, sizeof d);
    if (describe(spec, v, &d) != dnnl_success) return NULL;
    return dnnl_primitive_desc_create(&pd, &d, attr, engine, NULL) == dnnl_success ? pd : NULL;
}

#endif
