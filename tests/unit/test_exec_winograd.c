/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolutions by tiles agree with the reference kernel, with all that may follow them. */
#include "tests/unit/exec_case.h"

#include "engine/exec/cpu/winograd.h"

/* The graph's only convolution ran by tiles: its weights have 36 places a channel pair. */
static void agrees_by_tiles(tg_graph *g, int64_t c, int64_t m, const char *what)
{
    tg_winograd_set(TG_WINOGRAD_ALWAYS);
    tg_plan_stats stats = net_agrees(g, what);
    tg_winograd_set(TG_WINOGRAD_MEASURED);
    if (stats.weight_bytes != (size_t)(36 * c * m) * sizeof(float) || stats.reference)
        fail_msg("%s: %zu bytes of weights, %d by reference", what, stats.weight_bytes,
                 stats.reference);
}

static void sizes_and_paddings(void **state)
{
    (void)state;
    static const struct {
        int64_t n, c, m, h, w;
        const char *attrs;
    } cases[] = {
        {1, 16, 16, 8, 8, "pads=1,1,1,1"},
        {1, 16, 32, 4, 4, "pads=1,1,1,1"},
        {1, 48, 16, 13, 9, "pads=1,1,1,1"},
        {2, 16, 16, 7, 6, "pads=1,1,1,1"},
        {1, 16, 16, 3, 3, ""},
        {1, 16, 16, 1, 1, "pads=1,1,1,1"},
        {3, 32, 48, 17, 5, "pads=0,2,1,0"},
        {1, 16, 16, 6, 6, "pads=2,2,2,2"},
        {1, 16, 16, 30, 31, "pads=1,1,1,1"},
        {1, 144, 128, 14, 14, "pads=1,1,1,1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[64];
        net m = net_new(i + 1);
        tg_value x = net_input(&m, tg_shape_of(cases[i].n, cases[i].c, cases[i].h, cases[i].w));
        tg_value k = net_weight(&m, tg_shape_of(cases[i].m, cases[i].c, 3, 3));
        tg_value b = net_weight(&m, tg_shape_of(cases[i].m));
        tg_value y = i % 2 ? net_node(&m, "Conv", cases[i].attrs, x, k)
                           : net_node(&m, "Conv", cases[i].attrs, x, k, b);
        snprintf(what, sizeof what, "case %zu", i);
        agrees_by_tiles(net_done(&m, y), cases[i].c, cases[i].m, what);
    }
}

enum { C = 16, M = 32, SIDE = 11 };

static tg_value conv_of(net *m, tg_value x)
{
    tg_value k = net_weight(m, tg_shape_of(M, C, 3, 3)), b = net_weight(m, tg_shape_of(M));
    return net_node(m, "Conv", "pads=1,1,1,1", x, k, b);
}

/* A node for each word, on the one before and what its kind needs. */
static tg_value follow(net *m, tg_value y, tg_value input, char kind)
{
    switch (kind) {
    case 'r': return net_node(m, "Relu", "", y);
    case 'l': return net_node(m, "LeakyRelu", "alpha=0.3", y);
    case 'c': return net_node(m, "Clip", "min=-0.5 max=1.25", y);
    case 'k': return net_node(m, "Mul", "", y, net_number(m, -1.5));
    case 'v': return net_node(m, "Mul", "", y, net_weight(m, tg_shape_of(1, M, 1, 1)));
    case 's': return net_node(m, "Sub", "", y, net_weight(m, tg_shape_of(1, M, 1, 1)));
    case 'a': return net_node(m, "Add", "", y, input);
    case 'w': return net_node(m, "Add", "", y, net_weight(m, tg_shape_of(1, M, SIDE, SIDE)));
    case 'b': {
        tg_value in[] = {y, net_weight(m, tg_shape_of(M)), net_weight(m, tg_shape_of(M)),
                         net_weight(m, tg_shape_of(M)), net_weight_of(m, tg_shape_of(M), true)};
        return net_node_of(m, "BatchNormalization", in, 5, 1, "");
    }
    default: fail_msg("kind %c", kind); return y;
    }
}

static void what_follows(void **state)
{
    (void)state;
    static const char *const tails[] = {"r",  "l",   "c",   "k",   "v",  "s",
                                        "ar", "bar", "wcv", "ksc", "br", "vkal"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        net m = net_new(i + 1);
        tg_value x = net_input(&m, tg_shape_of(1, C, SIDE, SIDE));
        tg_value other = net_input(&m, tg_shape_of(1, M, SIDE, SIDE)), y = conv_of(&m, x);
        for (const char *t = tails[i]; *t; t++) y = follow(&m, y, other, *t);
        agrees_by_tiles(net_done(&m, y), C, M, tails[i]);
    }
}

/* Others run as they did. */
static void what_is_no_such_convolution(void **state)
{
    (void)state;
    static const struct {
        int64_t c, m, k;
        const char *attrs, *next;
    } cases[] = {
        {16, 16, 3, "strides=2,2", NULL},
        {16, 16, 3, "dilations=2,2", NULL},
        {8, 16, 3, "", NULL},
        {16, 9, 3, "", NULL},
        {16, 16, 5, "", NULL},
        {16, 16, 3, "", "Tanh"},
    };
    tg_winograd_set(TG_WINOGRAD_ALWAYS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net m = net_new(i + 1);
        tg_value x = net_input(&m, tg_shape_of(1, cases[i].c, 12, 12));
        tg_value k = net_weight(&m, tg_shape_of(cases[i].m, cases[i].c, cases[i].k, cases[i].k));
        tg_value y = net_node(&m, "Conv", cases[i].attrs, x, k);
        if (cases[i].next) y = net_node(&m, cases[i].next, "", y);
        tg_plan_stats stats = net_agrees(net_done(&m, y), cases[i].attrs);
        assert_true(stats.weight_bytes < (size_t)(36 * cases[i].c * cases[i].m) * sizeof(float));
    }
    tg_winograd_set(TG_WINOGRAD_MEASURED);
}

/* Small ones never pay, and a size keeps what was found of it. */
static void the_choice_is_kept(void **state)
{
    (void)state;
    size_t first = 0;
    for (int round = 0; round < 3; round++) {
        net m = net_new(1);
        tg_value x = net_input(&m, tg_shape_of(1, 32, 40, 40));
        tg_value k = net_weight(&m, tg_shape_of(32, 32, 3, 3));
        tg_graph *g = net_done(&m, net_node(&m, "Conv", "pads=1,1,1,1", x, k));
        size_t bytes = net_agrees(g, "kept").weight_bytes;
        if (!round) first = bytes;
        assert_int_equal(bytes, first);
    }
    net m = net_new(1);
    tg_value y = conv_of(&m, net_input(&m, tg_shape_of(1, C, SIDE, SIDE)));
    assert_int_equal(net_agrees(net_done(&m, y), "small").weight_bytes, 9 * C * M * sizeof(float));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_and_paddings),
    cmocka_unit_test(what_follows),
    cmocka_unit_test(what_is_no_such_convolution),
    cmocka_unit_test(the_choice_is_kept),
};
UNIT_MAIN(tests)
