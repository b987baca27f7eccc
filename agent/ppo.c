/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ppo.h"

#include <math.h>
#include <stdatomic.h>

void ag_ppo_init(ag_ppo *ppo, const ag_policy *start, ag_ppo_config config, int workers)
{
    size_t n = start->net->layout.n;
    *ppo = (ag_ppo){.net = ag_net_ref(start->net), .config = config, .n_works = workers};
    ppo->value = tg_memdup(start->value, n * sizeof(ag_real));
    ppo->grads = tg_calloc(n * AG_PPO_PARTS, sizeof(ag_real));
    ppo->works = tg_calloc((size_t)workers, sizeof *ppo->works);
    ag_adam_init(&ppo->adam, n);
    ppo->adam.rate = config.rate;
}

void ag_ppo_done(ag_ppo *ppo)
{
    for (int i = 0; i < ppo->n_works; i++) ag_work_done(&ppo->works[i]);
    free(ppo->works);
    free(ppo->grads);
    free(ppo->value);
    ag_adam_done(&ppo->adam);
    ag_net_unref(ppo->net);
}

void ag_ppo_advantages(const ag_ppo_config *config, const ag_episode *episode, double *advantage,
                       double *returns)
{
    double next = episode->truncated ? episode->bootstrap : 0, sum = 0;
    for (size_t i = episode->steps.n; i-- > 0;) {
        const ag_step *step = &episode->steps.v[i];
        double reward = ((double)step->reward + step->bonus) * config->reward_scale;
        double delta = reward + config->gamma * next - step->value;
        sum = delta + config->gamma * config->lambda * sum;
        advantage[i] = sum;
        returns[i] = sum + step->value;
        next = step->value;
    }
}

/* One line of a mini-batch: a step of an episode, or a demonstration (step NULL). */
typedef struct item {
    const ag_state *state;
    const ag_step *step;
    int action;
    double advantage, returns; /* of a demonstration: its own return */
} item;

typedef struct sums {
    double policy, value, entropy, kl, clipped, demo;
    int demos;
    char pad[64]; /* parts do not share cache lines */
} sums;

typedef struct update {
    ag_ppo *ppo;
    item *items, *demos;
    int n, n_demos;
    int *order;
    const ag_hooks *hooks;
    ag_buffer room[AG_PPO_PARTS];
    sums sums[AG_PPO_PARTS];
    /* the mini-batch at work */
    int first, count, demo_first, demo_count;
    double mean, spread;
    atomic_int status;
} update;

static void learn_step(update *u, const item *it, ag_work *work, ag_real *log_p, ag_real *d,
                       double H, double *d_value, sums *s)
{
    const ag_ppo_config *c = &u->ppo->config;
    double share = 1.0 / u->count, A = (it->advantage - u->mean) / u->spread;
    double log_ratio = (double)log_p[it->action] - it->step->log_p, ratio = exp(log_ratio);
    bool clipped = A >= 0 ? ratio > 1 + c->clip : ratio < 1 - c->clip;
    double bounded = fmin(fmax(ratio, 1 - c->clip), 1 + c->clip);
    double error = (double)work->value - it->returns;
    ag_choice_back(log_p, it->state->n_candidates + 1, it->action, clipped ? 0 : -A * ratio * share,
                   -c->entropy * share, H, d);
    *d_value = c->value_weight * error * share;
    s->policy -= fmin(ratio * A, bounded * A);
    s->value += 0.5 * error * error;
    s->entropy += H;
    s->kl += ratio - 1 - log_ratio;
    s->clipped += fabs(ratio - 1) > c->clip;
}

/* Imitates a demonstration that did at least as well as the policy expects to. */
static void learn_demo(update *u, const item *it, const ag_work *work, const ag_real *log_p,
                       ag_real *d, double H, sums *s)
{
    if (it->returns < (double)work->value || !ag_choice_allowed(it->state, it->action)) return;
    ag_choice_back(log_p, it->state->n_candidates + 1, it->action,
                   -u->ppo->config.demo_weight / u->demo_count, 0, H, d);
    s->demo -= (double)log_p[it->action];
    s->demos++;
}

