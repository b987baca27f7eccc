/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"

#include <math.h>

/* The published start costs of the peer models, to four decimals, and their operator counts. */
static void peer_models_cost_what_they_should(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned ops;
        double cost_ms;
    } rows[] = {
        {"taso-bert", 113, 0.8256},      {"taso-squeezenet", 64, 0.6052},
        {"taso-resnet18bn", 62, 0.8657}, {"taso-resnet50", 84, 1.8180},
        {"taso-resnext50", 86, 1.9473},  {"taso-inceptionv3", 119, 2.3927},
        {"taso-nasrnn", 230, 1.4333},    {"taso-nasnet_a", 383, 8.2417},
        {"taso-bertx1", 15, 0.1091},     {"taso-bertx32", 449, 3.2820},
        {"xrlflow-bert", 113, 0.8256},   {"xrlflow-vit", 217, 2.0596},
        {"xrlflow-dalle", 177, 1.3774},  {"xrlflow-transducer", 272, 1.8583},
        {"taso-nasrnnx8", 368, 2.2932},  {"taso-nasnet_ax1", 129, 3.1935},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_graph *g;
        assert_ok(tg_sample_build(rows[i].name, 1, true, &g));
        print_message("%s\n", rows[i].name);
        assert_int_equal(tg_graph_op_count(g), rows[i].ops);
        assert_true(fabs(tg_graph_cost_ms(g) - rows[i].cost_ms) < 0.5e-4 + 1e-9);
        tg_graph_unref(g);
    }
}

static void samples_are_sound_and_repeat(void **state)
{
    (void)state;
    for (int i = 0; i < tg_sample_count(); i++) {
        const char *name = tg_sample_get(i)->name;
        if (tg_starts_with(name, "taso-") || tg_starts_with(name, "xrlflow-"))
            continue; /* large, and covered above */
        tg_graph *a, *b, *c;
        assert_ok(tg_sample_build(name, 1, false, &a));
        assert_ok(tg_sample_build(name, 1, false, &b));
        assert_ok(tg_sample_build(name, 2, false, &c));
        assert_ok(tg_check(a));
        assert_true(a->hash == b->hash);
        assert_true(a->hash != c->hash);
        tg_graph_unref(a);
        tg_graph_unref(b);
        tg_graph_unref(c);
    }
}

static void unknown_samples_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "", "nosuch", "squeezenetx2", "taso-bertx0", "taso-bertx65", "taso-bertx3y"};
    tg_graph *g;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_status(tg_sample_build(names[i], 1, true, &g), TG_NOTFOUND);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(peer_models_cost_what_they_should),
    cmocka_unit_test(samples_are_sound_and_repeat),
    cmocka_unit_test(unknown_samples_are_refused),
};
UNIT_MAIN(tests)
