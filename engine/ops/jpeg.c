/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JPEG files by libjpeg, since Imlib2 repeats the colours of neighbours where ONNX wants them
 * interpolated ("fancy upsampling").
 */
#include "picture.h"

#include "engine/base/alloc.h"

#ifdef HAVE_PICTURES
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include <jerror.h>
#include <setjmp.h>

enum { MOST_SCANS = 200 }; /* a file of many empty ones takes for ever */

typedef struct reader {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf out;
    uint32_t *pixels;
    unsigned char *row;
    size_t most, size; /* bytes of pixels */
} reader;

static void give_up(j_common_ptr info)
{
    reader *r = info->client_data;
    longjmp(r->out, 1);
}

static void be_silent(j_common_ptr info)
{
    (void)info;
}

/* A file that ends early is broken, though the library fills it up. */
static void note(j_common_ptr info, int level)
{
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) give_up(info);
}

static void count_scans(j_common_ptr info)
{
    if (((j_decompress_ptr)info)->input_scan_number > MOST_SCANS) give_up(info);
}

static void start(reader *r, const void *bytes, size_t n)
{
    r->info.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = give_up;
    r->errors.output_message = be_silent;
    r->errors.emit_message = note;
    r->info.client_data = r;
    jpeg_create_decompress(&r->info);
    r->progress.progress_monitor = count_scans;
    r->info.progress = &r->progress;
    jpeg_mem_src(&r->info, bytes, n);
    jpeg_read_header(&r->info, TRUE);
    r->info.out_color_space = JCS_RGB;
}

static void read_rows(reader *r)
{
    size_t width = r->info.image_width;
    r->size = width * r->info.image_height * sizeof *r->pixels;
    if (r->size > r->most) give_up((j_common_ptr)&r->info);
    r->pixels = tg_malloc(r->size);
    r->row = tg_malloc(3 * width);
    jpeg_start_decompress(&r->info);
    while (r->info.output_scanline < r->info.output_height) {
        uint32_t *to = r->pixels + r->info.output_scanline * width;
        jpeg_read_scanlines(&r->info, &r->row, 1);
        for (size_t i = 0; i < width; i++)
            to[i] = 0xff000000u | (uint32_t)r->row[3 * i] << 16 | (uint32_t)r->row[3 * i + 1] << 8 |
                    r->row[3 * i + 2];
    }
    jpeg_finish_decompress(&r->info);
}

size_t tg_jpeg_read(const void *bytes, size_t n, size_t most, tg_picture *picture)
{
    reader *r = tg_calloc(1, sizeof *r);
    size_t too_large = 0;
    r->most = most;
    if (setjmp(r->out) == 0) {
        start(r, bytes, n);
        read_rows(r);
        *picture = (tg_picture){r->info.image_height, r->info.image_width, r->pixels};
    } else {
        if (r->size > most) too_large = r->size;
        free(r->pixels);
    }
    jpeg_destroy_decompress(&r->info);
    free(r->row);
    free(r);
    return too_large;
}

#endif
