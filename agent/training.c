/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training.h"

#include "engine/base/clock.h"
#include "engine/base/lock.h"
#include "engine/base/log.h"

#include <math.h>

/* Whether episode `number` is better than the best: cheaper, else shorter, else earlier. */
static bool better(const ag_best *b, const ag_episode *e, uint64_t best, uint64_t number)
{
    if (e->best_ms != b->best_ms) return e->best_ms < b->best_ms;
    return e->best_steps != b->n ? e->best_steps < b->n : number < best;
}

/* Remembers the way to a new best state. The lock is held. */
static void note_best(ag_trainer *t, const ag_episode *e, uint64_t number)
{
    ag_best *b = &t->best;
    bool same = b->source == t->source;
    if (same && !better(b, e, t->best_episode, number)) return;
    free(b->actions);
    if (!same) {
        ag_source_unref(b->source);
        b->source = ag_source_ref(t->source);
    }
    t->best_episode = number;
    b->n = e->best_steps;
    b->actions = tg_calloc((size_t)b->n + 1, sizeof *b->actions);
    for (int i = 0; i < b->n; i++) b->actions[i] = e->steps.v[i].action;
    t->stats.first_ms = b->first_ms = e->first_ms;
    t->stats.best_ms = b->best_ms = e->best_ms;
    t->stats.best_percent = 100 * (b->first_ms - b->best_ms) / b->first_ms;
}

/* An episode from a start state that was replaced since says nothing of the new one. */
void training_note_episode(ag_trainer *t, int i)
{
    tg_lock(&t->lock);
    if (t->origin[i] == atomic_load(&t->source_number))
        note_best(t, &t->episodes[i], t->stats.episodes + (uint64_t)i);
    tg_unlock(&t->lock);
}

void training_note_novelty(ag_trainer *t)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < t->batch; i++) {
        ag_episode *e = &t->episodes[i];
        for (size_t k = 0; k + 1 < e->steps.n; k++, n++) {
            ag_step *s = &e->steps.v[k];
            uint64_t *count = tg_map_put(&t->seen, s[1].state->key, NULL);
            s->bonus = (float)(t->config.novelty / sqrt((double)++*count));
            sum += s->bonus;
        }
    }
    for (int i = 0; n && i < t->batch; i++) {
        ag_episode *e = &t->episodes[i];
        for (size_t k = 0; k + 1 < e->steps.n; k++) e->steps.v[k].bonus -= (float)(sum / n);
    }
}

void training_note_batch(ag_trainer *t)
{
    tg_lock(&t->lock);
    ag_stats *s = &t->stats;
    int n = t->batch;
    double reward = 0, steps = 0;
    for (int i = 0; i < n; i++) {
        const ag_episode *e = &t->episodes[i];
        reward += e->total;
        steps += (double)e->steps.n;
    }
    s->episodes += (uint64_t)n;
    s->run_episodes += (uint64_t)n;
    s->steps += (uint64_t)steps;
    s->mean_reward = reward / n;
    s->mean_steps = steps / n;
    tg_unlock(&t->lock);
}

static void note_rate(ag_stats *s, double rate)
{
    s->episodes_per_minute =
        s->episodes_per_minute > 0 ? 0.7 * s->episodes_per_minute + 0.3 * rate : rate;
}

static double seconds_since(const ag_trainer *t)
{
    return (double)(tg_clock_ns() - t->started_ns) * 1e-9;
}

void training_publish(ag_trainer *t, const ag_ppo_report *report, double minutes)
{
    size_t n = t->net->layout.n;
    ag_policy *fresh = ag_policy_copy(t->net, t->ppo.value, t->policy->version + 1), *old;
    tg_lock(&t->lock);
    old = t->policy;
    t->policy = fresh;
    memcpy(t->first, t->ppo.adam.m, n * sizeof(ag_real));
    memcpy(t->second, t->ppo.adam.v, n * sizeof(ag_real));
    t->adam_steps = t->ppo.adam.steps;
    ag_stats *s = &t->stats;
    s->version = fresh->version;
    s->report = *report;
    if (minutes > 0) note_rate(s, t->batch / minutes);
    ag_point point = {.version = fresh->version,
                      .episodes = s->episodes,
                      .seconds = seconds_since(t),
                      .mean_reward = s->mean_reward,
                      .best_percent = s->best_percent,
                      .entropy = report->entropy,
                      .kl = report->kl,
                      .value_loss = report->value_loss,
                      .explained_variance = report->explained_variance};
    tg_vec_push(&t->points, point);
    tg_unlock(&t->lock);
    ag_policy_unref(old);
}

