/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view of HEAD: its drawing, its candidates, what the pinned policy makes of them. */
#include "session_jobs.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TICK_US = 200000 };

typedef struct viewing {
    ui_session *s;
    uint64_t generation;
    int state;
    tg_graph *graph;
    const ui_view *old; /* the session keeps it while this runs */
    bool from_parent;   /* `old` is of the graph that this one was made from by one step */
    ag_policy *pin;
    double first_ms;
    ui_veto *vetoes;
    size_t n_vetoes;
    tg_draw_options draw;
    uint64_t *flipped;
    ui_view *made;
} viewing;

void ui_view_free(ui_view *view)
{
    if (!view) return;
    tg_drawing_free(view->drawing);
    tg_candidates_free(view->candidates);
    if (view->scores.n || view->scores.p) ag_scores_done(&view->scores);
    free(view->order);
    free(view->p);
    free(view->node_ms);
    free(view);
}

int ui_vetoed_keys(const ui_veto *vetoes, size_t n, const tg_candidates *c, uint64_t **keys)
{
    int found = 0;
    *keys = tg_calloc((size_t)tg_candidates_count(c) + 1, sizeof **keys);
    for (int i = 0; i < tg_candidates_count(c); i++) {
        const tg_site *site = tg_candidates_get(c, i)->site;
        const char *rule = tg_rules_get(tg_candidates_rules(c), site->rule)->name;
        for (size_t v = 0; v < n; v++)
            if (strcmp(vetoes[v].rule, rule) == 0 &&
                (!vetoes[v].site || vetoes[v].site == site->key)) {
                (*keys)[found++] = site->key;
                break;
            }
    }
    return found;
}

/* Candidates by falling probability, ties by number; then STOP. */
static void rank(ui_view *v)
{
    int n = tg_candidates_count(v->candidates);
    v->order = tg_calloc((size_t)n + 1, sizeof *v->order);
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && v->scores.n && v->scores.logit[v->order[k - 1]] < v->scores.logit[i]; k--)
            v->order[k] = v->order[k - 1];
        v->order[k] = i;
    }
    v->order[n] = -1;
    v->n_rows = n + 1;
}

/* What the policy would choose by if nothing were forbidden. */
static void open_odds(ui_view *v)
{
    const ag_scores *s = &v->scores;
    double sum = 0, most = -INFINITY;
    if (!s->logit) return;
    v->p = tg_calloc((size_t)s->n + 1, sizeof *v->p);
    for (int i = 0; i <= s->n; i++) most = fmax(most, s->logit[i]);
    for (int i = 0; i <= s->n; i++) sum += v->p[i] = exp(s->logit[i] - most);
    for (int i = 0; i <= s->n; i++) v->p[i] /= sum;
}

static void predict_nodes(ui_view *v, const tg_graph *g)
{
    v->node_ms = tg_calloc(g->n_ids, sizeof *v->node_ms);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->constant || node->op < TG_OP_OPAQUE) continue;
        v->node_ms[node->id] = tg_node_cost_ms(g, node);
        v->total_ms += v->node_ms[node->id];
    }
}

static tg_status score(viewing *w, ui_view *v)
{
    uint64_t *keys;
    int n = ui_vetoed_keys(w->vetoes, w->n_vetoes, v->candidates, &keys);
    tg_status status =
        ag_agent_score(w->s->agent, w->pin, v->candidates, w->first_ms, 0, keys, n, &v->scores);
    free(keys);
    return status;
}

static tg_status view_run(tg_job *job, void *ctx)
{
    viewing *w = ctx;
    ui_view *v = w->made;
    w->draw.previous = w->old ? w->old->drawing : NULL;
    TG_TRY(tg_draw_rails(w->graph, &w->draw, job, &v->drawing));
    TG_TRY(w->from_parent ? tg_candidates_update(w->old->candidates, w->graph, job, &v->candidates)
                          : tg_candidates_find(w->s->rules, w->graph, job, &v->candidates));
    TG_TRY(tg_job_poll(job));
    TG_TRY(score(w, v));
    rank(v);
    open_odds(v);
    predict_nodes(v, w->graph);
    return TG_OK;
}

