/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trainer.h"

#include "engine/base/lock.h"

#include "engine/engine.h"
#include "training.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

const char *ag_phase_name(ag_phase phase)
{
    static const char *const names[] = {"idle", "training", "paused", "diverged", "failed", "done"};
    return names[phase];
}

/* ---- waiting -----------------------------------------------------------------------------------
 */

static bool measured_now(const ag_trainer *t)
{
    return tg_measure_turn_held() && !atomic_load(&t->stop);
}

/* Waits while training is paused or somebody measures. The lock is held. */
static void rest(ag_trainer *t)
{
    while (atomic_load(&t->paused) && !atomic_load(&t->stop)) pthread_cond_wait(&t->wake, &t->lock);
    if (!measured_now(t)) return;
    tg_unlock(&t->lock);
    tg_measure_turn_wait(NULL, 20);
    tg_lock(&t->lock);
}

static bool must_rest(const ag_trainer *t)
{
    return atomic_load_explicit(&t->paused, memory_order_relaxed) || measured_now(t);
}

/* The place between two steps; `busy` says whether the caller counts among the busy. */
static tg_status wait_here(ag_trainer *t, bool busy)
{
    if (must_rest(t)) {
        tg_lock(&t->lock);
        t->busy -= busy;
        pthread_cond_broadcast(&t->rest);
        while (must_rest(t) && !atomic_load(&t->stop)) rest(t);
        t->busy += busy;
        tg_unlock(&t->lock);
    }
    if (atomic_load_explicit(&t->stop, memory_order_relaxed))
        return tg_fail(TG_CANCELLED, "training stopped");
    return TG_OK;
}

static tg_status gate_step(void *ctx)
{
    worker *w = ctx;
    TG_TRY(wait_here(w->trainer, true));
    if (atomic_load_explicit(&w->trainer->source_number, memory_order_relaxed) != w->source_number)
        return tg_fail(TG_CANCELLED, "the start state was replaced");
    return TG_OK;
}

static tg_status gate_learn(void *ctx)
{
    return wait_here(ctx, true);
}

static void enter(void *ctx)
{
    ag_trainer *t = ctx;
    tg_lock(&t->lock);
    t->busy++;
    tg_unlock(&t->lock);
}

static void leave(void *ctx)
{
    ag_trainer *t = ctx;
    tg_lock(&t->lock);
    t->busy--;
    pthread_cond_broadcast(&t->rest);
    tg_unlock(&t->lock);
}

/* ---- episodes ----------------------------------------------------------------------------------
 */

static void close_env(worker *w)
{
    if (w->env.class) w->env.class->free(w->env.self);
    w->env.class = NULL;
    w->source_number = 0;
    ag_source_unref(w->source);
    w->source = NULL;
}

/* Opens the environment of the present start state, if the worker's is of an older one. */
static tg_status renew(worker *w)
{
    ag_trainer *t = w->trainer;
    tg_lock(&t->lock);
    uint64_t number = atomic_load(&t->source_number);
    ag_source *source = number != w->source_number ? ag_source_ref(t->source) : NULL;
    tg_unlock(&t->lock);
    if (!source) return TG_OK;
    close_env(w);
    tg_status status = source->class->open(source->self, &w->env);
    if (status == TG_OK) {
        w->source = source;
        w->source_number = number;
    } else {
        w->env.class = NULL;
        ag_source_unref(source);
    }
    return status;
}

static void mask_step(void *ctx, ag_state *state)
{
    worker *w = ctx;
    if (w->trainer->demos) ag_demos_mask(w->trainer->demos, state);
}

static tg_status run_episode(worker *w, int i)
{
    ag_trainer *t = w->trainer;
    const ag_hooks hooks = {.gate = gate_step, .mask = mask_step, .ctx = w};
    for (;;) {
        TG_TRY(renew(w));
        tg_rng *rng = tg_rng_split(t->rng, t->stats.episodes + (uint64_t)i);
        tg_status status = ag_rollout(t->acting, w->env, &t->config.rollout, rng, &w->work, &hooks,
                                      &t->episodes[i]);
        tg_rng_free(rng);
        t->origin[i] = w->source_number;
        bool replaced = status == TG_CANCELLED && !atomic_load(&t->stop);
        if (!replaced) return status;
    }
}

/* Gives way to other threads: a priority belongs to a thread on Linux only. */
static void ease(worker *w)
{
#ifdef __linux__
    if (!w->eased && w->trainer->config.nice)
        (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + w->trainer->config.nice);
#endif
    w->eased = true;
}

static void episode_part(void *ctx, int part, int index)
{
    ag_trainer *t = ctx;
    ease(&t->workers[index]);
    enter(t);
    t->status[part] = run_episode(&t->workers[index], part);
    if (t->status[part] == TG_OK) training_note_episode(t, part);
    else snprintf(t->message[part], sizeof t->message[part], "%s", tg_message());
    leave(t);
}

static tg_status run_batch(ag_trainer *t)
{
    ag_crew_run(t->crew, episode_part, t, t->batch);
    for (int i = 0; i < t->batch; i++) {
        if (t->status[i] != TG_OK) return tg_fail(t->status[i], "%s", t->message[i]);
    }
    return TG_OK;
}

