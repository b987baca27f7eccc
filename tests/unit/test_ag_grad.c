/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The network compiled in double: hand-written gradients against central differences, and
 * candidates encoded where they differ against candidates encoded whole.
 */
#define AG_DOUBLE
#include "tests/unit/unit.h"

#include "agent/nn.c"
#include "agent/rows.c"
#include "agent/gnn.c"
#include "agent/policy.c"
#include "agent/choice.c"
#include "agent/adam.c"
#include "agent/features.c"
#include "tests/unit/ag_random.h"

typedef struct net_case {
    ag_net *net;
    ag_policy *policy;
    ag_state *state;
    tg_rng *rng;
    ag_work work;
} net_case;

static void case_open(net_case *c, uint64_t seed)
{
    static const ag_shape shapes[] = {
        {8, 2, 2, 3, 5}, {6, 3, 5, 2, 4}, {5, 1, 3, 4, 6}, {12, 4, 1, 3, 7}, {4, 2, 0, 2, 3}};
    *c = (net_case){.rng = tg_rng_new(seed)};
    assert_ok(ag_net_new(&random_spec, shapes[seed % 5], &c->net));
    c->policy = ag_policy_new(c->net, c->rng);
    /* Away from the small start values, so that no part of the gradient hides behind another. */
    for (size_t i = 0; i < c->net->layout.n; i++)
        c->policy->value[i] += 0.3 * tg_rng_normal(c->rng);
    int nodes = 4 + (int)tg_rng_below(c->rng, 20), candidates = (int)tg_rng_below(c->rng, 6);
    c->state = random_state(c->rng, nodes, candidates);
    assert_ok(ag_state_check(c->state, &random_spec));
}

static void case_close(net_case *c)
{
    ag_work_done(&c->work);
    ag_state_unref(c->state);
    ag_policy_unref(c->policy);
    ag_net_unref(c->net);
    tg_rng_free(c->rng);
}

/* A loss with every part that training uses. */
static double loss(net_case *c, double *d_logits, double *d_value)
{
    int n = c->state->n_candidates;
    double *log_p = tg_malloc(sizeof(double) * (size_t)(n + 1));
    ag_policy_forward(c->net, c->policy->value, c->state, &c->work);
    double H = ag_choice_log_p(c->state, c->work.logits, log_p);
    int pick = n;
    for (int i = 0; i < n; i++) {
        if (c->state->candidates[i].allowed) pick = i;
    }
    double v = c->work.value - 0.7, out = 1.3 * log_p[pick] + 0.4 * H + 0.5 * v * v;
    if (d_logits) {
        memset(d_logits, 0, sizeof(double) * (size_t)(n + 1));
        ag_choice_back(log_p, n + 1, pick, 1.3, 0.4, H, d_logits);
        *d_value = v;
    }
    free(log_p);
    return out;
}

static void gradients_match_differences(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 15; seed++) {
        net_case c;
        case_open(&c, seed);
        size_t n = c.net->layout.n;
        double *grad = tg_calloc(n, sizeof *grad), d_value;
        double *d_logits = tg_calloc((size_t)c.state->n_candidates + 1, sizeof *d_logits);
        loss(&c, d_logits, &d_value);
        ag_policy_backward(c.net, c.policy->value, c.state, &c.work, d_logits, d_value, grad);
        size_t checked = 0;
        for (size_t t = 0; t < c.net->layout.tensors.n; t++) {
            const ag_tensor *tensor = &c.net->layout.tensors.v[t];
            size_t size = (size_t)tensor->rows * (size_t)tensor->cols;
            for (size_t k = 0; k < size; k += 1 + size / 12, checked++) {
                double *w = &c.policy->value[tensor->at + k], old = *w, h = 1e-5;
                *w = old + h;
                double up = loss(&c, NULL, NULL);
                *w = old - h;
                double down = loss(&c, NULL, NULL);
                *w = old;
                double want = (up - down) / (2 * h), got = grad[tensor->at + k];
                /* A kink of a leaky unit within the step can spoil a difference: try it smaller. */
                if (fabs(want - got) > 1e-6 * (1 + fabs(want))) {
                    h = 1e-8;
                    *w = old + h;
                    up = loss(&c, NULL, NULL);
                    *w = old - h;
                    down = loss(&c, NULL, NULL);
                    *w = old;
                    want = (up - down) / (2 * h);
                    if (fabs(want - got) > 1e-5 * (1 + fabs(want)))
                        fail_msg("seed %d %s[%zu]: %.9g, not %.9g", (int)seed, tensor->name, k, got,
                                 want);
                }
            }
        }
        assert_true(checked > 100);
        free(grad);
        free(d_logits);
        case_close(&c);
    }
}

