/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps: taken by the agent or by a person, verified, written into history and journal. */
#include "session_jobs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stepping {
    ui_session *s;
    tg_trail *parent;
    int state; /* id of the parent */
    int candidate, row;
    uint64_t seed;
    tg_step_info info;
    const char *rule, *words; /* interned */
    int preferred;            /* row that the agent would have taken */
    tg_trail *made;
    tg_verify_report report;
} stepping;

/* The step is proved before anyone sees it. Reads the view, which stays while this runs. */
static tg_status step_run(tg_job *job, void *ctx)
{
    stepping *w = ctx;
    TG_TRY(tg_trail_step(w->parent, w->s->view->candidates, w->candidate, &w->made));
    TG_TRY(tg_job_poll(job));
    tg_status status = tg_step_verify(w->made, w->seed, job, &w->report);
    if (status ==
        TG_UNSUPPORTED) { /* the model has operators that cannot be run: not proved here */
        w->report.max_abs_error = NAN;
        status = TG_OK;
    }
    return status;
}

static void say_step(const stepping *w, bool linked)
{
    ui_app *ui = w->s->ui;
    const tg_step_info *info = &w->info;
    int depth = tg_history_depth(w->s->history, w->s->history->head);
    if (linked)
        ui_message(ui, "%s at %s leads to state %d, which is there already", w->rule, w->words,
                   w->s->history->head);
    else if (info->override)
        ui_message(ui, "Override: rank %d, π %.2f; agent preferred #%d", info->rank,
                   info->probability, w->preferred + 1);
    else ui_message(ui, "%d: %s at %s (π %.2f)", depth, w->rule, w->words, info->probability);
}

/* The largest gain, by the analytic cost, on the way from where the override was made. */
static void weigh_demo(ui_session *s, ui_demo *demo)
{
    double first = tg_history_get(s->history, 0)->trail->cost_ms;
    double percent = 100 * (demo->before_ms - tg_history_head(s->history)->trail->cost_ms) / first;
    if (percent <= demo->percent) return;
    demo->percent = percent;
    ag_agent_override_return(s->agent, demo->number, percent);
}

/* Overrides that are undone leave the loss; those that HEAD comes from are in it. */
static void weigh_demos(ui_session *s)
{
    for (size_t i = 0; i < s->demos.n; i++) {
        int at = s->history->head;
        while (at >= 0 && at != s->demos.v[i].state) at = tg_history_get(s->history, at)->parent;
        ag_agent_override_retract(s->agent, s->demos.v[i].number, at < 0);
        if (at >= 0) weigh_demo(s, &s->demos.v[i]);
    }
}

/* What was measured of the candidate holds for the step. */
static void note_measured(stepping *w, tg_state *state)
{
    const ui_measurement *m = ui_session_measured(w->s, w->state, w->made->taken.key);
    if (!m || m->at != UI_MEASURE_DONE) return;
    state->measured = true;
    state->against_parent = m->result;
    ui_session_journal_check(
        w->s, ui_journal_measure(w->s->journal, state, tg_backend_name(w->s->backend)));
}

static void put_step(stepping *w)
{
    ui_session *s = w->s;
    bool linked;
    w->made->taken.probability = w->info.probability;
    w->made->taken.rank = w->info.rank;
    ui_demo demo = {.before_ms = w->parent->cost_ms, .percent = -INFINITY};
    if (w->info.override) demo.number = ag_agent_override(s->agent, &s->view->scores, w->candidate);
    int id = tg_history_add(s->history, w->state, w->made, &w->info, &linked);
    demo.state = id;
    if (w->info.override) tg_vec_push(&s->demos, demo);
    weigh_demos(s);
    tg_state *state = tg_history_get(s->history, id);
    if (!linked) state->max_abs_error = w->report.max_abs_error;
    ui_session_journal_check(s, linked ? ui_journal_head(s->journal, id)
                                       : ui_journal_step(s->journal, state));
    if (!linked) note_measured(w, state);
    say_step(w, linked);
}

static void step_done(void *ctx, tg_status status, const char *message)
{
    stepping *w = ctx;
    ui_session *s = w->s;
    s->stepping = false;
    tg_job_unref(s->job);
    s->job = NULL;
    if (s->give_up && status == TG_OK) status = TG_CANCELLED;
    s->give_up = false;
    if (s->ui->model != s) { /* the program ends */
    } else if (status == TG_OK) {
        put_step(w);
    } else {
        s->steps_left = 0;
        tg_vec_clear(&s->plan);
        s->agent_state = UI_AGENT_PAUSE;
        (void)tg_fail(status, "%s", message);
        ui_complain(s->ui, status);
        ui_session_rest(s);
    }
    tg_trail_unref(w->parent);
    tg_trail_unref(w->made);
    free(w);
    if (s->ui->model != s) return;
    if (status == TG_OK) {
        ui_session_follow(s);
        ui_session_refresh(s);
    } else if (s->again) ui_session_start_view(s);
}

