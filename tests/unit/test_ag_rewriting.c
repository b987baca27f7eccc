/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's view of graphs and candidates, and the environment made of them. */
#include "tests/unit/unit.h"

#include "agent/agent.h"
#include "samples/samples.h"

#include <math.h>

static const char *const samples[] = {"conv-bn",    "branches", "attention",   "layernorm",
                                      "squeezenet", "resnet18", "taso-bertx2", "taso-nasrnnx2"};
enum { SAMPLES = sizeof samples / sizeof *samples, STEPS = 4 };

static const ag_shape small = {.hidden = 16, .heads = 2, .layers = 3, .rule = 4, .head = 16};

static tg_rules *load_rules(void)
{
    const char *folder = unit_source("rules");
    tg_rules *rules;
    assert_ok(tg_rules_load(&folder, 1, &rules));
    return rules;
}

static tg_graph *sample(const char *name)
{
    tg_graph *g;
    assert_ok(tg_sample_build(name, 1, true, &g));
    return g;
}

/* ---- deltas ------------------------------------------------------------------------------------
 */

/* Where each node of the graph after a delta is in the state of the graph built. */
static int *correspondence(const tg_graph *g, const tg_preview *p, const ag_delta *d,
                           const tg_graph *next, int *n)
{
    int *index = tg_malloc(sizeof(int) * (next->n_ids + 1)), at = 0, k = 0;
    int *to = tg_malloc(sizeof(int) * (g->n_nodes + (size_t)d->n_rows + 1));
    for (uint32_t i = 0; i < next->n_nodes; i++) {
        const tg_node *node = next->nodes[next->order[i]];
        index[node->id] = node->constant ? -1 : at++;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->constant) continue;
        bool gone = false;
        for (int j = 0; j < p->n_gone; j++) gone = gone || p->gone[j] == node->id;
        if (!gone) to[k++] = index[node->id];
    }
    for (int i = 0; i < p->n_come; i++) {
        if (!p->come[i].constant) to[k++] = index[g->n_ids + (uint32_t)i];
    }
    free(index);
    assert_int_equal(k, at);
    *n = k;
    return to;
}

static bool close_to(const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (!(fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(b[i])))) return false;
    }
    return true;
}

/* Each incoming edge of node i has one like it at node k of the other graph, and as many. */
static void same_edges(const ag_graph *a, int i, const ag_graph *b, int k, const int *to, int dims)
{
    int first = b->in_at[k], count = b->in_at[k + 1] - first;
    bool *used = tg_calloc((size_t)count + 1, sizeof *used);
    assert_int_equal(a->in_at[i + 1] - a->in_at[i], count);
    for (int e = a->in_at[i]; e < a->in_at[i + 1]; e++) {
        int f = 0;
        for (; f < count; f++) {
            if (!used[f] && b->in_from[first + f] == to[a->in_from[e]] &&
                close_to(a->in_x + e * dims, b->in_x + (first + f) * dims, dims))
                break;
        }
        assert_true(f < count);
        used[f] = true;
    }
    free(used);
}

static void same_graphs(const ag_graph *a, const ag_graph *b, const int *to, const ag_spec *spec)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->m, b->m);
    for (int i = 0; i < a->n; i++) {
        int nd = spec->node.n;
        assert_int_equal(a->op[i], b->op[to[i]]);
        assert_true(close_to(a->x + i * nd, b->x + to[i] * nd, nd));
        same_edges(a, i, b, to[i], to, spec->edge.n);
    }
}

typedef struct watcher {
    ag_view *view;
    ag_policy *policy;
    ag_work now, after;
    double worst;
    int seen;
} watcher;

/* The incremental encoding of candidate i against that of the graph built. */
static void same_encoding(watcher *w, int i, const ag_state *next)
{
    const ag_net *net = w->policy->net;
    int H = net->shape.hidden;
    ag_policy_forward(net, w->policy->value, next, &w->after);
    for (int j = 0; j < H; j++) {
        double whole = w->after.gnn.read[j];
        double added = (double)w->now.gnn.read[j] + w->now.gnn.read[(i + 1) * H + j];
        w->worst = fmax(w->worst, fabs(whole - added) / (1 + fabs(whole)));
    }
}

