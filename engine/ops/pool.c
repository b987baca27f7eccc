/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pooling: MaxPool, AveragePool, LpPool and their global forms. */
#include "window.h"

#include <math.h>

static tg_status infer_window(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 2 + TG_MAX_SPATIAL));
    if (tg_infer_attr(infer, "kernel_shape")->n == 0)
        return tg_fail(TG_INVALID, "attribute kernel_shape is empty");
    tg_attr *ceil = tg_infer_attr(infer, "ceil_mode");
    ceil->i = ceil->i != 0;
    tg_shape out = {.rank = x->rank, .dim = {x->dim[0], x->dim[1]}};
    TG_TRY(tg_window_infer(infer, x, NULL, &out));
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

tg_status infer_max_pool(tg_infer *infer)
{
    char kind = tg_dtype_kind(infer->in[0].dtype);
    if (kind != 'f' && kind != 'i' && kind != 'u')
        return tg_fail(TG_TYPE, "element type %s has no maximum",
                       tg_dtype_name(infer->in[0].dtype));
    TG_TRY(infer_window(infer));
    tg_attr *order = tg_infer_attr(infer, "storage_order");
    order->i = order->i != 0;
    if (infer->n_out > 1) infer->out[1] = (tg_type){TG_I64, infer->out[0].shape};
    return TG_OK;
}

tg_status infer_average_pool(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    tg_attr *count = tg_infer_attr(infer, "count_include_pad");
    count->i = count->i != 0;
    return infer_window(infer);
}

tg_status infer_lp_pool(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    if (tg_infer_attr(infer, "p")->i < 1)
        return tg_fail(TG_INVALID, "attribute p is %lld", (long long)tg_infer_attr(infer, "p")->i);
    return infer_window(infer);
}

/* The kernel positions [from, to) of one output position that meet the input, on one axis. */
typedef struct span {
    int64_t from, to;
    int64_t at;     /* input position of kernel position 0 */
    int64_t padded; /* how many meet the input or its padding */
} span;

static span span_of(const tg_window *w, int axis, int64_t o)
{
    span s = {.at = o * w->stride[axis] - w->pad[axis]};
    int64_t d = w->dilation[axis], k = w->kernel[axis], end = w->in[axis] + w->pad_end[axis];
    s.from = s.at >= 0 ? 0 : (-s.at + d - 1) / d;
    s.to = w->in[axis] <= s.at ? 0 : (w->in[axis] - s.at + d - 1) / d;
    if (s.to > k) s.to = k;
    s.padded = end <= s.at ? 0 : (end - s.at + d - 1) / d;
    if (s.padded > k) s.padded = k;
    return s;
}

/* What a pool makes of a window: the maximum and where it is, and the sum of |x|^p or x. */
typedef struct pooled {
    double max, sum;
    int64_t where, count, padded;
} pooled;

/* The greatest element of a window in which there is none. */
static double least_of(tg_dtype t)
{
    char kind = tg_dtype_kind(t);
    return kind == 'u' ? 0 : kind == 'i' ? -ldexp(1, 8 * (int)tg_dtype_size(t) - 1) : -INFINITY;
}

/* p: 0 sums x itself. */
static pooled pool_at(const tg_window *w, const double *x, const span s[3], double p)
{
    pooled r = {.max = -INFINITY, .where = -1};
    for (int64_t i = s[0].from; i < s[0].to; i++)
        for (int64_t j = s[1].from; j < s[1].to; j++)
            for (int64_t k = s[2].from; k < s[2].to; k++) {
                int64_t at = s[0].at + i * w->dilation[0];
                at = at * w->in[1] + s[1].at + j * w->dilation[1];
                at = at * w->in[2] + s[2].at + k * w->dilation[2];
                if (r.where < 0 || x[at] > r.max) {
                    r.max = x[at];
                    r.where = at;
                }
                r.sum += p == 0 ? x[at] : pow(fabs(x[at]), p);
                r.count++;
            }
    r.padded = s[0].padded * s[1].padded * s[2].padded;
    return r;
}

/* Calls of pool_at for all windows; `take` puts the result into output element i. */
typedef struct pooling {
    tg_call *call;
    tg_window window;
    double p, *y;
    bool include_pad;
    int64_t plane; /* elements of a channel of the input */
} pooling;

