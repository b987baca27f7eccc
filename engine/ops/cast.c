/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cast and CastLike. */
#include "params.h"

#include <string.h>

static tg_status castable(tg_dtype from, tg_dtype to)
{
    TG_TRY(tg_element_numeric(from));
    return tg_element_numeric(to);
}

tg_status infer_cast(tg_infer *infer)
{
    int64_t to = tg_infer_attr(infer, "to")->i;
    if (to <= 0 || to >= TG_DTYPE_COUNT || !tg_dtype_size((tg_dtype)to))
        return tg_fail(TG_UNSUPPORTED, "element type number %lld", (long long)to);
    infer->out[0] = (tg_type){(tg_dtype)to, infer->in[0].shape};
    return TG_OK;
}

tg_status infer_cast_like(tg_infer *infer)
{
    infer->out[0] = (tg_type){infer->in[1].dtype, infer->in[0].shape};
    return TG_OK;
}

/*
 * Floats to integers are cut towards zero, integers to smaller ones keep the low bits, everything
 * to bool asks whether it is other than 0, floats to floats are rounded once.
 */
tg_status kernel_cast(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    tg_tensor *y = &call->out[0];
    TG_TRY(castable(x->dtype, y->dtype));
    int64_t n = tg_tensor_count(x);
    bool integers = !tg_element_float(x->dtype) && y->dtype != TG_F32 && y->dtype != TG_F64;
    /* Large unsigned numbers would turn negative on their way to a half. */
    if (x->dtype == TG_U64 && tg_element_float(y->dtype)) integers = false;
    for (int64_t at = 0; at < n; at += TG_BLOCK) {
        int64_t m = n - at < TG_BLOCK ? n - at : TG_BLOCK;
        if (x->dtype == y->dtype)
            memcpy(tg_element_at(y, at), tg_element_at(x, at), (size_t)m * tg_dtype_size(x->dtype));
        else if (integers) {
            int64_t v[TG_BLOCK];
            tg_element_load_i64(x, at, 1, m, v);
            tg_element_store_i64(y, at, m, v);
        } else if (y->dtype == TG_F32) {
            /* A large integer goes to float in one rounding, not by way of double. */
            tg_element_load_f32(x, at, 1, m, (float *)y->data + at);
        } else {
            double v[TG_BLOCK];
            tg_element_load_f64(x, at, 1, m, v);
            tg_element_store_f64(y, at, m, v);
        }
    }
    return TG_OK;
}
