/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random tensors. Each node draws from its own seed attribute; without one, from seed 0: a run
 * repeats itself.
 */
#include "params.h"

#include "engine/base/rng.h"

#include <math.h>
#include <string.h>

static tg_status float_type(int64_t code, tg_dtype *dtype)
{
    if (code <= 0 || code >= TG_DTYPE_COUNT || !tg_element_float((tg_dtype)code))
        return tg_fail(TG_UNSUPPORTED, "random elements of type number %lld", (long long)code);
    *dtype = (tg_dtype)code;
    return TG_OK;
}

tg_status infer_random(tg_infer *infer)
{
    const tg_attr *shape = tg_infer_attr(infer, "shape");
    if (shape->n > TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "a shape of rank %u, above %d", shape->n, TG_MAX_RANK);
    for (uint32_t k = 0; k < shape->n; k++)
        if (shape->ints[k] < 0)
            return tg_fail(TG_INVALID, "dimension %u of the shape is negative", k);
    infer->out[0].shape = tg_shape_from(shape->ints, (int)shape->n);
    return float_type(tg_infer_attr(infer, "dtype")->i, &infer->out[0].dtype);
}

/* The type of the input, unless the node names one. */
tg_status infer_random_like(tg_infer *infer)
{
    const tg_attr *dtype = tg_infer_attr(infer, "dtype");
    infer->out[0].shape = infer->in[0].shape;
    return float_type(dtype->kind == TG_ATTR_INT ? dtype->i : infer->in[0].dtype,
                      &infer->out[0].dtype);
}

static tg_rng *rng_of(const tg_call *call)
{
    const tg_attr *seed = call_attr(call, "seed");
    uint32_t bits = 0;
    if (seed->kind == TG_ATTR_FLOAT) memcpy(&bits, &seed->f, sizeof bits);
    return tg_rng_new(bits);
}

tg_status kernel_random_normal(tg_call *call)
{
    double mean = call_attr(call, "mean")->f, scale = call_attr(call, "scale")->f;
    int64_t n = tg_tensor_count(&call->out[0]);
    tg_rng *rng = rng_of(call);
    for (int64_t i = 0; i < n; i++)
        tg_element_store_f64(&call->out[0], i, 1, &(double){mean + scale * tg_rng_normal(rng)});
    tg_rng_free(rng);
    return TG_OK;
}

tg_status kernel_random_uniform(tg_call *call)
{
    double low = call_attr(call, "low")->f, high = call_attr(call, "high")->f;
    int64_t n = tg_tensor_count(&call->out[0]);
    tg_rng *rng = rng_of(call);
    for (int64_t i = 0; i < n; i++)
        tg_element_store_f64(&call->out[0], i, 1,
                             &(double){low + (high - low) * tg_rng_uniform(rng)});
    tg_rng_free(rng);
    return TG_OK;
}

tg_status infer_bernoulli(tg_infer *infer)
{
    const tg_attr *dtype = tg_infer_attr(infer, "dtype");
    int64_t code = dtype->kind == TG_ATTR_INT ? dtype->i : infer->in[0].dtype;
    if (code <= 0 || code >= TG_DTYPE_COUNT)
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)code);
    infer->out[0] = (tg_type){(tg_dtype)code, infer->in[0].shape};
    return tg_element_numeric(infer->out[0].dtype);
}

tg_status kernel_bernoulli(tg_call *call)
{
    TG_TRY(tg_element_numeric(call->in[0].dtype));
    int64_t n = tg_tensor_count(&call->in[0]);
    tg_rng *rng = rng_of(call);
    for (int64_t i = 0; i < n; i++) {
        double p = tg_tensor_f64(&call->in[0], i);
        tg_element_store_f64(&call->out[0], i, 1, &(double){tg_rng_uniform(rng) < p});
    }
    tg_rng_free(rng);
    return TG_OK;
}

tg_status infer_multinomial(tg_infer *infer)
{
    int64_t code = tg_infer_attr(infer, "dtype")->i;
    int64_t samples = tg_infer_attr(infer, "sample_size")->i;
    if (infer->in[0].shape.rank != 2 || infer->in[0].shape.dim[1] == 0)
        return tg_fail(TG_SHAPE, "the input is no matrix of classes");
    if (code != TG_I32 && code != TG_I64)
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)code);
    if (samples < 0) return tg_fail(TG_INVALID, "sample_size is negative");
    infer->out[0] = (tg_type){(tg_dtype)code, tg_shape_of(infer->in[0].shape.dim[0], samples)};
    return TG_OK;
}

/* One draw from unnormalised log-probabilities: the greatest sum with Gumbel noise. */
static int64_t draw_class(const tg_tensor *x, int64_t row, int64_t classes, tg_rng *rng)
{
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t c = 0; c < classes; c++) {
        double noise = -log(-log(1 - tg_rng_uniform(rng)));
        double v = tg_tensor_f64(x, row * classes + c) + noise;
        if (v > most) {
            most = v;
            best = c;
        }
    }
    return best;
}

tg_status kernel_multinomial(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    TG_TRY(tg_element_numeric(x->dtype));
    int64_t samples = call->out[0].shape.dim[1], n = tg_tensor_count(&call->out[0]);
    tg_rng *rng = rng_of(call);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = draw_class(x, i / samples, x->shape.dim[1], rng);
        tg_element_store_i64(&call->out[0], i, 1, &c);
    }
    tg_rng_free(rng);
    return TG_OK;
}