static void pool_all(pooling *p, void (*take)(pooling *, int64_t channel, int64_t i, pooled r))
{
    const tg_window *w = &p->window;
    const double *x = tg_call_doubles(p->call, 0);
    int64_t channels = p->call->in[0].shape.dim[0] * p->call->in[0].shape.dim[1], i = 0, o[3];
    p->plane = w->in[0] * w->in[1] * w->in[2];
    for (int64_t c = 0; c < channels; c++)
        for (o[0] = 0; o[0] < w->out[0]; o[0]++)
            for (o[1] = 0; o[1] < w->out[1]; o[1]++)
                for (o[2] = 0; o[2] < w->out[2]; o[2]++) {
                    span s[3];
                    for (int a = 0; a < 3; a++) s[a] = span_of(w, a, o[a]);
                    take(p, c, i++, pool_at(w, x + c * p->plane, s, p->p));
                }
}

static pooling pooling_of(tg_call *call)
{
    return (pooling){.call = call,
                     .window = tg_window_of(call, &call->in[0].shape, &call->out[0].shape),
                     .y = tg_call_scratch(call, tg_tensor_count(&call->out[0]))};
}

/* Index of an element of a channel when the first spatial axis runs fastest. */
static int64_t column_major(const tg_window *w, int64_t at)
{
    int64_t k = at % w->in[2], j = at / w->in[2] % w->in[1], i = at / w->in[2] / w->in[1];
    return i + w->in[0] * (j + w->in[1] * k);
}

static void take_max(pooling *p, int64_t channel, int64_t i, pooled r)
{
    p->y[i] = r.where < 0 ? least_of(p->call->out[0].dtype) : r.max;
    if (!has_output(p->call, 1)) return;
    int64_t at = r.where;
    if (at >= 0 && call_int(p->call, "storage_order")) at = column_major(&p->window, at);
    tg_tensor_set_i64(&p->call->out[1], i, at < 0 ? -1 : channel * p->plane + at);
}

static void take_average(pooling *p, int64_t channel, int64_t i, pooled r)
{
    (void)channel;
    int64_t n = p->include_pad ? r.padded : r.count;
    p->y[i] = n ? r.sum / (double)n : 0;
}

static void take_norm(pooling *p, int64_t channel, int64_t i, pooled r)
{
    (void)channel;
    p->y[i] = pow(r.sum, 1 / p->p);
}

tg_status kernel_max_pool(tg_call *call)
{
    pooling p = pooling_of(call);
    pool_all(&p, take_max);
    tg_call_store(call, 0, p.y);
    return TG_OK;
}

tg_status kernel_average_pool(tg_call *call)
{
    pooling p = pooling_of(call);
    p.include_pad = call_int(call, "count_include_pad");
    pool_all(&p, take_average);
    tg_call_store(call, 0, p.y);
    return TG_OK;
}

tg_status kernel_lp_pool(tg_call *call)
{
    pooling p = pooling_of(call);
    p.p = (double)call_int(call, "p");
    pool_all(&p, take_norm);
    tg_call_store(call, 0, p.y);
    return TG_OK;
}

tg_status infer_global_pool(tg_infer *infer)
{
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 2, TG_MAX_RANK));
    if (tg_infer_has_attr(infer, "p") && tg_infer_attr(infer, "p")->i < 1)
        return tg_fail(TG_INVALID, "attribute p is %lld", (long long)tg_infer_attr(infer, "p")->i);
    infer->out[0] = infer->in[0];
    for (int i = 2; i < infer->out[0].shape.rank; i++) infer->out[0].shape.dim[i] = 1;
    return TG_OK;
}

typedef enum { GLOBAL_AVERAGE, GLOBAL_MAX, GLOBAL_NORM } global_kind;

static double global_of(const double *x, int64_t n, global_kind kind, double p)
{
    double sum = 0, max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        sum += kind == GLOBAL_NORM ? pow(fabs(x[i]), p) : x[i];
        if (i == 0 || x[i] > max) max = x[i];
    }
    if (kind == GLOBAL_MAX) return max;
    return kind == GLOBAL_NORM ? pow(sum, 1 / p) : sum / (double)n;
}

static tg_status global_pool(tg_call *call, global_kind kind, double p)
{
    const double *x = tg_call_doubles(call, 0);
    const tg_shape *s = &call->in[0].shape;
    int64_t channels = tg_tensor_count(&call->out[0]), n = tg_dims_count(s, 2, s->rank);
    for (int64_t c = 0; c < channels; c++)
        tg_tensor_set_f64(&call->out[0], c, global_of(x + c * n, n, kind, p));
    return TG_OK;
}

tg_status kernel_global_average_pool(tg_call *call)
{
    return global_pool(call, GLOBAL_AVERAGE, 1);
}

tg_status kernel_global_max_pool(tg_call *call)
{
    return global_pool(call, GLOBAL_MAX, 1);
}

tg_status kernel_global_lp_pool(tg_call *call)
{
    return global_pool(call, GLOBAL_NORM, (double)call_int(call, "p"));
}
