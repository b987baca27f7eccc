/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxUnpool: maxima put back where MaxPool found them. */
#include "params.h"

#include "window.h"

/* The shape that MaxPool read, if its windows fit without a rest; indices count in it. */
static tg_shape natural_shape(const tg_attr *kernel, const tg_attr *strides, const tg_attr *pads,
                              const tg_shape *x)
{
    tg_shape out = *x;
    for (int k = 0; k < x->rank - 2; k++)
        out.dim[2 + k] = (x->dim[2 + k] - 1) * strides->ints[k] + kernel->ints[k] - pads->ints[k] -
                         pads->ints[x->rank - 2 + k];
    return out;
}

static tg_status check_pads(tg_infer *infer, int n)
{
    tg_attr *pads = tg_infer_attr(infer, "pads");
    if (pads->kind == TG_ATTR_NONE || pads->n == 0)
        tg_infer_set_ints(infer, "pads", (int64_t[2 * TG_MAX_SPATIAL]){0}, 2 * (size_t)n);
    if (pads->n != 2 * (uint32_t)n)
        return tg_fail(TG_INVALID, "attribute pads has %u entries, not %d", pads->n, 2 * n);
    for (int k = 0; k < 2 * n; k++)
        if (pads->ints[k] < 0 || pads->ints[k] > 1 << 30)
            return tg_fail(TG_INVALID, "attribute pads has entry %lld", (long long)pads->ints[k]);
    return TG_OK;
}

tg_status infer_max_unpool(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    const tg_attr *given;
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 2 + TG_MAX_SPATIAL));
    TG_TRY(tg_need_float(infer, 0, "the input"));
    if (infer->in[1].dtype != TG_I64 || !tg_shape_equal(x, &infer->in[1].shape))
        return tg_fail(TG_SHAPE, "the indices do not fit the input");
    if (tg_infer_attr(infer, "kernel_shape")->n == 0)
        return tg_fail(TG_INVALID, "attribute kernel_shape is empty");
    TG_TRY(tg_window_fill(infer, (int)x->rank - 2, NULL));
    TG_TRY(check_pads(infer, (int)x->rank - 2));
    for (int k = 2; k < x->rank; k++)
        if (x->dim[k] > 1 << 30)
            return tg_fail(TG_LIMIT, "axis %d has size %lld", k, (long long)x->dim[k]);
    infer->out[0].dtype = infer->in[0].dtype;
    TG_TRY(infer_list(infer, "output_shape", 2, &given));
    if (!given && has_type(infer, 2)) return TG_OK;
    tg_shape out = natural_shape(tg_infer_attr(infer, "kernel_shape"),
                                 tg_infer_attr(infer, "strides"), tg_infer_attr(infer, "pads"), x);
    if (given && given->n != x->rank)
        return tg_fail(TG_SHAPE, "output_shape has %u entries", given->n);
    for (int k = 0; k < x->rank; k++) {
        if (given) out.dim[k] = given->ints[k];
        if (out.dim[k] < 0) return tg_fail(TG_SHAPE, "axis %d of the output is negative", k);
    }
    infer->out[0].shape = out;
    return TG_OK;
}

tg_status kernel_max_unpool(tg_call *call)
{
    const tg_shape *out = &call->out[0].shape;
    const double *x = tg_call_doubles(call, 0);
    const int64_t *index = call->in[1].data;
    tg_shape from = natural_shape(call_attr(call, "kernel_shape"), call_attr(call, "strides"),
                                  call_attr(call, "pads"), &call->in[0].shape);
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    for (int64_t i = 0; i < tg_tensor_count(&call->in[0]); i++) {
        int64_t rest = index[i], at = 0, step = 1;
        bool inside = rest >= 0;
        for (int k = (int)out->rank - 1; k >= 0 && inside; k--) {
            int64_t place = from.dim[k] > 0 ? rest % from.dim[k] : out->dim[k];
            inside = place < out->dim[k];
            at += place * step;
            step *= out->dim[k];
            if (from.dim[k] > 0) rest /= from.dim[k];
        }
        if (!inside || rest > 0)
            return tg_fail(TG_INVALID, "index %lld is outside the output", (long long)index[i]);
        y[at] = x[i];
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
