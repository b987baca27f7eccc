/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RotaryEmbedding: pairs of elements of each head turned by angles that belong to the token. */
#include "compute.h"
#include "index.h"

/* heads lie in axis 1 of four, or in the last of three. */
typedef struct layout {
    bool packed;
    int64_t batch, heads, tokens, size, turned; /* turned: how many elements of a head are */
} layout;

static layout layout_of(const tg_shape *x, int64_t heads, int64_t turned)
{
    layout l = {x->rank == 3, x->dim[0], heads, x->dim[1], 0, turned};
    if (l.packed) l.size = x->dim[2] / heads;
    else {
        l.heads = x->dim[1];
        l.tokens = x->dim[2];
        l.size = x->dim[3];
    }
    if (!l.turned) l.turned = l.size;
    return l;
}

static tg_status check_cache(const tg_infer *infer, int slot, const char *what, const layout *l)
{
    bool by_id = has_type(infer, 3);
    const tg_shape *s = &infer->in[slot].shape;
    TG_TRY(tg_need_same(infer, slot, 0, what));
    TG_TRY(tg_need_rank(infer, slot, what, by_id ? 2 : 3, by_id ? 2 : 3));
    if (s->dim[s->rank - 1] * 2 != l->turned ||
        (!by_id && (s->dim[0] != l->batch || s->dim[1] != l->tokens)))
        return tg_fail(TG_SHAPE, "%s does not fit the input", what);
    return TG_OK;
}

tg_status infer_rotary_embedding(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    int64_t turned = tg_infer_attr(infer, "rotary_embedding_dim")->i, heads = 1;
    tg_attr *interleaved = tg_infer_attr(infer, "interleaved");
    const tg_attr *given = tg_infer_attr(infer, "num_heads");
    interleaved->i = interleaved->i != 0;
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 4));
    if (x->rank == 3) {
        heads = given->kind == TG_ATTR_INT ? given->i : 0;
        if (heads < 1 || x->dim[2] % heads)
            return tg_fail(TG_INVALID, "attribute num_heads is %lld", (long long)heads);
    }
    layout l = layout_of(x, heads, turned);
    if (turned < 0 || l.turned > l.size || l.turned % 2)
        return tg_fail(TG_INVALID, "%lld of %lld elements are to be turned in pairs",
                       (long long)l.turned, (long long)l.size);
    TG_TRY(check_cache(infer, 1, "the cosine cache", &l));
    TG_TRY(check_cache(infer, 2, "the sine cache", &l));
    if (infer->in[1].shape.dim[0] != infer->in[2].shape.dim[0])
        return tg_fail(TG_SHAPE, "the caches differ in shape");
    tg_shape ids = tg_shape_of(l.batch, l.tokens);
    if (has_type(infer, 3) && !tg_shape_equal(&infer->in[3].shape, &ids))
        return tg_fail(TG_SHAPE, "the positions do not fit the input");
    if (has_type(infer, 3)) TG_TRY(tg_index_type(infer->in[3].dtype));
    infer->out[0] = infer->in[0];
    return TG_OK;
}

/* Turns one head of one token by the angles whose cosines and sines are given. */
static void turn(const double *x, const double *cosine, const double *sine, int64_t turned,
                 bool interleaved, double *y)
{
    int64_t half = turned / 2;
    for (int64_t i = 0; i < half; i++) {
        int64_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + half;
        y[a] = cosine[i] * x[a] - sine[i] * x[b];
        y[b] = sine[i] * x[a] + cosine[i] * x[b];
    }
}

tg_status kernel_rotary_embedding(tg_call *call)
{
    const double *x = tg_call_doubles(call, 0), *cosine = tg_call_doubles(call, 1);
    const double *sine = tg_call_doubles(call, 2);
    layout l = layout_of(&call->in[0].shape, call_attr(call, "num_heads")->i,
                         call_int(call, "rotary_embedding_dim"));
    bool interleaved = call_int(call, "interleaved") != 0;
    int64_t n = tg_tensor_count(&call->in[0]);
    double *y = tg_call_scratch(call, n);
    for (int64_t i = 0; i < n; i++) y[i] = x[i];
    for (int64_t row = 0; row < l.batch * l.tokens; row++) {
        int64_t b = row / l.tokens, t = row % l.tokens, at = row;
        if (has_input(call, 3))
            TG_TRY(tg_index_normalise(tg_tensor_i64(&call->in[3], row), call->in[1].shape.dim[0],
                                      &at));
        for (int64_t h = 0; h < l.heads; h++) {
            int64_t head = l.packed ? row * l.heads + h : (b * l.heads + h) * l.tokens + t;
            turn(x + head * l.size, cosine + at * l.turned / 2, sine + at * l.turned / 2, l.turned,
                 interleaved, y + head * l.size);
        }
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