static void put_view(viewing *w)
{
    ui_session *s = w->s;
    ui_looks *looks = ui_session_looks(s);
    ui_view_free(s->view);
    s->view = w->made;
    s->view->serial = ++s->views;
    w->made = NULL;
    ui_session_shown(s, looks);
    if (s->vetoes.n) ui_session_follow(s); /* the vetoed sites of this state are known now */
}

static void view_done(void *ctx, tg_status status, const char *message)
{
    viewing *w = ctx;
    ui_session *s = w->s;
    bool stale = w->generation != s->generation;
    tg_job_unref(s->view_job);
    s->view_job = NULL;
    s->viewing = false;
    if (s->ui->model != s) stale = true;
    if (status == TG_OK && !stale) put_view(w);
    else if (status != TG_OK && status != TG_CANCELLED && s->ui->model == s) {
        (void)tg_fail(status, "%s", message);
        ui_complain(s->ui, status);
    }
    ui_view_free(w->made);
    tg_graph_unref(w->graph);
    ag_policy_unref(w->pin);
    free(w->vetoes);
    free(w->flipped);
    free(w);
    if (s->ui->model != s) return;
    if (s->again || stale) ui_session_start_view(s);
    else ui_session_rest(s);
}

static bool one_step_apart(const ui_session *s, const tg_state *head)
{
    return s->view && head->parent >= 0 && s->view->state == head->parent;
}

void ui_session_start_view(ui_session *s)
{
    s->again = true;
    if (s->stepping) return; /* the step reads the view; it starts this again */
    if (s->view_job) {
        tg_job_cancel(s->view_job);
        return;
    }
    s->again = false;
    tg_state *head = tg_history_head(s->history);
    viewing *w = tg_calloc(1, sizeof *w);
    w->s = s;
    w->generation = s->generation;
    w->state = head->id;
    w->graph = tg_graph_ref(head->trail->graph);
    w->old = s->view;
    w->from_parent = one_step_apart(s, head);
    w->pin = ag_policy_ref(s->pin);
    w->first_ms = tg_history_get(s->history, 0)->trail->cost_ms;
    w->n_vetoes = s->vetoes.n;
    w->vetoes = tg_memdup(s->vetoes.v, s->vetoes.n * sizeof *w->vetoes);
    w->flipped = tg_memdup(s->flipped.v, s->flipped.n * sizeof *w->flipped);
    w->draw = s->draw;
    w->draw.flipped = w->flipped;
    w->draw.n_flipped = s->flipped.n;
    w->made = tg_calloc(1, sizeof *w->made);
    w->made->state = head->id;
    s->viewing = true;
    s->view_job = tg_jobs_start(s->ui->jobs, view_run, view_done, w);
}

void ui_session_refresh(ui_session *s)
{
    s->generation++;
    ui_session_start_view(s);
}

/* A rule that is vetoed everywhere is not trained with either. */
static bool not_vetoed(void *ctx, const tg_rule_info *info)
{
    const ui_session *s = ctx;
    for (size_t i = 0; i < s->vetoes.n; i++)
        if (!s->vetoes.v[i].site && strcmp(s->vetoes.v[i].rule, info->name) == 0) return false;
    return true;
}

void ui_session_follow(ui_session *s)
{
    tg_state *head = tg_history_head(s->history);
    uint64_t *keys = NULL;
    int n = s->view && s->view->state == head->id
                ? ui_vetoed_keys(s->vetoes.v, s->vetoes.n, s->view->candidates, &keys)
                : 0;
    tg_rules *left = tg_rules_select(s->rules, not_vetoed, s);
    ag_agent_follow(s->agent, head->trail->graph, left,
                    tg_history_get(s->history, 0)->trail->cost_ms, keys, n);
    tg_rules_unref(left);
    free(keys);
}

