/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of 8, 4 and 2 bits: their codes, casts and quantising, and how files hold them. */
#include "tests/unit/op_run.h"

#include "engine/base/str.h"
#include "engine/onnx/onnx.h"

static const tg_dtype floats[] = {TG_E4M3FN, TG_E4M3FNUZ, TG_E5M2, TG_E5M2FNUZ,
                                  TG_E2M1,   TG_E2M3,     TG_E3M2};

static void codes_stand_for_numbers(void **state)
{
    static const struct {
        tg_dtype t;
        uint8_t code;
        double x;
    } known[] = {{TG_E4M3FN, 0x38, 1},     {TG_E4M3FN, 0x7e, 448}, {TG_E4M3FN, 0x01, 0x1p-9},
                 {TG_E4M3FN, 0xc4, -3},    {TG_E4M3FNUZ, 0x40, 1}, {TG_E4M3FNUZ, 0x7f, 240},
                 {TG_E5M2, 0x3c, 1},       {TG_E5M2, 0x7b, 57344}, {TG_E5M2, 0x7c, INFINITY},
                 {TG_E5M2, 0x01, 0x1p-16}, {TG_E5M2FNUZ, 0x40, 1}, {TG_E5M2FNUZ, 0x7f, 57344},
                 {TG_E2M1, 7, 6},          {TG_E2M1, 1, 0.5},      {TG_E2M1, 11, -1.5},
                 {TG_E2M3, 31, 7.5},       {TG_E3M2, 0x3f, -28},   {TG_E8M0, 127, 1},
                 {TG_E8M0, 0, 0x1p-127},   {TG_I4, 0xf8, -8},      {TG_U4, 15, 15},
                 {TG_I2, 0xfe, -2},        {TG_U2, 3, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(tg_narrow_f64(known[i].t, known[i].code) == known[i].x);
        if (known[i].code)
            assert_int_equal(tg_narrow_code(known[i].t, known[i].x, false), known[i].code);
    }
    assert_true(isnan(tg_narrow_f64(TG_E4M3FN, 0x7f)) && isnan(tg_narrow_f64(TG_E5M2, 0x7d)));
    assert_true(isnan(tg_narrow_f64(TG_E4M3FNUZ, 0x80)) && isnan(tg_narrow_f64(TG_E5M2FNUZ, 0x80)));
    assert_true(isnan(tg_narrow_f64(TG_E8M0, 255)));
}

/* Every code is the code of its number; what lies between two goes to the nearer, else the even. */
static void numbers_are_rounded_to_codes(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        int half = 1 << (tg_dtype_bits(floats[k]) - 1);
        for (int code = 0; code < half; code++) {
            double x = tg_narrow_f64(floats[k], (uint8_t)code);
            double next = code + 1 < half ? tg_narrow_f64(floats[k], (uint8_t)(code + 1)) : NAN;
            if (isnan(x)) continue;
            assert_int_equal(tg_narrow_code(floats[k], x, true), isinf(x) ? code - 1 : code);
            if (!isfinite(next)) continue;
            double middle = (x + next) / 2;
            assert_int_equal(tg_narrow_code(floats[k], middle, true), code + code % 2);
            assert_int_equal(tg_narrow_code(floats[k], nextafter(middle, 0), true), code);
            assert_int_equal(tg_narrow_code(floats[k], nextafter(middle, 1e9), true), code + 1);
        }
    }
}

#define CAST(to, saturate) ATTRS(INT("to", to), INT("saturate", saturate))

static void casts_saturate_or_not(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(5), 464, 465, -1e30, INFINITY, NAN);
    static const double saturated[] = {448, 448, -448, 448, NAN},
                        not [] = {448, NAN, NAN, NAN, NAN};
    op_run(&r, "Cast", INS(x), CAST(TG_E4M3FN, 1), 1);
    op_expect(&r, 0, TG_E4M3FN, SHAPE(5), saturated, 5);
    op_done(&r);
    op_run(&r, "Cast", INS(x), CAST(TG_E4M3FN, 0), 1);
    op_expect(&r, 0, TG_E4M3FN, SHAPE(5), not, 5);
    op_done(&r);
    op_run(&r, "Cast", INS(F(SHAPE(2), -1e9, 61439)), CAST(TG_E5M2, 0), 1);
    op_expect(&r, 0, TG_E5M2, SHAPE(2), VALUES(-INFINITY, 57344));
    op_done(&r);
    op_run(&r, "Cast", INS(F(SHAPE(4), 9, -0.2, 0.75, -5)), CAST(TG_E2M1, 0), 1);
    op_expect(&r, 0, TG_E2M1, SHAPE(4), VALUES(6, 0, 1, -4));
    op_done(&r);
}