static void learn(update *u, const item *it, int part, ag_work *work, ag_real *grad)
{
    int n = it->state->n_candidates + 1;
    ag_real *log_p = AG_GET(&u->room[part], ag_real, 2 * n), *d = log_p + n;
    double d_value = 0;
    memset(d, 0, (size_t)n * sizeof *d);
    ag_policy_forward(u->ppo->net, u->ppo->value, it->state, work);
    double H = ag_choice_log_p(it->state, work->logits, log_p);
    if (it->step) learn_step(u, it, work, log_p, d, H, &d_value, &u->sums[part]);
    else learn_demo(u, it, work, log_p, d, H, &u->sums[part]);
    ag_policy_backward(u->ppo->net, u->ppo->value, it->state, work, d, (ag_real)d_value, grad);
}

static void learn_part(update *u, int part, int worker)
{
    size_t n = u->ppo->net->layout.n;
    ag_real *grad = u->ppo->grads + (size_t)part * n;
    const ag_hooks *hooks = u->hooks;
    memset(grad, 0, n * sizeof *grad);
    for (int i = part; i < u->count + u->demo_count; i += AG_PPO_PARTS) {
        tg_status status = hooks && hooks->gate ? hooks->gate(hooks->ctx) : TG_OK;
        if (status != TG_OK) {
            atomic_store(&u->status, (int)status);
            return;
        }
        const item *it = i < u->count ? &u->items[u->order[u->first + i]]
                                      : &u->demos[(u->demo_first + i - u->count) % u->n_demos];
        learn(u, it, part, &u->ppo->works[worker], grad);
    }
}

static void run_part(void *ctx, int part, int worker)
{
    update *u = ctx;
    if (u->hooks && u->hooks->begin) u->hooks->begin(u->hooks->ctx);
    learn_part(u, part, worker);
    if (u->hooks && u->hooks->end) u->hooks->end(u->hooks->ctx);
}

/* Mean and deviation of the mini-batch's advantages. */
static void normalise(update *u)
{
    double sum = 0, square = 0;
    for (int i = 0; i < u->count; i++) sum += u->items[u->order[u->first + i]].advantage;
    u->mean = sum / u->count;
    for (int i = 0; i < u->count; i++) {
        double d = u->items[u->order[u->first + i]].advantage - u->mean;
        square += d * d;
    }
    u->spread = sqrt(square / u->count) + 1e-8;
    if (u->count == 1) {
        u->mean = 0; /* one step alone would otherwise teach nothing */
        u->spread = 1;
    }
}

static tg_status mini_batch(update *u, ag_crew *crew, double *norm)
{
    ag_ppo *ppo = u->ppo;
    size_t n = ppo->net->layout.n;
    normalise(u);
    ag_crew_run(crew, run_part, u, AG_PPO_PARTS);
    tg_status status = (tg_status)atomic_load(&u->status);
    if (status != TG_OK) return tg_fail(status, "training stopped");
    for (int part = 1; part < AG_PPO_PARTS; part++) {
        const ag_real *restrict from = ppo->grads + (size_t)part * n;
        ag_real *restrict to = ppo->grads;
        for (size_t i = 0; i < n; i++) to[i] += from[i];
    }
    double length = ag_adam_step(&ppo->adam, ppo->value, ppo->grads);
    if (!isfinite(length)) return tg_fail(TG_INVALID, "the gradient is not finite");
    *norm += length;
    return TG_OK;
}

static void shuffle(int *order, int n, tg_rng *rng)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)tg_rng_below(rng, (uint64_t)i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}

static void sum_up(update *u, int batches, double norm, ag_ppo_report *report)
{
    sums all = {0};
    for (int i = 0; i < AG_PPO_PARTS; i++) {
        all.policy += u->sums[i].policy;
        all.value += u->sums[i].value;
        all.entropy += u->sums[i].entropy;
        all.kl += u->sums[i].kl;
        all.clipped += u->sums[i].clipped;
        all.demo += u->sums[i].demo;
        all.demos += u->sums[i].demos;
    }
    report->policy_loss = all.policy / u->n;
    report->value_loss = all.value / u->n;
    report->entropy = all.entropy / u->n;
    report->kl = all.kl / u->n;
    report->clip_share = all.clipped / u->n;
    report->demo_loss = all.demos ? all.demo / all.demos : 0;
    report->demos = all.demos < u->n_demos ? all.demos : u->n_demos;
    report->grad_norm = norm / batches;
}

