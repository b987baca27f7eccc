/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "picture.h"

#include "engine/base/alloc.h"

#include <string.h>

#ifdef HAVE_PICTURES
/* Nothing here is drawn on a window. */
#define X_DISPLAY_MISSING
#include <Imlib2.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_BYTES = 1 << 30 }; /* of decoded pixels */

/* How the files of a format begin, and the name that Imlib2 has for it. */
static const struct format {
    const char *start;
    size_t n, at;
    const char *name;
} formats[] = {
    {"BM", 2, 0, "bmp"},
    {"\xff\xd8\xff", 3, 0, "jpg"},
    {"\0\0\0\x0cjP  \r\n\x87\n", 12, 0, "jp2"},
    {"\xff\x4f\xff\x51", 4, 0, "j2k"},
    {"\x89PNG\r\n\x1a\n", 8, 0, "png"},
    {"P1", 2, 0, "pnm"},
    {"P2", 2, 0, "pnm"},
    {"P3", 2, 0, "pnm"},
    {"P4", 2, 0, "pnm"},
    {"P5", 2, 0, "pnm"},
    {"P6", 2, 0, "pnm"},
    {"II*\0", 4, 0, "tiff"},
    {"MM\0*", 4, 0, "tiff"},
    {"WEBP", 4, 8, "webp"},
};

static const struct format *format_of(const char *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *f = &formats[i];
        if (n >= f->at + f->n && memcmp(bytes + f->at, f->start, f->n) == 0) return f;
    }
    return NULL;
}

/* Imlib2 has one state for all threads, and its hook for memory no argument. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static size_t refused;

static size_t most_bytes(void)
{
    size_t most = tg_memory_limit();
    return most && most < MOST_BYTES ? most : MOST_BYTES;
}

typedef struct request {
    size_t size;
    void *p;
} request;

static tg_status allocate(void *ctx)
{
    request *r = ctx;
    r->p = tg_malloc(r->size);
    return TG_OK;
}

/* Memory that runs out must not leave Imlib2 half way, nor the turn taken. */
static void *pixels_of(size_t size)
{
    request r = {size, NULL};
    if (size <= most_bytes() && tg_protect(allocate, &r) == TG_OK) return r.p;
    refused = size;
    return NULL;
}

static void *pixels_for(void *old, size_t size)
{
    if (old) {
        free(old);
        return NULL;
    }
    return pixels_of(size);
}

static void take(Imlib_Image image, tg_picture *picture)
{
    imlib_context_set_image(image);
    const uint32_t *from = imlib_image_get_data_for_reading_only();
    int64_t height = imlib_image_get_height(), width = imlib_image_get_width();
    if (from && height > 0 && width > 0) {
        size_t size = (size_t)height * (size_t)width * sizeof *from;
        uint32_t *pixels = pixels_of(size);
        if (pixels) *picture = (tg_picture){height, width, memcpy(pixels, from, size)};
    }
    imlib_free_image_and_decache();
}

/* Whether all chunks lie within the file: Imlib2's reader believes their lengths. */
static bool png_is_whole(const unsigned char *bytes, size_t n)
{
    for (size_t at = 8; n - at >= 12;) {
        const unsigned char *p = bytes + at;
        size_t size = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (size > n - at - 12) return false;
        if (memcmp(p + 4, "IEND", 4) == 0) return true;
        at += 12 + size;
    }
    return false;
}

/* Returns what tg_jpeg_read does. */
static size_t read_by_imlib(const struct format *f, const void *bytes, size_t n,
                            tg_picture *picture)
{
    char name[16] = "picture.";
    strcat(name, f->name);
    pthread_mutex_lock(&turn);
    refused = 0;
    imlib_context_set_image_data_memory_function(pixels_for);
    Imlib_Image image = imlib_load_image_mem(name, bytes, n);
    if (image) take(image, picture);
    size_t too_large = picture->pixels ? 0 : refused;
    pthread_mutex_unlock(&turn);
    return too_large;
}

tg_status tg_picture_read(const void *bytes, size_t n, tg_picture *picture)
{
    const struct format *f = format_of(bytes, n);
    *picture = (tg_picture){0};
    if (!f || (strcmp(f->name, "png") == 0 && !png_is_whole(bytes, n))) return TG_OK;
    size_t too_large = strcmp(f->name, "jpg") == 0 ? tg_jpeg_read(bytes, n, most_bytes(), picture)
                                                   : read_by_imlib(f, bytes, n, picture);
    if (!too_large) return TG_OK;
    return tg_fail(TG_LIMIT, "the picture has %zu bytes of pixels, which is too large", too_large);
}

#else

tg_status tg_picture_read(const void *bytes, size_t n, tg_picture *picture)
{
    (void)bytes;
    *picture = (tg_picture){0};
    return n ? tg_fail(TG_UNSUPPORTED,
                       "this build reads no pictures: it was made without Imlib2 and libjpeg")
             : TG_OK;
}

#endif
