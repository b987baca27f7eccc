/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ImageDecoder: the pixels of an image file. */
#include "params.h"
#include "picture.h"

#include <stdlib.h>
#include <string.h>

static bool is_gray(const tg_attr *format)
{
    return strcmp(format->s, "Grayscale") == 0;
}

tg_status infer_image_decoder(tg_infer *infer)
{
    const tg_attr *format = tg_infer_attr(infer, "pixel_format");
    if (!is_gray(format) && strcmp(format->s, "RGB") != 0 && strcmp(format->s, "BGR") != 0)
        return tg_fail(TG_INVALID, "attribute pixel_format is %s", format->s);
    if (infer->in[0].dtype != TG_U8 || infer->in[0].shape.rank != 1)
        return tg_fail(TG_TYPE, "the bytes of an image are a vector of uint8");
    infer->out[0].dtype = TG_U8;
    return TG_OK;
}

/* ITU-R BT.601 in 16 bits, rounded. */
static unsigned char luma(uint32_t p)
{
    uint32_t r = p >> 16 & 0xff, g = p >> 8 & 0xff, b = p & 0xff;
    return (unsigned char)((19595 * r + 38470 * g + 7471 * b + 0x8000) >> 16);
}

tg_status kernel_image_decoder(tg_call *call)
{
    const tg_attr *format = call_attr(call, "pixel_format");
    bool gray = is_gray(format);
    int red = strcmp(format->s, "RGB") == 0 ? 0 : 2;
    tg_picture p;
    TG_TRY(tg_picture_read(call->in[0].data, tg_tensor_bytes(&call->in[0]), &p));
    tg_call_alloc(call, 0, TG_U8, tg_shape_of(p.height, p.width, gray ? 1 : 3));
    unsigned char *y = call->out[0].data;
    for (int64_t i = 0; i < p.height * p.width; i++) {
        if (gray) {
            y[i] = luma(p.pixels[i]);
            continue;
        }
        y[3 * i + red] = (unsigned char)(p.pixels[i] >> 16);
        y[3 * i + 1] = (unsigned char)(p.pixels[i] >> 8);
        y[3 * i + 2 - red] = (unsigned char)p.pixels[i];
    }
    free(p.pixels);
    return TG_OK;
}
