/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints of the policy: written from the session's agent, or put in its place. */
#include "session_jobs.h"

#include <stdlib.h>

typedef struct policy_job {
    ui_session *s;
    char *path;
    int threads;
    ag_agent *made; /* of a load */
} policy_job;

static tg_status save_run(tg_job *job, void *ctx)
{
    policy_job *w = ctx;
    TG_TRY(tg_job_poll(job));
    return ag_agent_save(w->s->agent, w->path);
}

static tg_status load_run(tg_job *job, void *ctx)
{
    policy_job *w = ctx;
    ag_options options = {
        .checkpoint = w->path, .read_only = true, .threads = w->threads, .seed = w->s->seed};
    TG_TRY(tg_job_poll(job));
    return ag_agent_new(w->s->rules, &options, &w->made);
}

/* The old agent may be scoring in a job: it rests until the session closes. */
static void replace_agent(ui_session *s, ag_agent *agent)
{
    bool training = s->training;
    if (s->started) ui_session_train(s, false);
    tg_vec_push(&s->retired, s->agent);
    s->agent = agent;
    s->started = false;
    tg_vec_clear(&s->demos); /* their numbers were the old agent's */
    if (training) ui_session_train(s, true);
    ag_policy_unref(s->pin);
    s->pin = ag_agent_policy(agent);
    ui_session_refresh(s);
}

static void job_done(void *ctx, tg_status status, const char *message)
{
    policy_job *w = ctx;
    ui_session *s = w->s;
    bool open = s->ui->model == s;
    tg_job_unref(s->job);
    s->job = NULL;
    if (open && status != TG_OK) {
        (void)tg_fail(status, "%s", message);
        ui_complain(s->ui, status);
    } else if (open && w->made) {
        replace_agent(s, w->made);
        w->made = NULL;
        ui_message(s->ui, "Policy v%llu of %s", (unsigned long long)s->pin->version, w->path);
    } else if (open) {
        ui_message(s->ui, "Wrote %s", w->path);
    }
    ag_agent_free(w->made);
    free(w->path);
    free(w);
}

static tg_status start(ui_session *s, const char *path, const char *doing, tg_job_fn run)
{
    if (s->job) return tg_fail(TG_USAGE, "Busy: %s", s->doing);
    policy_job *w = tg_calloc(1, sizeof *w);
    *w = (policy_job){.s = s, .path = tg_strdup(path), .threads = ui_opt_int(UI_OPT_train_threads)};
    s->doing = doing;
    s->job = tg_jobs_start(s->ui->jobs, run, job_done, w);
    return TG_OK;
}

tg_status ui_session_save_policy(ui_session *s, const char *path)
{
    return start(s, path, "Writing the policy", save_run);
}

tg_status ui_session_load_policy(ui_session *s, const char *path)
{
    return start(s, path, "Loading a policy", load_run);
}
