/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs whose nodes have bodies: run by the reference and by the cpu plan, saved as they are and
 * with every node that has bodies made anew, loaded, and run again.
 */
#ifndef TESTS_UNIT_RUN_WAYS_H
#define TESTS_UNIT_RUN_WAYS_H

#include "tests/unit/again.h"
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "engine/ir/build.h"

enum { MOST = 4 };

typedef struct values {
    tg_tensor t[MOST];
    int n;
} values;

UNIT_MAYBE tg_tensor floats(const float *v, tg_shape shape)
{
    tg_tensor t = {TG_F32, shape, NULL};
    t.data = tg_memdup(v, tg_tensor_bytes(&t));
    return t;
}

UNIT_MAYBE tg_tensor scalar(tg_dtype dtype, int64_t x)
{
    tg_tensor t = {dtype, {.rank = 0}, tg_calloc(1, 8)};
    tg_tensor_set_i64(&t, 0, x);
    return t;
}

UNIT_MAYBE void free_values(values *v)
{
    for (int i = 0; i < v->n; i++) tg_tensor_free(&v->t[i]);
}

UNIT_MAYBE void same(const values *want, const tg_tensor *got)
{
    for (int i = 0; i < want->n; i++)
        if (!tg_tensor_equal(&want->t[i], &got[i])) fail_msg("output %d is wrong", i);
}

UNIT_MAYBE void run_both(const tg_graph *g, const values *in, const values *want)
{
    tg_tensor out[MOST];
    tg_plan *plan;
    assert_int_equal(tg_graph_sink(g)->n_in, want->n);
    assert_ok(tg_reference_run(g, in->t, out));
    same(want, out);
    for (int i = 0; i < want->n; i++) tg_tensor_free(&out[i]);
    assert_ok(tg_plan_new(tg_backend_find("cpu"), g, NULL, &plan));
    for (int k = 0; k < 2; k++) {
        assert_ok(tg_plan_run(plan, in->t, out));
        same(want, out);
        for (int i = 0; i < want->n; i++) tg_tensor_free(&out[i]);
    }
    tg_plan_free(plan);
}

/* The same graph in which nodes with bodies, and those in the bodies, are new ones. */
UNIT_MAYBE tg_graph *remade(const tg_graph *g)
{
    tg_builder *b = tg_builder_from(g);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        tg_attr a[16];
        uint32_t id;
        if (!node->attrs->graphs) continue;
        memcpy(a, node->attrs->a, sizeof *a * node->attrs->n);
        for (uint32_t k = 0; k < node->attrs->n; k++)
            if (a[k].kind == TG_ATTR_GRAPH) a[k].graph = remade(a[k].graph);
        assert_ok(tg_build_copy(b, node->op, a, node->in, node->n_in, node->n_out, "again", &id));
        for (uint32_t k = 0; k < node->attrs->n; k++)
            if (a[k].kind == TG_ATTR_GRAPH) tg_graph_unref(a[k].graph);
        for (uint32_t p = 0; p < node->n_out; p++)
            assert_ok(tg_build_redirect(b, tg_value_of(node->id, p), tg_value_of(id, p)));
    }
    tg_graph *made;
    assert_ok(tg_build_done(b, &made));
    assert_ok(tg_check(made));
    return made;
}

/* Frees the values. */
UNIT_MAYBE void check_all(const tg_graph *g, values in, values want)
{
    tg_graph *made = remade(g), *as_is = graph_again(g), *anew = graph_again(made);
    assert_true(made->hash == g->hash);
    run_both(g, &in, &want);
    run_both(made, &in, &want);
    run_both(as_is, &in, &want);
    run_both(anew, &in, &want);
    tg_graph_unref(made);
    tg_graph_unref(as_is);
    tg_graph_unref(anew);
    free_values(&in);
    free_values(&want);
}

#endif