static void check_candidate(watcher *w, const tg_candidates *c, int i, const ag_state *state,
                            double first_ms)
{
    const ag_spec *spec = ag_view_spec(w->view);
    const tg_graph *g = tg_candidates_graph(c);
    const tg_candidate *candidate = tg_candidates_get(c, i);
    const ag_delta *delta = &state->candidates[i].delta;
    tg_graph *next;
    tg_candidates *onward;
    ag_state *after;
    ag_graph applied;
    int n;
    assert_ok(tg_candidates_apply(c, i, &next));
    assert_true(next->hash == tg_preview_hash(g, &candidate->preview));
    assert_true(fabs(tg_graph_cost_ms(next) - tg_graph_cost_ms(g) -
                     candidate->preview.cost_delta_ms) < 1e-5 * tg_graph_cost_ms(g));
    assert_ok(tg_candidates_update(c, next, NULL, &onward));
    assert_ok(ag_view_state(w->view, onward, first_ms, 1, &after));
    assert_ok(ag_state_check(after, spec));
    tg_arena *arena = tg_arena_new();
    ag_graph_apply(arena, &applied, &state->graph, delta, spec);
    int *to = correspondence(g, &candidate->preview, delta, next, &n);
    same_graphs(&applied, &after->graph, to, spec);
    same_encoding(w, i, after);
    w->seen++;
    free(to);
    tg_arena_free(arena);
    ag_state_unref(after);
    tg_candidates_free(onward);
    tg_graph_unref(next);
}

static void check_state(watcher *w, const tg_candidates *c, double first_ms)
{
    ag_state *state;
    assert_ok(ag_view_state(w->view, c, first_ms, 0, &state));
    assert_ok(ag_state_check(state, ag_view_spec(w->view)));
    assert_int_equal(state->n_candidates, tg_candidates_count(c));
    ag_policy_forward(w->policy->net, w->policy->value, state, &w->now);
    for (int i = 0; i < state->n_candidates; i++) check_candidate(w, c, i, state, first_ms);
    ag_state_unref(state);
}

/* Looks at all candidates of a sample, takes one at random, and so on. */
static void walk(watcher *w, const tg_rules *rules, const char *name, tg_rng *rng)
{
    tg_graph *g = sample(name), *next;
    tg_candidates *c, *onward;
    double first_ms = tg_graph_cost_ms(g);
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    for (int step = 0;; step++) {
        check_state(w, c, first_ms);
        int n = tg_candidates_count(c);
        if (!n || step == STEPS) break;
        assert_ok(tg_candidates_apply(c, (int)tg_rng_below(rng, (uint64_t)n), &next));
        assert_ok(tg_candidates_update(c, next, NULL, &onward));
        tg_candidates_free(c);
        c = onward;
        tg_graph_unref(next);
    }
    tg_candidates_free(c);
    tg_graph_unref(g);
}

static void candidates_look_like_the_graphs_they_make(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    watcher w = {.view = ag_view_new(rules)};
    tg_rng *rng = tg_rng_new(7);
    ag_net *net;
    assert_ok(ag_net_new(ag_view_spec(w.view), small, &net));
    w.policy = ag_policy_new(net, rng);
    for (int i = 0; i < SAMPLES; i++) walk(&w, rules, samples[i], rng);
    print_message("%d candidates, encodings differ by %.2g at most\n", w.seen, w.worst);
    assert_true(w.seen > 20);
    assert_true(w.worst < 2e-5);
    ag_work_done(&w.now);
    ag_work_done(&w.after);
    ag_policy_unref(w.policy);
    ag_net_unref(net);
    tg_rng_free(rng);
    ag_view_unref(w.view);
    tg_rules_unref(rules);
}

/* ---- the environment ---------------------------------------------------------------------------
 */

typedef struct house {
    tg_rules *rules;
    ag_view *view;
    tg_graph *graph;
    ag_source *source;
} house;

static house house_open(const char *name, const ag_rewriting_options *options)
{
    static const ag_rewriting_options none;
    house h = {.rules = load_rules(), .graph = sample(name)};
    h.view = ag_view_new(h.rules);
    h.source = ag_rewriting_source(h.view, h.rules, h.graph, options ? options : &none);
    return h;
}

static void house_close(house *h)
{
    ag_source_unref(h->source);
    ag_view_unref(h->view);
    tg_graph_unref(h->graph);
    tg_rules_unref(h->rules);
}

static void play(ag_env env, uint64_t seed, int measure_every, ag_episode *e)
{
    ag_rollout_config config = {.horizon = 12, .measure_every = measure_every};
    tg_rng *rng = tg_rng_new(seed);
    ag_work work = {0};
    assert_ok(ag_rollout(NULL, env, &config, rng, &work, NULL, e));
    ag_work_done(&work);
    tg_rng_free(rng);
}