/* ---- drawing anew */

typedef struct drawing {
    ui_session *s;
    uint64_t serial;
    tg_graph *graph;
    tg_draw_options draw;
    uint64_t *flipped;
    tg_drawing *made;
} drawing;

static tg_status draw_run(tg_job *job, void *ctx)
{
    drawing *w = ctx;
    return tg_draw_rails(w->graph, &w->draw, job, &w->made);
}

static void draw_done(void *ctx, tg_status status, const char *message)
{
    drawing *w = ctx;
    ui_session *s = w->s;
    (void)message;
    tg_job_unref(s->view_job);
    s->view_job = NULL;
    if (status == TG_OK && s->view->serial == w->serial && s->ui->model == s) {
        ui_looks *looks = ui_session_looks(s);
        tg_drawing_free(s->view->drawing);
        s->view->drawing = w->made;
        s->view->serial = ++s->views;
        w->made = NULL;
        ui_session_shown(s, looks);
    }
    tg_drawing_free(w->made);
    tg_graph_unref(w->graph);
    free(w->flipped);
    free(w);
    if (s->ui->model == s && s->again) ui_session_start_view(s);
}

/* The job counts as that of the view, so that the two do not cross. */
void ui_session_redraw(ui_session *s)
{
    if (s->viewing || s->view_job || !s->view || s->view->state != s->history->head) {
        ui_session_refresh(s);
        return;
    }
    drawing *w = tg_calloc(1, sizeof *w);
    w->s = s;
    w->serial = s->view->serial;
    w->graph = tg_graph_ref(tg_history_head(s->history)->trail->graph);
    w->flipped = tg_memdup(s->flipped.v, s->flipped.n * sizeof *w->flipped);
    w->draw = s->draw;
    w->draw.flipped = w->flipped;
    w->draw.n_flipped = s->flipped.n;
    s->view_job = tg_jobs_start(s->ui->jobs, draw_run, draw_done, w);
}

/* ---- what the trainer does meanwhile */

/* Its own thread: it sleeps most of the time and would keep a worker from working. */
struct ui_ticker {
    pthread_t thread;
    atomic_bool stop;
    ui_app *ui;
    ag_agent *agent;
};

static void show_tick(void *owner, void *event)
{
    ui_app *ui = owner;
    ag_stats *stats = event;
    ui_session *s = ui_session_get(ui);
    if (s && s->ticker) {
        s->stats = *stats;
        s->newest = stats->version;
        ui_touch_late(ui);
    }
    free(stats);
}

static void *watch(void *ctx)
{
    struct ui_ticker *t = ctx;
    uint64_t episodes = UINT64_MAX;
    ag_phase phase = AG_IDLE;
    while (!atomic_load(&t->stop)) {
        ag_stats *stats = tg_calloc(1, sizeof *stats);
        ag_agent_stats(t->agent, stats);
        bool news = stats->episodes != episodes || stats->phase != phase;
        episodes = stats->episodes;
        phase = stats->phase;
        if (news) tg_jobs_post(t->ui->jobs, show_tick, t->ui, stats);
        else free(stats);
        for (int i = 0; i < 10 && !atomic_load(&t->stop); i++) usleep(TICK_US / 10);
    }
    return NULL;
}

void ui_session_start_ticker(ui_session *s)
{
    if (s->ticker) return;
    struct ui_ticker *t = tg_calloc(1, sizeof *t);
    t->ui = s->ui;
    t->agent = s->agent;
    if (pthread_create(&t->thread, NULL, watch, t) == 0) s->ticker = t;
    else free(t);
}

void ui_session_stop_ticker(ui_session *s)
{
    if (!s->ticker) return;
    atomic_store(&s->ticker->stop, true);
    pthread_join(s->ticker->thread, NULL);
    free(s->ticker);
    s->ticker = NULL;
}