/* Logit and gradient of candidate i when its graph is encoded whole, its features being equal. */
static double whole(net_case *c, int i, double *grad)
{
    const ag_net *net = c->net;
    size_t H = (size_t)net->shape.hidden;
    ag_state *after = ag_state_new();
    ag_graph_apply(after->arena, &after->graph, &c->state->graph, &c->state->candidates[i].delta,
                   &random_spec);
    after->global = c->state->global;
    ag_work before_work = {0}, work = {0};
    ag_state *bare = ag_state_new();
    bare->graph = c->state->graph;
    ag_gnn_forward(&net->gnn, c->policy->value, bare, &before_work.gnn);
    ag_gnn_forward(&net->gnn, c->policy->value, after, &work.gnn);
    double *sum = tg_calloc(2 * H, sizeof *sum);
    for (size_t j = 0; j < H; j++) {
        sum[j] = before_work.gnn.read[j];
        sum[H + j] = work.gnn.read[j] - before_work.gnn.read[j];
    }
    /* The head alone, on the two readouts. */
    ag_state one = *c->state;
    one.n_candidates = 1;
    one.candidates = &c->state->candidates[i];
    work.n = 1;
    work.logits = AG_GET(&work.buffers[P_LOGITS], ag_real, 3);
    double *keep = work.gnn.read;
    work.gnn.read = sum;
    candidate_inputs(net, c->policy->value, &one, &work);
    candidate_head(net, c->policy->value, &work);
    double logit = work.logits[0], d_logit = 1;
    work.d_read = tg_calloc(2 * H, sizeof(double));
    candidate_back(net, c->policy->value, &one, &work, &d_logit, grad);
    double *d_after = work.d_read + H, *d_before = work.d_read;
    for (size_t j = 0; j < H; j++) d_before[j] -= d_after[j];
    work.gnn.read = keep;
    ag_gnn_backward(&net->gnn, c->policy->value, after, &work.gnn, d_after, grad);
    ag_gnn_backward(&net->gnn, c->policy->value, bare, &before_work.gnn, d_before, grad);
    free(work.d_read);
    free(sum);
    ag_work_done(&work);
    ag_work_done(&before_work);
    ag_state_unref(after);
    ag_state_unref(bare);
    return logit;
}

static void candidates_equal_whole_graphs(void **state)
{
    (void)state;
    int compared = 0;
    for (uint64_t seed = 100; seed < 140; seed++) {
        net_case c;
        case_open(&c, seed);
        size_t n = c.net->layout.n, k = (size_t)c.state->n_candidates;
        double *grad = tg_calloc(n, sizeof *grad), *want = tg_calloc(n, sizeof *want);
        double *d_logits = tg_calloc(k + 1, sizeof *d_logits);
        for (int i = 0; i < c.state->n_candidates; i++, compared++) {
            memset(grad, 0, n * sizeof *grad);
            memset(want, 0, n * sizeof *want);
            memset(d_logits, 0, (k + 1) * sizeof *d_logits);
            d_logits[i] = 1;
            ag_policy_forward(c.net, c.policy->value, c.state, &c.work);
            ag_policy_backward(c.net, c.policy->value, c.state, &c.work, d_logits, 0, grad);
            double logit = whole(&c, i, want);
            assert_true(fabs(logit - c.work.logits[i]) < 1e-10 * (1 + fabs(logit)));
            for (size_t j = 0; j < n; j++) {
                if (fabs(grad[j] - want[j]) > 1e-9 * (1 + fabs(want[j])))
                    fail_msg("seed %d candidate %d parameter %zu: %.12g, not %.12g", (int)seed, i,
                             j, grad[j], want[j]);
            }
        }
        free(grad);
        free(want);
        free(d_logits);
        case_close(&c);
    }
    assert_true(compared > 60);
}

static void the_order_of_candidates_does_not_matter(void **state)
{
    (void)state;
    net_case c;
    case_open(&c, 41);
    ag_state_unref(c.state);
    c.state = random_state(c.rng, 20, 9);
    ag_policy_forward(c.net, c.policy->value, c.state, &c.work);
    double before[10], value = c.work.value;
    memcpy(before, c.work.logits, sizeof before);
    ag_candidate reversed[9];
    for (int i = 0; i < 9; i++) reversed[i] = c.state->candidates[8 - i];
    memcpy(c.state->candidates, reversed, sizeof reversed);
    ag_policy_forward(c.net, c.policy->value, c.state, &c.work);
    for (int i = 0; i < 9; i++) assert_true(fabs(c.work.logits[i] - before[8 - i]) < 1e-12);
    assert_true(fabs(c.work.logits[9] - before[9]) < 1e-12);
    assert_true(fabs(c.work.value - value) < 1e-12);
    assert_true(fabs(before[0] - before[1]) > 1e-6);
    case_close(&c);
}

static void masked_candidates_have_no_chance(void **state)
{
    (void)state;
    net_case c;
    case_open(&c, 7);
    ag_state_unref(c.state);
    c.state = random_state(c.rng, 12, 4);
    for (int i = 0; i < 4; i++) c.state->candidates[i].allowed = i == 2;
    double logits[5] = {50, 3, 0, -1, 0}, log_p[5], d[5] = {0};
    double H = ag_choice_log_p(c.state, logits, log_p);
    assert_true(fabs(H - log(2)) < 1e-12);
    assert_true(fabs(log_p[2] - log(0.5)) < 1e-12 && isinf(log_p[0]));
    for (int i = 0; i < 200; i++) {
        int pick = ag_choice_draw(log_p, 5, c.rng);
        assert_true(pick == 2 || pick == 4);
    }
    assert_int_equal(ag_choice_best(log_p, 5), 2);
    ag_choice_back(log_p, 5, 2, 1, 1, H, d);
    assert_true(d[0] == 0 && fabs(d[2] - 0.5) < 1e-12 && fabs(d[4] + 0.5) < 1e-12);
    case_close(&c);
}

