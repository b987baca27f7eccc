/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that plan and run at once share primitives, packed weights and folded constants. */
#include "tests/unit/exec_case.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 6 };

typedef struct share {
    tg_graph *g;
    const tg_tensor *in, *want;
    int wrong;
} share;

static tg_graph *network(void)
{
    net m = net_new(1);
    tg_value x = net_input(&m, tg_shape_of(1, 8, 9, 9)),
             w = net_weight(&m, tg_shape_of(8, 8, 3, 3));
    tg_value doubled = net_node(&m, "Add", "", w, w); /* an expression, folded by who comes first */
    for (int i = 0; i < 3; i++) {
        tg_value y = net_node(&m, "Conv", "pads=1,1,1,1", x, i == 1 ? w : doubled);
        x = net_node(&m, "Tanh", "", net_node(&m, "Add", "", x, y));
    }
    return net_done(&m, net_node(&m, "GlobalAveragePool", "", x));
}

static void *plan_and_run(void *arg)
{
    share *s = arg;
    for (int i = 0; i < ROUNDS; i++) {
        tg_plan *plan;
        tg_tensor got;
        double max_abs, relative;
        if (tg_plan_new(tg_backend_find("cpu"), s->g, NULL, &plan) != TG_OK) s->wrong++;
        else if (tg_plan_run(plan, s->in, &got) != TG_OK) s->wrong++;
        else {
            s->wrong += tg_tensor_compare(s->want, &got, 500, &max_abs, &relative) != TG_OK;
            tg_tensor_free(&got);
            tg_plan_free(plan);
        }
    }
    return NULL;
}

static void plans_in_many_threads(void **state)
{
    (void)state;
    tg_graph *g = network();
    tg_tensor *in, want;
    pthread_t threads[THREADS];
    share shares[THREADS];
    assert_ok(tg_inputs_draw(g, 1, &in));
    assert_ok(tg_reference_run(g, in, &want));
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){g, in, &want, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, plan_and_run, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(shares[i].wrong, 0);
    }
    tg_tensor_free(&want);
    tg_inputs_free(in, g->n_inputs);
    tg_graph_unref(g);
}

/* What a neighbour of a planned graph needs is there already. */
static void plans_are_cheap_again(void **state)
{
    (void)state;
    extern unsigned tg_prim_made(void);
    tg_graph *g = network();
    tg_plan *first, *second;
    assert_ok(tg_plan_new(tg_backend_find("cpu"), g, NULL, &first));
    unsigned made = tg_prim_made();
    assert_ok(tg_plan_new(tg_backend_find("cpu"), g, NULL, &second));
    assert_int_equal(tg_prim_made(), made);
    tg_plan_free(first);
    tg_plan_free(second);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plans_in_many_threads),
    cmocka_unit_test(plans_are_cheap_again),
};
UNIT_MAIN(tests)
