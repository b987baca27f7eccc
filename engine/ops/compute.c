/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute.h"

tg_status tg_need_rank(const tg_infer *infer, int slot, const char *what, int64_t least,
                       int64_t most)
{
    const tg_shape *s = &infer->in[slot].shape;
    char text[TG_SHAPE_TEXT];
    if (s->rank >= least && s->rank <= most) return TG_OK;
    tg_shape_text(text, s);
    if (least == most)
        return tg_fail(TG_SHAPE, "%s has rank %lld (%s), not %lld", what, (long long)s->rank, text,
                       (long long)least);
    return tg_fail(TG_SHAPE, "%s has rank %lld (%s), outside %lld to %lld", what,
                   (long long)s->rank, text, (long long)least, (long long)most);
}

tg_status tg_need_float(const tg_infer *infer, int slot, const char *what)
{
    tg_dtype t = infer->in[slot].dtype;
    if (tg_dtype_kind(t) == 'f') return TG_OK;
    return tg_fail(TG_TYPE, "%s has element type %s, not a float type", what, tg_dtype_name(t));
}

tg_status tg_need_same(const tg_infer *infer, int slot, int other, const char *what)
{
    if (!has_type(infer, slot) || !has_type(infer, other)) return TG_OK;
    tg_dtype a = infer->in[slot].dtype, b = infer->in[other].dtype;
    if (a == b) return TG_OK;
    return tg_fail(TG_TYPE, "%s has element type %s, not %s", what, tg_dtype_name(a),
                   tg_dtype_name(b));
}

tg_status tg_need_vector(const tg_infer *infer, int slot, const char *what, int64_t n)
{
    if (!has_type(infer, slot)) return TG_OK;
    const tg_shape *s = &infer->in[slot].shape;
    char text[TG_SHAPE_TEXT];
    if (s->rank == 1 && s->dim[0] == n) return TG_OK;
    return tg_fail(TG_SHAPE, "%s has shape %s, not %lld", what, tg_shape_text(text, s),
                   (long long)n);
}

tg_status tg_need_axis(tg_infer *infer, const char *name, int64_t rank)
{
    int64_t *axis = &tg_infer_attr(infer, name)->i;
    return tg_axis_normalise(*axis, rank, axis);
}

const double *tg_call_doubles(tg_call *call, int slot)
{
    if (!has_input(call, slot)) return NULL;
    const tg_tensor *t = &call->in[slot];
    if (t->dtype == TG_F64) return t->data;
    int64_t n = tg_tensor_count(t);
    double *x = tg_call_scratch(call, n);
    if (t->dtype == TG_F32) {
        const float *f = t->data;
        for (int64_t i = 0; i < n; i++) x[i] = f[i];
    } else {
        for (int64_t i = 0; i < n; i++) x[i] = tg_tensor_f64(t, i);
    }
    return x;
}

double *tg_call_scratch(tg_call *call, int64_t n)
{
    return TG_NEW_ARRAY(call->arena, double, n > 0 ? n : 1);
}

void tg_call_store(tg_call *call, int i, const double *y)
{
    tg_tensor *t = &call->out[i];
    int64_t n = tg_tensor_count(t);
    for (int64_t k = 0; k < n; k++) tg_tensor_set_f64(t, k, y[k]);
}

int64_t tg_dims_count(const tg_shape *s, int64_t from, int64_t to)
{
    int64_t n = 1;
    for (int64_t i = from; i < to; i++) n *= s->dim[i];
    return n;
}
