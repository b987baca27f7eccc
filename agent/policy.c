/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policy.h"


#define SUM_SCALE ((ag_real)(1.0 / 64))

enum {
    P_LOGITS,
    P_DIFF,
    P_MEAN,
    P_RULE,
    P_X,
    P_C1,
    P_C2,
    P_NOW,
    P_SUM,
    P_GLOBAL,
    P_S1,
    P_V1,
    P_V2,
    P_DREAD,
    P_DC1,
    P_DC2,
    P_DMEAN,
    P_DRULE,
    P_DHEAD,
    P_DNOW,
    P_COUNT
};

static void define_heads(ag_net *net)
{
    ag_layout *l = &net->layout;
    const ag_spec *spec = net->spec;
    int H = net->shape.hidden, W = net->shape.head, R = net->shape.rule;
#define ADD(field, name, rows, cols, axis, init, gain)                                             \
    net->field = ag_layout_add(l, name, rows, cols, AG_AXIS_##axis, AG_INIT_##init, gain)
    ADD(rule, "rule", spec->rules.n, R, RULE, NORMAL, 1);
    ADD(c_diff, "candidate.difference", H, W, NONE, ORTHOGONAL, 0.5);
    ADD(c_mean, "candidate.mean", H, W, NONE, ORTHOGONAL, 0.5);
    ADD(c_rule, "candidate.rule", R, W, NONE, ORTHOGONAL, 0.5);
    ADD(c_x, "candidate.feature", spec->candidate.n, W, CANDIDATE, LECUN, 1);
    ADD(c_b, "candidate.bias", 1, W, NONE, ZERO, 0);
    ADD(c_w2, "candidate.2.weight", W, W, NONE, ORTHOGONAL, 1);
    ADD(c_b2, "candidate.2.bias", 1, W, NONE, ZERO, 0);
    ADD(c_w3, "candidate.3.weight", W, 1, NONE, ORTHOGONAL, 0.01);
    ADD(c_b3, "candidate.3.bias", 1, 1, NONE, ZERO, 0);
    ADD(c_skip, "candidate.linear", spec->candidate.n, 1, CANDIDATE, ZERO, 0);
    ADD(s_mean, "stop.mean", H, W, NONE, ORTHOGONAL, 0.5);
    ADD(s_x, "stop.global", spec->global.n, W, GLOBAL, LECUN, 1);
    ADD(s_b, "stop.bias", 1, W, NONE, ZERO, 0);
    ADD(s_w2, "stop.2.weight", W, 1, NONE, ORTHOGONAL, 0.01);
    ADD(s_b2, "stop.2.bias", 1, 1, NONE, ZERO, 0);
    ADD(s_skip, "stop.linear", spec->global.n, 1, GLOBAL, ZERO, 0);
    ADD(v_mean, "value.mean", H, W, NONE, ORTHOGONAL, 0.5);
    ADD(v_sum, "value.sum", H, W, NONE, ORTHOGONAL, 0.5);
    ADD(v_x, "value.global", spec->global.n, W, GLOBAL, LECUN, 1);
    ADD(v_b, "value.bias", 1, W, NONE, ZERO, 0);
    ADD(v_w2, "value.2.weight", W, W, NONE, ORTHOGONAL, 1);
    ADD(v_b2, "value.2.bias", 1, W, NONE, ZERO, 0);
    ADD(v_w3, "value.3.weight", W, 1, NONE, ORTHOGONAL, 0.1);
    ADD(v_b3, "value.3.bias", 1, 1, NONE, ZERO, 0);
#undef ADD
}

static void name_rows(ag_net *net)
{
    const ag_spec *s = net->spec;
    const ag_names *names[] = {[AG_AXIS_OPERATOR] = &s->operators,  [AG_AXIS_RULE] = &s->rules,
                               [AG_AXIS_NODE] = &s->node,           [AG_AXIS_EDGE] = &s->edge,
                               [AG_AXIS_CANDIDATE] = &s->candidate, [AG_AXIS_GLOBAL] = &s->global};
    for (size_t i = 0; i < net->layout.tensors.n; i++) {
        ag_tensor *t = &net->layout.tensors.v[i];
        if (t->axis != AG_AXIS_NONE) t->row_name = names[t->axis]->name;
    }
}

tg_status ag_net_new(const ag_spec *spec, ag_shape s, ag_net **out)
{
    if (s.hidden < 1 || s.hidden > 4096 || s.heads < 1 || s.heads > AG_MAX_HEADS ||
        s.hidden % s.heads)
        return tg_fail(TG_INVALID, "policy: width %d does not divide into %d heads", s.hidden,
                       s.heads);
    if (s.layers < 0 || s.layers > AG_MAX_LAYERS || s.rule < 1 || s.rule > 4096 || s.head < 1 ||
        s.head > 4096)
        return tg_fail(TG_INVALID, "policy: a size is out of range");
    if (spec->edge.n < AG_EDGE_KINDS || spec->operators.n < 1 || spec->rules.n < 1)
        return tg_fail(TG_INVALID, "policy: the vocabulary is empty");
    ag_nn_setup();
    tg_arena *arena = tg_arena_new();
    ag_net *net = TG_NEW(arena, ag_net);
    atomic_init(&net->refs, 1);
    net->arena = arena;
    net->spec = ag_spec_copy(arena, spec);
    net->shape = s;
    ag_gnn_define(&net->gnn, &net->layout, net->spec, s.hidden, s.heads, s.layers);
    define_heads(net);
    name_rows(net);
    *out = net;
    return TG_OK;
}

ag_net *ag_net_ref(ag_net *net)
{
    atomic_fetch_add_explicit(&net->refs, 1, memory_order_relaxed);
    return net;
}

void ag_net_unref(ag_net *net)
{
    if (!net) return;
    if (atomic_fetch_sub_explicit(&net->refs, 1, memory_order_acq_rel) != 1) return;
    ag_layout_done(&net->layout);
    tg_arena_free(net->arena);
}

static ag_policy *policy_alloc(ag_net *net, uint64_t version)
{
    ag_policy *policy = tg_malloc(sizeof *policy);
    atomic_init(&policy->refs, 1);
    policy->net = ag_net_ref(net);
    policy->version = version;
    policy->value = tg_malloc((net->layout.n + 1) * sizeof(ag_real));
    return policy;
}

ag_policy *ag_policy_new(ag_net *net, tg_rng *rng)
{
    ag_policy *policy = policy_alloc(net, 0);
    ag_layout_init(&net->layout, policy->value, rng);
    return policy;
}

ag_policy *ag_policy_copy(ag_net *net, const ag_real *value, uint64_t version)
{
    ag_policy *policy = policy_alloc(net, version);
    memcpy(policy->value, value, net->layout.n * sizeof(ag_real));
    return policy;
}

ag_policy *ag_policy_ref(ag_policy *policy)
{
    atomic_fetch_add_explicit(&policy->refs, 1, memory_order_relaxed);
    return policy;
}

void ag_policy_unref(ag_policy *policy)
{
    if (!policy) return;
    if (atomic_fetch_sub_explicit(&policy->refs, 1, memory_order_acq_rel) != 1) return;
    ag_net_unref(policy->net);
    free(policy->value);
    free(policy);
}

void ag_work_done(ag_work *work)
{
    ag_gnn_work_done(&work->gnn);
    for (int i = 0; i < P_COUNT; i++) ag_buffer_done(&work->buffers[i]);
}

/* 1 / number of nodes of the graph (c < 0) or of a candidate's graph. */
static ag_real per_node(const ag_state *state, int c)
{
    int n = state->graph.n;
    if (c >= 0) {
        const ag_delta *d = &state->candidates[c].delta;
        n -= d->n_gone;
        for (int r = 0; r < d->n_rows; r++) n += d->base[r] < 0;
    }
    return (ag_real)1 / (ag_real)(n > 0 ? n : 1);
}

#define ROOM(id, n) AG_GET(&work->buffers[id], ag_real, (size_t)(n) + 1)

static void candidate_inputs(const ag_net *net, const ag_real *value, const ag_state *state,
                             ag_work *work)
{
    int n = work->n, H = net->shape.hidden, R = net->shape.rule, X = net->spec->candidate.n;
    work->mean = ROOM(P_MEAN, n * H);
    work->rule = ROOM(P_RULE, n * R);
    work->x = ROOM(P_X, n * X);
    work->diff = work->gnn.read + H;
    for (int c = 0; c < n; c++) {
        const ag_candidate *a = &state->candidates[c];
        ag_real scale = per_node(state, c);
        ag_real *restrict mean = work->mean + (size_t)c * (size_t)H;
        const ag_real *restrict sum = work->gnn.read, *restrict d =
                                                          work->diff + (size_t)c * (size_t)H;
        for (int j = 0; j < H; j++) mean[j] = (sum[j] + d[j]) * scale;
        memcpy(work->rule + (size_t)c * (size_t)R, value + net->rule + (size_t)a->rule * (size_t)R,
               (size_t)R * sizeof(ag_real));
        for (int j = 0; j < X; j++) work->x[c * X + j] = a->x[j];
    }
}

static void candidate_head(const ag_net *net, const ag_real *value, ag_work *work)
{
    int n = work->n, H = net->shape.hidden, W = net->shape.head;
    work->c1 = ROOM(P_C1, n * W);
    work->c2 = ROOM(P_C2, n * W);
    ag_dense(work->c1, work->diff, value + net->c_diff, value + net->c_b, n, H, W);
    ag_dense_add(work->c1, work->mean, value + net->c_mean, n, H, W);
    ag_dense_add(work->c1, work->rule, value + net->c_rule, n, net->shape.rule, W);
    ag_dense_add(work->c1, work->x, value + net->c_x, n, net->spec->candidate.n, W);
    ag_tanh(work->c1, (size_t)n * (size_t)W);
    ag_dense(work->c2, work->c1, value + net->c_w2, value + net->c_b2, n, W, W);
    ag_tanh(work->c2, (size_t)n * (size_t)W);
    ag_dense(work->logits, work->c2, value + net->c_w3, value + net->c_b3, n, W, 1);
    ag_dense_add(work->logits, work->x, value + net->c_skip, n, net->spec->candidate.n, 1);
}

static void graph_heads(const ag_net *net, const ag_real *value, const ag_state *state,
                        ag_work *work)
{
    int H = net->shape.hidden, W = net->shape.head, G = net->spec->global.n;
    work->now = ROOM(P_NOW, H);
    work->sum = ROOM(P_SUM, H);
    work->global = ROOM(P_GLOBAL, G);
    work->s1 = ROOM(P_S1, W);
    work->v1 = ROOM(P_V1, W);
    work->v2 = ROOM(P_V2, W);
    ag_real scale = per_node(state, -1);
    for (int j = 0; j < H; j++) {
        work->now[j] = work->gnn.read[j] * scale;
        work->sum[j] = work->gnn.read[j] * SUM_SCALE;
    }
    for (int j = 0; j < G; j++) work->global[j] = state->global[j];
    ag_dense(work->s1, work->now, value + net->s_mean, value + net->s_b, 1, H, W);
    ag_dense_add(work->s1, work->global, value + net->s_x, 1, G, W);
    ag_tanh(work->s1, (size_t)W);
    ag_dense(work->logits + work->n, work->s1, value + net->s_w2, value + net->s_b2, 1, W, 1);
    ag_dense_add(work->logits + work->n, work->global, value + net->s_skip, 1, G, 1);
    ag_dense(work->v1, work->now, value + net->v_mean, value + net->v_b, 1, H, W);
    ag_dense_add(work->v1, work->sum, value + net->v_sum, 1, H, W);
    ag_dense_add(work->v1, work->global, value + net->v_x, 1, G, W);
    ag_tanh(work->v1, (size_t)W);
    ag_dense(work->v2, work->v1, value + net->v_w2, value + net->v_b2, 1, W, W);
    ag_tanh(work->v2, (size_t)W);
    ag_dense(&work->value, work->v2, value + net->v_w3, value + net->v_b3, 1, W, 1);
}

void ag_policy_forward(const ag_net *net, const ag_real *value, const ag_state *state,
                       ag_work *work)
{
    ag_gnn_forward(&net->gnn, value, state, &work->gnn);
    work->n = state->n_candidates;
    work->logits = ROOM(P_LOGITS, work->n + 1);
    candidate_inputs(net, value, state, work);
    candidate_head(net, value, work);
    graph_heads(net, value, state, work);
}

static ag_real *zeroed(ag_work *work, int id, size_t n)
{
    ag_real *p = ROOM(id, n);
    memset(p, 0, n * sizeof *p);
    return p;
}

static void candidate_back(const ag_net *net, const ag_real *value, const ag_state *state,
                           ag_work *work, const ag_real *d_logits, ag_real *grad)
{
    int n = work->n, H = net->shape.hidden, W = net->shape.head, R = net->shape.rule;
    size_t nw = (size_t)n * (size_t)W;
    ag_real *d2 = zeroed(work, P_DC2, nw), *d1 = zeroed(work, P_DC1, nw);
    ag_real *d_mean = zeroed(work, P_DMEAN, (size_t)n * (size_t)H);
    ag_real *d_rule = zeroed(work, P_DRULE, (size_t)n * (size_t)R);
    ag_real *d_diff = work->d_read + H;
    ag_dense_back(d2, grad + net->c_w3, grad + net->c_b3, work->c2, value + net->c_w3, d_logits, n,
                  W, 1);
    ag_dense_back(NULL, grad + net->c_skip, NULL, work->x, NULL, d_logits, n,
                  net->spec->candidate.n, 1);
    ag_tanh_back(d2, work->c2, nw);
    ag_dense_back(d1, grad + net->c_w2, grad + net->c_b2, work->c1, value + net->c_w2, d2, n, W, W);
    ag_tanh_back(d1, work->c1, nw);
    ag_dense_back(d_diff, grad + net->c_diff, grad + net->c_b, work->diff, value + net->c_diff, d1,
                  n, H, W);
    ag_dense_back(d_mean, grad + net->c_mean, NULL, work->mean, value + net->c_mean, d1, n, H, W);
    ag_dense_back(d_rule, grad + net->c_rule, NULL, work->rule, value + net->c_rule, d1, n, R, W);
    ag_dense_back(NULL, grad + net->c_x, NULL, work->x, NULL, d1, n, net->spec->candidate.n, W);
    for (int c = 0; c < n; c++) {
        ag_real scale = per_node(state, c);
        for (int j = 0; j < H; j++) {
            ag_real d = d_mean[c * H + j] * scale;
            d_diff[c * H + j] += d;
            work->d_read[j] += d;
        }
        ag_real *row = grad + net->rule + (size_t)state->candidates[c].rule * (size_t)R;
        for (int j = 0; j < R; j++) row[j] += d_rule[c * R + j];
    }
}

static void stop_back(const ag_net *net, const ag_real *value, ag_work *work, const ag_real *d_stop,
                      ag_real *d_now, ag_real *grad)
{
    int H = net->shape.hidden, W = net->shape.head;
    ag_real *d1 = zeroed(work, P_DHEAD, (size_t)W);
    ag_dense_back(d1, grad + net->s_w2, grad + net->s_b2, work->s1, value + net->s_w2, d_stop, 1, W,
                  1);
    ag_dense_back(NULL, grad + net->s_skip, NULL, work->global, NULL, d_stop, 1,
                  net->spec->global.n, 1);
    ag_tanh_back(d1, work->s1, (size_t)W);
    ag_dense_back(d_now, grad + net->s_mean, grad + net->s_b, work->now, value + net->s_mean, d1, 1,
                  H, W);
    ag_dense_back(NULL, grad + net->s_x, NULL, work->global, NULL, d1, 1, net->spec->global.n, W);
}

static void value_back(const ag_net *net, const ag_real *value, ag_work *work, ag_real d_value,
                       ag_real *d_now, ag_real *d_sum, ag_real *grad)
{
    int H = net->shape.hidden, W = net->shape.head;
    ag_real *d2 = zeroed(work, P_DHEAD, 2 * (size_t)W), *d1 = d2 + W;
    ag_dense_back(d2, grad + net->v_w3, grad + net->v_b3, work->v2, value + net->v_w3, &d_value, 1,
                  W, 1);
    ag_tanh_back(d2, work->v2, (size_t)W);
    ag_dense_back(d1, grad + net->v_w2, grad + net->v_b2, work->v1, value + net->v_w2, d2, 1, W, W);
    ag_tanh_back(d1, work->v1, (size_t)W);
    ag_dense_back(d_now, grad + net->v_mean, grad + net->v_b, work->now, value + net->v_mean, d1, 1,
                  H, W);
    ag_dense_back(d_sum, grad + net->v_sum, NULL, work->sum, value + net->v_sum, d1, 1, H, W);
    ag_dense_back(NULL, grad + net->v_x, NULL, work->global, NULL, d1, 1, net->spec->global.n, W);
}

void ag_policy_backward(const ag_net *net, const ag_real *value, const ag_state *state,
                        ag_work *work, const ag_real *d_logits, ag_real d_value, ag_real *grad)
{
    int H = net->shape.hidden;
    work->d_read = zeroed(work, P_DREAD, (size_t)(work->n + 1) * (size_t)H);
    ag_real *d_now = zeroed(work, P_DNOW, 2 * (size_t)H), *d_sum = d_now + H;
    candidate_back(net, value, state, work, d_logits, grad);
    stop_back(net, value, work, d_logits + work->n, d_now, grad);
    value_back(net, value, work, d_value, d_now, d_sum, grad);
    ag_real scale = per_node(state, -1);
    for (int j = 0; j < H; j++) work->d_read[j] += d_now[j] * scale + d_sum[j] * SUM_SCALE;
    ag_gnn_backward(&net->gnn, value, state, &work->gnn, work->d_read, grad);
}