void training_write_events(ag_trainer *t)
{
    static const char *const names[] = {"reward/mean_percent",
                                        "reward/best_percent",
                                        "episode/steps",
                                        "episode/per_minute",
                                        "loss/policy",
                                        "loss/value",
                                        "loss/demonstrations",
                                        "policy/entropy_nats",
                                        "policy/kl",
                                        "policy/clipped_share",
                                        "value/explained_variance",
                                        "optimiser/gradient_norm"};
    if (!t->events) return;
    ag_stats now, *s = &now;
    ag_trainer_stats(t, s);
    const ag_ppo_report *r = &s->report;
    double values[] = {
        s->mean_reward, s->best_percent, s->mean_steps,         s->episodes_per_minute,
        r->policy_loss, r->value_loss,   r->demo_loss,          r->entropy,
        r->kl,          r->clip_share,   r->explained_variance, r->grad_norm};
    tg_status status = ag_events_write(t->events, t->start_seconds + seconds_since(t),
                                       (int64_t)s->episodes, 12, names, values);
    if (status == TG_OK) return;
    tg_log(TG_LOG_WARN, "training curves are no longer written: %s", tg_message());
    ag_events_close(t->events);
    t->events = NULL;
}

void training_save(ag_trainer *t)
{
    if (t->config.checkpoint && ag_trainer_save(t, t->config.checkpoint) != TG_OK)
        tg_log(TG_LOG_WARN, "the policy is not saved: %s", tg_message());
}

/* ---- what others see ---------------------------------------------------------------------------
 */

void ag_trainer_stats(ag_trainer *t, ag_stats *stats)
{
    int demos = t->demos ? ag_demos_in_use(t->demos) : 0;
    tg_lock(&t->lock);
    *stats = t->stats;
    tg_unlock(&t->lock);
    stats->demos = demos;
}

size_t ag_trainer_points(ag_trainer *t, size_t from, size_t most, ag_point *points)
{
    size_t n = 0;
    tg_lock(&t->lock);
    if (from < t->points.n) n = t->points.n - from < most ? t->points.n - from : most;
    if (n) memcpy(points, t->points.v + from, n * sizeof *points);
    tg_unlock(&t->lock);
    return n;
}

ag_policy *ag_trainer_policy(ag_trainer *t)
{
    tg_lock(&t->lock);
    ag_policy *policy = ag_policy_ref(t->policy);
    tg_unlock(&t->lock);
    return policy;
}

bool ag_trainer_best(ag_trainer *t, ag_best *best)
{
    tg_lock(&t->lock);
    bool known = t->best.source && t->best.source == t->source;
    if (known) {
        *best = t->best;
        best->actions = tg_memdup(t->best.actions, sizeof(int) * ((size_t)t->best.n + 1));
        ag_source_ref(best->source);
    }
    tg_unlock(&t->lock);
    return known;
}

tg_status ag_trainer_save(ag_trainer *t, const char *path)
{
    size_t size = t->net->layout.n * sizeof(ag_real);
    tg_lock(&t->lock);
    ag_checkpoint c = {.policy = ag_policy_ref(t->policy),
                       .first = tg_memdup(t->first, size),
                       .second = tg_memdup(t->second, size),
                       .adam_steps = t->adam_steps,
                       .episodes = t->stats.episodes,
                       .seed = t->config.seed};
    tg_unlock(&t->lock);
    tg_status status = ag_checkpoint_save(&c, path);
    ag_checkpoint_done(&c);
    return status;
}
