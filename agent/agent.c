/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent.h"

#include <math.h>
#include <unistd.h>

struct ag_agent {
    ag_options options;
    char *checkpoint;
    tg_rules *rules;
    ag_view *view;
    ag_demos *demos;
    ag_trainer *trainer;
};

static ag_trainer_config config_of(const ag_options *o)
{
    ag_trainer_config config = AG_TRAINER_DEFAULT;
    if (o->threads > 0) config.threads = o->threads;
    if (o->seed) config.seed = o->seed;
    if (o->horizon > 0) config.rollout.horizon = o->horizon;
    if (o->backend && !o->backend->exact) config.rollout.measure_every = 5;
    config.most_episodes = o->most_episodes;
    config.nice = o->foreground ? 0 : 10;
    config.checkpoint = o->read_only ? NULL : o->checkpoint;
    config.events = o->events;
    return config;
}

static tg_status load(ag_agent *agent, ag_checkpoint *c)
{
    TG_TRY(ag_checkpoint_load(agent->checkpoint, ag_view_spec(agent->view), c));
    if (c->rules_new || c->rules_ignored)
        tg_log(TG_LOG_NOTE, "%s: %d rules are new to it, %d are not known here", agent->checkpoint,
               c->rules_new, c->rules_ignored);
    return TG_OK;
}

/* A new policy that leans towards what the cost model likes. */
static tg_status begin(ag_agent *agent, ag_checkpoint *c)
{
    const ag_options *o = &agent->options;
    ag_shape shape = o->shape.hidden ? o->shape : AG_SHAPE_DEFAULT;
    ag_net *net;
    TG_TRY(ag_net_new(ag_view_spec(agent->view), shape, &net));
    tg_rng *rng = tg_rng_new(o->seed ? o->seed : 43);
    *c = (ag_checkpoint){.policy = ag_policy_new(net, rng)};
    ag_view_lean(net, c->policy->value);
    tg_rng_free(rng);
    ag_net_unref(net);
    return TG_OK;
}

tg_status ag_agent_new(const tg_rules *rules, const ag_options *options, ag_agent **out)
{
    ag_agent *agent = tg_calloc(1, sizeof *agent);
    ag_checkpoint c = {0};
    agent->options = *options;
    agent->checkpoint = options->checkpoint ? tg_strdup(options->checkpoint) : NULL;
    agent->options.checkpoint = agent->checkpoint;
    agent->rules = tg_rules_ref(rules);
    agent->view = ag_view_new(rules);
    agent->demos = ag_demos_new();
    ag_demos_set_mode(agent->demos, options->demos);
    bool there = agent->checkpoint && (options->read_only || access(agent->checkpoint, F_OK) == 0);
    tg_status status = there ? load(agent, &c) : begin(agent, &c);
    if (status == TG_OK) {
        ag_trainer_config config = config_of(&agent->options);
        agent->trainer = ag_trainer_new(&c, agent->demos, &config);
        *out = agent;
    } else {
        ag_agent_free(agent);
    }
    ag_checkpoint_done(&c);
    return status;
}

void ag_agent_free(ag_agent *agent)
{
    if (!agent) return;
    ag_trainer_free(agent->trainer);
    ag_demos_free(agent->demos);
    ag_view_unref(agent->view);
    tg_rules_unref(agent->rules);
    free(agent->checkpoint);
    free(agent);
}

tg_status ag_agent_start(ag_agent *agent)
{
    return ag_trainer_start(agent->trainer);
}

void ag_agent_follow(ag_agent *agent, const tg_graph *graph, const tg_rules *rules, double first_ms,
                     const uint64_t *vetoed, int n_vetoed)
{
    ag_rewriting_options options = {.first_ms = first_ms,
                                    .backend = agent->options.backend,
                                    .vetoed = vetoed,
                                    .n_vetoed = n_vetoed};
    ag_source *source =
        ag_rewriting_source(agent->view, rules ? rules : agent->rules, graph, &options);
    ag_trainer_follow(agent->trainer, source);
    ag_source_unref(source);
}

void ag_agent_pause(ag_agent *agent, bool wait)
{
    ag_trainer_pause(agent->trainer, wait);
}

void ag_agent_resume(ag_agent *agent)
{
    ag_trainer_resume(agent->trainer);
}

bool ag_agent_wait(ag_agent *agent, double seconds)
{
    return ag_trainer_wait(agent->trainer, seconds);
}

void ag_agent_stats(ag_agent *agent, ag_stats *stats)
{
    ag_trainer_stats(agent->trainer, stats);
}

size_t ag_agent_points(ag_agent *agent, size_t from, size_t most, ag_point *points)
{
    return ag_trainer_points(agent->trainer, from, most, points);
}