/* ---- the training thread -----------------------------------------------------------------------
 */

/* Goes back to the last published policy. */
static void restore(ag_trainer *t)
{
    uint64_t updates = t->ppo.updates;
    ag_ppo_done(&t->ppo);
    ag_ppo_init(&t->ppo, t->policy, t->config.ppo, ag_crew_size(t->crew));
    t->ppo.updates = updates;
}

static void set_phase(ag_trainer *t, ag_phase phase, const char *message)
{
    tg_lock(&t->lock);
    t->stats.phase = phase;
    snprintf(t->stats.message, sizeof t->stats.message, "%s", message);
    if (phase == AG_DIVERGED || phase == AG_FAILED) atomic_store(&t->paused, true);
    pthread_cond_broadcast(&t->rest);
    tg_unlock(&t->lock);
}

/* Waits for a start state and until training is not paused. */
static tg_status ready(ag_trainer *t)
{
    TG_TRY(wait_here(t, false));
    tg_lock(&t->lock);
    while (!t->source && !atomic_load(&t->stop)) pthread_cond_wait(&t->wake, &t->lock);
    if (t->stats.phase == AG_IDLE) t->stats.phase = AG_TRAINING;
    tg_unlock(&t->lock);
    return wait_here(t, false);
}

/* The start state leaves no choice. */
static bool nothing_to_do(const ag_trainer *t)
{
    for (int i = 0; i < t->batch; i++) {
        if (t->episodes[i].steps.n) return false;
    }
    return true;
}

/* Waits for another start state than that of the batch. */
static void wait_for_change(ag_trainer *t)
{
    tg_lock(&t->lock);
    while (atomic_load(&t->source_number) == t->origin[0] && !atomic_load(&t->stop))
        pthread_cond_wait(&t->wake, &t->lock);
    tg_unlock(&t->lock);
}

static void one_update(ag_trainer *t)
{
    const ag_hooks hooks = {.gate = gate_learn, .begin = enter, .end = leave, .ctx = t};
    ag_ppo_report report;
    int64_t before = tg_clock_ns();
    uint64_t number = t->policy->version;
    t->acting = t->policy;
    tg_status status = run_batch(t);
    if (status != TG_OK) {
        if (status != TG_CANCELLED) set_phase(t, AG_FAILED, tg_message());
        return;
    }
    training_note_batch(t);
    if (t->config.novelty > 0) training_note_novelty(t);
    if (nothing_to_do(t)) {
        if (!t->config.most_episodes) wait_for_change(t);
        return;
    }
    tg_rng *rng = tg_rng_split(t->rng, ~number);
    status = ag_ppo_update(&t->ppo, t->episodes, t->batch, t->demos, rng, t->crew, &hooks, &report);
    tg_rng_free(rng);
    if (status == TG_INVALID) {
        restore(t);
        set_phase(t, AG_DIVERGED, tg_message());
    }
    if (status != TG_OK) return;
    training_publish(t, &report, (double)(tg_clock_ns() - before) / 60e9);
    training_write_events(t);
    if (t->policy->version % (uint64_t)t->config.save_every == 0) training_save(t);
}

/* Episodes of the next update: fewer at the end, so that the number asked for is met. */
static int next_batch(const ag_trainer *t)
{
    uint64_t most = t->config.most_episodes, run = t->stats.run_episodes;
    uint64_t batch = (uint64_t)t->config.episodes;
    if (!most) return (int)batch;
    uint64_t left = most > run ? most - run : 0;
    return (int)(left < batch ? left : batch);
}

static void *train_main(void *arg)
{
    ag_trainer *t = arg;
    while (ready(t) == TG_OK) {
        t->batch = next_batch(t);
        if (!t->batch) break;
        one_update(t);
    }
    if (t->stats.run_episodes) training_save(t);
    set_phase(t, AG_DONE, "");
    return NULL;
}

/* ---- the outside -------------------------------------------------------------------------------
 */

static char *copy_or_null(const char *s)
{
    return s ? tg_strdup(s) : NULL;
}

ag_trainer *ag_trainer_new(const ag_checkpoint *start, ag_demos *demos,
                           const ag_trainer_config *config)
{
    ag_trainer *t = tg_calloc(1, sizeof *t);
    size_t n = start->policy->net->layout.n;
    t->config = *config;
    t->config.checkpoint = copy_or_null(config->checkpoint);
    t->config.events = copy_or_null(config->events);
    if (t->config.episodes < 1) t->config.episodes = 1;
    if (t->config.save_every < 1) t->config.save_every = 1;
    t->net = ag_net_ref(start->policy->net);
    t->policy = ag_policy_ref(start->policy);
    t->demos = demos;
    t->rng = tg_rng_new(config->seed);
    t->stats.version = start->policy->version;
    t->stats.episodes = start->episodes;
    t->first = tg_calloc(n, sizeof(ag_real));
    t->second = tg_calloc(n, sizeof(ag_real));
    if (start->first && start->second) {
        memcpy(t->first, start->first, n * sizeof(ag_real));
        memcpy(t->second, start->second, n * sizeof(ag_real));
        t->adam_steps = start->adam_steps;
    }
    t->episodes = tg_calloc((size_t)t->config.episodes, sizeof *t->episodes);
    t->origin = tg_calloc((size_t)t->config.episodes, sizeof *t->origin);
    t->status = tg_calloc((size_t)t->config.episodes, sizeof *t->status);
    t->message = tg_calloc((size_t)t->config.episodes, sizeof *t->message);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->rest, NULL);
    return t;
}