static tg_status epoch(update *u, tg_rng *rng, ag_crew *crew, ag_ppo_report *report)
{
    int batch = u->ppo->config.batch, batches = 0;
    double norm = 0;
    memset(u->sums, 0, sizeof u->sums);
    shuffle(u->order, u->n, rng);
    for (u->first = 0; u->first < u->n; u->first += batch, batches++) {
        u->count = u->n - u->first < batch ? u->n - u->first : batch;
        u->demo_count = u->n_demos < batch / 4 ? u->n_demos : batch / 4;
        TG_TRY(mini_batch(u, crew, &norm));
        if (u->n_demos) u->demo_first = (u->demo_first + u->demo_count) % u->n_demos;
    }
    sum_up(u, batches, norm, report);
    return TG_OK;
}

/* 1 - var(returns - values) / var(returns), over the steps before the update. */
static double explained(const update *u)
{
    double mean = 0, error_mean = 0, var = 0, error = 0;
    for (int i = 0; i < u->n; i++) {
        mean += u->items[i].returns / u->n;
        error_mean += u->items[i].advantage / u->n;
    }
    for (int i = 0; i < u->n; i++) {
        double r = u->items[i].returns - mean, e = u->items[i].advantage - error_mean;
        var += r * r;
        error += e * e;
    }
    return var > 1e-12 ? 1 - error / var : 0;
}

static void collect(update *u, const ag_episode *episodes, int n, const ag_demo *demos)
{
    const ag_ppo_config *c = &u->ppo->config;
    int at = 0, longest = 0;
    for (int e = 0; e < n; e++) {
        u->n += (int)episodes[e].steps.n;
        longest = (int)episodes[e].steps.n > longest ? (int)episodes[e].steps.n : longest;
    }
    u->items = tg_calloc((size_t)u->n + 1, sizeof *u->items);
    u->demos = tg_calloc((size_t)u->n_demos + 1, sizeof *u->demos);
    u->order = tg_calloc((size_t)u->n + 1, sizeof *u->order);
    double *advantage = tg_calloc(2 * (size_t)longest + 1, sizeof *advantage);
    for (int e = 0; e < n; e++) {
        ag_ppo_advantages(c, &episodes[e], advantage, advantage + longest);
        for (size_t i = 0; i < episodes[e].steps.n; i++, at++) {
            const ag_step *s = &episodes[e].steps.v[i];
            u->items[at] =
                (item){s->state, s, s->action, advantage[i], advantage[longest + (int)i]};
            u->order[at] = at;
        }
    }
    free(advantage);
    for (int i = 0; i < u->n_demos; i++)
        u->demos[i] =
            (item){demos[i].state, NULL, demos[i].action, 0, demos[i].percent * c->reward_scale};
}

static tg_status train(update *u, tg_rng *rng, ag_crew *crew, ag_ppo_report *report)
{
    const ag_ppo_config *c = &u->ppo->config;
    report->steps = u->n;
    report->explained_variance = explained(u);
    for (int i = 0; i < c->epochs; i++) {
        TG_TRY(epoch(u, rng, crew, report));
        report->epochs = i + 1;
        if (!isfinite(report->policy_loss) || !isfinite(report->value_loss))
            return tg_fail(TG_INVALID, "the loss is not finite");
        if (u->ppo->updates >= 10 && report->kl > c->target_kl) break;
    }
    u->ppo->updates++;
    return TG_OK;
}

tg_status ag_ppo_update(ag_ppo *ppo, const ag_episode *episodes, int n, ag_demos *demos,
                        tg_rng *rng, ag_crew *crew, const ag_hooks *hooks, ag_ppo_report *report)
{
    ag_ppo_report out = {0};
    update u = {.ppo = ppo, .hooks = hooks};
    ag_demo *list = demos ? ag_demos_list(demos, &u.n_demos) : NULL;
    collect(&u, episodes, n, list);
    tg_status status = u.n ? train(&u, rng, crew, &out) : TG_OK;
    for (int i = 0; i < AG_PPO_PARTS; i++) ag_buffer_done(&u.room[i]);
    free(u.items);
    free(u.demos);
    free(u.order);
    if (list) ag_demos_list_free(list, u.n_demos);
    if (status == TG_OK) *report = out;
    return status;
}
