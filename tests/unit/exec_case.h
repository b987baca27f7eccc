/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small graphs for the tests of exec/ and measure/, built by name. */
#ifndef TESTS_UNIT_EXEC_CASE_H
#define TESTS_UNIT_EXEC_CASE_H

#include "tests/unit/unit.h"

#include "engine/base/rng.h"
#include "engine/exec/backend.h"
#include "engine/exec/reference.h"
#include "engine/exec/verify.h"
#include "engine/ir/build.h"
#include "engine/ir/eval.h"

#include <math.h>

typedef struct net {
    tg_origin *origin;
    tg_builder *b;
    tg_rng *rng;
} net;

UNIT_MAYBE net net_new(uint64_t seed)
{
    net n = {.origin = tg_origin_new(), .rng = tg_rng_new(seed)};
    n.b = tg_builder_new(n.origin);
    return n;
}

UNIT_MAYBE tg_value net_input(net *n, tg_shape shape)
{
    tg_type type = {TG_F32, shape};
    return tg_build_input(n->b, "x", &type);
}

/* A constant of normal numbers; `positive`: their absolute values plus a half. */
UNIT_MAYBE tg_value net_weight_of(net *n, tg_shape shape, bool positive)
{
    tg_tensor t = {TG_F32, shape, NULL};
    t.data = tg_calloc(1, tg_tensor_bytes(&t));
    for (int64_t i = 0; i < tg_tensor_count(&t); i++) {
        double x = tg_rng_normal(n->rng) * 0.5;
        ((float *)t.data)[i] = (float)(positive ? fabs(x) + 0.5 : x);
    }
    return tg_build_const(n->b, TG_F32, &shape, tg_weight_own(t.data, tg_tensor_bytes(&t)), NULL);
}

UNIT_MAYBE tg_value net_weight(net *n, tg_shape shape)
{
    return net_weight_of(n, shape, false);
}

UNIT_MAYBE tg_value net_number(net *n, double x)
{
    return tg_build_scalar(n->b, TG_F32, x);
}

/* "strides=2,2 group=4 mode=DCR alpha=0.5": an attribute's kind is that of the operator's spec. */
UNIT_MAYBE int net_attrs(tg_op op, const char *text, tg_named_attr *attrs, int64_t (*ints)[16])
{
    static char words[8][512];
    static int turn;
    char *at = words[turn = (turn + 1) % 8], *save = NULL;
    int n = 0, count;
    snprintf(at, sizeof words[0], "%s", text);
    for (char *w = strtok_r(at, " ", &save); w; w = strtok_r(NULL, " ", &save), n++) {
        char *value = strchr(w, '=');
        *value++ = 0;
        int i = tg_op_attr_index(op, w);
        if (i < 0) fail_msg("no attribute %s", w);
        tg_attr_kind kind = tg_op_attrs(op, &count)[i].kind;
        attrs[n].name = w;
        if (kind == TG_ATTR_INT) attrs[n].value = TG_ATTR_OF_INT(atoll(value));
        if (kind == TG_ATTR_FLOAT) attrs[n].value = TG_ATTR_OF_FLOAT(strtof(value, NULL));
        if (kind == TG_ATTR_STR) attrs[n].value = tg_attr_str(value);
        if (kind == TG_ATTR_FLOATS) fail_msg("no lists of floats here");
        if (kind != TG_ATTR_INTS) continue;
        int k = 0;
        for (char *p = value; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
            ints[n][k++] = atoll(p);
        attrs[n].value = TG_ATTR_OF_INTS(ints[n], k);
    }
    return n;
}

/* Output 0 of a new node of `outs` outputs. */
UNIT_MAYBE tg_value net_node_of(net *n, const char *op, const tg_value *in, int n_in, int outs,
                                const char *attrs)
{
    tg_named_attr named[12];
    int64_t ints[12][16];
    uint32_t id;
    tg_node_spec spec = {.op = tg_op_find("", op), .in = in, .n_in = n_in, .n_out = outs};
    if (spec.op == TG_OP_OPAQUE) fail_msg("no operator %s", op);
    spec.n_attrs = net_attrs(spec.op, attrs ? attrs : "", named, ints);
    spec.attrs = named;
    tg_status status = tg_build_node(n->b, &spec, &id);
    if (status != TG_OK) fail_msg("%s: %s", op, tg_message());
    return tg_value_of(id, 0);
}

#define net_node(n, op, attrs, ...)                                                                \
    net_node_of(n, op, (const tg_value[]){__VA_ARGS__},                                            \
                (int)(sizeof((const tg_value[]){__VA_ARGS__}) / sizeof(tg_value)), 1, attrs)

UNIT_MAYBE tg_graph *net_done_of(net *n, const tg_value *out, int n_out)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    tg_graph *g = NULL;
    tg_build_outputs(n->b, out, names, n_out);
    tg_status status = tg_build_done(n->b, &g);
    tg_rng_free(n->rng);
    tg_origin_unref(n->origin);
    if (status != TG_OK) fail_msg("%s", tg_message());
    return g;
}

#define net_done(n, ...)                                                                           \
    net_done_of(n, (const tg_value[]){__VA_ARGS__},                                                \
                (int)(sizeof((const tg_value[]){__VA_ARGS__}) / sizeof(tg_value)))

/* The cpu plan's outputs are those of the reference; returns its statistics. Frees the graph. */
UNIT_MAYBE tg_plan_stats net_agrees(tg_graph *g, const char *what)
{
    tg_tensor *in, want[4], got[4];
    tg_plan *plan;
    double max_abs, relative;
    assert_ok(tg_inputs_draw(g, 5, &in));
    assert_ok(tg_reference_run(g, in, want));
    assert_ok(tg_plan_new(tg_backend_find("cpu"), g, NULL, &plan));
    tg_plan_stats stats = *tg_plan_stats_of(plan);
    for (int round = 0; round < 2; round++) {
        assert_ok(tg_plan_run(plan, in, got));
        for (int i = 0; i < tg_graph_sink(g)->n_in; i++) {
            if (tg_tensor_compare(&want[i], &got[i], 256, &max_abs, &relative) != TG_OK)
                fail_msg("%s, output %d: %s", what, i, tg_message());
            tg_tensor_free(&got[i]);
        }
    }
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++) tg_tensor_free(&want[i]);
    tg_plan_free(plan);
    tg_inputs_free(in, g->n_inputs);
    tg_graph_unref(g);
    return stats;
}

#endif
