/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inception-v3 and NasNet-A in TASO's form (see taso.c). */
#include "maker.h"

static tg_value conv(maker *m, tg_value x, int64_t out, int64_t kh, int64_t kw)
{
    return make_conv(m, x, (conv_spec){.out = out, .kh = kh, .kw = kw, .pad = SAME, .relu = true});
}

static tg_value conv_valid(maker *m, tg_value x, int64_t out, int64_t k, int64_t stride)
{
    return make_conv(
        m, x,
        (conv_spec){.out = out, .kh = k, .kw = k, .stride = stride, .pad = VALID, .relu = true});
}

static tg_value average(maker *m, tg_value x)
{
    return make_pool(m, false, x, 3, 1, SAME);
}

static tg_value inception_a(maker *m, tg_value x, int64_t p)
{
    tg_value a = conv(m, x, 64, 1, 1);
    tg_value b = conv(m, conv(m, x, 48, 1, 1), 64, 5, 5);
    tg_value c = conv(m, conv(m, conv(m, x, 64, 1, 1), 96, 3, 3), 96, 3, 3);
    tg_value d = conv(m, average(m, x), p, 1, 1);
    return make_concat(m, (tg_value[]){a, b, c, d}, 4, 1);
}

static tg_value inception_b(maker *m, tg_value x)
{
    tg_value a = conv_valid(m, x, 384, 3, 2);
    tg_value b = conv_valid(m, conv(m, conv(m, x, 64, 1, 1), 96, 3, 3), 96, 3, 2);
    tg_value c = make_pool(m, true, x, 3, 2, VALID);
    return make_concat(m, (tg_value[]){a, b, c}, 3, 1);
}

static tg_value inception_c(maker *m, tg_value x, int64_t n)
{
    tg_value a = conv(m, x, 192, 1, 1);
    tg_value b = conv(m, conv(m, conv(m, x, n, 1, 1), n, 1, 7), 192, 7, 1);
    tg_value c = conv(m, conv(m, conv(m, x, n, 1, 1), n, 7, 1), n, 1, 7);
    c = conv(m, conv(m, c, n, 7, 1), 192, 1, 7);
    tg_value d = conv(m, average(m, x), 192, 1, 1);
    return make_concat(m, (tg_value[]){a, b, c, d}, 4, 1);
}

static tg_value inception_d(maker *m, tg_value x)
{
    tg_value a = conv_valid(m, conv(m, x, 192, 1, 1), 320, 3, 2);
    tg_value b = conv(m, conv(m, conv(m, x, 192, 1, 1), 192, 1, 7), 192, 7, 1);
    b = conv_valid(m, b, 192, 3, 2);
    tg_value c = make_pool(m, true, x, 3, 2, VALID);
    return make_concat(m, (tg_value[]){a, b, c}, 3, 1);
}

static tg_value inception_e(maker *m, tg_value x)
{
    tg_value a = conv(m, x, 320, 1, 1), b = conv(m, x, 384, 1, 1);
    tg_value b1 = conv(m, b, 384, 1, 3), b2 = conv(m, b, 384, 3, 1);
    tg_value c = conv(m, conv(m, x, 448, 1, 1), 384, 3, 3);
    tg_value c1 = conv(m, c, 384, 1, 3), c2 = conv(m, c, 384, 3, 1);
    tg_value d = conv(m, average(m, x), 192, 1, 1);
    return make_concat(m, (tg_value[]){a, b1, b2, c1, c2, d}, 6, 1);
}

tg_value sample_taso_inceptionv3(maker *m)
{
    static const int64_t pool[] = {32, 64, 64}, width[] = {128, 160, 160, 192};
    tg_value x = conv_valid(m, make_input(m, "x", DIMS(1, 3, 299, 299)), 32, 3, 2);
    x = conv(m, conv_valid(m, x, 32, 3, 1), 64, 3, 3);
    x = conv(m, make_pool(m, true, x, 3, 2, VALID), 80, 1, 1);
    x = make_pool(m, true, conv_valid(m, x, 192, 3, 1), 3, 2, VALID);
    for (int i = 0; i < 3; i++) x = inception_a(m, x, pool[i]);
    x = inception_b(m, x);
    for (int i = 0; i < 4; i++) x = inception_c(m, x, width[i]);
    x = inception_d(m, x);
    for (int i = 0; i < 2; i++) x = inception_e(m, x);
    return make_pool(m, false, x, 1, 1, VALID);
}

static tg_value squeeze(maker *m, tg_value x, int64_t n)
{
    return conv(m, x, n, 1, 1);
}

static tg_value separable(maker *m, tg_value x, int64_t k, int64_t stride)
{
    int64_t n = make_dim(m, x, 1);
    x = make_conv(
        m, x, (conv_spec){.out = n, .kh = k, .kw = k, .stride = stride, .group = n, .pad = SAME});
    return make_conv(m, x, (conv_spec){.out = n, .kh = 1, .kw = 1, .pad = SAME});
}

static tg_value add(maker *m, tg_value a, tg_value b)
{
    return make_binary(m, TG_OP(Add), a, b);
}

static tg_value normal_cell(maker *m, tg_value prev, tg_value cur, int64_t n)
{
    tg_value c = squeeze(m, cur, n), p = squeeze(m, prev, n);
    tg_value t[10];
    t[0] = separable(m, c, 3, 1);
    t[1] = c;
    t[2] = separable(m, p, 3, 1);
    t[3] = separable(m, c, 3, 1);
    t[4] = average(m, c);
    t[5] = p;
    t[6] = average(m, p);
    t[7] = average(m, p);
    t[8] = separable(m, p, 3, 1);
    t[9] = separable(m, p, 3, 1);
    tg_value sums[5];
    for (int i = 0; i < 5; i++) sums[i] = add(m, t[2 * i], t[2 * i + 1]);
    return make_concat(m, sums, 5, 1);
}

static tg_value reduction_cell(maker *m, tg_value prev, tg_value cur, int64_t n)
{
    tg_value c = squeeze(m, cur, n), p = squeeze(m, prev, n);
    tg_value o1 = add(m, separable(m, p, 7, 2), separable(m, c, 5, 2));
    tg_value o2 = add(m, make_pool(m, true, c, 3, 2, SAME), separable(m, p, 7, 2));
    tg_value o3 = add(m, make_pool(m, false, c, 3, 2, SAME), separable(m, p, 5, 2));
    tg_value o4 = add(m, make_pool(m, true, c, 3, 2, SAME), separable(m, o1, 3, 1));
    tg_value o5 = add(m, average(m, o1), o2);
    return make_concat(m, (tg_value[]){o1, o2, o3, o4, o5}, 5, 1);
}

tg_value sample_taso_nasnet_a(maker *m)
{
    tg_value x = make_input(m, "x", DIMS(1, 3, 224, 224));
    x = make_conv(m, x,
                  (conv_spec){.out = 64, .kh = 7, .kw = 7, .stride = 2, .pad = SAME, .relu = true});
    x = make_pool(m, true, x, 3, 2, SAME);
    for (int stack = 0; stack < (m->layers ? m->layers : 3); stack++) {
        int64_t n = 128 << stack;
        tg_value prev = x, cur = x;
        for (int i = 0; i < 5; i++) {
            tg_value next = normal_cell(m, prev, cur, n);
            prev = cur;
            cur = next;
        }
        x = reduction_cell(m, prev, cur, 2 * n);
    }
    return x;
}
