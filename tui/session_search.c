/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches from HEAD: they run beside, and what they find becomes a branch of the history. */
#include "session_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEWS_NS = 100000000 }; /* between two lines of news */

/* How far it is: graphs looked at, or steps of the way that are verified. */
typedef struct news {
    int expansions, step, of;
    double best_ms;
} news;

/* A step that was found, taken again from HEAD's own trail and verified. */
typedef struct found_step {
    tg_trail *trail;
    double max_abs_error;
} found_step;

struct ui_choosing {
    ui_session *s;
    ui_found found;
    tg_rules *rules;
    tg_trail *from;
    tg_search_options options;
    tg_job *stop; /* of the search alone: the best so far is kept */
    tg_job *job;
    TG_VEC(found_step) steps;
    char *why; /* of steps that cannot be taken; NULL: all were */
    int64_t told_ns;
    news news; /* the interface's */
};

/* ---- in the job ----------------------------------------------------------------------------- */

static void show_news(void *owner, void *event)
{
    ui_session *s = ui_session_get(owner);
    if (s && s->choosing) {
        s->choosing->news = *(news *)event;
        ui_touch_late(owner);
    }
    free(event);
}

static void post(ui_choosing *w, news n)
{
    int64_t now = tg_clock_ns();
    if (now - w->told_ns < NEWS_NS) return;
    w->told_ns = now;
    tg_jobs_post(w->s->ui->jobs, show_news, w->s->ui, tg_memdup(&n, sizeof n));
}

static void tell(void *ctx, const tg_search_progress *p)
{
    post(ctx, (news){.expansions = p->expansions, .best_ms = p->best_ms});
}

static tg_status retake_one(ui_choosing *w, const tg_trail *at, const tg_taken *taken, tg_job *job,
                            found_step *step)
{
    tg_verify_report report = {0};
    TG_TRY(tg_step_replay(at, w->rules, taken->rule, taken->key, job, &step->trail));
    tg_status status =
        tg_step_verify(step->trail, w->options.seed + (uint64_t)step->trail->depth, job, &report);
    step->max_abs_error = status == TG_UNSUPPORTED ? NAN : report.max_abs_error;
    if (status == TG_OK || status == TG_UNSUPPORTED) return TG_OK;
    tg_trail_unref(step->trail);
    return status;
}

/* As far as the steps hold; one that does not ends the way, and the person is told why. */
static tg_status retake(ui_choosing *w, const tg_trail *best, tg_job *job)
{
    const tg_trail *at = w->from;
    tg_status status = TG_OK;
    for (int depth = 1; depth <= best->depth && status == TG_OK; depth++) {
        found_step step;
        post(w, (news){.step = depth, .of = best->depth, .best_ms = best->cost_ms});
        status = retake_one(w, at, &tg_trail_at(best, depth)->taken, job, &step);
        if (status != TG_OK) break;
        tg_vec_push(&w->steps, step);
        at = step.trail;
    }
    if (status == TG_OK || status == TG_CANCELLED) return status;
    w->why = tg_strdup(tg_message());
    return TG_OK;
}

static tg_status choose_run(tg_job *job, void *ctx)
{
    ui_choosing *w = ctx;
    tg_trail *best;
    w->options.job = w->stop;
    w->options.progress = tell;
    w->options.ctx = w;
    TG_TRY(tg_search_run(w->found.search, w->rules, w->from->graph, &w->options, &w->found.report,
                         &best));
    w->found.best_ms = best->cost_ms;
    tg_status status = retake(w, best, job);
    tg_trail_unref(best);
    return status;
}

/* ---- into the history ----------------------------------------------------------------------- */

/* The child of a state by the same step, or -1. */
static int same_child(tg_history *h, int parent, const tg_taken *taken)
{
    for (int id = tg_history_get(h, parent)->first_child; id >= 0;
         id = tg_history_get(h, id)->next_sibling) {
        const tg_state *state = tg_history_get(h, id);
        if (!state->pruned && state->trail->taken.key == taken->key &&
            state->trail->taken.hash == taken->hash)
            return id;
    }
    return -1;
}

static int put_step(ui_session *s, int parent, const found_step *step)
{
    int id = same_child(s->history, parent, &step->trail->taken);
    if (id >= 0) return id;
    tg_step_info info = {
        .who = TG_BY_SEARCH, .probability = NAN, .version = -1, .value = NAN, .rank = 0};
    id = tg_history_branch(s->history, parent, step->trail, &info);
    tg_state *state = tg_history_get(s->history, id);
    state->max_abs_error = step->max_abs_error;
    ui_session_journal_check(s, ui_journal_step(s->journal, state));
    return id;
}