static tg_status check_row(const ui_session *s, int row, const tg_candidate **c)
{
    *c = ui_session_candidate(s, row);
    if (s->stepping) return tg_fail(TG_USAGE, "A step is under way");
    if (!s->view || s->viewing || s->view->state != s->history->head)
        return tg_fail(TG_USAGE, "The candidates of this state are not there yet");
    if (!*c) return tg_fail(TG_USAGE, "STOP is no rewrite");
    const char *rule = tg_rules_get(s->rules, (*c)->site->rule)->name;
    if (ui_session_vetoed(s, rule, (*c)->site->key))
        return tg_fail(TG_USAGE, "%s is vetoed here", rule);
    return TG_OK;
}

tg_status ui_session_take(ui_session *s, int row, tg_who who)
{
    const tg_candidate *c;
    TG_TRY(check_row(s, row, &c));
    tg_state *head = tg_history_head(s->history);
    stepping *w = tg_calloc(1, sizeof *w);
    w->s = s;
    w->parent = tg_trail_ref(head->trail);
    w->state = head->id;
    w->row = row;
    w->candidate = s->view->order[row];
    w->seed = s->seed + (uint64_t)head->trail->depth + 1;
    w->rule = tg_intern(tg_rules_get(s->rules, c->site->rule)->name);
    w->words = tg_site_words(head->trail->graph, c->site);
    w->preferred = ui_session_choice(s);
    w->info =
        (tg_step_info){.who = who,
                       .probability = s->view->scores.n ? s->view->scores.p[w->candidate] : NAN,
                       .rank = row + 1,
                       .override = who == TG_BY_YOU && w->preferred != row,
                       .version = s->view->scores.n ? (int64_t)s->view->scores.version : -1,
                       .value = s->view->scores.n ? s->view->scores.value : NAN};
    s->stepping = true;
    s->doing = "Rewriting";
    s->job = tg_jobs_start(s->ui->jobs, step_run, step_done, w);
    return TG_OK;
}

/* A row drawn from the policy's probabilities; what is vetoed has none. */
static int sampled_row(const ui_session *s)
{
    const ag_scores *scores = &s->view->scores;
    tg_rng *rng = tg_rng_new(tg_hash_add(s->seed, s->generation));
    double u = tg_rng_uniform(rng);
    tg_rng_free(rng);
    for (int row = 0; row < s->view->n_rows; row++) {
        int c = s->view->order[row];
        u -= scores->p[c < 0 ? scores->n : c];
        if (u < 0) return row;
    }
    return ui_session_choice(s);
}

static tg_status agent_step(ui_session *s)
{
    int row = s->sampling && s->view->scores.n ? sampled_row(s) : ui_session_choice(s);
    if (ui_session_candidate(s, row)) return ui_session_take(s, row, TG_BY_AGENT);
    s->steps_left = 0;
    s->agent_state = UI_AGENT_PAUSE;
    ui_message(s->ui, "The agent stops here");
    return TG_OK;
}

static bool at_rest(const ui_session *s)
{
    return !s->viewing && s->view && s->view->state == s->history->head;
}

tg_status ui_session_step(ui_session *s, int count, bool sample)
{
    if (count <= 0) return TG_OK;
    if (s->stepping || s->steps_left || s->plan.n) { /* typed ahead */
        if (s->steps_left < INT_MAX - count) s->steps_left += count;
        return TG_OK;
    }
    s->steps_left = count;
    s->sampling = sample;
    s->agent_state = count > 1 ? UI_AGENT_RUN : UI_AGENT_STEP;
    if (at_rest(s)) ui_session_rest(s);
    return TG_OK;
}

tg_status ui_session_take_all(ui_session *s, const uint64_t *keys, size_t n)
{
    if (s->stepping || s->steps_left || s->plan.n) return tg_fail(TG_USAGE, "A step is under way");
    for (size_t i = n; i-- > 0;) tg_vec_push(&s->plan, keys[i]);
    if (at_rest(s)) ui_session_rest(s);
    return TG_OK;
}

/* Takes the next candidate of the plan that is still there; false if none is. */
static bool plan_step(ui_session *s)
{
    while (s->plan.n) {
        int row = ui_session_row(s, tg_vec_pop(&s->plan));
        if (row >= 0 && ui_session_take(s, row, TG_BY_YOU) == TG_OK) return true;
    }
    return false;
}

