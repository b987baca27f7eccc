/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 32 };

tg_status ui_replay_model(const ui_journal_log *log, const char *model, tg_graph **g)
{
    const ui_journal_entry *start = &log->entries.v[0];
    tg_dim_fix dims[MAX_DIMS];
    int n = 0;
    for (int i = 0; i < start->n_dims && n < MAX_DIMS; i++) {
        char *equals = strrchr(start->dims[i], '=');
        if (!equals) continue;
        char *name =
            tg_arena_strndup(log->arena, start->dims[i], (size_t)(equals - start->dims[i]));
        dims[n++] = (tg_dim_fix){name, strtoll(equals + 1, NULL, 10)};
    }
    tg_load_options options = {.dims = dims, .n_dims = n};
    TG_TRY(tg_onnx_load(model ? model : start->text, &options, g));
    if ((*g)->hash == start->hash) return TG_OK;
    tg_graph_unref(*g);
    return tg_fail(TG_DIFFERS, "%s is not the model of the journal (its hash differs)",
                   model ? model : start->text);
}

typedef struct replay {
    const ui_journal_log *log;
    const tg_rules *rules;
    const ui_replay_options *o;
    tg_history *h;
    ui_replay_report *report;
    tg_map ids; /* state of the journal -> state of the history */
    int all;
} replay;

static tg_status known_state(const replay *r, int state, int *id)
{
    const uint64_t *at = tg_map_find(&r->ids, (uint64_t)state);
    if (!at) return tg_fail(TG_FORMAT, "state %d was never reached", state);
    *id = (int)*at;
    return TG_OK;
}

static tg_status check_step(replay *r, const tg_trail *trail, double *error)
{
    tg_verify_report report = {0};
    *error = NAN;
    if (!r->o->check) return TG_OK;
    TG_TRY(tg_step_verify(trail, r->o->seed + (uint64_t)trail->depth, NULL, &report));
    *error = report.max_abs_error;
    if (*error > r->report->max_abs_error) r->report->max_abs_error = *error;
    return TG_OK;
}

static tg_status replay_step(replay *r, const ui_journal_entry *e)
{
    int parent = 0;
    tg_trail *trail;
    double error;
    TG_TRY(known_state(r, e->parent, &parent));
    TG_TRY(tg_step_replay(tg_history_get(r->h, parent)->trail, r->rules, e->text, e->site,
                          r->o->job, &trail));
    tg_status status = TG_OK;
    if (trail->graph->hash != e->hash)
        status =
            tg_fail(TG_DIFFERS, "rule %s at %s gives another graph than it did", e->text, e->words);
    if (status == TG_OK) status = check_step(r, trail, &error);
    if (status == TG_OK) {
        trail->taken.probability = e->info.probability;
        trail->taken.rank = e->info.rank;
        int id = tg_history_branch(r->h, parent, trail, &e->info);
        tg_history_get(r->h, id)->max_abs_error = r->o->check ? error : e->max_abs_error;
        *tg_map_put(&r->ids, (uint64_t)e->state, NULL) = (uint64_t)id;
        r->report->steps++;
        if (r->o->step) r->o->step(r->o->ctx, tg_history_get(r->h, id), r->report->steps, r->all);
    }
    tg_trail_unref(trail);
    return status;
}

static tg_status replay_state(replay *r, const ui_journal_entry *e)
{
    int id = 0;
    TG_TRY(known_state(r, e->state, &id));
    tg_state *state = tg_history_get(r->h, id);
    if (e->kind == UI_J_HEAD) tg_history_go(r->h, id);
    else if (e->kind == UI_J_PRUNE) tg_history_prune(r->h, id);
    else if (e->kind == UI_J_TAG) state->tag = e->text[0] ? tg_intern(e->text) : NULL;
    else if (e->kind == UI_J_MEASURE) {
        state->measured = true;
        state->against_parent = e->comparison;
    }
    return TG_OK;
}

static tg_status replay_entry(replay *r, const ui_journal_entry *e)
{
    if (e->kind == UI_J_STEP) return replay_step(r, e);
    if (e->kind == UI_J_MARK) r->report->crashed |= strcmp(e->text, "crashed") == 0;
    if (e->kind == UI_J_START || e->kind == UI_J_MARK || e->kind == UI_J_VETO) return TG_OK;
    return replay_state(r, e);
}

static void count_steps(replay *r)
{
    for (size_t i = 0; i < r->log->entries.n; i++) r->all += r->log->entries.v[i].kind == UI_J_STEP;
}

tg_status ui_replay(const ui_journal_log *log, const tg_graph *root, const tg_rules *rules,
                    const ui_replay_options *options, tg_history **history,
                    ui_replay_report *report)
{
    replay r = {
        .log = log, .rules = rules, .o = options, .h = tg_history_new(root), .report = report};
    tg_status status = TG_OK;
    *report = (ui_replay_report){.lost = log->lost};
    *tg_map_put(&r.ids, 0, NULL) = 0;
    count_steps(&r);
    for (size_t i = 0; i < log->entries.n && status == TG_OK; i++) {
        const ui_journal_entry *e = &log->entries.v[i];
        status = replay_entry(&r, e);
        if (status != TG_OK) status = tg_wrap(status, "record %zu", i);
        report->records++;
        if (e->kind == UI_J_STEP && e->state == options->to) break;
    }
    tg_map_free(&r.ids);
    if (status == TG_OK) *history = r.h;
    else tg_history_free(r.h);
    return status;
}