tg_status ag_agent_best(ag_agent *agent, tg_trail **trail)
{
    ag_best best;
    if (!ag_trainer_best(agent->trainer, &best))
        return tg_fail(TG_NOTFOUND, "no episode has ended yet");
    tg_status status = ag_rewriting_trail(best.source, best.actions, best.n, trail);
    free(best.actions);
    ag_source_unref(best.source);
    return status;
}

ag_policy *ag_agent_policy(ag_agent *agent)
{
    return ag_trainer_policy(agent->trainer);
}

tg_status ag_agent_save(ag_agent *agent, const char *path)
{
    return ag_trainer_save(agent->trainer, path);
}

/* ---- scoring -----------------------------------------------------------------------------------
 */

static void mask(ag_state *state, const uint64_t *vetoed, int n)
{
    for (int i = 0; i < state->n_candidates; i++) {
        for (int k = 0; k < n; k++) {
            if (state->candidates[i].key == vetoed[k]) state->candidates[i].allowed = false;
        }
    }
}

tg_status ag_agent_score(ag_agent *agent, const ag_policy *policy, const tg_candidates *candidates,
                         double first_ms, int steps, const uint64_t *vetoed, int n_vetoed,
                         ag_scores *out)
{
    ag_scores s = {.version = policy->version};
    ag_work work = {0};
    TG_TRY(ag_view_state(agent->view, candidates, first_ms, steps, &s.state));
    mask(s.state, vetoed, n_vetoed);
    ag_policy_forward(policy->net, policy->value, s.state, &work);
    s.n = s.state->n_candidates;
    s.logit = tg_memdup(work.logits, sizeof(float) * (size_t)(s.n + 1));
    s.p = tg_malloc(sizeof(float) * (size_t)(s.n + 1));
    s.entropy = ag_choice_log_p(s.state, work.logits, s.p);
    s.best = ag_choice_best(s.p, s.n + 1);
    for (int i = 0; i <= s.n; i++) s.p[i] = expf(s.p[i]);
    s.value = (double)work.value / AG_PPO_DEFAULT.reward_scale;
    ag_work_done(&work);
    *out = s;
    return TG_OK;
}

void ag_scores_done(ag_scores *scores)
{
    free(scores->p);
    free(scores->logit);
    ag_state_unref(scores->state);
    *scores = (ag_scores){0};
}

/* ---- demonstrations ----------------------------------------------------------------------------
 */

size_t ag_agent_override(ag_agent *agent, const ag_scores *scores, int choice)
{
    return ag_demos_add(agent->demos, scores->state, choice);
}

void ag_agent_override_return(ag_agent *agent, size_t number, double percent)
{
    ag_demos_set_return(agent->demos, number, percent);
}

void ag_agent_override_retract(ag_agent *agent, size_t number, bool retracted)
{
    ag_demos_retract(agent->demos, number, retracted);
}

void ag_agent_set_demos(ag_agent *agent, ag_demo_mode mode)
{
    ag_demos_set_mode(agent->demos, mode);
}

/* ---- one graph from start to end ---------------------------------------------------------------
 */

static tg_status train(ag_agent *agent, ag_progress_fn progress, void *ctx, const tg_job *job)
{
    ag_stats stats;
    TG_TRY(ag_agent_start(agent));
    for (bool over = false; !over;) {
        over = ag_agent_wait(agent, 0.02);
        ag_agent_stats(agent, &stats);
        if (progress && !progress(ctx, &stats)) break;
        if (tg_job_cancelled(job)) break;
    }
    ag_agent_stats(agent, &stats);
    if (stats.phase == AG_FAILED && !stats.episodes)
        return tg_fail(TG_INVALID, "training: %s", stats.message);
    return TG_OK;
}

tg_status ag_optimize(const tg_rules *rules, const tg_graph *graph, const ag_options *options,
                      ag_progress_fn progress, void *ctx, const tg_job *job, tg_trail **best)
{
    ag_options o = *options;
    ag_agent *agent;
    if (!o.most_episodes) o.most_episodes = 300;
    o.foreground = o.read_only = true;
    TG_TRY(ag_agent_new(rules, &o, &agent));
    ag_agent_follow(agent, graph, NULL, 0, NULL, 0);
    tg_status status = train(agent, progress, ctx, job);
    ag_agent_pause(agent, false);
    if (status == TG_OK) status = ag_agent_best(agent, best);
    if (status == TG_NOTFOUND) {
        *best = tg_trail_root(graph);
        status = TG_OK;
    }
    ag_agent_free(agent);
    return status;
}