/* A condition that the agent was to go on until. */
static bool reached(ui_session *s)
{
    const tg_state *head = tg_history_head(s->history);
    if (s->until_ms > 0 && head->trail->cost_ms <= s->until_ms)
        ui_message(s->ui, "Reached %.4g ms (predicted)", head->trail->cost_ms);
    else if (s->until_ns && tg_clock_ns() >= s->until_ns) ui_message(s->ui, "The time is up");
    else return false;
    return true;
}

void ui_session_rest(ui_session *s)
{
    if (s->plan.n && plan_step(s)) return;
    if (s->steps_left && reached(s)) s->steps_left = 0;
    if (!s->steps_left) {
        s->until_ns = 0;
        s->until_ms = 0;
        if (s->agent_state == UI_AGENT_STEP || s->agent_state == UI_AGENT_RUN)
            s->agent_state = UI_AGENT_PAUSE;
        return;
    }
    s->steps_left--;
    tg_status status = agent_step(s);
    if (status == TG_OK) return;
    s->steps_left = 0;
    s->agent_state = UI_AGENT_PAUSE;
    ui_complain(s->ui, status);
}

void ui_session_go(ui_session *s, int state)
{
    if (state == s->history->head) return;
    tg_history_go(s->history, state);
    weigh_demos(s);
    ui_session_journal_check(s, ui_journal_head(s->journal, state));
    ui_session_follow(s);
    ui_session_refresh(s);
}

tg_status ui_session_undo(ui_session *s, int n)
{
    int at = s->history->head;
    s->steps_left = 0;
    tg_vec_clear(&s->plan);
    if (s->stepping) {
        s->give_up = true;
        tg_job_cancel(s->job);
        return TG_OK;
    }
    for (int parent; n > 0 && (parent = tg_history_get(s->history, at)->parent) >= 0; n--)
        at = parent;
    if (at == s->history->head) return tg_fail(TG_LIMIT, "This is the model as it was loaded");
    ui_session_go(s, at);
    ui_message(s->ui, "Undo: at step %d", tg_history_depth(s->history, at));
    return TG_OK;
}

tg_status ui_session_redo(ui_session *s, int n)
{
    int at = s->history->head;
    if (s->stepping) return tg_fail(TG_USAGE, "A step is under way");
    for (int child; n > 0 && (child = tg_history_get(s->history, at)->last_visited) >= 0; n--)
        at = child;
    if (at == s->history->head) return tg_fail(TG_LIMIT, "No further redo information");
    ui_session_go(s, at);
    ui_message(s->ui, "Redo: at step %d", tg_history_depth(s->history, at));
    return TG_OK;
}

void ui_session_adopt(ui_session *s)
{
    uint64_t old = s->pin->version;
    ag_policy_unref(s->pin);
    s->pin = ag_agent_policy(s->agent);
    ui_message(s->ui, s->pin->version == old ? "v%llu is the newest policy" : "Pinned v%llu",
               (unsigned long long)s->pin->version);
    tg_vec_clear(&s->was);
    for (int row = 0; s->view && row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        tg_vec_push(&s->was, c ? c->site->key : 0);
    }
    s->was_typed = s->ui->typed;
    ui_session_refresh(s);
}

void ui_session_train(ui_session *s, bool on)
{
    if (on && !s->started) {
        tg_status status = ag_agent_start(s->agent);
        if (status != TG_OK) {
            ui_complain(s->ui, status);
            return;
        }
        s->started = true;
        ui_session_follow(s);
    } else if (on) {
        ag_agent_resume(s->agent);
    } else if (s->started) {
        ag_agent_pause(s->agent, false);
    }
    if (on) ui_session_start_ticker(s);
    else ui_session_stop_ticker(s);
    s->training = on;
    ui_touch(s->ui);
}

void ui_session_veto(ui_session *s, const char *rule, uint64_t key, bool lift)
{
    ui_veto veto = {tg_intern(rule), key};
    for (size_t i = 0; i < s->vetoes.n; i++)
        if (s->vetoes.v[i].rule == veto.rule && s->vetoes.v[i].site == key) {
            if (lift) tg_vec_remove(&s->vetoes, i);
            else return;
            break;
        }
    if (!lift) tg_vec_push(&s->vetoes, veto);
    ui_session_journal_check(s, ui_journal_veto(s->journal, rule, key ? &key : NULL, lift));
    ui_session_follow(s);
    ui_session_refresh(s);
}
