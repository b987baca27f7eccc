/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent as the explorer and the commands use it. */
#include "tests/unit/unit.h"

#include "agent/agent.h"
#include "samples/samples.h"

#include <math.h>
#include <pthread.h>

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

static ag_agent *agent_of(const tg_rules *rules, const char *checkpoint, uint64_t episodes)
{
    ag_options o = {.shape = small, .checkpoint = checkpoint, .most_episodes = episodes};
    ag_agent *agent;
    assert_ok(ag_agent_new(rules, &o, &agent));
    return agent;
}

static void wait_for_version(ag_agent *agent, uint64_t version)
{
    ag_stats s;
    for (int i = 0; i < 6000; i++) {
        ag_agent_stats(agent, &s);
        if (s.version >= version) return;
        ag_agent_wait(agent, 0.01);
    }
    fail_msg("no version %d", (int)version);
}

static void scores_are_probabilities(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    tg_graph *g = sample("squeezenet");
    tg_candidates *c;
    ag_agent *agent = agent_of(rules, NULL, 0);
    ag_policy *policy = ag_agent_policy(agent);
    ag_scores all, less;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    double first = tg_graph_cost_ms(g), sum = 0;
    assert_ok(ag_agent_score(agent, policy, c, first, 0, NULL, 0, &all));
    assert_int_equal(all.n, tg_candidates_count(c));
    for (int i = 0; i <= all.n; i++) {
        sum += all.p[i];
        assert_true(all.p[i] > 0 && all.p[i] <= all.p[all.best]);
    }
    assert_true(fabs(sum - 1) < 1e-4);
    assert_true(all.entropy > 0 && all.entropy <= log(all.n + 1) + 1e-6);
    uint64_t veto = tg_candidates_get(c, all.best)->site->key;
    assert_ok(ag_agent_score(agent, policy, c, first, 0, &veto, 1, &less));
    assert_true(less.p[all.best] == 0);
    assert_int_not_equal(less.best, all.best);
    for (int i = 0; i <= all.n; i++) assert_true(less.logit[i] == all.logit[i]);
    ag_scores_done(&all);
    ag_scores_done(&less);
    ag_policy_unref(policy);
    ag_agent_free(agent);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

/* A graph without candidates: nothing but STOP, and training waits instead of spinning. */
static void nothing_to_do_is_fine(void **state)
{
    (void)state;
    tg_rules *rules = load_rules(), *none;
    tg_graph *g = sample("branches");
    const char *rule = "rule only\nabout x\ngiven x\nfrom y = Identity(x)\nto y = x\n";
    assert_ok(tg_rules_parse(rule, "test", &none));
    tg_candidates *c;
    assert_ok(tg_candidates_find(none, g, NULL, &c));
    assert_int_equal(tg_candidates_count(c), 0);
    ag_agent *agent = agent_of(none, NULL, 0);
    ag_policy *policy = ag_agent_policy(agent);
    ag_scores scores;
    assert_ok(ag_agent_score(agent, policy, c, 1, 0, NULL, 0, &scores));
    assert_int_equal(scores.best, 0);
    assert_true(fabs(scores.p[0] - 1) < 1e-6 && scores.entropy < 1e-6);
    ag_scores_done(&scores);
    ag_agent_follow(agent, g, NULL, 0, NULL, 0);
    assert_ok(ag_agent_start(agent));
    ag_stats s = {0};
    while (!s.episodes) {
        ag_agent_wait(agent, 0.01);
        ag_agent_stats(agent, &s);
    }
    usleep(50000);
    ag_agent_stats(agent, &s);
    assert_true(s.episodes <= 16 && s.version == 0);
    tg_trail *trail;
    assert_ok(ag_agent_best(agent, &trail));
    assert_int_equal(trail->depth, 0);
    tg_trail_unref(trail);
    ag_agent_free(agent);
    ag_options o = {.shape = small, .most_episodes = 20};
    assert_ok(ag_optimize(none, g, &o, NULL, NULL, NULL, &trail));
    assert_int_equal(trail->depth, 0);
    tg_trail_unref(trail);
    ag_policy_unref(policy);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(none);
    tg_rules_unref(rules);
}

static bool not_algebra(void *ctx, const tg_rule_info *info)
{
    (void)ctx;
    return strcmp(info->family, "algebra") != 0;
}

/* A policy of a build with fewer rules goes on in one with more, and scores what it knew alike. */
static void checkpoints_load_with_more_rules(void **state)
{
    (void)state;
    const char *path = unit_temporary("agent.rgc");
    tg_rules *all = load_rules(), *some = tg_rules_select(all, not_algebra, NULL);
    assert_true(tg_rules_count(some) < tg_rules_count(all));
    tg_graph *g = sample("branches");
    tg_candidates *c;
    ag_scores before, after;
    assert_ok(tg_candidates_find(some, g, NULL, &c));
    ag_agent *agent = agent_of(some, path, 24);
    ag_agent_follow(agent, g, NULL, 0, NULL, 0);
    assert_ok(ag_agent_start(agent));
    while (!ag_agent_wait(agent, 1)) continue;
    ag_policy *policy = ag_agent_policy(agent);
    assert_int_equal(policy->version, 3);
    assert_ok(ag_agent_score(agent, policy, c, 0.05, 0, NULL, 0, &before));
    ag_policy_unref(policy);
    ag_agent_free(agent);

    agent = agent_of(all, path, 8);
    policy = ag_agent_policy(agent);
    assert_int_equal(policy->version, 3);
    assert_ok(ag_agent_score(agent, policy, c, 0.05, 0, NULL, 0, &after));
    assert_int_equal(after.n, before.n);
    for (int i = 0; i <= after.n; i++) assert_true(fabsf(after.logit[i] - before.logit[i]) < 1e-5f);
    ag_policy_unref(policy);
    ag_agent_follow(agent, g, NULL, 0, NULL, 0);
    assert_ok(ag_agent_start(agent));
    while (!ag_agent_wait(agent, 1)) continue;
    ag_stats s;
    ag_agent_stats(agent, &s);
    assert_int_equal(s.version, 4);
    assert_int_equal(s.episodes, 32);
    assert_int_equal(s.run_episodes, 8);
    ag_agent_free(agent);
    ag_scores_done(&before);
    ag_scores_done(&after);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(some);
    tg_rules_unref(all);
}

/* A policy that optimizing starts from is never written, and a wrong path is said. */
static void optimizing_only_reads_its_policy(void **state)
{
    (void)state;
    const char *path = unit_temporary("policy.rgc");
    tg_rules *rules = load_rules();
    tg_graph *g = sample("conv-bn");
    tg_trail *best;
    ag_options o = {.shape = small, .checkpoint = path, .most_episodes = 8};
    assert_status(ag_optimize(rules, g, &o, NULL, NULL, NULL, &best), TG_IO);
    assert_contains(tg_message(), "policy.rgc");
    ag_agent *agent = agent_of(rules, NULL, 0);
    assert_ok(ag_agent_save(agent, path));
    ag_agent_free(agent);
    assert_ok(ag_optimize(rules, g, &o, NULL, NULL, NULL, &best));
    assert_true(best->cost_ms < tg_graph_cost_ms(g));
    tg_trail_unref(best);
    ag_checkpoint c;
    ag_view *view = ag_view_new(rules);
    assert_ok(ag_checkpoint_load(path, ag_view_spec(view), &c));
    assert_int_equal(c.policy->version, 0);
    ag_checkpoint_done(&c);
    ag_view_unref(view);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

/* A person steps, vetoes, overrides and takes back while training goes on. */
static void a_person_works_while_it_trains(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    tg_graph *g = sample("branches"), *next;
    tg_candidates *c;
    ag_scores scores;
    ag_stats s;
    ag_agent *agent = agent_of(rules, NULL, 0);
    double first = tg_graph_cost_ms(g);
    assert_ok(ag_agent_start(agent));
    ag_agent_follow(agent, g, NULL, first, NULL, 0);
    wait_for_version(agent, 1);
    ag_policy *pinned = ag_agent_policy(agent);
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    assert_ok(ag_agent_score(agent, pinned, c, first, 0, NULL, 0, &scores));
    int choice = scores.best ? 0 : 1;
    size_t number = ag_agent_override(agent, &scores, choice);
    assert_ok(tg_candidates_apply(c, choice, &next));
    ag_agent_override_return(agent, number, 100);
    uint64_t veto = tg_candidates_get(c, scores.best ? scores.best - 1 : 0)->site->key;
    ag_agent_follow(agent, next, NULL, first, &veto, 1);
    ag_agent_stats(agent, &s);
    wait_for_version(agent, s.version + 2);
    ag_agent_stats(agent, &s);
    assert_int_equal(s.phase, AG_TRAINING);
    assert_int_equal(s.demos, 1);
    assert_true(fabs(s.first_ms - tg_graph_cost_ms(next)) < 1e-9);
    assert_true(s.report.demos == 1 && s.report.demo_loss > 0);
    ag_agent_override_retract(agent, number, true);
    ag_agent_stats(agent, &s);
    assert_int_equal(s.demos, 0);
    ag_agent_pause(agent, true);
    ag_agent_stats(agent, &s);
    assert_int_equal(s.phase, AG_PAUSED);
    ag_agent_follow(agent, g, NULL, first, NULL, 0); /* undone while paused */
    ag_agent_resume(agent);
    wait_for_version(agent, s.version + 2);
    tg_trail *trail;
    assert_ok(ag_agent_best(agent, &trail));
    assert_true(trail->cost_ms <= first);
    assert_true(tg_trail_at(trail, 0)->graph->hash == g->hash);
    tg_trail_unref(trail);
    ag_policy_unref(pinned);
    ag_scores_done(&scores);
    ag_agent_free(agent);
    tg_candidates_free(c);
    tg_graph_unref(next);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static void *cancel_soon(void *job)
{
    usleep(300000);
    tg_job_cancel(job);
    return NULL;
}

/* Being cancelled gives the best so far. */
static void optimizing_can_be_cancelled(void **state)
{
    (void)state;
    tg_rules *rules = load_rules();
    tg_graph *g = sample("squeezenet");
    tg_job *job = tg_job_new();
    pthread_t thread;
    tg_trail *best;
    ag_options o = {.most_episodes = 1000000};
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, job), 0);
    assert_ok(ag_optimize(rules, g, &o, NULL, NULL, job, &best));
    pthread_join(thread, NULL);
    assert_true(best->cost_ms <= tg_graph_cost_ms(g));
    tg_trail_unref(best);
    tg_job_unref(job);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(scores_are_probabilities),
    cmocka_unit_test(nothing_to_do_is_fine),
    cmocka_unit_test(checkpoints_load_with_more_rules),
    cmocka_unit_test(optimizing_only_reads_its_policy),
    cmocka_unit_test(a_person_works_while_it_trains),
    cmocka_unit_test(optimizing_can_be_cancelled),
};

UNIT_MAIN(tests)
