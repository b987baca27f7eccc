/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses of classification: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#include "compute.h"

#include <math.h>
#include <string.h>

static tg_status check_reduction(tg_infer *infer)
{
    const char *how = tg_infer_attr(infer, "reduction")->s;
    if (strcmp(how, "none") == 0 || strcmp(how, "sum") == 0 || strcmp(how, "mean") == 0)
        return TG_OK;
    return tg_fail(TG_INVALID, "attribute reduction is '%s'", how);
}

/* Scores N x C x D..., a class of each of N x D..., and perhaps a weight for each class. */
tg_status infer_loss(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *t = &infer->in[1].shape;
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 2, TG_MAX_RANK));
    TG_TRY(tg_need_rank(infer, 1, "the target", x->rank - 1, x->rank - 1));
    if (infer->in[1].dtype != TG_I32 && infer->in[1].dtype != TG_I64)
        return tg_fail(TG_TYPE, "the target has element type %s",
                       tg_dtype_name(infer->in[1].dtype));
    for (int64_t k = 0; k < t->rank; k++)
        if (t->dim[k] != x->dim[k ? k + 1 : 0])
            return tg_fail(TG_SHAPE, "axis %d of the target does not fit the input", (int)k);
    TG_TRY(tg_need_same(infer, 2, 0, "the weight"));
    TG_TRY(tg_need_vector(infer, 2, "the weight", x->dim[1]));
    TG_TRY(check_reduction(infer));
    bool each = strcmp(tg_infer_attr(infer, "reduction")->s, "none") == 0;
    infer->out[0] = (tg_type){infer->in[0].dtype, each ? *t : (tg_shape){0}};
    if (infer->n_out > 1) infer->out[1] = infer->in[0];
    return TG_OK;
}

/* `x` holds logarithms of probabilities. */
static tg_status loss_of(tg_call *call, const double *x)
{
    const tg_shape *s = &call->in[0].shape;
    const double *weight = tg_call_doubles(call, 2);
    const tg_attr *ignore = call_attr(call, "ignore_index");
    const char *how = call_attr(call, "reduction")->s;
    int64_t classes = s->dim[1], inner = tg_dims_count(s, 2, s->rank);
    int64_t n = tg_tensor_count(&call->in[1]);
    double sum = 0, weights = 0, *y = tg_call_scratch(call, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = tg_tensor_i64(&call->in[1], i);
        y[i] = 0;
        if (ignore->kind == TG_ATTR_INT && c == ignore->i) continue;
        if (c < 0 || c >= classes)
            return tg_fail(TG_INVALID, "target %lld is none of %lld classes", (long long)c,
                           (long long)classes);
        double w = weight ? weight[c] : 1;
        y[i] = -x[(i / inner * classes + c) * inner + i % inner] * w;
        sum += y[i];
        weights += w;
    }
    if (strcmp(how, "none") == 0) tg_call_store(call, 0, y);
    else tg_call_store(call, 0, &(double){strcmp(how, "mean") == 0 ? sum / weights : sum});
    return TG_OK;
}

tg_status kernel_negative_log_likelihood(tg_call *call)
{
    return loss_of(call, tg_call_doubles(call, 0));
}

static void log_softmax(const double *x, double *y, int64_t n, int64_t step)
{
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < n; c++) most = fmax(most, x[c * step]);
    for (int64_t c = 0; c < n; c++) sum += exp(x[c * step] - most);
    for (int64_t c = 0; c < n; c++) y[c * step] = x[c * step] - most - log(sum);
}

tg_status kernel_softmax_cross_entropy(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    const double *x = tg_call_doubles(call, 0);
    int64_t classes = s->dim[1], inner = tg_dims_count(s, 2, s->rank);
    double *y = tg_call_scratch(call, tg_tensor_count(&call->in[0]));
    for (int64_t o = 0; o < s->dim[0]; o++)
        for (int64_t i = 0; i < inner; i++)
            log_softmax(x + o * classes * inner + i, y + o * classes * inner + i, classes, inner);
    if (has_output(call, 1)) tg_call_store(call, 1, y);
    return loss_of(call, y);
}
