/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DepthToSpace and SpaceToDepth: blocks of channels against blocks of pixels. */
#include "compute.h"

#include <string.h>

static tg_status need_blocks(tg_infer *infer, int64_t *block)
{
    *block = tg_infer_attr(infer, "blocksize")->i;
    if (*block < 1 || *block > 1 << 10)
        return tg_fail(TG_INVALID, "attribute blocksize is %lld", (long long)*block);
    tg_attr *mode = tg_infer_attr(infer, "mode");
    if (mode->kind == TG_ATTR_NONE) *mode = tg_attr_str("DCR");
    if (strcmp(mode->s, "DCR") != 0 && strcmp(mode->s, "CRD") != 0)
        return tg_fail(TG_INVALID, "attribute mode is %s", mode->s);
    TG_TRY(tg_need_rank(infer, 0, "the input", 4, 4));
    for (int i = 1; i < 4; i++)
        if (infer->in[0].shape.dim[i] > (int64_t)1 << 40)
            return tg_fail(TG_LIMIT, "axis %d has size %lld", i,
                           (long long)infer->in[0].shape.dim[i]);
    return TG_OK;
}

tg_status infer_depth_to_space(tg_infer *infer)
{
    int64_t b;
    TG_TRY(need_blocks(infer, &b));
    const int64_t *d = infer->in[0].shape.dim;
    if (d[1] % (b * b))
        return tg_fail(TG_SHAPE, "%lld channels are no multiple of %lld", (long long)d[1],
                       (long long)(b * b));
    infer->out[0] =
        (tg_type){infer->in[0].dtype, tg_shape_of(d[0], d[1] / (b * b), d[2] * b, d[3] * b)};
    return TG_OK;
}

tg_status infer_space_to_depth(tg_infer *infer)
{
    int64_t b;
    TG_TRY(need_blocks(infer, &b));
    const int64_t *d = infer->in[0].shape.dim;
    if (d[2] % b || d[3] % b)
        return tg_fail(TG_SHAPE, "%lld x %lld pixels are no multiple of %lld", (long long)d[2],
                       (long long)d[3], (long long)b);
    infer->out[0] =
        (tg_type){infer->in[0].dtype, tg_shape_of(d[0], d[1] * b * b, d[2] / b, d[3] / b)};
    return TG_OK;
}

/*
 * Walks the pixels of the spatial side [n, c, h * b, w * b]. The pixel (i, j) of a block lies in
 * the deep side in channel (i * b + j) * c + k, with crd in channel k * b * b + i * b + j.
 */
static void walk(const tg_tensor *from, const tg_tensor *to, bool to_space, int64_t b, bool crd)
{
    const int64_t *s = to_space ? to->shape.dim : from->shape.dim;
    int64_t c = s[1], height = s[2], width = s[3], h = height / b, w = width / b, at = 0;
    size_t size = tg_dtype_size(from->dtype);
    for (int64_t n = 0; n < s[0]; n++)
        for (int64_t k = 0; k < c; k++)
            for (int64_t y = 0; y < height; y++)
                for (int64_t x = 0; x < width; x++, at++) {
                    int64_t part = y % b * b + x % b;
                    int64_t channel = crd ? k * b * b + part : part * c + k;
                    int64_t deep = ((n * c * b * b + channel) * h + y / b) * w + x / b;
                    int64_t source = to_space ? deep : at, target = to_space ? at : deep;
                    memcpy((char *)to->data + (size_t)target * size,
                           (const char *)from->data + (size_t)source * size, size);
                }
}

static tg_status run(tg_call *call, bool to_space)
{
    bool crd = strcmp(call_attr(call, "mode")->s, "CRD") == 0;
    if (tg_tensor_count(&call->out[0]))
        walk(&call->in[0], &call->out[0], to_space, call_int(call, "blocksize"), crd);
    return TG_OK;
}

tg_status kernel_depth_to_space(tg_call *call)
{
    return run(call, true);
}

tg_status kernel_space_to_depth(tg_call *call)
{
    return run(call, false);
}
