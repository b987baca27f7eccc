/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * That training finds what is to be found: with the rules that are shipped, on the samples, with
 * the analytic cost. Under a sanitizer, or with REGRAFT_QUICK set, fewer seeds and episodes.
 */
#include "tests/unit/unit.h"

#include "agent/agent.h"
#include "samples/samples.h"

#include <math.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW true
#endif
#endif
#ifndef SLOW
#define SLOW false
#endif

enum { MOST_EPISODES = 300 };

static bool quick(void)
{
    return SLOW || getenv("REGRAFT_QUICK");
}

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

static double searched(const char *by, const tg_rules *rules, const tg_graph *g, bool *exhausted)
{
    tg_search_options o = {.seed = 1, .budget = strcmp(by, "exhaustive") == 0 ? 5000 : 0};
    tg_search_report report;
    tg_trail *best;
    assert_ok(tg_search_run(tg_search_find(by), rules, g, &o, &report, &best));
    double ms = best->cost_ms;
    *exhausted = report.exhausted;
    tg_trail_unref(best);
    return ms;
}

/* Episodes, in whole batches, until PPO has seen a graph as cheap as `optimum`; -1: it has not. */
static int episodes_to(double optimum, const tg_rules *rules, const tg_graph *g, uint64_t seed)
{
    ag_options o = {.seed = seed, .most_episodes = MOST_EPISODES, .foreground = true};
    ag_agent *agent;
    ag_stats s;
    bool over = false, reached = false;
    assert_ok(ag_agent_new(rules, &o, &agent));
    ag_agent_follow(agent, g, NULL, 0, NULL, 0);
    assert_ok(ag_agent_start(agent));
    while (!over && !reached) {
        over = ag_agent_wait(agent, 0.002);
        ag_agent_stats(agent, &s);
        reached = s.best_ms > 0 && s.best_ms <= optimum * (1 + 1e-6);
    }
    ag_agent_free(agent);
    int batch = AG_TRAINER_DEFAULT.episodes;
    return reached ? (int)s.episodes + batch : -1;
}

static void optima_are_reached_on_every_seed(void **state)
{
    (void)state;
    static const char *const names[] = {"branches", "conv-bn", "attention", "taso-bertx1"};
    tg_rules *rules = load_rules();
    int beyond_greedy = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tg_graph *g = sample(names[i]);
        bool exhausted;
        double first = tg_graph_cost_ms(g), greedy = searched("greedy", rules, g, &exhausted);
        double optimum = searched("exhaustive", rules, g, &exhausted);
        if (!exhausted) fail_msg("%s: too many graphs to know the optimum", names[i]);
        beyond_greedy += optimum < greedy * (1 - 1e-3);
        print_message("%s: optimum %.2f %%, greedy %.2f %%, episodes to it", names[i],
                      100 * (1 - optimum / first), 100 * (1 - greedy / first));
        for (uint64_t seed = 1; seed <= (quick() ? 1 : 5); seed++) {
            int episodes = episodes_to(optimum, rules, g, seed);
            print_message(" %d", episodes);
            assert_true(episodes >= 0);
        }
        print_message("\n");
        tg_graph_unref(g);
    }
    assert_true(beyond_greedy > 0); /* at least one needs more than the best next step */
    tg_rules_unref(rules);
}

/* Mean and best of the gains at the end of `n` episodes of uniform choice, per cent. */
static void random_episodes(const tg_rules *rules, const tg_graph *g, int n, double *mean,
                            double *best)
{
    const ag_rewriting_options none = {0};
    const ag_rollout_config config = AG_ROLLOUT_DEFAULT;
    ag_view *view = ag_view_new(rules);
    ag_source *source = ag_rewriting_source(view, rules, g, &none);
    ag_env env;
    ag_episode e = {0};
    ag_work work = {0};
    tg_rng *rng = tg_rng_new(1);
    assert_ok(source->class->open(source->self, &env));
    *mean = *best = 0;
    for (int i = 0; i < n; i++) {
        assert_ok(ag_rollout(NULL, env, &config, rng, &work, NULL, &e));
        *mean += 100 * (e.first_ms - e.last_ms) / e.first_ms / n;
        *best = fmax(*best, 100 * (e.first_ms - e.best_ms) / e.first_ms);
    }
    env.class->free(env.self);
    ag_work_done(&work);
    ag_episode_done(&e);
    tg_rng_free(rng);
    ag_source_unref(source);
    ag_view_unref(view);
}

static bool keep_last(void *ctx, const ag_stats *stats)
{
    *(ag_stats *)ctx = *stats;
    return true;
}

static void squeezenet_beats_random_choice(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    tg_graph *g = sample("squeezenet");
    int episodes = quick() ? 16 : 64;
    double mean, best, first = tg_graph_cost_ms(g);
    ag_options o = {.seed = 1, .most_episodes = (uint64_t)episodes};
    ag_stats last = {0};
    tg_trail *trail;
    random_episodes(rules, g, episodes, &mean, &best);
    assert_ok(ag_optimize(rules, g, &o, keep_last, &last, NULL, &trail));
    double gain = 100 * (first - trail->cost_ms) / first;
    print_message("%d episodes: PPO mean %.2f %% (last batch), best %.2f %% in %d steps; "
                  "random mean %.2f %%, best %.2f %%\n",
                  episodes, last.mean_reward, gain, trail->depth, mean, best);
    assert_int_equal(last.episodes, episodes);
    assert_true(last.mean_reward > mean + 15);
    assert_true(gain > best + 10);
    tg_trail_unref(trail);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

/* The same seed trains the same policy, with one thread or two. */
static void training_repeats(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    tg_graph *g = sample("branches");
    ag_policy *policy[3];
    for (int i = 0; i < 3; i++) {
        ag_options o = {.seed = 9, .most_episodes = 16, .threads = i == 2 ? 2 : 1};
        ag_agent *agent;
        assert_ok(ag_agent_new(rules, &o, &agent));
        ag_agent_follow(agent, g, NULL, 0, NULL, 0);
        assert_ok(ag_agent_start(agent));
        while (!ag_agent_wait(agent, 1)) continue;
        policy[i] = ag_agent_policy(agent);
        ag_agent_free(agent);
    }
    size_t size = policy[0]->net->layout.n * sizeof(ag_real);
    assert_int_equal(policy[0]->version, 2);
    assert_memory_equal(policy[0]->value, policy[1]->value, size);
    assert_memory_equal(policy[0]->value, policy[2]->value, size);
    for (int i = 0; i < 3; i++) ag_policy_unref(policy[i]);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optima_are_reached_on_every_seed),
    cmocka_unit_test(squeezenet_beats_random_choice),
    cmocka_unit_test(training_repeats),
};

UNIT_MAIN(tests)
