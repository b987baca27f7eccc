/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Image files in memory, read by Imlib2 and libjpeg where this build has them. */
#ifndef TG_OPS_PICTURE_H
#define TG_OPS_PICTURE_H

#include "engine/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct tg_picture {
    int64_t height, width;
    uint32_t *pixels; /* rows from the top, each element 0xAARRGGBB; NULL: no picture */
} tg_picture;

/*
 * Reads BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP; the caller frees pixels. Bytes that are no
 * such picture, or a broken one, are no failure: they give a picture of no pixels. One at a time,
 * whatever the thread. Errors: TG_LIMIT (too many pixels), TG_UNSUPPORTED (a build without the
 * libraries).
 */
tg_status tg_picture_read(const void *bytes, size_t n, tg_picture *picture) TG_MUST_USE;

/*
 * jpeg.c: the same of a JPEG file, from any thread, with at most `most` bytes of pixels. Returns 0,
 * or how many bytes there would be where that is more.
 */
size_t tg_jpeg_read(const void *bytes, size_t n, size_t most, tg_picture *picture);

#endif