static void adam_minimises_and_clips(void **state)
{
    (void)state;
    double x[3] = {3, -2, 1}, g[3];
    ag_adam adam;
    ag_adam_init(&adam, 3);
    adam.rate = 0.05;
    for (int i = 0; i < 500; i++) {
        for (int k = 0; k < 3; k++) g[k] = 2 * (k + 1) * (x[k] - k);
        ag_adam_step(&adam, x, g);
    }
    for (int k = 0; k < 3; k++) assert_true(fabs(x[k] - k) < 1e-2);
    double same = x[0];
    g[0] = NAN;
    assert_true(isnan(ag_adam_step(&adam, x, g)));
    assert_true(x[0] == same);
    ag_adam_done(&adam);
    /* The first step moves by rate * g / (|g| + eps) of the clipped gradient. */
    double y[1] = {0}, big[1] = {1e6};
    ag_adam_init(&adam, 1);
    adam.eps = 0.5;
    assert_true(ag_adam_step(&adam, y, big) == 1e6);
    assert_true(fabs(y[0] + 5e-4 * 0.5 / (0.5 + 0.5)) < 1e-9);
    ag_adam_done(&adam);
}

/* A build with more operators starts from the same weights for those that it shares. */
static void rows_are_drawn_by_name(void **state)
{
    (void)state;
    const char *few[] = {"Add", "Conv"}, *more[] = {"Abs", "Add", "And", "Conv"};
    ag_layout a = {0}, b = {0};
    ag_layout_add(&a, "op", 2, 3, AG_AXIS_OPERATOR, AG_INIT_NORMAL, 0.5);
    size_t behind_a = ag_layout_add(&a, "w", 4, 4, AG_AXIS_NONE, AG_INIT_LECUN, 1);
    ag_layout_add(&b, "op", 4, 3, AG_AXIS_OPERATOR, AG_INIT_NORMAL, 0.5);
    size_t behind_b = ag_layout_add(&b, "w", 4, 4, AG_AXIS_NONE, AG_INIT_LECUN, 1);
    a.tensors.v[0].row_name = few;
    b.tensors.v[0].row_name = more;
    double *v = tg_calloc(a.n, sizeof *v), *w = tg_calloc(b.n, sizeof *w);
    tg_rng *rng = tg_rng_new(5);
    ag_layout_init(&a, v, rng);
    ag_layout_init(&b, w, rng);
    assert_memory_equal(v, w + 3, 3 * sizeof *v);
    assert_memory_equal(v + 3, w + 9, 3 * sizeof *v);
    assert_memory_not_equal(w, w + 6, 3 * sizeof *v);
    assert_memory_equal(v + behind_a, w + behind_b, 16 * sizeof *v);
    tg_rng_free(rng);
    free(v);
    free(w);
    ag_layout_done(&a);
    ag_layout_done(&b);
}

static void orthogonal_tensors_are(void **state)
{
    (void)state;
    ag_layout layout = {0};
    size_t tall = ag_layout_add(&layout, "t", 7, 4, AG_AXIS_NONE, AG_INIT_ORTHOGONAL, 2);
    size_t wide = ag_layout_add(&layout, "w", 3, 5, AG_AXIS_NONE, AG_INIT_ORTHOGONAL, 1);
    double *v = tg_calloc(layout.n, sizeof *v);
    tg_rng *rng = tg_rng_new(3);
    ag_layout_init(&layout, v, rng);
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            double dot = 0;
            for (int i = 0; i < 7; i++)
                dot += v[tall + (size_t)(i * 4 + a)] * v[tall + (size_t)(i * 4 + b)];
            assert_true(fabs(dot - (a == b ? 4 : 0)) < 1e-10);
        }
    }
    for (int a = 0; a < 3; a++) {
        double dot = 0;
        for (int i = 0; i < 5; i++) dot += v[wide + (size_t)(a * 5 + i)] * v[wide + (size_t)i];
        assert_true(fabs(dot - (a == 0)) < 1e-10);
    }
    assert_ptr_equal(ag_layout_find(&layout, "w"), &layout.tensors.v[1]);
    free(v);
    tg_rng_free(rng);
    ag_layout_done(&layout);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gradients_match_differences),
    cmocka_unit_test(candidates_equal_whole_graphs),
    cmocka_unit_test(the_order_of_candidates_does_not_matter),
    cmocka_unit_test(masked_candidates_have_no_chance),
    cmocka_unit_test(adam_minimises_and_clips),
    cmocka_unit_test(rows_are_drawn_by_name),
    cmocka_unit_test(orthogonal_tensors_are),
};
UNIT_MAIN(tests)