static void same_episodes(const ag_episode *a, const ag_episode *b)
{
    assert_int_equal(a->steps.n, b->steps.n);
    assert_true(a->total == b->total && a->last_ms == b->last_ms && a->best_ms == b->best_ms);
    for (size_t i = 0; i < a->steps.n; i++) {
        assert_int_equal(a->steps.v[i].action, b->steps.v[i].action);
        assert_true(a->steps.v[i].state->key == b->steps.v[i].state->key);
        assert_true(a->steps.v[i].reward == b->steps.v[i].reward);
    }
}

/* The same draws give the same episodes, in one environment and in another of the same source. */
static void the_environment_repeats(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        house h = house_open(samples[i], NULL);
        ag_env one, two;
        ag_episode a = {0}, b = {0};
        assert_ok(h.source->class->open(h.source->self, &one));
        assert_ok(h.source->class->open(h.source->self, &two));
        for (uint64_t seed = 1; seed <= 3; seed++) {
            play(one, seed, 1, &a);
            play(one, seed, 1, &b);
            same_episodes(&a, &b);
            play(two, seed, 1, &b);
            same_episodes(&a, &b);
        }
        ag_episode_done(&a);
        ag_episode_done(&b);
        one.class->free(one.self);
        two.class->free(two.self);
        house_close(&h);
    }
}

static void rewards_sum_to_the_gain(void **state)
{
    (void)state;
    house h = house_open("conv-bn", NULL);
    ag_env env;
    ag_episode e = {0};
    assert_ok(h.source->class->open(h.source->self, &env));
    double first = tg_graph_cost_ms(h.graph), most = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        play(env, seed, seed % 2 ? 1 : 5, &e);
        double gain = 100 * (first - e.last_ms) / first;
        assert_true(e.first_ms == first);
        assert_true(fabs(e.total - gain) < 1e-4);
        most = fmax(most, gain);
    }
    assert_true(most > 10);
    ag_episode_done(&e);
    env.class->free(env.self);
    house_close(&h);
}

/* The way that an episode went, taken again as a trail, ends at its best cost. */
static void ways_become_trails(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        house h = house_open(samples[i], NULL);
        ag_env env;
        ag_episode e = {0};
        int actions[16];
        tg_trail *trail;
        assert_ok(h.source->class->open(h.source->self, &env));
        play(env, 5, 1, &e);
        for (int k = 0; k < e.best_steps; k++) actions[k] = e.steps.v[k].action;
        assert_ok(ag_rewriting_trail(h.source, actions, e.best_steps, &trail));
        assert_int_equal(trail->depth, e.best_steps);
        assert_true(fabs(trail->cost_ms - e.best_ms) < 1e-6);
        tg_trail_unref(trail);
        actions[0] = 100000;
        assert_status(ag_rewriting_trail(h.source, actions, 1, &trail), TG_NOTFOUND);
        ag_episode_done(&e);
        env.class->free(env.self);
        house_close(&h);
    }
}

static void vetoed_sites_are_never_taken(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    tg_graph *g = sample("conv-bn");
    tg_candidates *c;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    uint64_t veto = tg_candidates_get(c, 0)->site->key;
    house h = house_open("conv-bn", &(ag_rewriting_options){.vetoed = &veto, .n_vetoed = 1});
    ag_env env;
    ag_episode e = {0};
    assert_ok(h.source->class->open(h.source->self, &env));
    int met = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        play(env, seed, 1, &e);
        for (size_t i = 0; i < e.steps.n; i++) {
            const ag_state *s = e.steps.v[i].state;
            for (int k = 0; k < s->n_candidates; k++) {
                if (s->candidates[k].key != veto) continue;
                met++;
                assert_false(s->candidates[k].allowed);
                assert_int_not_equal(e.steps.v[i].action, k);
            }
        }
    }
    assert_true(met > 0);
    ag_episode_done(&e);
    env.class->free(env.self);
    house_close(&h);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(candidates_look_like_the_graphs_they_make),
    cmocka_unit_test(the_environment_repeats),
    cmocka_unit_test(rewards_sum_to_the_gain),
    cmocka_unit_test(ways_become_trails),
    cmocka_unit_test(vetoed_sites_are_never_taken),
};

UNIT_MAIN(tests)