static void casts_of_integers_keep_low_bits(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "Cast", INS(INPUT(TG_I32, SHAPE(4), 7, 8, -9, 17)), CAST(TG_I4, 1), 1);
    op_expect(&r, 0, TG_I4, SHAPE(4), VALUES(7, -8, 7, 1));
    op_done(&r);
    op_run(&r, "Cast", INS(F(SHAPE(3), 2.9, -1.5, 3)), CAST(TG_I2, 1), 1);
    op_expect(&r, 0, TG_I2, SHAPE(3), VALUES(-2, -1, -1));
    op_done(&r);
    op_run(&r, "Cast", INS(INPUT(TG_I4, SHAPE(2), -8, 7)), CAST(TG_F16, 1), 1);
    op_expect(&r, 0, TG_F16, SHAPE(2), VALUES(-8, 7));
    op_done(&r);
    op_run(&r, "BitCast", INS(INPUT(TG_U4, SHAPE(2), 15, 7)), ATTRS(INT("to", TG_I4)), 1);
    op_expect(&r, 0, TG_I4, SHAPE(2), VALUES(-1, 7));
    op_done(&r);
    op_refused("BitCast", INS(INPUT(TG_U4, SHAPE(1), 1)), ATTRS(INT("to", TG_U8)), TG_TYPE,
               "width");
}

static void powers_of_two_are_rounded_by_mode(void **state)
{
    static const char *const modes[] = {"up", "down", "nearest"};
    static const double want[3][4] = {{1, 2, 2, 0.5}, {1, 1, 1, 0.25}, {1, 1, 2, 0.5}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        op_result r;
        op_run(&r, "Cast", INS(F(SHAPE(4), 1, 1.25, -1.5, 0.4)),
               ATTRS(INT("to", TG_E8M0), TEXT("round_mode", modes[k])), 1);
        op_expect(&r, 0, TG_E8M0, SHAPE(4), want[k], 4);
        op_done(&r);
    }
    op_refused("Cast", INS(F(SHAPE(1), 1)), ATTRS(INT("to", TG_E8M0), TEXT("round_mode", "odd")),
               TG_INVALID, "round_mode");
}

static void narrow_numbers_are_quantised(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(4), 5, -3, 100, -100), half = F(SCALAR, 0.5);
    op_run(&r, "QuantizeLinear", INS(x, F(SCALAR, 2), INPUT(TG_U4, SCALAR, 3)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_U4, SHAPE(4), VALUES(5, 1, 15, 0));
    op_done(&r);
    op_run(&r, "QuantizeLinear", INS(x, half), ATTRS(INT("output_dtype", TG_I4)), 1);
    op_expect(&r, 0, TG_I4, SHAPE(4), VALUES(7, -6, 7, -8));
    op_done(&r);
    op_run(&r, "QuantizeLinear", INS(x, half), ATTRS(INT("output_dtype", TG_E4M3FN)), 1);
    op_expect(&r, 0, TG_E4M3FN, SHAPE(4),
              VALUES(10, -6, 192, -192)); /* 200 lies between 192 and 208, the former even */
    op_done(&r);
    op_run(&r, "DequantizeLinear",
           INS(INPUT(TG_I4, SHAPE(2), -8, 7), half, INPUT(TG_I4, SCALAR, 1)), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(-4.5, 3));
    op_done(&r);
    op_run(&r, "DequantizeLinear", INS(INPUT(TG_E5M2, SHAPE(2), -1.75, 6), half), NO_ATTRS, 1);
    op_expect(&r, 0, TG_F32, SHAPE(2), VALUES(-0.875, 3));
    op_done(&r);
    op_refused("QuantizeLinear", INS(x, half), ATTRS(INT("output_dtype", TG_E8M0)), TG_UNSUPPORTED,
               "float8e8m0");
}