tg_status ag_trainer_start(ag_trainer *t)
{
    size_t n = t->net->layout.n;
    if (t->started) return TG_OK;
    if (t->config.events) TG_TRY(ag_events_open(t->config.events, &t->events));
    t->crew = ag_crew_new(t->config.threads < 1 ? 1 : t->config.threads);
    int workers = ag_crew_size(t->crew);
    t->workers = tg_calloc((size_t)workers, sizeof *t->workers);
    for (int i = 0; i < workers; i++) t->workers[i].trainer = t;
    ag_ppo_init(&t->ppo, t->policy, t->config.ppo, workers);
    memcpy(t->ppo.adam.m, t->first, n * sizeof(ag_real));
    memcpy(t->ppo.adam.v, t->second, n * sizeof(ag_real));
    t->ppo.adam.steps = t->adam_steps;
    t->ppo.updates = t->policy->version;
    t->started_ns = tg_clock_ns();
    t->start_seconds = (double)time(NULL);
    if (pthread_create(&t->thread, NULL, train_main, t) != 0)
        return tg_fail(TG_LIMIT, "no thread for training");
    t->started = true;
    return TG_OK;
}

void ag_trainer_follow(ag_trainer *t, ag_source *source)
{
    ag_source_ref(source);
    tg_lock(&t->lock);
    ag_source *old = t->source;
    t->source = source;
    if (old != source) ag_source_cancel(old);
    t->stats.first_ms = t->stats.best_ms = t->stats.best_percent = 0;
    atomic_fetch_add(&t->source_number, 1);
    pthread_cond_broadcast(&t->wake);
    tg_unlock(&t->lock);
    ag_source_unref(old);
}

void ag_trainer_pause(ag_trainer *t, bool wait)
{
    tg_lock(&t->lock);
    atomic_store(&t->paused, true);
    if (t->stats.phase == AG_TRAINING || t->stats.phase == AG_IDLE) t->stats.phase = AG_PAUSED;
    while (wait && t->busy) pthread_cond_wait(&t->rest, &t->lock);
    tg_unlock(&t->lock);
}

void ag_trainer_resume(ag_trainer *t)
{
    tg_lock(&t->lock);
    atomic_store(&t->paused, false);
    if (t->stats.phase != AG_DONE) t->stats.phase = t->started && t->source ? AG_TRAINING : AG_IDLE;
    t->stats.message[0] = '\0';
    pthread_cond_broadcast(&t->wake);
    tg_unlock(&t->lock);
}

static bool ended(ag_phase phase)
{
    return phase == AG_DONE || phase == AG_FAILED || phase == AG_DIVERGED;
}

bool ag_trainer_wait(ag_trainer *t, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    double end = (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec += (time_t)end;
    until.tv_nsec = (long)((end - floor(end)) * 1e9);
    tg_lock(&t->lock);
    int timeout = 0;
    while (!ended(t->stats.phase) && !timeout)
        timeout = pthread_cond_timedwait(&t->rest, &t->lock, &until);
    bool over = ended(t->stats.phase);
    tg_unlock(&t->lock);
    return over;
}

static void stop(ag_trainer *t)
{
    tg_lock(&t->lock);
    atomic_store(&t->stop, true);
    ag_source_cancel(t->source);
    pthread_cond_broadcast(&t->wake);
    tg_unlock(&t->lock);
    if (t->started) pthread_join(t->thread, NULL);
}

void ag_trainer_free(ag_trainer *t)
{
    if (!t) return;
    stop(t);
    for (int i = 0; t->workers && i < ag_crew_size(t->crew); i++) {
        close_env(&t->workers[i]);
        ag_work_done(&t->workers[i].work);
    }
    if (t->workers) ag_ppo_done(&t->ppo);
    ag_crew_free(t->crew);
    free(t->workers);
    for (int i = 0; i < t->config.episodes; i++) ag_episode_done(&t->episodes[i]);
    free(t->episodes);
    free(t->origin);
    free(t->status);
    free(t->message);
    ag_events_close(t->events);
    free(t->best.actions);
    ag_source_unref(t->best.source);
    ag_source_unref(t->source);
    ag_policy_unref(t->policy);
    ag_net_unref(t->net);
    tg_vec_free(&t->points);
    free(t->first);
    free(t->second);
    tg_rng_free(t->rng);
    tg_map_free(&t->seen);
    free((char *)t->config.checkpoint);
    free((char *)t->config.events);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->wake);
    pthread_cond_destroy(&t->rest);
    free(t);
}
