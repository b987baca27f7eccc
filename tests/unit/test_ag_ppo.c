/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "agent/ppo.h"
#include "tests/unit/ag_toy.h"

#include <math.h>

static const ag_shape small = {.hidden = 16, .heads = 2, .layers = 3, .rule = 4, .head = 32};

typedef struct learner {
    ag_net *net;
    ag_ppo ppo;
    tg_rng *rng;
    ag_work work;
    ag_env env;
    ag_episode episodes[10];
    double best, mean;
} learner;

static void learner_open(learner *l, const char *start, uint64_t seed)
{
    *l = (learner){.rng = tg_rng_new(seed), .best = INFINITY};
    assert_ok(ag_net_new(&toy_spec, small, &l->net));
    ag_policy *first = ag_policy_new(l->net, l->rng);
    ag_ppo_init(&l->ppo, first, AG_PPO_DEFAULT, 1);
    ag_policy_unref(first);
    l->env = toy_open(start);
}

static void learner_close(learner *l)
{
    for (int i = 0; i < 10; i++) ag_episode_done(&l->episodes[i]);
    ag_work_done(&l->work);
    ag_ppo_done(&l->ppo);
    ag_net_unref(l->net);
    tg_rng_free(l->rng);
    l->env.class->free(l->env.self);
}

/* Ten episodes and an update. */
static void learner_update(learner *l, ag_demos *demos, ag_ppo_report *report)
{
    ag_rollout_config config = {.horizon = 20, .measure_every = 1};
    ag_policy *policy = ag_policy_copy(l->net, l->ppo.value, 0);
    l->mean = 0;
    for (int i = 0; i < 10; i++) {
        assert_ok(ag_rollout(policy, l->env, &config, l->rng, &l->work, NULL, &l->episodes[i]));
        l->best = fmin(l->best, l->episodes[i].best_ms);
        l->mean += l->episodes[i].total / 10;
    }
    ag_policy_unref(policy);
    assert_ok(ag_ppo_update(&l->ppo, l->episodes, 10, demos, l->rng, NULL, NULL, report));
}

static void deltas_of_the_toy_are_its_rewrites(void **state)
{
    (void)state;
    ag_env env = toy_open("ABAACBCAACAB");
    ag_state *s;
    assert_ok(env.class->observe(env.self, &s));
    assert_ok(ag_state_check(s, &toy_spec));
    toy *t = env.self;
    assert_true(s->n_candidates > 6);
    for (int i = 0; i < s->n_candidates; i++) {
        char after[TOY_MOST + 1];
        ag_graph got, want;
        toy_rewrite(t->now, t->match[i], after);
        ag_graph_apply(s->arena, &got, &s->graph, &s->candidates[i].delta, &toy_spec);
        toy_graph(s->arena, after, &want);
        assert_int_equal(got.n, want.n);
        assert_int_equal(got.m, want.m);
        int sum = 0;
        for (int k = 0; k < got.n; k++) sum += got.op[k] - want.op[k];
        assert_int_equal(sum, 0);
    }
    ag_state_unref(s);
    env.class->free(env.self);
}

static ag_step step_of(float reward, float value)
{
    return (ag_step){.reward = reward, .value = value};
}

static void advantages_follow_the_definition(void **state)
{
    (void)state;
    ag_ppo_config c = AG_PPO_DEFAULT;
    c.reward_scale = 1;
    c.gamma = 0.5;
    c.lambda = 0.5;
    ag_episode e = {0};
    tg_vec_push(&e.steps, step_of(1, 2));
    tg_vec_push(&e.steps, step_of(3, 4));
    double a[2], r[2];
    ag_ppo_advantages(&c, &e, a, r);
    assert_true(fabs(a[1] - (3 - 4)) < 1e-9);
    assert_true(fabs(a[0] - (1 + 0.5 * 4 - 2 + 0.25 * a[1])) < 1e-9);
    assert_true(fabs(r[0] - (a[0] + 2)) < 1e-9);
    /* Cut by the horizon: the value of the last state stands for the rest. */
    e.truncated = true;
    e.bootstrap = 10;
    ag_ppo_advantages(&c, &e, a, r);
    assert_true(fabs(a[1] - (3 + 0.5 * 10 - 4)) < 1e-9);
    ag_episode_done(&e);
}

static void rewards_add_up_and_the_end_is_measured(void **state)
{
    (void)state;
    ag_env env = toy_open("ABAACBCAACAB");
    tg_rng *rng = tg_rng_new(5);
    ag_work work = {0};
    ag_episode e = {0};
    for (int every = 1; every <= 7; every += 3) {
        for (int horizon = 0; horizon < 12; horizon += 4) {
            ag_rollout_config config = {.horizon = horizon, .measure_every = every};
            assert_ok(ag_rollout(NULL, env, &config, rng, &work, NULL, &e));
            double cost;
            assert_ok(env.class->cost(env.self, &cost));
            assert_true(fabs(e.total - 100 * (e.first_ms - cost) / e.first_ms) < 1e-3);
            assert_true(fabs(e.last_ms - cost) < 1e-12);
            assert_true((int)e.steps.n <= horizon + 1);
            assert_true(e.truncated == !e.stopped);
        }
    }
    ag_episode_done(&e);
    ag_work_done(&work);
    tg_rng_free(rng);
    env.class->free(env.self);
}