/* Five numbers of 4 bits take three bytes in a file, the first in the low bits. */
static void files_hold_them_packed(void **state)
{
    static const uint8_t proto[] = {0x08, 5, 0x10, 22, 0x4a, 3, 0x21, 0x83, 0x0f};
    (void)state;
    tg_tensor t, again;
    const char *path = unit_temporary("packed.pb");
    assert_ok(tg_write_file(path, proto, sizeof proto));
    assert_ok(tg_onnx_read_tensor(path, &t, NULL));
    static const double want[] = {1, 2, 3, -8, -1};
    for (int i = 0; i < 5; i++) assert_true(tg_tensor_f64(&t, i) == want[i]);
    assert_ok(tg_onnx_write_tensor(path, "t", &t));
    assert_ok(tg_onnx_read_tensor(path, &again, NULL));
    assert_memory_equal(again.data, t.data, 5);
    tg_tensor_free(&t);
    tg_tensor_free(&again);
    /* codes 1 to 5 of 6 bits each, in four bytes; then as a list, where each has an entry */
    assert_ok(tg_write_file(path, "\x08\x05\x10\x1b\x4a\x04\x81\x30\x10\x05", 10));
    assert_ok(tg_onnx_read_tensor(path, &t, NULL));
    for (int i = 0; i < 5; i++) assert_true(tg_tensor_f64(&t, i) == (i + 1) / 8.0);
    assert_ok(tg_onnx_write_tensor(path, "t", &t));
    assert_ok(tg_onnx_read_tensor(path, &again, NULL));
    assert_memory_equal(again.data, t.data, 5);
    tg_tensor_free(&t);
    tg_tensor_free(&again);
    assert_ok(tg_write_file(path, "\x08\x02\x10\x1c\x2a\x02\x0c\x2c", 8));
    assert_ok(tg_onnx_read_tensor(path, &t, NULL));
    assert_true(tg_tensor_f64(&t, 0) == 1 && tg_tensor_f64(&t, 1) == -1);
    tg_tensor_free(&t);
    /* as a list of integers, one a packed byte; and cut off */
    assert_ok(tg_write_file(path, "\x08\x03\x10\x1a\x2a\x01\x1b", 7));
    assert_ok(tg_onnx_read_tensor(path, &t, NULL));
    assert_true(tg_tensor_i64(&t, 0) == -1 && tg_tensor_i64(&t, 1) == -2 &&
                tg_tensor_i64(&t, 2) == 1);
    tg_tensor_free(&t);
    assert_ok(tg_write_file(path, proto, 2 + 2));
    assert_status(tg_onnx_read_tensor(path, &t, NULL), TG_INVALID);
    assert_contains(tg_message(), "needs 3 bytes");
    /* a number of six bits is one of a list of integers, whose other bits say nothing */
    assert_ok(tg_write_file(path, "\x10\x1b\x2a\x02\xff\x01", 6));
    assert_ok(tg_onnx_read_tensor(path, &t, NULL));
    assert_int_equal(*(uint8_t *)t.data, 0x3f);
    tg_tensor_free(&t);
}

static void tests_of_narrow_floats(void **state)
{
    (void)state;
    op_result r;
    op_input x = INPUT(TG_E5M2, SHAPE(4), 2, NAN, 1, -3);
    op_run(&r, "IsNaN", INS(x), NO_ATTRS, 1);
    op_expect(&r, 0, TG_BOOL, SHAPE(4), VALUES(0, 1, 0, 0));
    op_done(&r);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(codes_stand_for_numbers),
                                          cmocka_unit_test(numbers_are_rounded_to_codes),
                                          cmocka_unit_test(casts_saturate_or_not),
                                          cmocka_unit_test(casts_of_integers_keep_low_bits),
                                          cmocka_unit_test(powers_of_two_are_rounded_by_mode),
                                          cmocka_unit_test(narrow_numbers_are_quantised),
                                          cmocka_unit_test(files_hold_them_packed),
                                          cmocka_unit_test(tests_of_narrow_floats)};
UNIT_MAIN(tests)