/* HEAD goes along if it is where the search began and nothing else is under way. */
static void put_steps(ui_choosing *w)
{
    ui_session *s = w->s;
    int head = s->history->head, at = w->found.from;
    bool along = head == at && !s->stepping && !s->steps_left && !s->plan.n;
    for (size_t i = 0; i < w->steps.n; i++) at = put_step(s, at, &w->steps.v[i]);
    w->found.to = at;
    w->found.steps = (int)w->steps.n;
    w->found.ms = tg_history_get(s->history, at)->trail->cost_ms;
    if (!w->steps.n) return;
    tg_history_go(s->history, head);
    if (along) ui_session_go(s, at);
    else ui_session_journal_check(s, ui_journal_head(s->journal, head));
}

static void say_found(const ui_choosing *w)
{
    const ui_found *f = &w->found;
    ui_app *ui = w->s->ui;
    double from = w->from->cost_ms;
    const char *proof = f->report.proved ? ", proved" : "";
    if (w->why && !f->steps)
        ui_message(ui, "%s found ○%.4g ms, but no steps lead there: %s", f->search->name,
                   f->best_ms, w->why);
    else if (!f->steps)
        ui_message(ui, "%s finds nothing cheaper (%s%s)", f->search->name, f->report.stop, proof);
    else
        ui_message(ui, "%s: %d steps, ○%.4g → ○%.4g ms (%+.1f%%, %s%s)%s", f->search->name,
                   f->steps, from, f->ms, from > 0 ? 100 * (f->ms / from - 1) : 0.0, f->report.stop,
                   proof, w->s->history->head == f->to ? "" : "; a branch, HEAD stays");
}

static void choosing_free(ui_choosing *w)
{
    for (size_t i = 0; i < w->steps.n; i++) tg_trail_unref(w->steps.v[i].trail);
    tg_vec_free(&w->steps);
    tg_trail_unref(w->from);
    tg_rules_unref(w->rules);
    tg_job_unref(w->stop);
    tg_job_unref(w->job);
    free(w->why);
    free(w);
}

static void choose_done(void *ctx, tg_status status, const char *message)
{
    ui_choosing *w = ctx;
    ui_session *s = w->s;
    s->choosing = NULL;
    if (s->ui->model != s) { /* the program ends */
    } else if (status == TG_OK) {
        put_steps(w);
        say_found(w);
        s->found = w->found;
    } else {
        (void)tg_fail(status, "%s: %s", w->found.search->name, message);
        ui_complain(s->ui, status);
    }
    ui_touch(s->ui);
    choosing_free(w);
}

/* ---- from the interface --------------------------------------------------------------------- */

/* A search knows nothing of single sites: a rule with a veto anywhere is left out. */
static bool is_free(void *ctx, const tg_rule_info *info)
{
    const ui_session *s = ctx;
    for (size_t i = 0; i < s->vetoes.n; i++)
        if (strcmp(s->vetoes.v[i].rule, info->name) == 0) return false;
    return true;
}

tg_status ui_session_search(ui_session *s, const tg_search *search)
{
    if (s->choosing) return tg_fail(TG_USAGE, "A search is under way (C-c C-k ends it)");
    tg_state *head = tg_history_head(s->history);
    ui_choosing *w = tg_calloc(1, sizeof *w);
    w->s = s;
    w->found = (ui_found){.search = search, .from = head->id, .to = head->id};
    w->rules = tg_rules_select(s->rules, is_free, s);
    w->from = tg_trail_ref(head->trail);
    w->options = (tg_search_options){.alpha = ui_opt_real(UI_OPT_search_alpha),
                                     .budget = ui_opt_int(UI_OPT_search_budget),
                                     .seconds = ui_opt_real(UI_OPT_search_seconds),
                                     .seed = s->seed};
    w->news.best_ms = head->trail->cost_ms;
    w->stop = tg_job_new();
    s->choosing = w;
    w->job = tg_jobs_start(s->ui->jobs, choose_run, choose_done, w);
    ui_message(s->ui, "%s...", search->name);
    return TG_OK;
}

bool ui_session_search_end(ui_session *s, bool give_up)
{
    ui_choosing *w = s->choosing;
    if (!w) return false;
    if (give_up || tg_job_cancelled(w->stop)) tg_job_cancel(w->job);
    tg_job_cancel(w->stop);
    return true;
}

void ui_session_search_status(const ui_session *s, tg_str *out)
{
    const ui_choosing *w = s->choosing;
    if (!w) return;
    const news *n = &w->news;
    if (n->of) tg_str_addf(out, " %s verify %d/%d", w->found.search->name, n->step, n->of);
    else tg_str_addf(out, " %s %d ○%.3gms", w->found.search->name, n->expansions, n->best_ms);
}