static void it_reaches_the_optimum(void **state)
{
    (void)state;
    const char *start = "ABAACBCAACAB";
    size_t states;
    double optimum = toy_optimum(start, &states), gain = 100 * (1 - optimum / toy_cost(start));
    assert_true(states > 100);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        learner l;
        learner_open(&l, start, seed);
        double first = 0;
        for (int update = 0; update < 30; update++) {
            ag_ppo_report report;
            learner_update(&l, NULL, &report);
            if (getenv("AG_SHOW"))
                printf("# %d: mean %.2f best %.2f/%.2f H %.2f kl %.4f clip %.2f ev %.2f v %.3f\n",
                       update, l.mean, l.best, optimum, report.entropy, report.kl,
                       report.clip_share, report.explained_variance, report.value_loss);
            if (update == 0) first = l.mean;
        }
        assert_true(fabs(l.best - optimum) < 1e-9);
        assert_true(l.mean > 0.8 * gain && l.mean > first + 0.2 * gain);
        learner_close(&l);
    }
}

static void a_run_repeats_bit_for_bit(void **state)
{
    (void)state;
    ag_real *kept = NULL;
    for (int run = 0; run < 3; run++) {
        learner l;
        ag_ppo_report report;
        learner_open(&l, "ABAACBC", 9 + (run == 2));
        for (int i = 0; i < 3; i++) learner_update(&l, NULL, &report);
        size_t size = l.net->layout.n * sizeof(ag_real);
        if (run == 0) kept = tg_memdup(l.ppo.value, size);
        else if (run == 1) assert_memory_equal(kept, l.ppo.value, size);
        else assert_true(memcmp(kept, l.ppo.value, size) != 0);
        learner_close(&l);
    }
    free(kept);
}

/* The probability that the policy now gives to `action` in `s`. */
static double chance(learner *l, const ag_state *s, int action)
{
    ag_real log_p[64];
    ag_policy_forward(l->net, l->ppo.value, s, &l->work);
    ag_choice_log_p(s, l->work.logits, log_p);
    return exp((double)log_p[action]);
}

static void good_demonstrations_are_imitated(void **state)
{
    (void)state;
    double before[3], after[3];
    for (int kind = 0; kind < 3; kind++) { /* good, bad, retracted */
        learner l;
        learner_open(&l, "ABAACBC", 2);
        ag_demos *demos = ag_demos_new();
        ag_state *s;
        assert_ok(l.env.class->observe(l.env.self, &s));
        size_t demo = ag_demos_add(demos, s, 0);
        assert_int_equal(ag_demos_in_use(demos), 0); /* its return is not known */
        ag_demos_set_return(demos, demo, kind == 1 ? -500 : 500);
        assert_int_equal(ag_demos_in_use(demos), 1);
        ag_demos_retract(demos, demo, kind == 2);
        assert_int_equal(ag_demos_in_use(demos), kind != 2);
        before[kind] = chance(&l, s, 0);
        l.ppo.config.demo_weight = 3;
        ag_ppo_report report;
        for (int i = 0; i < 6; i++) learner_update(&l, demos, &report);
        assert_int_equal(report.demos, kind == 0);
        after[kind] = chance(&l, s, 0);
        ag_state_unref(s);
        ag_demos_free(demos);
        learner_close(&l);
    }
    assert_true(after[0] > 0.5 && after[0] > 2 * before[0]);
    assert_true(after[1] < 0.5 && fabs(after[1] - after[2]) < 1e-6);
}

static void mask_mode_leaves_one_action(void **state)
{
    (void)state;
    ag_env env = toy_open("ABAACBC");
    ag_state *s, *again;
    ag_demos *demos = ag_demos_new();
    assert_ok(env.class->observe(env.self, &s));
    assert_ok(env.class->observe(env.self, &again));
    ag_demos_set_mode(demos, AG_DEMO_MASK);
    ag_demos_add(demos, s, 2);
    ag_demos_mask(demos, again);
    for (int i = 0; i <= again->n_candidates; i++)
        assert_int_equal(ag_choice_allowed(again, i), i == 2);
    ag_demos_set_mode(demos, AG_DEMO_OFF);
    assert_int_equal(ag_demos_in_use(demos), 0);
    ag_state_unref(s);
    ag_state_unref(again);
    ag_demos_free(demos);
    env.class->free(env.self);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(deltas_of_the_toy_are_its_rewrites),
    cmocka_unit_test(advantages_follow_the_definition),
    cmocka_unit_test(rewards_add_up_and_the_end_is_measured),
    cmocka_unit_test(it_reaches_the_optimum),
    cmocka_unit_test(a_run_repeats_bit_for_bit),
    cmocka_unit_test(good_demonstrations_are_imitated),
    cmocka_unit_test(mask_mode_leaves_one_action),
};
UNIT_MAIN(tests)
