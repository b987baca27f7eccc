/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ImageDecoder: pixels of image files, and files that are none. */
#include "tests/unit/op_run.h"

#include "engine/ops/picture.h"

/* 8 x 2, the left half red, the right half blue. */
static const unsigned char jpeg[] = {
    0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0xff, 0xdb, 0x00, 0x43, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0xff, 0xc0, 0x00, 0x11,
    0x08, 0x00, 0x02, 0x00, 0x08, 0x03, 0x01, 0x22, 0x00, 0x02, 0x11, 0x01, 0x03, 0x11, 0x01, 0xff,
    0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x0a, 0xff, 0xc4, 0x00, 0x18, 0x10, 0x01, 0x00, 0x03, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x46, 0x86, 0xc6,
    0xff, 0xc4, 0x00, 0x15, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x0a, 0xff, 0xc4, 0x00, 0x1b, 0x11, 0x00, 0x00, 0x07, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x08, 0x09,
    0x39, 0x87, 0xb7, 0xb8, 0xff, 0xda, 0x00, 0x0c, 0x03, 0x01, 0x00, 0x02, 0x11, 0x03, 0x11, 0x00,
    0x3f, 0x00, 0x9a, 0x39, 0x55, 0x43, 0xd4, 0x73, 0xa0, 0x2a, 0x91, 0x92, 0xe3, 0x15, 0x33, 0x5c,
    0xdd, 0x04, 0x6b, 0x84, 0x03, 0xbd, 0xc8, 0x92, 0x85, 0xa9, 0xb0, 0xe2, 0xcc, 0x7f, 0xff, 0xd9};

#ifdef HAVE_PICTURES
enum { READS = 1 };
#else
enum { READS = 0 };
#endif

#define BYTES(...)                                                                                 \
    INPUT(TG_U8, SHAPE((int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double))),         \
          __VA_ARGS__)
/* Two pixels: 10 20 30 and 250 0 5. */
#define PPM BYTES('P', '6', ' ', '2', ' ', '1', ' ', '2', '5', '5', '\n', 10, 20, 30, 250, 0, 5)

static void pixels_have_the_order_asked_for(void **state)
{
    (void)state;
    if (!READS) return;
    CHECK1("ImageDecoder", INS(PPM), NO_ATTRS, SHAPE(1, 2, 3), 10, 20, 30, 250, 0, 5);
    CHECK1("ImageDecoder", INS(PPM), ATTRS(TEXT("pixel_format", "BGR")), SHAPE(1, 2, 3), 30, 20, 10,
           5, 0, 250);
    CHECK1("ImageDecoder", INS(PPM), ATTRS(TEXT("pixel_format", "Grayscale")), SHAPE(1, 2, 1), 18,
           75);
}

static void what_is_no_image_has_no_pixels(void **state)
{
    op_result r;
    (void)state;
    op_run(&r, "ImageDecoder", INS(((op_input){TG_U8, SHAPE(0), NULL, 0, false, NULL})), NO_ATTRS,
           1);
    assert_int_equal(tg_tensor_count(&r.out[0]), 0);
    assert_int_equal(r.out[0].shape.rank, 3);
    op_done(&r);
    op_refused("ImageDecoder", INS(PPM), ATTRS(TEXT("pixel_format", "CMYK")), TG_INVALID,
               "pixel_format is CMYK");
    op_refused("ImageDecoder", INS(F(SHAPE(2), 1, 2)), NO_ATTRS, TG_TYPE, "vector of uint8");
}

static void a_build_without_the_libraries_says_so(void **state)
{
    tg_picture p;
    (void)state;
    if (READS) return;
    assert_int_equal(tg_picture_read("P6", 2, &p), TG_UNSUPPORTED);
    assert_non_null(strstr(tg_message(), "reads no pictures"));
}

/* Colours of neighbours are interpolated: 1/4 of the other half reaches over the middle. */
static void colours_of_jpeg_are_interpolated(void **state)
{
    tg_picture p;
    (void)state;
    if (!READS) return;
    assert_ok(tg_picture_read(jpeg, sizeof jpeg, &p));
    assert_int_equal(p.height, 2);
    assert_int_equal(p.width, 8);
    unsigned edge = p.pixels[0] & 0xff, inner = p.pixels[3] & 0xff, right = p.pixels[7] & 0xff;
    assert_true(edge < 8 && right > 247);
    assert_true(inner > 40 && inner < 88);
    free(p.pixels);
}

/* However they end, and whatever a byte is, reading comes back. */
static void broken_files_come_back(void **state)
{
    (void)state;
    if (!READS) return;
    for (size_t n = 0; n < sizeof jpeg; n++) {
        unsigned char *cut = tg_memdup(jpeg, n + 1), *odd = tg_memdup(jpeg, sizeof jpeg);
        tg_picture a, b;
        assert_ok(tg_picture_read(cut, n, &a));
        odd[n] ^= 0x55;
        if (tg_picture_read(odd, sizeof jpeg, &b) == TG_OK) free(b.pixels);
        if (n < sizeof jpeg - 2) assert_null(a.pixels);
        free(a.pixels);
        free(cut);
        free(odd);
    }
}

/* A chunk that says that it is longer than the file is not looked for. */
static void chunks_lie_in_their_file(void **state)
{
    static const char png[] = "\x89PNG\r\n\x1a\n\0\x10\0\0IHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0";
    unsigned char *bytes = tg_memdup(png, sizeof png);
    tg_picture p;
    (void)state;
    if (READS) assert_ok(tg_picture_read(bytes, sizeof png, &p));
    if (READS) assert_null(p.pixels);
    free(bytes);
}

static void large_ones_are_refused(void **state)
{
    static const char *const heads[] = {"P6 30000 30000 255\n", "P5 32000 32000 255\n"};
    (void)state;
    for (size_t i = 0; READS && i < sizeof heads / sizeof *heads; i++) {
        tg_picture p;
        assert_int_equal(tg_picture_read(heads[i], strlen(heads[i]), &p), TG_LIMIT);
        assert_non_null(strstr(tg_message(), "too large"));
        assert_null(p.pixels);
    }
    if (!READS) return;
    unsigned char *huge = tg_memdup(jpeg, sizeof jpeg);
    unsigned char *at = memmem(huge, sizeof jpeg, "\0\x02\0\x08\x03", 5);
    tg_picture p;
    assert_non_null(at);
    memcpy(at, "\x80\0\x80\0", 4);
    assert_int_equal(tg_picture_read(huge, sizeof jpeg, &p), TG_LIMIT);
    free(huge);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(pixels_have_the_order_asked_for),
                                          cmocka_unit_test(what_is_no_image_has_no_pixels),
                                          cmocka_unit_test(a_build_without_the_libraries_says_so),
                                          cmocka_unit_test(colours_of_jpeg_are_interpolated),
                                          cmocka_unit_test(broken_files_come_back),
                                          cmocka_unit_test(chunks_lie_in_their_file),
                                          cmocka_unit_test(large_ones_are_refused)};

UNIT_MAIN(tests)
